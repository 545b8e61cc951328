"""What each bet got adds up to what the settlement's one record says, whatever the limits kept out."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from taisai.game import Refusal, Table, decide, evolve
from taisai.game import commands as do
from taisai.game.betting.placing import exposures
from taisai.game.rounds.settlement import bet_records
from taisai.game.vocabulary import Means
from taisai.rules import OUTCOMES, Act, Irregularity, Outcome, rulebook

SEATS = ("1", "2", "3")
LIMITS = do.Limits(least=300, most=2_000, groups={"triple": (100, 500), "total-9": (100, 5_000)})


def asked(table: Table, command: do.Command) -> None:
    answer = decide(table, command)
    assert not isinstance(answer, Refusal), answer
    for event in answer:
        evolve(table, event)


def live_table() -> Table:
    table = Table(rulebook("mbs-sic-bo-v6"))
    opening = do.OpenTable(
        at=0, by="sue", rank="shift-manager", table="SB1", currency="SGD", day="2026-11-15",
        zone="Asia/Singapore", limits=LIMITS, settings={"tumble": "after_close"},
    )  # fmt: skip
    asked(table, opening)
    asked(table, do.Assign(at=0, by="sue", person="dan", rank="dealer", position="dealer"))
    asked(table, do.ReceiveFill(at=0, by="dan", transfer="f1", amount=10**9, second="sue"))
    for seat in SEATS:
        asked(table, do.TakeSeat(at=0, by="dan", seat=seat))
        asked(
            table,
            do.BuyColour(
                at=0,
                by="dan",
                seat=seat,
                colour=f"colour-{seat}",
                value=100,
                pieces=10**6,
                paid_with=Means.CASH,
            ),
        )
    return table


def play_round(table: Table, draw: Random, faces: tuple[int, ...]) -> None:
    """A round with bets under, within and over the limits, some of a seat's in two kinds of chips."""
    number = len(table.rounds) + 1
    asked(table, do.Perform(at=1, by="dan", act=Act.OPEN_BETS))
    areas = ["small", "big", "total-9", "triple-2", "single-2", "double-3"]
    for n in range(24):
        means = draw.choice([Means.CASH_CHIPS, Means.COLOUR_CHIPS])
        stake = draw.choice([100, 200, 400, 1_900])
        pieces = stake // 100 if means is Means.COLOUR_CHIPS else stake
        bets = (do.Slip(f"b{n}", draw.choice(areas), pieces),)
        asked(
            table,
            do.RecordBets(at=1, by="dan", round=number, seat=draw.choice(SEATS), means=means, bets=bets),
        )
    asked(table, do.Perform(at=2, by="dan", act=Act.CLOSE_BETS))
    asked(table, do.Perform(at=2, by="dan", act=Act.TUMBLE, tumbles=3))
    asked(table, do.Perform(at=2, by="dan", act=Act.PRESS_DEAL))
    asked(table, do.Perform(at=2, by="dan", act=Act.UNCOVER))
    asked(table, do.Perform(at=2, by="dan", act=Act.ENTER_RESULT, faces=faces))
    asked(table, do.Perform(at=2, by="dan", act=Act.SETTLE))


def by_purse(table: Table) -> dict[int, int]:
    got: Counter[int] = Counter()
    assert table.round is not None
    for record in bet_records(table, table.round):
        got[table.seats[record.bet.seat].purses[record.bet.means].index] += record.returned
    return +got


@pytest.mark.parametrize("seed", range(6))
def test_mbs_5_10_and_5_11_records_add_up_to_the_settlement(seed: int) -> None:
    table, draw = live_table(), Random(seed)
    for outcome in draw.sample(OUTCOMES, 8):
        play_round(table, draw, tuple(outcome.faces))
        assert table.round is not None
        assert table.round.settled is not None
        assert by_purse(table) == {
            lane: amount for lane, amount in enumerate(table.round.settled.by_purse) if amount
        }
        told = bet_records(table, table.round)
        assert sum(one.won for one in told) == table.round.settled.won
        assert {one.kept_out_by for one in told if one.kept_out} <= {"5.10", "5.11"}
        asked(table, do.Perform(at=3, by="dan", act=Act.COLLECT_AND_PAY))
        asked(table, do.Perform(at=3, by="dan", act=Act.CONCLUDE))
    kept = {one.kept_out_by for past in table.rounds for one in bet_records(table, past) if one.kept_out}
    assert kept == {"5.10", "5.11"}, "the mix reaches both"


def test_sabotage_a_record_that_forgets_the_limits_does_not_add_up() -> None:
    table, draw = live_table(), Random(1)
    for outcome in (Outcome.of(2, 2, 2), Outcome.of(1, 2, 3)):
        play_round(table, draw, tuple(outcome.faces))
        asked(table, do.Perform(at=3, by="dan", act=Act.COLLECT_AND_PAY))
        asked(table, do.Perform(at=3, by="dan", act=Act.CONCLUDE))
    past = table.rounds[-1]
    assert past.settled is not None
    assert past.kept_out
    sound = sum(one.returned for one in bet_records(table, past))
    assert sound == sum(past.settled.by_purse)
    past.kept_out.clear()
    assert sum(one.returned for one in bet_records(table, past)) != sound


def test_a_void_round_returns_every_bet() -> None:
    table = live_table()
    play_round(table, Random(5), (1, 2, 3))
    report = do.ReportIrregularity(at=3, by="dan", event=Irregularity.DIE_DAMAGED, second="sue")
    asked(table, report)
    assert [one.returned for one in bet_records(table, table.rounds[0])] == [
        bet.stake for bet in table.rounds[0].live()
    ]


def test_exposures_are_what_the_house_would_lose() -> None:
    table = Table(rulebook("rws-sic-bo-etg-v8"))
    asked(
        table,
        do.OpenTable(
            at=0, by="sue", rank="shift-manager", table="SB1", currency="SGD", day="2026-11-15",
            zone="Asia/Singapore", limits=do.Limits(least=100, most=10_000),
        ),
    )  # fmt: skip
    asked(table, do.Assign(at=0, by="sue", person="dan", rank="dealer", position="dealer"))
    assert exposures(table) == [0] * 56
    for seat, layout in (("1", "A"), ("2", "C")):
        asked(table, do.TakeSeat(at=0, by=f"T{seat}", seat=seat, terminal=f"T{seat}", layout=layout))
        asked(table, do.BuyCredits(at=0, by=f"T{seat}", seat=seat, amount=10_000))
    asked(table, do.Perform(at=0, by="dan", act=Act.OPEN_BETS))
    for seat in ("1", "2"):
        bets = (do.Slip(f"{seat}a", "total-8", 200), do.Slip(f"{seat}b", "big", 1_000))
        asked(table, do.PlaceBets(at=0, by=f"T{seat}", round=1, seat=seat, bets=bets))
    told = {str(outcome): loss for outcome, loss in zip(OUTCOMES, exposures(table), strict=True)}
    # 8.5 to 1 on layout A, 8 to 1 on layout C; big loses.
    assert told["233"] == 1_700 + 1_600 - 2_000
    assert told["456"] == 2_000 - 400
    assert told["111"] == -2_400
