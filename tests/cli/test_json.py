"""What machines read: shapes as promised, fractions exact, outcomes in order, nothing else on any stream."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from taisai.rules import OUTCOMES, Outcome, rulebook
from taisai.rules.clause_coverage import coverage_of
from taisai.rules.vocabulary import Irregularity, Phase
from tests.cli.commands import BOOKS, LAYOUTS, Words, settling, with_json
from tests.cli.conftest import Taisai

each_book = pytest.mark.parametrize("book", BOOKS)
each_layout = pytest.mark.parametrize(("book", "layout"), LAYOUTS)


def answer(taisai: Taisai, *words: str) -> Any:
    """What a command says as JSON; it must say it on one line and nothing else."""
    ran = taisai(*words, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    assert ran.out.endswith("\n")
    assert ran.out.isascii()
    return json.loads(ran.out)


def exact(text: str) -> Fraction:
    """A fraction written exactly and in lowest terms: '-1', '17/2'."""
    value = Fraction(text)
    assert str(value) == text
    return value


@pytest.mark.parametrize("words", with_json(), ids=" ".join)
def test_every_command_answers_in_json(taisai: Taisai, words: Words) -> None:
    answer(taisai, *words[:-1])


@each_layout
def test_matrix(taisai: Taisai, book: str, layout: str) -> None:
    said = answer(taisai, "rules", "matrix", book, "--layout", layout)
    assert list(said) == ["rulebook", "layout", "digest", "outcomes", "areas"]
    matrix, clauses = rulebook(book).matrix(layout), set(rulebook(book).clauses)
    assert (said["rulebook"], said["layout"], said["digest"]) == (book, layout, matrix.digest)
    assert said["outcomes"] == sorted({"".join(sorted(name)) for name in said["outcomes"]})
    assert said["outcomes"] == [str(outcome) for outcome in OUTCOMES]
    assert len(said["outcomes"]) == 56
    assert [area["id"] for area in said["areas"]] == list(matrix.areas)
    for area in said["areas"]:
        assert list(area) == ["id", "label", "nets", "clauses"]
        assert area["label"]
        assert [exact(net) for net in area["nets"]] == [matrix.net(area["id"], o) for o in OUTCOMES]
        assert len(area["clauses"]) == 56
        assert set(area["clauses"]) <= clauses


def test_a_half_is_written_as_a_fraction(taisai: Taisai) -> None:
    said = answer(taisai, "rules", "matrix", "rws-sic-bo-etg-v8", "--layout", "A")
    eight = next(area for area in said["areas"] if area["id"] == "total-8")
    assert set(eight["nets"]) == {"-1", "17/2"}
    assert eight["nets"][said["outcomes"].index("233")] == "17/2"


@each_layout
def test_odds(taisai: Taisai, book: str, layout: str) -> None:
    said = answer(taisai, "odds", book, "--layout", layout)
    assert list(said) == ["rulebook", "layout", "chance", "areas"]
    assert (said["rulebook"], said["layout"]) == (book, layout)
    matrix = rulebook(book).matrix(layout)
    assert [area["id"] for area in said["areas"]] == list(matrix.areas)
    for area in said["areas"]:
        assert list(area) == ["id", "odds", "win_probability", "house_edge", "variance"]
        assert area["odds"] == [str(win.odds) for win in matrix.wins[matrix.row(area["id"])]]
        assert 0 < exact(area["win_probability"]) < 1
        assert 0 < exact(area["house_edge"]) < 1
        assert exact(area["variance"]) > 0


def test_odds_of_small_are_those_of_the_promise(taisai: Taisai) -> None:
    said = answer(taisai, "odds", "rws-sic-bo-etg-v8")
    small = next(area for area in said["areas"] if area["id"] == "small")
    assert small == {
        "id": "small",
        "odds": ["1 to 1"],
        "win_probability": "35/72",
        "house_edge": "1/36",
        "variance": "1295/1296",
    }
    assert said["chance"] == {"kind": "dice", "dice": 3, "rolls": 216}


def test_odds_of_a_shoe_say_what_is_in_it(taisai: Taisai) -> None:
    said = answer(taisai, "odds", "mbs-3-card-sic-bo", "--decks", "2", "--seen", "1,1,6")
    assert said["chance"] == {
        "kind": "cards",
        "decks": 2,
        "seen": {"1": 2, "2": 0, "3": 0, "4": 0, "5": 0, "6": 1},
        "draws": 93 * 92 * 91 // 6,
    }
    whole = answer(taisai, "odds", "mbs-3-card-sic-bo")
    assert whole["chance"]["decks"] == 6
    assert whole["areas"] != said["areas"]


@each_layout
def test_settle(taisai: Taisai, book: str, layout: str) -> None:
    said = answer(taisai, *settling(book, layout))
    matrix = rulebook(book).matrix(layout)
    outcome = Outcome.of(2, 3, 5)
    assert list(said) == ["outcome", "staked", "returned", "bets"]
    assert said["outcome"] == "235"
    assert said["staked"] == 100 * len(matrix.areas)
    assert said["returned"] == sum(bet["returned"] for bet in said["bets"])
    assert [bet["area"] for bet in said["bets"]] == list(matrix.areas)
    for bet in said["bets"]:
        assert list(bet) == ["area", "stake", "won", "returned", "clause"]
        net = matrix.net(bet["area"], outcome)
        assert (bet["stake"], bet["won"], bet["returned"]) == (100, max(0, 100 * net), 100 * (net + 1))
        assert all(type(bet[money]) is int for money in ("stake", "won", "returned"))
        assert bet["clause"] == matrix.explain(bet["area"], outcome).clause


def test_settle_keeps_bets_in_their_order_and_apart(taisai: Taisai) -> None:
    bets = ("--bet", "big=1", "--bet", "small=100", "--bet", "small=50")
    said = answer(taisai, "settle", "us-sic-bo", "--dice", "5,3,2", *bets)
    assert [(bet["area"], bet["stake"], bet["returned"]) for bet in said["bets"]] == [
        ("big", 1, 0),
        ("small", 100, 200),
        ("small", 50, 100),
    ]
    assert (said["outcome"], said["staked"], said["returned"]) == ("235", 151, 300)


def test_settle_under_an_offer_and_a_setting(taisai: Taisai) -> None:
    bets = ("--bet", "triple-2=10", "--bet", "double-2=10")
    house = ("--offer", "triple-2=180 to 1", "--set", "double_on_triple=no")
    said = answer(taisai, "settle", "us-sic-bo", "--dice", "2,2,2", *bets, *house)
    assert [bet["returned"] for bet in said["bets"]] == [1810, 0]


@pytest.mark.parametrize("command", ["odds", "rules matrix"])
def test_the_first_layout_is_the_default(taisai: Taisai, command: str) -> None:
    for book in BOOKS:
        first = next(iter(rulebook(book).layouts))
        plain = answer(taisai, *command.split(), book)
        assert plain == answer(taisai, *command.split(), book, "--layout", first)
        assert plain["layout"] == first


@each_book
def test_irregularities(taisai: Taisai, book: str) -> None:
    said = answer(taisai, "rules", "irregularities", book)
    table, chosen = rulebook(book).irregularities, rulebook(book).chosen()
    assert said["rulebook"] == book
    assert said["phases"] == list(table.phases)
    assert [row["id"] for row in said["irregularities"]] == list(Irregularity)
    for row in said["irregularities"]:
        assert [cell["phase"] for cell in row["rulings"]] == said["phases"]
        for cell in row["rulings"]:
            ruled = table.ruling_for(Irregularity(row["id"]), Phase(cell["phase"]), chosen)
            assert list(cell) == ["phase", "ruling", "clause", "to", "witness", "foreseen", "if_seen"]
            assert (cell["ruling"], cell["clause"]) == (ruled.ruling, ruled.clause)
            assert cell["foreseen"] == ruled.foreseen
            assert (cell["witness"] is not None) == (cell["ruling"] == "settle-then-shut")
            assert (cell["to"] is not None) == (cell["ruling"] == "refer")


def test_irregularities_follow_a_setting(taisai: Taisai) -> None:
    def no_roll(*house: str) -> list[str]:
        said = answer(taisai, "rules", "irregularities", "us-sic-bo", *house)
        row = next(row for row in said["irregularities"] if row["id"] == "die-not-flat")
        return sorted({cell["ruling"] for cell in row["rulings"] if cell["foreseen"]})

    assert no_roll() == ["no-roll"]
    assert no_roll("--set", "no_roll=void") == ["void"]


def test_list(taisai: Taisai) -> None:
    said = answer(taisai, "rules", "list")["rulebooks"]
    assert [book["id"] for book in said] == list(BOOKS)
    for facts in said:
        book = rulebook(facts["id"])
        assert facts["digest"] == book.digest
        assert [layout["id"] for layout in facts["layouts"]] == list(book.layouts)
        for layout in facts["layouts"]:
            assert layout["areas"] == len(book.matrix(layout["id"]).areas)


@each_book
def test_show(taisai: Taisai, book: str) -> None:
    said = answer(taisai, "rules", "show", book)
    parts = "title sources chance settings areas pay_tables layouts people procedure limits equipment"
    assert {"id", "digest", *parts.split(), "interpretations", "errata"} <= set(said)
    assert said["id"] == book
    assert {area["id"] for area in said["areas"]} == set(rulebook(book).areas)
    for layout in said["layouts"]:
        cells = [cell["area"] for block in layout["blocks"] for row in block["rows"] for cell in row]
        assert set(filter(None, cells)) == set(rulebook(book).matrix(layout["id"]).areas)
        assert {block["drawing"] for block in layout["blocks"]} <= {"document", "ours"}


@each_book
def test_clauses(taisai: Taisai, book: str) -> None:
    said = answer(taisai, "rules", "clauses", book)
    assert said["rulebook"] == book
    assert [entry["clause"] for entry in said["clauses"]] == list(rulebook(book).clauses)
    assert all(list(entry) == ["clause", "about", "says", "used", "held"] for entry in said["clauses"])
    assert {entry["clause"]: entry["held"] for entry in said["clauses"]} == {
        clause: {"tests": list(held.tests), "why": held.why, "kind": held.kind}
        for clause, held in coverage_of(rulebook(book)).items()
    }
    pay = answer(taisai, "rules", "clauses", book, "--about", "payoff")
    assert pay["clauses"] == [entry for entry in said["clauses"] if entry["about"] == "payoff"]
    assert pay["clauses"]


def test_diff(taisai: Taisai) -> None:
    said = answer(taisai, "rules", "diff", "rws-sic-bo-etg-v8/A", "rws-sic-bo-etg-v8/B")
    assert (said["left"], said["right"]) == ("rws-sic-bo-etg-v8/A", "rws-sic-bo-etg-v8/B")
    assert (said["only_left"], len(said["only_right"]), said["same"], said["changed"]) == ([], 48, 56, [])
    said = answer(taisai, "rules", "diff", "rws-sic-bo-etg-v8/B", "rws-sic-bo-etg-v8/C")
    assert said["same"] + len(said["changed"]) == 104
    eight = next(area for area in said["changed"] if area["id"] == "total-8")
    assert (eight["left"]["odds"], eight["right"]["odds"]) == (["8.5 to 1"], ["8 to 1"])
    assert exact(eight["left"]["house_edge"]) < exact(eight["right"]["house_edge"])


def test_mbs_v6_and_rws_c_pay_the_same_row_by_row(taisai: Taisai) -> None:
    said = answer(taisai, "rules", "diff", "mbs-sic-bo-v6/A", "rws-sic-bo-etg-v8/C")
    assert (said["only_left"], said["only_right"], said["changed"], said["same"]) == ([], [], [], 104)


@each_book
def test_a_book_and_itself_do_not_differ(taisai: Taisai, book: str) -> None:
    said = answer(taisai, "rules", "diff", book, book)
    assert (said["only_left"], said["only_right"], said["changed"]) == ([], [], [])


@each_book
def test_check_of_a_book_that_is_right(taisai: Taisai, book: str) -> None:
    said = answer(taisai, "rules", "check", book)
    assert said["ok"] is True
    assert said["error"] is None
    assert (said["rulebook"], said["digest"]) == (book, rulebook(book).digest)
    assert said["warnings"] == list(rulebook(book).warnings())
