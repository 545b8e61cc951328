"""The new acts at the consoles: held reports, what was not recorded, corrections, rounds played by hand."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from taisai.rules import rulebook
from tests.pages.browser import PHONE, screenshot
from tests.pages.dealing import Crew
from tests.pages.demo_server import Laid
from tests.pages.page_checks import axe, overflow
from tests.pages.people import DESK, People
from tests.pages.screens import ConsoleScreen, Screen
from tests.pages.server_process import BOOKS, House
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="pages")
CAMERA = "camera 4, 21:03:10"
_FIELDS = """(form) => [...new Set([...form.querySelectorAll("[data-testid^=field-]")]
    .map((one) => one.dataset.testid.split("-")[1]))]"""


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


async def filled(console: Screen, within: str = "act-dialog", **fields: str) -> None:
    """Fills in texts and amounts, and chooses from lists."""
    form = console.at(within)
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


async def in_both_languages(page: Page, name: str, at: Locator | None = None) -> None:
    """Keeps pictures of a page at a desk and on a phone, in English and Chinese; it fits all of them."""
    language = page.get_by_test_id("language")
    for code, size in sampled(f"pictures of {name}", product(("zh", "en"), ("phone", "desk")), 1):
        await language.select_option(code)
        await page.set_viewport_size({"phone": PHONE, "desk": DESK}[size])
        if at is not None:
            await at.scroll_into_view_if_needed()
        await pictured(page, f"{name}-{size}-{code}")
        assert await overflow(page) == 0, (name, size, code)
    await page.set_viewport_size(DESK)
    await language.select_option("en")


async def _asked(screen: Screen) -> list[str]:
    """The fields that a form shows, beside the choice of what was wrong."""
    fields: list[str] = await screen.page.get_by_test_id("form").evaluate(_FIELDS)
    return [field for field in fields if field != "change"]


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
        then = head.at("report-h1").get_by_test_id("report-then")
        await expect(then).to_contain_text("The round continues")
        await pictured(head.page, "held")
        assert await axe(head.page) == []
        await expect(console.at("next")).to_be_disabled()  # not by the person who reported
        await head.next_is("confirm-report")
        await head.at("next").click()
        await head.next_is("press-deal")  # a die was seen after the close: the round goes on (MBS 5.13.2)
        assert len(house.events(table, "report-confirmed")) == 1
        await crew.catches_up()
        await crew.to("open")
        player = await house.player(table, buys=100_00)
        await player.bets_open(within=10)
        await player.place({"small": 20_00})
        await crew.to("between")
        # The dealer reports that the result of the round was wrong; the pit sees what it would confirm.
        await console.reports("wrong-result", "faces")
        await console.at("wrong-dialog").get_by_test_id("field-round").fill("2")
        await console.confirms()
        pit = await people.pit()
        await pit.get_by_test_id(f"confirm-{table}").click()
        waits = pit.get_by_test_id("report-h2")
        await expect(waits.get_by_test_id("report-entered")).to_have_attribute("data-faces", "1,2,3")
        await expect(waits.get_by_test_id("report-shown")).to_have_attribute("data-faces", "6,6,6")
        await expect(waits.get_by_test_id("report-money")).to_contain_text("40.00")
        await expect(waits.get_by_test_id("report-money")).to_contain_text("-40.00")
        await in_both_languages(pit, "pit-held", waits)
        assert await axe(pit) == []
        await pit.get_by_test_id("act-confirm-report").click()
        await pit.get_by_test_id("confirm").click()
        await expect(waits).to_have_count(0)
        (again,) = house.events(table, "round-resettled")
        assert (again["entered"], again["faces"]) == ([1, 2, 3], [6, 6, 6])
        await player.close()
        await crew.catches_up()
        await crew.to("closed-tumbled")
        await _power_fails(console)
        await opened(head, "contest-report", "contest")
        await filled(head, reason="nobody saw it")
        await sent(head)
        assert [one["subject"] for one in house.events(table, "referred")] == ["power-failure"]
        page = await people.at("/round", **_as(crew.head_rank), table=table, round="3")
        await expect(page.get_by_test_id("incidents")).to_contain_text("A second person contested the report")
        await expect(page.get_by_test_id("incidents")).to_contain_text("nobody saw it")
        await pictured(page, "round-contested")


async def _corrects_the_record(head: ConsoleScreen, house: House, table: str) -> None:
    """A chip that was not recorded is added, and its stake put right: the form has what each needs."""
    await opened(head, "correct-record", "correct-record")
    assert await axe(head.page) == []
    assert await _asked(head) == ["reason", "evidence"]
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


async def _withdraws(console: ConsoleScreen, house: House, table: str) -> None:
    """Power fails; the choice of the seat is recorded at the console, or that all were asked, in one act."""
    await console.reports("power-failure")
    await console.confirms()
    await console.next_is("close-withdrawal")
    await expect(console.at("next")).to_contain_text("all others were asked and stay")
    await expect(console.at("withdrawal")).to_contain_text("20.00")
    await in_both_languages(console.page, "withdrawal")
    assert await axe(console.page) == []
    await console.at("withdrawal").get_by_test_id("withdraws").click()
    await expect(console.at("withdrawal").get_by_test_id("withdraws")).to_have_count(0)
    assert [choice["withdraw"] for choice in house.events(table, "withdrawal-chosen")] == [True]


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
        await expect(console.at("irregularity-wrong-result")).to_contain_text("“Enter the result”")
        await console.page.keyboard.press("Escape")
        await _corrects_the_record(await people.console(table, crew.head_rank), house, table)
        pit = await people.pit()
        await expect(pit.get_by_test_id("alarms")).to_contain_text("corrected the record")
        await pictured(pit, "pit-alarm")
        await crew.to("between")
        page = await people.at("/round", **_as(crew.head_rank), table=table, round="1")
        await expect(page.get_by_test_id("incidents")).to_contain_text(CAMERA)
        await pictured(page, "round-corrected")
        # The next round: power fails with bets open. Each seat's choice is recorded (MBS 5.13.1).
        await crew.to("open")
        await one.is_open()
        await one.bets("small", 20_00)
        await _withdraws(console, house, table)
        await crew.catches_up()
        await crew.to("between")  # all withdrew: the round ends without a result
        # The next one: power fails with bets open, and a die was seen (MBS 5.2, 5.13.2).
        await crew.to("open-tumbled")
        await console.reports("power-failure")
        await console.at("field-seen-yes").check()
        await pictured(console.page, "seen")
        await console.confirms()
        await console.is_in("between")
        assert [one["clause"] for one in house.events(table, "round-voided")] == ["5.2"]


async def _enters_a_round(head: ConsoleScreen) -> None:
    """A round that was played by hand is entered by two."""
    await opened(head, "enter-round", "by-hand")
    assert await axe(head.page) == []
    await head.at("by-hand-add").click()
    await head.at("by-hand-stake-0").fill("20")
    for face in (4, 5, 6):
        await head.at("act-dialog").get_by_test_id(f"face-{face}").click()
    await filled(head, evidence=CAMERA, reason="the system was down")
    await pictured(head.page, "by-hand-filled")
    await sent(head, second=True)


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
        await console.next_is("declare")
        await expect(console.at("act-declare-unrecorded")).to_be_visible()
        await in_both_languages(console.page, "declaration-due")
        await opened(console, "declare-unrecorded", "unrecorded")
        assert await axe(console.page) == []
        dialog = console.at("act-dialog")
        await filled(console, called="yes", tumbles="3", seen="yes", early="no", settled="yes")
        for face in (1, 2, 3):
            await dialog.get_by_test_id(f"face-{face}").click()
        await pictured(console.page, "unrecorded-filled")
        await sent(console, second=True)
        head = await people.console("MBS1", "shift-manager")
        await head.next_is("enter-settlement")
        await head.at("next").click()
        await expect(head.at("act-dialog")).to_be_visible()
        await pictured(head.page, "settlement")
        await head.at("act-dialog").locator("[data-testid^=sum-]").first.fill("40")
        await filled(head, evidence=CAMERA, reason="settled by hand")
        await sent(head, second=True)
        (entered,) = own.events("MBS1", "settlement-entered")
        assert list(entered["returned"].values()) == [40_00]
        async with Crew(own, "MBS1") as crew:
            await crew.to("between")
            await _enters_a_round(head)
            page = await people.at("/round", **_as("shift-manager"), table="MBS1", round="2")
            await expect(page.get_by_test_id("by-hand")).to_be_visible()
            await pictured(page, "round-by-hand")
            pit = await people.pit()
            for act in ("round 2, which was played by hand", "settlement of round 1, which was made by hand"):
                await expect(pit.get_by_test_id("alarms")).to_contain_text(act)
            await head.page.get_by_label("Language").select_option("zh")
            await opened(head, "enter-round", "by-hand-zh")


async def test_us_5_a_the_lights_are_tried_with_numbers_and_the_recorder_corrects_the_record(
    people: People, house: House
) -> None:
    table = house.fresh("US")
    async with Crew(house, table) as crew:
        while not crew.due("inspect", item="electrical-device"):
            await crew.step()
        console = await people.console(table, "floorperson")
        await console.next_is("inspect")
        await console.at("next").click()
        dialog = console.at("act-dialog")
        await dialog.get_by_test_id("field-passed-yes").check()
        await expect(dialog.get_by_test_id("confirm")).to_be_disabled()  # without numbers and lights
        for face in (1, 2, 4):
            await dialog.get_by_test_id(f"face-{face}").click()
        await expect(dialog.get_by_test_id("confirm")).to_be_disabled()
        preview = await crew.dealer.preview((1, 2, 4))
        for area in preview.lit["A"]:
            await dialog.get_by_test_id(f"area-{area}").check()
        await pictured(console.page, "inspection")
        assert await axe(console.page) == []
        await sent(console)
        assert [one["entered"] for one in house.events(table, "item-inspected")][-1] == [1, 2, 4]
        await crew.catches_up()
        await crew.to("open")
        player = await house.player(table, buys=100_00)
        await player.bets_open(within=10)
        await player.place({"small": 20_00})
        page = await people.at("/recorder", **_as("casino-supervisor"), table=table)
        recorder = Screen(page)
        await recorder.at("act-correct-record").first.click()
        shown = {}
        for change in ("add", "remove", "stake", "seat", "area", "split"):
            await recorder.at(f"field-change-{change}").check()
            shown[change] = await _asked(recorder)
        says = ["reason", "evidence"]
        assert shown == {
            "add": ["seat", "means", "area", "stake", *says], "remove": ["id", *says],
            "stake": ["id", "stake", *says], "seat": ["id", "seat", *says],
            "area": ["id", "area", *says], "split": ["id", "stake", "area", "seat", *says],
        }  # fmt: skip
        assert await axe(page) == []
        await recorder.at("field-change-add").check()
        await filled(recorder, within="offer", means="cash-chips", area="big", stake="20")
        await recorder.at("offer").locator("[data-testid^=field-seat-]").first.check()
        await filled(recorder, within="offer", reason="a chip was not recorded", evidence=CAMERA)
        await pictured(page, "recorder-correction")
        await recorder.at("offer").get_by_test_id("confirm").click()
        await expect(recorder.at("offer")).to_have_count(0)
        (added,) = house.events(table, "record-corrected")
        assert (added["change"], added["after"]["stake"]) == ("add", 20_00)
        await in_both_languages(page, "recorder")
        await player.close()


async def test_rws_5_10_a_shift_manager_reads_each_interpretation_and_adopts_them_by_name(
    people: People,
) -> None:
    page = await people.at("/office", **_as("shift-manager"))
    await page.get_by_test_id("tab-interpretations").click()
    edition = page.get_by_test_id("edition-rws-sic-bo-etg-v8-2")
    await expect(edition).to_contain_text("5.10")
    assert await axe(page) == []
    adopt, boxes = edition.get_by_test_id("adopt"), edition.locator("[data-testid^=read-]")
    book = rulebook("rws-sic-bo-etg-v8")
    assert await boxes.count() == len(book.interpretations)
    for place, one in enumerate(book.interpretations):
        await expect(adopt).to_be_disabled()
        shown = edition.get_by_test_id(f"interpretation-{place}")
        for text in (one.reading, one.reason, *(book.clauses[clause].says for clause in one.clauses)):
            await expect(shown).to_contain_text(text)
        await boxes.nth(place).check()
    await in_both_languages(page, "interpretations")
    await adopt.click()
    await expect(edition.get_by_test_id("adoption")).to_contain_text("Adopted by Sam Rivers, ")
    await page.reload()
    await page.get_by_test_id("tab-interpretations").click()
    await expect(page.get_by_test_id("adopted")).to_contain_text(
        "rws-sic-bo-etg-v8, edition 2 · Adopted by Sam Rivers"
    )
    await expect(adopt).to_have_count(0)
    await in_both_languages(page, "adopted")
