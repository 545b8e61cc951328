"""Servers that are broken on purpose, each in one way, so that every race can be lost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from taisai.cage.messages import RedeemTicket, SendTicket
from taisai.game.commands import Perform, PlaceBets
from taisai.journal import Answer, Decision, Engine, Submission
from taisai.rules.vocabulary import Act, Phase
from taisai.server.runtime.betting_clock import close_of_round
from taisai.server.runtime.command_queue import AnswerCallback, CommandQueue
from tests.server.races.race_house import TABLE

LATER: Final = 0.25  # seconds by which a broken server does something too late


class Sabotage(CommandQueue):
    """A server's command queue, as it should be until a subclass breaks it."""

    recovers: ClassVar[bool] = True
    """Whether the rules' word on a stop is asked at a start."""


class Early(Sabotage):
    """Acknowledges bets when they are decided, and appends them a while later."""

    def submit(self, submission: Submission, reply: AnswerCallback | None = None) -> None:
        """Answers first."""
        if not isinstance(submission.command, PlaceBets) or reply is None:
            super().submit(submission, reply)
            return
        self.submit_job(lambda engine: _decided(engine, submission), reply)
        self._loop.call_later(4 * LATER, super().submit, submission)


def _decided(engine: Engine, submission: Submission) -> Answer:
    aggregate = engine._loaded(submission.stream)
    assert aggregate is not None
    return aggregate.decide(submission.command)


class Patient(Sabotage):
    """Lets bets go first for a while after the close was submitted."""

    def submit(self, submission: Submission, reply: AnswerCallback | None = None) -> None:
        """Bets first."""
        if _is_close(submission.command):
            self._loop.call_later(LATER, super().submit, submission, reply)
        else:
            super().submit(submission, reply)


def _is_close(command: Any) -> bool:
    """Whether a command, or the function that makes it, closes bets."""
    if isinstance(command, partial):
        return command.func is close_of_round
    made = [command, *(cell.cell_contents for cell in getattr(command, "__closure__", None) or ())]
    return any(isinstance(one, Perform) and one.act is Act.CLOSE_BETS for one in made)


class Lenient(Sabotage):
    """Takes bets after the close as if there had been none."""

    def __init__(self, engine: Engine, *given: Any, **named: Any) -> None:
        decide = engine._decide

        def lenient(submission: Submission, decisions: list[Decision]) -> Answer:
            round_ = engine.table(TABLE).round
            if (
                round_ is None
                or round_.phase is not Phase.CLOSED
                or not isinstance(submission.command, PlaceBets)
            ):
                return decide(submission, decisions)
            round_.phase = Phase.OPEN
            answer = decide(submission, decisions)
            round_.phase = Phase.CLOSED
            return answer

        engine._decide = lenient  # type: ignore[method-assign]
        super().__init__(engine, *given, **named)


class NewIds(Sabotage):
    """Takes every bet for a new one."""

    _numbers = count()

    def submit(self, submission: Submission, reply: AnswerCallback | None = None) -> None:
        """Each under an id of its own."""
        super().submit(self._renamed(submission), reply)

    def _renamed(self, submission: Submission) -> Submission:
        command = submission.command
        if not isinstance(command, PlaceBets):
            return submission
        bets = tuple(replace(slip, id=f"{slip.id}+{next(self._numbers)}") for slip in command.bets)
        return replace(submission, command=replace(command, bets=bets))


class Forgetful(Sabotage):
    """Forgets that a ticket was redeemed."""

    def submit(self, submission: Submission, reply: AnswerCallback | None = None) -> None:
        """Before each of them."""
        command: Any = submission.command

        def forgetting(engine: Engine) -> Any:
            made = command(engine) if callable(command) else command
            tickets = engine.house().tickets
            if isinstance(made, RedeemTicket | SendTicket) and made.ticket in tickets:
                tickets[made.ticket] = tickets[made.ticket]._replace(redeemed=None)
            return made

        super().submit(replace(submission, command=forgetting if callable(command) else command), reply)


class Careless(Sabotage):
    """Goes on after a stop as if there had been none."""

    recovers = False


SABOTAGES: Final[Mapping[str, type[Sabotage]]] = {
    "early": Early,
    "patient": Patient,
    "lenient": Lenient,
    "new-ids": NewIds,
    "forgetful": Forgetful,
    "careless": Careless,
}
"""By the name that an order gives."""
