"""Kill -9 in the middle of a round with two hundred terminals: all come back, and the rulebook rules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import uvloop
from msgspec.structs import replace

from taisai.protocol.views import SeatView, TableView
from tests.server.races.journal_totals import Reckoning
from tests.server.races.players import PATIENCE, STAKE, Player, gone, seated, wrongs
from tests.server.races.race_house import CARDS, CREDITS, MBS, RWS, US, furnish
from tests.server.races.server_process import Order, Wish
from tests.server.races.server_processes import Server, Servers

TERMINALS = 200
FEW = 20  # terminals, where others have shown that many come back


class Case(NamedTuple):
    """Where a round is cut off, what everyone is shown then, and how it goes on."""

    book: str
    phase: str
    """When the server is killed."""
    shows: Callable[[TableView], bool]
    has: Callable[[SeatView], bool]
    ends: Callable[[Server, Sequence[Player]], Awaitable[None]]
    """To the round's end, as the rulebook orders."""
    many: int = TERMINALS

    def __str__(self) -> str:
        return f"{self.book} {self.phase}"


def _holds(hold: str | None, phase: str) -> Callable[[TableView], bool]:
    return lambda table: (table.stoppage.hold, table.round.phase, table.round.number) == (hold, phase, 1)


def _at_risk(seat: SeatView) -> bool:
    """Whatever was registered still stands, and nothing else."""
    staked = sum(slip.stake for slip in seat.bets)
    return seat.at_risk == staked >= STAKE and seat.credits == CREDITS - staked


def _has_option(seat: SeatView) -> bool:
    return _at_risk(seat) and seat.withdrawal and seat.withdrew is None


def _all_back(seat: SeatView) -> bool:
    return seat.at_risk == 0 and seat.credits == CREDITS and seat.last is not None and seat.last.void


async def _goes_on(server: Server, players: Sequence[Player]) -> None:
    """Continue and conclude."""
    await server.until("between")
    await _each(
        players,
        lambda table: table.dice.faces is not None,
        lambda seat: seat.last is not None and not seat.last.void,
    )


async def _is_void(_server: Server, players: Sequence[Player]) -> None:
    """It is over already, and the next bet is too late for it."""
    await players[0].bet("small", round_=1)
    refused = list(players[0].refused.values())[-1]
    assert (refused.reason, refused.clause) == ("out-of-order", "3.2"), refused


async def _withdraws(server: Server, players: Sequence[Player]) -> None:
    """Every other player takes all his bets back, the Dealer closes the option, and the round resumes."""
    await asyncio.gather(
        *(one.terminal.choose_withdrawal(withdraw=number % 2 == 0) for number, one in enumerate(players))
    )
    told = await server.wish(Wish(by="dan", do={"command": "close-withdrawal"}))
    assert not told.refused, told.refused
    await _each(
        players[::2],
        lambda table: table.stoppage.hold is None,
        lambda seat: (seat.at_risk, seat.credits) == (0, CREDITS),
    )
    await _each(players[1::2], lambda table: table.round.bets_open, _at_risk)
    await server.until("between")


async def _is_referred(server: Server, players: Sequence[Player]) -> None:
    """Nothing goes on, no bet comes in, until someone of rank decides: here, that the round is void."""
    await players[0].bet("small")
    assert [error.reason for error in players[0].refused.values()][-1:] == ["on-hold"]
    await server.until("between")


async def _is_seen(server: Server, players: Sequence[Player]) -> None:
    """Dealer and supervisor declare that a die was seen: the round continues."""
    told = await server.wish(Wish(by="dan", second="pat", do={"command": "declare", "declared": "seen"}))
    assert (told.refused, told.phase) == ("", "closed-tumbled")
    await _goes_on(server, players)


async def _is_settled_and_shut(server: Server, players: Sequence[Player]) -> None:
    """Settled in a supervisor's presence; then the table is shut until it is repaired."""
    await _goes_on(server, players)
    await _each(players, lambda table: table.stoppage.shut is not None, lambda seat: seat.at_risk == 0)


async def _is_declared(server: Server, players: Sequence[Player]) -> None:
    """Dealer and supervisor declare that no die was seen."""
    told = await server.wish(Wish(by="dan", second="pat", do={"command": "declare", "declared": "unseen"}))
    assert (told.refused, told.phase) == ("", "between")
    await _each(players, lambda table: table.stoppage.hold is None, _all_back)


def _after(
    declared: str,
    has: Callable[[SeatView], bool],
    ends: Callable[[Server, Sequence[Player]], Awaitable[None]],
) -> Callable[[Server, Sequence[Player]], Awaitable[None]]:
    """At a live table Dealer and supervisor declare first that nothing happened unrecorded."""

    async def declares(server: Server, players: Sequence[Player]) -> None:
        second = "cal" if server.order.book == US else "pat"
        told = await server.wish(
            Wish(by="dan", second=second, do={"command": "declare", "declared": declared})
        )
        assert not told.refused, told.refused
        await _each(players, lambda table: table.stoppage.hold != "declaration", has)
        await ends(server, players)

    return declares


async def _each(
    players: Sequence[Player], table: Callable[[TableView], bool], seat: Callable[[SeatView], bool]
) -> None:
    await asyncio.gather(*(one.sees(table, seat) for one in players))


CASES = (
    Case(MBS, "open", _holds("declaration", "open"), _at_risk, _after("unseen", _has_option, _withdraws)),
    Case(RWS, "open", _holds(None, "between"), _all_back, _is_void),
    Case(CARDS, "open", _holds("declaration", "open"), _at_risk, _after("unseen", _at_risk, _is_referred)),
    Case(US, "open", _holds("declaration", "open"), _at_risk, _after("unseen", _at_risk, _is_referred)),
    Case(RWS, "closed-tumbled", _holds("declaration", "closed-tumbled"), _at_risk, _is_declared),
    Case(RWS, "revealed", _holds(None, "revealed"), _at_risk, _goes_on),
    Case(
        MBS, "revealed", _holds("declaration", "revealed"), _at_risk, _after("seen", _at_risk, _goes_on), FEW
    ),
    Case(MBS, "closed-tumbled", _holds("declaration", "closed-tumbled"), _at_risk, _is_seen, FEW),
    Case(
        CARDS,
        "revealed",
        _holds("declaration", "revealed"),
        _at_risk,
        _after("seen", _at_risk, _is_referred),
        FEW,
    ),
    Case(
        US,
        "revealed",
        _holds("declaration", "revealed"),
        _at_risk,
        _after("seen", _at_risk, _is_settled_and_shut),
        FEW,
    ),
)


async def _killed(processes: Servers, folder: Path, case: Case, sabotage: str | None = None) -> list[str]:
    """Everything that is wrong after a kill."""
    many = case.many
    furnish(folder, case.book, many)
    order = Order(folder=str(folder), book=case.book, sabotage=sabotage)
    server = await processes.open(order)
    players = await seated(server, many, PATIENCE if sabotage is None else 1.0)
    await server.until("open")
    await asyncio.gather(*(one.terminal.bets_open() for one in players))
    await asyncio.gather(*(one.bet("small") for one in players))
    assert all(one.registered for one in players), players[0].refused
    if case.phase != "open":
        await server.until(case.phase)
    under_way = [asyncio.ensure_future(one.bet("big")) for one in players]
    await players[-1].bet("total-9")  # some of the others' are answered by now, and some are not
    before = players[0].epoch
    server.kill()
    server = await processes.open(replace(order, port=server.port))
    found = []
    try:
        await asyncio.gather(*(one.back(before) for one in players))
        await _each(players, case.shows, case.has)
        await asyncio.gather(*under_way)
        await case.ends(server, players)
    except Exception as error:  # noqa: BLE001  whatever it is, it is wrong
        where = players[0].terminal.table.round
        found.append(f"expected {case} to go on as its rulebook orders, got {error!r}: {where}")
    await asyncio.gather(*under_way)
    found += [
        f"expected seat {one.seat} to come back once, got {one.connections} connections"
        for one in players
        if one.connections != 2
    ]
    await gone(players)
    await server.stop()
    journal = Reckoning(folder)
    return [*found, *wrongs(players, journal), *journal.kept()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_after_a_kill_all_come_back_and_the_rulebook_rules(
    processes: Servers, tmp_path: Path, case: Case
) -> None:
    assert uvloop.run(_killed(processes, tmp_path, case)) == []


@pytest.mark.parametrize(
    ("sabotage", "says"),
    [
        ("careless", "expected rws-sic-bo-etg-v8 open to go on as its rulebook orders"),
        ("early", "expected every registered bet in the journal"),
    ],
)
def test_sabotage_a_server_that_a_kill_undoes_is_found(
    processes: Servers, tmp_path: Path, sabotage: str, says: str
) -> None:
    case = next(one for one in CASES if (one.book, one.phase) == (RWS, "open"))
    found = uvloop.run(_killed(processes, tmp_path, case._replace(many=FEW), sabotage))
    assert any(says in one for one in found), found
