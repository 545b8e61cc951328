"""Rounds retold, and what a result would do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from taisai.floor.views import words
from taisai.floor.views.labels import area_label, extreme, faces_of, phase_label
from taisai.game import Table, verdicts
from taisai.game import events as happened
from taisai.game.events import BetRegistered, Event
from taisai.game.readings import differs_from_reading
from taisai.game.round import Round, Totals
from taisai.game.settling import house_side
from taisai.game.verdicts import Verdict
from taisai.game.words import Subject
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import Outcome
from taisai.rules.round import Irregularity
from taisai.wire.views import BetLine, Incident, PreviewView, RoundTotals, RoundView, Words

MOST_BETS: Final = 500
"""Bets of a round that are told at once: a seat can hardly have more, and staff ask for a seat."""
MOST_INCIDENTS: Final = 50


def round_view(
    table: Table,
    number: int,
    seat: str | None = None,
    events: Iterable[Event] = (),
    *,
    session: int | None = None,
) -> RoundView | None:
    """A round, past or in hand, with everybody's bets or one seat's; `events` of the table tell incidents.

    With a session, the bets are those of whoever had the seat then. None where the table has no such round.
    """
    round_ = table.round if table.round and table.round.number == number else table.glance(number)
    if round_ is None:
        return None
    told = round_.bets
    if session is not None and round_.sessions.get(seat or "") != session:
        told = {}  # another sat there
    stood = [bet for bet in round_.live() if seat in (None, bet.seat)] if told else []
    gone = [told[name] for name in told if name in round_.gone and seat in (None, told[name].seat)]
    found = {one.bet.id: one for one in verdicts(table, round_, stood)}
    lines = [_line(table, bet, found.get(bet.id), round_) for bet in stood[:MOST_BETS]]
    lines += [_line(table, bet, None, round_) for bet in gone[: MOST_BETS - len(lines)]]
    entered, void, incidents = _story(round_, events)
    return RoundView(
        table=table.name,
        number=number,
        day=round_.day,
        opened_at=round_.opened_at,
        phase=str(round_.phase),
        label=phase_label(table, round_.phase),
        faces=faces_of(round_.result) if round_.result else None,
        total=round_.result.total if round_.result else None,
        entered=entered,
        void=round_.voided,
        clause=(void or str(table.irregularities.void)) if round_.voided else None,
        bets=tuple(lines),
        left_out=len(stood) + len(gone) - len(lines),
        totals=RoundTotals(
            bets=len(stood),
            staked=sum(bet.stake for bet in stood),
            won=sum(one.won for one in found.values()),
            returned=sum(one.returned for one in found.values()),
        ),
        seat=seat,
        incidents=incidents,
    )


def _line(table: Table, bet: BetRegistered, verdict: Verdict | None, round_: Round) -> BetLine:
    label = area_label(table, bet.layout, bet.area)
    if verdict is None:
        state = "gone" if bet.id in round_.gone else "stands"
        return BetLine(
            id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
            state=state,
        )  # fmt: skip
    won = "won" if verdict.won else "lost" if verdict.returned < bet.stake else "returned"
    return BetLine(
        id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
        state="void" if round_.voided else won, won=verdict.won, returned=verdict.returned,
        kept_out=verdict.kept_out, clause=str(verdict.clause),
        kept_out_by=str(verdict.kept_out_by) if verdict.kept_out_by else None,
    )  # fmt: skip


Story = tuple[tuple[int, ...] | None, str | None, tuple[Incident, ...]]


def _story(round_: Round, events: Iterable[Event]) -> Story:
    """What was keyed in before it was corrected, by which clause it is void, and the incidents."""
    entered: tuple[int, ...] | None = None
    first: tuple[int, ...] | None = None
    void: str | None = None
    incidents: list[Incident] = []
    current = 0
    for event in events:
        if isinstance(event, happened.BetsOpened):
            current = event.round
        number = getattr(event, "round", None)
        if (number if isinstance(number, int) else current) != round_.number:
            continue
        match event:
            case happened.ResultEntered():
                first = event.faces
            case happened.ResultCorrected() | happened.RoundResettled():
                entered = first if isinstance(event, happened.ResultCorrected) else entered or event.entered
            case happened.RoundVoided():
                void = str(event.clause)
            case _:
                pass
        says = _says(event)
        if says is not None:
            what = str(event.__struct_config__.tag)
            incidents.append(
                Incident(at=event.at, by=event.by, what=what, says=says, clause=str(event.clause))
            )
    return entered, void, tuple(incidents[-MOST_INCIDENTS:])


def _says(event: Event) -> Words | None:  # noqa: PLR0911  one kind of incident after the other
    """An incident in words; None where the event is part of the course of a round."""
    match event:
        case happened.IrregularityRuled():
            return words.joined(words.IRREGULARITIES[event.irregularity], words.RULINGS[event.ruling])
        case happened.Referred():
            own = event.subject in set(Subject)
            return (
                words.SUBJECTS[Subject(event.subject)]
                if own
                else words.IRREGULARITIES[Irregularity(event.subject)]
            )
        case happened.ReferralDecided():
            return words.TREATMENTS[event.treatment]
        case happened.SightDeclared():
            return words.DECLARED[event.declared]
        case happened.ResultCorrected() | happened.RoundResettled():
            return words.CORRECT
        case happened.RoundVoided():
            return words.RULINGS[Ruling.VOID]
        case _:
            return None


def preview(table: Table, faces: tuple[int, ...]) -> PreviewView:
    """What a result would do, before it is committed; faces that make no outcome raise a RulesError."""
    outcome = Outcome.of(*faces)
    round_ = table.round
    comes = Totals(0, 0, 0, 0)
    terms = table.terms
    if round_ is not None:
        comes = house_side(table, round_, outcome)
        terms = table.in_force[round_.terms]
    return PreviewView(
        faces=faces_of(outcome),
        total=outcome.total,
        lit={layout: tuple(map(str, one.matrix.illuminated(outcome))) for layout, one in terms.items()},
        staked=comes.staked,
        won=comes.won,
        returned=comes.won + comes.stakes_back,
        collected=comes.collected,
        house=extreme(outcome, comes.won - comes.collected),
        differs=differs_from_reading(table, faces),
    )
