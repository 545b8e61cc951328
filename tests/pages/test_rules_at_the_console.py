"""The new acts at the consoles: held reports, what was not recorded, corrections, rounds played by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.pages.browser import screenshot
from tests.pages.dealing import Crew
from tests.pages.demo_server import Laid
from tests.pages.page_checks import axe
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen
from tests.pages.server_process import BOOKS, House

pytestmark = pytest.mark.part(name="pages")
CAMERA = "camera 4, 21:03:10"


def _as(rank: str) -> dict[str, Any]:
    """The rank that looks at a page; `as` is no name in Python."""
    return {"as": rank}


async def opened(console: ConsoleScreen, command: str, name: str) -> None:
    """Opens the form of an act among the others, and keeps a picture of it."""
    button = console.at(f"act-{command}").first
    if not await button.is_visible():
        await console.at("side-acts").click()
    await button.click()
    await expect(console.at("act-dialog")).to_be_visible()
    await pictured(console.page, name)


async def pictured(page: Page, name: str) -> None:
    """Keeps what the page shows."""
    await screenshot(page, f"rules-{name}")


async def filled(console: ConsoleScreen, **fields: str) -> None:
    """Fills in texts and amounts, and chooses from lists."""
    form = console.at("act-dialog")
    for name, value in fields.items():
        field = form.get_by_test_id(f"field-{name}")
        if await field.count() == 0:
            await form.get_by_test_id(f"field-{name}-{value}").check()
        elif await field.evaluate("(one) => one.tagName") == "SELECT":
            await field.select_option(value)
        else:
            await field.fill(value)


async def sent(console: ConsoleScreen, *, second: bool = False) -> None:
    """Sends the form, with a second person where one is needed."""
    await console.at("act-dialog").get_by_test_id("confirm").click()
    if second:
        await console.at("second-agree").click()
    await expect(console.at("act-dialog")).to_have_count(0)


async def _power_fails(console: ConsoleScreen) -> None:
    """The dealer reports that the power failed and that a die was seen; the round waits."""
    await console.reports("power-failure")
    await console.at("field-seen-yes").check()
    await console.confirms()
    await expect(console.at("board")).to_have_attribute("data-hold", "confirmation")


async def test_a_report_waits_for_a_second_person_who_confirms_or_contests_it(
    people: People, house: House
) -> None:
    table = house.fresh("MBS")
    async with Crew(house, table) as crew:
        await crew.to("closed-tumbled")
        console, head = await asyncio.gather(people.console(table), people.console(table, crew.head_rank))
        await _power_fails(console)
        await pictured(head.page, "held")
        assert await axe(head.page) == []
        await expect(console.at("next")).to_be_disabled()  # not by the person who reported
        await head.next_is("confirm-report")
        await head.at("next").click()
        await head.next_is("press-deal")  # a die was seen after the close: the round goes on (MBS 5.13.2)
        assert len(house.events(table, "report-confirmed")) == 1
        await crew.catches_up()
        await crew.to("between")
        await crew.to("closed-tumbled")
        await _power_fails(console)
        await opened(head, "contest-report", "contest")
        await filled(head, reason="nobody saw it")
        await sent(head)
        assert [one["subject"] for one in house.events(table, "referred")] == ["power-failure"]
        page = await people.at("/round", **_as(crew.head_rank), table=table, round="2")
        await expect(page.get_by_test_id("incidents")).to_contain_text("A second person contested the report")
        await expect(page.get_by_test_id("incidents")).to_contain_text("nobody saw it")
        await pictured(page, "round-contested")


async def test_the_close_needs_no_tumble_a_die_seen_before_it_voids_and_the_record_follows_the_chips(
    people: People, house: House
) -> None:
    table = house.fresh("MBS")
    async with Crew(house, table) as crew:
        await crew.ready()
        console, one = await asyncio.gather(people.console(table), people.terminal(table))
        await one.buys()
        await console.steps("open-bets", "open")
        await one.bets("small", 20_00)
        await console.at("act-close-bets").click()  # no tumble yet: the close is a fact (MBS 3.2, 5.6)
        await console.is_in("closed")
        await console.at("something-wrong").click()
        await expect(console.at("irregularity-wrong-result")).to_contain_text("enter what the dice")
        await console.page.keyboard.press("Escape")
        head = await people.console(table, crew.head_rank)
        await opened(head, "correct-record", "correct-record")
        assert await axe(head.page) == []
        await filled(head, change="add", means="cash-chips", area="big", stake="20")
        await head.at("act-dialog").locator("[data-testid^=field-seat-]").first.check()
        await filled(head, reason="a chip was not recorded", evidence=CAMERA)
        await sent(head)
        await opened(head, "correct-record", "correct-record-again")
        await filled(head, change="stake", reason="there were five", evidence=CAMERA, stake="50")
        chosen = head.at("act-dialog").get_by_test_id("field-id")
        await expect(chosen.locator("option")).to_have_count(2)  # the chips, and not the terminal's own bet
        await chosen.select_option(index=1)
        await pictured(head.page, "correct-record-filled")
        await sent(head)
        added, put_right = house.events(table, "record-corrected")
        assert (added["change"], added["after"]["stake"], added["evidence"]) == ("add", 20_00, CAMERA)
        assert (put_right["before"]["stake"], put_right["after"]["stake"]) == (20_00, 50_00)
        pit = await people.pit()
        await expect(pit.get_by_test_id("alarms")).to_contain_text("corrected the record")
        await pictured(pit, "pit-alarm")
        await crew.to("between")
        page = await people.at("/round", **_as(crew.head_rank), table=table, round="1")
        await expect(page.get_by_test_id("incidents")).to_contain_text(CAMERA)
        await pictured(page, "round-corrected")
        # The next round: power fails with bets open, and a die was seen (MBS 5.2, 5.13.2).
        await crew.to("open-tumbled")
        await console.reports("power-failure")
        await console.at("field-seen-yes").check()
        await pictured(console.page, "seen")
        await console.confirms()
        await console.is_in("between")
        assert [one["clause"] for one in house.events(table, "round-voided")] == ["5.2"]


async def test_after_a_stop_what_happened_unrecorded_is_declared_and_the_settlement_entered(
    people: People, tmp_path: Path
) -> None:
    own = House(tmp_path, (Laid(name="MBS1", book=BOOKS["MBS"]),))
    people.house = own
    people.watch.allow("WebSocket connection", "ERR_CONNECTION_REFUSED")
    async with own:
        async with Crew(own, "MBS1") as crew:
            await crew.ready()
            one = await people.terminal("MBS1")
            await one.buys()
            await crew.to("open")
            await one.bets("small", 20_00)
        await own.kill()
        await own.start()
        await one.is_("open")
        console = await people.console("MBS1")
        await opened(console, "declare-unrecorded", "unrecorded")
        assert await axe(console.page) == []
        dialog = console.at("act-dialog")
        await filled(console, called="yes", tumbles="3", seen="yes", early="no", settled="yes")
        for face in (1, 2, 3):
            await dialog.get_by_test_id(f"face-{face}").click()
        await pictured(console.page, "unrecorded-filled")
        await sent(console, second=True)
        head = await people.console("MBS1", "shift-manager")
        await opened(head, "enter-settlement", "settlement")
        await head.at("act-dialog").locator("[data-testid^=sum-]").first.fill("40")
        await filled(head, evidence=CAMERA, reason="settled by hand")
        await sent(head, second=True)
        (entered,) = own.events("MBS1", "settlement-entered")
        assert list(entered["returned"].values()) == [40_00]
        async with Crew(own, "MBS1") as crew:
            await crew.to("between")
            await opened(head, "enter-round", "by-hand")
            assert await axe(head.page) == []
            await head.at("by-hand-add").click()
            await head.at("by-hand-stake-0").fill("20")
            for face in (4, 5, 6):
                await head.at("act-dialog").get_by_test_id(f"face-{face}").click()
            await filled(head, evidence=CAMERA, reason="the system was down")
            await pictured(head.page, "by-hand-filled")
            await sent(head, second=True)
            page = await people.at("/round", **_as("shift-manager"), table="MBS1", round="2")
            await expect(page.get_by_test_id("by-hand")).to_be_visible()
            await pictured(page, "round-by-hand")
            await head.page.get_by_label("Language").select_option("zh")
            await opened(head, "enter-round", "by-hand-zh")
