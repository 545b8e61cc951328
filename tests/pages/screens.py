"""Screens: what a person sees and does on a page, by the names that pages give to things."""

from __future__ import annotations

from typing import Final

from playwright.async_api import Locator, Page, expect

REGISTERED: Final = "registered"
REFUSED: Final = "refused"
PENDING: Final = "pending"
BUYS: Final = 500_00


class Screen:
    """A page, with its names."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def at(self, name: str) -> Locator:
        """Something by its name."""
        return self.page.get_by_test_id(name)

    def area(self, area: str) -> Locator:
        """An area of the felt."""
        return self.at("felt").locator(f'[data-area="{area}"]')

    @property
    def lit(self) -> Locator:
        """The areas that are lit."""
        return self.at("felt").locator('[data-lit="true"]')

    async def lit_areas(self) -> set[str]:
        """Their names."""
        found = await self.lit.evaluate_all("(areas) => areas.map((one) => one.dataset.area)")
        return set(found)

    async def shows(self, *faces: int) -> None:
        """The dice show these."""
        await expect(self.at("dice")).to_have_attribute("data-faces", ",".join(map(str, faces)))

    async def is_(self, state: str) -> None:
        """The connection is in a state."""
        await expect(self.at("connection")).to_have_attribute("data-state", state)


class TerminalScreen(Screen):
    """What a player has before him."""

    async def buys(self, amount: int = BUYS) -> None:
        """Buys credits."""
        await self.at(f"buy-{amount}").click()
        await self.has(credits=amount)

    async def is_open(self) -> None:
        """Bets are open."""
        await expect(self.at("notice")).to_have_attribute("data-open", "true")

    async def is_closed(self) -> None:
        """No more bets."""
        await expect(self.at("notice")).to_have_attribute("data-open", "false")

    async def taps(self, area: str, chip: int) -> None:
        """Puts a chip onto an area."""
        await self.at(f"chip-{chip}").click()
        await self.area(area).click()

    async def bets(self, area: str, chip: int) -> None:
        """Puts a chip onto an area, and sees it registered."""
        await self.taps(area, chip)
        await self.lies(area, chip)

    async def lies(self, area: str, stake: int, state: str = REGISTERED) -> None:
        """So much lies on an area."""
        await expect(self.area(area)).to_have_attribute("data-state", state)
        await expect(self.area(area)).to_have_attribute("data-stake", str(stake))

    async def is_bare(self, area: str) -> None:
        """Nothing lies on an area."""
        await expect(self.area(area)).not_to_have_attribute("data-state", REGISTERED)
        await expect(self.area(area)).not_to_have_attribute("data-stake", "")

    async def has(self, **amounts: int) -> None:
        """Credits, or what is at risk (`at_risk`), are so much, in minor units."""
        for name, amount in amounts.items():
            await expect(self.at(name.replace("_", "-"))).to_have_attribute("data-amount", str(amount))

    @property
    def refusal(self) -> Locator:
        """What the page says of something that was refused."""
        return self.at("toast").locator(".refused")


class ConsoleScreen(Screen):
    """What a dealer has before him."""

    async def phase(self) -> str:
        """Where the round stands, as the page shows it."""
        return await self.at("console").get_attribute("data-phase") or ""

    async def is_in(self, phase: str) -> None:
        """The round stands there."""
        await expect(self.at("console")).to_have_attribute("data-phase", phase)

    async def next_is(self, act: str) -> None:
        """The one next step is this."""
        await expect(self.at("next")).to_have_attribute("data-act", act)

    async def steps(self, act: str, phase: str) -> None:
        """Does the next step, which is this one and leads there."""
        await self.next_is(act)
        await expect(self.at("next")).to_have_attribute("aria-busy", "false")  # until then clicks do nothing
        await self.at("next").click()
        await self.is_in(phase)

    async def keys(self, *faces: int) -> None:
        """Keys three faces, and looks at what they would do."""
        await self.next_is("enter-result")
        for face in faces:
            await self.at(f"key-{face}").click()
        await expect(self.at("preview")).to_have_attribute("data-faces", ",".join(map(str, faces)))

    async def commits(self, *faces: int) -> None:
        """Keys three faces and commits them."""
        await self.keys(*faces)
        await self.at("commit").click()
        await expect(self.at("commit")).to_have_count(0)

    async def reports(self, irregularity: str, *needs: str) -> None:
        """Opens the guided choice at something that went wrong, and fills in what it needs."""
        await self.at("something-wrong").click()
        await self.at(f"irregularity-{irregularity}").click()
        await expect(self.at("ruling")).to_be_visible()
        if "faces" in needs:
            for face in (6, 6, 6):
                await self.at("wrong-dialog").get_by_test_id(f"face-{face}").click()

    async def confirms(self, *needs: str) -> None:
        """Does it, with a second person where one is needed."""
        await self.at("wrong-dialog").get_by_test_id("confirm").click()
        if "second" in needs:
            await self.at("second-agree").click()
        await expect(self.at("wrong-dialog")).to_have_count(0)
