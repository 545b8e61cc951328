"""Settings of a house that are held to while it runs: how dice come in, which rulebooks are approved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from taisai.cage.messages import SellTicket
from taisai.game.commands import Perform
from taisai.game.events import ReadingTaken
from taisai.game.refusals import Refusal
from taisai.rules import Act, Rulebook
from taisai.server.auth.permissions import Role
from taisai.server.config.tables import DiceIn
from taisai.server.handlers import commands
from taisai.server.handlers.transfers import ticket_number
from tests.server.virtual_server import PEOPLE, Connected, connected

NO_MORE = "expected a rulebook approved for 2026-11-17, got one that is not"
REFUSED = ["refused", "ruled-out", "house:approvals", NO_MORE]


async def closed(house: Connected) -> None:
    """Bets are closed, and a device may tell what it saw."""
    await house.opens_bets("T1")
    for act, by, more in (
        (Act.CLOSE_BETS, "clock", {}), (Act.TUMBLE, PEOPLE[Role.DEALER], {"tumbles": 3}),
        (Act.UNCOVER, PEOPLE[Role.DEALER], {}),
    ):  # fmt: skip
        fields: dict[str, Any] = more
        answer = await house.do(Perform(at=house.clock.now(), by=by, act=act, **fields), "T1")
        assert not isinstance(answer, Refusal), answer


def planned(house: Connected, **changes: Any) -> None:
    """The same house under another plan; `dice` is that of its tables."""
    plan = house.casino.plan
    if "dice" in changes:
        changes["tables"] = [replace(one, dice=changes["dice"]) for one in plan.tables]
        del changes["dice"]
    house.dispatcher.context.plan = replace(plan, **changes)


# How dice come in


@connected()
async def test_a_device_is_heard_where_the_configuration_says_so(house: Connected) -> None:
    shaker = await house.came("S1")
    await closed(house)
    for dice in (DiceIn.KEYS, DiceIn.DEVICE):
        planned(house, dice=dice)
        told = await shaker.answer("reading", table="T1", reading=f"r-{dice}", faces=[1, 2, 3])
        taken = [event for event in house.events() if isinstance(event, ReadingTaken)]
        if dice is DiceIn.DEVICE:
            assert told["type"] == "done"
            assert [event.reading for event in taken] == ["r-device"]
        else:
            assert (told["reason"], told["clause"]) == ("wrong-means", "house:readings")
            assert told["message"] == "readings need dice = 'device' in casino.toml, for the table 'T1'"
            assert taken == []


@connected()
async def test_faults_of_a_device_are_refused_with_its_readings(house: Connected) -> None:
    shaker = await house.came("S1")
    await closed(house)
    planned(house, dice=DiceIn.KEYS)
    assert (await shaker.answer("reading", table="T1", reading="f", fault="down"))["reason"] == "wrong-means"
    house.dispatcher.context.plan = replace(house.dispatcher.context.plan, tables=())
    assert (await shaker.answer("reading", table="T1", reading="f", fault="down"))["reason"] == "wrong-means"


# Approvals


class Asked:
    """Approves of everything until it does not, and keeps what it was asked."""

    def __init__(self, house: Connected) -> None:
        self.says: str | None = None
        self.asked: list[tuple[str, int]] = []
        planned(house, approved=self)

    def __call__(self, book: Rulebook, now: int) -> str | None:
        self.asked.append((book.id, now))
        return self.says


BEGIN = {"command": "begin-day", "day": "2026-11-17"}


@connected()
async def test_a_table_is_not_opened_by_a_rulebook_that_is_approved_no_more(house: Connected) -> None:
    line, approved = await house.came_as(Role.SHIFT_MANAGER), Asked(house)
    approved.says = NO_MORE
    told = await line.answer("open-table", table="T3")
    assert [told.get(name) for name in ("type", "reason", "clause", "message")] == REFUSED
    assert "T3" not in house.engine.tables()
    approved.says = None
    told = await line.answer("open-table", table="T3")
    assert (told["type"], told["clause"]) == ("refused", "5.10"), "nobody adopted its interpretations"
    plan = next(one for one in house.casino.plan.tables if one.name == "T3")
    assert plan.book.adoption is not None
    rank, clause = plan.book.adoption
    adopted = {
        "command": "adopt-interpretations", "rulebook": plan.book.id, "edition": plan.book.edition,
        "digest": plan.book.digest, "rank": str(rank), "asked_by": str(clause),
    }  # fmt: skip
    assert (await line.answer("do", do=adopted))["type"] == "done"
    assert (await line.answer("open-table", table="T3"))["type"] == "done"
    assert {book for book, _ in approved.asked} == {house.engine.table("T3").book.id}
    assert approved.asked[-1][1] == pytest.approx(house.clock.now(), abs=1_000)


@connected()
async def test_no_day_begins_by_a_rulebook_that_is_approved_no_more(house: Connected) -> None:
    line, approved = await house.came_as(Role.SHIFT_MANAGER), Asked(house)
    approved.says = NO_MORE
    told = await line.answer("do", table="T1", do=BEGIN)
    assert [told.get(name) for name in ("type", "reason", "clause", "message")] == REFUSED
    assert house.engine.table("T1").day == "2026-11-15"
    approved.says = None
    assert (await line.answer("do", table="T1", do=BEGIN))["type"] == "done"
    assert house.engine.table("T1").day == "2026-11-17"


@connected()
async def test_where_nobody_has_to_approve_nobody_is_asked(house: Connected) -> None:
    line = await house.came_as(Role.SHIFT_MANAGER)
    assert house.casino.plan.approved is None
    assert (await line.answer("open-table", table="T3"))["type"] == "done"
    assert (await line.answer("do", table="T1", do=BEGIN))["type"] == "done"
    assert (await line.answer("do", table="T9", do=BEGIN))["reason"] != "fault"


@connected()
async def test_the_pit_names_the_tables_of_the_settings_until_they_are_opened(house: Connected) -> None:
    line = await house.came_as(Role.SHIFT_MANAGER)
    shown = (await line.answer("follow", feed="pit"))["view"]
    assert shown["unopened"] == ["T3"]
    assert "T3" not in {table["name"] for table in shown["tables"]}
    assert (await line.answer("open-table", table="T3"))["type"] == "done"
    shown = (await line.answer("follow", feed="pit"))["view"]
    assert "T3" in {table["name"] for table in shown["tables"]}
    assert shown.get("unopened", []) == []


@pytest.mark.parametrize(
    "check",
    [
        test_a_table_is_not_opened_by_a_rulebook_that_is_approved_no_more,
        test_no_day_begins_by_a_rulebook_that_is_approved_no_more,
    ],
)
def test_sabotage_approvals_that_are_never_asked_again_are_seen(
    check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_not_approved", lambda *_: None)
    with pytest.raises(AssertionError):
        check()


# Tickets


@pytest.mark.parametrize("typed", [str, str.lower, lambda number: number.replace("-", " ")])
def test_the_cage_reads_a_number_as_it_is_printed(typed: Callable[[str], str]) -> None:
    number = ticket_number(b"k" * 32, "sold", "for a test")

    @connected()
    async def played(house: Connected) -> None:
        cashier = PEOPLE[Role.CASHIER]
        sold = await house.do(SellTicket(at=house.clock.now(), by=cashier, ticket=number, amount=700))
        assert not isinstance(sold, Refusal), sold
        line = await house.came_as(Role.CASHIER)
        redeem = {"command": "redeem-ticket", "ticket": typed(number)}
        assert (await line.answer("do", table=None, do=redeem))["type"] == "done"
        assert house.engine.house().tickets[number].redeemed is not None
        again = await line.answer("do", table=None, do=redeem)
        assert (again["type"], again["reason"]) == ("refused", "ruled-out")

    played()
