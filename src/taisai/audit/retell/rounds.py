"""What tables and rounds a journal has, a line each: by what is written, without playing it again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from taisai.audit.retell.tables import entries_of, entries_of_table, tables_of, unknown
from taisai.audit.sources import Progress, Source
from taisai.game.events import (
    BetRegistered,
    BetReturned,
    BetsOpened,
    BetTakenBack,
    Referred,
    ResultCorrected,
    ResultEntered,
    RoundConcluded,
    RoundResettled,
    RoundSettled,
    RoundVoided,
    SettlementUndone,
    TableOpened,
)
from taisai.journal.codec import Entry, stream_of, table_of


@dataclass(slots=True)
class RoundLine:
    """A round in a line."""

    number: int
    position: int
    """The entry that opened it."""
    opened_at: int
    bets: int = 0
    staked: int = 0
    faces: tuple[int, ...] = ()
    returned: int | None = None
    """To players in all; None while it is open."""
    marks: list[str] = field(default_factory=list)

    def mark(self, word: str) -> None:
        """Remembers that the round was not a plain one."""
        if word not in self.marks:
            self.marks.append(word)


@dataclass(slots=True)
class TableLine:
    """A table, and the latest of its rounds."""

    name: str
    rulebook: str
    currency: str
    opened_at: int
    rounds: int
    latest: deque[RoundLine]
    stakes: dict[str, int] = field(default_factory=dict)
    """Bet → stake, in the round in hand."""
    in_hand: RoundLine | None = None

    def of(self, number: int) -> RoundLine | None:
        """A round among the latest."""
        return next((one for one in reversed(self.latest) if one.number == number), None)


def overview(source: Source, *, table: str | None, most: int, progress: Progress | None) -> list[TableLine]:
    """Every table, or the one asked for, with at most so many of its latest rounds; nothing is replayed."""
    found: dict[str, TableLine] = {}
    if table is None:
        entries = entries_of(source, progress)
    else:
        entries = entries_of_table(source, stream_of(table), progress)
    names: dict[str, None] = {}
    for entry in entries:
        name, event = table_of(entry.stream), entry.event
        if name is None:
            continue
        names[name] = None
        if isinstance(event, TableOpened):
            latest: deque[RoundLine] = deque(maxlen=most)
            found[name] = TableLine(name, event.rulebook, event.currency, event.at, 0, latest)
        elif name in found:
            _summed(found[name], entry, event)
    if table is not None and table not in names:
        raise unknown("a table of this journal", table, tables_of(source))
    return list(found.values())


def _summed(line: TableLine, entry: Entry, event: Any) -> None:
    """What an event says of the rounds."""
    one = line.in_hand
    match event:
        case BetsOpened():
            line.in_hand = RoundLine(event.round, entry.position, event.at)
            line.latest.append(line.in_hand)
            line.rounds = event.round
            line.stakes.clear()
        case BetRegistered() if one:
            line.stakes[event.id] = event.stake
            one.bets, one.staked = one.bets + 1, one.staked + event.stake
        case BetTakenBack() | BetReturned() if one:
            one.bets, one.staked = one.bets - 1, one.staked - line.stakes.pop(event.id, 0)
        case ResultEntered() | ResultCorrected() if one:
            one.faces = event.faces
        case RoundSettled() if one:
            _settled(one, event)
        case RoundConcluded():
            line.in_hand = None
        case RoundVoided() | RoundResettled() | SettlementUndone():
            _changed(line, event)
        case Referred() if event.round is not None and (about := line.of(event.round)):
            about.mark("referred")


def _settled(one: RoundLine, event: RoundSettled | RoundResettled) -> None:
    one.faces, one.staked, one.returned = event.faces, event.staked, event.won + event.stakes_back


def _changed(line: TableLine, event: RoundVoided | RoundResettled | SettlementUndone) -> None:
    one = line.of(event.round)
    if one is not None:
        if isinstance(event, RoundVoided):
            one.returned = one.staked = event.staked
            one.mark("void")
        elif isinstance(event, RoundResettled):
            _settled(one, event)
            one.mark("corrected")
        else:
            one.returned = None
            one.mark("corrected")
    if isinstance(event, RoundVoided) and line.in_hand is one:
        line.in_hand = None
