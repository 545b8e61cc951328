"""The lobby, the pit, the cage, and what is in transit between tables and House."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.cage import House, decide_house, evolve_house, unfinished
from taisai.cage.messages import HouseCommand
from taisai.game import Account, Refusal, Table, decide, evolve
from taisai.game.commands import Command, ReportIrregularity
from taisai.protocol.views import LargeWin
from taisai.rules import Irregularity, rulebook
from taisai.server.projections.history import History
from taisai.server.projections.house_views import (
    TransferTracker,
    books_view,
    cage_view,
    lobby_view,
    pit_view,
)
from tests.game.playing import MBS, RWS, US, at, opened
from tests.journal.evening import BOOK, NAME, evening
from tests.server.projections.played_tables import every_state


def servers(seed: int = 1) -> Iterator[tuple[House, Table]]:
    """The House and its table after every command of an evening."""
    house, table = House(), Table(rulebook(BOOK))
    for batch in evening(seed):
        for _stream, command in batch:
            if isinstance(command, HouseCommand):
                moved = decide_house(house, command)
                for one in () if isinstance(moved, Refusal) else moved:
                    evolve_house(house, one)
            else:
                assert isinstance(command, Command)
                played = decide(table, command)
                for event in () if isinstance(played, Refusal) else played:
                    evolve(table, event)
            yield house, table


def test_transit_followed_is_what_is_unfinished_at_every_moment() -> None:
    transit, seen = TransferTracker(), set[str]()
    for house, table in servers():
        transit.catch_up(house, {NAME: table})
        expected = {(one.table, one.id) for one in unfinished(house, {NAME: table.in_transit()})}
        flights = transit.in_transit()
        assert {(one.table, one.id) for one in flights} == expected
        assert transit.in_transit(NAME) == flights
        assert transit.in_transit("another") == ()
        seen |= {f"{one.id} booked by {one.booked_by}" for one in flights}
    assert seen == {"in-1 booked by house", "out-1 booked by table"}


def test_the_cage_shows_its_cash_what_tickets_are_worth_and_what_is_on_its_way() -> None:
    transit = TransferTracker()
    for house, table in servers(2):
        view = cage_view(house, {NAME: table}, transit)
        assert view == cage_view(house, {NAME: table})
        assert view.outstanding == house.outstanding
        assert view.cash == house.ledger.balances[Account.CAGE]


def test_the_books_balance_at_every_moment_of_an_evening() -> None:
    for house, table in servers(3):
        view = books_view(house, {NAME: table})
        assert (view.sum, view.off, view.balanced) == (0, (), True)
        assert view.books[1].accounts == {
            str(account): balance for account, balance in table.ledger.balances.items() if balance
        }


def test_the_books_of_every_kind_of_table_balance() -> None:
    for state in every_state(60):
        view = books_view(House(), {"T1": state.table})
        assert (view.sum, view.balanced, view.off) == (0, True, ()), state


@pytest.mark.parametrize(
    ("account", "says"),
    [
        (Account.CREDITS, "the account credits of SB1"),
        (Account.CLAIMS_OF_PLAYERS, "the account claims-of-players of SB1"),
    ],
)
def test_sabotage_books_that_are_off_by_one_say_where(account: Account, says: str) -> None:
    house, table = list(servers())[-1]
    table.ledger.balances[account] += 1
    view = books_view(house, {NAME: table})
    assert not view.balanced
    assert view.sum == -1
    assert any(says in one for one in view.off)
    assert any("sum to zero" in one for one in view.off)


def test_sabotage_a_transfer_that_both_booked_differently_is_off() -> None:
    house, table = list(servers())[-1]
    kept = table.transfers["in-1"]
    table.transfers["in-1"] = kept._replace(amount=kept.amount + 5)
    view = books_view(house, {NAME: table})
    assert not view.balanced
    assert any("'in-1'" in one for one in view.off)
    assert [(one.id, one.booked_by) for one in view.in_transit] == [("in-1", "both")]


def test_the_lobby_shows_the_tables_that_are_open_and_their_last_result() -> None:
    tables = {"A": at(rulebook(RWS), "between").table, "B": opened(rulebook(US)).table}
    lobby = lobby_view({name: (table, History.of(table)) for name, table in tables.items()})
    first, second = lobby.tables
    assert first.last is not None
    assert (first.last.faces, first.number, first.phase, first.least, first.most) == (
        (1, 2, 3), 1, "between", 100, 50_000,
    )  # fmt: skip
    assert (second.last, second.number, second.rulebook) == (None, 0, "us-sic-bo")
    tables["B"].open = False
    assert len(lobby_view({name: (table, History()) for name, table in tables.items()}).tables) == 1


def test_the_pit_sees_what_waits_by_which_clause_and_who_won_much() -> None:
    playing = at(rulebook(MBS), "revealed")
    playing.do(ReportIrregularity, "dan", event=Irregularity.CHIPS_UNCLEAR)
    house = House()
    house.wins = {("T1", 1, "7"): 500, ("T1", 2, "7"): 900}
    house.locked = {"zoe", "amy"}
    view = pit_view(house, {"T1": playing.table})
    (table,) = view.tables
    assert (table.hold, table.clause, table.dealer, table.staked, table.worst) == (
        "referral", "3.12", "dan", 1_400, 600,
    )  # fmt: skip
    assert [(one.subject, one.to, one.holds) for one in table.referrals] == [
        ("chips-unclear", "pit-supervisor", True)
    ]
    assert view.wins == (
        LargeWin(table="T1", round=2, seat="7", won=900),
        LargeWin(table="T1", round=1, seat="7", won=500),
    )
    assert view.locked == ("amy", "zoe")
