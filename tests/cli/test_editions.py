"""`taisai rules diff` with editions, and editions in `rules list` and `rules show`."""

from __future__ import annotations

import json

import pytest

from taisai.cli import main
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.editions import differences


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    try:
        got = main(list(words))
    except SystemExit as error:
        got = int(str(error.code))
    captured = capsys.readouterr()
    assert got == code, captured.err
    return captured.out if code == 0 else captured.err


@pytest.mark.parametrize("name", rulebook_ids())
def test_one_id_compares_its_newest_two_editions(capsys: pytest.CaptureFixture[str], name: str) -> None:
    told = said(capsys, "rules", "diff", name)
    newest = rulebook(name)
    names = f"{name}@{newest.edition - 1} and {newest.name}"
    assert told.startswith(f"{names}: {len(newest.changes)} readings changed")
    for change in newest.changes:
        assert f"\n{', '.join(change.clauses)}\n  was: {change.was[:30]}" in told
    assert told == said(capsys, "rules", "diff", newest.name, f"{name}@1")


def test_machines_are_told_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capsys, "rules", "diff", "us-sic-bo@1", "us-sic-bo", "--json"))
    older, newer = rulebook("us-sic-bo@1"), rulebook("us-sic-bo")
    assert (told["older"]["digest"], told["newer"]["digest"]) == (older.digest, newer.digest)
    assert len(told["changes"]) == len(newer.changes)
    assert [one["part"] for one in told["differences"]] == [one.part for one in differences(older, newer)]
    assert said(capsys, "rules", "diff", "us-sic-bo", "--json") == said(
        capsys, "rules", "diff", "us-sic-bo@1", "us-sic-bo@2", "--json"
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("us-sic-bo@1", "mbs-sic-bo-v6@1"), "expected two editions of one rulebook"),
        (("us-sic-bo@9",), "expected an edition of us-sic-bo"),
        (("us-sic-bo@1",), "expected a rulebook with two editions"),
        (("us-sic-bo", "us-sic-bo@7"), "expected an edition of us-sic-bo"),
        (("nothing",), "expected a rulebook id"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    assert problem in said(capsys, "rules", "diff", *words, code=2)


def test_layouts_are_compared_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "rules", "diff", "rws-sic-bo-etg-v8/A", "rws-sic-bo-etg-v8/B")
    assert told.startswith("rws-sic-bo-etg-v8/A and rws-sic-bo-etg-v8/B: 56 areas pay the same")


def test_list_and_show_name_the_edition(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(said(capsys, "rules", "list", "--json"))["rulebooks"]
    assert [(one["edition"], [part["edition"] for part in one["editions"]]) for one in listed] == [
        (2, [2, 1])
    ] * len(rulebook_ids())
    told = " ".join(said(capsys, "rules", "show", "rws-sic-bo-etg-v8").split())
    assert "our edition 2" in told
    assert "A shift-manager or above adopts these readings, by name and date" in told
    shown = json.loads(said(capsys, "rules", "show", "mbs-sic-bo-v6", "--json"))
    assert shown["edition"] == 2
    assert {one["clause"] for one in shown["settings"]} == {"3.8", "5.10"}
    assert "our edition 1" in said(capsys, "rules", "show", "mbs-sic-bo-v6@1")
