"""Sealing each second, and money that waits for the witness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from taisai.cage.messages import OverrideWitness, WitnessOverridden
from taisai.game.refusals import Refusal
from taisai.journal import FencedError, UnwritableError
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.cosignatures import cosigned_at
from taisai.protocol.requests import TicketOutRequest
from taisai.protocol.views import Words
from taisai.server.auth.permissions import Role
from taisai.server.connections import dispatcher
from taisai.server.handlers import tickets
from taisai.server.handlers.context import WITNESSED_WITHIN
from taisai.server.handlers.transfers import KEY_BYTES, ticket_numbers
from taisai.server.runtime import witness_links
from taisai.server.runtime.sealing import ALARM_AFTER, ASK_AGAIN, NO_WITNESS, TAIL_STAYS, UNSEALED_TAIL
from taisai.server.runtime.witness_links import WitnessLink
from taisai.witness.errors import SilentWitnessError
from tests.server.virtual_server import CREDITS, KEY, PEOPLE, Connected, run
from tests.server.witnesses import Watcher

OUT = {"table": "T1", "seat": "1"}
CASHIER, MANAGER = PEOPLE[Role.CASHIER], PEOPLE[Role.SHIFT_MANAGER]


class Witnessed(Connected):
    """A house with a witness, at work."""

    watcher: Watcher

    @property
    def link(self) -> WitnessLink:
        return self.casino.sealing._links[0]

    @property
    def table_of_checkpoints(self) -> int:
        """How many checkpoints are kept for ever."""
        return len(self.store._checkpoints)  # type: ignore[attr-defined]

    async def pit(self) -> Any:
        """What the pit is shown."""
        projections = self.casino.queue.projections
        found = await self.casino.queue.run(lambda _engine: projections.snapshot("pit"))
        assert found is not None
        return found.view

    def alarms(self) -> dict[str, str]:
        """The alarms of the server that go on: name and text."""
        return {alarm.name: alarm.says.en for alarm in self.casino.alarms.standing()}

    async def noted(self) -> None:
        """Something that is written to the journal."""
        await self.signed_in(Role.DEALER)

    async def overridden(self, **fields: Any) -> Any:
        given: dict[str, Any] = {"hours": 1, "reason": "the line is down", "second": MANAGER} | fields
        by = PEOPLE[Role.PIT_MANAGER]
        return await self.do(OverrideWitness(at=self.clock.now(), by=by, **given))


def witnessed(
    test: Callable[..., Coroutine[Any, Any, None]], *, is_started: bool = True
) -> Callable[[Path], None]:
    """Plays a test at a house with a witness, in virtual time."""

    def played(tmp_path: Path) -> None:
        async def main(loop: Any) -> None:
            watcher = Watcher(tmp_path, "taisai/connected", KEY)
            house = Witnessed(loop, links=[WitnessLink(watcher)])
            house.watcher = watcher
            if is_started:
                await house.casino.start()
                await house.pass_(1.1)
            await test(house)

        run(main)

    played.__name__, played.__doc__, played.__module__ = test.__name__, test.__doc__, test.__module__
    return played


# Every second


@witnessed
async def test_new_entries_are_sealed_and_witnessed_within_a_second(house: Witnessed) -> None:
    for _ in range(5):
        await house.noted()
        await house.pass_(1.05)
        newest = house.store.newest()
        assert newest is not None
        assert newest.size == house.engine.journal.size == house.watcher.size
        assert read_signed(newest.text).is_signed_by(KEY.public)


@witnessed
async def test_the_checkpoints_that_are_kept_for_ever_stay_few(house: Witnessed) -> None:
    """A row a second would be 86,400 a day: the newest replaces the one before."""
    for _ in range(120):
        await house.noted()
        await house.pass_(1)
    assert house.table_of_checkpoints == 0
    await house.pass_(15 * 60)
    assert house.table_of_checkpoints == 1
    signed = read_signed(house.store._checkpoints[-1].text)  # type: ignore[attr-defined]
    assert signed.is_signed_by(KEY.public)
    assert cosigned_at(signed.checkpoint.body, signed.signatures, house.watcher.key) is not None


@witnessed
async def test_nothing_is_signed_where_nothing_is_new(house: Witnessed) -> None:
    await house.pass_(3)  # that the witness is a new one is recorded
    before, asked = house.store.newest(), len(house.watcher.asked)
    await house.pass_(ASK_AGAIN / 1_000 - 3)
    assert house.store.newest() == before
    assert len(house.watcher.asked) == asked
    await house.pass_(5)
    assert len(house.watcher.asked) == asked + 1, "an idle house asks whether the witness is still there"


@witnessed
async def test_a_stop_is_sealed_witnessed_and_kept(house: Witnessed) -> None:
    await house.casino.stop()
    checkpoint = house.store.checkpoints()[-1]
    assert checkpoint.size == house.engine.journal.size
    signed = read_signed(checkpoint.text)
    assert cosigned_at(signed.checkpoint.body, signed.signatures, house.watcher.key) is not None


@witnessed
async def test_a_proof_reads_no_entry_that_was_there_before(house: Witnessed) -> None:
    read = []
    rows = house.store.rows
    house.store.rows = lambda **given: (read.append(given), rows(**given))[1]  # type: ignore[method-assign, func-returns-value]
    for _ in range(10):
        await house.noted()
        await house.pass_(1)
    assert house.watcher.size == house.engine.journal.size
    assert read == []


@witnessed
async def test_a_witness_that_was_away_for_long_is_caught_up_from_the_entries(house: Witnessed) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(witness_links, "MOST_LEAVES", 5)
        patched.setattr(witness_links, "AT_ONCE", 3)
        house.watcher.is_silent = True
        for _ in range(20):
            await house.noted()
            await house.pass_(1)
        assert house.link.growth.leaves <= 5
        assert house.watcher.size < house.engine.journal.size - 10
        house.watcher.is_silent = False
        await house.pass_(2)
        assert house.watcher.size == house.engine.journal.size
        await house.noted()
        await house.pass_(1.05)
        assert house.watcher.size == house.engine.journal.size


# Money


@witnessed
async def test_a_ticket_is_told_when_the_witness_has_seen_it(house: Witnessed) -> None:
    line = await house.came("P1")
    answer = await line.answer("ticket-out", **OUT)
    assert (answer["type"], answer["amount"]) == ("done", CREDITS)
    assert house.watcher.size == house.engine.journal.size, "in the same turn, without waiting a second"


@witnessed
async def test_sabotage_a_ticket_that_waits_for_nobody_is_told_before_the_witness_has_seen_it(
    house: Witnessed,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        handlers: dict[Any, Any] = {**dispatcher.HANDLERS, TicketOutRequest: tickets.ticket_out}
        patched.setattr(dispatcher, "HANDLERS", handlers)
        line = await house.came("P1")
        assert (await line.answer("ticket-out", **OUT))["type"] == "done"
        assert house.watcher.size < house.engine.journal.size


async def money_requests(house: Witnessed) -> dict[str, dict[str, Any]]:
    """Every request by which money leaves the house, and what it is answered."""
    terminal, cage = await house.came("P1"), await house.came_as(Role.CASHIER)
    sent = {
        "ticket-out": terminal.asks("ticket-out", **OUT),
        "redeem-ticket": cage.asks(
            "do", do={"command": "redeem-ticket", "ticket": "7KQ2-91XM-4TZC-0R5H-E8VD"}
        ),
        "take-out": cage.asks("do", do={"command": "take-out", "id": "m1", "amount": 1}),
        "settle-claim": cage.asks("settle-claim", table="T1", claim="c1"),
    }
    await house.settle()
    return {name: (terminal if name == "ticket-out" else cage).answer_to(id_) for name, id_ in sent.items()}


@witnessed
async def test_no_money_leaves_while_the_witness_is_silent_and_the_floor_plays(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(1.05)
    size = house.engine.journal.size
    for name, answer in (await money_requests(house)).items():
        assert (answer["type"], answer["reason"]) == ("refused", "unwitnessed"), (name, answer)
        assert answer["clause"] == "house:witness"
    assert house.engine.journal.size == size, "nothing is booked"
    assert house.engine.table("T1").seats["1"].held == CREDITS
    await house.opens_bets()
    line = await house.came("P1")
    (bet,) = line.bets()
    await house.settle()
    assert line.answer_to(bet)["type"] == "done"
    cage = await house.came_as(Role.CASHIER)
    assert (await cage.answer("sell-ticket", amount=500))["type"] == "done", "cash comes in"


@witnessed
async def test_money_leaves_again_when_the_witness_answers(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(10)
    house.watcher.is_silent = False
    await house.pass_(2)
    assert (await (await house.came("P1")).answer("ticket-out", **OUT))["type"] == "done"


@witnessed
async def test_a_ticket_that_is_booked_when_the_witness_becomes_silent_is_told_to_nobody(
    house: Witnessed,
) -> None:
    await house.opens_bets()
    await house.pass_(1.05)
    line = await house.came("P2")
    house.watcher.silent_after = 0
    asked = line.asks("ticket-out", id="out-1", table="T1", seat="2")
    await house.pass_(WITNESSED_WITHIN + 2)
    answer = line.answer_to(asked)
    assert (answer["type"], answer["reason"]) == ("refused", "unwitnessed")
    assert "booked, but not witnessed" in answer["message"]
    (ticket,) = house.engine.house().tickets
    assert "ticket" not in answer
    listed = line.asks("tickets", table="T1", seat="2")
    await house.pass_(WITNESSED_WITHIN + 2)
    assert line.answer_to(listed)["type"] == "refused"
    told = list(line.messages)
    house.watcher.silent_after, house.watcher.is_silent = None, False
    await house.pass_(2)
    again = await (await house.came("P2")).answer("ticket-out", id="out-1", table="T1", seat="2")
    assert (again["type"], again["again"]) == ("done", True)
    assert ticket_numbers(house.engine, bytes(KEY_BYTES)).id_of(again["ticket"]) == ticket
    assert all(again["ticket"] not in message for message in told)


@witnessed
async def test_a_ticket_that_is_cashed_when_the_witness_becomes_silent_is_paid_once(house: Witnessed) -> None:
    cage = await house.came_as(Role.CASHIER)
    sold = await cage.answer("sell-ticket", amount=500)
    await house.pass_(1.05)
    redeem = {"command": "redeem-ticket", "ticket": sold["ticket"]}
    house.watcher.silent_after = 0
    asked = cage.asks("do", id="pay-1", do=redeem)
    await house.pass_(WITNESSED_WITHIN + 2)
    refused = cage.answer_to(asked)
    assert (refused["reason"], "amount" in refused) == ("unwitnessed", False)
    house.watcher.silent_after, house.watcher.is_silent = None, False
    await house.pass_(2)
    other = await house.came_as(Role.CASHIER)
    assert (await other.answer("do", id="pay-2", do=redeem))["type"] == "refused"
    paid = await other.answer("do", id="pay-1", do=redeem)
    assert (paid["type"], paid["amount"], paid["again"]) == ("done", 500, True)


@witnessed
async def test_a_stop_does_not_wait_for_ever_for_a_witness(house: Witnessed) -> None:
    house.watcher.silent_after = 0
    line = await house.came("P1")
    line.asks("ticket-out", **OUT)
    await house.settle()
    before = house.loop.time()
    await house.casino.stop()
    assert house.loop.time() - before < WITNESSED_WITHIN + 5


@witnessed
async def test_no_money_leaves_a_house_whose_journal_cannot_be_sealed(house: Witnessed) -> None:
    def full(_newest: object) -> None:
        raise UnwritableError("disk full")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(house.store, "keep_newest", full)
        line = await house.came("P1")
        asked = line.asks("ticket-out", id="out-1", **OUT)
        await house.pass_(WITNESSED_WITHIN + 2)
        assert "disk full" in line.answer_to(asked)["message"]
        assert house.alarms() == {"journal-unsealed": "The journal cannot be sealed: disk full"}
    await house.pass_(2)
    assert house.alarms() == {}
    assert (await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT))["type"] == "done"


@witnessed
async def test_nobody_relies_on_a_seal_that_failed(house: Witnessed) -> None:
    """Those who wait while a checkpoint is on its way share the next one; but not its failure."""

    def full(_newest: object) -> None:
        raise UnwritableError("disk full")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(house.store, "keep_newest", full)
        await house.noted()
        cover = house.casino.sealing.cover
        answers = await asyncio.gather(cover(), cover(), cover(), cover(), return_exceptions=True)
    assert [type(answer) for answer in answers] == [UnwritableError] * 4, answers


@witnessed
async def test_what_is_witnessed_already_is_not_sent_again(house: Witnessed) -> None:
    line = await house.came("P1")
    assert (await line.answer("ticket-out", id="out-1", **OUT))["type"] == "done"
    asked = len(house.watcher.asked)
    for _ in range(5):
        assert (await line.answer("tickets", **OUT))["tickets"]
    assert len(house.watcher.asked) == asked


# Two people decide


@witnessed
async def test_two_people_let_money_leave_for_a_stated_time(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(2)
    line = await house.came("P1")
    assert (await line.answer("ticket-out", **OUT))["reason"] == "unwitnessed"
    (event,) = await house.overridden()
    assert isinstance(event, WitnessOverridden)
    assert (event.second, event.reason, event.until) == (MANAGER, "the line is down", event.at + 3_600_000)
    assert (await line.answer("ticket-out", **OUT))["type"] == "done"
    newest = house.store.newest()
    assert newest is not None
    assert newest.size == house.engine.journal.size, "it is sealed all the same"
    await house.pass_(3_600)
    answer = await (await house.came("P2")).answer("ticket-out", table="T1", seat="2")
    assert answer["reason"] == "unwitnessed"


@witnessed
async def test_an_override_under_a_clock_that_was_ahead_ends_with_that_clock(house: Witnessed) -> None:
    """Else eight hours become a year: the clock is set ahead, two people decide, it is set right again."""
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(2)
    right, ahead = house.clock.now, [365 * 24 * 3_600_000]
    house.clock.now = lambda: right() + ahead[0]  # type: ignore[method-assign]
    await house.overridden(hours=8)
    assert house.casino.sealing.refusal() is None
    ahead[0] = 0
    assert house.casino.sealing.refusal() is not None


@witnessed
async def test_a_witness_is_asked_again_while_it_is_overridden(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(2)
    await house.overridden(hours=8)
    house.watcher.is_silent = False
    await house.pass_(3)
    assert house.watcher.size == house.engine.journal.size
    assert house.link.problem is None


@witnessed
async def test_an_override_needs_two_people_a_reason_and_at_most_eight_hours(house: Witnessed) -> None:
    for fields in (
        {"second": None},
        {"second": PEOPLE[Role.PIT_MANAGER]},
        {"second": CASHIER},
        {"second": "nobody"},
        {"reason": ""},
        {"reason": "x" * 501},
        {"hours": 0},
        {"hours": 9},
        {"hours": True},
    ):
        assert isinstance(await house.overridden(**fields), Refusal), fields
    assert not isinstance(await house.overridden(hours=8), Refusal)


@witnessed
async def test_an_override_is_sent_by_a_supervisor_with_an_approval(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(ALARM_AFTER / 1_000 + 2)
    sent = {"do": {"command": "override-witness", "hours": 1, "reason": "the line is down"}}
    cage = await house.came_as(Role.CASHIER)
    assert (await cage.answer("do", **sent))["reason"] == "not-permitted"
    session = house.session(Role.PIT_MANAGER)
    pit = await house.came(session)
    assert (await pit.answer("do", **sent))["reason"] == "second-person"
    asking = {"request": {"type": "do", **sent}}
    asked = (await house.request("POST", "/api/approvals", asking, session=session)).said["approval"]
    path = f"/api/approvals/{asked}/approve"
    for role, status in ((Role.CASHIER, 403), (Role.PIT_MANAGER, 403), (Role.SHIFT_MANAGER, 200)):
        second = session if role is Role.PIT_MANAGER else house.session(role)
        assert (await house.request("POST", path, {}, session=second)).status == status, role
    assert (await pit.answer("do", **sent, approval=asked))["type"] == "done"
    view = await house.pit()
    assert "let money leave for 1 hours" in view.alarms[-1].says.en


# The pit


@witnessed
async def test_the_pit_is_told_why_no_money_leaves_and_when_it_does_again(house: Witnessed) -> None:
    house.watcher.is_silent = True
    await house.noted()
    await house.pass_(ALARM_AFTER / 1_000 - 1)
    assert (await house.pit()).no_money is None
    assert house.alarms() == {}, "a restart of the witness needs no alarm"
    await house.pass_(3)
    view = await house.pit()
    assert "cannot be reached" in view.no_money.en
    (text,) = house.alarms().values()
    assert text.startswith("No money leaves the house")
    assert "cannot be reached" in text
    await house.pass_(60)
    assert house.alarms() == {"witness-silent": text}
    assert house.casino.sealing.silent_seconds > 60
    assert "taisai_witness_silent_seconds" in house.dispatcher.metrics.text().decode()
    house.watcher.is_silent = False
    await house.pass_(2)
    view = await house.pit()
    assert view.no_money is None
    assert house.alarms() == {}
    assert house.casino.sealing.silent_seconds == 0


@pytest.mark.parametrize("name", [NO_WITNESS, UNSEALED_TAIL])
def test_what_a_start_found_of_witnesses_is_a_warning_in_the_pit(name: str) -> None:
    async def main(loop: Any) -> None:
        house = Witnessed(loop, notes={name: Words("look", "请查看")})
        await house.casino.start()
        await house.pass_(1)
        (alarm,) = house.casino.alarms.standing()
        assert (alarm.name, alarm.grave, alarm.says.en) == (name, False, "look")
        await house.pass_(TAIL_STAYS / 1_000)
        assert (name in house.alarms()) is (name == NO_WITNESS)

    run(main)


@witnessed
async def test_a_sealing_server_looks_at_what_is_stored_and_stops_when_it_is_fenced(house: Witnessed) -> None:
    def fenced() -> None:
        raise FencedError("fenced: another process has written to the journal")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(house.store, "expect_writer", fenced)
        await house.pass_(1.1)
    assert house.casino.queue.in_doubt.is_set()
    assert "fenced" in (house.casino.queue.trouble or "")


@witnessed
async def test_a_stop_that_cannot_be_sealed_says_so(house: Witnessed) -> None:
    def full(_newest: object) -> None:
        raise UnwritableError("disk full")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(house.store, "keep_newest", full)
        await house.casino.stop()
    assert house.casino.unwritten == "disk full"


# A witness that lies, or has seen more


@witnessed
async def test_a_witness_that_says_it_has_seen_less_than_it_cosigned_is_not_believed(
    house: Witnessed,
) -> None:
    house.watcher.says = 3
    await house.noted()
    await house.pass_(2)
    answer = await (await house.came("P1")).answer("ticket-out", **OUT)
    assert answer["reason"] == "unwitnessed"
    assert "has forgotten, or lies" in answer["message"]


@witnessed
async def test_a_witness_that_has_seen_more_stops_all_money_and_nobody_overrides_it(
    house: Witnessed,
) -> None:
    """A copy of the journal runs elsewhere, or this one was cut while the witness could not be asked."""
    await house.pass_(3)  # that the witness is a new one is recorded
    house.watcher.says = house.engine.journal.size + 1_000
    await house.noted()
    await house.pass_(2)
    line = await house.came("P1")
    answer = await line.answer("ticket-out", **OUT)
    assert "999 entries are missing" in answer["message"], answer
    assert not isinstance(await house.overridden(), Refusal)
    assert (await line.answer("ticket-out", **OUT))["reason"] == "unwitnessed"
    house.watcher.says = None
    await house.pass_(5)
    assert (await line.answer("ticket-out", **OUT))["reason"] == "unwitnessed", "until people have looked"
    view = await house.pit()
    assert "entries are missing" in view.no_money.en
    assert "entries are missing" in house.alarms()["witness-contradicts"]


@witnessed
async def test_a_checkpoint_whose_answer_was_lost_is_no_contradiction(house: Witnessed) -> None:
    add = house.watcher.add

    def lost(*given: Any) -> Any:
        add(*given)
        house.watcher.add = add  # type: ignore[method-assign]
        raise SilentWitnessError("the answer was lost")

    house.watcher.add = lost  # type: ignore[method-assign, assignment]
    await house.noted()
    await house.pass_(3)
    assert house.watcher.size == house.engine.journal.size
    assert (await (await house.came("P1")).answer("ticket-out", **OUT))["type"] == "done"
