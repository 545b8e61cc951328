"""Stories: what happened in a round beside its course, kept for the last rounds as it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai.game import events as happened
from taisai.game.words import Subject
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


class Story:
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
        self._decided: happened.ReferralDecided | None = None
        self._back: set[str] = set()
        self._moved: dict[str, RuledBet] = {}
        self._returned: dict[str, Treated] = {}
        self._withdrawn: dict[str, Treated] = {}

    def take(self, event: happened.Event, seat: str | None = None) -> None:
        """What an event adds to it; `seat`: the one whose affair it is."""
        match event:
            case happened.ResultEntered():
                self._first = event.faces
            case happened.BetsReopened():
                self._first = self.entered = None
            case happened.ResultCorrected():
                self.entered = self._first
            case happened.RoundResettled():
                self.entered = self.entered or event.entered
            case happened.RoundVoided():
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

    def _bets(self, event: happened.Event) -> None:
        """What became of single bets."""
        match event:
            case happened.BetsClosed():
                self._closed = True
            case happened.ReferralDecided():
                self._decided = event
            case happened.BetTakenBack():
                self._back.add(event.id)
            case happened.BetReturned():
                ruled = self._ruled(event, "returned")
                self._returned[event.id] = Treated(str(event.clause), ruled, lay=self._closed)
            case happened.BetMoved() if self._is_decided(event):
                self._moved[event.id] = self._ruled(event, "moved")
            case happened.WithdrawalChosen() if event.withdraw:
                ruled = RuledBet(how="withdrawn", by=event.by)
                self._withdrawn[event.seat] = Treated(str(event.clause), ruled, lay=True)
            case _:
                pass

    def _is_decided(self, event: happened.Event) -> bool:
        """Whether it follows from the decision that was told just before."""
        decided = self._decided
        return decided is not None and (decided.at, decided.by) == (event.at, event.by)

    def _ruled(self, event: happened.Event, how: str) -> RuledBet:
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


class Stories:
    """Of the last rounds of a table. One that was not followed from its beginning has none."""

    def __init__(self) -> None:
        """Nothing heard yet."""
        self._stories: dict[int, Story] = {}
        self._current = 0
        self._referred: dict[str, tuple[int, str | None]] = {}
        """Open referral → round and seat that it is about."""

    @classmethod
    def of(cls, events: Iterable[object]) -> Stories:
        """Made from a table's events, or from the latest of them."""
        made = cls()
        for event in events:
            made.take(event)
        return made

    def take(self, event: object) -> None:
        """What an event, which is no bet, adds to the round that it is about."""
        if not isinstance(event, happened.Event):
            return
        if isinstance(event, happened.BetsOpened):
            self._current = event.round
            self._stories[event.round] = Story()
            self._stories.pop(event.round - REMEMBERED - 1, None)
            return
        number, seat = self._about(event)
        story = self._stories.get(number)
        if story is not None:
            story.take(event, seat)

    def _about(self, event: happened.Event) -> tuple[int, str | None]:
        number, seat = getattr(event, "round", None), None
        number = number if isinstance(number, int) else self._current
        if isinstance(event, happened.Referred):
            seat = event.seat
            self._referred[event.referral] = (number, seat)
        elif isinstance(event, happened.ReferralDecided):
            return self._referred.pop(event.referral, (number, None))
        return number, seat

    def of_round(self, number: int) -> Story | None:
        """The story of a round; None where it is not known, or not from its beginning."""
        return self._stories.get(number)


def _says(event: happened.Event) -> Words | None:  # noqa: PLR0911  one kind of incident after the other
    """An incident in words; None where the event is part of the course of a round."""
    match event:
        case happened.IrregularityRuled():
            return texts.joined(texts.IRREGULARITIES[event.irregularity], texts.RULINGS[event.ruling])
        case happened.Referred():
            own = event.subject in set(Subject)
            return (
                texts.SUBJECTS[Subject(event.subject)]
                if own
                else texts.IRREGULARITIES[Irregularity(event.subject)]
            )
        case happened.ReferralDecided():
            return texts.TREATMENTS[event.treatment]
        case happened.SightDeclared():
            return texts.DECLARED[event.declared]
        case happened.ResultCorrected() | happened.RoundResettled():
            return texts.CORRECT
        case happened.RoundVoided():
            return texts.RULINGS[Ruling.VOID]
        case _:
            return None
