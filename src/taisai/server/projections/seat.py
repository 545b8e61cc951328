"""A seat as its player sees it."""

from __future__ import annotations

from typing import Final

from taisai.game import Table, verdicts
from taisai.game.commands import Slip
from taisai.game.events import BetRegistered
from taisai.game.round import Round
from taisai.game.seats import Seat
from taisai.game.words import Hold, Means
from taisai.protocol.views import ColourChips, LastRound, SeatView
from taisai.rules.vocabulary import Phase
from taisai.server.projections.by_seat import BySeat
from taisai.server.projections.colours import colour_of
from taisai.server.projections.labels import claim_line

LOOK_BACK: Final = 10
"""Rounds in which a seat's last one is looked for: those that stay in memory."""
MOST_CLAIMS: Final = 20  # that a seat is shown


def seat_view(table: Table, name: str, by_seat: BySeat | None = None) -> SeatView:
    """A seat, taken or not; give `by_seat` where several are shown, or one again and again."""
    by_seat = by_seat or BySeat()
    seat = table.seats.get(name) or Seat(name)
    round_ = table.round
    lie = round_ is not None and round_.phase is not Phase.PAID  # when winners are paid, none lies there
    mine = by_seat.bets(round_, name) if round_ is not None and lie and _same_session(round_, seat) else []
    chosen = round_.choices.get(name) if round_ is not None else None
    is_open = Hold.WITHDRAWAL in table.holds
    purses = seat.purses.values()
    return SeatView(
        seat=name,
        taken=seat.taken,
        player=seat.player if seat.taken else "",
        session=seat.session,
        since=seat.since if seat.taken else None,
        net=seat.net if seat.taken else 0,
        layout=seat.layout or table.layout,
        credits=sum(purse.credits for purse in purses),
        at_risk=seat.at_risk,
        payable=sum(purse.payable for purse in purses),
        bets=() if table.phase is Phase.PAID else tuple(Slip(bet.id, bet.area, bet.stake) for bet in mine),
        last=_last(table, seat, by_seat) if seat.taken else None,
        withdrawal=is_open and bool(mine) and not chosen,
        withdrew=chosen if is_open else None,
        claims=tuple(map(claim_line, by_seat.claims(table, seat)[:MOST_CLAIMS])),
        colour=_colour(seat),
        in_colour=tuple(bet.id for bet in mine if bet.means is Means.COLOUR_CHIPS) if seat.colour else (),
    )


def _colour(seat: Seat) -> ColourChips | None:
    if not seat.taken or seat.colour is None:
        return None
    purse = seat.purses.get(Means.COLOUR_CHIPS)
    line, left = colour_of(seat.colour), purse.credits if purse else 0
    return ColourChips(colour=line, value=seat.colour_value, credits=left)


def _same_session(round_: Round, seat: Seat) -> bool:
    return seat.taken and round_.sessions.get(seat.name) == seat.session


def _last(table: Table, seat: Seat, by_seat: BySeat) -> LastRound | None:
    """The latest round that this player bet in and that came to something."""
    round_ = table.round
    if round_ is not None and round_.settled and _same_session(round_, seat):
        found = _told(table, round_, by_seat.bets(round_, seat.name))
        if found is not None:
            return found
    newest = len(table.rounds)
    for number in range(newest, max(0, newest - LOOK_BACK), -1):
        past = table.past(number)  # which stays in memory: every seat asks for the same few
        if (
            past
            and _same_session(past, seat)
            and (found := _told(table, past, by_seat.bets(past, seat.name)))
        ):
            return found
    return None


def _told(table: Table, round_: Round, bets: list[BetRegistered]) -> LastRound | None:
    got = verdicts(table, round_, bets)
    if not got:
        return None
    return LastRound(
        number=round_.number,
        void=round_.voided,
        staked=sum(one.bet.stake for one in got),
        returned=sum(one.returned for one in got),
    )
