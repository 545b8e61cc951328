"""The environment for learners: Gymnasium's own checker, and money by the pay table."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from taisai.rules import Outcome, RulesError, rulebook
from taisai.study.gym import NAME, SicBoEnv, register

LAYOUTS = [("rws-sic-bo-etg-v8", "B"), ("mbs-3-card-sic-bo", "A"), ("us-sic-bo", None)]


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_it_passes_the_checker(book: str, layout: str | None) -> None:
    register()
    made = gymnasium.make(NAME, book=book, layout=layout, render_mode="ansi")
    check_env(made.unwrapped)


def test_it_is_made_by_its_name() -> None:
    register()
    register()
    table = gymnasium.make(NAME, book="us-sic-bo", bankroll=50)
    seen, _ = table.reset(seed=1)
    assert seen["bankroll"].tolist() == [50]


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_every_round_is_paid_by_the_pay_table_and_the_shoe_loses_what_it_deals(
    book: str, layout: str | None
) -> None:
    env = SicBoEnv(book, layout, bankroll=10_000, most_chips=4)
    matrix = rulebook(book).matrix(layout)
    seen, _ = env.reset(seed=3)
    env.action_space.seed(3)
    for _ in range(200):
        before, chips = seen, env.action_space.sample()
        seen, reward, over, _, told = env.step(chips)
        outcome = Outcome.of(*told["faces"])
        due = sum(int(n) * matrix.net(area, outcome) for n, area in zip(chips, env.areas, strict=True))
        assert reward == (pytest.approx(float(due)) if told["placed"] else 0)
        assert seen["bankroll"][0] == pytest.approx(before["bankroll"][0] + reward)
        dealt = before["left"] - seen["left"]
        if dealt.any() and dealt.min() >= 0:
            assert np.bincount(np.array(told["faces"]) - 1, minlength=6).tolist() == dealt.tolist()
        if over:
            seen, _ = env.reset()


def test_faces_follow_the_dice_and_seeds_repeat() -> None:
    env = SicBoEnv("us-sic-bo", rounds=4000)
    none = env.action_space.sample() * 0
    env.reset(seed=5)
    faces = [env.step(none)[4]["faces"] for _ in range(4000)]
    counts = np.bincount(np.array(faces).ravel(), minlength=7)[1:]
    assert ((counts - 2000) ** 2 / 2000).sum() < 30  # chi-square, 5 degrees: p about 1e-5
    env.reset(seed=5)
    assert [env.step(none)[4]["faces"] for _ in range(20)] == faces[:20]


def test_an_episode_ends_by_ruin_or_by_its_rounds() -> None:
    env = SicBoEnv("rws-sic-bo-etg-v8", "A", bankroll=3, rounds=5)
    none = env.action_space.sample() * 0
    env.reset(seed=1)
    assert [env.step(none)[3] for _ in range(5)] == [False] * 4 + [True]
    bold = none.copy()
    bold[env.areas.index("triple-1")] = 3
    env.reset(seed=1)
    _, reward, over, _, _ = env.step(bold)
    assert (reward, over) == (-3, True)


def test_what_the_bankroll_does_not_cover_is_not_placed() -> None:
    env = SicBoEnv("us-sic-bo", bankroll=3)
    env.reset(seed=1)
    seen, reward, over, _, told = env.step(env.action_space.sample() * 0 + 1)
    assert (reward, over, told["placed"], seen["bankroll"][0]) == (0, False, False, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"bankroll": 0}, "expected bankroll from 1"),
        ({"most_chips": 1001}, "expected most_chips from 1 to 1000, got 1001"),
        ({"rounds": 0}, "expected rounds"),
        ({"render_mode": "human"}, "expected render_mode 'ansi' or None"),
        ({"decks": 6}, "expected no decks"),
    ],
)
def test_what_makes_no_table_is_refused(words: dict[str, object], message: str) -> None:
    with pytest.raises(RulesError, match=message):
        SicBoEnv("us-sic-bo", **words)  # type: ignore[arg-type]


def test_an_action_of_another_shape_is_refused() -> None:
    env = SicBoEnv("us-sic-bo")
    env.reset(seed=1)
    with pytest.raises(RulesError, match="expected chips on 50 areas"):
        env.step(np.zeros(3, dtype=np.int64))
