"""Irregularities: what can be reported now, what the rules order then, and what the report has to tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taisai.game import Refusal, Table
from taisai.game.commands import Report
from taisai.protocol.views import Blank, IrregularityLine
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import form_fields, texts
from taisai.server.projections.labels import item_label
from taisai.server.projections.trial import Accepted, Stage

_OF_ROUNDS: Final = frozenset({Ruling.VOID_AFFECTED, Ruling.SETTLE_BY_OUTCOME})
"""Rulings that may concern rounds that are over."""
_OF_ITEMS: Final = frozenset({Irregularity.EQUIPMENT_FAILURE, Irregularity.POWER_FAILURE, Irregularity.OTHER})
"""What the equipment that failed can be named with."""


def irregularities(table: Table, now: int | None = None) -> tuple[IrregularityLine, ...]:
    """Everything that can go wrong, with the ruling in this phase."""
    stage = Stage(table, table.latest if now is None else now).without_bets()
    return tuple(_line(table, stage, event) for event in Irregularity)


def irregularity(table: Table, event: Irregularity, now: int | None = None) -> IrregularityLine:
    """One of them."""
    stage = Stage(table, table.latest if now is None else now).without_bets()
    return _line(table, stage, event)


def _line(table: Table, stage: Stage, event: Irregularity) -> IrregularityLine:
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    found, trial = _tried(table, stage, event)
    asked = tuple(_blanks(table, event, ruled.ruling, trial))
    if found is not None and found.second:
        asked = (*asked, form_fields.second(table))
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


def _tried(table: Table, stage: Stage, event: Irregularity) -> tuple[Accepted | None, dict[str, Any]]:
    """The least that a report has to tell to be taken; None where it is not taken now."""
    for trial in _trials(table):
        found = stage.tried(Report, {"event": event, **trial})
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
        yield form_fields.faces(table)
    newest = len(table.rounds) + (table.round is not None)
    if newest and (ruling in _OF_ROUNDS or "round" in trial):
        yield form_fields.round_number(table, optional="round" not in trial)
    if newest and ruling is Ruling.VOID_AFFECTED:
        yield form_fields.round_number(table, "through", optional=True)
    if (event, table.phase) in table.irregularities.seen:
        yield form_fields.yes_no("seen", optional=True)
    if event in _OF_ITEMS and table.equipment.placed:
        placed = ((name, item_label(table, name)) for name in table.equipment.placed)
        yield form_fields.choice("item", placed, optional=True)
    yield form_fields.text("detail", optional=True)
