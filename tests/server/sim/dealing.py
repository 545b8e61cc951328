"""The staff of a simulated table: they do what the server offers next, and now and then report something."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

from taisai.client import Disconnected, Refused
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.views import Blank, IrregularityLine, Offer
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.server.auth.sessions import Session
from taisai.server.projections.offers import irregularities, offers
from tests.server.sim.checks import look
from tests.server.sim.people import Dealer
from tests.server.sim.sim_house import TABLE
from tests.server.sim.world import World

PATIENCE = 400
"""Steps that a table may take before whoever waits for its end gives up."""
LOOKED_AT = 0.03
"""How often everybody stops, so that someone can compare what they see."""
MISHAP = 0.03
"""How often someone reports something instead of going on."""

SINCE_EDITION_2: Final = frozenset(
    {Irregularity.EXPOSED_LATE, Irregularity.UNTUMBLED_IN_VIEW, Irregularity.DICE_OVER_AGE}
)
"""Irregularities that no evening of edition 1 could report."""

CHOICES: Final = {
    "declare": frozenset({"declare", "declare-unrecorded"}),
    "confirm-report": frozenset({"confirm-report", "contest-report"}),
}
"""The next step that a console shows → everything that staff may do instead of it."""
FILLABLE: Final = frozenset({"faces", "whole", "text", "second", "yes-no", "choice", "areas"})


class Staff:
    """Everyone who runs the table, as one mind."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = world.drawn("staff")
        self._here: dict[str, tuple[Dealer, Session]] = {}
        self._texts = 0

    async def run(self) -> None:
        """Plays the evening's rounds, whatever comes between."""
        world = self._world
        for _ in range(PATIENCE):
            dan, _ = await self._at_work("dan")
            if self._is_done(dan):
                break
            try:
                await self._step(dan)
            except Refused as error:
                world.note(f"staff refused: {error}")
                await asyncio.sleep(0.3)
            except Disconnected as error:
                world.note(f"staff cut off: {error}")
                await asyncio.sleep(0.3)
        else:
            raise AssertionError(f"expected {world.rounds} rounds, got stuck: {self._where()}")

    def _is_done(self, dan: Dealer) -> bool:
        table = dan.table
        return table.round.phase == "between" and table.round.number >= self._world.rounds

    def _where(self) -> str:
        dan = self._here["dan"][0]
        told = [
            f"{'* ' * offer.main}{offer.command} {offer.preset} by {offer.by}" for offer in self._offers(dan)
        ]
        return f"{dan.table.round}, {dan.table.stoppage}, next: {told}\n" + "\n".join(self._world.log[-30:])

    async def _at_work(self, person: str) -> tuple[Dealer, Session]:
        """A person's console; he signs in again where his session is over."""
        known = self._here.get(person)
        if known is None or known[0].is_over:
            if known is not None:
                await known[0].close()
            known = self._here[person] = await self._world.dealer(person)
            for _ in range(5):
                try:
                    await known[0].take_position(self._world.crew.ranks[person])
                    break
                except Refused:
                    break
                except Disconnected:
                    await asyncio.sleep(0.2)
        return known

    async def _step(self, dan: Dealer) -> None:
        before = dan.position(dan.table_feed)
        pause = (
            self._chance.uniform(0.2, 3.0) if dan.table.round.bets_open else self._chance.uniform(0.0, 0.5)
        )
        await asyncio.sleep(pause)
        if self._chance.random() < LOOKED_AT:
            await look(self._world)
        if self._chance.random() < MISHAP and await self._mishap(dan):
            return
        if not dan.is_connected:
            return
        offer = next((offer for offer in self._offers(dan) if offer.main), None)
        if offer is not None and offer.by != ("clock",):
            await self._take(offer)
        elif dan.position(dan.table_feed) == before:
            with suppress(Disconnected):
                await dan.until(dan.table_feed, lambda _: dan.position(dan.table_feed) != before, within=1.0)

    def _offers(self, dan: Dealer) -> tuple[Offer, ...]:
        """What may be done, as the console shows it, or as it would if there were one."""
        return dan.offers if dan.with_console else offers(self._world.engine.table(TABLE))

    async def _take(self, offer: Offer) -> None:
        world = self._world
        offer = self._chosen(offer)
        reporter = self._reporter(offer)
        able = [one for one, rank in world.crew.ranks.items() if rank in offer.by and one != reporter]
        assert able, f"expected an offer for someone at the table, got {offer}"
        person = able[0]
        console, session = await self._at_work(person)
        asked = [blank for blank in offer.blanks if not blank.optional or blank.kind == "areas"]
        if any(blank.kind == "areas" for blank in asked):  # lights are tried with numbers
            asked = list(offer.blanks)
        filled = {blank.field: self._filled(blank) for blank in asked if blank.kind != "second"}
        two = any(blank.kind == "second" for blank in offer.blanks)
        await self._send(console, session, person, offer.command, {**offer.preset, **filled}, two=two)

    def _chosen(self, offer: Offer) -> Offer:
        """The next step; where staff have a choice, one of what they may do."""
        kinds = CHOICES.get(offer.command, frozenset())
        table = self._world.engine.table(TABLE)
        if table.practice == 1 or not kinds:
            return offer
        others = [one for one in offers(table) if one.command in kinds and self._is_fillable(one)]
        return self._chance.choice(others) if others else offer

    def _is_fillable(self, offer: Offer) -> bool:
        return all(blank.optional or blank.kind in FILLABLE for blank in offer.blanks)

    def _reporter(self, offer: Offer) -> str | None:
        """Who made the report that waits; only another person may confirm or contest it."""
        report = self._world.engine.table(TABLE).reports.get(str(offer.preset.get("report")))
        return report.by if report is not None else None

    async def _send(
        self, console: Dealer, session: Session, person: str, tag: str, fields: dict[str, Any], *, two: bool
    ) -> None:
        world = self._world
        world.note(f"{person}: {tag} {fields}")
        ask = requests.DoRequest(id=console.fresh_id(), table=TABLE, do=command(tag, **fields))
        if two:
            second = world.crew.second if person != world.crew.second else world.crew.head
            token = world.approval(ask, session, second)
            ask = requests.DoRequest(id=ask.id, table=TABLE, do=ask.do, approval=token)
        await console.request(ask)

    def _filled(self, blank: Blank) -> Any:
        match blank.kind:
            case "faces":
                return self._faces()
            case "whole":
                return blank.least if blank.choices == () else int(blank.choices[0].value)
            case "text":
                self._texts += 1
                return f"text {self._texts}"
            case "choice":
                return self._chance.choice(blank.choices).value
            case "yes-no":
                return True
            case "areas":
                table = self._world.engine.table(TABLE)
                return [
                    str(area) for area in table.terms[table.layout].matrix.illuminated(Outcome.of(1, 2, 3))
                ]
            case _:
                raise AssertionError(f"expected a blank that can be filled in, got {blank}")

    def _faces(self) -> tuple[int, ...]:
        """What the shaker drew, mostly; else what the dice are said to show."""
        round_ = self._world.engine.table(TABLE).round
        if round_ is not None and round_.phase is Phase.REVEALED and round_.drawn is not None:
            return tuple(round_.drawn.faces)
        return (1, 2, 3)

    async def _mishap(self, dan: Dealer) -> bool:
        """Reports something that can be reported now, if its form is simple enough."""
        table = self._world.engine.table(TABLE)
        told = dan.console.irregularities if dan.with_console else irregularities(table)
        lines = [line for line in told if line.by and self._is_simple(line)]
        if table.practice == 1:
            lines = [line for line in lines if line.id not in SINCE_EDITION_2]
        if not lines:
            return False
        line = self._chance.choice(lines)
        person = next((one for one, rank in self._world.crew.ranks.items() if rank in line.by), None)
        if person is None:
            return False
        console, session = await self._at_work(person)
        two = any(blank.kind == "second" for blank in line.blanks)
        fields = {b.field: self._filled(b) for b in line.blanks if not b.optional and b.kind != "second"}
        await self._send(console, session, person, "report", {"event": line.id, **fields}, two=two)
        return True

    @staticmethod
    def _is_simple(line: IrregularityLine) -> bool:
        return all(
            blank.optional or blank.kind in ("faces", "whole", "text", "second") for blank in line.blanks
        )
