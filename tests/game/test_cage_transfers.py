"""A transfer is finished when the House and the table booked it as opposites; else someone is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.cage import House, HouseTransferKind, MissingSide, how_to_finish, unfinished
from taisai.cage import transfers as cage_transfers
from tests.game.houses import BEGINNING, ONE_OF_EACH, begun, done

BOOKED_BY_TABLE = {"t1": -500, "t2": 300, "t3": -1_000, "t4": 400, "t5": 250, "t6": -70, "t7": 30}
"""What a table books for its side: dispensed and received as owed, sent and accepted as due."""

TABLE_TO_DO = {
    "t1": "a terminal of table 'T7' must record that it dispensed 500 in credits",
    "t2": "300 in credits, the value of ticket 'sold', must arrive at seat '5' of table 'T7' "
    "in its session 3",
    "t3": "table 'T7' must record the arrival of a fill of 1000",
    "t4": "table 'T7' must record that a credit of 400 left its tray",
    "t5": "table 'T7' must record that its drop box left with 250",
    "t6": "table 'T7' must record that the cage paid 70 on its claim 'c1'",
    "t7": "table 'T7' must record that the cage collected 30 on its claim 'c2'",
}


def played() -> House:
    """A House that did one of everything."""
    house = begun()
    done(house, *ONE_OF_EACH)
    return house


def without(name: str) -> dict[str, int]:
    return {one: booked for one, booked in BOOKED_BY_TABLE.items() if one != name}


def test_nothing_is_unfinished_when_both_sides_booked_everything() -> None:
    house = played()
    assert {transfer.kind for transfer in house.transfers.values()} == set(HouseTransferKind)
    assert unfinished(house, {"T7": BOOKED_BY_TABLE}) == []
    assert unfinished(House(), {}) == []


@pytest.mark.parametrize("name", BOOKED_BY_TABLE)
def test_what_only_the_house_booked_waits_for_the_table(name: str) -> None:
    [one] = unfinished(played(), {"T7": without(name)})
    assert (one.id, one.table, one.missing) == (name, "T7", MissingSide.TABLE)
    assert (one.booked_by_house, one.booked_by_table) == (-BOOKED_BY_TABLE[name], None)
    assert how_to_finish(one) == f"Transfer {name!r}: {TABLE_TO_DO[name]}."


def test_a_table_that_nobody_names_has_booked_nothing() -> None:
    assert [one.missing for one in unfinished(played(), {})] == [MissingSide.TABLE] * 7


TAKEN_IN = "and the cage must record the ticket, credit, drop or collected claim."
GIVEN_OUT = "and the cage must issue the ticket, or record the fill or the paid claim."


@pytest.mark.parametrize(
    ("booked", "told"),
    [
        (-500, f"500 as owed to the House, {GIVEN_OUT}"),
        (300, f"300 as due from the House, {TAKEN_IN}"),
        (0, f"nothing, {TAKEN_IN}"),
    ],
)
def test_what_only_the_table_booked_waits_for_the_house(booked: int, told: str) -> None:
    [one] = unfinished(begun(), {"T7": {"t1": booked}})
    assert (one.missing, one.booked_by_house, one.booked_by_table) == (MissingSide.HOUSE, None, booked)
    assert how_to_finish(one) == f"Transfer 't1': table 'T7' booked {told}"


@pytest.mark.parametrize(
    ("booked", "told"),
    [(500, "500 as due from the House"), (-499, "499 as owed to the House"), (0, "nothing")],
)
def test_what_they_booked_differently_needs_a_supervisor(booked: int, told: str) -> None:
    [one] = unfinished(played(), {"T7": BOOKED_BY_TABLE | {"t1": booked}})
    assert one.missing is MissingSide.AGREEMENT
    assert how_to_finish(one) == (
        f"Transfer 't1': the House booked 500 as due from the table and table 'T7' {told}, "
        "so a supervisor must find which of the two is wrong and record the difference."
    )


def test_one_id_from_two_tables_is_shown_for_both() -> None:
    listed = unfinished(played(), {"T7": without("t1"), "T8": {"t1": -500}})
    assert [(one.table, one.missing) for one in listed] == [
        ("T7", MissingSide.TABLE),
        ("T8", MissingSide.HOUSE),
    ]
    assert how_to_finish(listed[1]) == (
        "Transfer 't1': table 'T8' booked 500 as owed to the House, but the House knows the id from "
        "table 'T7', so a supervisor must find which table it belongs to."
    )


Tables = dict[str, dict[str, int]]
TABLES: st.SearchStrategy[Tables] = st.dictionaries(
    st.sampled_from(["T7", "T8"]),
    st.dictionaries(
        st.sampled_from([*BOOKED_BY_TABLE, "t8"]),
        st.sampled_from([*BOOKED_BY_TABLE.values(), 0, 1, -1]),
    ),
)


def misjudged(tables: Tables) -> list[str]:
    """What is listed though finished, or not listed though unfinished, or told in more than a sentence."""
    house = House()
    done(house, *BEGINNING, *ONE_OF_EACH)
    listed = {(one.table, one.id): how_to_finish(one) for one in cage_transfers.unfinished(house, tables)}
    known = {("T7", name) for name in BOOKED_BY_TABLE}
    known |= {(table, name) for table, booked in tables.items() for name in booked}
    at_one = {
        ("T7", name) for name, booked in BOOKED_BY_TABLE.items() if tables.get("T7", {}).get(name) == booked
    }
    wrong = [f"{pair}" for pair in listed.keys() ^ (known - at_one)]
    return wrong + [told for told in listed.values() if told.count(".") != 1 or not told.endswith(".")]


@given(TABLES)
def test_exactly_what_is_not_at_one_is_listed(tables: Tables) -> None:
    assert misjudged(tables) == []


def test_sabotage_a_transfer_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage_transfers, "unfinished", lambda house, tables: unfinished(house, tables)[1:])
    assert misjudged({"T7": without("t3")})


def test_sabotage_a_sign_turned_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = property(lambda transfer: -transfer.amount)
    monkeypatch.setattr("taisai.cage.house.HouseTransfer.signed", turned)
    assert misjudged({"T7": BOOKED_BY_TABLE})
