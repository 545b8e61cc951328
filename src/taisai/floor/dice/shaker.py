"""The demonstration shaker: commits itself before bets open, draws when they are closed, reveals at once."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

import structlog

from taisai.floor.clock import Clock, Entropy
from taisai.floor.dice import door
from taisai.floor.host import Happened, Host
from taisai.game import events as happened
from taisai.game.refusals import Refusal
from taisai.game.seeds import unseen
from taisai.house import Keeper, stream_of
from taisai.house.seals.merkle import leaf_hash
from taisai.rules.round import Phase

SEED: Final = 32
LOOK_BACK: Final = 64  # entries of a table's stream after its close: nothing but acts and readings follows it
_NOW: Final = frozenset(
    {
        happened.TableOpened, happened.RoundConcluded, happened.RoundVoided, happened.DiceUncovered,
        happened.ShakerActivated, happened.CardsDealt, happened.SeedRevealed, happened.LightsCleared,
        happened.Interrupted, happened.SightDeclared, happened.WithdrawalClosed, happened.ReferralDecided,
    }
)  # fmt: skip
"""Events after which there may be something to do."""
_log = structlog.get_logger(__name__)


class _Due(NamedTuple):
    """What the table needs of its shaker."""

    commit: int | None = None
    """The round to be committed to."""
    draw: tuple[int, int, tuple[int, ...]] | None = None
    """Round, shake and the cards that are left."""
    reveal: int | None = None
    """A round that is over, whose seed is not told yet."""
    close: tuple[int, bytes] | None = None
    """Position and hash of the entry that closed bets."""


def _vault(table: str) -> str:
    return f"seed/{table}"


class Shaker:
    """The shaker of one demonstration table. It never speaks of a seed before it is revealed."""

    def __init__(self, host: Host, table: str, *, clock: Clock, entropy: Entropy) -> None:
        self._host = host
        self._table = table
        self._stream = stream_of(table)
        self._clock = clock
        self._entropy = entropy
        self._again = asyncio.Event()
        self._again.set()
        host.listeners.append(self._heard)

    def _heard(self, one: Happened) -> None:
        if one.stream == self._stream and any(type(event) in _NOW for event in one.events):
            self._again.set()

    async def run(self) -> None:
        """Does what is due, whenever something has happened."""
        while True:
            await self._again.wait()
            self._again.clear()
            try:
                while await self._step():
                    pass
            except Exception:
                _log.exception("the demonstration shaker failed", table=self._table)

    async def _step(self) -> bool:
        """One thing that is due; says whether there may be more."""
        due = await self._host.look(self._due)
        if due.draw is not None and due.close is not None:
            return await self._draw(due)
        if due.reveal is not None:
            seed = await self._seed()
            if seed is None:
                return False
            reveal = door.unused(seed, round_=due.reveal, at=self._clock.now())
            return await self._told(reveal)
        if due.commit is not None:
            seed = self._entropy(SEED)
            # It is kept before it is committed: after a crash in between, the round can still be drawn.
            await self._host.look(
                lambda keeper: keeper.journal.store.keep_secret(_vault(self._table), seed)
            )
            return await self._told(door.commitment(seed, at=self._clock.now(), round_=due.commit))
        return False

    async def _draw(self, due: _Due) -> bool:
        seed = await self._seed()
        if seed is None or due.draw is None or due.close is None:
            return False
        (round_, shake, cards), (position, hash_) = due.draw, due.close
        drawn = door.drawn(
            seed, table=self._table, round_=round_, shake=shake, close=position, hash_=hash_, cards=cards,
            at=self._clock.now(),
        )  # fmt: skip
        return await self._told(drawn.reading) and await self._told(drawn.reveal)

    async def _told(self, command: object) -> bool:
        answer = await self._host.ask(self._stream, command)  # type: ignore[arg-type]
        if isinstance(answer, Refusal):
            _log.warning("the demonstration shaker was refused", table=self._table, refusal=str(answer))
            return False
        return bool(answer)

    async def _seed(self) -> bytes | None:
        return await self._host.look(lambda keeper: keeper.journal.store.secret(_vault(self._table)))

    # In the writer's thread

    def _due(self, keeper: Keeper) -> _Due:
        table = keeper.table(self._table)
        if not table.open or not table.demonstration:
            return _Due()
        round_, open_ = table.round, table.commitment
        if round_ is None:
            if open_ is None:
                return _Due(commit=len(table.rounds) + 1)
            return _Due(reveal=open_.round) if open_.round <= len(table.rounds) else _Due()
        if open_ is None or open_.round != round_.number or table.holds:
            return _Due()
        if round_.phase is Phase.REVEALED and round_.drawn is None:
            draw = (round_.number, round_.shakes, unseen(table))
            return _Due(draw=draw, close=self._close(keeper))
        if round_.drawn is not None and round_.phase is not Phase.OPEN:
            draw = (round_.number, round_.shakes, round_.drawn.cards)
            return _Due(draw=draw, close=self._close(keeper))  # told, and not yet revealed
        return _Due()

    def _close(self, keeper: Keeper) -> tuple[int, bytes] | None:
        """The entry that closed bets, as the chain has it."""
        journal = keeper.journal
        after = max(0, journal.version(self._stream) - LOOK_BACK)
        found = None
        for row in journal.store.rows(after=after, stream=self._stream):
            _, event = journal.codec.decode_event(row.body, row.position)
            if isinstance(event, happened.BetsClosed):
                found = (row.position, leaf_hash(row.body))
        return found
