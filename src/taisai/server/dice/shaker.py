"""The demonstration shaker: committed before bets open, it draws when they are closed and reveals its seed.

The seed is revealed when the round is settled, and not at the draw: where the rules have the dice shaken
again, the same seed draws again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final, NamedTuple

import structlog

from taisai.game import events as happened
from taisai.game.commands import Command
from taisai.game.dice.seeds import unseen
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import Round
from taisai.journal import Answer, Engine, JournalError, stream_of
from taisai.journal.seals.merkle import leaf_hash
from taisai.rules.vocabulary import Phase
from taisai.server.dice import entry
from taisai.server.dice.entry import Draw
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock, Entropy

SEED: Final = 32
LOOK_AGAIN: Final = 2.0  # seconds
LOOK_BACK: Final = 256  # entries of a table's stream in which its close is looked for first
_NOW: Final = frozenset(
    {
        happened.TableOpened, happened.RoundConcluded, happened.RoundVoided, happened.DiceUncovered,
        happened.ShakerActivated, happened.CardsDealt, happened.SeedRevealed, happened.LightsCleared,
        happened.Interrupted, happened.SightDeclared, happened.RoundSettled, happened.WithdrawalClosed,
        happened.ReferralDecided,
    }
)  # fmt: skip
"""Events after which there may be something to do."""
_log = structlog.get_logger(__name__)


class _Due(NamedTuple):
    """What the table needs of its shaker, one thing at a time."""

    commit: int | None = None
    """The round to be committed to."""
    draw: Draw | None = None
    """What is to be drawn."""
    reveal: Draw | None = None
    """What was drawn, to be revealed with its seed."""
    unused: int | None = None
    """A round that is over without a draw."""


class Shaker:
    """The shaker of one demonstration table. Its seed stays secret until it is revealed."""

    def __init__(self, queue: CommandQueue, table: str, *, clock: Clock, entropy: Entropy) -> None:
        self._queue = queue
        self._table = table
        self._stream = stream_of(table)
        self._clock = clock
        self._entropy = entropy
        self._again = asyncio.Event()
        self._again.set()
        self._vault = f"seed/{table}"
        queue.listeners.append(self._on_commit)

    def _on_commit(self, committed: Committed) -> None:
        if committed.stream == self._stream and any(type(event) in _NOW for event in committed.events):
            self._again.set()

    async def run(self) -> None:
        """Does what is due, whenever something has happened."""
        while True:
            with suppress(TimeoutError):  # a refused command may be accepted a little later
                await asyncio.wait_for(self._again.wait(), LOOK_AGAIN)
            self._again.clear()
            try:
                while await self._step():
                    pass
            except Exception:  # noqa: BLE001  a demonstration goes on without dice rather than not at all
                _log.exception("the demonstration shaker failed", table=self._table)

    async def _step(self) -> bool:
        """Does one thing that is due; returns whether there may be more."""
        now = self._clock.now()
        answer = await self._queue.execute(self._stream, lambda engine: self._command(engine, now))
        if isinstance(answer, Refusal):
            _log.warning("the demonstration shaker was refused", table=self._table, refusal=str(answer))
            return False
        return bool(answer)

    # In the engine's turn

    def _command(self, engine: Engine, now: int) -> Command | Answer:
        """The command that is due; nothing where none is."""
        due = self._due(engine)
        if due.commit is not None:
            return entry.commitment(self._kept(engine), at=now, round_=due.commit)
        seed = engine.journal.store.secret(self._vault)
        if seed is None:
            return ()
        if due.draw is not None:
            return entry.drawn(seed, due.draw, at=now).reading
        if due.reveal is not None:
            return entry.drawn(seed, due.reveal, at=now).reveal
        if due.unused is not None:
            return entry.unused(seed, round_=due.unused, at=now)
        return ()

    def _kept(self, engine: Engine) -> bytes:
        """The seed to commit to. It is kept before: after a crash in between, the round can still be drawn.

        A seed that was never revealed stays: its commitment may be in the journal.
        """
        store, revealed = engine.journal.store, engine.table(self._table).revealed
        kept = store.secret(self._vault)
        if kept is not None and (revealed is None or kept.hex() != revealed.seed):
            return kept
        fresh = self._entropy(SEED)
        store.keep_secret(self._vault, fresh)
        return fresh

    def _due(self, engine: Engine) -> _Due:  # noqa: PLR0911  one thing after the other
        table = engine.table(self._table)
        if not table.open or not table.demonstration:
            return _Due()
        round_, open_ = table.round, table.commitment
        if round_ is None and open_ is None:
            return _Due(commit=len(table.rounds) + 1)
        if open_ is None or table.holds:
            return _Due()
        if round_ is None or open_.round != round_.number:
            past = table.past(open_.round)  # where the next one is open already, it has to do without a seed
            if past is None:
                return _Due()
            return _Due(reveal=self._draw(engine, past)) if past.drawn else _Due(unused=open_.round)
        if round_.phase is Phase.REVEALED and round_.drawn is None:
            return _Due(draw=self._draw(engine, round_))
        if round_.phase.settlement_recorded and round_.drawn is not None:
            return _Due(reveal=self._draw(engine, round_))
        return _Due(unused=open_.round) if round_.phase.settlement_recorded else _Due()

    def _draw(self, engine: Engine, round_: Round) -> Draw:
        drawn = round_.drawn
        cards = drawn.cards if drawn else unseen(engine.table(self._table))
        position, leaf = self._close(engine, round_.number)
        return Draw(self._table, round_.number, round_.shakes, position, leaf, cards)

    def _close(self, engine: Engine, number: int) -> tuple[int, bytes]:
        """Position and hash of the entry that closed the bets of a round last; others may have come since."""
        after = engine.journal.version(self._stream)
        back = LOOK_BACK
        while after > 0:
            after = max(0, after - back)
            close = self._close_since(engine, number, after)
            if close is not None:
                return close
            back *= 4
        raise JournalError(f"no entry of {self._stream} closes bets of round {number}")

    def _close_since(self, engine: Engine, number: int, after: int) -> tuple[int, bytes] | None:
        """The same among the latest entries; None where they do not reach back to it."""
        journal, table = engine.journal, engine.table(self._table)
        is_last = number == len(table.rounds) + (table.round is not None)
        close, in_hand, is_open = None, 0, False
        for row in journal.store.rows(after=after, stream=self._stream):
            event = journal.codec.decode_event(row.body, row.position)[1]
            if isinstance(event, happened.BetsOpened):
                in_hand, is_open = event.round, True
            elif isinstance(event, happened.BetsReopened):
                is_open = True
            elif isinstance(event, happened.BetsClosed) and (is_last or in_hand == number):
                close, is_open = (row.position, leaf_hash(row.body)), False
            elif isinstance(event, happened.UnrecordedDeclared) and event.called:
                if is_open and event.round == number:  # the call was not recorded, and is declared
                    close = row.position, leaf_hash(row.body)
                is_open = False
        return close
