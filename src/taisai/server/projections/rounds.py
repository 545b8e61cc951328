"""Rounds retold, and what a result would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from taisai.game import Table, verdicts
from taisai.game.dice.readings import differs_from_reading
from taisai.game.events import BetRegistered
from taisai.game.rounds.round import Round, SettlementTotals
from taisai.game.rounds.settlement import Verdict, house_side
from taisai.protocol.views import BetLine, Incident, PreviewView, RoundTotals, RoundView
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause
from taisai.rules.outcomes import Outcome
from taisai.server.projections.labels import area_label, extreme, faces_of, phase_label
from taisai.server.projections.round_log import REMEMBERED, RoundLog
from taisai.server.projections.seats import SeatIndex

MOST_BETS: Final = 500
"""Bets of a round that are told at once: a seat can hardly have more, and staff ask for a seat."""


def round_view(
    table: Table,
    number: int,
    seat: str | None = None,
    *,
    session: int | None = None,
    log: RoundLog | None = None,
    index: SeatIndex | None = None,
) -> RoundView | None:
    """A round, past or in hand, with everybody's bets or one seat's, and its log where that is known.

    With a session it is told to a player, who is told the rounds that he bet in himself. None where there is
    none to tell. Give `index` where several are told: then no other seat's bets are looked at.
    """
    round_ = _round(table, number)
    if round_ is None or (session is not None and round_.sessions.get(seat or "") != session):
        return None
    laid = round_.bets.values() if seat is None else (index or SeatIndex()).laid(round_, seat)
    stood = [bet for bet in laid if bet.id not in round_.gone]
    gone = [bet for bet in laid if bet.id in round_.gone] if len(stood) < len(laid) else []
    is_whole = seat is not None or bool(round_.kept_out)  # what limits keep out is found from the last bet on
    found = verdicts(table, round_, stood if is_whole else stood[:MOST_BETS])
    by_bet = {one.bet.id: one for one in found}
    lines = [_line(table, bet, by_bet.get(bet.id), round_, log) for bet in stood[:MOST_BETS]]
    lines += [_off(table, bet, log) for bet in gone[: MOST_BETS - len(lines)]]
    if session is not None:  # what staff wrote down is not for players
        lines = [replace(one, ruled=one.ruled and replace(one.ruled, reason="")) for one in lines]
    treated = [bet for bet in gone if log and log.treated(bet.id, bet.seat)]
    incidents = log.incidents(None if session is None else seat) if log else ()
    clause = (log.void or str(table.irregularities.void)) if log and round_.voided else None
    return RoundView(
        table=table.name,
        number=number,
        day=round_.day,
        opened_at=round_.opened_at,
        phase=str(round_.phase),
        label=phase_label(table, round_.phase),
        faces=faces_of(round_.result) if round_.result else None,
        total=round_.result.total if round_.result else None,
        entered=log.entered if log else None,
        void=round_.voided,
        clause=clause,
        decided=round_.voided or round_.settled is not None,
        bets=tuple(lines),
        left_out=len(laid) - len(lines),
        totals=_totals(round_, stood, found if seat is not None else None, treated),
        lit=_lit(table, round_),
        says=_says(table, clause, lines, incidents),
        seat=seat,
        incidents=incidents,
        recalled=log is not None,
    )


def _round(table: Table, number: int) -> Round | None:
    if table.round is not None and table.round.number == number:
        return table.round
    is_recent = number > len(table.rounds) - REMEMBERED  # those stay in memory: all ask for the same few
    return table.past(number) if is_recent else table.glance(number)


def _lit(table: Table, round_: Round) -> dict[str, tuple[str, ...]]:
    """What the outcome illuminates, on every layout of the table."""
    if round_.result is None or round_.voided:
        return {}
    in_force, result = table.in_force[round_.terms], round_.result
    return {layout: tuple(map(str, one.matrix.illuminated(result))) for layout, one in in_force.items()}


def _says(
    table: Table, void: str | None, lines: Iterable[BetLine], incidents: Iterable[Incident]
) -> dict[str, str]:
    """What every clause that is told says, where the rulebook or the house has words for it."""
    clauses = [void, *(one for line in lines for one in (line.clause, line.kept_out_by))]
    clauses += [one.clause for one in incidents]
    told: dict[str, str] = {}
    for clause in dict.fromkeys(Clause(one) for one in clauses if one):
        text = table.book.clauses.get(clause)
        says = text.says if text else HOUSE_PROCEDURES.get(clause)
        if says:
            told[str(clause)] = says
    return told


def _totals(
    round_: Round,
    stood: Sequence[BetRegistered],
    found: Sequence[Verdict] | None,
    treated: Sequence[BetRegistered],
) -> RoundTotals:
    """What bets come to: as the verdicts on them say, or else as the settlement of the whole round does.

    What was returned by decision or option lay there too, and came back.
    """
    back = sum(bet.stake for bet in treated)
    staked = sum(bet.stake for bet in stood)
    if found is not None:
        won, returned = sum(one.won for one in found), sum(one.returned for one in found)
    elif round_.voided:
        won, returned = 0, staked
    elif round_.settled is not None:
        won, returned = round_.settled.won, round_.settled.won + round_.settled.stakes_back
    else:
        won = returned = 0
    return RoundTotals(
        bets=len(stood) + len(treated), staked=staked + back, won=won, returned=returned + back
    )


def _off(table: Table, bet: BetRegistered, log: RoundLog | None) -> BetLine:
    """A bet that does not stand: its player took it back, or it was treated by decision or option."""
    treated = log.treated(bet.id, bet.seat) if log else None
    label = area_label(table, bet.layout, bet.area)
    if treated is None:
        return BetLine(
            id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
            state="gone", lay=False,
        )  # fmt: skip
    return BetLine(
        id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
        state=treated.ruled.how, returned=bet.stake, clause=treated.clause, lay=treated.lay,
        ruled=treated.ruled,
    )  # fmt: skip


def _line(
    table: Table, bet: BetRegistered, verdict: Verdict | None, round_: Round, log: RoundLog | None
) -> BetLine:
    """A bet that stands, or stood to the end."""
    label = area_label(table, bet.layout, bet.area)
    ruled = log.moved(bet.id) if log else None
    if verdict is None:
        return BetLine(
            id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
            state="stands", ruled=ruled,
        )  # fmt: skip
    won = "won" if verdict.won else "lost" if verdict.returned < bet.stake else "returned"
    return BetLine(
        id=bet.id, seat=bet.seat, layout=bet.layout, area=bet.area, label=label, stake=bet.stake,
        state="void" if round_.voided else won, won=verdict.won, returned=verdict.returned,
        kept_out=verdict.kept_out, clause=str(verdict.clause),
        kept_out_by=str(verdict.kept_out_by) if verdict.kept_out_by else None, ruled=ruled,
    )  # fmt: skip


def preview(table: Table, faces: tuple[int, ...]) -> PreviewView:
    """What a result would do, before it is committed; faces that make no outcome raise a RulesError."""
    outcome = Outcome.of(*faces)
    round_ = table.round
    comes = SettlementTotals(0, 0, 0, 0)
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
