"""Seats and purses: who plays, and what of each player's money is where."""

from __future__ import annotations

from taisai.game.terms import Terms
from taisai.game.words import Means


class Purse:
    """The money of a seat in one kind: credits, colour chips, or cash chips that come from the pocket."""

    __slots__ = ("at_risk", "credits", "lane", "means", "payable", "seat")

    def __init__(self, lane: int, seat: Seat, means: Means) -> None:
        self.lane = lane
        """Its place in every column of bets."""
        self.seat = seat
        self.means = means
        self.credits = 0
        """On the terminal, or in colour chips; nothing for cash chips, which go back to the pocket."""
        self.at_risk = 0
        self.payable = 0


class Seat:
    """A place at the table; a terminal has one too."""

    __slots__ = (
        "colour", "colour_value", "layout", "name", "player", "purse", "purses", "session", "taken",
        "terminal", "terms", "tolerated",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.player = ""
        self.terminal: str | None = None
        self.layout = ""
        self.terms: Terms | None = None
        self.purses: dict[Means, Purse] = {}
        self.purse: Purse | None = None
        """The purse of credits, where the seat is a terminal."""
        self.taken = False
        self.session = 0
        """How many sessions there have been: what is owed to one player is not another's."""
        self.tolerated = 0
        """Rounds of this session in which a bet under the minimum was settled."""
        self.colour: str | None = None
        self.colour_value = 0

    @property
    def at_risk(self) -> int:
        """What the player has on the layout."""
        return sum(purse.at_risk for purse in self.purses.values())

    @property
    def held(self) -> int:
        """Everything of the player's that the seat holds."""
        return sum(purse.credits + purse.at_risk + purse.payable for purse in self.purses.values())
