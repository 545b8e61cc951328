"""The betting clock: where the rules let it, it closes bets; elsewhere it prompts the Dealer, who closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from taisai.floor.clock import Clock
from taisai.floor.host import Happened, Host
from taisai.game import events as happened
from taisai.game.commands import Perform
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.house import Answer, Ask, Keeper, stream_of
from taisai.rules.procedure import CLOCK
from taisai.rules.round import Act

_log = structlog.get_logger(__name__)


def closes(table: Table) -> bool:
    """Whether the clock itself closes bets here."""
    return any(step.act is Act.CLOSE_BETS and step.by == CLOCK for step in table.procedure.steps)


class Countdown:
    """The clock of one table: it starts when bets open; what it does at the end is a command like others."""

    def __init__(self, host: Host, table: str, *, window: int, clock: Clock) -> None:
        """`window`: milliseconds for which bets are open."""
        self._host = host
        self._stream = stream_of(table)
        self._table = table
        self._window = window
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._closes: bool | None = None
        """Whether it is the clock that closes: found out beforehand, so that at the end no bet goes first."""
        self._is_due = False
        """Whether the time is up and bets could not be closed yet: the dice have to tumble first."""
        self.on_prompt: Callable[[str], None] | None = None
        host.listeners.append(self._heard)

    def _heard(self, one: Happened) -> None:
        if one.stream != self._stream:
            return
        for event in one.events:
            if isinstance(event, happened.BetsOpened | happened.BetsReopened):
                self.start(event.at)
            elif isinstance(event, happened.BetsClosed | happened.RoundVoided | happened.RoundConcluded):
                self.stop()
            elif isinstance(event, happened.WithdrawalClosed | happened.ReferralDecided):
                self.resume()
            elif isinstance(event, happened.DiceTumbled) and self._is_due:
                self._over()

    def start(self, opened_at: int) -> None:
        """Runs from the moment that bets opened."""
        self.stop()
        self._is_due = False
        left = max(0, opened_at + self._window - self._clock.now())
        self._timer = asyncio.get_running_loop().call_later(left / 1000, self._over)
        self._host.run(lambda keeper: closes(keeper.table(self._table)), self._found)

    def _found(self, is_closing: object) -> None:
        self._closes = is_closing is True

    def resume(self) -> None:
        """After a stop or a hold: the clock goes on where bets are still open."""

        def looked(opened_at: int | BaseException | None) -> None:
            if isinstance(opened_at, int) and self._timer is None:
                self.start(opened_at)

        self._host.run(self._open_since, looked)

    def stop(self) -> None:
        """The clock does not run."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _open_since(self, keeper: Keeper) -> int | None:
        table = keeper.table(self._table)
        is_running = table.round is not None and table.phase.bets_open and not table.holds
        return table.round.opened_at if is_running and table.round is not None else None

    def _over(self) -> None:
        self._timer = None
        if self._closes is None:
            self._host.run(lambda keeper: closes(keeper.table(self._table)), self._close_or_prompt)
        else:
            self._close_or_prompt(self._closes)

    def _close_or_prompt(self, is_closing: object) -> None:
        if is_closing is True:
            command = Perform(at=self._clock.now(), by=CLOCK, act=Act.CLOSE_BETS)
            self._host.submit(Ask(self._stream, command), self._told)
        elif self.on_prompt is not None:
            self.on_prompt(self._table)

    def _told(self, answer: Answer | BaseException) -> None:
        self._is_due = isinstance(answer, Refusal)
        if isinstance(answer, Refusal | BaseException):
            _log.warning("the betting clock could not close", table=self._table, answer=str(answer))
