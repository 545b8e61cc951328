"""A ticket's number is money: it is on the ticket alone, not in the journal, its exports or its feeds."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taisai.audit.export import COLUMNS, lines, write_csv
from taisai.audit.rows import event_rows
from taisai.audit.sources import source_of
from taisai.cage.messages import IssueTicket, SellTicket
from taisai.game.commands import DispenseCredits
from taisai.game.vocabulary import TABLE as BY_TABLE
from taisai.journal import SqliteStore
from taisai.protocol.requests import SellTicketRequest, TicketInRequest, TicketOutRequest, TicketsRequest
from taisai.server.auth.permissions import Role
from taisai.server.handlers import cage, tickets, transfers
from taisai.server.handlers.transfers import OLD_NUMBER_BITS, SIGNS, ticket_number, ticket_numbers
from tests.server.inline_server import InlineServer, inline_server, person, terminal, told
from tests.server.test_ticket_redemption import redeem
from tests.server.virtual_server import Connected, connected

NUMBER = re.compile(rf"[{SIGNS}]{{4}}(?:-[{SIGNS}]{{4}}){{4}}".encode())


def evening(folder: Path) -> tuple[InlineServer, list[str]]:
    """A journal in a file, and the numbers of all tickets: sold, issued, put in, cashed, refused."""
    server = inline_server(store=SqliteStore(folder / "journal.db"))
    numbers = [sell(server, f"s{place}", 700) for place in range(3)]
    numbers.append(str(take_out(server).ticket))
    put_in(server, numbers[0])
    redeem(server, numbers[1].lower())
    redeem(server, numbers[1], "again")
    redeem(server, numbers[3], "r3")
    return server, numbers


def sell(server: InlineServer, ask: str, amount: int) -> str:
    return str(told(cage.sell_ticket(server, person("cat"), SellTicketRequest(id=ask, amount=amount))).ticket)


def take_out(server: InlineServer, ask: str = "out-1") -> Any:
    return told(tickets.ticket_out(server, terminal(), TicketOutRequest(id=ask, table="T1", seat="7")))


def put_in(server: InlineServer, number: str) -> Any:
    asked = TicketInRequest(id=f"in {number}", table="T1", seat="7", ticket=number)
    return told(tickets.ticket_in(server, terminal(), asked))


def stored(folder: Path) -> Iterator[bytes]:
    """Every byte that the journal has or that an export writes."""
    for file in folder.iterdir():
        yield file.read_bytes()
    source = source_of(str(folder / "journal.db"))
    try:
        yield b"".join(lines(source))
        written = io.BytesIO()
        write_csv(COLUMNS["events"], event_rows(source), written)
        yield written.getvalue()
    finally:
        source.close()


def test_no_number_is_in_the_journal_or_its_exports(tmp_path: Path) -> None:
    """The attack: a ticket that was read in an export, or in the file, was cashed."""
    server, numbers = evening(tmp_path)
    assert {ticket.id for ticket in server.house.tickets.values()} == {*map(server.id_of, numbers)}
    server.store.close()
    for kept in stored(tmp_path):
        for number in numbers:
            assert number.encode() not in kept
            assert number.replace("-", "").encode() not in kept
        assert not NUMBER.search(kept)


@connected()
async def test_no_feed_and_no_message_but_the_tickets_own_has_its_number(house: Connected) -> None:
    cashier = await house.came_as(Role.CASHIER)
    watcher = await house.came_as(Role.SHIFT_MANAGER)
    for feed in ("cage", "pit", "lobby"):
        await watcher.answer("follow", feed=feed)
    number = (await cashier.answer("sell-ticket", amount=500))["ticket"]
    device = await house.came("P1")
    await device.answer("ticket-in", table="T1", seat="1", ticket=number)
    refused = await cashier.answer("do", table=None, do={"command": "redeem-ticket", "ticket": number})
    assert refused["type"] == "refused"
    assert number not in str(refused)
    books = await watcher.answer("books")
    assert number not in str(books)
    assert len(watcher.messages) > 3
    assert number not in "".join(watcher.messages)


def test_an_id_of_the_journal_is_no_number_and_cashes_nothing(tmp_path: Path) -> None:
    server, numbers = evening(tmp_path)
    open_ticket = server.id_of(numbers[2])
    for typed in (open_ticket, open_ticket.upper(), f" {open_ticket} ", open_ticket.removeprefix("t-")):
        assert redeem(server, typed, f"stolen {typed}").reason == "bad-value"
        assert put_in(server, typed).reason == "bad-value"
    assert redeem(server, numbers[2], "owner").amount == 700


def test_a_lost_reply_is_answered_with_the_same_number_after_a_restart() -> None:
    server = inline_server()
    sold, issued = sell(server, "s", 700), take_out(server).ticket
    server.restart()
    assert (sell(server, "s", 700), take_out(server).ticket) == (sold, issued)
    asked = TicketsRequest(id="t", table="T1", seat="7")
    (line,) = told(tickets.tickets(server, terminal(), asked)).tickets
    assert line.ticket == issued


def test_tickets_of_old_journals_stay_good_and_are_shown_again() -> None:
    """They are in the journal by their numbers, which were derived in the same way."""
    server = inline_server()
    key = transfers.tickets_key(server.engine, bytes(range(32)))
    sold = ticket_number(key, "sold", "cat", "s", bits=OLD_NUMBER_BITS)
    server.do(SellTicket(**server.by("cat"), ticket=sold, amount=700))
    transfer = transfers.short_id("out", "D7", "out-1", "1")
    issued = ticket_number(key, "issued", transfer, bits=OLD_NUMBER_BITS)
    server.do(DispenseCredits(**server.by("D7"), transfer=transfer, seat="7"))
    server.do(IssueTicket(**server.by(BY_TABLE), transfer=transfer, table="T1", ticket=issued, amount=50_000))
    assert (sell(server, "s", 700), take_out(server).ticket) == (sold, issued)
    assert len(server.house.tickets) == 2  # a retry across the upgrade sells no second one
    asked = TicketsRequest(id="t", table="T1", seat="7")
    (line,) = told(tickets.tickets(server, terminal(), asked)).tickets
    assert line.ticket == issued
    assert redeem(server, sold.lower()).amount == 700
    assert put_in(server, issued.replace("-", " ")).amount == 50_000
    assert redeem(server, sold, "again").reason == "ruled-out"


def test_a_number_of_before_that_the_journal_knows_by_its_hash_stays_good() -> None:
    server = inline_server()
    numbers = ticket_numbers(server.engine, bytes(range(32)))
    sold = ticket_number(numbers.key, "sold", "cat", "s", "0", bits=OLD_NUMBER_BITS)
    assert numbers.sold(server.house, "cat", "s", 0) != sold
    server.do(SellTicket(**server.by("cat"), ticket=numbers.id_of(sold), amount=700))
    assert numbers.sold(server.house, "cat", "s", 0) == sold, "a retry across the upgrade"
    transfer = "out-of-before"
    issued = ticket_number(numbers.key, "issued", transfer, bits=OLD_NUMBER_BITS)
    known = next(iter(server.house.tickets.values()))
    assert numbers.of(known._replace(id=numbers.id_of(issued), transfer=transfer)) == issued
    assert redeem(server, sold.lower()).amount == 700


def test_what_makes_numbers_shows_no_secret_in_its_repr() -> None:
    server = inline_server()
    assert repr(ticket_numbers(server.engine, b"k" * 32)) == "<TicketNumbers>"


def test_sabotage_a_journal_that_has_the_numbers_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers.TicketNumbers, "id_of", lambda _self, number: number)
    with pytest.raises(AssertionError):
        test_no_number_is_in_the_journal_or_its_exports(tmp_path)


def test_sabotage_an_id_that_is_taken_for_a_number_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "_is_number", lambda _printed: True)
    with pytest.raises((AssertionError, AttributeError)):
        test_an_id_of_the_journal_is_no_number_and_cashes_nothing(tmp_path)
