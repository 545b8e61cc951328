"""What dealer school sends and is sent; `kind` says which kind of exercise it is about."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from taisai.protocol.bodies import Name, RequestBody, ResponseBody
from taisai.protocol.views import Words
from taisai.school.settling import MOST_BETS

MOST_MARKED = 200  # areas: no layout has more to mark

# In


class _Answer(RequestBody, frozen=True, kw_only=True, tag_field="kind"):
    """Which exercise it answers, and how long that took by the page's own clock."""

    book: Name
    layout: Name
    level: int
    """From 1 to 3."""
    seed: int
    """From 0 to 2^53 - 1."""
    took: int
    """Milliseconds, at most an hour."""


class SettleAnswer(_Answer, frozen=True, kw_only=True, tag="settle"):
    """What comes back of every bet, in the order of the bets; 0 for one that is lost."""

    returned: Annotated[tuple[int, ...], Meta(max_length=MOST_BETS)]


class KeyAnswer(_Answer, frozen=True, kw_only=True, tag="key"):
    """The faces keyed, in any order, and the areas that light."""

    faces: Annotated[tuple[int, ...], Meta(min_length=3, max_length=3)]
    lit: Annotated[tuple[Name, ...], Meta(max_length=MOST_MARKED)]


class RulingAnswer(_Answer, frozen=True, kw_only=True, tag="ruling"):
    """The id of a choice."""

    choice: Name


SchoolAnswer = SettleAnswer | KeyAnswer | RulingAnswer


# Out: what there is


class SchoolLayoutTold(ResponseBody, frozen=True, kw_only=True):
    """A rulebook that can be practised, and its layouts."""

    book: str
    title: Words
    layouts: tuple[str, ...]
    cards: bool
    """Whether cards are shown, and not dice."""


class SchoolParTold(ResponseBody, frozen=True, kw_only=True):
    """In how many milliseconds a good dealer does a kind of exercise at a level."""

    kind: str
    level: int
    par: int


class SchoolTold(ResponseBody, frozen=True, kw_only=True):
    """What can be practised."""

    books: tuple[SchoolLayoutTold, ...]
    pars: tuple[SchoolParTold, ...]
    greatest_seed: int
    longest: int
    """The most milliseconds that an answer may say it took."""


# Out: exercises, none of which holds its own solution


class _ExerciseTold(ResponseBody, frozen=True, kw_only=True, tag_field="kind"):
    """The exercise that was asked for, and its par time."""

    book: str
    title: Words
    layout: str
    level: int
    seed: int
    par: int
    """Milliseconds."""


class SchoolBetTold(ResponseBody, frozen=True, kw_only=True):
    """A bet as it lies."""

    seat: int
    colour: str
    """Of the seat's chips, for a style sheet."""
    colour_label: Words
    area: str
    label: Words
    stake: int


class SettleExerciseTold(_ExerciseTold, frozen=True, kw_only=True, tag="settle"):
    """Bets of several seats, and what dice or cards show."""

    cards: bool
    faces: tuple[int, ...]
    bets: tuple[SchoolBetTold, ...]


class KeyExerciseTold(_ExerciseTold, frozen=True, kw_only=True, tag="key"):
    """What dice or cards show, in the order in which they lie."""

    cards: bool
    faces: tuple[int, ...]


class SchoolChoiceTold(ResponseBody, frozen=True, kw_only=True):
    """A ruling to choose."""

    id: str
    says: Words


class RulingExerciseTold(_ExerciseTold, frozen=True, kw_only=True, tag="ruling"):
    """What goes wrong and when, and four rulings."""

    phase: str
    irregularity: str
    label: Words
    """What went wrong."""
    context: Words
    """When, and what is known of the dice."""
    choices: tuple[SchoolChoiceTold, ...]


ExerciseTold = SettleExerciseTold | KeyExerciseTold | RulingExerciseTold


# Out: how answers are judged


class _JudgedTold(ResponseBody, frozen=True, kw_only=True, tag_field="kind"):
    """What an answer is worth."""

    score: int
    """From 0 to 100."""
    bonus: int
    """How much of it is for time."""
    right: int
    of: int
    took: int
    par: int


class SettledBetTold(ResponseBody, frozen=True, kw_only=True):
    """A bet, what was answered, what comes back of it, and why."""

    area: str
    label: Words
    stake: int
    answered: int
    returned: int
    right: bool
    odds: Words | None
    """Such as '8.5 to 1'; None for one that is lost."""
    clause: str
    says: str


class SettleJudgedTold(_JudgedTold, frozen=True, kw_only=True, tag="settle"):
    """Bet by bet, in the order of the exercise."""

    bets: tuple[SettledBetTold, ...]


class KeyedAreaTold(ResponseBody, frozen=True, kw_only=True):
    """An area that lights, or that was marked."""

    area: str
    label: Words
    lights: bool
    marked: bool
    right: bool
    odds: Words | None
    clause: str
    says: str


class KeyJudgedTold(_JudgedTold, frozen=True, kw_only=True, tag="key"):
    """The result, and every area that lights or was marked."""

    faces: tuple[int, ...]
    """What was to be keyed, ascending."""
    keyed: tuple[int, ...]
    faces_right: bool
    areas: tuple[KeyedAreaTold, ...]


class RulingJudgedTold(_JudgedTold, frozen=True, kw_only=True, tag="ruling"):
    """What the rules order, by which clause, and who decides."""

    chosen: str
    ordered: str
    """The id of the right choice."""
    ruling: Words
    clause: str
    says: str
    """What that clause says, in our words."""
    decides: Words
    foreseen: bool
    """Whether the document itself speaks of it."""


JudgedTold = SettleJudgedTold | KeyJudgedTold | RulingJudgedTold
