"""What the American document and the card game ask of a console: inspections, No Roll, custody, backs."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from taisai.protocol.commands import command
from tests.pages.dealing import Crew
from tests.pages.forms import CAMERA, as_rank, asked, filled, in_both_languages, opened, pictured, sent
from tests.pages.page_checks import axe
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen, Screen
from tests.pages.server_process import House

pytestmark = pytest.mark.part(name="pages")


async def _tries_the_lights(console: ConsoleScreen, head: ConsoleScreen, crew: Crew) -> None:
    """The floorperson enters numbers and sees them lit; no supervisor does it for them (US 5(a))."""
    await head.next_is("inspect")
    await expect(head.at("next")).to_be_disabled()
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
    assert [one["entered"] for one in crew.house.events(crew.table, "item-inspected")][-1] == [1, 2, 4]


async def _corrects_the_record(recorder: Screen, crew: Crew) -> None:
    """Each kind of correction asks for what it needs; a chip that was not recorded is added (US 3(c))."""
    await recorder.at("act-correct-record").first.click()
    shown = {}
    for change in ("add", "remove", "stake", "seat", "area", "split"):
        await recorder.at(f"field-change-{change}").check()
        shown[change] = await asked(recorder)
    says = ["reason", "evidence"]
    assert shown == {
        "add": ["seat", "means", "area", "stake", *says], "remove": ["id", *says],
        "stake": ["id", "stake", *says], "seat": ["id", "seat", *says],
        "area": ["id", "area", *says], "split": ["id", "stake", "area", "seat", *says],
    }  # fmt: skip
    assert await axe(recorder.page) == []
    await recorder.at("field-change-add").check()
    await filled(recorder, within="offer", means="cash-chips", area="big", stake="20")
    await recorder.at("offer").locator("[data-testid^=field-seat-]").first.check()
    await filled(recorder, within="offer", reason="a chip was not recorded", evidence=CAMERA)
    await pictured(recorder.page, "recorder-correction")
    await recorder.at("offer").get_by_test_id("confirm").click()
    await expect(recorder.at("offer")).to_have_count(0)
    (added,) = crew.house.events(crew.table, "record-corrected")
    assert (added["change"], added["after"]["stake"]) == ("add", 20_00)
    await in_both_languages(recorder.page, "recorder")


async def _dice_in_view(console: ConsoleScreen, recorder: Screen, crew: Crew, seat: str) -> None:
    """The call comes before the shake, and after it nothing is bet, not with the dice in view (US 5(c))."""
    await console.next_is("close-bets")
    await expect(console.at("act-tumble")).to_have_count(0)
    await crew.catches_up()
    await crew.to("revealed")
    await recorder.at(f"seat-{seat}").click()
    await recorder.area("triple-2").click()
    await expect(recorder.at("taps")).to_contain_text("5(c)")
    await pictured(recorder.page, "dice-in-view")
    registered = crew.house.events(crew.table, "bet-registered")
    assert [one["area"] for one in registered] == ["small"]


async def _no_roll_when_settled(console: ConsoleScreen, head: ConsoleScreen, crew: Crew) -> None:
    """Settled and not paid, a die does not lie flat: a No Roll, and betting is open again (US 6(a))."""
    await crew.catches_up()
    await crew.to("settled")
    await console.reports("die-not-flat")
    await expect(console.at("ruling")).to_have_attribute("data-ruling", "no-roll")
    await console.confirms()
    await head.next_is("confirm-report")
    await head.at("next").click()
    await console.is_in("open")
    await console.next_is("close-bets")
    await pictured(console.page, "no-roll")


async def _no_roll_with_a_dead_device(console: ConsoleScreen, crew: Crew) -> None:
    """The device is out of order: a die that does not lie flat makes the round void, and says so before."""
    await crew.catches_up()
    await crew.to("revealed")
    await console.reports("equipment-failure")
    await console.confirms()
    await console.reports("die-not-flat")
    await expect(console.at("ruling")).to_have_attribute("data-ruling", "void")
    await expect(console.at("ruling")).to_contain_text("6(b)")
    await pictured(console.page, "no-roll-and-dead-device")
    await console.confirms()
    await console.is_in("between")
    await expect(console.at("board")).to_contain_text("6(b)")
    await pictured(console.page, "shut")
    assert [one["clause"] for one in crew.house.events(crew.table, "round-voided")] == ["6(b)"]


async def _stays_with_the_dice(head: ConsoleScreen) -> None:
    """The dealer in whose custody the dice are is not among those who may leave (US 1)."""
    await opened(head, "leave", "custody")
    await expect(head.at("act-dialog")).to_contain_text("Cleo Grant")
    await expect(head.at("act-dialog")).not_to_contain_text("Dev Patel")


async def test_us_5_a_from_the_inspection_of_the_lights_to_a_no_roll_with_a_dead_device(
    people: People, house: House
) -> None:
    table = house.fresh("US")
    async with Crew(house, table) as crew:
        while not crew.due("inspect", item="electrical-device"):
            await crew.step()
        head = await people.console(table, crew.head_rank)
        await _tries_the_lights(await people.console(table, "floorperson"), head, crew)
        await crew.catches_up()
        await crew.to("open")
        player = await house.player(table, buys=100_00)
        await player.bets_open(within=10)
        (bet,) = await player.place({"small": 20_00})
        recorder = Screen(await people.at("/recorder", **as_rank("casino-supervisor"), table=table))
        await _corrects_the_record(recorder, crew)
        console = await people.console(table)
        await _dice_in_view(console, recorder, crew, player.seat_name)
        await _no_roll_when_settled(console, head, crew)
        await player.take_back(bet)  # betting is open again in every sense (house:no-roll)
        await player.close()
        await _no_roll_with_a_dead_device(console, crew)
        await _stays_with_the_dice(head)


async def test_three_card_2_1_the_backs_of_each_deck_are_recorded(people: People, house: House) -> None:
    table = house.fresh("CARD")
    async with Crew(house, table):
        console = await people.console(table)
        await console.next_is("load-shoe")
        await console.at("next").click()
        await filled(console, decks="2", backs="blue diamonds\nred stripes")
        await pictured(console.page, "backs")
        await sent(console)
    assert [one["backs"] for one in house.events(table, "shoe-loaded")] == [["blue diamonds", "red stripes"]]


async def _uses_the_automated_shaker(crew: Crew) -> None:
    """The manual shaker leaves the table before the automated one comes (US 6(d))."""
    for what, item in (("remove-item", "manual-shaker"), ("place-item", "automated-shaker")):
        seen = crew.seen
        await crew.dealer.send(command(what, item=item), table=crew.table)
        await crew.sees(seen)


async def test_us_5_b_the_casino_supervisor_inspects_the_automated_shaker_for_the_shift(
    people: People, house: House
) -> None:
    table = house.fresh("US")
    async with Crew(house, table) as crew:
        await _uses_the_automated_shaker(crew)
        while not crew.due("inspect", before="shift"):
            await crew.step()
        opening = house.events(table, "item-inspected")
        assert {(one["item"], one["position"], one["before"]) for one in opening} == {
            ("electrical-device", "floorperson", "opening"), ("automated-shaker", "floorperson", "opening"),
        }  # fmt: skip
        dealer, floor = await people.console(table), await people.console(table, "floorperson")
        head = await people.console(table, crew.head_rank)
        for console in (dealer, floor):  # who inspected it for the opening does not do it for the shift
            await console.next_is("inspect")
            await expect(console.at("next")).to_be_disabled()
        await head.next_is("inspect")
        await head.at("next").click()
        dialog = head.at("act-dialog")
        await expect(dialog.get_by_test_id("field-runs")).to_have_attribute("min", "3")
        await expect(dialog.get_by_test_id("face-1")).to_have_count(0)  # numbers are for the device alone
        await filled(head, runs="3", passed="yes")
        await pictured(head.page, "inspection-for-the-shift")
        assert await axe(head.page) == []
        await sent(head)
        await dealer.next_is("open-bets")
        inspected = house.events(table, "item-inspected")[len(opening) :]
        assert [(one["clause"], one["position"], one["before"], one["runs"]) for one in inspected] == [
            ("5(b)", "casino-supervisor", "shift", 3)
        ]
