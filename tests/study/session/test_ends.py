"""How players end, against players who are followed one by one in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from taisai.rules import RulesError, rulebook
from taisai.study.odds import Mix
from taisai.study.session import chain as chains
from taisai.study.session import ends as ending
from taisai.study.session.ends import Ends, ends_of
from taisai.study.staking import Multiples, SystemName, allowed, system
from tests.study.session.players import played_out

BOOK = rulebook("rws-sic-bo-etg-v8")
SMALL = {"small": 100}
SINGLE = {"single-1": 100}
LEVEL = {"small": 100, "big": 100, "any-triple": 10}
"""A mix that may also come out other than won or lost as a whole: small and big cancel out."""


def mixed(bets: dict[str, int]) -> Mix:
    return Mix.of(BOOK.matrix("A"), bets)


def nets_of(mix: Mix) -> list[tuple[int, Fraction]]:
    law = mix.distribution(BOOK.chance())
    return [
        (value, Fraction(weight, law.total)) for value, weight in zip(law.values, law.weights, strict=True)
    ]


@pytest.mark.parametrize("name", list(SystemName))
@pytest.mark.parametrize(
    ("bets", "bankroll", "target", "limits", "rounds"),
    [
        (SMALL, 700, 1_500, (None, None), 14),
        (SMALL, 750, 1_580, (None, 400), 14),
        (SMALL, 1_300, 2_500, (150, 900), 12),
        (SINGLE, 900, 4_000, (None, 700), 8),
        (LEVEL, 2_000, 2_300, (None, 500), 12),
    ],
)
def test_every_end_is_the_one_followed_in_fractions(  # noqa: PLR0917 (a table of cases)
    name: str,
    bets: dict[str, int],
    bankroll: int,
    target: int,
    limits: tuple[int | None, int | None],
    rounds: int,
) -> None:
    mix = mixed(bets)
    minimum, maximum = limits
    ends = ends_of(
        mix,
        BOOK.chance(),
        bankroll=bankroll,
        target=target,
        rounds=rounds,
        staking=name,
        minimum=minimum,
        maximum=maximum,
    )
    lowest, highest = min(mix.stakes.values()), max(mix.stakes.values())
    least = -(-minimum // lowest) if minimum else 1
    most = min((target - 1) // mix.staked, maximum // highest if maximum else 10**9)
    fate = played_out(
        name,
        nets_of(mix),
        unit=mix.staked,
        bankroll=bankroll,
        target=target,
        rounds=rounds,
        least=least,
        most=most,
    )
    assert ends.error < 1e-20
    for found, expected in (
        (ends.ruined, fate.ruined),
        (ends.reached, fate.reached),
        (ends.playing, fate.playing),
    ):
        assert [value for value, _ in found] == sorted(expected)
        assert all(abs(share - expected[value]) <= Fraction(ends.error) for value, share in found)
    assert ends.mean_rounds == pytest.approx(float(fate.rounds), rel=1e-12)
    assert ends.mean_staked == pytest.approx(float(fate.staked), rel=1e-12)


def test_sabotage_a_wrong_chance_is_far_beyond_the_error() -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=700, target=1_500, rounds=14)
    wrong = [(-100, Fraction(37, 72) + Fraction(1, 10**18)), (100, Fraction(35, 72) - Fraction(1, 10**18))]
    fate = played_out("flat", wrong, unit=100, bankroll=700, target=1_500, rounds=14, least=1, most=14)
    assert abs(ends.ruin - sum(fate.ruined.values())) > Fraction(ends.error)


def gamblers_ruin(units: int, goal: int, won: Fraction) -> Fraction:
    """The classical formula for one unit at even money."""
    ratio = (1 - won) / won
    return (ratio**units - ratio**goal) / (1 - ratio**goal)


@pytest.mark.parametrize(("units", "goal"), [(1, 2), (5, 10), (100, 200), (3, 400)])
def test_flat_to_the_end_is_the_gamblers_ruin(units: int, goal: int) -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=100 * units, target=100 * goal)
    expected = gamblers_ruin(units, goal, Fraction(35, 72))
    assert ends.error < 1e-15
    assert abs(ends.ruin - expected) <= Fraction(ends.error)
    assert abs(ends.success - (1 - expected)) <= Fraction(ends.error)
    assert ends.neither == 0


@pytest.mark.parametrize("name", ["flat", "martingale", "paroli", "dalembert"])
def test_solving_and_playing_on_come_to_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = _to_the_end(name)
    monkeypatch.setattr(chains, "MOST_SOLVED_CELLS", 0)
    played = _to_the_end(name)
    assert solved.error < 1e-15
    assert played.error < 1e-15
    assert abs(solved.ruin - played.ruin) <= Fraction(solved.error + played.error)
    assert played.mean_staked == pytest.approx(solved.mean_staked, rel=1e-9)


def _to_the_end(name: str) -> Ends:
    return ends_of(mixed(SMALL), BOOK.chance(), bankroll=2_000, target=4_000, staking=name, maximum=1_000)


@pytest.mark.parametrize("name", list(SystemName))
def test_no_system_changes_what_is_lost_of_each_unit_staked(name: str) -> None:
    mix = mixed(SINGLE)
    ends = ends_of(mix, BOOK.chance(), bankroll=1_000, target=2_000, rounds=60, staking=name, maximum=800)
    lost = (ends.bankroll - ends.mean) / ends.mean_staked
    assert lost == pytest.approx(float(mix.edge(BOOK.chance())), rel=1e-11)


@pytest.mark.parametrize("name", ["flat", "martingale", "labouchere"])
def test_numpy_alone_gives_the_same_digits(name: str) -> None:
    mix = mixed(SINGLE)
    multiples = allowed(mix, minimum=None, maximum=1_000, greatest=30)
    chain = chains.chain_of(
        mix.distribution(BOOK.chance()),
        system(name, multiples),
        unit=100,
        least=1,
        bankroll=1_500,
        target=3_000,
    )
    by_numba, by_numpy = chains.beginning(chain), chains.beginning(chain)
    chains.play(chain, by_numba, 40, compiled=True)
    chains.play(chain, by_numpy, 40, compiled=False)
    for one, other in zip(
        (*by_numba.alive, *by_numba.ended), (*by_numpy.alive, *by_numpy.ended), strict=True
    ):
        assert np.array_equal(one, other)
    assert np.array_equal(by_numba.visits, by_numpy.visits)


def test_cells_that_cannot_be_reached_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _to_the_end("dalembert")
    monkeypatch.setattr(chains, "PRUNED_FROM", 0)
    pruned = _to_the_end("dalembert")
    assert abs(whole.ruin - pruned.ruin) <= Fraction(whole.error + pruned.error)
    rounds = ends_of(mixed(SMALL), BOOK.chance(), bankroll=900, target=1_500, rounds=50, staking="labouchere")
    monkeypatch.setattr(chains, "PRUNED_FROM", 10**9)
    again = ends_of(mixed(SMALL), BOOK.chance(), bankroll=900, target=1_500, rounds=50, staking="labouchere")
    assert [value for value, _ in rounds.distribution] == [value for value, _ in again.distribution]
    assert rounds.ruin == pytest.approx(again.ruin, abs=rounds.error)


def test_a_trillion_rounds_end_when_nobody_is_left() -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=500, target=1_000, rounds=10**12)
    assert abs(ends.ruin - gamblers_ruin(5, 10, Fraction(35, 72))) <= Fraction(ends.error)
    assert ends.error < 1e-15


def test_a_bankroll_that_covers_no_bet_is_ruined_at_once() -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=99, target=1_000)
    assert ends.distribution == ((99, Fraction(1)),)
    assert (ends.ruin, ends.mean_rounds, ends.error) == (Fraction(1), 0.0, 0.0)


def test_cards_say_that_every_round_has_a_fresh_shoe() -> None:
    book = rulebook("mbs-3-card-sic-bo")
    ends = ends_of(Mix.of(book.matrix("A"), SMALL), book.chance(decks=2), bankroll=500, target=1_000)
    assert "a shoe of 2 decks, freshly shuffled" in str(ends)
    assert ends.facts()["assumption"] == "Every round is dealt from a shoe of 2 decks, freshly shuffled."


def test_the_report_tells_the_end_and_what_it_took() -> None:
    text = str(ends_of(mixed(SMALL), BOOK.chance(), bankroll=500, target=1_000, rounds=100))
    for words in ("how it ends", "ruined", "target reached", "still playing", "lost of what is staked"):
        assert words in text
    assert "2.7778 %" in text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bankroll": -1}, "expected a bankroll from 0 to 1,000,000,000,000, got -1"),
        ({"target": 10**12 + 1}, "expected a target from 0 to"),
        ({"target": 500}, "expected a target above the bankroll of 500, got 500"),
        ({"bankroll": 500.0}, "expected a bankroll from 0 to 1,000,000,000,000, got 500.0"),
        ({"target": True}, "expected a target from 0 to 1,000,000,000,000, got True"),
        ({"rounds": 1.5}, "expected 1 to 1,000,000,000,000 rounds, got 1.5"),
        ({"rounds": True}, "expected 1 to 1,000,000,000,000 rounds, got True"),
        ({"rounds": 0}, "expected 1 to 1,000,000,000,000 rounds, got 0"),
        ({"rounds": 10**12 + 1}, "expected 1 to 1,000,000,000,000 rounds"),
        ({"staking": "fibonacci"}, "expected one of flat, martingale"),
        ({"minimum": 0}, "expected a table minimum of 1 or more, got 0"),
        ({"minimum": 300, "maximum": 200}, "no multiple of the bets is within the table limits"),
        ({"maximum": 99}, "no multiple of the bets is within the table limits"),
        ({"target": 200 * (2**22 + 2)}, "expected at most 2\\^22 = 4,194,304 pairs"),
    ],
)
def test_what_cannot_be_asked(changed: dict[str, object], message: str) -> None:
    asked: dict[str, object] = {"bankroll": 500, "target": 1_000, **changed}
    with pytest.raises(RulesError, match=message):
        ends_of(mixed(SMALL), BOOK.chance(), **asked)  # type: ignore[arg-type]


def test_work_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "MOST_STEPS", 10**4)
    monkeypatch.setattr(ending, "_BATCH", 10**3)
    monkeypatch.setattr(chains, "MOST_SOLVED_CELLS", 0)
    with pytest.raises(RulesError, match="calculation too long: after"):
        ends_of(mixed(SMALL), BOOK.chance(), bankroll=5_000, target=10_000)


@pytest.mark.parametrize("rounds", [10**9, 10**6])
def test_too_many_rounds_for_a_large_chain_are_refused_before_the_first(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "chain_of", None)  # not even a chain is made
    with pytest.raises(
        RulesError, match=f"expected at most 1e\\+11 steps, got {rounds:,} rounds × 199,999 bankrolls"
    ):
        ends_of(
            mixed(SMALL),
            BOOK.chance(),
            bankroll=100 * 10**5,
            target=200 * 10**5,
            staking="martingale",
            rounds=rounds,
        )


def test_too_many_rounds_for_many_states_are_refused_before_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chains, "play", None)
    monkeypatch.setattr(chains, "MOST_SOLVED_CELLS", 1_000)
    asked = {"bankroll": 20_000, "target": 40_000, "staking": "martingale"}
    with pytest.raises(RulesError, match=r"1,000,000,000 rounds × [0-9,]+ pairs of a bankroll and a state"):
        ends_of(mixed(SMALL), BOOK.chance(), rounds=10**9, **asked)  # type: ignore[arg-type]


def test_rounds_beyond_any_end_are_solved_and_those_short_of_it_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = _to_the_end("martingale")
    monkeypatch.setattr(ending, "MOST_STEPS", 10**4)
    monkeypatch.setattr(chains, "play", None)
    asked = {"bankroll": 2_000, "target": 4_000, "staking": "martingale", "maximum": 1_000}
    long = ends_of(mixed(SMALL), BOOK.chance(), rounds=10**6, **asked)  # type: ignore[arg-type]
    assert (long.ruin, long.success, long.neither) == (whole.ruin, whole.success, Fraction(0))
    assert long.mean_rounds == whole.mean_rounds
    assert whole.error <= long.error < whole.error + ending.FORGOTTEN
    with pytest.raises(RulesError, match="expected at most 1e\\+04 steps, got 1,000 rounds"):
        ends_of(mixed(SMALL), BOOK.chance(), rounds=1_000, **asked)  # type: ignore[arg-type]


def test_nobody_stays_longer_than_the_proof_says() -> None:
    law, machine = mixed(SMALL).distribution(BOOK.chance()), system("flat", Multiples(1, 1))
    chain = chains.chain_of(law, machine, unit=100, least=1, bankroll=500, target=1_000)
    found = chains.solved(chain)
    assert found is not None
    played = chains.beginning(chain)
    for rounds in range(20, 2_000, 20):
        chains.play(chain, played, 20)
        left = float(played.alive.high.sum()) * 2.0 ** -chains.bits_of(chain.total)
        assert left <= found.left_after(rounds)
    assert found.left_after(2_000) < 1e-6


def test_what_is_printed_is_within_the_bound_that_is_printed() -> None:
    expected = gamblers_ruin(7, 11, Fraction(35, 72))
    ends = ends_of(mixed({"small": 1}), BOOK.chance(), bankroll=7, target=11)
    facts = ends.facts()
    bound = Fraction(facts["error_at_most"])
    assert 0 < bound < Fraction(1, 10**22)
    assert abs(Fraction(facts["probability"]["ruin"]["value"]) - expected) <= bound
    assert abs(sum((Fraction(end["probability"]) for end in facts["ends"]), Fraction(-1))) <= bound
    rounds = (7 - 11 * (1 - expected)) * 36
    for name, exact in (("rounds", rounds), ("staked", rounds), ("end", 11 * (1 - expected))):
        off = abs(Fraction(facts[f"mean_{name}"]) - exact)
        assert off <= Fraction(facts[f"mean_{name}_error_at_most"]) < Fraction(1, 10**10)


def test_means_of_so_many_rounds_are_within_their_bounds() -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=700, target=1_500, rounds=14, staking="martingale")
    fate = played_out(
        "martingale", nets_of(mixed(SMALL)), unit=100, bankroll=700, target=1_500, rounds=14, least=1, most=14
    )
    assert ends.rounds_error is not None
    assert ends.staked_error is not None
    assert abs(Fraction(ends.mean_rounds) - fate.rounds) <= Fraction(ends.rounds_error) < 1e-10
    assert abs(Fraction(ends.mean_staked) - fate.staked) <= Fraction(ends.staked_error) < 1e-6


def test_a_large_chain_played_to_its_end_has_no_bound_for_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_SOLVED_CELLS", 0)
    facts = _to_the_end("flat").facts()
    assert facts["mean_rounds_error_at_most"] is facts["mean_staked_error_at_most"] is None
    assert facts["mean_end_error_at_most"] < 1e-9


def test_multiples_are_shown_as_staked() -> None:
    ends = ends_of(mixed(SMALL), BOOK.chance(), bankroll=500, target=9_000, staking="labouchere", rounds=5)
    assert ends.multiples == Multiples(3, 50)  # no line of 1, 2, 3, 4 ever asks for less
