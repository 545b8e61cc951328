"""What the tests of the arrays share: the pay tables, bets on them, and the plain matrix's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Final, NamedTuple
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st

from taisai.bulk import BetsByArea, ReturnMultiples
from taisai.bulk import bets as bets_module
from taisai.rules import OUTCOMES, Bet, Matrix, Outcome, Settlement, rulebook

PLAYERS: Final = 7

PAY_TABLES: Final = {
    "mbs-sic-bo-v6/A": ("mbs-sic-bo-v6", "A", {}),
    "rws-sic-bo-etg-v8/A": ("rws-sic-bo-etg-v8", "A", {}),
    "rws-sic-bo-etg-v8/B": ("rws-sic-bo-etg-v8", "B", {}),
    "rws-sic-bo-etg-v8/C": ("rws-sic-bo-etg-v8", "C", {}),
    "mbs-3-card-sic-bo/A": ("mbs-3-card-sic-bo", "A", {}),
    "us-sic-bo/A": ("us-sic-bo", "A", {}),
    # Odds that no document prints: fifths and sevenths, so that steps are 5, 7 and 35.
    "us-sic-bo/A, odd offers": (
        "us-sic-bo",
        "A",
        {"small": "6 to 5", "big": "8 to 7", "single-1": "36 to 35"},
    ),
}


class Placed(NamedTuple):
    """A bet and whose it is."""

    player: int
    area: str
    stake: int


@cache
def matrix(name: str) -> Matrix:
    """The matrix of a pay table by its name here."""
    book, layout, offered = PAY_TABLES[name]
    return rulebook(book).matrix(layout, offered=offered)


@cache
def multiples(name: str) -> ReturnMultiples:
    """Its multiples."""
    return ReturnMultiples.of(matrix(name))


def examples(percent: int) -> settings:
    """So many in a hundred of the usual examples, since each settles all outcomes."""
    assert settings.default is not None
    return settings(max_examples=settings.default.max_examples * percent // 100)


def placed(name: str, *, most: int) -> st.SearchStrategy[list[Placed]]:
    """Bets that the layout takes."""
    steps = dict(zip(matrix(name).areas, multiples(name).steps, strict=True))
    one = st.tuples(st.integers(0, PLAYERS - 1), st.sampled_from(matrix(name).areas), st.integers(1, 10**9))
    return st.lists(one.map(lambda bet: Placed(bet[0], bet[1], bet[2] * steps[bet[1]])), max_size=most)


@contextmanager
def plain_up_to(bets: int) -> Iterator[None]:
    """Within it, the plain loop is used up to so many bets: 0 is arrays always."""
    with patch.object(bets_module, "PLAIN_UP_TO", bets):
        yield


def one_by_one(name: str, mix: Sequence[Placed], *, compiled: bool | None = False) -> BetsByArea:
    """The bets, added one after the other."""
    kept = BetsByArea(multiples(name), players=PLAYERS, compiled=compiled)
    for bet in mix:
        kept.add(*bet)
    return kept


def at_once(name: str, mix: Sequence[Placed], *, compiled: bool | None = False) -> BetsByArea:
    """The bets, added in one batch."""
    kept = BetsByArea(multiples(name), players=PLAYERS, compiled=compiled)
    extend(kept, mix)
    return kept


def extend(kept: BetsByArea, mix: Sequence[Placed]) -> None:
    """Adds the bets in one batch."""
    rows = [kept.multiples.matrix.row(bet.area) for bet in mix]
    kept.extend([bet.player for bet in mix], rows, [bet.stake for bet in mix])


def disagreements(kept: BetsByArea, mix: Sequence[Placed]) -> list[str]:
    """Where the arrays do not say what the plain matrix says, over all 56 outcomes."""
    exposure = [(outcome, kept.house(outcome)) for outcome in OUTCOMES]
    found = [f"{outcome}: {what}" for outcome in OUTCOMES for what in _on(kept, mix, outcome)]
    return found if list(kept.exposure().items()) == exposure else [*found, "exposure"]


def _on(kept: BetsByArea, mix: Sequence[Placed], outcome: Outcome) -> Iterator[str]:
    settled = kept.multiples.matrix.settle(outcome, [Bet.on(bet.area, bet.stake) for bet in mix])
    assert isinstance(settled, Settlement)
    totals = [0] * kept.players
    for bet, got in zip(mix, settled.bets, strict=True):
        totals[bet.player] += got.returned
    by_bet = kept.by_bet(outcome)
    answers = {
        "won by bet": (by_bet.won.tolist(), [bet.won for bet in settled.bets]),
        "returned by bet": (by_bet.returned.tolist(), [bet.returned for bet in settled.bets]),
        "returned by player": (kept.returned_by_player(outcome).tolist(), totals),
        "winners": (kept.winners(outcome), {player: total for player, total in enumerate(totals) if total}),
        "house": (kept.house(outcome), (settled.staked, settled.returned)),
    }
    for what, (got, expected) in answers.items():
        if got != expected:
            yield f"{what}: expected {expected}, got {got}"
