"""The rows of exported tables: one for each event, or one for each bet and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from taisai.audit.export import EVENT_COLUMNS, ExportCell, ExportRow
from taisai.audit.replay import ScratchFile, WrittenReplay, entries_of
from taisai.audit.sources import Progress, Source
from taisai.game.events import (
    BetRegistered,
    BetsOpened,
    RecordCorrected,
    RoundConcluded,
    RoundResettled,
    RoundVoided,
    SettlementUndone,
)
from taisai.game.messages import tag_of
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import BetReturns, bet_records, note_returns
from taisai.game.table import Table
from taisai.journal.codec import Entry
from taisai.journal.streams import TableStream
from taisai.rules.chance import Chance
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import BetRecord, BetState

_EVENT_FIELDS: Final = tuple(column.name for column in EVENT_COLUMNS[8:-1])
_ENCODE: Final = msgspec.json.Encoder(order="sorted").encode


# Events


def event_rows(source: Source, progress: Progress | None = None) -> Iterator[ExportRow]:
    in_play: dict[str, int] = {}
    for entry in entries_of(source, progress):
        event: Any = entry.event
        if isinstance(event, BetsOpened):
            in_play[entry.stream] = event.round
        cells = [_cell(getattr(event, name, None)) for name in _EVENT_FIELDS]
        if cells[0] is None:
            cells[0] = in_play.get(entry.stream)
        asked: Any = entry.asked
        yield (
            entry.position, entry.stream, entry.version, event.at, event.by, event.clause,
            asked and tag_of(type(asked)), tag_of(type(event)), *cells, _ENCODE(event).decode(),
        )  # fmt: skip
        if isinstance(event, RoundConcluded | RoundVoided) and in_play.get(entry.stream) == event.round:
            del in_play[entry.stream]


def _cell(value: object) -> ExportCell:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value if value is None or isinstance(value, int | str) else str(value)


# Bets

EXPORTED_STATES: Final = {
    state: "settled" if state.is_settled else "back" if state.left_early else str(state) for state in BetState
}
"""State → its word in the column `state`."""


class _Registered(NamedTuple):
    position: int
    player: str


@dataclass(slots=True)
class _RoundNotes:
    """What an export says of a round's bets beyond what the table remembers."""

    registered: dict[str, _Registered] = field(default_factory=dict)
    returns: BetReturns = field(default_factory=dict)
    corrected: bool = False


class PlayedPayTable(NamedTuple):
    """A pay table by which a round was played, and the chances of dice or of a fresh shoe."""

    matrix: Matrix
    chance: Chance


PayTables = dict[str, PlayedPayTable]
"""Digest of the matrix → pay table."""


class RoundRecord(NamedTuple):
    """A round, and what became of each of its bets."""

    table: str
    currency: str
    number: int
    outcome: Outcome | None
    is_void: bool
    is_corrected: bool
    is_by_hand: bool
    bets: list[BetRecord[BetRegistered]]
    registered: dict[str, _Registered]
    """Bet → the entry that registered it, and the player's name."""
    pay_tables: dict[str, str]
    """Layout → the digest of its pay table."""


def round_records(
    source: Source, progress: Progress | None = None, pay_tables: PayTables | None = None
) -> Iterator[RoundRecord]:
    """Every round, by table and number. Adds the pay tables of its bets to `pay_tables`."""
    notes = _Notes(pay_tables)
    replay = WrittenReplay(notes.look)
    try:
        for entry in entries_of(source, progress):
            replay.take(entry)
        for stream in notes.streams:
            aggregate = replay.aggregate(stream)
            if isinstance(aggregate, TableStream):
                table = aggregate.table
                for round_ in chain(table.rounds, [table.round] if table.round else []):
                    yield _round_record(table, round_, notes.of(stream, round_.number), pay_tables)
    finally:
        replay.close()
        notes.close()


class _Notes:
    """The notes on every round; those of a round that is over are in a temporary file."""

    def __init__(self, pay_tables: PayTables | None) -> None:
        self._pay_tables = pay_tables
        self.streams: dict[str, None] = {}
        """The streams of tables, in the order in which they were opened."""
        self._over = ScratchFile()
        self._in_play: dict[str, tuple[int, _RoundNotes]] = {}

    def look(self, entry: Entry, table: Table) -> None:
        """Notes what an entry says of a bet, or of a correction."""
        event, stream = entry.event, entry.stream
        self.streams.setdefault(stream)
        if isinstance(event, RoundConcluded | RoundVoided):  # a later shoe may have another number of decks
            _add_pay_tables(table, table.rounds.glance(event.round), self._pay_tables)
        if isinstance(event, BetsOpened):
            self._put_away(stream)
            self._in_play[stream] = (event.round, _RoundNotes())
        elif isinstance(event, BetRegistered):
            player = table.seats[event.seat].player
            self._in_play[stream][1].registered[event.id] = _Registered(entry.position, player)
        elif isinstance(event, RecordCorrected):
            self._correct_record(entry, event, table)
        elif isinstance(event, RoundResettled | SettlementUndone) or (
            isinstance(event, RoundVoided) and event.settled
        ):
            self._correct(stream, event.round)
        elif table.round is not None:
            note_returns(self._in_play[stream][1].returns, event, table.round)

    def _put_away(self, stream: str) -> None:
        if stream in self._in_play:
            number, notes = self._in_play.pop(stream)
            self._over.put(stream, number, msgspec.json.encode(notes))

    def _correct(self, stream: str, number: int) -> None:
        notes = self.of(stream, number)
        notes.corrected = True
        if notes is not self._in_play[stream][1]:
            self._over.put(stream, number, msgspec.json.encode(notes))

    def _correct_record(self, entry: Entry, event: RecordCorrected, table: Table) -> None:
        """Notes the bets that a correction of the record adds or gives to another player."""
        stream = entry.stream
        notes, is_current = self.of(stream, event.round), self._in_play[stream][0] == event.round
        notes.corrected = True
        round_ = table.current if table.round and is_current else table.rounds.glance(event.round)
        for bet in (event.after, event.part):
            if bet is not None:
                known = notes.registered.get(bet.id)
                position = known.position if known is not None else entry.position
                notes.registered[bet.id] = _Registered(position, round_.seated[bet.seat].player)
        note_returns(notes.returns, event, round_)
        if not is_current:
            self._over.put(stream, event.round, msgspec.json.encode(notes))

    def of(self, stream: str, number: int) -> _RoundNotes:
        latest, notes = self._in_play[stream]
        if number == latest:
            return notes
        return msgspec.json.decode(self._over.get(stream, number), type=_RoundNotes)

    def close(self) -> None:
        self._over.close()


def _add_pay_tables(table: Table, round_: Round, pay_tables: PayTables | None) -> None:
    if pay_tables is not None:
        in_force = table.in_force[round_.terms]
        for layout in {bet.layout for bet in round_.bets.values()}:
            matrix = in_force[layout].matrix
            if matrix.digest not in pay_tables:
                chance = table.book.chance(decks=table.shoe.decks or None)
                pay_tables[matrix.digest] = PlayedPayTable(matrix, chance)


def _round_record(
    table: Table, round_: Round, notes: _RoundNotes, pay_tables: PayTables | None
) -> RoundRecord:
    _add_pay_tables(table, round_, pay_tables)  # a round in play has not ended yet
    return RoundRecord(
        table.name, table.currency, round_.number, round_.result, round_.voided,
        notes.corrected, round_.by_hand,
        bet_records(table, round_, None, notes.returns), notes.registered,
        {layout: terms.matrix.digest for layout, terms in table.in_force[round_.terms].items()},
    )  # fmt: skip


def bet_rows(source: Source, progress: Progress | None = None) -> Iterator[ExportRow]:
    """One row for each bet, by table and round, with what became of it in the end."""
    for round_ in round_records(source, progress):
        faces = " ".join(map(str, round_.outcome.faces)) if round_.outcome else None
        for record in round_.bets:
            bet, state = record.bet, record.state
            sums: ExportRow = (record.kept_out, record.won, record.returned)
            clause = record.kept_out_by if state is BetState.KEPT_OUT else record.clause
            position, player = round_.registered[bet.id]
            yield (
                round_.table, round_.number, position, bet.at, bet.id, bet.seat, player, bet.means,
                bet.layout, bet.area, round_.currency, bet.stake, EXPORTED_STATES[state], faces,
                *((None,) * 3 if state is BetState.OPEN else sums), clause, round_.is_void,
                round_.is_corrected, round_.pay_tables[bet.layout], round_.is_by_hand,
            )  # fmt: skip
