"""The House made again from its snapshot is the same House, and goes on as if nothing had been."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.cage import House, decide_house, evolve_house
from taisai.cage import house as of_house
from taisai.cage.house import write_house
from taisai.cage.messages import HouseCommand
from taisai.game.refusals import Refusal
from taisai.game.snapshot_codec import SnapshotError
from tests.game.houses import SCRIPT


def again(house: House) -> House:
    """A House written down and taken up again."""
    return of_house.read_house(write_house(house))


def unlike(house: House, other: House) -> list[str]:
    """What two Houses differ in."""
    differ = [
        slot for slot in House.__slots__ if slot != "ledger" and _told(house, slot) != _told(other, slot)
    ]
    if house != other and not differ:
        differ.append("ledger")
    if not differ and write_house(house) != write_house(other):
        differ.append("bytes")
    return differ


def _told(house: House, slot: str) -> Any:
    value = getattr(house, slot)
    return list(value.items()) if isinstance(value, dict) else value  # in their order


def faults_of(commands: tuple[HouseCommand, ...]) -> list[str]:
    """What goes wrong where the House is written down and taken up again before each command."""
    plain, house = House(), House()
    for command in commands:
        house = again(house)
        answer, expected = decide_house(house, command), decide_house(plain, command)
        if answer != expected:
            return [f"expected {expected}, got {answer} to {command}"]
        for event in () if isinstance(expected, Refusal) else expected:
            evolve_house(plain, event)
            evolve_house(house, event)
        differ = unlike(plain, again(house))
        if differ:
            return [f"after {command}: {what}" for what in differ]
    return []


def test_after_every_command_a_snapshot_makes_the_same_house() -> None:
    assert faults_of(SCRIPT) == []


@given(commands=st.lists(st.sampled_from(SCRIPT), max_size=40))
def test_whatever_is_asked_a_house_goes_on_from_its_snapshot(commands: list[HouseCommand]) -> None:
    assert faults_of((*SCRIPT[:6], *commands)) == []


def test_from_any_snapshot_the_rest_is_the_same() -> None:
    plain, houses = House(), [House()]
    for command in SCRIPT:
        answers = [decide_house(house, command) for house in (plain, *houses)]
        assert [answer for answer in answers if answer != answers[0]] == [], command
        for event in () if isinstance(answers[0], Refusal) else answers[0]:
            for house in (plain, *houses):
                evolve_house(house, event)
        houses.append(again(plain))
    assert [house for house in houses if unlike(plain, house)] == []


@pytest.mark.parametrize("field", House.__slots__)
def test_what_an_older_program_wrote_down_is_not_read(field: str) -> None:
    told = json.loads(write_house(House()))
    del told["state"][field]
    with pytest.raises(SnapshotError, match=f"missing required field `{field}`"):
        of_house.read_house(json.dumps(told).encode())


@pytest.mark.parametrize("slot", House.__slots__)
def test_a_field_that_a_snapshot_leaves_out_is_noticed(slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    restored = of_house.read_house

    def without(data: bytes) -> House:
        house = restored(data)
        setattr(house, slot, getattr(House(), slot))
        return house

    monkeypatch.setattr(of_house, "read_house", without)
    assert faults_of(SCRIPT) != []
