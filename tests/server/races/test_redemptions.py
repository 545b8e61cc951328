"""One ticket in two hundred hands at once, at the cage and in terminals: paid once, and all are answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import uvloop

from taisai.cage.messages import TicketAccepted, TicketRedeemed
from taisai.client.connection import Staff
from taisai.game.events import TicketReceived
from tests.server.races.crowd import Crowd, Tell, encoded, terminals
from tests.server.races.journal_totals import Reckoning
from tests.server.races.race_house import CASHIERS, RWS, TABLE, furnish
from tests.server.races.server_process import Order
from tests.server.races.server_processes import Servers

TERMINALS = 100
AT_THE_CAGE = 100  # connections of four cashiers, two sessions each
TICKETS = 6  # one after the other, each by all of them
AMOUNT = 12_300


class Redeemed(NamedTuple):
    """Ticket by ticket what everyone was told, and what came of it."""

    told: dict[str, list[Tell]]
    journal: Reckoning


async def _redeemed(processes: Servers, folder: Path, tickets: int, sabotage: str | None = None) -> Redeemed:
    furnish(folder, RWS, TERMINALS)
    server = await processes.open(Order(folder=str(folder), book=RWS, sabotage=sabotage))
    crowd, random = Crowd(), Random(3)
    tokens = [await server.token(name) for name in (*CASHIERS, *CASHIERS)]
    cashiers = await crowd.come(server.port, [Staff(tokens[one % len(tokens)]) for one in range(AT_THE_CAGE)])
    players = await crowd.come(server.port, terminals(TERMINALS))
    told: dict[str, list[Tell]] = {}
    # Another ticket, worth more than all hands together: to pay twice is not beyond the cage's means.
    crowd.ask(cashiers[0], "another", encoded(type="sell-ticket", id="another", amount=1_000 * AMOUNT))
    for number in range(tickets):
        crowd.ask(
            cashiers[0], f"sold {number}", encoded(type="sell-ticket", id=f"sold {number}", amount=AMOUNT)
        )
        await crowd.answered()
        ticket = crowd.answers[cashiers[0]][f"sold {number}"][0].ticket
        assert ticket is not None
        everyone = [*cashiers, *players]
        random.shuffle(everyone)
        for one in everyone:
            put_in = one in players
            own = _own(ticket, one)
            crowd.ask(one, own, _put_in(ticket, own, one - players[0]) if put_in else _cashed(ticket, own))
        await crowd.answered()
        told[ticket] = [tell for one in everyone for tell in crowd.answers[one][_own(ticket, one)]]
    crowd.leave()
    await server.stop()
    return Redeemed(told, Reckoning(folder))


def _own(ticket: str, one: int) -> str:
    """An id that nobody else asks under: the same cashier's under the same id is a retry, and told again."""
    return f"{ticket} {one}"


def _cashed(ticket: str, own: str) -> bytes:
    return encoded(type="do", id=own, do={"command": "redeem-ticket", "ticket": ticket})


def _put_in(ticket: str, own: str, seat: int) -> bytes:
    return encoded(type="ticket-in", id=own, table=TABLE, seat=str(seat), ticket=ticket)


def _wrongs(redeemed: Redeemed) -> Iterator[str]:
    paid = [one for one in redeemed.journal.others if isinstance(one, TicketAccepted | TicketRedeemed)]
    arrived = {one.transfer for one in redeemed.journal.others if isinstance(one, TicketReceived)}
    for ticket, told in redeemed.told.items():
        if len(told) != TERMINALS + AT_THE_CAGE:
            yield f"expected {TERMINALS + AT_THE_CAGE} answers, got {len(told)}"
        done = sum(one.is_done for one in told)
        if done != 1:
            yield f"expected one to be told that he is paid, got {done}"
        reasons = {(one.reason, one.clause) for one in told if not one.is_done}
        if reasons != {("ruled-out", "house:tickets")}:
            yield f"expected the others to be told of the redemption, got {reasons}"
        id_ = redeemed.journal.id_of(ticket)
        times = [one for one in paid if one.ticket == id_]
        if len(times) != 1 or times[0].amount != AMOUNT:
            yield f"expected {AMOUNT} to be paid once, got {len(times)} times"
        if any(isinstance(one, TicketAccepted) and one.transfer not in arrived for one in times):
            yield f"expected what a terminal took to be its credits, got it on its way ({ticket})"


def test_two_hundred_parallel_redemptions_pay_once(processes: Servers, tmp_path: Path) -> None:
    redeemed = uvloop.run(_redeemed(processes, tmp_path, TICKETS))
    assert list(_wrongs(redeemed)) == []
    assert list(redeemed.journal.kept()) == []


def test_sabotage_a_house_that_forgets_is_found(processes: Servers, tmp_path: Path) -> None:
    redeemed = uvloop.run(_redeemed(processes, tmp_path, 1, "forgetful"))
    found = "\n".join(_wrongs(redeemed))
    assert "expected one to be told that he is paid, got 200" in found
    assert "to be paid once, got 200 times" in found
