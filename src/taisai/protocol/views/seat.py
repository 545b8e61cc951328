"""A seat as its player sees it, and nobody else at a terminal."""

from __future__ import annotations

from taisai.game.commands import Slip
from taisai.protocol.views.console import ClaimLine, ColourLine
from taisai.protocol.views.texts import Part, View


class LastRound(Part, frozen=True, kw_only=True):
    """What the seat's last round came to."""

    number: int
    void: bool
    staked: int
    returned: int
    """In all."""


class ColourChips(Part, frozen=True, kw_only=True):
    """Chips of a colour that only this seat plays, at the value that they were bought at."""

    colour: ColourLine
    value: int
    credits: int
    """What the seat still has of them, in money."""


class SeatView(View, frozen=True, kw_only=True, tag="seat"):
    """A seat."""

    seat: str
    taken: bool
    player: str
    session: int
    since: int | None
    """When this session began, in milliseconds since 1970; None where nobody sits."""
    net: int
    """What the settled rounds of this session came to: returned less staked, corrections included."""
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
    colour: ColourChips | None = None
    """The colour chips that it bought, where it did."""
    in_colour: tuple[str, ...] = ()
    """Which of the bets lie as colour chips."""
