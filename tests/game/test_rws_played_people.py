"""People and equipment of Sic Bo ETG at Resorts World Sentosa, version 8, played clause by clause."""

from __future__ import annotations

import pytest

from taisai.game.commands import (
    Assign,
    DecideReferral,
    Perform,
    PlaceItem,
    RemoveItem,
    RepairItem,
    ReportIrregularity,
)
from taisai.game.events import ItemPlaced, PersonAssigned
from taisai.game.vocabulary import HOUSE, Treatment
from taisai.rules import Act, Rulebook, rulebook
from tests.game.playing import RWS, at, standing


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(RWS)


# People


def dealt_by(book: Rulebook, person: str, **settings: str) -> str:
    return standing(book, "closed", **settings).tried(Perform, person, act=Act.TUMBLE, tumbles=3)


def test_rws_1_5_a_position_is_filled_by_anyone_who_is_assigned_to_it_and_nobody_else(book: Rulebook) -> None:
    for person in ("pat", "mia", "sue"):
        assert dealt_by(book, person) == "not-permitted 3.6"
        assert dealt_by(book, person, higher_may_act="yes") == "done"
    assert dealt_by(book, "dan") == dealt_by(book, "dan", higher_may_act="yes") == "done"
    playing = at(book, "closed")
    (assigned,) = playing.do(Assign, "sue", person="ivy", rank="pit-supervisor", position="dealer")
    assert isinstance(assigned, PersonAssigned)
    assert (assigned.clause, assigned.relieved) == ("1.5", "dan")
    assert playing.act_refused("tumble") == "unknown-person house:people"
    assert playing.do(Perform, "ivy", act=Act.TUMBLE, tumbles=3)


def test_rws_1_5_supervisor_and_manager_are_signed_in_by_the_house_alone(book: Rulebook) -> None:
    for position in ("pit-supervisor", "pit-manager"):
        playing = at(book, "open")
        arrival = {"person": "ivy", "rank": position, "position": position}
        (assigned,) = playing.do(Assign, HOUSE, **arrival)
        assert assigned.clause == "1.5"
        for person in ("dan", "pat", "mia", "sue", "ivy"):
            assert playing.refused(Assign, person, **arrival) == "not-permitted house:people"


def test_rws_1_5_a_supervisor_or_manager_assigns_the_dealer(book: Rulebook) -> None:
    relief = {"person": "ivy", "rank": "dealer", "position": "dealer"}
    for person in ("pat", "mia", "sue"):
        assert standing(book, "open").tried(Assign, person, **relief) == "done"
    assert standing(book, "open").refused(Assign, "dan", **relief) == "not-permitted house:people"


def test_rws_1_5_no_pit_employee_decides_for_the_shift_manager(book: Rulebook) -> None:
    playing = at(book, "closed")
    playing.do(ReportIrregularity, "dan", **playing.reporting("other"))
    decision = {"referral": "r1", "treatment": Treatment.CONTINUE, "reason": "fair"}
    for person in ("dan", "pat", "mia"):
        assert playing.refused(DecideReferral, person, **decision) == "not-permitted 5.10"


def test_rws_5_10_the_shift_manager_is_signed_in_by_the_clause(book: Rulebook) -> None:
    arrival = {"person": "ivy", "rank": "shift-manager", "position": "shift-manager"}
    (assigned,) = at(book, "open").do(Assign, HOUSE, **arrival)
    assert assigned.clause == "5.10"


def test_rws_1_2_the_dealer_performs_every_act_but_the_close(book: Rulebook) -> None:
    steps = {"between": "open-bets", "closed": "tumble", "closed-tumbled": "uncover", "entered": "settle"}
    for phase, act in (steps | {"settled": "collect-and-pay", "paid": "conclude"}).items():
        playing = standing(book, phase)
        assert playing.tried(Perform, "dan", act=Act(act), tumbles=3) == "done"
        for person in ("clock", "pat", "chip-reader"):
            assert playing.refused(Perform, person, act=Act(act), tumbles=3).startswith("not-permitted")


# Equipment


def brought(book: Rulebook, item: str) -> str:
    """The clause by which an item comes to the table, after it was missing; nobody's charge in particular."""
    playing = at(book, "between")
    playing.do(RemoveItem, "dan", item=item)
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    (placed,) = playing.do(PlaceItem, "dan", item=item, serial="N-2")
    assert isinstance(placed, ItemPlaced)
    assert placed.custodian is None
    assert playing.act("open-bets")
    return placed.clause


def test_rws_3_6_a_round_takes_a_tumbler(book: Rulebook) -> None:
    assert brought(book, "tumbler") == "3.6"


def test_rws_2_2_1_a_round_takes_three_dice(book: Rulebook) -> None:
    assert brought(book, "dice") == "2.2.1"


def test_rws_1_3_a_round_takes_a_console(book: Rulebook) -> None:
    assert brought(book, "game-console") == "1.3"


def test_rws_1_7_a_round_takes_player_terminals(book: Rulebook) -> None:
    assert brought(book, "player-terminal") == "1.7"


def test_rws_2_1_1_a_round_takes_a_display(book: Rulebook) -> None:
    assert brought(book, "display") == "2.1.1"


def test_rws_3_6_no_round_opens_while_tumbler_dice_or_console_are_out_of_order(book: Rulebook) -> None:
    for item in ("tumbler", "dice", "game-console"):
        playing = at(book, "paid")
        playing.do(ReportIrregularity, "dan", **playing.reporting("equipment-failure", item=item))
        if item != "dice":  # dice that fail are damaged, and void the round (5.4)
            playing.act("conclude")
        assert playing.act_refused("open-bets") == "unmet-need house:equipment"
        if item == "dice":  # damaged dice are not repaired
            assert playing.refused(RepairItem, "pat", item=item) == "ruled-out house:equipment"
            playing.do(RemoveItem, "dan", item=item)
            playing.do(PlaceItem, "dan", item=item, serial="2")
        else:
            playing.do(RepairItem, "pat", item=item)
        assert playing.act("open-bets")
