"""A round and what became of its bets, and what a result would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from taisai.game import Table, bet_records
from taisai.game.dice.readings import differs_from_reading
from taisai.game.events import BetRegistered
from taisai.game.rounds.round import Round, SettlementTotals
from taisai.game.rounds.settlement import house_side
from taisai.protocol.views import BetLine, Incident, PreviewView, RoundTotals, RoundView
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import BetRecord, BetState
from taisai.server.projections import texts
from taisai.server.projections.history import REMEMBERED, RoundLog
from taisai.server.projections.seats import SeatIndex
from taisai.server.projections.table import lit_areas

MOST_BETS: Final = 500
"""Bets in one view: a seat hardly has more, and staff can ask for one seat."""


def round_view(
    table: Table,
    number: int,
    seat: str | None = None,
    *,
    session: int | None = None,
    log: RoundLog | None = None,
    index: SeatIndex | None = None,
) -> RoundView | None:
    """A round, past or in play, with all bets or one seat's; None if there is no such round.

    With `session`, the view is for the player of that session: None if they did not bet in the round. Give
    `index` if several views are made: then only the bets of the seat are read.
    """
    round_ = _round(table, number)
    if round_ is None or (session is not None and round_.sessions.get(seat or "") != session):
        return None
    laid = list(round_.bets.values()) if seat is None else (index or SeatIndex()).all_bets(round_, seat)
    stood = [bet for bet in laid if bet.id not in round_.gone]
    gone = [bet for bet in laid if bet.id in round_.gone] if len(stood) < len(laid) else []
    is_whole = seat is not None or bool(round_.kept_out)  # the limits keep out the latest bets first
    records = bet_records(table, round_, stood if is_whole else stood[:MOST_BETS])
    lines = [_line(table, record, log) for record in records[:MOST_BETS]]
    returns = log.returns(gone) if log else {}
    lines += [
        _line(table, record, log)
        for record in bet_records(table, round_, gone[: MOST_BETS - len(lines)], returns)
    ]
    if session is not None:  # players do not receive the reasons that staff entered
        lines = [replace(line, ruled=line.ruled and replace(line.ruled, reason="")) for line in lines]
    treated = [bet for bet in gone if bet.id in returns and returns[bet.id].state is not BetState.TAKEN_BACK]
    incidents = log.incidents(None if session is None else seat) if log else ()
    clause = (log.void or str(table.irregularities.void)) if log and round_.voided else None
    return RoundView(
        table=table.name, number=number, day=round_.day, opened_at=round_.opened_at,
        phase=str(round_.phase), label=texts.phase_label(table, round_.phase),
        faces=texts.faces_of(round_.result) if round_.result else None,
        total=round_.result.total if round_.result else None, entered=log.entered if log else None,
        void=round_.voided, clause=clause, decided=round_.voided or round_.settled is not None,
        bets=tuple(lines), left_out=len(laid) - len(lines),
        totals=_totals(round_, stood, records if seat is not None else None, treated),
        lit=lit_areas(table.in_force[round_.terms], None if round_.voided else round_.result),
        says=_clause_texts(table, clause, lines, incidents), seat=seat, incidents=incidents,
        by_hand=round_.by_hand, recalled=log is not None,
    )  # fmt: skip


def _round(table: Table, number: int) -> Round | None:
    if table.round is not None and table.round.number == number:
        return table.round
    is_recent = number > len(table.rounds) - REMEMBERED  # recent rounds stay in memory: many ask for them
    return table.past(number) if is_recent else table.glance(number)


def _clause_texts(
    table: Table, void: str | None, lines: Iterable[BetLine], incidents: Iterable[Incident]
) -> dict[str, str]:
    """Clause → its text in the rulebook or in the house's procedures, for every clause of the view."""
    clauses = [void, *(clause for line in lines for clause in (line.clause, line.kept_out_by))]
    clauses += [incident.clause for incident in incidents]
    texts: dict[str, str] = {}
    for clause in dict.fromkeys(Clause(clause) for clause in clauses if clause):
        known = table.book.clauses.get(clause)
        text = known.says if known else HOUSE_PROCEDURES.get(clause)
        if text:
            texts[str(clause)] = text
    return texts


def _totals(
    round_: Round,
    stood: Sequence[BetRegistered],
    records: Sequence[BetRecord[BetRegistered]] | None,
    treated: Sequence[BetRegistered],
) -> RoundTotals:
    """The sums of the records, or of the settlement of the whole round.

    Bets that were returned by decision or withdrawn were staked too, and came back.
    """
    back = sum(bet.stake for bet in treated)
    staked = sum(bet.stake for bet in stood)
    if records is not None:
        won, returned = sum(bet.won for bet in records), sum(bet.returned for bet in records)
    elif round_.voided:
        won, returned = 0, staked
    elif round_.settled is not None:
        won, returned = round_.settled.won, round_.settled.won + round_.settled.stakes_back
    else:
        won = returned = 0
    return RoundTotals(
        bets=len(stood) + len(treated), staked=staked + back, won=won, returned=returned + back
    )


def _line(table: Table, record: BetRecord[BetRegistered], log: RoundLog | None) -> BetLine:
    bet, state = record.bet, record.state
    matrix = table.terms[bet.layout].matrix
    label = texts.label_of(matrix.labels[matrix.row(bet.area)])
    is_taken_back = state is BetState.TAKEN_BACK  # it counts in no total
    return BetLine(
        id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
        means=bet.means, state=state, won=record.won,
        returned=0 if is_taken_back else record.returned, kept_out=record.kept_out, clause=record.clause,
        kept_out_by=record.kept_out_by,
        lay=not is_taken_back and (log is None or log.lay_at_close(bet.id)),
        ruled=log.ruled(bet, state) if log else None,
    )  # fmt: skip


def preview(table: Table, faces: tuple[int, ...]) -> PreviewView:
    """What a result would do, before it is entered; faces that make no outcome raise a RulesError."""
    outcome = Outcome.of(*faces)
    round_ = table.round
    totals = SettlementTotals(0, 0, 0, 0)
    terms = table.terms
    if round_ is not None:
        totals = house_side(table, round_, outcome)
        terms = table.in_force[round_.terms]
    return PreviewView(
        faces=texts.faces_of(outcome), total=outcome.total, lit=lit_areas(terms, outcome),
        staked=totals.staked, won=totals.won, returned=totals.won + totals.stakes_back,
        collected=totals.collected, house=texts.extreme(outcome, totals.won - totals.collected),
        differs=differs_from_reading(table, faces),
    )  # fmt: skip
