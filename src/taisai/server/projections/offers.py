"""Offers: exactly what may be done at a table now, by whom, by which clause: a page needs no rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

import msgspec

from taisai.game import Refusal, Table, decide
from taisai.game.commands import Leave
from taisai.protocol.views import Offer, Words
from taisai.rules.procedure import Step
from taisai.server.projections import form_fields, texts
from taisai.server.projections.candidates import Candidate, acts, corrections, offered, releases
from taisai.server.projections.decisions import ON_BETS, decisions
from taisai.server.projections.trial import Stage
from taisai.server.projections.upkeep_offers import claims, equipment, people, running, shoe

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
    stage = Stage(table, table.latest if now is None else now)
    found = list(_offers(table, stage))
    place = _main(table, found)
    if place is not None:
        found[place] = msgspec.structs.replace(found[place], main=True)
    return tuple(found)


def _offers(table: Table, stage: Stage) -> Iterator[Offer]:
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


def _leaving(table: Table, stage: Stage) -> Iterator[Offer]:
    """People are real here: who may go depends on who is there."""
    going = [
        name
        for name in table.people
        if not isinstance(decide(table, Leave(at=stage.now, by=name, person=name)), Refusal)
    ]
    who = form_fields.choice("person", ((name, Words(name, name)) for name in going))
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
