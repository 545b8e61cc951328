"""Candidates on referrals: the treatments that someone may decide on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taisai.game import Table
from taisai.game import commands as ask
from taisai.game.referrals import open_referrals
from taisai.game.table import Referral
from taisai.game.words import Treatment
from taisai.protocol.views import Blank
from taisai.rules.outcomes import OUTCOMES
from taisai.server.projections import form_fields, texts
from taisai.server.projections.candidates import LOOK_BACK, REASON, Candidate
from taisai.server.projections.labels import referral_line

MOST_REFERRALS: Final = 10
"""That are offered to be decided at once, those that hold the round first; the others wait their turn."""
ON_BETS: Final = frozenset({Treatment.TREAT_BETS})
"""Treatments that are about bets, and have to be tried with them."""


def decisions(table: Table) -> Iterator[Candidate]:
    """Every treatment of every question that waits."""
    waiting = sorted(open_referrals(table), key=lambda one: not one.holds)[:MOST_REFERRALS]
    for referral in waiting:
        for treatment in Treatment:
            yield _decision(table, referral, treatment)


def _decision(table: Table, referral: Referral, treatment: Treatment) -> Candidate:
    about = referral_line(referral).label
    return Candidate(
        ask.DecideReferral,
        {"referral": referral.id, "treatment": treatment},
        texts.joined(about, texts.TREATMENTS[treatment]),
        (form_fields.text("reason"), *_blanks(table, referral, treatment)),
        tuple({"reason": REASON, **trial} for trial in _trials(table, referral, treatment)),
        takes_two=treatment is Treatment.VOID_ROUNDS,  # settled ones need it, and any may be named
    )


def _blanks(table: Table, referral: Referral, treatment: Treatment) -> Iterator[Blank]:
    named = referral.round is not None
    if treatment is Treatment.SETTLE_BY_OUTCOME:
        yield form_fields.faces(table)
        yield form_fields.round_number(table, optional=named)
    if treatment is Treatment.VOID_ROUNDS:
        yield form_fields.round_number(table, optional=named)
        yield form_fields.round_number(table, "through", optional=True)
    if treatment is Treatment.TREAT_BETS:
        yield form_fields.other("bets", "bets")


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
