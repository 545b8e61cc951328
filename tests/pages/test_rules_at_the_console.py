"""The new acts at the consoles: held reports, what was not recorded, corrections, rounds played by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from taisai.client import Staff, Terminal
from taisai.protocol.commands import command
from taisai.protocol.requests import DoRequest
from taisai.rules import rulebook
from tests.pages.dealing import Crew
from tests.pages.demo_server import Laid
from tests.pages.forms import CAMERA, as_rank, asked, filled, in_both_languages, opened, pictured, sent
from tests.pages.page_checks import axe
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen, TerminalScreen
from tests.pages.server_process import BOOKS, House

pytestmark = pytest.mark.part(name="pages")

MORE_THAN_A_DAY = 25 * 3_600_000  # milliseconds


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
        await _was_wrong(console, await people.pit(), crew)
        await crew.catches_up()
        await crew.to("open")
        await player.bets_open(within=10)
        (bet,) = await player.place({"small": 20_00})
        await player.close()
        await crew.to("closed-tumbled")
        await _power_fails(console)
        await opened(head, "contest-report", "contest")
        await filled(head, reason="nobody saw it")
        await sent(head)
        assert [one["subject"] for one in house.events(table, "referred")] == ["power-failure"]
        page = await people.at("/round", **as_rank(crew.head_rank), table=table, round="3")
        await expect(page.get_by_test_id("incidents")).to_contain_text("A second person contested the report")
        await expect(page.get_by_test_id("incidents")).to_contain_text("nobody saw it")
        await pictured(page, "round-contested")
        await _decides_alone(await people.console(table, "pit-supervisor"), console, crew, bet)
        await _does_not_lie_flat(console, head, crew)


async def _was_wrong(console: ConsoleScreen, pit: Page, crew: Crew) -> None:
    """The dealer reports that the result of the round was wrong; the pit sees what it would confirm."""
    await console.reports("wrong-result", "faces")
    await console.at("wrong-dialog").get_by_test_id("field-round").fill("2")
    await console.confirms()
    await pit.get_by_test_id(f"confirm-{crew.table}").click()
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
    (again,) = crew.house.events(crew.table, "round-resettled")
    assert (again["entered"], again["faces"]) == ([1, 2, 3], [6, 6, 6])


async def _decides_alone(pit: ConsoleScreen, console: ConsoleScreen, crew: Crew, bet: str) -> None:
    """Unclear chips are the Pit Supervisor's to decide, and no second person is asked (MBS 3.12)."""
    await crew.catches_up()
    await crew.to("revealed")
    await console.reports("chips-unclear")
    await console.confirms()
    await expect(pit.at("decide")).to_be_visible()
    await expect(console.at("decide")).to_have_count(0)  # not the dealer's
    await pit.at("decide").click()
    await pit.at("decide-treat-bets").click()
    await pit.at(f"treat-{bet}").select_option("even")
    await filled(pit, within="decide-dialog", reason="most of it lay on even")
    await pictured(pit.page, "chips-unclear")
    await pit.at("decide-dialog").get_by_test_id("confirm").click()
    await expect(pit.at("decide-dialog")).to_have_count(0)
    assert [one["area"] for one in crew.house.events(crew.table, "bet-moved")] == ["even"]


async def _does_not_lie_flat(console: ConsoleScreen, head: ConsoleScreen, crew: Crew) -> None:
    """Reported by the dealer alone on a keyed result, the round waits; confirmed, it is void (MBS 5.3)."""
    await crew.catches_up()
    await crew.to("entered")
    await console.reports("die-not-flat")
    await expect(console.at("ruling")).to_have_attribute("data-ruling", "void")
    await console.confirms()
    await expect(console.at("board")).to_have_attribute("data-hold", "confirmation")
    await pictured(console.page, "not-flat-held")
    await head.next_is("confirm-report")
    await head.at("next").click()
    await console.is_in("between")
    assert [one["clause"] for one in crew.house.events(crew.table, "round-voided")] == ["5.3"]


async def _corrects_the_record(head: ConsoleScreen, house: House, table: str) -> None:
    """A chip that was not recorded is added, and its stake put right: the form has what each needs."""
    await opened(head, "correct-record", "correct-record")
    assert await axe(head.page) == []
    assert await asked(head) == ["reason", "evidence"]
    await filled(head, change="add", means="cash-chips", area="big", stake="20")
    await head.at("act-dialog").locator("[data-testid^=field-seat-]").first.check()
    await filled(head, reason="a chip was not recorded", evidence=CAMERA)
    await sent(head)
    await opened(head, "correct-record", "correct-record-again")
    await filled(head, change="stake", reason="there were five", evidence=CAMERA, stake="50")
    chosen = head.at("act-dialog").get_by_test_id("field-id")
    await expect(chosen.locator("option")).to_have_count(3)  # the chips, and not the terminal's own bet
    await chosen.select_option(index=2)
    await pictured(head.page, "correct-record-filled")
    await sent(head)
    added, put_right = house.events(table, "record-corrected")
    assert (added["change"], added["after"]["stake"], added["evidence"]) == ("add", 20_00, CAMERA)
    assert (put_right["before"]["stake"], put_right["after"]["stake"]) == (20_00, 50_00)


async def _withdraws(console: ConsoleScreen, house: House, table: str, *, stays: str) -> None:
    """Power fails; the choice of a seat is recorded at the console, or that all were asked, in one act."""
    await console.reports("power-failure")
    await console.confirms()
    await console.next_is("close-withdrawal")
    await expect(console.at("next")).to_contain_text("all others were asked and stay")
    await expect(console.at("withdrawal")).to_contain_text("20.00")
    await in_both_languages(console.page, "withdrawal")
    assert await axe(console.page) == []
    (other,) = await console.at("withdrawal").locator(f"li:not([data-testid=withdrawal-{stays}])").all()
    await other.get_by_test_id("withdraws").click()
    await expect(console.at("withdrawal").get_by_test_id("withdraws")).to_have_count(1)
    assert [choice["withdraw"] for choice in house.events(table, "withdrawal-chosen")] == [True]
    await console.at("next").click()  # all others were asked and stay
    await expect(console.at("withdrawal")).to_have_count(0)


async def _option_ends(console: ConsoleScreen) -> None:
    """The option to withdraw is open when a die is seen after the call: it ends (MBS 5.13.2)."""
    await console.reports("power-failure")
    await expect(console.at("ruling-if-seen")).to_have_attribute("data-ruling", "continue")
    await console.confirms()
    await expect(console.at("withdrawal")).to_be_visible()
    await console.reports("exposed-late")
    await pictured(console.page, "seen-with-the-option-open")
    await console.confirms()
    await expect(console.at("withdrawal")).to_have_count(0)
    await console.next_is("press-deal")


async def _under(crew: Crew, seat: str) -> None:
    """Chips under the minimum lie on odd, and are recorded (MBS 5.10)."""
    number = crew.dealer.table.round.number
    bet = {"id": f"under-{number}", "area": "odd", "stake": 1_00}
    await crew.dealer.do(
        "record-bets", table=crew.table, round=number, seat=seat, means="cash-chips", bets=[bet]
    )


async def _power_fails_with_bets_open(
    people: People, console: ConsoleScreen, one: TerminalScreen, two: Terminal, crew: Crew
) -> None:
    """Each seat's choice is recorded (MBS 5.13.1); later a die is seen, which ends the option (5.13.2)."""
    await crew.to("open")
    await one.is_open()
    await one.bets("small", 20_00)
    await two.bets_open(within=10)
    await _under(crew, two.seat_name)
    await _withdraws(console, crew.house, crew.table, stays=two.seat_name)
    await one.taps("big", 20_00)  # who withdrew is out of the round
    await expect(one.refusal).to_contain_text("5.13.1")
    await crew.catches_up()
    await crew.to("closed-tumbled")
    await _option_ends(console)
    await crew.catches_up()
    await crew.to("between")
    page = await people.at("/round", **as_rank(crew.head_rank), table=crew.table, round="2")
    await expect(page.locator("[data-bet=odd]")).to_contain_text("5.10")  # a second time it is returned
    await pictured(page, "round-under-the-minimum")


async def _a_die_is_seen_early(console: ConsoleScreen, crew: Crew) -> None:
    """The power fails with bets open, and a die was seen: void (MBS 5.2, 5.13.2)."""
    await crew.to("open-tumbled")
    await console.at("something-wrong").click()
    foreseen = console.at("wrong-dialog").locator(".list").first
    await expect(foreseen.get_by_test_id("irregularity-die-not-flat")).to_contain_text("5.3")
    await console.page.keyboard.press("Escape")
    await console.reports("power-failure")
    await expect(console.at("ruling-if-seen")).to_have_attribute("data-ruling", "void")
    await console.at("field-seen-yes").check()
    await pictured(console.page, "seen")
    await console.confirms()
    await console.is_in("between")
    assert [one["clause"] for one in crew.house.events(crew.table, "round-voided")] == ["5.2"]


async def test_the_close_needs_no_tumble_a_die_seen_before_it_voids_and_the_record_follows_the_chips(
    people: People, house: House
) -> None:
    table = house.fresh("MBS")
    async with Crew(house, table) as crew:
        await crew.ready()
        console, one = await asyncio.gather(people.console(table), people.terminal(table))
        await one.buys()
        two = await house.player(table, buys=100_00)
        await console.steps("open-bets", "open")
        await one.bets("small", 20_00)
        await crew.catches_up()
        await _under(crew, two.seat_name)
        await console.at("act-close-bets").click()  # no tumble yet: the close is a fact (MBS 3.2, 5.6)
        await console.is_in("closed")
        await console.at("something-wrong").click()
        await expect(console.at("irregularity-wrong-result")).to_contain_text("“Enter the result”")
        await console.page.keyboard.press("Escape")
        await _corrects_the_record(await people.console(table, crew.head_rank), house, table)
        pit = await people.pit()
        await expect(pit.get_by_test_id("alarms")).to_contain_text("corrected the record")
        await pictured(pit, "pit-alarm")
        await crew.catches_up()
        await crew.to("closed-tumbled")
        await console.at("act-tumble").click()  # nothing forbids to tumble again (MBS 3.8)
        await expect(console.at("act-dialog")).to_be_visible()
        await sent(console)
        assert len(house.events(table, "dice-tumbled")) == 2
        await crew.catches_up()
        await crew.to("between")
        page = await people.at("/round", **as_rank(crew.head_rank), table=table, round="1")
        await expect(page.locator("[data-bet=odd]")).to_have_attribute("data-state", "lost")
        await expect(page.get_by_test_id("incidents")).to_contain_text(CAMERA)
        await pictured(page, "round-corrected")
        await _power_fails_with_bets_open(people, console, one, two, crew)
        await _a_die_is_seen_early(console, crew)
        await two.close()


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


async def _old_dice(people: People, house: House) -> None:
    """The power was away for more than a day: the dice come off before the shake, in the round (US 1)."""
    async with Crew(house, "US1") as crew:
        declared = command("declare-unrecorded", called=True, tumbles=0, seen=False)
        assert isinstance(crew.dealer.who, Staff)
        request = DoRequest(id="agreed", do=declared, table="US1")
        approval = await house.agreed(request, crew.dealer.who.token)
        await crew.dealer.send(declared, table="US1", approval=approval)
        await crew.catches_up()
        await crew.to("closed")
        console = await people.console("US1")
        await console.next_is("remove-item")
        await expect(console.at("act-tumble")).to_have_count(0)
        await pictured(console.page, "old-dice")
        await console.at("next").click()
        await console.next_is("place-item")
        await crew.catches_up()
        await crew.to("closed-tumbled")


async def test_after_a_stop_what_happened_unrecorded_is_declared_and_the_settlement_entered(
    people: People, tmp_path: Path
) -> None:
    own = House(tmp_path, (Laid(name="MBS1", book=BOOKS["MBS"]), Laid(name="US1", book=BOOKS["US"])))
    people.house = own
    people.watch.allow("WebSocket connection", "ERR_CONNECTION_REFUSED")
    async with own:
        async with Crew(own, "MBS1") as crew:
            await crew.ready()
            one = await people.terminal("MBS1")
            await one.buys()
            await crew.to("open")
            await one.bets("small", 20_00)
        async with Crew(own, "US1") as crew:
            await crew.to("closed")
        await own.kill()
        own.ahead = MORE_THAN_A_DAY
        await own.start()
        await _old_dice(people, own)
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
            page = await people.at("/round", **as_rank("shift-manager"), table="MBS1", round="2")
            await expect(page.get_by_test_id("by-hand")).to_be_visible()
            await pictured(page, "round-by-hand")
            pit = await people.pit()
            for act in ("round 2, which was played by hand", "settlement of round 1, which was made by hand"):
                await expect(pit.get_by_test_id("alarms")).to_contain_text(act)
            await head.page.get_by_label("Language").select_option("zh")
            await opened(head, "enter-round", "by-hand-zh")


async def test_rws_5_10_a_shift_manager_reads_each_interpretation_and_adopts_them_by_name(
    people: People,
) -> None:
    page = await people.at("/office", **as_rank("shift-manager"))
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
