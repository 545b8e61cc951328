"""`taisai table play`: a playbook retold for people and machines, and what is wrong with it by its line."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taisai.cli import main
from taisai.game.playbook import playbook
from taisai.rules import rulebook
from taisai.rules.clause_coverage import coverage_of
from taisai.rules.clauses import Clause
from tests.cli.conftest import Ran, Taisai
from tests.tiers import one_in
from tools.playbooks import main as pin_all

ROOT = Path(__file__).parents[2]
PLAYBOOKS = sorted((ROOT / "cases" / "playbooks").glob("*.round"))
WRONG_RESULT = ROOT / "cases" / "playbooks" / "rws-wrong-result.round"
LIMITS = ROOT / "cases" / "playbooks" / "mbs-plain-round.round"
some_playbooks = pytest.mark.parametrize(
    "path", one_in("playbooks retold", PLAYBOOKS, 5), ids=lambda path: path.stem
)


def one_clear_line(ran: Ran) -> bool:
    """Refused in one line, with nothing on standard output."""
    lines = ran.err.splitlines()
    return (ran.code, ran.out, len(lines)) == (2, "", 1) and ran.err.startswith("taisai: ")


# For people


@some_playbooks
def test_every_playbook_is_retold(taisai: Taisai, path: Path) -> None:
    ran = taisai("table", "play", str(path))
    assert (ran.code, ran.err) == (0, "")
    story = playbook(path.read_text("utf-8"), path.name)
    assert max(map(len, ran.out.splitlines())) <= 110
    told = " ".join(ran.out.split())
    for step in story.steps:
        assert f"{step.command_line.by}: {step.words}" in told
        assert " ".join(step.comments) in told
    assert told.count("✗ refused, ") == sum(pin.text.startswith("!") for s in story.steps for pin in s.pins)
    assert "The books at the end" in ran.out


@some_playbooks
def test_every_clause_that_speaks_is_quoted_once_in_our_words(taisai: Taisai, path: Path) -> None:
    story = playbook(path.read_text("utf-8"), path.name)
    told = " ".join(taisai("table", "play", str(path)).out.split())
    answers = [pin.text for step in story.steps for pin in step.pins if pin.text[0] in "+!"]
    clauses = {text.partition("[")[2].partition("]")[0] for text in answers if "[" in text}
    texts = rulebook(story.book).clauses
    is_listed_whole = not any(step.among for step in story.steps)
    for clause, text in texts.items():
        quoted = told.count(f" {clause}: {text.says}")
        assert quoted == (clause in clauses) if is_listed_whole else (clause in clauses) <= quoted <= 1, (
            clause
        )


def test_the_settlement_is_shown_bet_by_bet_with_clause_and_why(taisai: Taisai) -> None:
    rows = [line.split() for line in taisai("table", "play", str(LIMITS)).out.splitlines()]
    assert ["1", "small", "600", "1200", "4.1.1,", "5.10", "Small", "wins", "1", "to", "1"] in [
        row[:11] for row in rows
    ]
    assert ["2", "big", "10000", "10000", "5.11", "over", "the", "maximum:", "returned"] in rows
    assert ["1", "small", "600", "600", "5.10", "under", "the", "minimum:", "returned"] in rows


def test_dice_are_drawn_phases_named_and_balances_told(taisai: Taisai) -> None:
    out = taisai("table", "play", str(WRONG_RESULT)).out
    assert out.count("┌───────┐ ┌───────┐ ┌───────┐") == 3  # two results keyed in, one corrected
    assert "→ No more bets, dice tumbled and covered" in out
    assert ["total", "129000", "129000"] in [line.split() for line in out.splitlines()]


def test_time_that_passes_is_shown(taisai: Taisai) -> None:
    path = ROOT / "cases" / "playbooks" / "us-automated-round.round"
    assert "… 25 hours later" in taisai("table", "play", str(path)).out


def test_refusals_have_their_own_colour_in_a_terminal(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in taisai("table", "play", str(WRONG_RESULT)).out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "110")
    out = taisai("table", "play", str(WRONG_RESULT)).out
    assert "\x1b[31m✗ refused, bad-value" in out
    assert "\x1b[31m✓" not in out


def test_the_pace_is_kept_between_commands(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    assert taisai("table", "play", str(LIMITS), "--pace", "2").code == 0
    steps = playbook(LIMITS.read_text("utf-8")).steps
    assert waited == [2] * (len(steps) - 1)


# For machines


@some_playbooks
def test_json_has_every_command_answer_and_balance(taisai: Taisai, path: Path) -> None:
    ran = taisai("table", "play", str(path), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    told = json.loads(ran.out)
    story = playbook(path.read_text("utf-8"), path.name)
    assert (told["rulebook"], told["mismatches"]) == (story.book, [])
    assert [step["line"] for step in told["steps"]] == [step.line for step in story.steps]
    for step, said in zip(told["steps"], story.steps, strict=True):
        refusal = step["refusal"]
        got = [] if refusal is None else [f"! {refusal['reason']} [{refusal['clause']}]"]
        assert got == [pin.text.partition(" bet ")[0] for pin in said.pins if pin.text.startswith("!")]
        names = [one["event"]["event"] for one in step["happened"]]
        if not said.among:
            assert names == [
                pin.text.split()[1] for pin in said.pins if pin.text[0] == "+" and "[" in pin.text
            ]
    booked: dict[str, int] = {}
    for step in told["steps"]:
        for one in step["happened"]:
            for entry in one["entries"]:
                booked[entry["account"]] = booked.get(entry["account"], 0) + entry["amount"]
    assert {name: amount for name, amount in told["balances"].items() if amount} == {
        name: amount for name, amount in booked.items() if amount
    }


# What does not match


def altered(tmp_path: Path, old: str, new: str) -> tuple[str, int]:
    """A copy with one line altered, and which line that is."""
    text = WRONG_RESULT.read_text("utf-8")
    place = text.index(old)
    file = tmp_path / "copy.round"
    file.write_text(text[:place] + text[place:].replace(old, new, 1), encoding="utf-8")
    return str(file), text[:place].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("collected 1000, won 49000", "collected 1000, won 49001"),
        ("round-concluded [1.8]", "round-concluded [1.9]"),
        ("+ dice-uncovered", "+ dice-uncorked"),
        ("+ report-held [house:confirmation]", "+ report-held [house:hold]"),
        ("! bad-value [5.5]", "! bad-value [5.6]"),
        ("total-17 1000: lost", "total-17 1000: returned 65000"),
        ("= seat 2: credits 75000", "= seat 2: credits 75001"),
        ("= claims: c1 on seat 1 33000", "= claims: none"),
        ("drop 30000, house-lost 99000", "drop 30000"),
    ],
)
def test_sabotage_a_pinned_line_that_does_not_match_is_named(
    taisai: Taisai, tmp_path: Path, old: str, new: str
) -> None:
    file, line = altered(tmp_path, old, new)
    ran = taisai("table", "play", file)
    assert ran.code == 1
    assert ran.err.startswith(f"taisai: {file}:{line}: expected '")
    assert len(ran.err.splitlines()) == 1
    assert new in ran.err
    assert f"≠ copy.round:{line}: expected '" in ran.out.replace("\n  ", " ").replace(f"{file}", "copy.round")
    machines = taisai("table", "play", file, "--json")
    assert (machines.code, machines.err) == (1, "")
    (wrong,) = json.loads(machines.out)["mismatches"]
    assert wrong["line"] == line
    assert new in wrong["expected"]


def test_a_clean_run_says_how_many_lines_are_pinned(taisai: Taisai) -> None:
    pins = re.findall(r"^ +[+!*=]", LIMITS.read_text("utf-8"), re.MULTILINE)
    last = taisai("table", "play", str(LIMITS)).out.splitlines()[-1]
    assert last == f"{len(pins)} pinned lines, all as written"


def test_in_a_terminal_standard_error_has_only_the_count(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = altered(tmp_path, "round-concluded [1.8]", "round-concluded [1.9]")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    ran = taisai("table", "play", file)
    assert (ran.code, ran.err) == (1, f"taisai: {file}: 1 line is not as pinned\n")
    assert "≠ " in ran.out


# What is not pinned yet

UNPINNED = """book: mbs-sic-bo-v6
opened by: Sue shift-manager
people: Dan dealer
limits: 1000 to 5000
> Dan: open-bets
> Dam: tumble 3
= table: phase ?
"""
PINNED = """book: mbs-sic-bo-v6
opened by: Sue shift-manager
people: Dan dealer
limits: 1000 to 5000
> Dan: open-bets
  + bets-opened [3.1] round 1, phase open
> Dam: tumble 3
  ! unknown-person [house:people]
  = table: phase open
"""


def test_what_is_not_pinned_is_said_and_how_to_pin_it(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "x.round").write_text(UNPINNED, encoding="utf-8")
    ran = taisai("table", "play", "x.round")
    assert ran.code == 1
    assert "? x.round:5: not pinned; the table answered '+ bets-opened [3.1] round 1, phase open'" in ran.out
    assert ran.err == "taisai: 3 lines are not pinned: `taisai table pin x.round` writes them\n"
    assert "≠" not in ran.out
    machines = json.loads(taisai("table", "play", "x.round", "--json").out)["mismatches"]
    assert [(one["line"], one["expected"]) for one in machines] == [(5, None), (6, None), (7, None)]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte-order-mark"])
def test_pin_writes_what_the_table_answers_and_lists_refusals(
    taisai: Taisai, tmp_path: Path, mark: str
) -> None:
    file = tmp_path / "x.round"
    file.write_text(mark + UNPINNED, encoding="utf-8")
    ran = taisai("table", "pin", "x.round")
    assert (ran.code, ran.err) == (0, "")
    first, second = ran.out.splitlines()
    assert first == "x.round: 3 of 3 pinned lines written"
    assert second.startswith("  x.round:8: refused, 'Dam' is not assigned to the table; assigned: Sue, Dan")
    assert file.read_text("utf-8") == PINNED
    assert taisai("table", "play", "x.round").out.endswith("3 pinned lines, all as written\n")
    assert taisai("table", "pin", "x.round").out == "x.round: 3 pinned lines, all as written\n"


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("y.round", b"", "y.round:1: missing 'book:' in the header"),
        ("y.round", b"\x7fELF\xff", "y.round:1: the playbook is not UTF-8"),
        ("y.round", b"opened by: S r\nlimits: 1 to 2\nbook: no-such\n> S: uncover", "y.round:3: expected"),
        ("y.round", UNPINNED.replace("tumble", "tumbel").encode(), "got 'tumbel'; near it are tumble"),
        (".", None, "Is a directory"),
        ("no-such.round", None, "No such file"),
    ],
)
def test_pin_refuses_in_one_line_and_writes_nothing(
    taisai: Taisai, tmp_path: Path, name: str, raw: bytes | None, message: str
) -> None:
    (tmp_path / "x.round").write_text(UNPINNED, encoding="utf-8")
    if raw is not None:
        (tmp_path / name).write_bytes(raw)
    ran = taisai("table", "pin", "x.round", name)
    assert one_clear_line(ran), ran
    assert message in ran.err
    assert (tmp_path / "x.round").read_text("utf-8") == UNPINNED


def test_pin_refuses_a_file_that_cannot_be_written(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path, _raw: bytes) -> int:
        raise OSError(28, "No space left on device")

    (tmp_path / "x.round").write_text(UNPINNED, encoding="utf-8")
    monkeypatch.setattr(Path, "write_bytes", full)
    ran = taisai("table", "pin", "x.round")
    assert one_clear_line(ran), ran
    assert "cannot write the playbook 'x.round': No space left on device" in ran.err


def test_the_tool_for_all_playbooks_shares_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "x.round").write_text(UNPINNED, encoding="utf-8")
    assert (pin_all(["x.round"]), pin_all(["."])) == (0, 2)
    assert (tmp_path / "x.round").read_text("utf-8") == PINNED
    with pytest.raises(SystemExit):
        pin_all(["--help"])
    assert "usage: taisai table pin" in capsys.readouterr().out


# What is no playbook


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "x.round:1: missing 'book:' in the header"),
        (b"\x00\x01\x02", "x.round:1: expected printable characters"),
        (b"book: us-sic-bo\n\xff\xfe", "x.round:2: the playbook is not UTF-8"),
        (b"book: us-sic-bo\nweather: fine", "x.round:2: got 'weather', expected one of book, table"),
        (
            b"opened by: S r\nlimits: 1 to 2\nbook: no-such\n> S: uncover",
            "x.round:3: expected a rulebook id",
        ),
        (
            b"book: us-sic-bo\nopened by: S king\nlimits: 1 to 2\n> S: uncover",
            "x.round:2: the header is refused",
        ),
        (b"#" * 1_000_001, "playbook too large: expected at most 1,000,000 bytes"),
    ],
    ids=range(7),
)
def test_a_file_that_is_no_playbook_is_refused_in_one_line(
    taisai: Taisai, tmp_path: Path, raw: bytes, message: str
) -> None:
    (tmp_path / "x.round").write_bytes(raw)
    for more in ((), ("--json",)):
        ran = taisai("table", "play", "x.round", *more)
        assert one_clear_line(ran), ran
        assert message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such.round",), "cannot read the playbook 'no-such.round': No such file or directory"),
        ((".",), "Is a directory"),
        (("",), "cannot read the playbook"),
        (("a" * 5000,), "File name too long"),
        (("a\nb",), "No such file"),
        (("a\0b",), "not a file name"),
        ((), "required: FILE"),
        (("x", "y"), "unrecognized arguments: y"),
        (("x", "--pace"), "expected one argument"),
        (("x", "--pace", "soon"), "expected a whole number"),
        (("x", "--pace", "61"), "expected a whole number from 0 to 60, got '61' (--pace)"),
        (("x", "--pace", "-1"), "expected"),
        (("x", "--json", "--pace", "1"), "not allowed with argument --json"),
    ],
)
def test_misuse_is_refused_in_one_line(taisai: Taisai, words: tuple[str, ...], message: str) -> None:
    ran = taisai("table", "play", *words)
    assert one_clear_line(ran), ran
    assert message in ran.err


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=80), place=st.integers(0, 6000))
def test_no_bytes_make_a_traceback(taisai: Taisai, tmp_path: Path, raw: bytes, place: int) -> None:
    whole = LIMITS.read_bytes()
    place %= len(whole)
    (tmp_path / "x.round").write_bytes(whole[:place] + raw + whole[place + len(raw) :])
    ran = taisai("table", "play", "x.round", "--json")
    assert ran.code in (0, 1) or one_clear_line(ran), ran


# Help


def test_help_explains_itself_and_its_examples_run(
    taisai: Taisai, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(SystemExit) as left:
        main(["table", "play", "--help"])
    assert left.value.code in (0, None)
    text = capsys.readouterr().out
    assert text.startswith("usage: taisai table play")
    examples = text.partition("\nexamples:\n")[2].splitlines()
    assert len(examples) == 4
    for line in examples:
        ran = taisai(*shlex.split(line)[1:])
        assert (ran.code, ran.err) == (0, ""), line


@pytest.mark.parametrize(("words", "listed"), [((), "table"), (("table",), "play"), (("table",), "pin")])
def test_help_lists_it(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], listed: str) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    assert f"\n    {listed} " in capsys.readouterr().out


# Clauses


def test_one_clause_is_shown_with_all_its_tests(taisai: Taisai) -> None:
    tests = coverage_of(rulebook("mbs-sic-bo-v6"))[Clause("5.1")].tests
    assert len(tests) > 1
    told = taisai("rules", "clauses", "mbs-sic-bo-v6", "5.1").out.splitlines()
    assert [row for row in told if row.startswith(("tests/", "cases/"))] == list(tests)
    assert "mbs-sic-bo-v6: 1 clause, in our words" in told
    assert "::" not in taisai("rules", "clauses", "mbs-sic-bo-v6").out


def test_an_unknown_clause_names_those_near_it(taisai: Taisai) -> None:
    ran = taisai("rules", "clauses", "mbs-sic-bo-v6", "5.133")
    assert one_clear_line(ran), ran
    assert "unknown clause '5.133' of mbs-sic-bo-v6; similar clauses: 5.13" in ran.err
