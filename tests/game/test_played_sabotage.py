"""The test of the played tests: what they play goes otherwise under any book with something else in it.

The tests of `tests/clauses` compare a rulebook's data; here only those that drive a table count.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from taisai.game.terms import opening
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import Terms, terms_of
from taisai.rules import Rulebook, rulebook
from tests.clauses.test_sabotage import (
    BY_PLAY,
    KNOWN,
    ONE_OF,
    PLAYED,
    PLAYED_FILES,
    Check,
    checks_in,
    checks_of,
    survivors,
)
from tests.game.playing import MBS, RWS, THREE_CARD, US
from tests.project.citations import clause_of_test

pytestmark = pytest.mark.part(name="sabotage")

HERE: Final = Path(__file__).parent
CHECKS: Final = {book: checks_in(modules) for book, modules in PLAYED.items()}
"""Book → the tests that play it."""

# What no table can show, and why.
NAMES: Final = r"procedure, phase, \d+: [a-z-]+ and [a-z-]+ change places"
"""The list of phases names them; the order of play is that of the steps."""
TOLD_ELSEWHERE: Final = r"procedure, step, \d+, needs, \d+: clause "
"""An unmet need is told by the clause of the ruling, or of the inspection, that it leads to."""
TUMBLED: Final = r"procedure, step, \d+: needs enough-tumbles"
"""Once uncovered, or void, there were enough; an automated shaker has no count to fall short of."""
OUT_OF_REACH: Final = r"procedure, step, \d+: when \{'(?:tumble|shaker)': '\w+'\} → nothing"
"""Under the other choice no round comes to the phase in which the step begins."""
NO_SHIFT: Final = r"procedure, step, [1456]: needs shift-inspected"
"""A manual shaker, with which these steps are played, is not inspected each shift."""
ON_TERMINALS: Final = r"procedure, positions: "
"""Nobody moves a bet that stands on a terminal; RWS 5.7 shows in bets taken back and withdrawn late."""
MOVED_LATE: Final = r"procedure, positions: fixed_by close-bets → "
"""After the close no bet is moved, whichever act fixes the positions."""
SEEN_OPEN: Final = (
    r"irregularities, ruling, (?:(?:9|14), seen: |3: phases \['open'|\d+: otherwise once seen )"
)
"""A die seen with bets open voids the round by the sight of it, whatever else is ruled."""
SEEN_LATE: Final = r"irregularities, ruling, [24]: phases \['closed'[^]]*\] → .*'open(?:-tumbled)?'\]"
"""The same, when the report calls it seen after the close."""
UNSEEN: Final = r"procedure, step, \d+: needs outcome-open"
"""That a round goes on once a die was seen is shown by the clause that orders it, not by the steps'."""
SEEN_TUMBLED: Final = r"procedure, recovery, 3: closed moved to "
"""Where a die was seen, the dice were tumbled: recovery goes by the phase after it."""
CLOCK: Final = r"procedure, step, 3: when nothing → \{'higher_may_act': 'no'\}"
"""The clock has no rank: where the others may act for one another, its steps are not played again."""
LOADED: Final = r"procedure, step, [23]: needs shoe-can-complete"
"""A shoe that could complete the round when it opened still can before the cards are dealt."""
NEVER_COVERED: Final = r"irregularities, ruling, \d+: phases .* → \['closed', 'revealed', 'closed-tumbled'\]"
"""An automated shaker, of which the ruling speaks, is never covered."""
SEEN_FIRST: Final = (
    r"procedure, recovery, 2: |irregularities, ruling, (?:2|8|12): phases "
    r"|irregularities, ruling, \d+: otherwise once seen"
)
"""A die seen before the close voids the round, whatever recovery or a ruling says of these phases."""
REFERRED_EITHER_WAY: Final = r"irregularities, ruling, 12: phases .* → .*'open(?:-tumbled)?'"
"""With bets open the catch-all refers such a failure too, by the same clause and to the same rank."""
CLOSED_FIRST: Final = r"procedure, positions: fixed_by "
"""No bet is moved after the close, which comes before the uncovering."""
NO_SIGHT: Final = r"irregularities, ruling, \d+: otherwise once seen "
"""A document that orders nothing about a sight asks nobody whether a die was seen."""
HIGHER: Final = r"people: higher_clause "
"""Whoever may not act for another is refused by the clause of the act."""

NOT_SHOWN: Final[dict[tuple[str, str], list[str]]] = {
    (MBS, "irregularities"): [SEEN_FIRST],
    (MBS, "procedure"): [NAMES, TOLD_ELSEWHERE, TUMBLED, CLOSED_FIRST, SEEN_FIRST, UNSEEN, SEEN_TUMBLED],
    (RWS, "irregularities"): [SEEN_OPEN, SEEN_LATE],
    (RWS, "procedure"): [NAMES, TOLD_ELSEWHERE, TUMBLED, ON_TERMINALS, CLOCK, UNSEEN],
    (RWS, "people"): [HIGHER],
    (RWS, "limits"): [],
    (THREE_CARD, "irregularities"): [SEEN_LATE],
    (THREE_CARD, "procedure"): [NAMES, LOADED, MOVED_LATE],
    (US, "irregularities"): [NEVER_COVERED, NO_SIGHT],
    (US, "procedure"): [NAMES, TOLD_ELSEWHERE, TUMBLED, OUT_OF_REACH, NO_SHIFT, CLOSED_FIRST, UNSEEN],
    (US, "people"): [HIGHER],
    (US, "limits"): [],
}


_TERMS: Final[dict[str, dict[str, Terms]]] = {}


def sound_terms(
    book: Rulebook, settings: dict[str, str], offers: dict[str, str], limits: Limits
) -> dict[str, Terms]:
    """The terms of the sound book: what is altered here is never its pay, and compiling it takes longest."""
    key = repr((book.id, sorted(settings.items()), sorted(offers.items()), limits))
    if key not in _TERMS:
        sound = rulebook(book.id)
        known = {name: value for name, value in settings.items() if name in sound.settings}
        _TERMS[key] = terms_of(sound, known, offers, limits)
    return _TERMS[key]


@pytest.fixture
def _pay_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "terms_of", sound_terms)


def played(book: str, clause: str | None) -> list[Check]:
    """The played tests named for a clause of the book; all of them where no clause is named."""
    return [
        test for name, test in CHECKS[book].items() if clause is None or clause_of_test(name, KNOWN) == clause
    ]


@pytest.mark.usefixtures("_pay_compiled_once")
@pytest.mark.parametrize(("book", "part"), NOT_SHOWN)
def test_whatever_is_altered_is_played_otherwise(book: str, part: str) -> None:
    survived = list(survivors(book, part, played, one_of=ONE_OF))
    noticed = [one for one in survived if not any(re.match(why, one) for why in NOT_SHOWN[book, part])]
    assert noticed == [], "\n".join([f"{len(noticed)} alterations are played as the sound book:", *noticed])
    if ONE_OF == 1:
        unused = [why for why in NOT_SHOWN[book, part] if not any(re.match(why, one) for one in survived)]
        assert unused == [], "excused, though a table shows it"
    # What is excused here, the other tests of its clause must notice; whatever is not, they notice too.
    among = [one for one in survived if not (book == MBS and re.match(REFERRED_EITHER_WAY, one))]
    assert list(survivors(book, part, checks_of, among=among)) == []


def test_every_part_that_is_left_to_play_is_played() -> None:
    assert NOT_SHOWN.keys() == BY_PLAY


@pytest.mark.parametrize(
    ("book", "part", "least"), [(US, "irregularities", 200), (THREE_CARD, "procedure", 100)]
)
def test_sabotage_with_nothing_played_every_alteration_survives(book: str, part: str, least: int) -> None:
    assert len(list(survivors(book, part, lambda _book, _clause: []))) >= least


@pytest.mark.parametrize("book", CHECKS)
def test_what_is_played_is_not_read_from_the_book(book: str) -> None:
    asked = re.compile(
        r"\b(?:book|table)\.(?:irregularities|procedure|people|limits|equipment)\.\w+\(|ruled\("
    )
    for file in (HERE / "played_events.py", *PLAYED_FILES[book]):
        assert asked.findall(file.read_text("utf-8")) == [], file.name
