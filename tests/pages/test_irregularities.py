"""Every irregularity of every rulebook through the console: what it names first, the journal says after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pytest
from playwright.async_api import expect

from taisai.protocol.views import IrregularityLine
from taisai.rules import rulebook
from taisai.rules.vocabulary import Irregularity
from tests.clauses.test_irregularity_cases import read_cases, table_of, text_of
from tests.pages.dealing import BETWEEN, Crew
from tests.pages.people import People
from tests.pages.screens import ConsoleScreen
from tests.pages.server_process import BOOKS, House
from tests.tiers import LONG, drawn, sampled

pytestmark = pytest.mark.part(name="pages")

SKIPPED: Final[Mapping[str, frozenset[str]]] = {
    "MBS": frozenset({"closed"}),  # the dice are tumbled before the close
    "RWS": frozenset({"open-tumbled"}),  # and here after it
    "CARD": frozenset(),
    "US": frozenset(),
}
"""Phases of a rulebook to which the steps that the console marks as next never lead."""
BETS_OPEN: Final = frozenset({"open", "open-tumbled"})
BEFORE_RESULT: Final = BETS_OPEN | {BETWEEN, "closed", "closed-tumbled", "deal-pressed", "revealed"}
US_PAIRS: Final[Mapping[tuple[str, str], Mapping[str, tuple[str, str]]]] = {
    ("no-roll", "open"): {
        # A No Roll with a failed device is void, and the table is shut (6(b)).
        "equipment-failure": ("void", "6(b)"),
        "power-failure": ("void", "6(b)"),
        # There is no roll to find fault with.
        "too-few-tumbles": ("no-roll", "6(a)"),
        "untumbled-in-view": ("no-roll", "6(a)"),
        # Bets are open again: what came too late may be done now.
        "late-bet": ("no-roll", "6(a)"),
        "late-withdrawal": ("no-roll", "6(a)"),
        "die-not-flat": ("no-roll", "6(a)"),
    },
    ("settle-then-shut", "revealed"): {"die-not-flat": ("void", "6(b)")},
    ("settle-then-shut", "entered"): {"die-not-flat": ("void", "6(b)")},
    ("settle-then-shut", "settled"): {"die-not-flat": ("void", "6(b)")},
    ("settle-then-shut", "collected"): {"die-not-flat": ("void", "6(b)")},
}
"""What stands in a round, and the phase → what happens then → ruling and clause. Elsewhere no two meet that
change each other's ruling: a void ends the round, and without bets nobody has the option to withdraw."""
US_MET: Final = {
    ("no-roll", "open"): (
        "too-few-tumbles", "untumbled-in-view", "late-bet", "late-withdrawal", "equipment-failure",
    ),
    ("settle-then-shut", "revealed"): ("die-not-flat",),
}  # fmt: skip
"""Those that the walk reports: one after the other as they are listed, until one of them voids the round."""
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
    to: str | None
    """Who decides a referral."""
    needs: tuple[str, ...]

    @classmethod
    def of(cls, line: IrregularityLine) -> Ruled:
        """As the server offers it."""
        needs = tuple(blank.field for blank in line.blanks if not blank.optional)
        return cls(line.id, line.ruling, line.clause, line.to, needs)


class Reckoning:
    """What has to be ordered, by the case file of a rulebook, which is written by hand from the document."""

    def __init__(self, kind: str) -> None:
        order = tuple(map(str, rulebook(BOOKS[kind]).irregularities.phases))
        cases = read_cases(text_of(BOOKS[kind]), order)
        self._unseen, self._seen = table_of(cases, {}), table_of(cases, {}, seen=True)
        self._pairs = US_PAIRS if kind == "US" else {}
        self._met = US_MET if kind == "US" else {}
        self.phases = frozenset(order) - SKIPPED[kind]
        """Those that the walk goes through."""

    def of(self, event: str, phase: str, before: Sequence[Ruled] = ()) -> Ruled:
        """What is ordered in a phase, after what was reported of the same round before."""
        for stands in before:
            paired = self._pairs.get((stands.ruling, phase), {}).get(event)
            if paired is not None:
                return self._paired(event, paired)
        table = self._seen if any(one.irregularity == "exposed-late" for one in before) else self._unseen
        # A die that is seen before the close is seen early, whatever the report calls it.
        is_early = event == "exposed-late" and phase in BETS_OPEN
        ruling, who, clause = table["exposed-early" if is_early else event, phase]
        needs: tuple[str, ...] = ()
        if event == "wrong-result":
            needs = ("faces", "round") if phase in BEFORE_RESULT else ("faces",)
        return Ruled(event, ruling, clause, who if ruling == "refer" else None, needs)

    @staticmethod
    def _paired(event: str, paired: tuple[str, str]) -> Ruled:
        ruling, clause = paired
        return Ruled(event, ruling, clause, None, ())

    @property
    def every(self) -> frozenset[Ruled]:
        """Every different thing that a dealer is told over all phases, and where two meet on the walk."""
        alone = {self.of(event, phase) for event in Irregularity for phase in self.phases}
        met = {
            self._paired(event, self._pairs[place][event])
            for place, events in self._met.items()
            for event in events
        }
        assert not alone & met
        return frozenset(alone | met)


class Walk:
    """Goes through rounds and reports whatever has not been reported yet, wherever it can be."""

    def __init__(
        self, crew: Crew, console: ConsoleScreen, wanted: frozenset[str], reckoning: Reckoning
    ) -> None:
        self.crew = crew
        self.wanted = wanted
        """The irregularities to report."""
        self.console = console
        self.reckoning = reckoning
        self.done: list[Ruled] = []
        self.phases: set[str] = set()
        """Those in which everything that is announced was reckoned."""
        self._before: list[Ruled] = []
        """What was reported of the round in hand."""
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
        asked = (one for one in self._announced() if one.id in self.wanted)
        return next((one for one in asked if not self._is_known(one)), None)

    def _announced(self) -> Sequence[IrregularityLine]:
        """Every irregularity as it is announced: reported by whoever may, and ruled as is reckoned."""
        phase, lines = self.crew.phase, self.crew.dealer.console.irregularities
        if phase == BETWEEN:
            self._before.clear()
        wanted = [self.reckoning.of(event, phase, self._before) for event in Irregularity]
        assert [Ruled.of(line) for line in lines] == wanted, (phase, self._before)
        assert all("dealer" in line.by for line in lines), phase  # no report is refused
        self.phases.add(phase)
        return lines

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
        self._before.append(ruled)
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
        reckoning = Reckoning(kind)
        walk = Walk(crew, await people.console(table), wanted_at(kind), reckoning)
        await walk.go()
    assert walk.phases == reckoning.phases
    assert {one.irregularity for one in walk.done} == wanted_at(kind)
    if LONG:
        assert set(walk.done) == reckoning.every
    assert len(walk.done) == (len(reckoning.every) if LONG else len(wanted_at(kind)))
    journal = [
        (one["irregularity"], one["ruling"], one["clause"])
        for one in house.events(table, "irregularity-ruled")
    ]
    assert journal == [(one.irregularity, one.ruling, one.clause) for one in walk.done]
