"""Readings: a device tells what it saw, when it may, and the Dealer enters the result whatever it told."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.game.commands import Perform, ReportIrregularity, TakeReading
from taisai.game.dice import readings
from taisai.game.dice.readings import MOST_READINGS, differs_from_reading, suggested
from taisai.game.events import ReadingTaken
from taisai.game.rounds.round import DeviceReading
from taisai.game.vocabulary import RECOGNISER, SHAKER, SYSTEM, DeviceFault
from taisai.rules import Act, Irregularity, Outcome, Phase, rulebook
from tests.game.past_rounds import SnapshotStore, unlike
from tests.game.playing import MBS, RWS, THREE_CARD, US, Playing, at, opened, phases, standing

BOOKS = (MBS, RWS, THREE_CARD, US)
each_book = pytest.mark.parametrize("book", BOOKS)


def reading(table: Playing, **fields: Any) -> dict[str, Any]:
    """The fields of a reading of the round in hand, or of the last."""
    return {"reading": "a", "round": table.number or 1, "device": "SHK-07", "faces": (2, 3, 5)} | fields


def fault(table: Playing, fault: DeviceFault, **fields: Any) -> dict[str, Any]:
    """The fields of a fault."""
    return reading(table, faces=(), fault=fault, **fields)


def latest(table: Playing) -> DeviceReading | None:
    """The latest reading of the present shake."""
    assert table.table.round is not None
    return table.table.round.reading


# When


SEEN = {
    MBS: "closed-tumbled deal-pressed revealed entered",
    RWS: "closed-tumbled revealed entered",
    THREE_CARD: "revealed entered",
    US: "closed-tumbled revealed entered",
}
"""The phases in which dice or cards lie there, bets are closed and nothing is settled."""


def taken_in(book: str, **fields: Any) -> str:
    """The phases in which a reading is taken."""
    rules = rulebook(book)
    tables = {phase: standing(rules, phase) for phase in phases(book)}
    return " ".join(
        phase
        for phase, table in tables.items()
        if table.tried(TakeReading, RECOGNISER, **reading(table, **fields)) == "done"
    )


@each_book
def test_faces_are_seen_after_the_close_and_the_tumble_until_the_settlement(book: str) -> None:
    assert taken_in(book) == SEEN[book]
    assert taken_in(book, faces=(), fault=DeviceFault.INVALID) == SEEN[book]


@each_book
@pytest.mark.parametrize("kind", [DeviceFault.NO_SHAKE, DeviceFault.DOWN])
def test_that_nothing_moves_or_works_is_shown_from_the_close_on(book: str, kind: DeviceFault) -> None:
    assert taken_in(book, faces=(), fault=kind) == f"closed {SEEN[book]}"


@each_book
def test_nothing_is_seen_before_the_close(book: str) -> None:
    for phase in phases(book):
        if Phase(phase).bets_open:
            table = standing(rulebook(book), phase)
            told = table.refused(TakeReading, RECOGNISER, **reading(table))
            assert told == "out-of-order house:readings"


@each_book
def test_sabotage_a_reading_at_any_time_is_noticed(book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "_not_now", lambda *_: None)
    with pytest.raises(AssertionError):
        test_nothing_is_seen_before_the_close(book)


def test_nothing_is_taken_while_the_round_waits() -> None:
    table = at(rulebook(MBS), "closed-tumbled")
    table.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE, second="sue")
    assert table.refused(TakeReading, RECOGNISER, **reading(table)) == "on-hold 5.13.1"


# Who and what


def test_only_devices_tell() -> None:
    table = standing(rulebook(RWS), "revealed")
    for by in ("dan", "sue", "nobody", *sorted(SYSTEM - {SHAKER, RECOGNISER})):
        told = table.refused(TakeReading, by, **reading(table))
        assert told == "not-permitted house:readings"
    told = table.refused(TakeReading, SHAKER, **reading(table))
    assert told == "ruled-out house:demonstration-shaker"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"round": 2}, "wrong-round house:readings"),
        ({"round": 0}, "wrong-round house:readings"),
        ({"shake": 2}, "wrong-round house:readings"),
        ({"faces": ()}, "bad-value house:readings"),
        ({"fault": DeviceFault.DOWN}, "bad-value house:readings"),
        ({"faces": (1, 2)}, "bad-value house:order"),
        ({"faces": (1, 2, 7)}, "bad-value house:order"),
        ({"reading": ""}, "bad-value house:most"),
        ({"reading": "x" * 65}, "bad-value house:most"),
        ({"device": "a\nb"}, "bad-value house:most"),
        ({"faces": (), "fault": DeviceFault.INVALID_AFTER_RESHAKE}, "ruled-out 5.3.2"),
    ],
)
def test_what_is_no_reading_is_refused(fields: dict[str, Any], told: str) -> None:
    table = standing(rulebook(RWS), "revealed")
    assert table.refused(TakeReading, RECOGNISER, **reading(table, **fields)) == told


def test_cards_that_the_decks_no_longer_hold_are_not_seen() -> None:
    table = at(rulebook(THREE_CARD), "revealed")
    table.table.shoe.seen[5] = table.table.shoe.expected()[5] - 2
    for faces, told in (((6, 6, 6), "bad-value 2.1"), ((6, 6, 1), "done")):
        assert table.tried(TakeReading, RECOGNISER, **reading(table, faces=faces)) == told


def test_a_retry_changes_nothing_and_other_content_is_refused() -> None:
    table = at(rulebook(RWS), "closed-tumbled")
    asked = reading(table)
    (event,) = table.do(TakeReading, RECOGNISER, **asked)
    assert isinstance(event, ReadingTaken)
    assert table.do(TakeReading, RECOGNISER, **asked) == ()
    for other in ({"faces": (2, 3, 6)}, {"device": "SHK-08"}, {"faces": (), "fault": DeviceFault.DOWN}):
        told = table.refused(TakeReading, RECOGNISER, **asked | other)
        assert told == "different-content house:readings"
    for act in ("uncover", "enter-result", "settle", "collect-and-pay", "conclude"):
        table.act(act)
        assert table.do(TakeReading, RECOGNISER, **asked) == ()
    told = table.refused(TakeReading, RECOGNISER, **asked | {"faces": (1, 1, 1)})
    assert told == "different-content house:readings"


def test_a_round_takes_so_many_readings_and_no_more() -> None:
    table = at(rulebook(RWS), "revealed")
    for number in range(MOST_READINGS):
        table.do(TakeReading, RECOGNISER, **reading(table, reading=f"n{number}"))
    told = table.refused(TakeReading, RECOGNISER, **reading(table, reading="one more"))
    assert told == "too-many house:most"


# What becomes of it


def test_nothing_follows_from_a_reading_until_the_dealer_enters_a_result() -> None:
    table = at(rulebook(RWS), "revealed")
    before = table.balance, table.table.phase
    table.do(TakeReading, RECOGNISER, **reading(table))
    assert table.table.round is not None
    assert table.table.round.result is None
    assert (table.balance, table.table.phase) == before
    assert table.table.round.reading is not None
    assert table.table.round.reading.faces == (2, 3, 5)


@pytest.mark.parametrize("faces", [(2, 3, 5), (5, 2, 3), (2, 3, 6), (2, 2, 5)])
def test_the_dealer_may_enter_something_else(faces: tuple[int, ...]) -> None:
    table = at(rulebook(RWS), "revealed")
    assert not differs_from_reading(table.table, faces)
    table.do(TakeReading, RECOGNISER, **reading(table))
    assert differs_from_reading(table.table, faces) is (Outcome.of(*faces) != Outcome.of(2, 3, 5))
    table.do(Perform, "dan", act=Act.ENTER_RESULT, faces=faces)
    assert table.table.round is not None
    assert table.table.round.result == Outcome.of(*faces)


def test_the_latest_reading_counts_and_a_fault_is_nothing_to_differ_from() -> None:
    table = at(rulebook(RWS), "revealed")
    table.do(TakeReading, RECOGNISER, **reading(table))
    table.do(TakeReading, RECOGNISER, **reading(table, reading="b", faces=(1, 1, 1)))
    assert differs_from_reading(table.table, (2, 3, 5))
    table.do(TakeReading, RECOGNISER, **fault(table, DeviceFault.DOWN, reading="c"))
    assert not differs_from_reading(table.table, (2, 3, 5))
    assert not differs_from_reading(opened(rulebook(RWS)).table, (2, 3, 5))


def test_a_second_device_does_not_hide_what_the_first_one_read() -> None:
    """Someone enrolled it, and it reads what the Dealer is going to key."""
    table = at(rulebook(RWS), "revealed")
    table.do(TakeReading, RECOGNISER, **reading(table))
    table.do(TakeReading, RECOGNISER, **{**reading(table, reading="b", faces=(6, 6, 6)), "device": "false"})
    assert differs_from_reading(table.table, (6, 6, 6))
    assert differs_from_reading(table.table, (2, 3, 5))


def test_a_shake_again_has_readings_of_its_own() -> None:
    table = at(rulebook(US), "revealed")
    table.do(TakeReading, RECOGNISER, **fault(table, DeviceFault.INVALID))
    told = table.refused(
        TakeReading, RECOGNISER, **fault(table, DeviceFault.INVALID_AFTER_RESHAKE, reading="b")
    )
    assert told == "bad-value 6(a)"
    table.act("enter-result", flat=False)
    assert table.table.phase is Phase.OPEN
    assert latest(table) is None
    for act in ("close-bets", "tumble", "uncover"):
        table.act(act)
    told = table.refused(TakeReading, RECOGNISER, **reading(table, reading="b"))
    assert told == "wrong-round house:readings"
    table.do(TakeReading, RECOGNISER, **fault(table, DeviceFault.INVALID_AFTER_RESHAKE, reading="b", shake=2))
    told_last = latest(table)
    assert told_last is not None
    assert told_last.fault is DeviceFault.INVALID_AFTER_RESHAKE
    again = SnapshotStore().again(table.table)
    assert unlike(table.table, again) == []


def test_only_where_dice_are_shaken_again_is_a_second_fault_recorded() -> None:
    """US 6(a) alone has the dice shaken again, and not where the table was set to void."""
    table = at(rulebook(US), "revealed", no_roll="void")
    told = table.refused(TakeReading, RECOGNISER, **fault(table, DeviceFault.INVALID_AFTER_RESHAKE))
    assert told == "ruled-out 6(a)"
    clauses = {MBS: "5.3", RWS: "5.3.2", THREE_CARD: "house:outside-the-rules"}
    for book, clause in clauses.items():
        table = standing(rulebook(book), "revealed")
        told = table.refused(TakeReading, RECOGNISER, **fault(table, DeviceFault.INVALID_AFTER_RESHAKE))
        assert told == f"ruled-out {clause}"


# What a fault suggests, and what the rules then order


@pytest.mark.parametrize(
    ("book", "settings", "kind", "event", "comes_to"),
    [
        (MBS, {}, DeviceFault.NO_SHAKE, "too-few-tumbles", "void 5.1"),
        (MBS, {}, DeviceFault.INVALID, "die-not-flat", "void 5.3"),
        (MBS, {}, DeviceFault.DOWN, "equipment-failure", "settle-by-outcome 5.8"),
        (RWS, {}, DeviceFault.NO_SHAKE, "too-few-tumbles", "void 5.3.1"),
        (RWS, {}, DeviceFault.INVALID, "die-not-flat", "void 5.3.2"),
        (RWS, {}, DeviceFault.DOWN, "equipment-failure", "continue 5.1.1"),
        (THREE_CARD, {}, DeviceFault.NO_SHAKE, "too-few-tumbles", "refer house:outside-the-rules"),
        (THREE_CARD, {}, DeviceFault.INVALID, "die-not-flat", "refer house:outside-the-rules"),
        (THREE_CARD, {}, DeviceFault.DOWN, "equipment-failure", "refer house:outside-the-rules"),
        (US, {}, DeviceFault.NO_SHAKE, "too-few-tumbles", "refer house:outside-the-rules"),
        (US, {}, DeviceFault.INVALID, "die-not-flat", "no-roll 6(a)"),
        (US, {}, DeviceFault.INVALID_AFTER_RESHAKE, "other", "refer house:outside-the-rules"),
        (US, {}, DeviceFault.DOWN, "equipment-failure", "settle-then-shut 6(b)"),
        (US, {"shaker": "automated"}, DeviceFault.NO_SHAKE, "automated-shaker-failure", "void 6(c)"),
        (US, {"no_roll": "void"}, DeviceFault.INVALID, "die-not-flat", "void 6(a)"),
    ],
)
def test_a_fault_suggests_what_to_report(
    book: str, settings: dict[str, str], kind: DeviceFault, event: str, comes_to: str
) -> None:
    table = standing(rulebook(book), "revealed", **settings).table
    assert suggested(table, kind) == event
    ruled = table.irregularities.ruling_for(suggested(table, kind), table.phase, table.settings)
    assert f"{ruled.ruling} {ruled.clause}" == comes_to


@each_book
def test_every_fault_suggests_something_everywhere(book: str) -> None:
    for phase in phases(book):
        table = standing(rulebook(book), phase).table
        for kind in DeviceFault:
            assert (suggested(table, kind), table.phase) in table.irregularities.cells
