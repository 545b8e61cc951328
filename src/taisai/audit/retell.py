"""The rounds of a journal as they are written: a line for each, or everything that concerns one of them.

Nothing is checked here; `verify` proves a journal.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from taisai.audit.replay import WrittenReplay, entries_of, entries_of_table, tables_of, unknown
from taisai.audit.sources import Progress, Source
from taisai.game import events
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import BetReturns, bet_records, note_returns
from taisai.game.table import Table
from taisai.game.terms.terms import Terms
from taisai.journal.codec import AnyCommand, Entry, stream_of, table_of
from taisai.journal.errors import DamagedError, JournalError
from taisai.rules.book import Rulebook
from taisai.rules.errors import printable
from taisai.rules.settlement import BetRecord

# All rounds


@dataclass(slots=True)
class RoundSummary:
    number: int
    position: int
    """The entry that opened it."""
    opened_at: int
    bets: int = 0
    staked: int = 0
    faces: tuple[int, ...] = ()
    returned: int | None = None
    """Everything that came back to players; None while the round is open."""
    marks: list[str] = field(default_factory=list)
    """What was unusual: 'void', 'corrected', 'record corrected', 'by hand', 'referred'."""

    def mark(self, word: str) -> None:
        if word not in self.marks:
            self.marks.append(word)


@dataclass(slots=True)
class TableSummary:
    name: str
    rulebook: str
    currency: str
    opened_at: int
    rounds: int
    latest: deque[RoundSummary]
    stakes: dict[str, int] = field(default_factory=dict)
    """Bet → stake, in the round in play."""
    in_play: RoundSummary | None = None

    def round(self, number: int) -> RoundSummary | None:
        return next((round_ for round_ in reversed(self.latest) if round_.number == number), None)


def overview(
    source: Source, *, table: str | None, most: int, progress: Progress | None
) -> list[TableSummary]:
    """Every table, or the given one, with at most `most` of its latest rounds."""
    tables: dict[str, TableSummary] = {}
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
        if isinstance(event, events.TableOpened):
            latest: deque[RoundSummary] = deque(maxlen=most)
            tables[name] = TableSummary(name, event.rulebook, event.currency, event.at, 0, latest)
        elif name in tables:
            _summarise(tables[name], entry, event)
    if table is not None and table not in names:
        raise unknown("a table of this journal", table, tables_of(source))
    return list(tables.values())


def _summarise(table: TableSummary, entry: Entry, event: Any) -> None:  # noqa: C901  one event after the other
    round_ = table.in_play
    match event:
        case events.BetsOpened():
            table.in_play = RoundSummary(event.round, entry.position, event.at)
            table.latest.append(table.in_play)
            table.rounds = event.round
            table.stakes.clear()
        case events.BetRegistered() if round_:
            table.stakes[event.id] = event.stake
            round_.bets, round_.staked = round_.bets + 1, round_.staked + event.stake
        case events.BetTakenBack() | events.BetReturned() if round_:
            stake = table.stakes.pop(event.id, 0)
            round_.bets, round_.staked = round_.bets - 1, round_.staked - stake
        case events.ResultEntered() | events.ResultCorrected() if round_:
            round_.faces = event.faces
        case events.RoundSettled() if round_:
            _settle(round_, event)
        case events.RoundConcluded():
            table.in_play = None
        case events.RecordCorrected():
            _correct_record(table, event)
        case events.RoundEntered() | events.SettlementEntered() if about := table.round(event.round):
            about.mark("by hand")
        case events.RoundVoided() | events.RoundResettled() | events.SettlementUndone():
            _change(table, event)
        case events.Referred() if event.round is not None and (about := table.round(event.round)):
            about.mark("referred")


RoundChange = events.RoundVoided | events.RoundResettled | events.SettlementUndone


def _settle(round_: RoundSummary, event: events.RoundSettled | events.RoundResettled) -> None:
    round_.faces, round_.staked = event.faces, event.staked
    round_.returned = event.won + event.stakes_back


def _change(table: TableSummary, event: RoundChange) -> None:
    round_ = table.round(event.round)
    if round_ is not None:
        if isinstance(event, events.RoundVoided):
            round_.returned = round_.staked = event.staked
            round_.mark("void")
        elif isinstance(event, events.RoundResettled):
            _settle(round_, event)
            round_.mark("corrected")
        else:
            round_.returned = None
            round_.mark("corrected")
    if isinstance(event, events.RoundVoided) and table.in_play is round_:
        table.in_play = None


def _correct_record(table: TableSummary, event: events.RecordCorrected) -> None:
    """Counts the bets of a round as the record says now; a settlement that follows brings its sums."""
    round_ = table.round(event.round)
    if round_ is None:
        return
    round_.mark("record corrected")
    now = [bet for bet in (event.after, event.part) if bet is not None]
    round_.bets += len(now) - (event.before is not None)
    round_.staked += sum(bet.stake for bet in now) - (event.before.stake if event.before else 0)
    if table.in_play is round_:
        if event.before is not None:
            table.stakes.pop(event.before.id, None)
        table.stakes |= {bet.id: bet.stake for bet in now}


# One round

Bets = tuple[BetRecord[events.BetRegistered], ...]


class RoundEntry(NamedTuple):
    position: int
    event: events.Event
    asked: AnyCommand
    """The command that was decided; it may have several entries."""
    bets: Bets = ()
    """After a close, the bets on the layout; after a settlement or a void, what became of each bet."""
    faces: tuple[int, ...] = ()
    """The result by which the bets were settled."""


@dataclass(slots=True)
class RoundHistory:
    """A round, from its opening to the last entry that concerns it."""

    table: str
    book: Rulebook
    layout: str
    currency: str
    number: int
    terms: dict[str, Terms]
    entries: list[RoundEntry]
    bets: Bets
    """What became of every bet in the end."""
    positions: dict[str, int]
    """Bet → the entry that registered it."""
    laid_on: dict[str, str]
    """Bet that was moved → the area where it was placed first."""
    is_over: bool


def round_history(
    source: Source, table: str, number: int, *, seat: str | None = None, progress: Progress | None = None
) -> RoundHistory:
    """The history of a round; with `seat`, without what concerns only other seats."""
    collector = _Collector(number, seat)
    replay = WrittenReplay(collector.look)
    try:
        for entry in entries_of_table(source, stream_of(table), progress):
            replay.take(entry)
        if collector.table is None:
            raise unknown("a table of this journal", table, tables_of(source))
        return collector.history()  # before the replay is closed: the round may be in its temporary file
    except (LookupError, AssertionError, ArithmeticError) as error:  # a forger can write anything
        problem = f"the round cannot be replayed: {type(error).__name__}: {error}"
        raise DamagedError(0, f"{problem}; `taisai audit verify` says where the journal is damaged") from None
    finally:
        replay.close()


class _Collector:
    """Follows a table, and collects what concerns one round."""

    def __init__(self, number: int, seat: str | None) -> None:
        self.number, self.seat = number, seat
        self.table: Table | None = None
        self._entries: list[RoundEntry] = []
        self._decision: list[RoundEntry] = []
        self._asked: AnyCommand | None = None
        self._positions: dict[str, int] = {}
        self._returns: BetReturns = {}
        self._subjects: set[str] = set()
        """Referrals and claims from the round."""

    def look(self, entry: Entry, table: Table) -> None:
        """Collects all entries of a decision that concerns the round: together they give the reason."""
        self.table = table
        event: Any = entry.event
        self._asked = entry.asked or self._asked
        if isinstance(event, events.RecordCorrected):
            if event.round == self.number:
                note_returns(self._returns, event, self._round(table))
                for bet in event.bets():
                    self._positions.setdefault(bet.id, entry.position)
        elif table.round is not None and self._is_in_play(table):
            note_returns(self._returns, event, table.round)
        if getattr(event, "round", None) in (None, self.number):
            assert self._asked is not None
            bets, faces = self._bets_after(event, table)
            self._decision.append(RoundEntry(entry.position, event, self._asked, bets, faces))
        if isinstance(event, events.BetRegistered) and event.round == self.number:
            self._positions[event.id] = entry.position
        if not entry.more:
            decision, self._decision = self._decision, []
            if self._is_in_play(table) or any(self._concerns(entry.event) for entry in decision):
                self._keep(decision, table)

    def _is_in_play(self, table: Table) -> bool:
        return table.round is not None and table.round.number == self.number

    def _concerns(self, event: Any) -> bool:
        if isinstance(event, events.ReferralDecided):
            return event.referral in self._subjects
        if isinstance(event, events.ClaimSettled):
            return event.claim in self._subjects
        return getattr(event, "round", None) == self.number

    def _keep(self, decision: list[RoundEntry], table: Table) -> None:
        self._entries += (entry for entry in decision if self._is_shown(entry.event, table))
        happened = [entry.event for entry in decision]
        self._subjects |= {event.referral for event in happened if isinstance(event, events.Referred)}
        self._subjects |= {claim.id for claim in table.claims.values() if claim.round == self.number}

    def _bets_after(self, event: events.Event, table: Table) -> tuple[Bets, tuple[int, ...]]:
        """The bets after an event that changes all of them, and the result by which they are settled."""
        if isinstance(event, events.BetsClosed) and self._is_in_play(table):
            return tuple(bet for bet in self._bets(table) if not bet.state.left_early), ()
        if isinstance(event, events.RoundSettled):
            return (self._bets(table), event.faces) if self._is_in_play(table) else ((), ())
        if isinstance(event, events.RoundResettled):
            return self._bets(table), event.faces
        return (self._bets(table), ()) if isinstance(event, events.RoundVoided) else ((), ())

    def _round(self, table: Table) -> Round:
        if table.round is not None and table.round.number == self.number:
            return table.round
        return table.rounds.glance(self.number)

    def _is_shown(self, event: Any, table: Table) -> bool:
        """Whether the event concerns the given seat, or everyone."""
        if isinstance(event, events.RecordCorrected):
            return self.seat is None or self.seat in event.seats()
        seat = getattr(event, "seat", None)
        if isinstance(event, events.BetTakenBack | events.BetMoved | events.BetReturned):
            # a seed is committed for a round that is not open yet, so the round is looked up only here
            seat = self._round(table).bets[event.id].seat
        return self.seat is None or seat in (None, self.seat)

    def _bets(self, table: Table) -> Bets:
        round_ = self._round(table)
        bets = [bet for bet in round_.bets.values() if self.seat in (None, bet.seat)]
        return tuple(bet_records(table, round_, bets, self._returns))

    def history(self) -> RoundHistory:
        table = self.table
        assert table is not None
        newest = table.round.number if table.round is not None else len(table.rounds)
        if not (self._is_in_play(table) or 1 <= self.number <= len(table.rounds)):
            rounds = f"from 1 to {newest}" if newest else "which has no rounds"
            raise JournalError(f"expected a round of {printable(table.name)}, {rounds}, got {self.number}")
        if self.seat is not None and self.seat not in table.seats:
            raise unknown(f"a seat of {printable(table.name)}", self.seat, list(table.seats))
        round_ = self._round(table)
        return RoundHistory(
            table=table.name, book=table.book, layout=table.layout, currency=table.currency,
            number=self.number, terms=table.in_force[round_.terms], entries=self._entries,
            bets=self._bets(table), positions=self._positions, laid_on=dict(round_.laid_on),
            is_over=round_ is not table.round,
        )  # fmt: skip
