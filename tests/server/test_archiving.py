"""No end of life: tickets that are over leave the state, so that the limits hold for what is open."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from taisai.audit import verified
from taisai.cage import decide, decide_house, unfinished
from taisai.cage.archive import KEPT_FOR
from taisai.cage.messages import ArchiveTickets, IssueTicket, SendFill, TicketsArchived
from taisai.game.commands import BuyCredits
from taisai.game.events import TransfersArchived
from taisai.game.money.archive import MOST_ARCHIVED
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import CAGE, FLOOR
from taisai.journal import SqliteStore
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.commands import command
from taisai.protocol.requests import DoRequest, SellTicketRequest, TicketInRequest, TicketOutRequest
from taisai.protocol.views import Words
from taisai.server.auth.permissions import Principal, Role
from taisai.server.handlers import cage, commands, tickets
from taisai.server.handlers.transfers import ticket_numbers
from taisai.server.projections import house_limits
from taisai.server.projections.house_limits import NEAR, HouseLimit
from taisai.server.projections.house_views import books_view
from taisai.server.runtime import archiving
from taisai.server.runtime.archiving import Archiving, over
from tests.server.inline_server import InlineServer, inline_server, terminal, told
from tests.server.test_cage_transfers import (
    count,
    fill,
    settle,
    take_credit,
    take_drop,
    with_claim_of_player,
)
from tests.server.virtual_house import SEAT, STREAM, TABLE, TERMINAL, Attended, attended, furnished

if TYPE_CHECKING:
    from taisai.server.runtime.command_queue import CommandQueue

CAT = Principal(Role.CASHIER, "cat", session="s-cat")
P1 = Principal(Role.TERMINAL, TERMINAL, TABLE, SEAT)


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds: an evening of these tests has an hour."""
    monkeypatch.setattr(archiving, "EVERY", 2_000)


async def later(house: Attended, milliseconds: int) -> None:
    """The wall clock goes on at once; then the server has looked for what is over."""
    house.clock.set_by += milliseconds
    await house.pass_(5)


async def sold(house: Attended, ask: str, amount: int = 500) -> Any:
    asked = SellTicketRequest(id=ask, amount=amount)
    return await cage.sell_ticket(house.dispatcher.context, CAT, asked)


async def redeemed(house: Attended, number: str, ask: str = "r") -> Any:
    asked = DoRequest(id=f"{ask} {number}", do=command("redeem-ticket", ticket=number))
    return await commands.do(house.dispatcher.context, CAT, asked)


async def put_in(house: Attended, number: str) -> Any:
    asked = TicketInRequest(id=f"in {number}", table=TABLE, seat=SEAT, ticket=number)
    return await tickets.ticket_in(house.dispatcher.context, P1, asked)


async def taken_out(house: Attended, ask: str) -> Any:
    asked = TicketOutRequest(id=ask, table=TABLE, seat=SEAT)
    return await tickets.ticket_out(house.dispatcher.context, P1, asked)


async def a_day(house: Attended, day: int) -> dict[str, str]:
    """Tickets of every kind: cashed, put in, issued and cashed; one sold stays open."""
    numbers = {
        "cashed": str((await sold(house, f"a{day}")).ticket),
        "put in": str((await sold(house, f"b{day}")).ticket),
        "open": str((await sold(house, f"c{day}")).ticket),
    }
    await redeemed(house, numbers["cashed"])
    await put_in(house, numbers["put in"])
    numbers["issued"] = str((await taken_out(house, f"d{day}")).ticket)
    await redeemed(house, numbers["issued"])
    return numbers


def balanced(house: Attended) -> None:
    """Every account has what its parts have, and nothing is on its way."""
    tables = {name: house.engine.table(name) for name in house.engine.tables()}
    books = books_view(house.house, tables)
    assert (books.balanced, books.off, books.in_transit) == (True, (), ())
    assert unfinished(house.house, {name: table.in_transit() for name, table in tables.items()}) == []


def test_a_house_outlives_its_limit_of_tickets_and_its_state_does_not_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decide, "MOST_TICKETS", 40)

    async def played(house: Attended) -> None:
        sizes = []
        for day in range(20):  # 80 tickets, of which 20 stay open
            numbers = await a_day(house, day)
            assert len(set(numbers.values())) == 4
            balanced(house)
            await later(house, KEPT_FOR // 2)
            sizes.append(len(house.house.transfers) + len(house.table.transfers))
        assert max(sizes[4:]) == max(sizes[:4])
        assert len(house.house.tickets) <= 20 + 2 * 3
        assert house.house.outstanding == 20 * 500
        balanced(house)
        before = house.house
        await house.crash_and_come_back()
        assert (before.tickets, before.transfers) == (house.house.tickets, house.house.transfers)
        balanced(house)

    attended(played)


def test_both_sides_forget_a_transfer_in_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(house: Attended) -> None:
        await a_day(house, 1)
        writes: list[list[str]] = []
        append = house.engine.journal.append

        def noted(decisions: Any) -> Any:
            writes.append([decision.stream for decision in decisions])
            return append(decisions)

        monkeypatch.setattr(house.engine.journal, "append", noted)
        await later(house, KEPT_FOR)
        assert len(house.events(TicketsArchived)) == len(house.events(TransfersArchived)) == 1
        assert [HOUSE_STREAM, STREAM] in writes
        # A start finds nothing to finish: nothing is issued or credited a second time.
        balances, outstanding = dict(house.table.ledger.balances), house.house.outstanding
        await house.stop()
        assert await house.start() == []
        assert (dict(house.table.ledger.balances), house.house.outstanding) == (balances, outstanding)

    attended(played)


def test_what_is_open_lately_redeemed_or_unfinished_stays() -> None:
    async def played(house: Attended) -> None:
        numbers = await a_day(house, 1)
        await later(house, KEPT_FOR - DAY_BEFORE)
        assert house.events(TicketsArchived) == []
        again = await redeemed(house, numbers["cashed"], "again")
        assert (again.reason, "was cashed at the cage by 'cat'" in again.message) == ("ruled-out", True)
        house.table.transfers.clear()  # as if the table had booked nothing
        assert over(house.house, {TABLE: house.table}, house.clock.now() + DAY_BEFORE).transfers == {}

    attended(played)


DAY_BEFORE = 24 * 3_600_000


def test_an_archived_ticket_cashes_nothing_and_a_request_of_its_id_gets_another_number() -> None:
    """The attack: with the ticket forgotten, its paper would have been money again."""

    async def played(house: Attended) -> None:
        numbers = await a_day(house, 1)
        await later(house, KEPT_FOR)
        for name in ("cashed", "put in", "issued"):
            assert (await redeemed(house, numbers[name], "later")).reason == "bad-value"
            assert (await put_in(house, numbers[name])).reason == "bad-value"
        anew = await a_day(house, 1)  # the same ids of requests
        assert not set(anew.values()) & set(numbers.values())
        assert (await redeemed(house, numbers["open"])).amount == 500
        balanced(house)

    attended(played)


def test_the_audit_decides_an_archive_again(tmp_path: Path) -> None:
    async def played(house: Attended) -> None:
        for day in range(3):
            await a_day(house, day)
            await later(house, KEPT_FOR)
        assert house.events(TicketsArchived)
        await house.stop()
        store = SqliteStore(tmp_path / "journal.db")
        store.append(list(house.store.rows()))
        store.close()
        report = verified(tmp_path / "journal.db")
        assert (report.entries, report.in_transit) == (house.engine.journal.size, 0)

    attended(played)


@pytest.mark.parametrize(
    ("names", "by", "reason"),
    [
        ((), FLOOR, Reason.BAD_VALUE),
        (("cashed", "cashed"), FLOOR, Reason.BAD_VALUE),
        (("open",), FLOOR, Reason.BAD_VALUE),
        (("unknown",), FLOOR, Reason.BAD_VALUE),
        (("cashed",), "sue", Reason.NOT_PERMITTED),
        (("cashed",), CAGE, Reason.NOT_PERMITTED),
        (tuple(map(str, range(MOST_ARCHIVED + 1))), FLOOR, Reason.BAD_VALUE),
    ],
)
def test_nobody_makes_the_house_forget_a_ticket_that_is_not_over(
    names: tuple[str, ...], by: str, reason: Reason
) -> None:
    async def played(house: Attended) -> None:
        numbers = await a_day(house, 1)
        ticket_ids = await house.dispatcher.context.queue.run(
            lambda engine: ticket_numbers(engine, bytes(32)).held
        )
        known = {name: ticket_ids(house.house, number) for name, number in numbers.items()}
        asked = tuple(known.get(name, name) for name in names)
        answer = await house.ask(ArchiveTickets(at=house.clock.now() + KEPT_FOR, by=by, tickets=asked), None)
        assert isinstance(answer, Refusal)
        assert answer.reason is reason

    attended(played)


# Transfers that are of no ticket


def looked(server: InlineServer) -> None:
    """The server looks once for what is over."""
    queue = SimpleNamespace(
        projections=SimpleNamespace(readable=lambda: {"T1": server.table()}), waiting=0,
        submit=server.inline.submit, submit_job=server.inline.submit_job,
    )  # fmt: skip
    Archiving(cast("CommandQueue", queue), clock=server.hand_clock).tick()


def of_each_kind(server: InlineServer) -> dict[str, str]:
    """A fill, a credit, a drop box and a claim."""
    server.do(BuyCredits(**server.by("pat"), seat="7", amount=50_000))
    told(tickets.ticket_out(server, terminal(), TicketOutRequest(id="o", table="T1", seat="7")))
    paid = settle(server, with_claim_of_player(server)).transfer
    return {
        "claim": paid,
        "fill": fill(server).transfer,
        "credit": take_credit(server).transfer,
        "drop": (box := take_drop(server).transfer),
        "count": count(server, box, 50_000).transfer,
    }


def test_fills_credits_drops_and_claims_leave_the_state_a_week_after_both_sides_booked_them() -> None:
    server = inline_server(credits=0)
    booked = of_each_kind(server)
    assert set(server.house.booked_at) == set(booked.values())
    unfinished_drop = SendFill(**server.by("cat"), transfer="half", table="T1", amount=1, second="sue")
    server.do(unfinished_drop)  # the table has not booked it
    server.hand_clock.pass_(KEPT_FOR - 60_000)
    looked(server)
    assert server.engine.house().archived.number == 0, "they are kept for a week"
    balances = dict(server.table().ledger.balances)
    server.hand_clock.pass_(2 * 60_000)
    looked(server)
    assert set(server.house.booked_at) == {"half"}
    assert server.house.claims == {}
    assert set(server.table().transfers) & set(booked.values()) == set()
    (ticket,) = (one for one in server.house.tickets.values() if one.redeemed is None)
    assert set(server.house.transfers) == {"half", ticket.transfer}
    assert dict(server.table().ledger.balances) == balances
    assert [fault for fault in server.faults() if "half" not in fault and "in transit" not in fault] == []
    before = server.house
    server.restart()
    assert (server.house.booked_at, server.house.archived) == (before.booked_at, before.archived)


def test_a_request_of_the_same_id_after_the_archive_is_another_transfer_and_takes_two_again() -> None:
    server = inline_server(credits=0)
    booked = of_each_kind(server)
    server.hand_clock.pass_(KEPT_FOR + 60_000)
    looked(server)
    assert not set(server.house.transfers) & set(booked.values())
    assert settle(server, "c1").reason == "bad-value", "the claim is over at the table, and paid once"
    assert fill(server, approval=None).reason == "second-person"
    anew = fill(server).transfer
    assert anew not in booked.values()
    assert server.faults() == []


@pytest.mark.parametrize("names", [("t1", "t1"), ("unknown",), ("of a ticket",), ("late",), ("f", 7)])
def test_nobody_makes_the_house_forget_a_transfer_that_is_not_over(names: tuple[Any, ...]) -> None:
    server = inline_server()
    early: dict[str, Any] = {"table": "T1", "amount": 1, "second": "sue"}
    for name in ("t1", "f"):
        server.do(SendFill(**server.by("cat"), transfer=name, **early))
    server.do(IssueTicket(**server.by("table"), transfer="of a ticket", table="T1", ticket="x", amount=1))
    server.hand_clock.pass_(KEPT_FOR)
    server.do(SendFill(**server.by("cat"), transfer="late", **early))
    asked = ArchiveTickets(**server.by(FLOOR), tickets=(), transfers=names)
    answer = decide_house(server.house, asked)
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.BAD_VALUE
    right = ArchiveTickets(**server.by(FLOOR), tickets=(), transfers=("t1", "f"))
    assert not isinstance(decide_house(server.house, right), Refusal)


# Near a limit


@pytest.mark.parametrize(("number", "is_near"), [(79, False), (80, True), (100, True)])
def test_a_limit_is_near_at_eighty_per_cent(number: int, *, is_near: bool) -> None:
    assert NEAR == 80
    assert HouseLimit("house", Words("x", "x"), number, 100).is_near is is_near


def test_the_pit_has_an_alarm_when_a_limit_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_limits, "MOST_TICKETS", 10)

    async def played(house: Attended) -> None:
        for number in range(7):
            await sold(house, f"s{number}")
        assert (await house.pit()).alarms == ()
        await sold(house, "s8")
        await sold(house, "s9")
        (alarm,) = (await house.pit()).alarms
        assert alarm.about == "house"
        assert alarm.says.en.startswith("8 tickets that are open or were redeemed lately, of at most 10.")

    attended(played, store=furnished("rws-sic-bo-etg-v8"))


def test_sabotage_a_server_that_archives_at_the_table_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> ArchiveTickets:
        return ArchiveTickets(at=0, by="nobody", tickets=())

    monkeypatch.setattr(archiving, "ArchiveTickets", refused)
    with pytest.raises(AssertionError):
        test_both_sides_forget_a_transfer_in_one_write(monkeypatch)
