"""The irregularity cases a pit manager can read: each line of `cases/irregularities`, no cell without one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from taisai.rules import Irregularity, Phase, Rulebook, rulebook, rulebook_ids

CASES: Final = Path(__file__).parents[2] / "cases" / "irregularities"
HEADING: Final = "# irregularity phases ruling who clause"
SEEN: Final = "seen"
NAMED: Final = re.compile(rf"(?P<event>[a-z-]+)(?:\[(?P<instead>{SEEN}|\w+=\w+)\])?")

Ruled = tuple[str, str | None, str]
"""Ruling, who decides it or has to be present, clause."""
Cell = tuple[str, str]
"""What happened, in which phase."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a case file."""

    event: str
    instead: str | None
    """When the line holds instead of the usual one: a setting and its value, or once a die was seen."""
    phases: tuple[str, ...]
    ruled: Ruled


def phases_of(text: str, order: tuple[str, ...]) -> Iterator[str]:
    """The phases that a case names: all, some, or from one to another in the order of a round."""
    if text == "all":
        yield from order
        return
    for part in text.split(","):
        first, _, last = part.partition("..")
        yield from order[order.index(first) : order.index(last or first) + 1]


def read_cases(text: str, order: tuple[str, ...]) -> list[Case]:
    cases = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, phases, ruling, who, clause = line.split()
        named = NAMED.fullmatch(name)
        assert named is not None, line
        ruled = (ruling, None if who == "-" else who, clause)
        cases.append(Case(named["event"], named["instead"], tuple(phases_of(phases, order)), ruled))
    return cases


def table_of(cases: list[Case], chosen: Mapping[str, str], *, seen: bool = False) -> dict[Cell, Ruled]:
    """The whole table that the cases make under these settings, with a die seen or none."""
    holding = [None, *(f"{name}={value}" for name, value in chosen.items()), *([SEEN] if seen else [])]
    lines = [case for instead in holding for case in cases if case.instead == instead]
    return {(case.event, phase): case.ruled for case in lines for phase in case.phases}


def every_choice(book: Rulebook) -> Iterator[dict[str, str]]:
    """Every combination of the settings that are choices between words."""
    named = {name: one.choices for name, one in book.settings.items() if one.choices}
    for values in product(*named.values()):
        yield book.chosen(dict(zip(named, values, strict=True)))


def disagreements(book: Rulebook, text: str) -> list[str]:
    """Where a case file and a book differ, and the cells on no line or on several."""
    order = tuple(map(str, book.irregularities.phases))
    cases = read_cases(text, order)
    lines = Counter((case.event, case.instead, phase) for case in cases for phase in case.phases)
    found = [f"{event} in {phase}: on {n} lines" for (event, _, phase), n in lines.items() if n > 1]
    cells = product(map(str, Irregularity), order)
    found += [f"{event} in {phase}: on no line" for event, phase in cells if not lines[event, None, phase]]
    found += [
        f"{case.event}: {case.instead} is no setting" for case in cases if not known(book, case.instead)
    ]
    for chosen, seen in product(every_choice(book), (False, True)):
        for (event, phase), wanted in table_of(cases, chosen, seen=seen).items():
            cell = book.irregularities.ruling_for(Irregularity(event), Phase(phase), chosen, seen=seen)
            got = (str(cell.ruling), cell.to or cell.witness, str(cell.clause))
            if got != wanted:
                once = ", a die seen" if seen else ""
                found.append(f"{event} in {phase}{once}: {wanted} in the cases, {got} in the book")
    return found


def known(book: Rulebook, instead: str | None) -> bool:
    """Whether a line's condition is one that can hold."""
    if instead in (None, SEEN):
        return True
    name, _, value = str(instead).partition("=")
    return name in book.settings and value in book.settings[name].choices


def text_of(book: str) -> str:
    return (CASES / f"{book}.txt").read_text("utf-8")


def test_every_rulebook_has_its_file_and_no_file_is_left_over() -> None:
    assert sorted(path.stem for path in CASES.iterdir()) == sorted(rulebook_ids())


@pytest.mark.parametrize("name", rulebook_ids())
def test_every_cell_stands_on_one_line_and_the_book_agrees(name: str) -> None:
    assert disagreements(rulebook(name), text_of(name)) == []


@pytest.mark.parametrize("name", rulebook_ids())
def test_the_phases_are_listed_in_the_order_of_a_round(name: str) -> None:
    listed = "#   " + ", ".join(rulebook(name).irregularities.phases)
    assert listed in text_of(name).splitlines()
    assert [line for line in text_of(name).splitlines() if line.split() == HEADING.split()]


@pytest.mark.parametrize("name", rulebook_ids())
def test_what_the_catch_all_or_the_house_rules_is_marked_as_not_foreseen(name: str) -> None:
    book = rulebook(name)
    catch_all = {"mbs-sic-bo-v6": "6.1", "rws-sic-bo-etg-v8": "5.10"}.get(name, "house:outside-the-rules")
    cases = read_cases(text_of(name), book.irregularities.phases)
    for chosen, seen in product(every_choice(book), (False, True)):
        for (event, phase), (_, _, clause) in table_of(cases, chosen, seen=seen).items():
            cell = book.irregularities.ruling_for(Irregularity(event), Phase(phase), chosen, seen=seen)
            document = clause != catch_all and not clause.startswith("house:")
            assert cell.foreseen == document, (event, phase)


@pytest.mark.parametrize(
    ("book", "was", "became", "noticed"),
    [
        ("us-sic-bo", "settle-then-shut ", "void ", "equipment-failure in revealed: ('void'"),
        (
            "us-sic-bo",
            "casino-supervisor 6(b)",
            "floorperson 6(b)",
            "equipment-failure in paid: ('settle-then-shut', 'floorperson', '6(b)')",
        ),
        (
            "us-sic-bo",
            "casino-supervisor 6(b)",
            "casino-supervisor 6(c)",
            "equipment-failure in paid: ('settle-then-shut', 'casino-supervisor', '6(c)')",
        ),
        (
            "us-sic-bo",
            "closed..collected stays-live",
            "closed..paid stays-live",
            "late-withdrawal in paid: on 2 lines",
        ),
        (
            "us-sic-bo",
            "two-shakers all ",
            "two-shakers between..collected ",
            "two-shakers in paid: on no line",
        ),
        ("us-sic-bo", "[no_roll=void] ", "[no_roll=reroll] ", "die-not-flat in entered: ('void'"),
        ("us-sic-bo", "[no_roll=void] ", "[no_roll=never] ", "die-not-flat: no_roll=never is no setting"),
        (
            "us-sic-bo",
            "[shaker=automated] closed..",
            "[shaker=manual] closed..",
            "too-few-tumbles in closed:",
        ),
        (
            "mbs-sic-bo-v6",
            "power-failure[seen] closed..deal-pressed continue",
            "power-failure[seen] closed..closed-tumbled continue",
            "power-failure in deal-pressed, a die seen: ('withdraw-option'",
        ),
        (
            "mbs-sic-bo-v6",
            "deal-pressed continue - 5.13.2",
            "deal-pressed void - 5.13.2",
            "power-failure in closed, a die seen: ('void'",
        ),
        (
            "rws-sic-bo-etg-v8",
            "equipment-failure[seen] closed,closed-tumbled",
            "equipment-failure[seen] closed-tumbled",
            "equipment-failure in closed, a die seen: ('void'",
        ),
        (
            "rws-sic-bo-etg-v8",
            "power-failure[seen] ",
            "power-failure ",
            "power-failure in closed-tumbled: on 2 lines",
        ),
    ],
)
def test_sabotage_a_changed_missing_or_repeated_line_is_seen(
    book: str, was: str, became: str, noticed: str
) -> None:
    text = re.sub(" +", " ", text_of(book))
    assert was in text
    found = disagreements(rulebook(book), text.replace(was, became))
    assert any(line.startswith(noticed) for line in found), found
