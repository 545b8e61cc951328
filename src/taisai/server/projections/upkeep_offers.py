"""Candidates around the round: people, equipment, the shoe, days and shifts, limits, shutting."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Final

from taisai.game import Refusal, Table, commands, decide
from taisai.game.vocabulary import HOUSE, MOST_ID, ClaimEnd
from taisai.protocol.views import Words
from taisai.rules.equipment import EquipmentItem, InspectedBefore, Inspection
from taisai.rules.outcomes import OUTCOMES
from taisai.server.projections import offer_forms as form
from taisai.server.projections import texts
from taisai.server.projections.labels import item_label, rank_label
from taisai.server.projections.offer_forms import REASON, Candidate
from taisai.server.projections.trial import TrialTable

MOST_RUNS: Final = 100  # trial runs of one inspection; more is a typing mistake
MOST_CLAIMS: Final = 20  # that are offered to be settled
MOST_CARDS: Final = 48  # of one face: eight in each of six decks
_NEWCOMER: Final = "(someone new)"


def equipment(table: Table, now: int) -> Iterator[Candidate]:
    """What failed is repaired, what had its time goes, what is missing comes, what is due is inspected."""
    kit, settings = table.equipment, table.settings
    for name, placed in kit.placed.items():
        if not placed.working:
            label = texts.joined(item_label(table, name), texts.COMMANDS["repair-item"])
            yield Candidate(commands.RepairItem, {"item": name}, label)
            label = texts.joined(texts.COMMANDS["remove-item"], item_label(table, name))
            yield Candidate(commands.RemoveItem, {"item": name}, label)  # dice are not repaired, but replaced
    outlived = kit.outlived(max(now, table.latest), settings)
    if outlived is not None and outlived.id in kit.placed:
        label = texts.joined(texts.COMMANDS["remove-item"], item_label(table, outlived.id))
        yield Candidate(commands.RemoveItem, {"item": outlived.id}, label)
    used = {item.id for item in kit.in_use(settings)}
    for item in sorted(kit.items.values(), key=lambda one: one.id not in used):
        if item.id not in kit.placed:
            yield _placing(table, item)
    for before in InspectedBefore:
        for item, inspection in kit.due(before, settings):
            if item.id in kit.placed:
                yield _inspecting(table, item, inspection)
    if kit.placed:
        yield Candidate(
            commands.RemoveItem,
            {},
            texts.COMMANDS["remove-item"],
            (form.choice("item", ((name, item_label(table, name)) for name in kit.placed)),),
            tuple({"item": name} for name in kit.placed),
        )


def _placing(table: Table, item: EquipmentItem) -> Candidate:
    retired = {serial for name, serial in table.equipment.retired if name == item.id}
    serial = "new"
    while serial in retired:
        serial += "+"
    return Candidate(
        commands.PlaceItem,
        {"item": item.id},
        texts.joined(texts.COMMANDS["place-item"], item_label(table, item.id)),
        (form.text("serial", optional="" not in retired, most=MOST_ID),),
        ({"serial": serial},),
    )


def _inspecting(table: Table, item: EquipmentItem, inspection: Inspection) -> Candidate:
    """Where a device lights areas, the numbers entered and the areas lit are asked for as well."""
    lights = table.terms[table.layout].matrix.illuminated(OUTCOMES[0])
    plain = {"runs": inspection.runs, "passed": True}
    lit = {"entered": tuple(OUTCOMES[0].faces), "lit": tuple(map(str, lights))}
    asked = {"item": item.id, "before": inspection.before}
    label = texts.joined(texts.COMMANDS["inspect"], item_label(table, item.id))
    label = Words(
        f"{label.en}, {texts.INSPECTED[inspection.before].en}",
        f"{label.zh}（{texts.INSPECTED[inspection.before].zh}）",
    )
    return Candidate(
        commands.Inspect,
        asked,
        label,
        (
            form.whole("runs", inspection.runs, MOST_RUNS),
            form.yes_no("passed"),
            form.faces(table, "entered", optional=True),
            form.other("lit", "areas", optional=True),
        ),
        (plain, {**plain, **lit}),
    )


def shoe(table: Table) -> Iterator[Candidate]:
    """Decks, shuffles and counts, in a game of cards."""
    if not table.shoe.used:
        return
    rule = table.shoe.rule
    yield Candidate(commands.ShuffleShoe, {}, texts.COMMANDS["shuffle-shoe"])
    yield Candidate(
        commands.LoadShoe,
        {},
        texts.COMMANDS["load-shoe"],
        (form.whole("decks", rule.least_decks, rule.most_decks),),
        ({"decks": rule.least_decks},),
    )
    yield Candidate(
        commands.CountCards,
        {},
        texts.COMMANDS["count-cards"],
        (form.other("found", "counts"),),
        ({"found": table.shoe.expected()},),
    )


def running(table: Table) -> Iterator[Candidate]:
    """Shutting and reopening, days and shifts, limits and odds, the end."""
    reason = (form.text("reason"),)
    yield Candidate(commands.Reopen, {}, texts.COMMANDS["reopen"], reason, ({"reason": REASON},))
    yield Candidate(commands.Shut, {}, texts.COMMANDS["shut"], reason, ({"reason": REASON},))
    yield Candidate(
        commands.BeginDay,
        {},
        texts.COMMANDS["begin-day"],
        (form.text("day", most=10),),
        tuple(_next_day(table)),
    )
    yield Candidate(
        commands.BeginShift,
        {},
        texts.COMMANDS["begin-shift"],
        (form.text("shift", most=MOST_ID),),
        ({"shift": "night"},),
    )
    yield Candidate(
        commands.SetLimits,
        {},
        texts.COMMANDS["set-limits"],
        (form.other("limits", "limits"),),
        ({"limits": table.limits},),
    )
    if any(line.floor for one in table.book.pay_tables.values() for line in one.lines):
        yield Candidate(
            commands.OfferOdds,
            {},
            texts.COMMANDS["offer-odds"],
            (form.other("offers", "odds"),),
            ({"offers": table.offers},),
        )
    yield Candidate(commands.CloseTable, {}, texts.COMMANDS["close-table"])


def _next_day(table: Table) -> Iterator[dict[str, str]]:
    try:
        yield {"day": (datetime.date.fromisoformat(table.day) + datetime.timedelta(days=1)).isoformat()}
    except (ValueError, OverflowError):  # no table yet, or the end of the calendar
        return


def people(table: Table, stage: TrialTable) -> Iterator[Candidate]:
    """Who comes, and who goes."""
    new = {"person": _NEWCOMER, "rank": stage.positions[0]}
    for position in stage.positions:
        # The House's own word tells whether there is room for one more; the stage, who else may say it.
        came = commands.Assign(at=stage.now, by=HOUSE, person=_NEWCOMER, rank=position, position=position)
        if isinstance(decide(table, came), Refusal):
            continue
        yield Candidate(
            commands.Assign,
            {"position": position},
            texts.joined(texts.COMMANDS["assign"], rank_label(table, position)),
            (
                form.text("person", most=MOST_ID),
                form.choice("rank", ((rank, rank_label(table, rank)) for rank in stage.positions)),
            ),
            (new,),
        )


def claims(table: Table) -> Iterator[Candidate]:
    """Claims that are settled at the table or given up; the cage has its own way."""
    for claim in list(table.claims.values())[:MOST_CLAIMS]:
        for how in (ClaimEnd.TABLE, ClaimEnd.WAIVE):
            label = texts.CLAIMS[how]
            yield Candidate(
                commands.SettleClaim,
                {"claim": claim.id, "how": how},
                Words(f"{label.en} ({claim.id})", f"{label.zh}（{claim.id}）"),
                (form.text("reason", optional=how is not ClaimEnd.WAIVE),),
                ({"reason": REASON},),
            )
