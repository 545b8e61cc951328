"""Favourites: kept by a terminal under names, within bounds, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.game.commands import LeaveSeat
from taisai.journal.stores.contract import MOST_SECRET
from taisai.protocol.replies import Favourite
from taisai.protocol.requests import FavouritesRequest, KeepFavouriteRequest, PlacedStake, TicketOutRequest
from taisai.rules import rulebook
from taisai.server.auth.permissions import Principal
from taisai.server.handlers import favourites as asks
from taisai.server.handlers import tickets
from tests.server.inline import BOOK, InlineFloor, a_floor, sit, terminal, told

MINE = (PlacedStake("small", 100), PlacedStake("total-9", 2_000))


def keep(
    floor: InlineFloor, name: str, bets: tuple[PlacedStake, ...] = MINE, party: Principal | None = None
) -> Any:
    party = party or terminal()
    asked = KeepFavouriteRequest(
        id="k", table=party.table or "T1", seat=party.seat or "7", name=name, bets=bets
    )
    return told(asks.keep_favourite(floor, party, asked))


def kept(floor: InlineFloor, party: Principal | None = None) -> tuple[Favourite, ...]:
    party = party or terminal()
    asked = FavouritesRequest(id="f", table=party.table or "T1", seat=party.seat or "7")
    found: tuple[Favourite, ...] = told(asks.favourites(floor, party, asked)).favourites
    return found


def test_favourites_are_kept_replaced_and_forgotten() -> None:
    floor = a_floor()
    assert kept(floor) == ()
    assert keep(floor, "mine").again is False
    assert keep(floor, "mine").again is True
    keep(floor, "other", MINE[:1])
    floor.restart()
    assert kept(floor) == (Favourite(name="mine", bets=MINE), Favourite(name="other", bets=MINE[:1]))
    keep(floor, "mine", MINE[1:])
    assert [len(one.bets) for one in kept(floor)] == [1, 1]
    assert keep(floor, "mine", ()).again is False
    assert keep(floor, "mine", ()).again is True
    assert [one.name for one in kept(floor)] == ["other"]
    keep(floor, "other", ())
    assert floor.store.secrets("favourites/") == []


def test_favourites_are_those_of_one_terminal() -> None:
    floor = a_floor()
    keep(floor, "mine")
    assert kept(floor, terminal("8")) == ()
    assert floor.store.secrets("favourites/") == ["favourites/T1/D7"]


def test_favourites_are_not_shown_to_the_next_player() -> None:
    floor = a_floor()
    keep(floor, "mine")
    took = told(tickets.ticket_out(floor, terminal(), TicketOutRequest(id="o", table="T1", seat="7")))
    assert took.amount
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    assert kept(floor) == ()
    sit(floor, "7", 0)
    assert kept(floor) == ()
    keep(floor, "other")
    assert [one.name for one in kept(floor)] == ["other"]


def test_names_with_slashes_are_told_apart() -> None:
    made = {asks._vault_name(*one) for one in (("a/b", "c"), ("a", "b/c"), ("a~1b", "c"), ("a~", "1/c"))}
    assert len(made) == 4


def test_one_favourite_too_many_is_refused_and_a_known_one_replaced() -> None:
    floor = a_floor()
    for number in range(asks.MOST_FAVOURITES):
        assert keep(floor, f"f{number}").again is False
    refused = keep(floor, "one more")
    assert (refused.reason, refused.clause) == ("too-many", "house:most")
    assert keep(floor, "f3", MINE[:1]).again is False
    assert len(kept(floor)) == asks.MOST_FAVOURITES


def test_one_bet_too_many_is_refused() -> None:
    floor = a_floor()
    assert keep(floor, "most", MINE[:1] * asks.MOST_BETS).again is False
    assert keep(floor, "more", MINE[:1] * (asks.MOST_BETS + 1)).reason == "too-many"


@pytest.mark.parametrize(("name", "good"), [("x" * 64, True), ("x" * 65, False), ("", False), (" x", False)])
def test_a_name_has_1_to_64_characters(name: str, good: bool) -> None:  # noqa: FBT001
    told_ = keep(a_floor(), name)
    assert (getattr(told_, "reason", None) is None) is good


def test_an_area_of_no_layout_and_a_table_that_is_not_are_refused() -> None:
    floor = a_floor()
    assert keep(floor, "x", (PlacedStake("double-single-112", 100),)).reason == "not-on-layout"
    assert keep(floor, "x", party=terminal("7", "T9")).reason == "table-not-open"
    assert floor.store.secrets("favourites/") == []


def test_the_greatest_that_may_be_kept_is_kept() -> None:
    floor = a_floor()
    areas = rulebook(BOOK).matrix("B").areas
    longest = max(map(str, areas), key=len)
    for number in range(asks.MOST_FAVOURITES):
        name = f"{number:02}" + "\N{CJK UNIFIED IDEOGRAPH-20000}" * 62
        assert keep(floor, name, (PlacedStake(longest, 2**53 - 1),) * asks.MOST_BETS).again is False
    [body] = (floor.store.secret(name) for name in floor.store.secrets("favourites/"))
    assert body is not None
    assert len(body) <= MOST_SECRET
