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
from taisai.server.handlers import bet_shortcuts as asks
from taisai.server.handlers import tickets
from tests.server.inline_server import BOOK, InlineServer, inline_server, sit, terminal, told

MINE = (PlacedStake("small", 100), PlacedStake("total-9", 2_000))


def keep(
    server: InlineServer, name: str, bets: tuple[PlacedStake, ...] = MINE, party: Principal | None = None
) -> Any:
    party = party or terminal()
    asked = KeepFavouriteRequest(
        id="k", table=party.table or "T1", seat=party.seat or "7", name=name, bets=bets
    )
    return told(asks.keep_favourite(server, party, asked))


def kept(server: InlineServer, party: Principal | None = None) -> tuple[Favourite, ...]:
    party = party or terminal()
    asked = FavouritesRequest(id="f", table=party.table or "T1", seat=party.seat or "7")
    found: tuple[Favourite, ...] = told(asks.favourites(server, party, asked)).favourites
    return found


def test_favourites_are_kept_replaced_and_forgotten() -> None:
    server = inline_server()
    assert kept(server) == ()
    assert keep(server, "mine").again is False
    assert keep(server, "mine").again is True
    keep(server, "other", MINE[:1])
    server.restart()
    assert kept(server) == (Favourite(name="mine", bets=MINE), Favourite(name="other", bets=MINE[:1]))
    keep(server, "mine", MINE[1:])
    assert [len(one.bets) for one in kept(server)] == [1, 1]
    assert keep(server, "mine", ()).again is False
    assert keep(server, "mine", ()).again is True
    assert [one.name for one in kept(server)] == ["other"]
    keep(server, "other", ())
    assert server.store.secrets("favourites/") == []


def test_favourites_are_those_of_one_terminal() -> None:
    server = inline_server()
    keep(server, "mine")
    assert kept(server, terminal("8")) == ()
    assert server.store.secrets("favourites/") == ["favourites/T1/D7"]


def test_favourites_are_not_shown_to_the_next_player() -> None:
    server = inline_server()
    keep(server, "mine")
    took = told(tickets.ticket_out(server, terminal(), TicketOutRequest(id="o", table="T1", seat="7")))
    assert took.amount
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    assert kept(server) == ()
    sit(server, "7", 0)
    assert kept(server) == ()
    keep(server, "other")
    assert [one.name for one in kept(server)] == ["other"]


def test_names_with_slashes_are_told_apart() -> None:
    made = {asks._vault_name(*one) for one in (("a/b", "c"), ("a", "b/c"), ("a~1b", "c"), ("a~", "1/c"))}
    assert len(made) == 4


def test_one_favourite_too_many_is_refused_and_a_known_one_replaced() -> None:
    server = inline_server()
    for number in range(asks.MOST_FAVOURITES):
        assert keep(server, f"f{number}").again is False
    refused = keep(server, "one more")
    assert (refused.reason, refused.clause) == ("too-many", "house:most")
    assert keep(server, "f3", MINE[:1]).again is False
    assert len(kept(server)) == asks.MOST_FAVOURITES


def test_one_bet_too_many_is_refused() -> None:
    server = inline_server()
    assert keep(server, "most", MINE[:1] * asks.MOST_BETS).again is False
    assert keep(server, "more", MINE[:1] * (asks.MOST_BETS + 1)).reason == "too-many"


@pytest.mark.parametrize(("name", "good"), [("x" * 64, True), ("x" * 65, False), ("", False), (" x", False)])
def test_a_name_has_1_to_64_characters(name: str, good: bool) -> None:  # noqa: FBT001
    told_ = keep(inline_server(), name)
    assert (getattr(told_, "reason", None) is None) is good


def test_an_area_of_no_layout_and_a_table_that_is_not_are_refused() -> None:
    server = inline_server()
    assert keep(server, "x", (PlacedStake("double-single-112", 100),)).reason == "not-on-layout"
    assert keep(server, "x", party=terminal("7", "T9")).reason == "table-not-open"
    assert server.store.secrets("favourites/") == []


def test_the_greatest_that_may_be_kept_is_kept() -> None:
    server = inline_server()
    areas = rulebook(BOOK).matrix("B").areas
    longest = max(map(str, areas), key=len)
    for number in range(asks.MOST_FAVOURITES):
        name = f"{number:02}" + "\N{CJK UNIFIED IDEOGRAPH-20000}" * 62
        assert keep(server, name, (PlacedStake(longest, 2**53 - 1),) * asks.MOST_BETS).again is False
    [body] = (server.store.secret(name) for name in server.store.secrets("favourites/"))
    assert body is not None
    assert len(body) <= MOST_SECRET
