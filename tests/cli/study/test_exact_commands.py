"""`taisai odds --full`, `portfolio`, `compare` and `par`, as typed."""

import base64
import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.journal.seals.keys import PublicKey
from taisai.study.bands import _ends

RWS = "rws-sic-bo-etg-v8"


def typed(*words: str) -> int:
    return main(list(words))


def test_odds_in_full_tell_bands_for_the_rounds_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("odds", RWS, "--rounds", "1e4,2.5e6", "--json") == 0
    small = json.loads(capsys.readouterr().out)["areas"][0]
    assert (small["id"], small["house_edge"], small["hits_one_in"]) == ("small", "1/36", "72/35")
    assert [band["rounds"] for band in small["bands"][:2]] == [10_000, 2_500_000]
    assert {band["method"] for band in small["bands"]} == {"wave"}
    assert all(band["share"] >= float(Fraction(band["level"])) for band in small["bands"])
    assert all(0 < band["error_at_most"] < 1e-10 for band in small["bands"])
    assert typed("odds", RWS, "--full") == 0
    assert "99% band" in capsys.readouterr().out


def test_plain_odds_need_no_numpy_and_bands_say_that_they_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    _ends.cache_clear()
    assert typed("odds", RWS) == 0
    assert typed("par", RWS) == 0
    assert "small" in capsys.readouterr().out
    assert typed("odds", RWS, "--full") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "numpy is not installed" in told.err


def test_one_card_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    for seen, told in (("1", "a shoe of 2 decks, 1 card seen"), ("1,6", "a shoe of 2 decks, 2 cards seen")):
        assert typed("odds", "mbs-3-card-sic-bo", "--decks", "2", "--seen", seen) == 0
        assert f"{told}\n" in capsys.readouterr().out


def test_a_portfolio_of_bets(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("portfolio", RWS, "--bet", "small=100", "--bet", "big=100", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["staked"], told["best"], told["worst"], told["house_edge"]) == (200, 0, -200, "1/36")
    assert typed("portfolio", RWS, "--bet", "small=1e2", "--bet", "big=1e2", "--json") == 0
    assert json.loads(capsys.readouterr().out) == told


def test_the_dominated_areas_are_shown_with_their_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("portfolio", "us-sic-bo", "--dominated") == 0
    out = capsys.readouterr().out
    assert "25/151 triple-1" in out
    assert "555 by 1" in out


def test_two_pay_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("compare", f"{RWS}/A", f"{RWS}/C", "--json") == 0
    areas = {area["id"]: area for area in json.loads(capsys.readouterr().out)["areas"]}
    assert areas["total-8"]["edge_more"] == "7/144"
    assert typed("compare", f"{RWS}/A", f"{RWS}/A") == 0
    assert "0 of 56 areas differ." in capsys.readouterr().out


def test_a_par_sheet_signed_with_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "me.key"
    assert typed("keys", "make", str(key), "--name", "mathematician") == 0
    assert typed("par", "us-sic-bo", "--key", str(key), "--json") == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    public = PublicKey.parse(told["signature"]["key"])
    signature = base64.b64decode(told["signature"]["signature"])
    assert public.verify(signature, told["digest"].encode())
    assert not public.verify(signature, told["digest"].encode() + b"0")
    for name in ("sheet.pdf", "sheet.html"):
        assert typed("par", "us-sic-bo", "-o", str(tmp_path / name)) == 0
        assert told["digest"] in capsys.readouterr().out
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF-")
    assert told["digest"] in (tmp_path / "sheet.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("portfolio", RWS), "expected 1 to 2000 bets"),
        (("portfolio", RWS, "--bet", "tiny=100"), "tiny"),
        (("portfolio", RWS, "--bet", "small=-5"), "small"),
        (
            ("portfolio", RWS, "--bet", "small=100", "--dominated"),
            "--dominated cannot be used with --bet, --decks or --seen",
        ),
        (("portfolio", RWS, "--bet", "small=100", "--decks", "6"), "expected no decks"),
        (("compare", f"{RWS}/A", f"{RWS}/Z"), "expected a layout"),
        (("compare", f"{RWS}/A"), "BOOK/LAYOUT"),
        (("odds", RWS, "--rounds", "1e30"), "expected a whole number"),
        (("odds", RWS, "--rounds", "1,2,3,4,5,6"), "expected at most 5 numbers, got 6 (--rounds)"),
        (("par", RWS, "-o", "sheet.doc"), "expected a file that ends with .pdf or .html"),
        (("par", RWS, "-o", "/nowhere/at/all/sheet.html"), "cannot write"),
        (("par", RWS, "--key", "/nowhere.key"), "/nowhere.key"),
        (("par", RWS, "--decks", "6"), "expected no decks"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in printed.err
    assert len(printed.err.splitlines()) == 1
