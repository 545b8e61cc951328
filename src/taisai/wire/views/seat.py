"""A seat as its player sees it, and nobody else at a terminal."""

from __future__ import annotations

from taisai.game.commands import Slip
from taisai.wire.views.console import ClaimLine
from taisai.wire.views.words import Part, View


class LastRound(Part, frozen=True, kw_only=True):
    """What the seat's last round came to."""

    number: int
    void: bool
    staked: int
    returned: int
    """In all."""


class SeatView(View, frozen=True, kw_only=True, tag="seat"):
    """A seat."""

    seat: str
    taken: bool
    player: str
    session: int
    layout: str
    credits: int
    at_risk: int
    payable: int
    """Brought by a settlement, and not yet paid."""
    bets: tuple[Slip, ...]
    """That stand in the round in hand; changes tell which came and which went."""
    last: LastRound | None
    withdrawal: bool
    """Whether the player may choose to withdraw."""
    withdrew: bool | None
    """What he chose."""
    claims: tuple[ClaimLine, ...]
