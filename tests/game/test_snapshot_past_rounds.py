"""Rounds that are over: put away, loaded when asked for, and saved again where they were corrected."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random

import pytest

from taisai.game import Table
from taisai.game import commands as c
from taisai.game.play import decide, evolve
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import PastRounds, Round
from taisai.game.snapshot import write_table
from taisai.rules.vocabulary import Act, Irregularity, Phase
from tests.game.machine import NOON, SETUPS, opened
from tests.game.past_rounds import SnapshotStore, compiled_once, unlike

SEED = 7
RWS = next(setup for setup in SETUPS if setup.name == "rws")


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


def a_round(number: int) -> Round:
    return Round(number, Phase.BETWEEN, "2026-11-15", "", NOON)


def shelved(count: int, *, then: int = 0) -> tuple[PastRounds, list[int]]:
    """So many rounds put away and more in memory, and the numbers that are loaded from here on."""
    loaded: list[int] = []

    def load(number: int) -> Round:
        loaded.append(number)
        return a_round(number)

    rounds = PastRounds(count, load)
    for number in range(count + 1, count + then + 1):
        rounds.append(a_round(number))
    return rounds, loaded


def numbers(rounds: object) -> list[int]:
    return [one.number for one in rounds]  # type: ignore[attr-defined]


# As a sequence


def test_rounds_are_a_sequence_wherever_they_are() -> None:
    rounds, loaded = shelved(3, then=2)
    assert len(rounds) == 5
    assert numbers(rounds) == [1, 2, 3, 4, 5]
    assert numbers(rounds[1:4]) == [2, 3, 4]
    assert numbers(rounds[1:][::2]) == [2, 4]
    assert numbers(reversed(rounds)) == [5, 4, 3, 2, 1]
    assert (rounds[0].number, rounds[-1].number, rounds[-5].number, rounds[2:][-1].number) == (1, 5, 1, 5)
    assert set(loaded) == {1, 2, 3}
    for place in (5, -6):
        with pytest.raises(IndexError, match=f"expected a place among 5 rounds, got {place}"):
            rounds[place]


def test_one_round_stays_in_memory_and_a_range_does_not() -> None:
    rounds, loaded = shelved(3)
    list(rounds)
    list(rounds[0:2])
    assert loaded == [1, 2, 3, 1, 2]
    assert rounds[1] is rounds[1]
    assert loaded == [1, 2, 3, 1, 2, 2]
    assert next(iter(rounds[1:])) is rounds[1]


def test_slicing_loads_nothing_before_it_is_looked_at() -> None:
    rounds, loaded = shelved(100_000)
    assert len(rounds[10:]) == 99_990
    assert loaded == []


def test_new_and_corrected_rounds_are_unsaved_and_those_looked_at_are_not() -> None:
    rounds, _ = shelved(3, then=1)
    assert rounds[0].number == 1
    assert rounds.to_correct(2) is rounds[1]
    assert list(rounds.unsaved()) == [2, 4]
    assert rounds.unsaved()[2] is rounds[1]
    rounds.put_away()
    assert rounds.unsaved() == {}
    assert repr(rounds) == "<PastRounds: 4, 0 in memory, 0 unsaved>"


def test_the_latest_can_stay_in_memory() -> None:
    rounds, loaded = shelved(0, then=5)
    kept = rounds[-1], rounds[-2]
    rounds.put_away(keep=2)
    assert (rounds[-1], rounds[-2]) == kept
    assert loaded == []
    assert rounds[2].number == 3
    assert loaded == [3]
    assert rounds.unsaved() == {}


def test_what_could_not_be_loaded_again_is_not_put_away() -> None:
    rounds = PastRounds()
    rounds.append(a_round(1))
    with pytest.raises(ValueError, match="expected `load` before rounds are put away"):
        rounds.put_away()
    assert numbers(rounds) == [1]
    with pytest.raises(ValueError, match="expected `load` for the 3 stored rounds, got None"):
        PastRounds(3)


def test_a_round_in_the_place_of_another_is_a_defect() -> None:
    with pytest.raises(ValueError, match="expected round 1 after 0 rounds, got 2"):
        PastRounds().append(a_round(2))
    with pytest.raises(ValueError, match="expected round 3 to be loaded, got 1"):
        PastRounds(3, lambda _: a_round(1))[2]


# At a table


def play_round(table: Table, random: Random) -> None:
    """One round with a bet, from open to concluded, by a seed."""
    number = len(table.rounds) + 1

    def ask(command: c.Command) -> None:
        answer = decide(table, command)
        assert not isinstance(answer, Refusal), answer
        for event in answer:
            evolve(table, event)

    def act(what: Act, by: str = "dan", **more: object) -> c.Perform:
        return c.Perform(at=NOON, by=by, act=what, **more)  # type: ignore[arg-type]

    ask(act(Act.OPEN_BETS))
    ask(c.PlaceBets(at=NOON, by="t2", round=number, seat="2", bets=(c.Slip(f"b{number}", "small", 200),)))
    ask(act(Act.CLOSE_BETS, "clock"))
    ask(act(Act.TUMBLE, tumbles=4))
    ask(act(Act.UNCOVER))
    ask(act(Act.ENTER_RESULT, faces=tuple(random.randint(1, 6) for _ in range(3))))
    for what in (Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE):
        ask(act(what))


def played(rounds: int, *, putting_away: bool = True) -> tuple[Table, SnapshotStore]:
    """A table after so many rounds, on a shelf or all in memory."""
    shelf, random = SnapshotStore(), Random(SEED)
    table = opened(RWS).table
    if putting_away:
        table = shelf.again(table)
    for _ in range(rounds):
        play_round(table, random)
        if putting_away:
            shelf.put_away(table)
    return table, shelf


def rounds_alive() -> int:
    gc.collect()
    return sum(type(one) is Round for one in gc.get_objects())


def test_neither_memory_nor_snapshot_grows_with_the_rounds() -> None:
    played(1)
    before = rounds_alive()
    few, _ = played(20)
    many, shelf = played(60)
    assert rounds_alive() == before
    assert (len(shelf.rounds), shelf.loaded) == (60, [])
    sizes = [len(write_table(table)) for table in (few, many)]
    assert sizes[1] - sizes[0] < 20  # a sum has a digit more, or its number of rounds

    kept, _ = played(20, putting_away=False)  # what would be noticed
    assert rounds_alive() == before + len(kept.rounds)


def test_taking_up_a_table_loads_no_round() -> None:
    table, shelf = played(30)
    again = shelf.again(table)
    assert shelf.loaded == []
    assert len(again.rounds) == 30


def test_a_range_of_rounds_is_voided_from_storage_as_from_memory() -> None:
    table, shelf = played(12)
    memory, _ = played(12, putting_away=False)
    report = c.ReportIrregularity(
        at=NOON, by="dan", event=Irregularity.DIE_DAMAGED, round=3, through=9, second="sue", detail="chipped"
    )
    answer = decide(table, report)
    assert not isinstance(answer, Refusal), answer
    assert answer == decide(memory, report)
    assert sum(type(event).__name__ == "RoundVoided" for event in answer) == 7
    for event in answer:
        evolve(table, event)
        evolve(memory, event)
        shelf.put_away(table)
    assert unlike(memory, table) == []
    assert [one.voided for one in table.rounds] == [3 <= number <= 9 for number in range(1, 13)]


def test_a_late_retry_is_answered_from_storage_and_saves_nothing() -> None:
    table, shelf = played(5)
    retry = c.PlaceBets(at=NOON, by="t2", round=4, seat="2", bets=(c.Slip("b4", "small", 200),))
    assert decide(table, retry) == ()
    assert shelf.loaded == [4]
    assert table.rounds.unsaved() == {}
