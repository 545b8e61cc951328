"""RoundLogs: what happened in a round beside its course, kept for the last rounds as it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai.game import events
from taisai.game.vocabulary import Subject
from taisai.protocol.views import Incident, RuledBet, Words
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import texts

REMEMBERED: Final = 10
"""Rounds that are recalled in full, beside the one in hand."""
MOST_INCIDENTS: Final = 50  # of a round that are told: the latest


class _Told(NamedTuple):
    seat: str | None
    """Whose affair it is, where it is one player's."""
    incident: Incident


class Treated(NamedTuple):
    """How a bet went otherwise than by the settlement."""

    clause: str
    ruled: RuledBet
    lay: bool
    """Whether it lay on the layout at the close."""


class RoundLog:
    """One round: what was keyed in before it was corrected, by which clause it is void, its incidents."""

    __slots__ = (
        "_back", "_closed", "_decided", "_first", "_incidents", "_moved", "_returned", "_withdrawn",
        "entered", "void",
    )  # fmt: skip

    def __init__(self) -> None:
        """Of a round in which nothing has happened."""
        self._first: tuple[int, ...] | None = None
        self.entered: tuple[int, ...] | None = None
        self.void: str | None = None
        self._incidents: deque[_Told] = deque(maxlen=MOST_INCIDENTS)
        self._closed = False
        self._decided: events.ReferralDecided | None = None
        self._back: set[str] = set()
        self._moved: dict[str, RuledBet] = {}
        self._returned: dict[str, Treated] = {}
        self._withdrawn: dict[str, Treated] = {}

    def apply(self, event: events.Event, seat: str | None = None) -> None:
        """What an event adds to it; `seat`: the one whose affair it is."""
        match event:
            case events.ResultEntered():
                self._first = event.faces
            case events.BetsReopened():
                self._first = self.entered = None
            case events.ResultCorrected():
                self.entered = self._first
            case events.RoundResettled():
                self.entered = self.entered or event.entered
            case events.RoundVoided():
                self.void = str(event.clause)
            case _:
                self._bets(event)
        says = _says(event)
        if says is not None:
            what, clause = str(event.__struct_config__.tag), str(event.clause)
            reason = getattr(event, "reason", "") or getattr(event, "detail", "")
            told = Incident(
                at=event.at, by=event.by, what=what, says=says, clause=clause,
                second=getattr(event, "second", None), reason=reason,
            )  # fmt: skip
            self._incidents.append(_Told(seat, told))

    def _bets(self, event: events.Event) -> None:
        """What became of single bets."""
        match event:
            case events.BetsClosed():
                self._closed = True
            case events.ReferralDecided():
                self._decided = event
            case events.BetTakenBack():
                self._back.add(event.id)
            case events.BetReturned():
                ruled = self._ruled(event, "returned")
                self._returned[event.id] = Treated(str(event.clause), ruled, lay=self._closed)
            case events.BetMoved() if self._is_decided(event):
                self._moved[event.id] = self._ruled(event, "moved")
            case events.WithdrawalChosen() if event.withdraw:
                ruled = RuledBet(how="withdrawn", by=event.by)
                self._withdrawn[event.seat] = Treated(str(event.clause), ruled, lay=True)
            case _:
                pass

    def _is_decided(self, event: events.Event) -> bool:
        """Whether it follows from the decision that was told just before."""
        decided = self._decided
        return decided is not None and (decided.at, decided.by) == (event.at, event.by)

    def _ruled(self, event: events.Event, how: str) -> RuledBet:
        decided = self._decided if self._is_decided(event) else None
        second, reason = (decided.second, decided.reason) if decided else (None, "")
        return RuledBet(how=how, by=event.by, second=second, reason=reason)

    def treated(self, bet: str, seat: str) -> Treated | None:
        """How a bet went that does not stand; None where its player took it back before the close."""
        if bet in self._back:
            return None
        return self._returned.get(bet) or self._withdrawn.get(seat)

    def moved(self, bet: str) -> RuledBet | None:
        """Who decided that a bet counts where it does now."""
        return self._moved.get(bet)

    def incidents(self, seat: str | None = None) -> tuple[Incident, ...]:
        """The incidents; for a player at a seat, without others' affairs and what staff wrote down."""
        if seat is None:
            return tuple(told for _, told in self._incidents)
        mine = (one for one in self._incidents if one.seat in (None, seat))
        return tuple(told if whose == seat else replace(told, reason="") for whose, told in mine)


class RoundLogs:
    """Of the last rounds of a table. One that was not followed from its beginning has none."""

    def __init__(self) -> None:
        """Nothing heard yet."""
        self._logs: dict[int, RoundLog] = {}
        self._current = 0
        self._referred: dict[str, tuple[int, str | None]] = {}
        """Open referral → round and seat that it is about."""

    @classmethod
    def of(cls, events: Iterable[object]) -> RoundLogs:
        """Made from a table's events, or from the latest of them."""
        made = cls()
        for event in events:
            made.apply(event)
        return made

    def apply(self, event: object) -> None:
        """What an event, which is no bet, adds to the round that it is about."""
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
        elif isinstance(event, events.ReferralDecided):
            return self._referred.pop(event.referral, (number, None))
        return number, seat

    def of_round(self, number: int) -> RoundLog | None:
        """The log of a round; None where it is not known, or not from its beginning."""
        return self._logs.get(number)


def _says(event: events.Event) -> Words | None:  # noqa: PLR0911  one kind of incident after the other
    """An incident in words; None where the event is part of the course of a round."""
    match event:
        case events.IrregularityRuled():
            return texts.joined(texts.IRREGULARITIES[event.irregularity], texts.RULINGS[event.ruling])
        case events.Referred():
            own = event.subject in set(Subject)
            return (
                texts.SUBJECTS[Subject(event.subject)]
                if own
                else texts.IRREGULARITIES[Irregularity(event.subject)]
            )
        case events.ReferralDecided():
            return texts.TREATMENTS[event.treatment]
        case events.SightDeclared():
            return texts.DECLARED[event.declared]
        case events.ResultCorrected() | events.RoundResettled():
            return texts.CORRECT
        case events.RoundVoided():
            return texts.RULINGS[Ruling.VOID]
        case _:
            return None
