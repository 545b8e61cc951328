"""Asks that wait for their answer."""

from __future__ import annotations

import asyncio

from taisai.client.errors import ClientError, Disconnected, Refused
from taisai.client.repeating import is_harmless
from taisai.protocol.message import Ask, Tell
from taisai.protocol.replies import TellRefused


class Pending:
    """One ask: what was sent, and the answer, once there is one."""

    def __init__(self, ask: Ask, text: str) -> None:
        self.ask = ask
        self.text = text
        self.sent_in: str | None = None
        """The epoch of the floor that it was sent in; none where it never was."""
        self.answer: asyncio.Future[Tell] = asyncio.get_running_loop().create_future()

    def take(self, tell: Tell) -> None:
        """The answer; a second one, to an ask that was sent twice, says nothing new."""
        if self.answer.done():
            return
        if isinstance(tell, TellRefused):
            refusal = Refused(tell.reason, tell.message, clause=tell.clause, bet=tell.bet)
            self.answer.set_exception(refusal)
        else:
            self.answer.set_result(tell)

    @property
    def is_sent(self) -> bool:
        """Whether it went out: then only its answer, or a view, tells what became of it."""
        return self.sent_in is not None

    def cut(self, epoch: str | None = None) -> None:
        """The connection is gone, and a floor of this epoch there: what may not be sent again is in doubt."""
        is_same = epoch is None or epoch == self.sent_in
        if self.is_sent and not is_harmless(self.ask, same_start=is_same):
            says = (
                "expected an answer, got none before the connection was cut: the views tell what became of it"
            )
            self.fail(Disconnected(says, in_doubt=True))

    def fail(self, why: ClientError) -> None:
        """No answer will come."""
        if not self.answer.done():
            self.answer.set_exception(why)
            self.answer.exception()  # whoever asked may have stopped waiting
