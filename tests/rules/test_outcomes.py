"""The 56 outcomes: in order, one of each, the same in whatever order the dice lie."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.rules import OUTCOMES, Outcome, RulesError
from taisai.rules.outcomes import MIRRORED

ROLLS = list(product(range(1, 7), repeat=3))


def test_there_are_56_in_ascending_order() -> None:
    names = [str(outcome) for outcome in OUTCOMES]
    assert len(names) == 56
    assert names == sorted(set(names))
    assert names[0] == "111"
    assert names[1] == "112"
    assert names[-1] == "666"
    assert all(name == "".join(sorted(name)) for name in names)
    assert [outcome.index for outcome in OUTCOMES] == list(range(56))


def test_every_roll_is_one_of_them_in_any_order() -> None:
    for roll in ROLLS:
        outcome = Outcome.of(*roll)
        assert outcome.faces == tuple(sorted(roll))
        assert outcome.total == sum(roll)
        assert all(Outcome.of(*other) is outcome for other in permutations(roll))


def test_ways_count_the_rolls() -> None:
    rolled = Counter(Outcome.of(*roll) for roll in ROLLS)
    assert {outcome: outcome.ways for outcome in OUTCOMES} == rolled
    assert sum(outcome.ways for outcome in OUTCOMES) == 216
    assert Counter(outcome.ways for outcome in OUTCOMES) == {1: 6, 3: 30, 6: 20}


def test_what_is_shown_can_be_pasted_back() -> None:
    for outcome in OUTCOMES:
        assert eval(repr(outcome)) is outcome
        assert Outcome.parse(str(outcome)) is outcome


def test_a_copy_is_the_same_outcome() -> None:
    for outcome in OUTCOMES:
        assert pickle.loads(pickle.dumps(outcome)) is outcome
        assert copy.copy(outcome) is outcome
        assert copy.deepcopy([outcome])[0] is outcome


def test_an_outcome_reaches_another_process() -> None:
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(Outcome.of(5, 3, 2)), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "235"


def test_the_mirror_turns_every_die_over() -> None:
    for outcome in OUTCOMES:
        turned = OUTCOMES[MIRRORED[outcome.index]]
        assert turned.faces == tuple(sorted(7 - face for face in outcome.faces))
        assert MIRRORED[turned.index] == outcome.index


@pytest.mark.parametrize("faces", [(), (1,), (1, 2), (1, 2, 3, 4)])
def test_any_other_number_of_dice_is_refused(faces: tuple[int, ...]) -> None:
    with pytest.raises(RulesError, match=rf"^expected 3 faces from 1 to 6, got {len(faces)} \("):
        Outcome.of(*faces)


@pytest.mark.parametrize("face", [0, 7, -1, 10**30, True, 1.0, "1", None])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_anything_that_is_no_face_is_refused_with_its_place(face: object, place: int) -> None:
    faces: list[object] = [6, 6, 6]
    faces[place - 1] = face
    with pytest.raises(RulesError, match=rf"^expected a face from 1 to 6, got .* \(face {place} of "):
        Outcome.of(*faces)  # type: ignore[arg-type]


@given(text=st.text(max_size=4))
def test_only_the_56_names_are_names(text: str) -> None:
    if text in {str(outcome) for outcome in OUTCOMES}:
        assert str(Outcome.parse(text)) == text
    else:
        with pytest.raises(
            RulesError, match=r"^expected an outcome such as '235', with ascending faces, got "
        ):
            Outcome.parse(text)


@pytest.mark.parametrize("text", ["532", "0", "237", "1234", "２３５", ""])
def test_names_out_of_order_are_refused(text: str) -> None:
    with pytest.raises(RulesError):
        Outcome.parse(text)
