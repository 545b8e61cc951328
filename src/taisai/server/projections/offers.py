"""Offers: what may be done at a table now, by whom and by which clause, so that a page needs no rules.

Irregularities are the other half: what can be reported now, the ruling, and the fields of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import msgspec

from taisai.game import Refusal, Table, decide
from taisai.game.commands import Leave, ReportIrregularity
from taisai.protocol.views import Blank, IrregularityLine, Offer, Words
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.procedure import Step
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import texts
from taisai.server.projections.candidates import (
    AcceptedTrial,
    Candidate,
    TrialTable,
    choice_blank,
    faces_blank,
    offered,
    round_blank,
    second_blank,
    text_blank,
    yes_no_blank,
)
from taisai.server.projections.labels import item_label
from taisai.server.projections.table_offers import (
    ON_BETS,
    acts,
    claims,
    corrections,
    decisions,
    equipment,
    people,
    releases,
    running,
    shoe,
)

_RELEASES: Final = ("declare", "close-withdrawal", "decide-referral")
_READIES: Final = (
    "repair-item",
    "remove-item",
    "place-item",
    "reopen",
    "inspect",
    "shuffle-shoe",
    "load-shoe",
)
"""What makes a table ready for its next round, in the order in which it is done."""


def offers(table: Table, now: int | None = None) -> tuple[Offer, ...]:
    """What may be done now, the next step marked; `now` is the table's latest moment unless said."""
    if not table.name:
        return ()
    stage = TrialTable(table, table.latest if now is None else now)
    found = list(_offers(table, stage))
    place = _main(table, found)
    if place is not None:
        found[place] = msgspec.structs.replace(found[place], main=True)
    return tuple(found)


def _offers(table: Table, stage: TrialTable) -> Iterator[Offer]:
    for one in chain(
        acts(table),
        releases(table),
        equipment(table, stage.now),
        shoe(table),
        running(table),
        people(table, stage),
        claims(table),
    ):
        if offer := offered(stage, one):
            yield offer
    bare = stage.without_bets()
    for one in corrections(table):
        if offer := offered(bare, one):
            yield offer
    for one in decisions(table):
        if offer := offered(stage if one.preset["treatment"] in ON_BETS else bare, one):
            yield offer
    yield from _leaving(table, stage)


def _leaving(table: Table, stage: TrialTable) -> Iterator[Offer]:
    """People are real here: who may go depends on who is there."""
    going = [
        name
        for name in table.people
        if not isinstance(decide(table, Leave(at=stage.now, by=name, person=name)), Refusal)
    ]
    who = choice_blank("person", ((name, Words(name, name)) for name in going))
    trials = tuple({"person": name} for name in going)
    offer = offered(stage.with_people(), Candidate(Leave, {}, texts.COMMANDS["leave"], (who,), trials))
    if offer:
        yield offer


def _stays(step: Step) -> bool:
    """Whether a step only does once more what has been done."""
    return step.start is step.end


def _main(table: Table, found: list[Offer]) -> int | None:
    """The one next step: of the round, else what ends its waiting, else what makes the table ready."""
    tags = [offer.command for offer in found]
    if "perform" in tags:
        again = {step.act for step in table.procedure.steps_from(table.phase, table.settings) if _stays(step)}
        steps = [place for place, tag in enumerate(tags) if tag == "perform"]
        return min(steps, key=lambda place: found[place].preset["act"] in again)
    if table.held is not None:
        return next((tags.index(tag) for tag in _RELEASES if tag in tags), None)
    if table.round is not None:
        return None
    used = {item.id for item in table.equipment.in_use(table.settings)}
    for tag in _READIES:
        for place, offer in enumerate(found):
            item = offer.preset.get("item")
            if offer.command == tag and (tag not in ("remove-item", "place-item") or item in used):
                return place
    return None


_OF_ROUNDS: Final = frozenset({Ruling.VOID_AFFECTED, Ruling.SETTLE_BY_OUTCOME})
"""Rulings that may concern rounds that are over."""
_OF_ITEMS: Final = frozenset({Irregularity.EQUIPMENT_FAILURE, Irregularity.POWER_FAILURE, Irregularity.OTHER})
"""What the equipment that failed can be named with."""


def irregularities(table: Table, now: int | None = None) -> tuple[IrregularityLine, ...]:
    """Everything that can go wrong, with the ruling in this phase."""
    stage = TrialTable(table, table.latest if now is None else now).without_bets()
    return tuple(_line(table, stage, event) for event in Irregularity)


def irregularity(table: Table, event: Irregularity, now: int | None = None) -> IrregularityLine:
    """One of them."""
    stage = TrialTable(table, table.latest if now is None else now).without_bets()
    return _line(table, stage, event)


def _line(table: Table, stage: TrialTable, event: Irregularity) -> IrregularityLine:
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    found, trial = _tried(table, stage, event)
    asked = tuple(_blanks(table, event, ruled.ruling, trial))
    if found is not None and found.second:
        asked = (*asked, second_blank(table))
    return IrregularityLine(
        id=str(event),
        label=texts.IRREGULARITIES[event],
        ruling=str(ruled.ruling),
        says=texts.RULINGS[ruled.ruling],
        clause=str(ruled.clause),
        to=ruled.to,
        foreseen=ruled.foreseen,
        blanks=asked,
        by=found.by if found is not None else (),
    )


def _tried(
    table: Table, stage: TrialTable, event: Irregularity
) -> tuple[AcceptedTrial | None, dict[str, Any]]:
    """The least that a report has to tell to be taken; None where it is not taken now."""
    for trial in _trials(table):
        found = stage.tried(ReportIrregularity, {"event": event, **trial})
        if not isinstance(found, Refusal):
            return found, trial
    return None, {}


def _trials(table: Table) -> Iterator[dict[str, Any]]:
    """Nothing; else what the dice show; else that of the last round."""
    shown = [{"faces": tuple(outcome.faces)} for outcome in (OUTCOMES[0], OUTCOMES[-1])]
    yield {}
    yield from shown
    if table.round is None and len(table.rounds):
        last = {"round": len(table.rounds)}
        yield last
        yield from (last | one for one in shown)


def _blanks(table: Table, event: Irregularity, ruling: Ruling, trial: dict[str, Any]) -> Iterator[Blank]:
    if "faces" in trial:
        yield faces_blank(table)
    newest = len(table.rounds) + (table.round is not None)
    if newest and (ruling in _OF_ROUNDS or "round" in trial):
        yield round_blank(table, optional="round" not in trial)
    if newest and ruling is Ruling.VOID_AFFECTED:
        yield round_blank(table, "through", optional=True)
    if (event, table.phase) in table.irregularities.seen:
        yield yes_no_blank("seen", optional=True)
    if event in _OF_ITEMS and table.equipment.placed:
        placed = ((name, item_label(table, name)) for name in table.equipment.placed)
        yield choice_blank("item", placed, optional=True)
    yield text_blank("detail", optional=True)
