"""The candidates of a table: the steps of its round, corrections and decisions; people, equipment, limits."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from taisai.game import Refusal, Table, commands, decide
from taisai.game.commands import Command
from taisai.game.equipment.items import DEVICE
from taisai.game.equipment.maintenance import refused_change
from taisai.game.messages import tag_of
from taisai.game.rounds.steps import WITNESSED
from taisai.game.table import MOST_TUMBLES, Referral
from taisai.game.vocabulary import HOUSE, MOST_ID, ClaimEnd, Hold, Treatment
from taisai.protocol.views import Blank, Words
from taisai.rules.equipment import EquipmentItem, InspectedBefore, Inspection
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.procedure import CLOCK, Declared, Step
from taisai.rules.vocabulary import Act, Irregularity, Need
from taisai.server.projections import by_hand_offers, texts
from taisai.server.projections.candidates import (
    LOOK_BACK,
    MOST_SEATS,
    REASON,
    Candidate,
    Fields,
    TrialTable,
    choice_blank,
    faces_blank,
    number_blank,
    past_round_blank,
    round_blank,
    special_blank,
    text_blank,
    yes_no_blank,
)

MOST_REFERRALS: Final = 10
"""Offered at once, those that hold the round first."""


def plain(table: Table, stage: TrialTable) -> Iterator[Candidate]:
    """All candidates except corrections and decisions."""
    yield from acts(table)
    yield from releases(table)
    yield from by_hand_offers.entries(table)
    yield from equipment(table, stage.now)
    yield from shoe(table)
    yield from running(table)
    yield from people(table, stage)
    yield from claims(table)


def _usual(kind: type[Command], *blanks: Blank, **trial: Any) -> Candidate:
    """A command with its usual label and no preset values. The values to try are for its blanks."""
    return Candidate(kind, {}, texts.COMMANDS[tag_of(kind)], blanks, (trial,))


def _of_item(kind: type[Command], table: Table, item: str, *blanks: Blank, **trial: Any) -> Candidate:
    """A command for one item of the equipment."""
    label = texts.joined(texts.COMMANDS[tag_of(kind)], texts.item_label(table, item))
    return Candidate(kind, {"item": item}, label, blanks, (trial,))


def _faces() -> Iterator[Fields]:
    """Outcomes to try. One of the first differs from the entered one and is in the decks."""
    return ({"faces": tuple(outcome.faces)} for outcome in OUTCOMES)


# Steps of a round


def acts(table: Table) -> Iterator[Candidate]:
    """The possible steps of the procedure, in its order."""
    for step in table.procedure.steps_from(table.phase, table.settings):
        witness = table.round.witness if table.round and step.act in WITNESSED else None
        yield Candidate(
            commands.Perform,
            {"act": step.act},
            texts.ACTS[step.act],
            tuple(_act_blanks(table, step)),
            tuple(_act_trials(table, step)),
            by=(CLOCK,) if step.by == CLOCK else None,
            second=witness,
        )


def _tumbles(table: Table) -> int:
    kit, settings = table.equipment, table.settings
    done = table.round.tumbles if table.round and kit.tumbles_add_up(settings) else 0
    return max(1, kit.least_tumbles(settings) - done)


def _act_blanks(table: Table, step: Step) -> Iterator[Blank]:
    if step.act is Act.TUMBLE:
        yield number_blank("tumbles", _tumbles(table), MOST_TUMBLES)
    if step.act is Act.ENTER_RESULT:
        yield faces_blank(table)
        if any(need.need is Need.DICE_FLAT for need in step.needs):
            yield yes_no_blank("flat", optional=True)


def _act_trials(table: Table, step: Step) -> Iterator[Fields]:
    if step.act is Act.TUMBLE:
        yield {"tumbles": _tumbles(table)}
    elif step.act is Act.ENTER_RESULT:
        yield from _faces()
    else:
        yield {}


# Holds


def releases(table: Table) -> Iterator[Candidate]:
    """Commands that end a declaration or an option to withdraw."""
    if Hold.DECLARATION in table.holds:
        is_live = table.practice > 1 and table.book.record is not None
        for declared in Declared:
            label = texts.joined(texts.COMMANDS["declare"], texts.DECLARED[declared])
            yield Candidate(
                commands.Declare,
                {"declared": declared},
                by_hand_offers.NOTHING_ELSE[declared] if is_live else label,
                then=texts.RECOVERIES[table.procedure.recovery(table.phase, declared).action],
            )
        if is_live:
            yield _unrecorded(table)
    for report in table.reports.values():
        label = texts.IRREGULARITIES[report.irregularity]
        for kind, blanks in ((commands.ConfirmReport, ()), (commands.ContestReport, (text_blank("reason"),))):
            words = texts.joined(texts.COMMANDS[tag_of(kind)], label)
            yield Candidate(
                kind, {"report": report.id}, words, blanks, ({"reason": REASON} if blanks else {},)
            )
    if Hold.WITHDRAWAL in table.holds and table.round is not None:
        yield _closing_option(table)
        seats = [seat for seat in table.round.seats() if seat not in table.round.choices][:MOST_SEATS]
        if seats:
            seat = choice_blank("seat", ((seat, Words(seat, seat)) for seat in seats))
            withdraw = yes_no_blank("withdraw")
            yield _usual(commands.ChooseWithdrawal, seat, withdraw, seat=seats[0], withdraw=True)


def _unrecorded(table: Table) -> Candidate:
    """What happened at a live table while nothing was recorded."""
    blanks = (
        yes_no_blank("called"),
        number_blank("tumbles", 0, MOST_TUMBLES),
        yes_no_blank("seen"),
        yes_no_blank("early", optional=True),
        faces_blank(table, optional=True),
        yes_no_blank("settled", optional=True),
    )
    trial = {"called": True, "tumbles": 3, "seen": table.round is not None and table.round.seen}
    label = texts.COMMANDS[tag_of(commands.DeclareUnrecorded)]
    return Candidate(commands.DeclareUnrecorded, {}, label, blanks, (trial,))


def _closing_option(table: Table) -> Candidate:
    """The end of the option to withdraw; where players have not chosen, all others were asked and stay."""
    usual = texts.COMMANDS[tag_of(commands.CloseWithdrawal)]
    if table.practice == 1 or all(seat in table.current.choices for seat in table.current.seats()):
        return Candidate(commands.CloseWithdrawal, {}, usual)
    return Candidate(commands.CloseWithdrawal, {"others_stay": True}, texts.joined(usual, texts.OTHERS_STAY))


# Corrections


def corrections(table: Table) -> Iterator[Candidate]:
    """Corrections of a wrong result, in the current round or an earlier one."""
    round_, event = table.round, Irregularity.WRONG_RESULT
    show = (faces_blank(table), text_blank("detail", optional=True))
    if round_ is not None and round_.result is not None:
        yield Candidate(
            commands.ReportIrregularity,
            {"event": event, "round": round_.number},
            texts.CORRECT,
            show,
            tuple(_faces()),
            is_report=True,
        )
    if len(table.rounds):
        past = range(len(table.rounds), max(0, len(table.rounds) - LOOK_BACK), -1)
        found = [number for number in past if (over := table.past(number)) and over.result is not None]
        yield Candidate(
            commands.ReportIrregularity,
            {"event": event},
            texts.CORRECT_EARLIER,
            (past_round_blank(table, found), *show),
            tuple({"round": number, **trial} for number in found[:1] for trial in _faces()),
            is_report=True,
        )


# Decisions


def decisions(table: Table) -> Iterator[Candidate]:
    """Every treatment of every open referral."""
    for referral in texts.waiting(table, MOST_REFERRALS):
        for treatment in Treatment:
            yield Candidate(
                commands.DecideReferral,
                {"referral": referral.id, "treatment": treatment},
                texts.joined(texts.subject_label(referral.subject), texts.TREATMENTS[treatment]),
                (text_blank("reason"), *_blanks(table, referral, treatment)),
                tuple({"reason": REASON, **trial} for trial in _trials(table, referral, treatment)),
                takes_two=treatment is Treatment.VOID_ROUNDS,  # settled rounds need it, and any may be named
            )


def _blanks(table: Table, referral: Referral, treatment: Treatment) -> Iterator[Blank]:
    named = referral.round is not None
    if treatment is Treatment.SETTLE_BY_OUTCOME:
        yield faces_blank(table)
        yield round_blank(table, optional=named)
    if treatment is Treatment.VOID_ROUNDS:
        yield round_blank(table, optional=named)
        yield round_blank(table, "through", optional=True)
    if treatment is Treatment.TREAT_BETS:
        yield special_blank("bets", "bets")


def _trials(table: Table, referral: Referral, treatment: Treatment) -> Iterator[dict[str, Any]]:
    newest = len(table.rounds) + (table.round is not None)
    latest = range(newest, max(0, newest - LOOK_BACK), -1)
    rounds = [{}] if referral.round is not None else [{"round": number} for number in latest]
    if treatment is Treatment.VOID_ROUNDS:
        yield from rounds
    elif treatment is Treatment.SETTLE_BY_OUTCOME:
        for round_ in rounds:
            # One of two outcomes differs from the entered one; a third in case the decks lack one.
            yield from ({"faces": tuple(outcome.faces), **round_} for outcome in OUTCOMES[:3])
    elif treatment is Treatment.TREAT_BETS:
        if table.round is not None:
            live = next((id_ for id_ in table.round.bets if id_ not in table.round.gone), None)
            yield from [{"bets": {live: None}}] if live is not None else []
    else:
        yield {}


MOST_RUNS: Final = 100  # trial runs of one inspection; more is a typing mistake
MOST_CLAIMS: Final = 20  # offered at once
MOST_CARDS: Final = 48  # of one face: eight in each of six decks
_NEWCOMER: Final = "(someone new)"


def equipment(table: Table, now: int) -> Iterator[Candidate]:
    """Repairing, removing, placing and inspecting items."""
    kit, settings = table.equipment, table.settings
    for name, placed in kit.placed.items():
        if not placed.working:
            label = texts.joined(texts.item_label(table, name), texts.COMMANDS["repair-item"])
            yield Candidate(commands.RepairItem, {"item": name}, label)
            yield _of_item(commands.RemoveItem, table, name)  # dice are replaced, not repaired
    outlived = kit.outlived(max(now, table.latest), settings)
    if outlived is not None and outlived.id in kit.placed:
        yield _of_item(commands.RemoveItem, table, outlived.id)
    used = {item.id for item in kit.in_use(settings)}
    for item in sorted(kit.items.values(), key=lambda item: item.id not in used):
        if item.id not in kit.placed:
            yield _placing(table, item)
    for before in InspectedBefore:
        for item, inspection in kit.due(before, settings):
            if item.id in kit.placed:
                yield _inspecting(table, item, inspection)
    if removable := [name for name in kit.placed if refused_change(table, name, now) is None]:
        yield Candidate(
            commands.RemoveItem,
            {},
            texts.COMMANDS["remove-item"],
            (choice_blank("item", ((name, texts.item_label(table, name)) for name in removable)),),
            tuple({"item": name} for name in removable),
        )


def _placing(table: Table, item: EquipmentItem) -> Candidate:
    retired = {serial for name, serial in table.equipment.retired if name == item.id}
    serial = "new"
    while serial in retired:
        serial += "+"
    blank = text_blank("serial", optional="" not in retired, most=MOST_ID)
    return _of_item(commands.PlaceItem, table, item.id, blank, serial=serial)


def _inspecting(table: Table, item: EquipmentItem, inspection: Inspection) -> Candidate:
    """An inspection. For a device that lights areas, also with entered numbers and lit areas."""
    lights = table.terms[table.layout].matrix.illuminated(OUTCOMES[0])
    plain = {"runs": inspection.runs, "passed": True}
    lit = {"entered": tuple(OUTCOMES[0].faces), "lit": tuple(map(str, lights))}
    label = texts.joined(texts.COMMANDS["inspect"], texts.item_label(table, item.id))
    before = texts.INSPECTED[inspection.before]
    return Candidate(
        commands.Inspect,
        {"item": item.id, "before": inspection.before},
        Words(f"{label.en}, {before.en}", f"{label.zh}（{before.zh}）"),
        (
            number_blank("runs", inspection.runs, MOST_RUNS),
            yes_no_blank("passed"),
            *((faces_blank(table, "entered"), special_blank("lit", "areas")) if item.id == DEVICE else ()),
        ),
        ({**plain, **lit} if item.id == DEVICE else plain,),
    )


def shoe(table: Table) -> Iterator[Candidate]:
    """Loading, shuffling and counting the cards."""
    if not table.shoe.used:
        return
    rule = table.shoe.rule
    decks = number_blank("decks", rule.least_decks, rule.most_decks)
    yield _usual(commands.ShuffleShoe)
    backs = (special_blank("backs", "lines", optional=True),) if table.practice > 1 else ()
    yield _usual(commands.LoadShoe, decks, *backs, decks=rule.least_decks)
    yield _usual(commands.CountCards, special_blank("found", "counts"), found=table.shoe.expected())


def running(table: Table) -> Iterator[Candidate]:
    """Shutting and reopening, days and shifts, limits and odds, closing."""
    for kind in (commands.Reopen, commands.Shut):
        yield _usual(kind, text_blank("reason"), reason=REASON)
    with suppress(ValueError, OverflowError):  # the table has no day yet, or the calendar ends
        day = datetime.date.fromisoformat(table.day) + datetime.timedelta(days=1)
        early = _usual(commands.BeginDay, text_blank("day", most=10), day=day.isoformat())
        yield early._replace(takes_two=True)  # the server begins the calendar's day by itself
    yield _usual(commands.BeginShift, text_blank("shift", most=MOST_ID), shift="night")
    yield _usual(commands.SetLimits, special_blank("limits", "limits"), limits=table.limits)
    if any(line.floor for pay in table.book.pay_tables.values() for line in pay.lines):
        yield _usual(commands.OfferOdds, special_blank("offers", "odds"), offers=table.offers)
    yield _usual(commands.CloseTable)


def people(table: Table, stage: TrialTable) -> Iterator[Candidate]:
    new = {"person": _NEWCOMER, "rank": stage.positions[0]}
    for position in stage.positions:
        # The House may assign anyone, so its command shows whether the position is free.
        assigned = commands.Assign(at=stage.now, by=HOUSE, person=_NEWCOMER, rank=position, position=position)
        if isinstance(decide(table, assigned), Refusal):
            continue
        yield Candidate(
            commands.Assign,
            {"position": position},
            texts.joined(texts.COMMANDS["assign"], texts.rank_label(table, position)),
            (
                text_blank("person", most=MOST_ID),
                choice_blank("rank", ((rank, texts.rank_label(table, rank)) for rank in stage.positions)),
            ),
            (new,),
        )


def claims(table: Table) -> Iterator[Candidate]:
    """Settling claims at the table, or waiving them. The cage has its own request."""
    for claim in list(table.claims.values())[:MOST_CLAIMS]:
        for how in (ClaimEnd.TABLE, ClaimEnd.WAIVE):
            label = texts.CLAIMS[how]
            yield Candidate(
                commands.SettleClaim,
                {"claim": claim.id, "how": how},
                Words(f"{label.en} ({claim.id})", f"{label.zh}（{claim.id}）"),
                (text_blank("reason", optional=how is not ClaimEnd.WAIVE),),
                ({"reason": REASON},),
            )
