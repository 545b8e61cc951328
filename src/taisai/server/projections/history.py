"""The last rounds of a table: their results and roads, their incidents and treated bets."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai.game import Table, events
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import BetReturn, BetReturns
from taisai.protocol.views import HistoryView, Incident, PastResult, RoadColumn, RuledBet, Words
from taisai.rules.irregularities import Ruling
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import BetState
from taisai.server.projections import texts
from taisai.server.projections.by_hand_offers import (
    BY_HAND,
    NOT_WITNESSED,
    SETTLED_BY_HAND,
    VOID_BY_HAND,
)
from taisai.server.projections.record_offers import RECORD_CHANGES

MOST: Final = 100
"""Rounds that a display has space for."""
TRIPLE: Final = "triple"
_SIZES: Final = frozenset({"small", "big"})
_PARITIES: Final = frozenset({"odd", "even"})
_ANY_TRIPLE: Final = "any-triple"
_NOTHING: Final = HistoryView()


class RoadMarks(NamedTuple):
    """The marks of an outcome on the two roads; None if the layout has no area for it."""

    size: str | None
    parity: str | None


@lru_cache(maxsize=64)
def marks_of(matrix: Matrix) -> tuple[RoadMarks, ...]:
    """The marks of the 56 outcomes, from the areas that win."""
    areas = frozenset(map(str, matrix.areas))
    return tuple(
        RoadMarks(_mark(won, areas, _SIZES), _mark(won, areas, _PARITIES))
        for won in (frozenset(map(str, matrix.illuminated(outcome))) for outcome in OUTCOMES)
    )


def _mark(won: frozenset[str], areas: frozenset[str], pair: frozenset[str]) -> str | None:
    if not pair <= areas:
        return None
    won_of_pair = won & pair
    if won_of_pair:
        return min(won_of_pair)
    return TRIPLE if _ANY_TRIPLE in won else None


class History:
    """The last rounds of a table that are over."""

    def __init__(self, most: int = MOST) -> None:
        self._rounds: deque[PastResult] = deque(maxlen=most)
        self._known = 0
        """The number of past rounds at the last update."""
        self._view: HistoryView | None = _NOTHING

    @classmethod
    def of(cls, table: Table, most: int = MOST) -> History:
        history = cls(most)
        history._known = max(0, len(table.rounds) - most)
        history._catch_up(table)
        return history

    def apply(self, event: object, table: Table) -> bool:
        """Updates after the table evolved by an event; returns whether the history changed."""
        if len(table.rounds) != self._known:
            self._catch_up(table)
            return True
        number = getattr(event, "round", None)
        first = self._rounds[0].number if self._rounds else 0
        if not isinstance(number, int) or not first <= number <= self._known or not first:
            return False
        result = past_result(table, table.rounds.glance(number))
        if result == self._rounds[number - first]:
            return False
        self._rounds[number - first] = result
        self._view = None
        return True

    def _catch_up(self, table: Table) -> None:
        for number in range(self._known + 1, len(table.rounds) + 1):
            self._rounds.append(past_result(table, table.rounds.glance(number)))
        self._known = len(table.rounds)
        self._view = None

    @property
    def last(self) -> PastResult | None:
        return self._rounds[-1] if self._rounds else None

    def view(self) -> HistoryView:
        if self._view is None:
            self._view = _history_view(self._rounds)
        return self._view


def past_result(table: Table, round_: Round) -> PastResult:
    result = None if round_.voided else round_.result
    if result is None:
        return PastResult(number=round_.number, void=round_.voided, by_hand=round_.by_hand)
    marks = marks_of(table.terms[table.layout].matrix)[result.index]
    a, b, c = result.faces
    return PastResult(
        number=round_.number, faces=(a, b, c), total=result.total, size=marks.size, parity=marks.parity,
        by_hand=round_.by_hand,
    )  # fmt: skip


def _history_view(rounds: Iterable[PastResult]) -> HistoryView:
    results = tuple(rounds)
    totals = [result.total for result in results if result.total is not None]
    return HistoryView(
        results=results,
        sizes=tuple(_road((result.size, result.number) for result in results)),
        parities=tuple(_road((result.parity, result.number) for result in results)),
        totals={total: totals.count(total) for total in range(3, 19)} if totals else {},
        counted=len(totals),
    )


def _road(marks: Iterable[tuple[str | None, int]]) -> Iterator[RoadColumn]:
    """Columns of equal marks; a round without a mark is skipped."""
    marked = ((mark, number) for mark, number in marks if mark is not None)
    for mark, column in groupby(marked, key=lambda pair: pair[0]):
        yield RoadColumn(mark=mark, rounds=tuple(number for _, number in column))


# Logs of rounds

REMEMBERED: Final = 10
"""Past rounds that have a log, beside the round in play."""
MOST_INCIDENTS: Final = 50  # of a round; the latest


class _SeatIncident(NamedTuple):
    seat: str | None
    """The seat concerned, if it concerns one player."""
    incident: Incident


class RoundLog:
    """The log of one round: its incidents, its first result, the clause of a void, its treated bets."""

    def __init__(self) -> None:
        self._first: tuple[int, ...] | None = None
        self.entered: tuple[int, ...] | None = None
        """The first result, if it was corrected."""
        self.void: str | None = None
        self._incidents: deque[_SeatIncident] = deque(maxlen=MOST_INCIDENTS)
        self._closed = False
        self._decided: events.ReferralDecided | None = None
        self._returns: BetReturns = {}
        self._returned_early: set[str] = set()
        """Bets that were returned before the close."""
        self._withdrawn: dict[str, events.WithdrawalChosen] = {}
        """Seat → its player's choice to withdraw."""
        self._ruled: dict[str, RuledBet] = {}
        """Bet → the decision that moved or returned it."""

    def apply(self, event: events.Event, seat: str | None = None) -> None:
        """Notes an event of the round; `seat` is the seat concerned, if it concerns one player."""
        match event:
            case events.ResultEntered():
                self._first = event.faces
            case events.BetsReopened():
                self._first = self.entered = None
            case events.ResultCorrected():
                self.entered = self._first
            case events.RoundResettled() if event.entered != event.faces:
                self.entered = self.entered or event.entered
            case events.RoundVoided():
                self.void = str(event.clause)
            case _:
                self._note_bets(event)
        text = _incident_text(event)
        if text is not None:
            what, clause = str(event.__struct_config__.tag), str(event.clause)
            reason = getattr(event, "reason", "") or getattr(event, "detail", "")
            if isinstance(event, events.RecordCorrected):
                reason = f"{reason} ({event.evidence})"
            incident = Incident(
                at=event.at, by=event.by, what=what, says=text, clause=clause,
                second=getattr(event, "second", None), reason=reason,
            )  # fmt: skip
            self._incidents.append(_SeatIncident(seat, incident))

    def _note_bets(self, event: events.Event) -> None:
        match event:
            case events.BetsClosed():
                self._closed = True
            case events.ReferralDecided():
                self._decided = event
            case events.BetTakenBack():
                self._returns[event.id] = BetReturn(BetState.TAKEN_BACK, event.clause)
            case events.BetReturned():
                self._returns[event.id] = BetReturn(BetState.RETURNED, event.clause)
                self._ruled[event.id] = self._ruling(event, BetState.RETURNED)
                if not self._closed:
                    self._returned_early.add(event.id)
            case events.BetMoved() if self._is_decided(event):
                self._ruled[event.id] = self._ruling(event, "moved")
            case events.RecordCorrected():
                ruled = RuledBet(how="corrected", by=event.by, second=event.second, reason=event.reason)
                self._ruled |= {bet.id: ruled for bet in event.bets()}
                if event.before is not None and event.after is None:
                    self._returns[event.before.id] = BetReturn(BetState.TAKEN_BACK, event.clause)
            case events.WithdrawalChosen() if event.withdraw:
                self._withdrawn[event.seat] = event
            case _:
                pass

    def _is_decided(self, event: events.Event) -> bool:
        """Whether the event follows from the latest decision on a referral."""
        decided = self._decided
        return decided is not None and (decided.at, decided.by) == (event.at, event.by)

    def _ruling(self, event: events.Event, how: str) -> RuledBet:
        decided = self._decided if self._is_decided(event) else None
        second, reason = (decided.second, decided.reason) if decided else (None, "")
        return RuledBet(how=how, by=event.by, second=second, reason=reason)

    def returns(self, bets: Iterable[events.BetRegistered]) -> BetReturns:
        """How these bets left the layout, as far as the log knows."""
        returns: BetReturns = {}
        for bet in bets:
            if bet.id in self._returns:
                returns[bet.id] = self._returns[bet.id]
            elif bet.seat in self._withdrawn:
                returns[bet.id] = BetReturn(BetState.WITHDRAWN, self._withdrawn[bet.seat].clause)
        return returns

    def lay_at_close(self, bet: str) -> bool:
        """Whether a bet that was not taken back was on the layout at the close."""
        return bet not in self._returned_early

    def ruled(self, bet: events.BetRegistered, state: BetState) -> RuledBet | None:
        """Who moved, returned or withdrew a bet."""
        if state is BetState.WITHDRAWN:
            return RuledBet(how=state, by=self._withdrawn[bet.seat].by)
        return None if state is BetState.TAKEN_BACK else self._ruled.get(bet.id)

    def incidents(self, seat: str | None = None) -> tuple[Incident, ...]:
        """All incidents; for a player, those of their seat, and those of all without staff's reasons."""
        if seat is None:
            return tuple(noted.incident for noted in self._incidents)
        return tuple(
            noted.incident if noted.seat == seat else replace(noted.incident, reason="")
            for noted in self._incidents
            if noted.seat in (None, seat)
        )


class RoundLogs:
    """The logs of the last rounds of a table. A round has a log if it was followed from its start."""

    def __init__(self) -> None:
        self._logs: dict[int, RoundLog] = {}
        self._current = 0
        self._referred: dict[str, tuple[int, str | None]] = {}
        """Open referral → the round and the seat that it concerns."""
        self._reports: dict[str, int] = {}
        """Held report → the round that it concerns."""

    @classmethod
    def of(cls, events: Iterable[object]) -> RoundLogs:
        """The logs of a table, from all its events or the latest of them."""
        logs = cls()
        for event in events:
            logs.apply(event)
        return logs

    def apply(self, event: object) -> None:
        """Notes an event in the log of the round that it concerns."""
        if not isinstance(event, events.Event):
            return
        if isinstance(event, events.BetsOpened):
            self._current = event.round
            self._logs[event.round] = RoundLog()
            self._logs.pop(event.round - REMEMBERED - 1, None)
            return
        number, seat = self._about(event)
        log = self._logs.get(number)
        if log is not None:
            log.apply(event, seat)

    def _about(self, event: events.Event) -> tuple[int, str | None]:
        number, seat = getattr(event, "round", None), None
        number = number if isinstance(number, int) else self._current
        if isinstance(event, events.Referred):
            seat = event.seat
            self._referred[event.referral] = (number, seat)
        elif isinstance(event, events.RecordCorrected):
            seats = event.seats()
            seat = seats[0] if len(seats) == 1 else None
        elif isinstance(event, events.ReportHeld):
            self._reports[event.report] = number
        elif isinstance(event, events.ReportConfirmed | events.ReportContested):
            return self._reports.pop(event.report, number), None
        elif isinstance(event, events.ReferralDecided | events.ReferralEnded):
            return self._referred.pop(event.referral, (number, None))
        return number, seat

    def of_round(self, number: int) -> RoundLog | None:
        """The log of a round; None if the round was not followed from its start."""
        return self._logs.get(number)


_TEXTS: Final[Mapping[type[events.Event], Words]] = {
    events.ReportHeld: Words("The report waits for a second person", "报告等待第二位人员"),
    events.ReportConfirmed: Words("A second person confirmed the report", "第二位人员确认了报告"),
    events.ReportContested: Words("A second person contested the report", "第二位人员反对报告"),
    events.UnrecordedDeclared: texts.COMMANDS["declare-unrecorded"],
    events.RoundEntered: BY_HAND,
    events.VoidDeferred: VOID_BY_HAND,
}
"""Kind of event → its text as an incident."""


def _incident_text(event: events.Event) -> Words | None:  # noqa: PLR0911  one kind of incident after the other
    """The text of an incident; None if the event is a normal step of a round."""
    match event:
        case events.IrregularityRuled():
            return texts.joined(texts.IRREGULARITIES[event.irregularity], texts.RULINGS[event.ruling])
        case events.Referred():
            return texts.subject_label(event.subject)
        case events.ReferralDecided():
            return texts.TREATMENTS[event.treatment]
        case events.SightDeclared():
            return texts.DECLARED[event.declared]
        case events.RoundResettled() if event.entered == event.faces:
            return None  # after a correction of the record, which has an incident of its own
        case events.ResultCorrected() | events.RoundResettled():
            return texts.CORRECT
        case events.RecordCorrected():
            return texts.joined(texts.COMMANDS["correct-record"], RECORD_CHANGES[event.change])
        case events.RoundVoided():
            return texts.RULINGS[Ruling.VOID]
        case events.SettlementEntered():
            return SETTLED_BY_HAND if event.witnessed else NOT_WITNESSED
        case _:
            return _TEXTS.get(type(event))
