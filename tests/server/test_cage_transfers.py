"""What the cage does for tables: tickets, fills, credits, drop boxes, claims; each once, with its people."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage.messages import RedeemTicket, SendTicket
from taisai.game.commands import (
    Assign,
    DecideReferral,
    Leave,
    LeaveSeat,
    PlaceBets,
    ReceiveFill,
    ReceiveTicket,
    ReportIrregularity,
    SettleClaim,
    Slip,
)
from taisai.game.money.ledger import Account
from taisai.game.play import decide
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE, TABLE, ClaimEnd, Treatment
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.protocol.requests import (
    CountDropRequest,
    FillRequest,
    SellTicketRequest,
    SettleClaimRequest,
    TakeCreditRequest,
    TakeDropRequest,
    TicketOutRequest,
)
from taisai.rules import Irregularity
from taisai.server.handlers import cage, tickets, transfers
from tests.server.inline_server import (
    CONCLUDED,
    IN_THE_CAGE,
    InlineServer,
    inline_server,
    perform,
    person,
    terminal,
    told,
)


def tray(server: InlineServer) -> int:
    return server.table().ledger.balances[Account.CHIPS]


def cash(server: InlineServer) -> int:
    return server.house.ledger.balances[Account.CAGE]


# Tickets for cash


def sell(server: InlineServer, ask: str = "1", amount: int = 500, by: str = "cat") -> Any:
    return told(cage.sell_ticket(server, person(by), SellTicketRequest(id=ask, amount=amount)))


def test_a_ticket_is_sold_once_however_often_it_is_asked_for() -> None:
    server = inline_server()
    first = sell(server)
    server.restart()
    again = sell(server)
    assert (first.ticket, first.again, again.ticket, again.again) == (first.ticket, False, first.ticket, True)
    assert (server.house.outstanding, cash(server)) == (500, IN_THE_CAGE + 500)


def test_another_ask_and_another_cashier_sell_another_ticket() -> None:
    server = inline_server()
    assert len({sell(server).ticket, sell(server, "2").ticket, sell(server, by="cid").ticket}) == 3
    assert server.house.outstanding == 1_500


def test_an_ask_with_another_amount_or_an_hour_later_is_no_retry() -> None:
    server = inline_server()
    sell(server)
    assert sell(server, amount=600).reason == "different-content"
    server.hand_clock.pass_(transfers.RETRIED_WITHIN)
    assert sell(server).reason == "different-content"
    assert server.house.outstanding == 500


# The tray


def fill(server: InlineServer, amount: int = 20_000, ask: str = "f1", approval: str | None = "yes") -> Any:
    asked = FillRequest(id=ask, table="T1", amount=amount, approval=approval)
    return told(cage.fill(server, person("cat"), asked))


def test_a_fill_leaves_the_cage_and_arrives_in_the_tray() -> None:
    server = inline_server()
    done = fill(server)
    assert (done.amount, done.again) == (20_000, False)
    assert (tray(server), cash(server), server.faults()) == (20_000, IN_THE_CAGE - 20_000, [])
    again = fill(server, approval=None)  # whose approval is spent
    assert (again.transfer, again.again, tray(server)) == (done.transfer, True, 20_000)


@pytest.mark.parametrize(
    ("agrees", "approval", "reason"),
    [
        ("sue", None, "second-person"),
        ("sue", "bad", "second-person"),
        ("dan", "yes", "second-person"),  # too low
        ("mia", "yes", "second-person"),  # nobody at the table
        ("cat", "yes", "second-person"),  # the same
    ],
)
def test_a_fill_takes_a_second_person_who_is_at_the_table(
    agrees: str, approval: str | None, reason: str
) -> None:
    server = inline_server()
    server.agrees = agrees
    assert fill(server, approval=approval).reason == reason
    assert (tray(server), cash(server), server.faults()) == (0, IN_THE_CAGE, [])


def test_nothing_leaves_for_a_table_whose_second_person_has_left_it() -> None:
    server = inline_server()
    server.agrees = "pat"
    server.do(Leave(**server.by("pat"), person="pat"))
    assert fill(server).reason == "second-person"
    assert cash(server) == IN_THE_CAGE


def test_a_cage_without_the_chips_and_a_table_that_is_not_refuse() -> None:
    server = inline_server()
    assert fill(server, IN_THE_CAGE + 1).reason == "float-short"
    asked = FillRequest(id="f", table="T9", amount=1, approval="yes")
    assert told(cage.fill(server, person("cat"), asked)).reason == "table-not-open"
    assert server.faults() == []


def test_the_cages_side_brings_a_fill_only_with_someone_of_rank_at_the_table() -> None:
    table = inline_server().table()
    for second in (None, "dan", "cat", CAGE, "Cage"):
        brought = ReceiveFill(at=1, by=CAGE, transfer="t", amount=1, second=second)
        answer = decide(table, brought)
        assert isinstance(answer, Refusal)
        assert answer.reason == "second-person"


def take_credit(server: InlineServer, amount: int = 5_000, *, by: str = "dan", **fields: Any) -> Any:
    given: dict[str, Any] = {"id": "k1", "table": "T1", "amount": amount, "approval": "yes"}
    return told(cage.take_credit(server, person(by), TakeCreditRequest(**given | fields)))


def test_a_credit_leaves_the_tray_and_arrives_at_the_cage() -> None:
    server = inline_server()
    fill(server)
    done = take_credit(server)
    assert (done.amount, tray(server), cash(server)) == (5_000, 15_000, IN_THE_CAGE - 15_000)
    again = take_credit(server, approval=None)
    assert (again.transfer, again.again, tray(server), server.faults()) == (done.transfer, True, 15_000, [])
    assert take_credit(server, 6_000).reason == "different-content"


def test_a_credit_needs_people_at_the_table_and_chips_in_the_tray() -> None:
    server = inline_server()
    fill(server)
    assert take_credit(server, approval=None).reason == "second-person"
    assert take_credit(server, approval="bad").reason == "second-person"
    assert take_credit(server, 20_001).reason == "float-short"
    assert take_credit(server, by="cat").reason == "unknown-person"
    assert take_credit(server, table="T9").reason == "table-not-open"
    assert server.faults() == []


def test_nobody_off_the_staff_list_sends_a_credit() -> None:
    server = inline_server()
    fill(server)
    server.do(Assign(**server.by(BY_THE_HOUSE), person="zoe", rank="pit-manager", position="pit-manager"))
    stranger = person("sue")._replace(name="zoe")
    asked = TakeCreditRequest(id="k", table="T1", amount=1, approval="yes")
    assert told(cage.take_credit(server, stranger, asked)).reason == "unknown-person"
    assert (tray(server), server.faults()) == (20_000, [])


# The drop box


def take_drop(server: InlineServer, **fields: Any) -> Any:
    asked = TakeDropRequest(**{"id": "d1", "table": "T1", "approval": "yes"} | fields)
    return told(cage.take_drop(server, person("pat"), asked))


def count(server: InlineServer, transfer: str, counted: int, **fields: Any) -> Any:
    given: dict[str, Any] = {
        "id": "c1",
        "table": "T1",
        "transfer": transfer,
        "counted": counted,
        "approval": "yes",
    }
    return told(cage.count_drop(server, person("cat"), CountDropRequest(**given | fields)))


def test_a_drop_box_leaves_whole_and_is_counted_against_what_the_table_booked() -> None:
    server = inline_server()
    gone = take_drop(server)
    assert (gone.amount, gone.again) == (50_000, False)
    assert take_drop(server, approval=None) == gone.__class__(
        to="d1", amount=50_000, transfer=gone.transfer, again=True
    )
    assert len(server.faults()) == 2  # on its way
    done = count(server, gone.transfer, 49_900)
    assert (done.amount, done.again, server.faults()) == (49_900, False, [])
    assert server.house.ledger.balances[Account.COUNT_SHORT] == 100
    assert count(server, gone.transfer, 49_900, approval=None).again
    assert count(server, gone.transfer, 50_000).reason == "different-content"
    assert cash(server) == IN_THE_CAGE + 49_900


def test_a_drop_box_takes_two_and_something_in_it() -> None:
    server = inline_server()
    assert take_drop(server, approval=None).reason == "second-person"
    assert take_drop(server, approval="bad").reason == "second-person"
    gone = take_drop(server)
    assert take_drop(server, id="d2").reason == "credits-short"
    assert count(server, gone.transfer, 1, approval=None).reason == "second-person"
    assert count(server, gone.transfer, 1, approval="bad").reason == "second-person"
    assert count(server, "no box", 1).reason == "bad-value"
    assert count(server, gone.transfer, 1, table="T9").reason == "table-not-open"


def test_nobody_takes_a_drop_box_for_a_credit_to_escape_the_count() -> None:
    """A dealer alone received it uncounted, for what the table had declared; then nobody could count it."""
    server = inline_server()
    gone = take_drop(server)
    before = cash(server)
    for by in ("dan", "pat", "cat"):
        taken = take_credit(server, gone.amount, by=by, transfer=gone.transfer, approval=None)
        assert getattr(taken, "reason", None) == "bad-value", taken
        assert "no credit" in taken.message
    assert cash(server) == before
    assert count(server, gone.transfer, 49_900).amount == 49_900
    assert server.faults() == []


# Claims


def with_claim_of_player(server: InlineServer) -> str:
    """The value of a ticket that reached a seat after its player had left."""
    ticket = sell(server, "for a claim", 700).ticket
    asked = cage_sent(server, ticket)
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    server.do(ReceiveTicket(**server.by(CAGE), transfer=asked, seat="7", amount=700, session=1))
    return next(iter(server.table().claims))


def cage_sent(server: InlineServer, ticket: str) -> str:
    id_ = server.id_of(ticket)
    sent: dict[str, Any] = {"ticket": id_, "transfer": "late", "table": "T1", "seat": "7", "session": 1}
    server.do(SendTicket(**server.by(TABLE), **sent))
    return "late"


def with_claim_on_player(server: InlineServer) -> str:
    """A round was void after its winner had gone with a ticket."""
    perform(server, "open-bets")
    server.do(PlaceBets(**server.by("D7"), round=1, seat="7", bets=(Slip("a", "small", 1_000),)))
    perform(server, *CONCLUDED)
    out = told(tickets.ticket_out(server, terminal(), TicketOutRequest(id="o", table="T1", seat="7")))
    assert out.amount == 51_000
    server.do(RedeemTicket(**server.by("cat"), ticket=server.id_of(out.ticket)))
    damaged = Irregularity("die-damaged")
    server.do(ReportIrregularity(**server.by("dan"), event=damaged, round=1, through=1, second="pat"))
    (referral,) = server.table().referrals  # the rank above names the rounds (RWS 5.4, 5.10)
    server.do(
        DecideReferral(
            **server.by("sue"), referral=referral, treatment=Treatment.VOID_ROUNDS, round=1, through=1,
            reason="a chip off", second="pat",
        )
    )  # fmt: skip
    return next(iter(server.table().claims))


def settle(server: InlineServer, claim: str, *, by: str = "cat", **fields: Any) -> Any:
    asked = SettleClaimRequest(**{"id": "s1", "table": "T1", "claim": claim, "approval": "yes"} | fields)
    return told(cage.settle_claim(server, person(by), asked))


@pytest.mark.parametrize(
    ("claimed", "credits", "amount", "change"),
    [(with_claim_of_player, 0, 700, -700), (with_claim_on_player, 50_000, 1_000, 1_000)],
)
def test_a_claim_is_settled_by_the_cage_once(claimed: Any, credits: int, amount: int, change: int) -> None:  # noqa: A002
    server = inline_server(credits=credits)
    claim = claimed(server)
    before = cash(server)
    done = settle(server, claim)
    assert (done.amount, done.again, cash(server) - before) == (amount, False, change)
    assert (server.table().claims, server.faults()) == ({}, [])
    assert settle(server, claim, approval=None).again
    assert settle(server, claim, by="cid").reason == "bad-value"
    assert cash(server) - before == change


def test_a_claim_that_was_set_off_while_people_agreed_is_not_paid_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A correction that comes in between has already given the player a part of it."""
    server = inline_server(credits=0)
    claim, before = with_claim_of_player(server), cash(server)
    right = type(server).second

    async def slow(self: InlineServer, *given: Any) -> Any:
        claims = self.table().claims
        claims[claim] = claims[claim]._replace(amount=300)
        return await right(self, *given)

    monkeypatch.setattr(type(server), "second", slow)
    told_ = settle(server, claim)
    assert getattr(told_, "reason", None) == "different-content"
    assert "from 700 to 300" in told_.message
    assert cash(server) == before


@pytest.mark.parametrize("agrees", [None, "pat", "dan", "mia", "cat"])
def test_a_claim_takes_the_shift_manager_at_the_table(agrees: str | None) -> None:
    server = inline_server(credits=0)
    claim, before = with_claim_of_player(server), cash(server)
    server.agrees = agrees
    assert settle(server, claim).reason == "second-person"
    assert (cash(server), server.faults()) == (before, [])


def test_a_claim_that_is_not_open_is_refused() -> None:
    server = inline_server()
    assert settle(server, "c1").reason == "bad-value"
    assert settle(server, "c1", table="T9").reason == "table-not-open"
    claim = with_claim_of_player(a := inline_server(credits=0))
    assert settle(a, claim, approval="bad").reason == "second-person"


def test_the_cages_side_ends_a_claim_in_no_other_way() -> None:
    server = inline_server(credits=0)
    claim = with_claim_of_player(server)
    for how in (ClaimEnd.TABLE, ClaimEnd.WAIVE):
        asked = SettleClaim(at=1, by=CAGE, claim=claim, how=how, reason="why", second="sue")
        answer = decide(server.table(), asked)
        assert isinstance(answer, Refusal)
        assert answer.reason == "unknown-person"
