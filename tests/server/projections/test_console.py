"""A table as its staff see it."""

from __future__ import annotations

import msgspec

from taisai.game import exposures
from taisai.game.commands import CallAttendant, RemoveItem, TakeReading, TakeSeat
from taisai.game.equipment.items import HOUR
from taisai.game.events import BetMoved, BetRegistered, BetTakenBack
from taisai.game.vocabulary import RECOGNISER, DeviceFault, Subject
from taisai.protocol.views import AnyView, ConsoleView, changed, difference
from taisai.rules import OUTCOMES, rulebook
from taisai.server.projections.console import MOST_SEATS, after_bets, console_view
from tests.game.playing import RWS, SEAT, THREE_CARD, US, at, opened
from tests.server.projections.played_tables import every_state

ONLY_BETS = {BetRegistered, BetTakenBack, BetMoved}
"""Events that change only bets, and no offer while no referral or claim is open."""


def test_every_console_can_be_read_back_and_reached_by_its_changes() -> None:
    before: dict[str, object] = {}
    for state in every_state(50):
        view = console_view(state.table, now=state.now)
        assert msgspec.json.decode(msgspec.json.encode(view), type=AnyView) == view
        was = before.get(state.setup.name)
        if was is not None:
            changes = difference(was, view)  # type: ignore[arg-type]
            assert (changed(was, changes) if changes else was) == view  # type: ignore[arg-type]
        before[state.setup.name] = view


def test_after_bets_alone_the_quick_way_makes_the_same_console() -> None:
    before, quick = dict[str, ConsoleView](), 0
    for state in every_state(80):
        view = console_view(state.table)
        was = before.get(state.setup.name)
        if was is not None and all(type(event) in ONLY_BETS for event in state.latest):
            again = after_bets(was, state.table)
            if again is not None:
                quick += 1
                assert again == view, state
            else:
                old = state.table.equipment.outlived(state.table.latest, state.table.settings)
                assert was.referrals or was.claims or old
        before[state.setup.name] = view
    assert quick > 30


def test_the_risk_is_what_the_house_would_lose_on_each_outcome() -> None:
    playing = at(rulebook(RWS), "open")
    risk = console_view(playing.table).risk
    assert risk is not None
    assert risk.exposures == tuple(exposures(playing.table))
    assert (risk.staked, risk.bets) == (1_400, 2)
    # 1000 lies on small and 400 on big: small costs 600, big brings 600, a triple brings both.
    assert (risk.worst.loses, risk.best.loses) == (600, -1_400)
    assert risk.best.faces == (1, 1, 1)
    assert len(risk.exposures) == len(OUTCOMES)
    assert console_view(opened(rulebook(RWS)).table).risk is None


def test_equipment_tells_what_is_due_and_until_when_dice_may_lie() -> None:
    playing = opened(rulebook(US), shaker="automated")
    items = {one.item: one for one in console_view(playing.table).equipment}
    placed = playing.table.equipment.placed["dice"]
    assert items["dice"].until == placed.since + 24 * HOUR
    assert items["dice"].custodian == "dan"
    assert items["automated-shaker"].due == ()
    assert items["manual-shaker"].placed is False
    playing.do(RemoveItem, "dan", item="dice")
    assert {one.item: one for one in console_view(playing.table).equipment}["dice"].placed is False


def test_the_shoe_is_shown_where_there_are_cards() -> None:
    shoe = console_view(at(rulebook(THREE_CARD), "entered").table).shoe
    assert shoe is not None
    assert (shoe.decks, shoe.cards, shoe.left, shoe.seen) == (4, 192, 189, (1, 1, 1, 0, 0, 0))
    assert console_view(opened(rulebook(RWS)).table).shoe is None


def test_seats_are_all_counted_and_so_many_shown() -> None:
    playing = opened(rulebook(RWS))
    for number in range(MOST_SEATS):
        name = f"T1{number:03}"
        playing.do(TakeSeat, name, seat=f"s{number}", terminal=name)
    seats = console_view(playing.table).seats
    assert (seats.taken, len(seats.shown)) == (MOST_SEATS + 1, MOST_SEATS)


def test_a_call_waits_with_the_clause_that_sends_it() -> None:
    playing = opened(rulebook(RWS))
    playing.do(CallAttendant, "T07", seat=SEAT, subject=Subject.CALL)
    (line,) = console_view(playing.table).referrals
    assert (line.subject, line.clause, line.to, line.holds, line.seat) == (
        "call", "house:player-call", "pit-supervisor", False, SEAT,
    )  # fmt: skip


def test_a_fault_of_a_device_suggests_what_to_report() -> None:
    playing = at(rulebook(RWS), "revealed")
    playing.do(TakeReading, RECOGNISER, reading="r1", round=1, device="S1", fault=DeviceFault.INVALID)
    reading = console_view(playing.table).reading
    assert reading is not None
    assert reading.suggested is not None
    assert (reading.suggested.id, reading.suggested.ruling, reading.suggested.clause) == (
        "die-not-flat", "void", "5.3.2",
    )  # fmt: skip
    playing.do(TakeReading, RECOGNISER, reading="r2", round=1, device="S1", faces=(3, 1, 2))
    again = console_view(playing.table).reading
    assert again is not None
    assert (again.faces, again.fault, again.suggested) == ((1, 2, 3), None, None)


def test_while_a_referral_is_open_there_is_no_quick_way() -> None:
    playing = opened(rulebook(RWS))
    assert after_bets(console_view(playing.table), playing.table) is not None
    playing.do(CallAttendant, "T07", seat=SEAT, subject=Subject.CALL)
    assert after_bets(console_view(playing.table), playing.table) is None
