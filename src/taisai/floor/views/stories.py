"""Stories: what happened in a round beside its course, kept for the last rounds as it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from taisai.floor.views import words
from taisai.game import events as happened
from taisai.game.words import Subject
from taisai.rules.irregularities import Ruling
from taisai.rules.round import Irregularity
from taisai.wire.views import Incident, Words

REMEMBERED: Final = 10
"""Rounds that are recalled in full, beside the one in hand."""
MOST_INCIDENTS: Final = 50  # of a round that are told: the latest


class _Told(NamedTuple):
    seat: str | None
    """Whose affair it is, where it is one player's."""
    incident: Incident


class Story:
    """One round: what was keyed in before it was corrected, by which clause it is void, its incidents."""

    __slots__ = ("_first", "_incidents", "entered", "void")

    def __init__(self) -> None:
        """Of a round in which nothing has happened."""
        self._first: tuple[int, ...] | None = None
        self.entered: tuple[int, ...] | None = None
        self.void: str | None = None
        self._incidents: deque[_Told] = deque(maxlen=MOST_INCIDENTS)

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
                pass
        says = _says(event)
        if says is not None:
            what, clause = str(event.__struct_config__.tag), str(event.clause)
            told = Incident(at=event.at, by=event.by, what=what, says=says, clause=clause)
            self._incidents.append(_Told(seat, told))

    def incidents(self, seat: str | None = None) -> tuple[Incident, ...]:
        """The incidents; for a player at a seat, without those that are another player's affair."""
        return tuple(told for whose, told in self._incidents if seat is None or whose in (None, seat))


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
            return words.joined(words.IRREGULARITIES[event.irregularity], words.RULINGS[event.ruling])
        case happened.Referred():
            own = event.subject in set(Subject)
            return (
                words.SUBJECTS[Subject(event.subject)]
                if own
                else words.IRREGULARITIES[Irregularity(event.subject)]
            )
        case happened.ReferralDecided():
            return words.TREATMENTS[event.treatment]
        case happened.SightDeclared():
            return words.DECLARED[event.declared]
        case happened.ResultCorrected() | happened.RoundResettled():
            return words.CORRECT
        case happened.RoundVoided():
            return words.RULINGS[Ruling.VOID]
        case _:
            return None
