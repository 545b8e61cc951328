"""Tells as bytes, and answers of the game as tells."""

from __future__ import annotations

from typing import Final

import msgspec

from taisai.cage.messages import TicketRedeemed
from taisai.game.refusals import Refusal
from taisai.journal import Answer
from taisai.protocol.message import Tell
from taisai.protocol.replies import TellDone, TellRefused

encoded: Final = msgspec.json.Encoder().encode
FAULT: Final = "fault"
"""The reason of a refusal that no rule gives: something is broken, and the log says what."""


def refused(re: str | None, reason: str, message: str, clause: str | None = None) -> TellRefused:
    """A refusal by the floor itself."""
    return TellRefused(re=re, reason=reason, message=message, clause=clause)


def answer_to(re: str, answer: Answer | BaseException) -> Tell:
    """What a client hears of an answer."""
    if isinstance(answer, Refusal):
        return TellRefused(
            re=re, reason=answer.reason, message=answer.message, clause=answer.clause, bet=answer.bet,
            sums=answer.sums,
        )  # fmt: skip
    if isinstance(answer, BaseException):
        return TellRefused(re=re, reason=FAULT, message="expected a table that can be asked, got a fault")
    if len(answer) == 1 and type(paid := answer[0]) is TicketRedeemed:  # how much a cashier pays for it
        return TellDone(re=re, ticket=paid.ticket, amount=paid.amount)
    return TellDone(re=re, again=not answer)
