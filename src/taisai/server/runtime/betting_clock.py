"""The betting clock: it closes bets where the rules allow it, and otherwise prompts the Dealer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from taisai.game import events as happened
from taisai.game.commands import Perform
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer, Engine, Submission, stream_of
from taisai.rules.clauses import Clause
from taisai.rules.procedure import CLOCK
from taisai.rules.vocabulary import Act
from taisai.server.projections.table import clock_closes
from taisai.server.projections.table_feeds import BettingTime
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock

AGAIN: Final = 1.0  # seconds until a close that could not be written is tried again
_OPENING: Final = frozenset({happened.BetsOpened, happened.BetsReopened})
_PASSING: Final = frozenset({Reason.JOURNAL_UNWRITABLE, Reason.JOURNAL_IN_DOUBT, Reason.TOO_MANY})
"""Refusals after which another try may succeed."""
_log = structlog.get_logger(__name__)


def close_of_round(table: str, number: int, at: int, engine: Engine) -> Perform | Refusal:
    """The close of the round whose time is up; refused where another round is in hand by now."""
    round_ = engine.table(table).round
    if round_ is not None and round_.number == number:
        return Perform(at=at, by=CLOCK, act=Act.CLOSE_BETS)
    got = "no round" if round_ is None else f"round {round_.number}"
    return Refusal(Reason.WRONG_ROUND, Clause("house:order"), f"expected round {number} in play, got {got}")


class Countdown:
    """The clock of one table. It starts when bets open."""

    def __init__(
        self,
        queue: CommandQueue,
        table: str,
        *,
        window: int,
        clock: Clock,
        on_prompt: Callable[[str, int], None],
    ) -> None:
        """`window`: milliseconds for which bets are open.

        `on_prompt` receives, where the Dealer closes, the table and the moment until which its time ran.
        """
        self._queue = queue
        self._stream = stream_of(table)
        self._table = table
        self._window = window
        self._time = BettingTime(window)
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._closes: bool | None = None
        """Whether the clock closes bets: read beforehand, so that at the end no bet comes first."""
        self._is_due = False
        """Whether the time is up and the close waits for the dice to tumble."""
        self._on_prompt = on_prompt
        queue.listeners.append(self._on_commit)

    def _on_commit(self, committed: Committed) -> None:
        if committed.stream != self._stream:
            return
        before = self._time.up_at
        for event in committed.events:
            self._time.apply(event)
            if type(event) in _OPENING:
                self._queue.submit_job(self._clock_closes, self._set_closes)
        if self._time.up_at != before:
            self._wind()
        elif self._is_due and any(isinstance(event, happened.DiceTumbled) for event in committed.events):
            self._over()

    def _set_closes(self, closes: object) -> None:
        self._closes = closes is True

    def resume(self) -> None:
        """After a start: continues where bets are still open."""

        def wind(time: BettingTime | BaseException) -> None:
            if isinstance(time, BettingTime):
                self._time = time
                self._wind()

        self._queue.submit_job(lambda engine: BettingTime.of(engine.table(self._table), self._window), wind)

    def _wind(self) -> None:
        """Sets the timer to the end of the betting time, if there is any."""
        self.stop()
        if self._time.up_at is not None:
            self._run(max(0, self._time.up_at - self._clock.now()) / 1000)

    def _run(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._over)

    def stop(self) -> None:
        self._is_due = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self) -> None:
        self._timer = None
        if self._closes is None:
            self._queue.submit_job(self._clock_closes, self._close_or_prompt)
        else:
            self._close_or_prompt(self._closes)

    def _clock_closes(self, engine: Engine) -> bool:
        return clock_closes(engine.table(self._table))

    def _close_or_prompt(self, closes: object) -> None:
        if closes is True:
            close = partial(close_of_round, self._table, self._time.round, self._clock.now())
            self._queue.submit(Submission(self._stream, close), self._closed)
        elif self._time.up_at is not None:
            self._on_prompt(self._table, self._time.up_at)

    def _closed(self, answer: Answer | BaseException) -> None:
        if not isinstance(answer, Refusal | BaseException) or self._time.up_at is None:
            return
        _log.warning("the betting clock could not close bets", table=self._table, answer=str(answer))
        if isinstance(answer, BaseException) or answer.reason in _PASSING:
            self._run(AGAIN)  # else bets would stay open
        else:
            self._is_due = True
