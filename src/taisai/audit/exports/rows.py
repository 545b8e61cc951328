"""The rows of exported tables: one for each event, or one for each bet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from taisai.audit.exports.columns import EVENTS, Cell, Row
from taisai.audit.retell.tables import Replay, entries_of
from taisai.audit.scratch import ScratchFile
from taisai.audit.sources import Progress, Source
from taisai.game.events import (
    BetRegistered,
    BetsOpened,
    RoundConcluded,
    RoundResettled,
    RoundVoided,
    SettlementUndone,
)
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import Verdict, verdicts
from taisai.game.table import Table
from taisai.journal.codec import Entry
from taisai.journal.streams import TableStream
from taisai.rules.chance import Chance
from taisai.rules.clauses import Clause
from taisai.rules.matrix import Matrix

_EVENT_FIELDS: Final = tuple(column.name for column in EVENTS[8:-1])
_Ending = RoundConcluded | RoundVoided | RoundResettled | SettlementUndone
_ENCODE: Final = msgspec.json.Encoder(order="sorted").encode


# Events


def event_rows(source: Source, progress: Progress | None = None) -> Iterator[Row]:
    """One row for each event."""
    in_hand: dict[str, int] = {}
    for entry in entries_of(source, progress):
        event: Any = entry.event
        if isinstance(event, BetsOpened):
            in_hand[entry.stream] = event.round
        cells = [_cell(getattr(event, name, None)) for name in _EVENT_FIELDS]
        if cells[0] is None:
            cells[0] = in_hand.get(entry.stream)
        asked: Any = entry.asked
        yield (
            entry.position, entry.stream, entry.version, event.at, event.by, event.clause,
            asked and _tag(asked), _tag(event), *cells, _ENCODE(event).decode(),
        )  # fmt: skip
        if isinstance(event, RoundConcluded | RoundVoided) and in_hand.get(entry.stream) == event.round:
            del in_hand[entry.stream]


def _cell(value: object) -> Cell:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value if value is None or isinstance(value, int | str) else str(value)


def _tag(message: Any) -> str:
    return str(type(message).__struct_config__.tag)


# Bets


class _Registered(NamedTuple):
    """What a row says of a bet beyond what a round remembers."""

    position: int
    player: str


@dataclass(slots=True)
class _Gathered:
    """What is gathered of a round while it is played, and kept for corrections."""

    registered: dict[str, _Registered] = field(default_factory=dict)
    back: dict[str, Clause] = field(default_factory=dict)
    """Bets that went back before the end, by which clause."""
    corrected: bool = False


class PlayedPayTable(NamedTuple):
    """A layout's pay table as some round was played by it, and the chances of a fresh shoe or of dice."""

    matrix: Matrix
    chance: Chance


PayTables = dict[str, PlayedPayTable]
"""By the digest of the matrix."""


def bet_rows(
    source: Source, progress: Progress | None = None, pay_tables: PayTables | None = None
) -> Iterator[Row]:
    """One row for each bet, by table and round, with what became of it in the end.

    A pay table that a row names is in `pay_tables` by the time the row comes.
    """
    bets = _Bets({} if pay_tables is None else pay_tables)
    replay = Replay(bets.look)
    try:
        for entry in entries_of(source, progress):
            replay.take(entry)
        for stream in bets.streams:
            yield from bets.rows_over(stream)
            aggregate = replay.aggregate(stream)
            if isinstance(aggregate, TableStream):
                yield from bets.rows_in_hand(stream, aggregate.table)
    finally:
        replay.close()
        bets.close()


class _Bets:
    """The rows of every round, put away when it is over: a correction may come at any time."""

    def __init__(self, pay_tables: PayTables) -> None:
        self._pay_tables = pay_tables
        self.streams: dict[str, None] = {}
        """Those of tables, in the order in which they were opened."""
        self._gathered, self._rows = ScratchFile(), ScratchFile()
        self._over: dict[str, int] = {}
        """Stream → how many rounds are over."""
        self._in_hand: dict[str, _Gathered] = {}

    def look(self, entry: Entry, table: Table) -> None:
        """What an entry says of a bet, or of a round's end."""
        event, stream = entry.event, entry.stream
        self.streams.setdefault(stream)
        in_hand = self._in_hand.get(stream)
        if isinstance(event, BetsOpened):
            self._in_hand[stream] = _Gathered()
        elif isinstance(event, BetRegistered):
            assert in_hand is not None
            in_hand.registered[event.id] = _Registered(entry.position, table.seats[event.seat].player)
        elif isinstance(event, RoundConcluded | RoundVoided | RoundResettled | SettlementUndone):
            if table.round is None or table.round.number != event.round:
                self._put_away(stream, table, event)
            elif in_hand is not None:
                in_hand.corrected = True
        elif in_hand is not None and table.round is not None and len(table.round.gone) > len(in_hand.back):
            in_hand.back |= dict.fromkeys(table.round.gone - in_hand.back.keys(), event.clause)

    def _put_away(self, stream: str, table: Table, event: _Ending) -> None:
        number = event.round
        if number <= self._over.get(stream, 0):
            gathered = msgspec.json.decode(self._gathered.get(stream, number), type=_Gathered)
            gathered.corrected = True
        else:
            self._over[stream] = number
            gathered = self._in_hand.pop(stream)
            gathered.corrected |= isinstance(event, RoundVoided) and event.settled
        self._gathered.put(stream, number, msgspec.json.encode(gathered))
        rows = list(_rows(table, table.rounds.glance(number), gathered, self._pay_tables))
        self._rows.put(stream, number, msgspec.json.encode(rows))

    def rows_over(self, stream: str) -> Iterator[Row]:
        """The bets of a table's rounds that are over."""
        for number in range(1, self._over.get(stream, 0) + 1):
            yield from msgspec.json.decode(self._rows.get(stream, number), type=list[Row])

    def rows_in_hand(self, stream: str, table: Table) -> Iterator[Row]:
        """The bets of the round in hand, if there is one."""
        if table.round is not None:
            yield from _rows(table, table.round, self._in_hand[stream], self._pay_tables)

    def close(self) -> None:
        """Throws everything away."""
        self._gathered.close()
        self._rows.close()


def _rows(table: Table, round_: Round, gathered: _Gathered, pay_tables: PayTables) -> Iterator[Row]:
    known: dict[str, Verdict] = {one.bet.id: one for one in verdicts(table, round_)}
    faces = " ".join(map(str, round_.result.faces)) if round_.result else None
    ended = "void" if round_.voided else "settled"
    for name, bet in round_.bets.items():
        verdict = known.get(name)
        if name in round_.gone:
            became: Row = ("back", faces, 0, 0, bet.stake, gathered.back.get(name))
        elif verdict is None:
            became = ("open", faces, None, None, None, None)
        else:
            clause = verdict.kept_out_by if verdict.kept_out == bet.stake else verdict.clause
            became = (ended, faces, verdict.kept_out, verdict.won, verdict.returned, clause)
        registered = gathered.registered[name]
        matrix = table.in_force[round_.terms][bet.layout].matrix
        if matrix.digest not in pay_tables:
            pay_tables[matrix.digest] = PlayedPayTable(
                matrix, table.book.chance(decks=table.shoe.decks or None)
            )
        yield (
            table.name, round_.number, registered.position, bet.at, name, bet.seat, registered.player,
            bet.means, bet.layout, bet.area, table.currency, bet.stake, *became, round_.voided,
            gathered.corrected, matrix.digest,
        )  # fmt: skip
