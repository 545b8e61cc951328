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

from taisai.rules import Rulebook, rulebook, rulebook_ids
from taisai.rules.irregularities import Irregularity
from taisai.rules.procedure import Phase

CASES: Final = Path(__file__).parents[2] / "cases" / "irregularities"
HEADING: Final = "# irregularity phases ruling to clause"
NAMED: Final = re.compile(r"(?P<event>[a-z-]+)(?:\[(?P<setting>\w+)=(?P<value>\w+)\])?")

Ruled = tuple[str, str | None, str]
"""Ruling, to whom, clause."""
Cell = tuple[str, str]
"""What happened, in which phase."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a case file."""

    event: str
    setting: tuple[str, str] | None
    """The setting and its value under which the line holds instead of the usual one."""
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
        name, phases, ruling, to, clause = line.split()
        named = NAMED.fullmatch(name)
        assert named is not None, line
        setting = (named["setting"], named["value"]) if named["setting"] else None
        ruled = (ruling, None if to == "-" else to, clause)
        cases.append(Case(named["event"], setting, tuple(phases_of(phases, order)), ruled))
    return cases


def table_of(cases: list[Case], chosen: Mapping[str, str]) -> dict[Cell, Ruled]:
    """The whole table that the cases make under these settings."""
    usual = {(case.event, phase): case.ruled for case in cases if not case.setting for phase in case.phases}
    for case in cases:
        if case.setting and chosen[case.setting[0]] == case.setting[1]:
            usual |= {(case.event, phase): case.ruled for phase in case.phases}
    return usual


def every_choice(book: Rulebook) -> Iterator[dict[str, str]]:
    """Every combination of the settings that are choices between words."""
    named = {name: one.choices for name, one in book.settings.items() if one.choices}
    for values in product(*named.values()):
        yield book.chosen(dict(zip(named, values, strict=True)))


def disagreements(book: Rulebook, text: str) -> list[str]:
    """Where a case file and a book differ, and the cells on no line or on several."""
    order = tuple(map(str, book.irregularities.phases))
    cases = read_cases(text, order)
    lines = Counter((case.event, case.setting, phase) for case in cases for phase in case.phases)
    found = [f"{event} in {phase}: on {n} lines" for (event, _, phase), n in lines.items() if n > 1]
    cells = product(map(str, Irregularity), order)
    found += [f"{event} in {phase}: on no line" for event, phase in cells if not lines[event, None, phase]]
    for chosen in every_choice(book):
        for (event, phase), wanted in table_of(cases, chosen).items():
            cell = book.irregularities.ruled(Irregularity(event), Phase(phase), chosen)
            got = (str(cell.ruling), cell.to, str(cell.clause))
            if got != wanted:
                found.append(f"{event} in {phase}: {wanted} in the cases, {got} in the book")
    return found


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
def test_what_the_catch_all_rules_is_marked_as_not_foreseen(name: str) -> None:
    book = rulebook(name)
    catch_all = {"mbs-sic-bo-v6": "6.1", "rws-sic-bo-etg-v8": "5.10"}.get(name, "house:outside-the-rules")
    cases = read_cases(text_of(name), book.irregularities.phases)
    for (event, phase), (_, _, clause) in table_of(cases, book.chosen()).items():
        cell = book.irregularities.cells[Irregularity(event), Phase(phase)]
        assert cell.foreseen == (clause != catch_all), (event, phase)


@pytest.mark.parametrize(
    ("was", "became", "seen"),
    [
        ("settle-then-shut ", "void ", "equipment-failure in revealed: ('void'"),
        ("- 6(b)", "- 6(c)", "equipment-failure in paid: ('settle-then-shut', None, '6(c)')"),
        (
            "closed..entered stays-live",
            "closed..settled stays-live",
            "late-withdrawal in settled: on 2 lines",
        ),
        ("two-shakers all ", "two-shakers between..collected ", "two-shakers in paid: on no line"),
        ("die-not-flat[no_roll=void] ", "die-not-flat[no_roll=reroll] ", "die-not-flat in entered: ('void'"),
    ],
)
def test_sabotage_a_changed_missing_or_repeated_line_is_seen(was: str, became: str, seen: str) -> None:
    text = re.sub(" +", " ", text_of("us-sic-bo"))
    assert was in text
    found = disagreements(rulebook("us-sic-bo"), text.replace(was, became))
    assert any(line.startswith(seen) for line in found), found
