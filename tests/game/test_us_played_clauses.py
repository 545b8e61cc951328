"""Bets of sic bo under the American rules, played clause by clause: chips laid, dice shown, winners paid."""

from __future__ import annotations

import pytest

from taisai.game.events import RoundSettled
from taisai.game.money.ledger import Account
from taisai.rules import Rulebook, rulebook
from tests.game.playing import US, Playing, at

Faces = tuple[int, int, int]


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(US)


def settled(book: Rulebook, faces: Faces, **stakes: int) -> tuple[Playing, RoundSettled]:
    """A round with these bets and dice, after its settlement."""
    playing = at(book, "between")
    playing.act("open-bets")
    playing.bet(**stakes)
    for act in ("close-bets", "tumble", "uncover"):
        playing.act(act)
    playing.act("enter-result", faces=faces)
    (event,) = playing.act("settle")
    assert isinstance(event, RoundSettled)
    return playing, event


def won(book: Rulebook, area: str, *faces: Faces) -> list[int]:
    """What 100 on an area win above the stake; -100 where they are lost."""
    results = []
    for shown in faces:
        _, event = settled(book, shown, **{area: 100})
        results.append(event.won if event.stakes_back else -event.collected)
    return results


def test_us_2_a_1_three_of_a_kind_is_played(book: Rulebook) -> None:
    assert won(book, "triple_2", (2, 2, 2), (2, 2, 3), (3, 3, 3)) == [15_000, -100, -100]


def test_us_2_a_2_two_of_a_kind_is_played(book: Rulebook) -> None:
    assert won(book, "double_2", (2, 2, 5), (2, 2, 2), (2, 3, 5)) == [800, 800, -100]


def test_us_2_a_3_any_three_of_a_kind_is_played(book: Rulebook) -> None:
    assert won(book, "any_triple", (1, 1, 1), (6, 6, 6), (6, 6, 5)) == [2_400, 2_400, -100]


def test_us_2_a_4_a_total_is_played(book: Rulebook) -> None:
    assert won(book, "total_9", (3, 3, 3), (1, 2, 6), (1, 2, 5)) == [600, 600, -100]


def test_us_2_a_5_a_combination_of_two_dice_is_played(book: Rulebook) -> None:
    assert won(book, "pair_12", (1, 2, 6), (1, 2, 2), (1, 1, 3)) == [500, 500, -100]


def test_us_2_a_6_small_is_played(book: Rulebook) -> None:
    assert won(book, "small", (1, 1, 2), (4, 5, 1), (4, 5, 2), (2, 2, 2)) == [100, 100, -100, -100]


def test_us_2_a_7_big_is_played(book: Rulebook) -> None:
    assert won(book, "big", (4, 5, 2), (6, 6, 5), (4, 5, 1), (5, 5, 5)) == [100, 100, -100, -100]


def test_us_2_a_8_one_of_a_kind_is_played(book: Rulebook) -> None:
    assert won(book, "single_1", (1, 5, 5), (2, 5, 5)) == [100, -100]


def test_us_4_c_one_of_a_kind_on_two_and_three_dice_is_played(book: Rulebook) -> None:
    assert won(book, "single_1", (1, 1, 5), (1, 1, 1)) == [200, 300]


def test_us_4_b_every_kind_of_bet_is_paid_at_the_floor_that_is_offered(book: Rulebook) -> None:
    floors = {"total_4": (50, (1, 1, 2)), "total_5": (18, (1, 1, 3)), "total_6": (14, (1, 2, 3))}
    floors |= {"total_7": (12, (1, 2, 4)), "total_8": (8, (1, 2, 5)), "total_10": (6, (1, 3, 6))}
    floors |= {"total_11": (6, (1, 4, 6)), "total_12": (6, (1, 5, 6)), "total_13": (8, (2, 5, 6))}
    floors |= {"total_14": (12, (3, 5, 6)), "total_15": (14, (4, 5, 6)), "total_16": (18, (5, 5, 6))}
    floors |= {"total_17": (50, (5, 6, 6))}
    for area, (to_one, faces) in floors.items():
        assert won(book, area, faces) == [100 * to_one]


def test_us_3_c_a_winner_gets_stake_and_winnings_and_a_loser_nothing(book: Rulebook) -> None:
    playing, event = settled(book, (1, 1, 2), small=100, big=200, double_1=300)
    assert (event.staked, event.collected, event.won, event.stakes_back) == (600, 200, 2_500, 400)
    before = playing.balance(Account.CHIPS)
    playing.act("collect")
    playing.act("pay")
    assert playing.balance(Account.CHIPS) == before - 2_900
    playing.act("clear-lights")
    assert playing.balance(Account.PAYABLE) == playing.balance(Account.AT_RISK) == 0


def test_us_3_a_a_chip_is_recorded_before_the_call_and_paid_from_the_tray(book: Rulebook) -> None:
    playing = at(book, "between")
    tray = playing.balance(Account.CHIPS)
    playing.act("open-bets")
    playing.bet(small=100)
    assert playing.balance(Account.AT_RISK) == 100
    assert playing.balance(Account.CHIPS) == tray + 100
