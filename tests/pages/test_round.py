"""A whole round on pages alone: one console, one display and six terminals, for every rulebook."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from playwright.async_api import expect

from tests.pages.browser import screenshot
from tests.pages.dealing import BETWEEN, Crew
from tests.pages.page_checks import axe
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen
from tests.pages.server_process import BOOKS, House
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="pages")

SIX: Final = ("small", "big", "any-triple", "total-6", "total-12", "total-17")
"""What each of six players bets on: areas that every layout has."""
CLOCK: Final = "(the clock)"
TO_THE_RESULT: Final = {
    "MBS": (("tumble", "open-tumbled"), ("close-bets", "closed-tumbled"), ("press-deal", "deal-pressed"),
            ("uncover", "revealed")),
    "RWS": ((CLOCK, "closed"), ("tumble", "closed-tumbled"), ("uncover", "revealed")),
    "CARD": (("close-bets", "closed"), ("deal-cards", "revealed")),
    "US": (("close-bets", "closed"), ("tumble", "closed-tumbled"), ("uncover", "revealed")),
}  # fmt: skip
"""The dealer's steps from open bets on, as each document orders them, and where each leads."""
AFTER_IT: Final = {
    "MBS": (("settle", "settled"), ("collect-and-pay", "paid"), ("conclude", "between")),
    "RWS": (("settle", "settled"), ("collect-and-pay", "paid"), ("conclude", "between")),
    "CARD": (("settle", "settled"), ("collect-and-pay", "paid"), ("conclude", "between")),
    "US": (("settle", "settled"), ("collect", "collected"), ("pay", "paid"), ("clear-lights", "between")),
}


async def dealt(console: ConsoleScreen, house: House, table: str, steps: tuple[tuple[str, str], ...]) -> None:
    """The dealer goes on, step by step."""
    for act, phase in steps:
        if act == CLOCK:
            await expect(console.at("next")).to_be_disabled()  # nobody closes before the clock does
            await house.time_is_up(table)
            await console.is_in(phase)
        else:
            await console.steps(act, phase)


@pytest.mark.parametrize("kind", sampled("rounds on pages", BOOKS, 1))
async def test_one_console_one_display_and_six_terminals(people: People, house: House, kind: str) -> None:
    table = house.fresh(kind)
    async with Crew(house, table) as crew:
        await crew.ready()
        console, display = await asyncio.gather(people.console(table), people.display(table))
        six = await people.terminals(table, len(SIX))
        await asyncio.gather(*(one.buys() for one in six))
        await console.steps("open-bets", "open")
        await asyncio.gather(*(one.is_open() for one in six))
        await asyncio.gather(*(one.bets(area, 5_00) for one, area in zip(six, SIX, strict=True)))
        await asyncio.gather(*(one.has(credits=495_00, at_risk=5_00) for one in six))
        await screenshot(display.page, f"display-{kind.lower()}-open")
        await dealt(console, house, table, TO_THE_RESULT[kind])
        await asyncio.gather(*(one.is_closed() for one in six))
        await expect(display.at("notice")).to_have_attribute("data-open", "false")
        await expect(display.at("dice")).to_have_attribute("data-faces", "")
        await console.keys(1, 2, 3)
        await screenshot(console.page, f"console-{kind.lower()}-look")
        await expect(display.at("dice")).to_have_attribute("data-faces", "")  # a look shows nobody anything
        await console.at("commit").click()
        lit = set((await crew.dealer.preview((1, 2, 3))).lit[crew.dealer.table.table.layout])
        assert {"small", "total-6"} <= lit
        for one in (display, *six):
            await one.shows(1, 2, 3)
            await expect(one.lit).to_have_count(len(lit))
            assert await one.lit_areas() == lit
        await screenshot(display.page, f"display-{kind.lower()}-lit")
        await screenshot(six[0].page, f"terminal-{kind.lower()}-lit")
        if kind == "MBS":  # every look is the same on all of them, and none is cheap
            assert [await axe(one.page) for one in (console, display, six[0])] == [[], [], []]
        await dealt(console, house, table, AFTER_IT[kind])
        (told,) = await crew.dealer.rounds(1)
        returned = {bet.area: bet.returned for bet in told.bets}
        assert returned["small"] == 10_00
        assert [area for area in SIX if returned[area]] == ["small", "total-6"]
        for one, area in zip(six, SIX, strict=True):
            await one.has(credits=495_00 + returned[area], at_risk=0)
        assert crew.phase == BETWEEN


async def test_a_correction_takes_two_people(people: People, house: House) -> None:
    table = house.fresh("MBS")
    async with Crew(house, table) as crew:
        await crew.ready()
        console = await people.console(table)
        one = await people.terminal(table)
        await one.buys()
        await console.steps("open-bets", "open")
        await one.bets("small", 20_00)
        await dealt(console, house, table, TO_THE_RESULT["MBS"])
        await console.commits(1, 2, 3)
        await dealt(console, house, table, AFTER_IT["MBS"])
        await one.has(credits=520_00)
        # It was 6 6 5: the dealer alone cannot set it right; their report waits for someone else.
        await console.reports("wrong-result")
        for face in (6, 6, 5):
            await console.at("wrong-dialog").get_by_test_id(f"face-{face}").click()
        await console.at("wrong-dialog").get_by_test_id("field-round").fill("1")
        await screenshot(console.page, "console-correction")
        assert await axe(console.page) == []
        await console.at("wrong-dialog").get_by_test_id("confirm").click()
        await expect(console.at("wrong-dialog")).to_have_count(0)
        (held,) = house.events(table, "report-held")
        assert house.events(table, "round-resettled") == []
        await one.has(credits=520_00)
        head = await people.console(table, crew.head_rank)
        await head.at("act-confirm-report").click()
        await one.has(credits=480_00)
        assert [one["faces"] for one in house.events(table, "round-resettled")] == [[5, 6, 6]]
        (ruled,) = house.events(table, "irregularity-ruled")
        (confirmed,) = house.events(table, "report-confirmed")
        assert ruled["by"] == held["by"] == "Dev Patel"
        assert confirmed["by"] != "Dev Patel"
