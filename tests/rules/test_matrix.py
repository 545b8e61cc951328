"""The matrix: settling, refusing, lighting, explaining are look-ups in it, and they agree."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.rules import (
    GREATEST_SUM,
    OUTCOMES,
    AreaId,
    Bet,
    BetRefusal,
    BetRefusalReason,
    Matrix,
    Money,
    Outcome,
    RulesError,
    Settlement,
    rulebook,
)
from tests.rules.books import IDS

ALL = [(book, layout) for book in IDS for layout in rulebook(book).layouts]
MATRICES = {key: rulebook(key[0]).matrix(key[1]) for key in ALL}
each_matrix = pytest.mark.parametrize("matrix", MATRICES.values(), ids=["-".join(key) for key in ALL])
RWS = MATRICES["rws-sic-bo-etg-v8", "A"]
EVEN_STAKES = st.integers(1, 10**6).map(lambda n: 2 * n)


@each_matrix
def test_every_cell_is_a_loser_or_one_of_the_ways_to_win(matrix: Matrix) -> None:
    assert len(matrix.areas) == len(matrix.nets) == len(matrix.clauses) == len(matrix.wins)
    for nets, clauses, wins in zip(matrix.nets, matrix.clauses, matrix.wins, strict=True):
        assert len(nets) == len(clauses) == 56
        won = {place: win for win in wins for place in win.places}
        assert sum(len(win.places) for win in wins) == len(won)
        for place, net in enumerate(nets):
            assert net == (won[place].net if place in won else -matrix.denominator)
        assert all(Fraction(win.net, matrix.denominator) == win.odds.net for win in wins)


@each_matrix
def test_the_denominator_is_the_least(matrix: Matrix) -> None:
    denominators = {Fraction(net, matrix.denominator).denominator for row in matrix.nets for net in row}
    assert matrix.denominator == max(denominators) == (2 if {2} & denominators else 1)


@each_matrix
def test_net_settle_illuminated_and_explain_agree_on_every_cell(matrix: Matrix) -> None:
    for outcome in OUTCOMES:
        lit = set(matrix.illuminated(outcome))
        settled = matrix.settle(outcome, [Bet.on(area, 100) for area in matrix.areas])
        assert isinstance(settled, Settlement)
        for bet in settled.bets:
            net = matrix.net(bet.area, outcome)
            why = matrix.explain(bet.area, outcome)
            assert (net > 0) == (bet.area in lit) == (why.odds is not None) == (bet.won > 0)
            assert bet.won == max(0, 100 * net)
            assert bet.returned == 100 * (net + 1)
            assert (why.net, why.clause) == (net, bet.clause)
            assert why.odds is None or why.odds.net == net
            assert why.says
        assert settled.staked == 100 * len(matrix.areas)
        assert settled.returned == sum(bet.returned for bet in settled.bets)


@each_matrix
def test_lit_areas_are_in_the_order_of_the_book(matrix: Matrix) -> None:
    for outcome in OUTCOMES:
        lit = matrix.illuminated(outcome)
        assert list(lit) == sorted(lit, key=matrix.areas.index)


def test_an_explanation_is_a_sentence_with_its_clause() -> None:
    said = str(RWS.explain("total-8", Outcome.of(2, 3, 3)))
    assert said.startswith("Total Sum 8 wins 8.5 to 1 on 2 3 3 (4.1.1: ")
    assert " loses on 2 2 2 (3.9: " in str(RWS.explain("small", Outcome.of(2, 2, 2)))


@pytest.mark.parametrize("ask", [lambda area: RWS.net(area, OUTCOMES[0]), RWS.row,
                                 lambda area: RWS.explain(area, OUTCOMES[0])])  # fmt: skip
@pytest.mark.parametrize("area", ["double-single-112", "three-126", "", "SMALL"])
def test_an_area_that_is_not_on_the_layout_has_no_row(ask: object, area: str) -> None:
    with pytest.raises(RulesError, match=r"^unknown area .* on rws-sic-bo-etg-v8 layout A"):
        ask(area)  # type: ignore[operator]


@each_matrix
def test_an_outcome_is_established_as_soon_as_one_die_is_known(matrix: Matrix) -> None:
    assert not matrix.established(())
    for face in range(1, 7):
        assert matrix.established((face,))


@each_matrix
def test_what_is_established_is_what_every_completion_agrees_on(matrix: Matrix) -> None:
    for known in ((), (1,), (6,), (3, 4), (5, 5), (2, 6)):
        rolls = [Outcome.of(*known, *rest) for rest in product(range(1, 7), repeat=3 - len(known))]
        lit: list[set[AreaId]] = [set(matrix.illuminated(outcome)) for outcome in rolls]
        found = matrix.established(known)
        assert set(found.won) == set.intersection(*lit)
        assert set(found.lost) == set(matrix.areas).difference(*lit)


@each_matrix
def test_three_known_dice_establish_everything(matrix: Matrix) -> None:
    for outcome in OUTCOMES:
        found = matrix.established(outcome.faces)
        assert found.won == matrix.illuminated(outcome)
        assert set(found.lost) == set(matrix.areas) - set(found.won)


def test_four_known_dice_or_a_seven_are_refused() -> None:
    with pytest.raises(RulesError, match="at most 3 known dice, got 4"):
        RWS.established((1, 2, 3, 4))
    with pytest.raises(RulesError, match="expected a face from 1 to 6, got 7"):
        RWS.established((7,))


@pytest.mark.parametrize(
    ("area", "stake", "reason"),
    [
        ("three-126", 100, "not-on-layout"),
        ("three-126", "100", "not-on-layout"),
        ("small", "100", "stake-not-whole"),
        ("small", 1.0, "stake-not-whole"),
        ("small", True, "stake-not-whole"),
        ("small", None, "stake-not-whole"),
        ("small", Fraction(1), "stake-not-whole"),
        ("small", 0, "stake-not-positive"),
        ("small", -1, "stake-not-positive"),
        ("total-8", -1, "stake-not-positive"),
        ("small", GREATEST_SUM + 1, "beyond-greatest-sum"),
        ("total-8", GREATEST_SUM + 2, "beyond-greatest-sum"),
        ("total-8", 1, "winnings-not-whole"),
        ("total-8", 99, "winnings-not-whole"),
    ],
)
def test_of_several_reasons_the_first_in_rank_is_given(area: str, stake: object, reason: str) -> None:
    bet = Bet(AreaId(area), stake)  # type: ignore[arg-type]
    refused = RWS.refusal(bet)
    assert refused is not None
    assert refused.reason == reason
    for outcome in OUTCOMES:
        assert RWS.settle(outcome, [bet]) == refused._replace(bet=0)


REFUSED = {
    "not-on-layout": Bet.on("three-126", 100),
    "stake-not-whole": Bet(AreaId("small"), "100"),  # type: ignore[arg-type]
    "stake-not-positive": Bet.on("small", 0),
    "beyond-greatest-sum": Bet.on("small", GREATEST_SUM + 1),
    "winnings-not-whole": Bet.on("total-8", 1),
}


def test_among_several_bets_too_the_first_in_rank_is_given_wherever_it_lies() -> None:
    ranked = list(REFUSED)
    for first, second in product(ranked, repeat=2):
        bets = [Bet.on("small", 2), REFUSED[first], Bet.on("big", 2), REFUSED[second]]
        refused = RWS.settle(OUTCOMES[0], bets)
        assert isinstance(refused, BetRefusal)
        assert refused.reason == min(first, second, key=ranked.index)
        assert refused.bet == (1 if refused.reason == first else 3)


def test_ranks_follow_the_order_of_the_reasons() -> None:
    ranks = [reason.rank for reason in BetRefusalReason]
    assert list(BetRefusalReason) == list(REFUSED)
    assert ranks == sorted(set(ranks))


def test_of_bets_refused_for_one_reason_the_earliest_is_shown() -> None:
    refused = RWS.settle(OUTCOMES[0], [Bet.on("small", 2), Bet.on("total-8", 3), Bet.on("total-8", 1)])
    assert isinstance(refused, BetRefusal)
    assert refused.message.endswith("got 3")
    assert refused.bet == 1


def test_sums_have_their_rank_among_the_reasons_and_belong_to_no_bet() -> None:
    bets = [Bet.on("big", GREATEST_SUM), Bet.on("small", GREATEST_SUM)]
    for worse in ("winnings-not-whole", "not-on-layout", "stake-not-positive"):
        refused = RWS.settle(Outcome.of(1, 1, 1), [*bets, REFUSED[worse]])
        assert isinstance(refused, BetRefusal)
        if worse == "winnings-not-whole":
            assert (refused.reason, refused.bet) == ("beyond-greatest-sum", None)
        else:
            assert (refused.reason, refused.bet) == (worse, 2)


def test_a_refusal_says_why_and_by_which_clause() -> None:
    assert [str(RWS.refusal(bet)) for bet in REFUSED.values()] == [
        "unknown area 'three-126' on rws-sic-bo-etg-v8 layout A (not-on-layout, Appendix A)",
        "expected a whole stake on small, got '100' (stake-not-whole, house:stakes)",
        "expected a stake above 0 on small, got 0 (stake-not-positive, house:stakes)",
        f"expected a stake of at most 2^53 - 1, got {2**53} (beyond-greatest-sum, house:greatest-sum)",
        (
            "expected a stake on total-8 in steps of 2, because it wins 8.5 to 1, got 1"
            " (winnings-not-whole, house:whole-money)"
        ),
    ]


@pytest.mark.parametrize("area", ["total-8", "total-10", "four-2356", "double-3"])
def test_half_odds_take_even_stakes_whatever_the_dice(area: str) -> None:
    for outcome in OUTCOMES:
        assert isinstance(RWS.settle(outcome, [Bet.on(area, 2)]), Settlement)
        assert isinstance(RWS.settle(outcome, [Bet.on(area, 3)]), BetRefusal)


def greatest_stake(net: int) -> int:
    """The greatest stake whose return at so many to one keeps within the limit."""
    return GREATEST_SUM // (net + 1)


@pytest.mark.parametrize(("area", "net", "dice"), [("small", 1, (1, 2, 3)), ("total-4", 64, (1, 1, 2)),
                                                   ("triple-6", 195, (6, 6, 6))])  # fmt: skip
def test_a_return_reaches_the_limit_and_not_beyond(area: str, net: int, dice: tuple[int, ...]) -> None:
    outcome = Outcome.of(*dice)
    stake = greatest_stake(net)
    paid = RWS.settle(outcome, [Bet.on(area, stake)])
    assert isinstance(paid, Settlement)
    assert GREATEST_SUM - net <= paid.returned <= GREATEST_SUM
    refused = RWS.settle(outcome, [Bet.on(area, stake + 1)])
    assert isinstance(refused, BetRefusal)
    assert refused.reason == "beyond-greatest-sum"
    assert "return of at most" in refused.message


def test_a_loser_may_stake_up_to_the_limit_and_totals_keep_within_it() -> None:
    lost = RWS.settle(Outcome.of(1, 1, 1), [Bet.on("small", GREATEST_SUM)])
    assert isinstance(lost, Settlement)
    assert (lost.staked, lost.returned) == (GREATEST_SUM, 0)
    full = [Bet.on("small", GREATEST_SUM - 1), Bet.on("big", 1)]
    assert isinstance(RWS.settle(Outcome.of(1, 1, 1), full), Settlement)
    beyond = RWS.settle(Outcome.of(1, 1, 1), [*full, Bet.on("odd", 1)])
    assert isinstance(beyond, BetRefusal)
    assert "total staked of at most" in beyond.message


def test_the_total_returned_keeps_within_the_limit() -> None:
    half = GREATEST_SUM // 4
    bets = [Bet.on("small", half), Bet.on("even", half), Bet.on("single-1", 1)]
    assert isinstance(RWS.settle(Outcome.of(1, 2, 3), bets), Settlement)
    more = RWS.settle(Outcome.of(1, 2, 3), [*bets, Bet.on("single-2", 1)])
    assert isinstance(more, BetRefusal)
    assert "total returned of at most" in more.message


def test_no_bets_settle_to_nothing() -> None:
    settled = RWS.settle(OUTCOMES[0], [])
    assert settled == Settlement(OUTCOMES[0], Money(0), Money(0), ())


def test_bets_may_come_from_anything_that_yields_them() -> None:
    bets = [Bet.on("small", 100), Bet.on("small", 50)]
    assert RWS.settle(OUTCOMES[3], iter(bets)) == RWS.settle(OUTCOMES[3], bets)


@given(
    place=st.integers(0, 55),
    bets=st.lists(
        st.tuples(st.sampled_from(RWS.areas), st.integers(1, 10**6).map(lambda n: 2 * n)), max_size=9
    ),
)
def test_money_is_whole_and_adds_up(place: int, bets: list[tuple[str, int]]) -> None:
    settled = RWS.settle(OUTCOMES[place], [Bet.on(area, stake) for area, stake in bets])
    assert isinstance(settled, Settlement)
    assert settled.staked == sum(stake for _, stake in bets)
    assert settled.returned == sum(bet.returned for bet in settled.bets)
    for bet, (area, stake) in zip(settled.bets, bets, strict=True):
        assert (bet.area, bet.stake) == (area, stake)
        assert type(bet.won) is type(bet.returned) is int
        assert bet.returned == (bet.stake + bet.won if bet.won else 0)
    one_by_one = [RWS.settle(OUTCOMES[place], [Bet.on(area, stake)]) for area, stake in bets]
    assert [one.bets[0] for one in one_by_one if isinstance(one, Settlement)] == list(settled.bets)


def test_records_reach_another_process() -> None:
    settled = RWS.settle(Outcome.of(2, 3, 5), [Bet.on("small", 100)])
    assert pickle.loads(pickle.dumps(settled)) == settled


class TestOffers:
    """US 4(b): floors under what is offered; 4(c) is fixed."""

    book = rulebook("us-sic-bo")

    def test_an_offer_above_its_floor_is_paid(self) -> None:
        matrix = self.book.matrix("A", offered={"triple-1": "180 to 1", "small": "1.1 to 1"})
        assert matrix.net("triple-1", Outcome.of(1, 1, 1)) == 180
        assert matrix.net("triple-2", Outcome.of(2, 2, 2)) == 150
        assert matrix.net("small", Outcome.of(1, 2, 3)) == Fraction(11, 10)
        assert matrix.denominator == 10

    def test_an_offer_under_its_floor_is_refused(self) -> None:
        with pytest.raises(RulesError, match=r"^expected an offer of at least 150 to 1 \(4\(b\)\), got 149"):
            self.book.matrix("A", offered={"triple-1": "149.9 to 1"})

    def test_us_4_c_two_and_three_dice_are_fixed_whatever_is_offered_on_one(self) -> None:
        matrix = self.book.matrix("A", offered={"single-1": "1.5 to 1"})
        paid = [matrix.net("single-1", Outcome.of(*dice)) for dice in ((1, 2, 3), (1, 1, 3), (1, 1, 1))]
        assert paid == [Fraction(3, 2), 2, 3]

    def test_odds_that_are_fixed_may_be_offered_as_they_are_and_not_otherwise(self) -> None:
        book = rulebook("rws-sic-bo-etg-v8")
        assert book.matrix("A", offered={"small": "1 to 1"}).digest == book.matrix("A").digest
        with pytest.raises(RulesError, match=r"^expected 1 to 1, fixed by 4\.1\.1, got an offer of 2 to 1$"):
            book.matrix("A", offered={"small": "2 to 1"})

    def test_an_offer_on_no_area_is_refused(self) -> None:
        with pytest.raises(RulesError, match="expected an offer on an area of pay table 1, got 'odd'"):
            self.book.matrix("A", offered={"odd": "1 to 1"})

    def test_an_offer_that_is_no_odds_is_refused(self) -> None:
        with pytest.raises(RulesError, match="got '160:1'"):
            self.book.matrix("A", offered={"triple-1": "160:1"})


def test_a_layout_that_the_book_lacks_is_refused() -> None:
    with pytest.raises(RulesError, match=r"^expected a layout of us-sic-bo \(A\), got 'B'$"):
        rulebook("us-sic-bo").matrix("B")


def test_the_first_layout_is_the_default() -> None:
    assert rulebook("rws-sic-bo-etg-v8").matrix().digest == RWS.digest
