"""Floors that are broken on purpose, each in one way, so that every race can be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from threading import Timer
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from taisai.cage.messages import RedeemTicket, SendTicket
from taisai.game.commands import Perform, PlaceBets
from taisai.journal import Answer, Decision, Engine, Submission, Writer
from taisai.rules.vocabulary import Act, Phase
from taisai.server.runtime.command_queue import WriterLike
from tests.server.races.race_house import TABLE

Answers = list[Answer | BaseException]
Answered = Callable[[Answers], None]
Make = Callable[[Callable[[], None]], WriterLike]
LATER: Final = 0.25  # seconds by which a broken server does something too late


class Sabotage:
    """A server's writer, as it should be unless a subclass breaks it."""

    recovers: ClassVar[bool] = True
    """Whether the rules' word on a stop is asked at a start."""

    def __init__(self, engine: Engine, after: Callable[[], None]) -> None:
        self.engine = engine
        self.inner = Writer(engine, after=after)

    @classmethod
    def writer(cls, engine: Engine) -> Make:
        """Makes it, for a casino over this engine."""
        return lambda after: cls(engine, after)

    def submit_all(self, asks: Sequence[Submission], answered: Answered) -> None:
        """Puts commands in the queue."""
        self.inner.submit_all(asks, answered)

    def run(self, job: Callable[[Engine], Any], done: Callable[[Any], None]) -> None:
        """Puts a job in the queue."""
        self.inner.run(job, done)

    def close(self) -> None:
        """Ends."""
        self.inner.close()


class Early(Sabotage):
    """Acknowledges bets when they are decided, and appends them a while later."""

    def submit_all(self, asks: Sequence[Submission], answered: Answered) -> None:
        """Answers first."""
        if not all(isinstance(one.command, PlaceBets) for one in asks):
            super().submit_all(asks, answered)
            return

        def decided(engine: Engine) -> Answers:
            return [_decided(engine, one) for one in asks]

        self.inner.run(decided, answered)
        later = Timer(4 * LATER, self.inner.submit_all, (asks, lambda _answers: None))
        later.daemon = True
        later.start()


def _decided(engine: Engine, ask: Submission) -> Answer:
    aggregate = engine._loaded(ask.stream)
    assert aggregate is not None
    return aggregate.decide(ask.command)


class Patient(Sabotage):
    """Lets bets go first for a while after the close was asked for."""

    def submit_all(self, asks: Sequence[Submission], answered: Answered) -> None:
        """Bets first."""
        if any(isinstance(one.command, Perform) and one.command.act is Act.CLOSE_BETS for one in asks):
            later = Timer(LATER, self.inner.submit_all, (asks, answered))
            later.daemon = True
            later.start()
        else:
            self.inner.submit_all(asks, answered)


class Lenient(Sabotage):
    """Takes bets after the close as if there had been none."""

    def __init__(self, engine: Engine, after: Callable[[], None]) -> None:
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
        super().__init__(engine, after)


class NewIds(Sabotage):
    """Takes every bet for a new one."""

    _numbers = count()

    def submit_all(self, asks: Sequence[Submission], answered: Answered) -> None:
        """Each under an id of its own."""
        super().submit_all([self._renamed(one) for one in asks], answered)

    def _renamed(self, ask: Submission) -> Submission:
        if not isinstance(ask.command, PlaceBets):
            return ask
        bets = tuple(replace(slip, id=f"{slip.id}+{next(self._numbers)}") for slip in ask.command.bets)
        return replace(ask, command=replace(ask.command, bets=bets))


class Forgetful(Sabotage):
    """Forgets that a ticket was redeemed."""

    def submit_all(self, asks: Sequence[Submission], answered: Answered) -> None:
        """Before each of them."""
        answers: Answers = []
        for one in asks:
            if isinstance(one.command, RedeemTicket | SendTicket):
                self.inner.run(partial(_forget, one.command.ticket), _ignored)
            self.inner.submit_all([one], answers.extend)
        self.inner.run(lambda _engine: answers, answered)


def _forget(ticket: str, engine: Engine) -> None:
    tickets = engine.house().tickets
    tickets[ticket] = tickets[ticket]._replace(redeemed=None)


def _ignored(_found: object) -> None:
    """Nobody waits for it."""


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
