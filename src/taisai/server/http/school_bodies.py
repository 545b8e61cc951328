"""Bodies of the dealer school's requests and responses; `kind` is the kind of exercise."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from taisai.protocol.bodies import Name, RequestBody, ResponseBody
from taisai.protocol.views import Words
from taisai.school.settling import MOST_BETS

MOST_MARKED = 200  # areas: no layout has more to mark

# Requests


class _Answer(RequestBody, frozen=True, kw_only=True, tag_field="kind"):
    """The exercise that is answered, and the time that the page measured."""

    book: Name
    layout: Name
    level: int
    """From 1 to 3."""
    seed: int
    """From 0 to 2^53 - 1."""
    took: int
    """Milliseconds, at most an hour."""


class SettleAnswer(_Answer, frozen=True, kw_only=True, tag="settle"):
    """What comes back of every bet, in the order of the bets; 0 for a bet that loses."""

    returned: Annotated[tuple[int, ...], Meta(max_length=MOST_BETS)]


class KeyAnswer(_Answer, frozen=True, kw_only=True, tag="key"):
    """The three faces, in any order, and the areas that light up."""

    faces: Annotated[tuple[int, ...], Meta(min_length=3, max_length=3)]
    lit: Annotated[tuple[Name, ...], Meta(max_length=MOST_MARKED)]


class RulingAnswer(_Answer, frozen=True, kw_only=True, tag="ruling"):
    """The id of a choice."""

    choice: Name


SchoolAnswer = SettleAnswer | KeyAnswer | RulingAnswer


# Responses: what there is


class SchoolBook(ResponseBody, frozen=True, kw_only=True):
    """A rulebook to practise with, and its layouts."""

    book: str
    title: Words
    layouts: tuple[str, ...]
    cards: bool
    """Whether it is played with cards instead of dice."""


class ParTime(ResponseBody, frozen=True, kw_only=True):
    """The milliseconds that a good dealer needs for an exercise."""

    kind: str
    level: int
    par: int


class SchoolResponse(ResponseBody, frozen=True, kw_only=True):
    """What can be practised."""

    books: tuple[SchoolBook, ...]
    pars: tuple[ParTime, ...]
    greatest_seed: int
    longest: int
    """The greatest time of an answer, in milliseconds."""


# Responses: exercises, without their solutions


class _Exercise(ResponseBody, frozen=True, kw_only=True, tag_field="kind"):
    """The exercise that was requested, and its par time."""

    book: str
    title: Words
    layout: str
    level: int
    seed: int
    par: int
    """Milliseconds."""


class _Area(ResponseBody, frozen=True, kw_only=True):
    area: str
    label: Words


class SchoolBet(_Area, frozen=True, kw_only=True):
    """A bet on the layout."""

    seat: int
    colour: str
    """The colour of the seat's chips, for a style sheet."""
    colour_label: Words
    stake: int


class SettleExerciseResponse(_Exercise, frozen=True, kw_only=True, tag="settle"):
    """Bets of several seats, and what dice or cards show."""

    cards: bool
    faces: tuple[int, ...]
    bets: tuple[SchoolBet, ...]


class KeyExerciseResponse(_Exercise, frozen=True, kw_only=True, tag="key"):
    """What dice or cards show, in the order in which they are shown."""

    cards: bool
    faces: tuple[int, ...]


class SchoolChoice(ResponseBody, frozen=True, kw_only=True):
    """A ruling to choose."""

    id: str
    says: Words


class RulingExerciseResponse(_Exercise, frozen=True, kw_only=True, tag="ruling"):
    """An irregularity, its phase, and four rulings."""

    phase: str
    irregularity: str
    label: Words
    """The irregularity in words."""
    context: Words
    """The phase, and whether a die was seen."""
    choices: tuple[SchoolChoice, ...]


ExerciseResponse = SettleExerciseResponse | KeyExerciseResponse | RulingExerciseResponse


# Responses: judged answers


class _Judged(ResponseBody, frozen=True, kw_only=True, tag_field="kind"):
    """The marks of an answer."""

    score: int
    """From 0 to 100."""
    bonus: int
    """The part of the score for time."""
    right: int
    of: int
    took: int
    par: int


class _JudgedArea(_Area, frozen=True, kw_only=True):
    right: bool
    odds: Words | None
    """Such as '8.5 to 1'; None if the area loses."""
    clause: str
    says: str
    """The text of the clause."""


class JudgedBetResponse(_JudgedArea, frozen=True, kw_only=True):
    """A bet, the figure that was answered, and what comes back."""

    stake: int
    answered: int
    returned: int


class SettleJudgedResponse(_Judged, frozen=True, kw_only=True, tag="settle"):
    """Bet by bet, in the order of the exercise."""

    bets: tuple[JudgedBetResponse, ...]


class JudgedAreaResponse(_JudgedArea, frozen=True, kw_only=True):
    """An area that lights up, or that was marked."""

    lights: bool
    marked: bool


class KeyJudgedResponse(_Judged, frozen=True, kw_only=True, tag="key"):
    """The result, and every area that lights up or was marked."""

    faces: tuple[int, ...]
    """The right faces, ascending."""
    keyed: tuple[int, ...]
    faces_right: bool
    areas: tuple[JudgedAreaResponse, ...]


class RulingJudgedResponse(_Judged, frozen=True, kw_only=True, tag="ruling"):
    """What the rules order, by which clause, and who decides."""

    chosen: str
    ordered: str
    """The id of the right choice."""
    ruling: Words
    clause: str
    says: str
    """The text of the clause."""
    decides: Words
    foreseen: bool
    """Whether the document itself rules on it."""


JudgedResponse = SettleJudgedResponse | KeyJudgedResponse | RulingJudgedResponse
