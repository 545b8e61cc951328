"""Offers: the commands that are possible at a table now, with positions and clauses. Pages need no rules.

Irregularities that can be reported now are listed too, each with its ruling and the fields of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from taisai.game import Refusal, Table, decide
from taisai.game.commands import Leave, ReportIrregularity
from taisai.game.events import IrregularityRuled, Referred
from taisai.game.vocabulary import Treatment
from taisai.protocol.views import Blank, IrregularityLine, Offer, SeenRuling, Words
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.vocabulary import Irregularity, Visibility
from taisai.server.projections import record_offers, table_offers, texts
from taisai.server.projections.candidates import (
    LOOK_BACK,
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

_RELEASES: Final = (
    "declare",
    "declare-unrecorded",
    "confirm-report",
    "close-withdrawal",
    "decide-referral",
    "enter-settlement",
)
"""Commands that end a hold, in the order in which they come."""
_READIES: Final = (
    "repair-item",
    "remove-item",
    "place-item",
    "reopen",
    "inspect",
    "shuffle-shoe",
    "load-shoe",
)
"""Commands that make a table ready for its next round, in order."""
_REPLACES: Final = ("remove-item", "place-item")
"""Those for an item in use that is due: dice that are too old are replaced with a round in hand, too."""


def offers(table: Table, now: int | None = None) -> tuple[Offer, ...]:
    """The commands that are possible now, the next step marked. Default of `now`: the table's latest time."""
    if not table.name:
        return ()
    stage = TrialTable(table, table.latest if now is None else now)
    possible = list(_offers(table, stage))
    place = _main(table, possible)
    if place is not None:
        possible[place] = msgspec.structs.replace(possible[place], main=True)
    return tuple(possible)


def _offers(table: Table, stage: TrialTable) -> Iterator[Offer]:
    for candidate in table_offers.plain(table, stage):
        if offer := offered(stage, candidate):
            yield offer
    bare = stage.without_bets()
    for candidate in table_offers.corrections(table):
        if offer := offered(bare, candidate):
            yield offer
    for candidate in record_offers.records(table):
        if offer := offered(bare, candidate):
            yield offer
    for candidate in table_offers.decisions(table):
        is_on_bets = candidate.preset["treatment"] is Treatment.TREAT_BETS  # then bets are tried too
        if offer := offered(stage if is_on_bets else bare, candidate):
            yield offer
    yield from _leaving(table, stage)


def _leaving(table: Table, stage: TrialTable) -> Iterator[Offer]:
    """Who may leave depends on the people who are really there."""
    leaving = [
        name
        for name in table.people
        if not isinstance(decide(table, Leave(at=stage.now, by=name, person=name)), Refusal)
    ]
    who = choice_blank("person", ((name, Words(name, name)) for name in leaving))
    trials = tuple({"person": name} for name in leaving)
    offer = offered(stage.with_people(), Candidate(Leave, {}, texts.COMMANDS["leave"], (who,), trials))
    if offer:
        yield offer


def _main(table: Table, offers: list[Offer]) -> int | None:
    """The place of the next step: of the round, else what ends a hold, else what makes the table ready."""
    tags = [offer.command for offer in offers]
    if "perform" in tags:
        possible = table.procedure.steps_from(table.phase, table.settings)
        later = {
            step.act
            for step in possible
            if step.start is step.end or (step.proposed and not step.proposed.holds(table.settings))
        }  # those that leave the phase as it is, and those that the settings propose for later
        steps = [place for place, tag in enumerate(tags) if tag == "perform"]
        return min(steps, key=lambda place: offers[place].preset["act"] in later)
    if table.held is not None:
        return next((tags.index(tag) for tag in _RELEASES if tag in tags), None)
    used = {item.id for item in table.equipment.in_use(table.settings)}
    for tag in _READIES if table.round is None else _REPLACES:
        for place, offer in enumerate(offers):
            if offer.command == tag and (tag not in _REPLACES or offer.preset.get("item") in used):
                return place
    return _undecided(table, offers)


def _undecided(table: Table, offers: list[Offer]) -> int | None:
    """What the round in hand waits for without a hold: unclear chips are decided before it is settled."""
    for place, offer in enumerate(offers):
        referral = table.referrals.get(str(offer.preset.get("referral")))
        if referral is not None and table.round is not None and referral.round == table.round.number:
            return place
    return None


_OF_ROUNDS: Final = frozenset({Ruling.VOID_AFFECTED, Ruling.SETTLE_BY_OUTCOME})
"""Rulings that may concern earlier rounds."""
_OF_ITEMS: Final = frozenset({Irregularity.EQUIPMENT_FAILURE, Irregularity.POWER_FAILURE, Irregularity.OTHER})
"""Irregularities whose report can name the equipment that failed."""
MOST_LISTED: Final = 100  # terminals to choose from; more are no list that a Dealer reads


def irregularities(
    table: Table, now: int | None = None, events: Iterable[Irregularity] = Irregularity
) -> tuple[IrregularityLine, ...]:
    """Irregularities, each with its ruling in this phase."""
    stage = TrialTable(table, table.latest if now is None else now).without_bets()
    return tuple(_line(table, stage, event) for event in events)


def _line(table: Table, stage: TrialTable, event: Irregularity) -> IrregularityLine:
    alone = table.irregularities.ruling_for(event, table.phase, table.settings)
    accepted, trial = _tried(table, stage, event)
    ruled = alone if accepted is None else _in_force(accepted, alone)
    blanks = tuple(_blanks(table, event, alone.ruling, trial))
    if accepted is not None and accepted.second:
        blanks = (*blanks, second_blank(table))
    return IrregularityLine(
        id=str(event), label=texts.IRREGULARITIES[event], ruling=str(ruled.ruling),
        says=texts.RULINGS[ruled.ruling], clause=str(ruled.clause), to=ruled.to, foreseen=ruled.foreseen,
        blanks=blanks, by=accepted.by if accepted is not None else (),
        instead=texts.INSTEAD.get(event) if accepted is None else None,
        if_seen=_if_seen(table, event, ruled) if accepted is not None else None,
    )  # fmt: skip


def _in_force(accepted: AcceptedTrial, alone: RulingCell) -> RulingCell:
    """The ruling that a report would have now: what already stands in the round may change it."""
    ruled = next((event for event in accepted.events if isinstance(event, IrregularityRuled)), None)
    if ruled is None or (ruled.ruling, ruled.clause) == (alone.ruling, alone.clause):
        return alone
    to = next((event.to for event in accepted.events if isinstance(event, Referred)), None)
    return RulingCell(ruled.ruling, ruled.clause, to, caught=not ruled.foreseen)


def _if_seen(table: Table, event: Irregularity, unseen: RulingCell) -> SeenRuling | None:
    """The ruling if the report says that a die was seen, where it can and that changes the ruling."""
    if not _asks_sight(table, event):
        return None
    seen = table.irregularities.ruled(event, table.phase, table.settings, seen=True)
    if (seen.ruling, seen.clause) == (unseen.ruling, unseen.clause):
        return None
    return SeenRuling(ruling=str(seen.ruling), says=texts.RULINGS[seen.ruling], clause=str(seen.clause))


def _tried(
    table: Table, stage: TrialTable, event: Irregularity
) -> tuple[AcceptedTrial | None, dict[str, Any]]:
    """The report with the fewest fields that the table accepts; None if it accepts none now."""
    for trial in _trials(table, event):
        answer = stage.tried(ReportIrregularity, {"event": event, **trial})
        if not isinstance(answer, Refusal):
            return answer, trial
    return None, {}


def _trials(table: Table, event: Irregularity) -> Iterator[dict[str, Any]]:
    """Fields to try: none, then faces, then those with the last round that is over and not void.

    While the round in hand has no result, a wrong one is that of an earlier round: those come first.
    """
    faces = [{"faces": tuple(outcome.faces)} for outcome in (OUTCOMES[0], OUTCOMES[-1])]
    bare, earlier = [{}, *faces], list(_of_last_round(table, faces))
    is_open = table.round is None or table.round.result is None
    yield from (*earlier, *bare) if event is Irregularity.WRONG_RESULT and is_open else (*bare, *earlier)


def _of_last_round(table: Table, faces: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    newest = len(table.rounds)
    if newest and table.practice > 1:
        numbers = range(newest, max(0, newest - LOOK_BACK), -1)
        newest = next((number for number in numbers if not table.rounds.glance(number).voided), 0)
    if newest and (table.round is None or table.practice > 1):
        last = {"round": newest}
        yield last
        yield from (last | shown for shown in faces)


def _asks_sight(table: Table, event: Irregularity) -> bool:
    """Whether a report can say that a concealed die was seen."""
    if table.practice == 1:
        return (event, table.phase) in table.irregularities.seen
    is_covered = table.round is not None and table.phase.visibility is not Visibility.SHOWN
    is_sight = event in (Irregularity.EXPOSED_EARLY, Irregularity.EXPOSED_LATE)
    return is_covered and not is_sight and table.irregularities.open_seen is not None


def _blanks(table: Table, event: Irregularity, ruling: Ruling, trial: dict[str, Any]) -> Iterator[Blank]:
    if "faces" in trial:
        yield faces_blank(table)
    newest = len(table.rounds) + (table.round is not None)
    if newest and (ruling in _OF_ROUNDS or "round" in trial):
        yield round_blank(table, optional="round" not in trial)
    if newest and ruling is Ruling.VOID_AFFECTED:
        yield round_blank(table, "through", optional=True)
    if _asks_sight(table, event):
        yield yes_no_blank("seen", optional=True)
    if event in _OF_ITEMS and table.equipment.placed:
        placed = ((name, texts.item_label(table, name)) for name in table.equipment.placed)
        yield choice_blank("item", placed, optional=True)
    seated = [seat.terminal for seat in table.seats.values() if seat.taken and seat.terminal is not None]
    if event is Irregularity.TERMINALS_DOWN and table.practice > 1 and 0 < len(seated) <= MOST_LISTED:
        yield choice_blank("item", ((name, Words(name, name)) for name in seated), optional=True)
    yield text_blank("detail", optional=True)
