"""Monitors: the House notes large wins, jumps of the clock, dice that are unfair or too long on a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import msgspec
import structlog

from taisai.cage.messages import NoteAlarm, NoteClock, NoteOverAge, NoteWin
from taisai.game import Table
from taisai.game import events as happened
from taisai.game.rounds.settlement import stakes_by_purse
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine, JournalError, Submission, stream_of, table_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.reading import has_entry, hash_of
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock
from taisai.server.runtime.machine import Machine, Measured
from taisai.server.runtime.plan import Thresholds
from taisai.study.dice.watch import DiceWatch

DICE: Final = "dice"
"""The name of the three dice in the rulebooks."""
_COUNTED: Final = frozenset({happened.RoundConcluded, happened.RoundResettled, happened.RoundVoided})
_log = structlog.get_logger(__name__)


class _Kept(msgspec.Struct, frozen=True):
    """The state of a watch in the vault, from one start to the next."""

    version: int
    """The version of the table's stream at that time."""
    serial: str
    first: int
    """The first round of this set of dice."""
    last: int
    state: dict[str, Any]
    entry: str = ""
    """The hash of the table's entry at this version: in a copy that was continued it is another one."""


class Monitors:
    """Listens to every table."""

    def __init__(
        self, queue: CommandQueue, *, clock: Clock, thresholds: Thresholds, machine: Machine
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._thresholds = thresholds
        self._machine = machine
        self._watches: dict[str, _Watch] = {}
        self._rounds: dict[str, int] = {}
        """Table → the round that opened last: when its wins are read, the next one may be open."""
        self._over_age: dict[str, str] = {}
        """Table → the serial of the item whose age was noted; after a start it is noted again."""
        queue.listeners.append(self._on_commit)

    def _on_commit(self, committed: Committed) -> None:
        name = table_of(committed.stream)
        if name is None:
            return
        kinds = {type(event) for event in committed.events}
        for event in committed.events:
            if isinstance(event, happened.BetsOpened):
                self._rounds[name] = event.round
            elif isinstance(event, happened.RoundSettled):
                self._look_for_wins(name, self._rounds.get(name))
            elif isinstance(event, happened.RoundResettled):
                self._look_for_wins(name, event.round)
        if kinds & _COUNTED or happened.ItemPlaced in kinds or happened.TableOpened in kinds:
            again = any(map(_corrects, committed.events))
            self._queue.submit_job(lambda engine: self._watch(engine, name, again=again), self._note_all)

    def _look_for_wins(self, name: str, number: int | None) -> None:
        self._queue.submit_job(lambda engine: self._wins(engine, name, number), self._note_all)

    def begin(self, tables: list[str]) -> None:
        """After a start: continues the watches, and notes what a crash kept from being noted."""
        for name in tables:
            self._look_for_wins(name, None)
            self._queue.submit_job(lambda engine, name=name: self._watch(engine, name), self._note_all)  # type: ignore[misc]

    def tick(self) -> None:
        """Notes that the machine's clock was set, if it was; looks at the machine and at tables' items."""
        jump = self._machine.clock_step()
        if jump is not None:
            _log.warning("the machine's clock jumped", milliseconds=jump)
            self._queue.submit(Submission(HOUSE_STREAM, NoteClock(at=self._clock.now(), by=FLOOR, jump=jump)))
        self._machine.asked()
        self._queue.submit_job(self._look, self._looked)

    def _looked(self, answer: tuple[Measured, Sequence[NoteOverAge]] | BaseException) -> None:
        measured, notes = (None, answer) if isinstance(answer, BaseException) else answer
        self._machine.answered(measured)
        self._note_all(notes)

    def _note_all(self, notes: Sequence[NoteWin | NoteAlarm | NoteOverAge] | BaseException) -> None:
        if isinstance(notes, BaseException):
            _log.error("the monitors failed", error=str(notes))
            return
        for note in notes:
            self._queue.submit(Submission(HOUSE_STREAM, note))

    # In the writer's thread

    def _wins(self, engine: Engine, name: str, number: int | None) -> list[NoteWin]:
        """The large wins of a round as it stands; the House notes each of them once."""
        table, most = engine.table(name), self._thresholds.large_win
        round_ = table.round
        if round_ is None or number not in (None, round_.number):
            round_ = table.past(number or len(table.rounds))
        if round_ is None or round_.settled is None or round_.voided:
            return []
        back = round_.settled.by_purse
        if sum(back) < most:  # a seat may have several purses, and no seat more than all of them
            return []
        staked = stakes_by_purse(table, round_)
        won: dict[str, int] = {}
        for index, amount in enumerate(back):
            if amount:
                seat = table.purses[index].seat.name
                won[seat] = won.get(seat, 0) + amount - staked.get(index, 0)
        return [
            NoteWin(
                at=self._clock.now(), by=FLOOR, table=name, round=round_.number, seat=seat, amount=amount,
                threshold=most,
            )
            for seat, amount in won.items() if amount >= most
        ]  # fmt: skip

    def _look(self, engine: Engine) -> tuple[Measured, list[NoteOverAge]]:
        return self._machine.measure(engine), self._over_aged()

    def _over_aged(self) -> list[NoteOverAge]:
        """The items that came to lie on an open table for too long; each is noted once."""
        notes, now = [], self._clock.now()
        for name, table in self._queue.projections.readable().items():
            item = table.equipment.outlived(now, table.settings) if table.open else None
            placed = table.equipment.placed.get(item.id) if item is not None else None
            if item is None or placed is None or item.hours_on_table is None:
                self._over_age.pop(name, None)
            elif self._over_age.get(name) != placed.serial:
                self._over_age[name] = placed.serial
                _log.warning("over-age alarm", table=name, item=item.id, serial=placed.serial)
                notes.append(
                    NoteOverAge(
                        at=now, by=FLOOR, table=name, item=item.id, serial=placed.serial or "unmarked",
                        hours=item.hours_on_table,
                    )
                )  # fmt: skip
        return notes

    def _watch(self, engine: Engine, name: str, *, again: bool = False) -> list[NoteAlarm]:
        table = engine.table(name)
        if table.shoe.used:
            return []
        watch = self._watches.get(name)
        if watch is None:
            watch = self._watches[name] = _Watch(name, self._thresholds.watch)
        is_new = watch.follow(engine, table, again=again)
        feeds = self._queue.projections.tables.get(name)
        if feeds is not None:
            feeds.watch, feeds.is_stale = watch.dice, True
        if not is_new:
            return []
        _log.warning("dice alarm", table=name, serial=watch.serial, results=watch.dice.results)
        return [
            NoteAlarm(
                at=self._clock.now(), by=FLOOR, table=name, item=DICE, serial=watch.serial or "unmarked",
                results=watch.dice.results, e_value=f"{watch.dice.e_value:.6g}",
            )
        ]  # fmt: skip


class _Watch:
    """The watch on the dice that lie on one table now."""

    def __init__(self, table: str, level: Fraction) -> None:
        self._vault = f"watch/{table}"
        self._stream = stream_of(table)
        self._level = level
        self.dice = DiceWatch(level)
        self.serial = ""
        self._first = self._last = 0
        self._is_loaded = False

    def follow(self, engine: Engine, table: Table, *, again: bool) -> bool:
        """Counts new results, or all again; returns whether there is a new alarm."""
        had = self.dice.alarm  # False after a start: an alarm that holds is noted again
        if not self._is_loaded:
            again = self._load(engine, table) or again
        placed = table.equipment.placed.get(DICE)
        if placed is not None and placed.serial != self.serial:  # dice in the cupboard stay the same dice
            self.serial, self._first, self._last = placed.serial, len(table.rounds) + 1, len(table.rounds)
            self.dice, had = DiceWatch(self._level), False
        if again:
            self.dice, self._last = DiceWatch(self._level), self._first - 1
        before = self._last
        for number in range(self._last + 1, len(table.rounds) + 1):
            round_ = table.past(number)
            if round_ is None or round_.voided or round_.result is None or round_.settled is None:
                continue
            self.dice.take(tuple(round_.result.faces))
        self._last = len(table.rounds)
        if self._last != before:
            self._keep(engine, table)
        return self.dice.alarm and not had

    def _load(self, engine: Engine, table: Table) -> bool:
        """Loads the watch; returns whether all results must be counted again."""
        self._is_loaded = True
        kept = self._kept(engine)
        since = [] if kept is None else list(engine.journal.events(stream_of(table.name), after=kept.version))
        if kept is None or any(_are_other_dice(event, kept.serial) for _, event in since):
            # What was stored is gone, or of other dice: somebody may want these to begin again.
            self.serial, self._first = _dice_on(engine, table.name)
            return True
        self.dice = DiceWatch.restored(kept.state)
        self.serial, self._first, self._last = kept.serial, kept.first, kept.last
        return self.dice.level != self._level or any(_corrects(event) for _, event in since)

    def _kept(self, engine: Engine) -> _Kept | None:
        """What is stored of the watch, if it can be used."""
        written = engine.journal.store.secret(self._vault)
        if written is None:
            return None
        try:
            kept = msgspec.json.decode(written, type=_Kept)
            DiceWatch.restored(kept.state)
        except (msgspec.DecodeError, ValueError, KeyError, TypeError):
            return None
        return kept if has_entry(engine.journal.store, self._stream, kept.version, kept.entry) else None

    def _keep(self, engine: Engine, table: Table) -> None:
        version = engine.journal.version(stream_of(table.name))
        entry = hash_of(engine.journal.store, self._stream, version)
        kept = _Kept(version, self.serial, self._first, self._last, dict(self.dice.state()), entry)
        try:
            engine.journal.store.keep_secret(self._vault, msgspec.json.encode(kept))
        except JournalError as error:
            _log.warning("the state of the dice monitor could not be stored", error=str(error))


def _are_other_dice(event: object, serial: str) -> bool:
    return isinstance(event, happened.ItemPlaced) and event.item == DICE and event.serial != serial


def _dice_on(engine: Engine, table: str) -> tuple[str, int]:
    """The serial of the latest dice of a table and their first round; reads all its entries."""
    serial, first, opened, over = "", 1, 0, 0
    for _, event in engine.journal.events(stream_of(table)):
        if isinstance(event, happened.BetsOpened):
            opened = event.round
        elif isinstance(event, happened.RoundConcluded) or (
            isinstance(event, happened.RoundVoided) and event.round == opened
        ):
            over = opened
        elif isinstance(event, happened.ItemPlaced) and _are_other_dice(event, serial):
            serial, first = event.serial, over + 1
    return serial, first


def _corrects(event: object) -> bool:
    """Whether an event changes or removes a result that may have been counted."""
    return isinstance(event, happened.RoundResettled) or (
        isinstance(event, happened.RoundVoided) and event.settled
    )
