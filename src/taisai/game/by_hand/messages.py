"""Commands and events: a settlement that was made by hand, and a round that was played by hand."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from taisai.game.messages import Command, Event, Faces
from taisai.game.vocabulary import Means


class BetByHand(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A bet of a round that was played by hand: whose, made with what, on which area."""

    seat: str
    means: Means
    area: str
    stake: int
    """In money; of colour chips too."""


class EnterSettlement(Command, frozen=True, kw_only=True, tag="enter-settlement"):
    """Two people enter the settlement of the current round as it was made by hand."""

    since: ClassVar[int] = 2
    returned: dict[str, int] = field(default_factory=dict)
    """Seat → what was handed back, stake and winnings together; 0 for a seat that is left out."""
    witnessed: bool = True
    """Whether the person was present in whose presence the document has the round settled."""
    evidence: str
    """Where it can be seen, such as the camera and the time."""
    reason: str
    second: str | None = None


class EnterRound(Command, frozen=True, kw_only=True, tag="enter-round"):
    """Two people enter a round that was played by hand while the system was down."""

    since: ClassVar[int] = 2
    bets: tuple[BetByHand, ...] = ()
    faces: Faces = ()
    """What the dice or cards showed; () only where the round was void."""
    void: bool = False
    """Whether the round was void, and every stake was to go back."""
    returned: dict[str, int] = field(default_factory=dict)
    """Seat → what was handed back, stake and winnings together; 0 for a seat that is left out."""
    evidence: str
    reason: str
    second: str | None = None


class RoundEntered(Event, frozen=True, kw_only=True, tag="round-entered"):
    """The round that was opened in this entry was played by hand; what follows was entered, not seen live."""

    since: ClassVar[int] = 2
    round: int
    void: bool
    faces: Faces
    evidence: str
    reason: str
    second: str


class SettlementEntered(Event, frozen=True, kw_only=True, tag="settlement-entered"):
    """What was handed back by hand; what differs from what was due is owed, by the player or to them."""

    since: ClassVar[int] = 2
    round: int
    returned: dict[str, int]
    """Seat → what was handed back."""
    due: dict[str, int]
    """Seat → what the rules order."""
    owed_to_players: int
    owed_by_players: int
    witnessed: bool
    evidence: str
    reason: str
    second: str
