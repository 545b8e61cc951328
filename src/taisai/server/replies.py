"""Tells as bytes, and answers of the game as tells."""

from __future__ import annotations

from typing import Final

import msgspec

from taisai.cage.messages import TicketRedeemed
from taisai.game.refusals import Refusal
from taisai.journal import Answer
from taisai.protocol.message import ServerMessage
from taisai.protocol.replies import DoneReply, RefusedReply

encoded: Final = msgspec.json.Encoder().encode
FAULT: Final = "fault"
"""The reason of a refusal that no rule gives: something is broken, and the log says what."""


def refused(to: str | None, reason: str, message: str, clause: str | None = None) -> RefusedReply:
    """A refusal by the floor itself."""
    return RefusedReply(to=to, reason=reason, message=message, clause=clause)


def answer_to(to: str, answer: Answer | BaseException) -> ServerMessage:
    """What a client hears of an answer."""
    if isinstance(answer, Refusal):
        return RefusedReply(
            to=to, reason=answer.reason, message=answer.message, clause=answer.clause, bet=answer.bet,
            sums=answer.sums,
        )  # fmt: skip
    if isinstance(answer, BaseException):
        return RefusedReply(to=to, reason=FAULT, message="expected a table that can be asked, got a fault")
    if len(answer) == 1 and type(paid := answer[0]) is TicketRedeemed:  # how much a cashier pays for it
        return DoneReply(to=to, ticket=paid.ticket, amount=paid.amount)
    return DoneReply(to=to, again=not answer)
