"""What the loader refuses: each refusal once, naming the file, the key, what it expected and what it got.

The broken books stand in `refusals.toml`.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from taisai.rules import BookError, rulebook
from tests.rules.books import replaced, saved, text_of

US = "us-sic-bo"
RWS = "rws-sic-bo-etg-v8"
ODDS = "odds like '8.5 to 1' or '6 to 5'"


class Case(NamedTuple):
    """A rulebook with the first `cut` replaced by `put`, and what the refusal must say."""

    why: str
    cut: str
    put: str
    key: str = ""
    expected: str = ""
    got: str = ""
    book: str = US


CASES = {
    group: [Case(**case) for case in cases]
    for group, cases in tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8")).items()
}


def refusal(folder: Path, case: Case) -> BookError:
    path = saved(folder, replaced(text_of(case.book), case.cut, case.put))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    return caught.value


def check(folder: Path, case: Case) -> None:
    error = refusal(folder, case)
    said = (error.file, error.key, error.expected, error.got)
    assert said == ("my.toml", case.key, case.expected, case.got)
    assert str(error) == f"expected {case.expected}, got {case.got} (my.toml, {case.key})"


def each(group: str) -> pytest.MarkDecorator:
    cases = CASES[group]
    return pytest.mark.parametrize("case", cases, ids=[case.why.replace(" ", "-") for case in cases])


def test_every_group_of_refusals_has_its_test() -> None:
    assert set(CASES) == {
        "unknown_key",
        "area",
        "clause",
        "floor",
        "procedure",
        "irregularity",
        "pairs",
        "condition",
        "setting",
        "twice",
        "other",
    }


@each("unknown_key")
def test_an_unknown_key_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


def test_an_unknown_key_at_the_top_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, 'colour = "green"\n' + text_of(US))
    with pytest.raises(BookError, match=r"got the unknown key 'colour' \(my\.toml, colour\)"):
        rulebook(path)


@pytest.mark.parametrize(
    "odds",
    [
        "8:1",
        "8 for 1",
        "8-1",
        "8/1",
        "8",
        "1 wins 8",
        "8,5 to 1",
        "8. to 1",
        ".5 to 1",
        "8 To 1",
        "8  to 1",
        " 8 to 1",
        "-8 to 1",
        "08 to 1",
        "８ to 1",
        "eight to one",
        "8 to 0",
        "8 to 1.5",
        "1000000 to 1",
        "1.0005 to 1",
        "0 to 1",
        "0.000 to 1",
    ],
)
def test_odds_that_no_layout_prints_are_refused(tmp_path: Path, odds: str) -> None:
    nothing_won = odds.startswith("0") and not odds.startswith("08")
    expected = f"{ODDS}, above 0" if nothing_won else ODDS
    put = f'dice = 2\nodds = "{odds}"\n'
    key = "pay_table 1, pay 14, odds"
    check(tmp_path, Case("", 'dice = 2\nodds = "2 to 1"\n', put, key, expected, repr(odds)))


@each("area")
def test_an_area_out_of_place_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("clause")
def test_a_clause_that_the_document_does_not_have_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("floor")
def test_odds_at_odds_with_their_floor_are_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("procedure")
def test_a_procedure_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("irregularity")
def test_an_irregularity_table_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("pairs")
def test_an_order_of_rulings_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("condition")
def test_a_winning_condition_that_does_not_fit_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("setting")
def test_a_setting_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("twice")
def test_what_is_given_twice_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each("other")
def test_whatever_else_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


def without_step(act: str, text: str) -> str:
    """A rulebook's text without the steps of one act."""
    steps = text.split("[[procedure.step]]\n")
    return "[[procedure.step]]\n".join(step for step in steps if not step.startswith(f'act = "{act}"'))


@pytest.mark.parametrize(
    ("act", "to", "setting", "reached"),
    [
        ("settle", "settled", "manual", "closed, closed-tumbled, entered, open, revealed"),
        ("activate-shaker", "settled", "automated", "closed, open"),
        ("pay", "", "manual", "closed, closed-tumbled, collected, entered, open, revealed, settled"),
    ],
)
def test_a_procedure_that_cannot_reach_settlement_is_refused(
    tmp_path: Path, act: str, to: str, setting: str, reached: str
) -> None:
    path = saved(tmp_path, without_step(act, text_of(US)))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    error = caught.value
    got = f"steps that lead only to {reached}"
    assert (error.file, error.key, error.got) == ("my.toml", "procedure, step", got)
    assert error.expected.startswith("steps that lead from ")
    assert error.expected.endswith(f"{to} with shaker = {setting}")


def test_a_procedure_without_the_phase_of_settlement_is_refused(tmp_path: Path) -> None:
    before, mark, after = text_of(US).partition("[irregularities.otherwise]")
    path = saved(tmp_path, before.replace('"settled"', '"deal-pressed"') + mark + after)
    with pytest.raises(BookError) as caught:
        rulebook(path)
    phases = "between, open, closed, closed-tumbled, revealed, entered, deal-pressed, collected, paid"
    assert (caught.value.key, caught.value.got) == ("procedure, phase", f"only {phases}")
    assert caught.value.expected == "the phase 'settled'"


@pytest.mark.parametrize("cell", ["small", "big"])
def test_an_area_without_a_cell_is_refused_and_no_innocent_block_named(tmp_path: Path, cell: str) -> None:
    error = refusal(tmp_path, Case("", f'[["{cell}"]]', '[[""]]'))
    assert (error.expected, error.got) == ("a cell for every area of the pay table", f"no cell for '{cell}'")
    assert error.key in {"layout 1", "layout 1, block"}


def test_exactly_without_dice_is_refused_at_the_dice(tmp_path: Path) -> None:
    assert refusal(tmp_path, Case("", "dice = 3\nodds", "odds")).key == "pay_table 1, pay 15, dice"


def test_exactly_without_dice_instead_is_refused_there(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", 'wins = "exactly", dice = 2 }', 'wins = "exactly" }'))
    assert error.key == "pay_table 1, pay 2, instead, dice"


def test_a_floor_that_is_missing_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", 'floor = "24 to 1"\n', ""))
    assert (error.key, error.got) == ("pay_table 1, pay 3, floor", "no such key")


def test_a_bound_that_is_missing_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", "least = 0\n", "", book=RWS))
    assert (error.key, error.got) == ("setting 2, least", "no such key")


def test_two_blocks_with_one_id_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", 'id = "small"\ndrawing', 'id = "big"\ndrawing'))
    assert error.key == "layout 1, block 3, id"
    assert "'big'" in error.got


def test_blocks_on_one_another_are_refused_whatever_they_are_called(tmp_path: Path) -> None:
    text = replaced(text_of(US), 'id = "small"\ndrawing', 'id = "big"\ndrawing')
    path = saved(tmp_path, replaced(text, "at = [1, 15]", "at = [1, 1]"))
    with pytest.raises(BookError, match=r"layout 1, block 3"):
        rulebook(path)


@pytest.mark.parametrize(
    ("cut", "key"),
    [
        ('event = "two-shakers"\nphases = "all"', "irregularities, ruling 9, phases"),
        ('phases = ["open", "closed", "closed-tumbled"]', "procedure, recovery 2, phases"),
    ],
)
def test_an_entry_for_no_phase_is_refused(tmp_path: Path, cut: str, key: str) -> None:
    put = cut.partition("phases")[0] + "phases = []"
    assert refusal(tmp_path, Case("", cut, put)).key == key


def test_a_procedure_with_no_open_phase_is_refused_or_read(tmp_path: Path) -> None:
    path = saved(tmp_path, text_of(US).replace('"open"', '"open-tumbled"'))
    with suppress(BookError):
        rulebook(path)


def test_acting_for_others_as_set_without_the_setting_is_refused(tmp_path: Path) -> None:
    text = replaced(text_of(US), 'id = "higher_may_act"', 'id = "higher_might_act"')
    path = saved(tmp_path, replaced(text, 'setting = "higher_may_act"', 'setting = "higher_might_act"'))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    assert (caught.value.key, caught.value.got) == ("people, higher_may_act", "no such setting")


def test_sabotage_a_book_that_is_right_is_not_refused(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception):
        refusal(tmp_path, Case("", 'id = "A"', 'id = "A"'))


def test_sabotage_a_refusal_that_names_something_else_is_seen(tmp_path: Path) -> None:
    case = CASES["other"][0]
    check(tmp_path, case)
    for doctored in (case._replace(key="layout 2"), case._replace(expected="x"), case._replace(got="x")):
        with pytest.raises(AssertionError):
            check(tmp_path, doctored)
