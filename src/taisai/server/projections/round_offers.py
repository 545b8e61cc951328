"""Candidates of a round: its next steps, what it waits for, corrections, and decisions on referrals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taisai.game import Table, commands
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.rounds.steps import MOST_TUMBLES, WITNESSED
from taisai.game.table import Referral
from taisai.game.vocabulary import Hold, Treatment
from taisai.protocol.views import Blank, Words
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.procedure import CLOCK, Declared, Step
from taisai.rules.vocabulary import Act, Irregularity, Need
from taisai.server.projections import offer_forms as form
from taisai.server.projections import texts
from taisai.server.projections.labels import referral_line
from taisai.server.projections.offer_forms import LOOK_BACK, MOST_SEATS, REASON, Candidate, Fields

MOST_REFERRALS: Final = 10
"""That are offered to be decided at once, those that hold the round first; the others wait their turn."""
ON_BETS: Final = frozenset({Treatment.TREAT_BETS})
"""Treatments that are about bets, and have to be tried with them."""


# The course of a round


def acts(table: Table) -> Iterator[Candidate]:
    """The steps from here, in the order of the procedure."""
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
    done = table.round.tumbles if table.round else 0
    return max(1, table.equipment.least_tumbles(table.settings) - done)


def _act_blanks(table: Table, step: Step) -> Iterator[Blank]:
    if step.act is Act.TUMBLE:
        yield form.whole("tumbles", _tumbles(table), MOST_TUMBLES)
    if step.act is Act.ENTER_RESULT:
        yield form.faces(table)
        if any(need.need is Need.DICE_FLAT for need in step.needs):
            yield form.yes_no("flat", optional=True)


def _act_trials(table: Table, step: Step) -> Iterator[Fields]:
    if step.act is Act.TUMBLE:
        yield {"tumbles": _tumbles(table)}
    elif step.act is Act.ENTER_RESULT:
        yield from ({"faces": tuple(outcome.faces)} for outcome in OUTCOMES)
    else:
        yield {}


# What holds it up


def releases(table: Table) -> Iterator[Candidate]:
    """What ends a declaration or an option that the round waits for."""
    if Hold.DECLARATION in table.holds:
        for declared in Declared:
            yield Candidate(
                commands.Declare,
                {"declared": declared},
                texts.joined(texts.COMMANDS["declare"], texts.DECLARED[declared]),
                then=texts.RECOVERIES[table.procedure.recovery(table.phase, declared).action],
            )
    if Hold.WITHDRAWAL in table.holds and table.round is not None:
        yield Candidate(commands.CloseWithdrawal, {}, texts.COMMANDS["close-withdrawal"])
        seats = [seat for seat in table.round.seats() if seat not in table.round.choices][:MOST_SEATS]
        if seats:
            yield Candidate(
                commands.ChooseWithdrawal,
                {},
                texts.COMMANDS["choose-withdrawal"],
                (
                    form.choice("seat", ((seat, Words(seat, seat)) for seat in seats)),
                    form.yes_no("withdraw"),
                ),
                ({"seat": seats[0], "withdraw": True},),
            )


# Corrections


def corrections(table: Table) -> Iterator[Candidate]:
    """A wrong result gives way to the dice or cards, in the round in hand or whenever it is found."""
    round_, event = table.round, Irregularity.WRONG_RESULT
    show = (form.faces(table), form.text("detail", optional=True))
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
        found = [number for number in past if (one := table.past(number)) and one.result is not None]
        yield Candidate(
            commands.ReportIrregularity,
            {"event": event},
            texts.CORRECT_EARLIER,
            (form.rounds(table, found), *show),
            tuple({"round": number, **trial} for number in found[:1] for trial in _faces()),
            is_report=True,
        )


def _faces() -> Iterator[Fields]:
    """Outcomes to try: one of the first few is another than what was keyed, and in the decks."""
    return ({"faces": tuple(outcome.faces)} for outcome in OUTCOMES)


# Decisions


def decisions(table: Table) -> Iterator[Candidate]:
    """Every treatment of every question that waits."""
    waiting = sorted(open_referrals(table), key=lambda one: not one.holds)[:MOST_REFERRALS]
    for referral in waiting:
        for treatment in Treatment:
            yield _decision(table, referral, treatment)


def _decision(table: Table, referral: Referral, treatment: Treatment) -> Candidate:
    about = referral_line(referral).label
    return Candidate(
        commands.DecideReferral,
        {"referral": referral.id, "treatment": treatment},
        texts.joined(about, texts.TREATMENTS[treatment]),
        (form.text("reason"), *_blanks(table, referral, treatment)),
        tuple({"reason": REASON, **trial} for trial in _trials(table, referral, treatment)),
        takes_two=treatment is Treatment.VOID_ROUNDS,  # settled ones need it, and any may be named
    )


def _blanks(table: Table, referral: Referral, treatment: Treatment) -> Iterator[Blank]:
    named = referral.round is not None
    if treatment is Treatment.SETTLE_BY_OUTCOME:
        yield form.faces(table)
        yield form.round_number(table, optional=named)
    if treatment is Treatment.VOID_ROUNDS:
        yield form.round_number(table, optional=named)
        yield form.round_number(table, "through", optional=True)
    if treatment is Treatment.TREAT_BETS:
        yield form.other("bets", "bets")


def _trials(table: Table, referral: Referral, treatment: Treatment) -> Iterator[dict[str, Any]]:
    newest = len(table.rounds) + (table.round is not None)
    latest = range(newest, max(0, newest - LOOK_BACK), -1)
    rounds = [{}] if referral.round is not None else [{"round": number} for number in latest]
    if treatment is Treatment.VOID_ROUNDS:
        yield from rounds
    elif treatment is Treatment.SETTLE_BY_OUTCOME:
        for round_ in rounds:
            # Two outcomes do: one of them is another than what was keyed; three, should the decks lack one.
            yield from ({"faces": tuple(one.faces), **round_} for one in OUTCOMES[:3])
    elif treatment is Treatment.TREAT_BETS:
        if table.round is not None:
            live = next((id_ for id_ in table.round.bets if id_ not in table.round.gone), None)
            yield from [{"bets": {live: None}}] if live is not None else []
    else:
        yield {}
