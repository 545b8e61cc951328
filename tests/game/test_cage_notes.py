"""What the live server notes at the House: settings, starts and stops, clocks, wins, overrides, alarms."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import House, access
from taisai.cage import values as cage_values
from taisai.cage.messages import (
    HouseCommand,
    NoteAlarm,
    NoteClock,
    NoteOverride,
    NoteWin,
    PlaceNoted,
    TakeSettings,
)
from taisai.game.messages import LATEST
from taisai.game.refusals import Reason
from taisai.rules.settlement import GREATEST_SUM
from tests.game.house_access import BY_FLOOR, DISPLAY, FAILED, IN, NOTES, PLACE, REVOKE, SETTINGS, WIN
from tests.game.houses import balances, begun, but, done, name_of, refused

# Settings


def test_settings_are_taken_when_they_differ_and_only_then() -> None:
    house = begun()
    assert done(house, but(SETTINGS, settings={})) == ()
    [event] = done(house, SETTINGS)
    assert event.clause == "house:settings"
    turned = dict(reversed(SETTINGS.settings.items()))
    assert done(house, SETTINGS, but(SETTINGS, settings=turned)) == ()
    done(house, but(SETTINGS, settings={"large_win": "1"}))  # all of them: the other one is gone
    assert house.settings == {"large_win": "1"}
    done(house, SETTINGS)
    assert house.settings == SETTINGS.settings
    assert house.settings is not SETTINGS.settings


@pytest.mark.parametrize(
    "settings",
    [
        None,
        [],
        "x",
        {"": "x"},
        {"x" * 65: "x"},
        {"a\nb": "x"},
        {1: "x"},
        {"x": "a\nb"},
        {"x": 1},
        {"x": None},
        {"x": "y" * (cage_values.MOST_SETTING + 1)},
    ],
)
def test_settings_that_are_none(settings: Any) -> None:
    assert refused(begun(), but(SETTINGS, settings=settings)).reason is Reason.BAD_VALUE


def test_as_many_and_as_long_settings_as_there_may_be() -> None:
    longest = {str(one): "y" * cage_values.MOST_SETTING for one in range(cage_values.MOST_SETTINGS)}
    done(begun(), TakeSettings(settings=longest | {"0": ""}, **BY_FLOOR))
    one_more = TakeSettings(settings=longest | {"x": ""}, **BY_FLOOR)
    assert refused(begun(), one_more).reason is Reason.TOO_MANY


# Plain notes


@pytest.mark.parametrize("command", NOTES, ids=name_of)
def test_a_note_changes_nothing_and_is_kept_each_time(command: HouseCommand) -> None:
    house = begun()
    for _ in range(2):
        [event] = done(house, command)
        told = {name: getattr(event, name) for name in command.__struct_fields__}
        assert told == {name: getattr(command, name) for name in command.__struct_fields__}
    before = begun()
    before.ledger.latest = []  # the entries of the last event, which has none
    assert house == before


TEXTS = [
    (command, field)
    for command in (*NOTES, FAILED, IN, REVOKE)
    for field in command.__struct_fields__
    if cage_values._KINDS.get(field) is cage_values._TEXT
]


@pytest.mark.parametrize(("command", "field"), TEXTS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_text_is_printable_and_has_an_end(command: HouseCommand, field: str) -> None:
    house = begun()
    bad: Any
    for bad in ("", "x" * (cage_values.MOST_TEXT + 1), "a\nb", "\ud800", "\x00", 5, None, [], {}, b"x"):
        assert refused(house, but(command, **{field: bad})).reason is Reason.BAD_VALUE
    done(house, but(command, **{field: "西" * cage_values.MOST_TEXT}))


def test_a_jump_of_the_clock_is_some_milliseconds() -> None:
    bad: Any
    for bad in (0, LATEST + 1, -LATEST - 1, 10**5_000, 1.0, True, None, "1", []):
        assert refused(begun(), NoteClock(jump=bad, **BY_FLOOR)).reason is Reason.BAD_VALUE


def test_the_longest_jumps_are_noted() -> None:
    done(begun(), *(NoteClock(jump=jump, **BY_FLOOR) for jump in (-LATEST, -1, 1, LATEST)))


def test_names_in_notes_are_names() -> None:
    override = NoteOverride(table="T7", person="ann", what="result", detail="x", **BY_FLOOR)
    alarm = NoteAlarm(table="T7", item="dice", serial="D-17", results=1, e_value="2", **BY_FLOOR)
    bad: Any
    for bad in ("", "x" * 65, "a\nb", 5, None, []):
        for command in (
            *(but(override, **{field: bad}) for field in ("table", "person")),
            *(but(alarm, **{field: bad}) for field in ("table", "item")),
            *(but(WIN, **{field: bad}) for field in ("table", "seat")),
            but(DISPLAY, table=bad),
        ):
            assert refused(begun(), command).reason is Reason.BAD_VALUE
    for bad in (0, -1, GREATEST_SUM + 1, 1.5, True, None, "1"):
        assert refused(begun(), but(alarm, results=bad)).reason is Reason.BAD_VALUE


# The place of the journal


def test_a_place_is_noted_when_it_is_another_one_and_after_every_restore() -> None:
    house = begun()
    [event] = done(house, PLACE)
    assert (event.clause, house.machine, house.file) == ("house:running", PLACE.machine, PLACE.file)
    assert done(house, PLACE) == ()
    [restored] = done(house, but(PLACE, restored=True))
    assert isinstance(restored, PlaceNoted)
    assert restored.restored
    [_, _] = done(house, but(PLACE, machine="f" * 16), but(PLACE, machine="f" * 16, file="0" * 16))
    assert (house.machine, house.file) == ("f" * 16, "0" * 16)


def test_a_place_is_two_digests_and_never_a_path() -> None:
    bad: Any
    for bad in ("", "/srv/journal.db", "F" * 16, "f" * 15, "f" * 17, 5, None, []):
        for field in ("machine", "file"):
            assert refused(begun(), but(PLACE, **{field: bad})).reason is Reason.BAD_VALUE
    for bad in (None, 1, "yes"):
        assert refused(begun(), but(PLACE, restored=bad)).reason is Reason.BAD_VALUE
    assert refused(begun(), but(PLACE, by="ann")).reason is Reason.NOT_PERMITTED


# Large wins


def noted_twice(house: House) -> list[NoteWin]:
    """Wins of which a start that notes the latest rounds again makes a second note."""
    wins = [but(WIN, round=number, seat=seat) for number in (1, 2, 3) for seat in ("1", "2")]
    done(house, *wins)
    return [win for win in wins if done(house, win)]


def test_a_large_win_is_noted_once() -> None:
    house = begun()
    before = balances(house)
    assert noted_twice(house) == []
    assert len(house.wins) == 6
    [event] = done(house, but(WIN, round=3, seat="2", amount=5))  # what a correction made of it
    assert (event.clause, house.wins["T7", 3, "2"]) == ("house:large-wins", 5)
    done(house, but(WIN, table="T8", round=3, seat="2"))
    assert balances(house) == before


def test_sabotage_wins_forgotten_at_once_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_WINS", 0)
    assert len(noted_twice(begun())) == 6


def test_only_the_latest_wins_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_WINS", 2)
    house = begun()
    done(house, *(but(WIN, round=number) for number in (1, 2, 3)))
    assert list(house.wins) == [("T7", 2, "5"), ("T7", 3, "5")]
    done(house, but(WIN, round=2, amount=7), but(WIN, round=4))
    assert list(house.wins) == [("T7", 2, "5"), ("T7", 4, "5")]  # what was told last is the latest


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"amount": 99, "threshold": 100}, Reason.BAD_VALUE),
        ({"amount": 100, "threshold": 100}, None),
        ({"threshold": 0}, Reason.BAD_VALUE),
        ({"threshold": GREATEST_SUM + 1, "amount": GREATEST_SUM}, Reason.BAD_VALUE),
        ({"round": 0}, Reason.BAD_VALUE),
        ({"round": cage_values.MOST_ROUND + 1}, Reason.BAD_VALUE),
        ({"round": True}, Reason.BAD_VALUE),
        ({"round": None}, Reason.BAD_VALUE),
        ({"round": cage_values.MOST_ROUND}, None),
    ],
)
def test_what_a_large_win_is(changes: dict[str, Any], reason: Reason | None) -> None:
    command = but(WIN, **changes)
    if reason is None:
        done(begun(), command)
    else:
        assert refused(begun(), command).reason is reason
