"""Odds are read as the documents print them, exactly, and nothing looser is."""

from __future__ import annotations

import pickle
import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taisai.rules import Odds, RulesError

WHOLE = st.integers(1, 999_999)


@pytest.mark.parametrize(
    ("text", "net"),
    [
        ("1 to 1", Fraction(1)),
        ("8.5 to 1", Fraction(17, 2)),
        ("11.5 to 1", Fraction(23, 2)),
        ("6 to 5", Fraction(6, 5)),
        ("195 to 1", Fraction(195)),
        ("0.5 to 1", Fraction(1, 2)),
        ("0.001 to 999999", Fraction(1, 999_999_000)),
        ("999999.999 to 1", Fraction(999_999_999, 1000)),
        ("1.0 to 1", Fraction(1)),
        ("2 to 4", Fraction(1, 2)),
    ],
)
def test_odds_as_printed(text: str, net: Fraction) -> None:
    assert Odds.parse(text).net == net


@given(thousandths=st.integers(1, 999_999_999), per=WHOLE, places=st.integers(0, 3))
def test_every_decimal_is_exact(thousandths: int, per: int, places: int) -> None:
    shown = thousandths // 10 ** (3 - places)
    whole, rest = divmod(shown, 10**places)
    decimals = f".{rest:0{places}}" if places else ""
    text = f"{whole}{decimals} to {per}"
    if shown:
        assert Odds.parse(text).net == Fraction(shown, 10**places) / per
    else:
        with pytest.raises(RulesError, match="above 0"):
            Odds.parse(text)


@given(won=WHOLE, per=WHOLE)
def test_odds_are_shown_as_they_were_written(won: int, per: int) -> None:
    odds = Odds.parse(f"{won} to {per}")
    assert str(odds) == odds.text == f"{won} to {per}"
    assert odds.net == Fraction(won, per)
    assert pickle.loads(pickle.dumps(odds)) == odds


@given(text=st.text(max_size=12))
@example("8:1")
@example("8 for 1")
@example("1 for 1")
@example("8 to 1\n")
@example("8 to 1 ")
@example("٨ to 1")
@example("8.5to1")
@example("1 to 10ON")
def test_whatever_is_not_printed_so_is_refused_and_quoted(text: str) -> None:
    printed_so = re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})? to [1-9][0-9]{0,5}", text, re.ASCII)
    if not printed_so:
        with pytest.raises(RulesError, match=r"^expected odds like '8\.5 to 1' or '6 to 5'") as caught:
            Odds.parse(text)
        assert str(caught.value).endswith(f"got {text!r}")


@given(text=st.text(st.sampled_from("0123456789.,: tofr-"), max_size=14))
def test_what_is_read_means_what_it_says(text: str) -> None:
    try:
        odds = Odds.parse(text)
    except RulesError:
        return
    won, _, per = text.partition(" to ")
    assert odds.net == Fraction(won) / int(per) > 0


@pytest.mark.parametrize("text", ["1000000 to 1", "1 to 1000000", "1.0000 to 1", "0 to 1", "0.000 to 1"])
def test_odds_beyond_any_layout_are_refused(text: str) -> None:
    with pytest.raises(RulesError):
        Odds.parse(text)
