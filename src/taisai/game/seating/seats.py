"""Seats and purses: who plays, and what of each player's money is where."""

from __future__ import annotations

from dataclasses import dataclass, field

from taisai.game.money.packed_sums import Column
from taisai.game.snapshot_codec import Derived
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means, folded


class Purse:
    """The money of a seat in one kind: credits, colour chips, or cash chips that come from the pocket."""

    __slots__ = ("_at_risk", "_credits", "_nets", "_payable", "index", "means", "seat")

    def __init__(
        self, seat: Seat, means: Means, columns: tuple[Column, Column, Column, Column], index: int
    ) -> None:
        """The columns are the table's: with them a settlement reaches all purses at once."""
        self._credits, self._at_risk, self._payable, self._nets = columns
        self.index = index
        """Its place in every column."""
        self.seat = seat
        self.means = means

    @property
    def credits(self) -> int:
        """On the terminal, or in colour chips; nothing for cash chips, which go back to the pocket."""
        return self._credits[self.index]

    @credits.setter  # noqa: A003  the word is the game's
    def credits(self, amount: int) -> None:
        self._credits[self.index] = amount

    @property
    def at_risk(self) -> int:
        """What lies on the layout."""
        return self._at_risk[self.index]

    @property
    def payable(self) -> int:
        """What a settlement brought and is not yet paid."""
        return self._payable[self.index]

    @property
    def net(self) -> int:
        """What the settled rounds of this session came to: returned less staked, corrections included."""
        return self._nets[self.index]

    @net.setter
    def net(self, amount: int) -> None:
        self._nets[self.index] = amount


@dataclass(slots=True, eq=False)
class Seat:
    """A place at the table; a terminal has one too."""

    name: str
    player: str = ""
    terminal: str | None = None
    layout: str = ""
    terms: Derived[Terms | None] = None
    purses: Derived[dict[Means, Purse]] = field(default_factory=dict)
    purse: Derived[Purse | None] = None
    """The purse of credits, where the seat is a terminal."""
    taken: bool = False
    session: int = 0
    """How many sessions there have been: what is owed to one player is not another's."""
    since: int = 0
    """When the latest session began, in milliseconds since 1970."""
    dispensed: tuple[str, ...] = ()
    """The latest transfers of this session by which credits went out."""
    colour: str | None = None
    colour_value: int = 0

    @property
    def at_risk(self) -> int:
        """What the player has on the layout."""
        return sum(purse.at_risk for purse in self.purses.values())

    @property
    def net(self) -> int:
        """What the settled rounds of this session came to for the player."""
        return sum(purse.net for purse in self.purses.values())

    @property
    def memory_key(self) -> str:
        """Whose under-minimum bets are remembered: the player's by name, else those of this session."""
        return f"player {folded(self.player)}" if self.player else f"seat {self.name}, session {self.session}"

    @property
    def held(self) -> int:
        """Everything of the player's that the seat holds."""
        return sum(purse.credits + purse.at_risk + purse.payable for purse in self.purses.values())
