"""Every irregularity of every rulebook through the console: what it names first, the journal says after."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest
from playwright.async_api import expect

from taisai.protocol.views import IrregularityLine
from taisai.rules.vocabulary import Irregularity
from tests.pages.dealing import Crew
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen
from tests.pages.server_process import BOOKS, House
from tests.tiers import LONG, drawn, sampled

pytestmark = pytest.mark.part(name="pages")

RULINGS: Final = {"MBS": 44, "RWS": 43, "CARD": 35, "US": 32}
"""How many different things a dealer can be told to do when something goes wrong, over all phases."""
MOST_ROUNDS: Final = 60
_LISTED: Final = """(buttons) => Object.fromEntries(buttons.map((one) => [
    one.dataset.testid.replace("irregularity-", ""),
    [one.querySelector(".clause")?.textContent.trim() ?? "", !one.disabled],
]))"""


class Ruled(NamedTuple):
    """What is ordered when something goes wrong, and what has to be told for it."""

    irregularity: str
    ruling: str
    clause: str
    needs: tuple[str, ...]

    @classmethod
    def of(cls, line: IrregularityLine) -> Ruled:
        """As the server offers it."""
        needs = tuple(blank.field for blank in line.blanks if not blank.optional)
        return cls(line.id, line.ruling, line.clause, needs)


class Walk:
    """Goes through rounds and reports whatever has not been reported yet, wherever it can be."""

    def __init__(self, crew: Crew, console: ConsoleScreen, wanted: frozenset[str]) -> None:
        self.crew = crew
        self.wanted = wanted
        """The irregularities to report."""
        self.console = console
        self.done: list[Ruled] = []
        self._known: set[str] = set()
        self._looked: set[str] = set()
        """Phases in which the whole list was compared."""

    async def go(self) -> None:
        """Until a whole round has brought nothing new."""
        await self.crew.round()
        since = self.crew.dealer.table.round.number
        while self.crew.dealer.table.round.number <= since + 1:
            new = self._new()
            if new is None:
                await self.crew.step()
                continue
            await self._report(new)
            since = self.crew.dealer.table.round.number
            assert since < MOST_ROUNDS

    def _new(self) -> IrregularityLine | None:
        board = self.crew.dealer.table.stoppage
        if board.hold is not None or board.shut is not None:
            return None
        lines = self.crew.dealer.console.irregularities
        asked = (one for one in lines if one.by and one.id in self.wanted)
        return next((one for one in asked if not self._is_known(one)), None)

    def _is_known(self, line: IrregularityLine) -> bool:
        return Ruled.of(line) in self.done if LONG else line.id in self._known

    async def _report(self, line: IrregularityLine) -> None:
        ruled, console = Ruled.of(line), self.console
        await console.is_in(self.crew.phase)
        await console.at("something-wrong").click()
        await self._compare()
        await console.at(f"irregularity-{line.id}").click()
        await expect(console.at("ruling")).to_have_attribute("data-ruling", line.ruling)
        await expect(console.at("ruling")).to_contain_text(line.says.en)
        await expect(console.at("ruling")).to_contain_text(line.clause.removeprefix("house:"))
        dialog = console.at("wrong-dialog")
        if "faces" in ruled.needs:
            for _ in range(3):
                await dialog.get_by_test_id("face-6").click()
        if "round" in ruled.needs:
            await dialog.get_by_test_id("field-round").fill(str(self.crew.dealer.table.round.number))
        await console.confirms(*ruled.needs)
        await self.crew.catches_up()
        self.done.append(ruled)
        self._known.add(line.id)

    async def _compare(self) -> None:
        """What the page lists is what the server offers: all there are, their clauses, whether now."""
        if self.crew.phase in self._looked:
            return
        self._looked.add(self.crew.phase)
        listed = await self.console.page.locator("[data-testid^=irregularity-]:is(button)").evaluate_all(
            _LISTED
        )
        offered = {one.id: bool(one.by) for one in self.crew.dealer.console.irregularities}
        assert {name: can for name, (_clause, can) in listed.items()} == offered
        assert offered.keys() == set(Irregularity)
        for one in self.crew.dealer.console.irregularities:
            assert one.clause.removeprefix("house:") in listed[one.id][0]


def wanted_at(kind: str) -> frozenset[str]:
    """Every irregularity in the long tier; in the short one each at one of the four tables, by turns."""
    turn = drawn("irregularities").randrange(len(BOOKS)) + list(BOOKS).index(kind)  # another at each table
    return frozenset(
        str(event) for place, event in enumerate(Irregularity) if LONG or (place + turn) % 4 == 0
    )


def test_every_irregularity_is_wanted_at_some_table() -> None:
    assert frozenset[str]().union(*map(wanted_at, BOOKS)) == {str(event) for event in Irregularity}


@pytest.mark.parametrize("kind", sampled("irregularities on pages", BOOKS, 1))
async def test_every_irregularity_is_reported_from_the_console(
    people: People, house: House, kind: str
) -> None:
    table = house.fresh(kind)
    async with Crew(house, table) as crew:
        await crew.ready()
        walk = Walk(crew, await people.console(table), wanted_at(kind))
        await walk.go()
    assert {one.irregularity for one in walk.done} == wanted_at(kind)
    assert len(walk.done) == (RULINGS[kind] if LONG else len(wanted_at(kind)))
    journal = [
        (one["irregularity"], one["ruling"], one["clause"])
        for one in house.events(table, "irregularity-ruled")
    ]
    assert journal == [(one.irregularity, one.ruling, one.clause) for one in walk.done]
