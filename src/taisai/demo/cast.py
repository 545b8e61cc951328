"""The cast of the demonstration: four tables, one of each rulebook, and who is at work there."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.game.terms.messages import Limits

HOUSE: Final = "The Taisai demonstration"
CURRENCY: Final = "PLAY"
ZONE: Final = "Asia/Singapore"
CAPITAL: Final = 100_000_000_00  # minor units of play money, in the cage from the first moment on
FILL: Final = 1_000_000_00  # what each tray begins with
SEATS: Final = 40  # at a table: the first few are virtual players', the others anyone's


class Spot(NamedTuple):
    """A table of the demonstration."""

    name: str
    book: str
    limits: Limits
    dealer: str
    """The virtual dealer."""
    head: str
    """Who opened it and rules on it: the virtual person of the highest rank that its document knows."""
    players: tuple[str, ...]
    """The virtual players, seat by seat."""
    layout: str | None = None


SHIFT_MANAGER: Final = "Virtual Sato"
CASINO_SUPERVISOR: Final = "Virtual Quinn"
_LIMITS: Final = Limits(
    least=5_00, most=1_000_00, groups={"even-money": (5_00, 5_000_00), "any-triple": (5_00, 500_00)}
)

SPOTS: Final = (
    Spot("MBS1", "mbs-sic-bo-v6", _LIMITS, "Virtual Lin", SHIFT_MANAGER, ("Bo", "Dolores", "Teng")),
    Spot("RWS1", "rws-sic-bo-etg-v8", _LIMITS, "Virtual Omar", SHIFT_MANAGER, ("Marta", "Ingrid", "Wei")),
    Spot("CARD1", "mbs-3-card-sic-bo", _LIMITS, "Virtual Rosa", SHIFT_MANAGER, ("Kofi", "Yuki", "Paolo")),
    Spot("US1", "us-sic-bo", _LIMITS, "Virtual Nils", CASINO_SUPERVISOR, ("Earl", "June", "Hank")),
)
"""The four tables."""
TABLES: Final = {spot.name: spot for spot in SPOTS}

VIRTUAL: Final[dict[str, str]] = {
    **{spot.dealer: "dealer" for spot in SPOTS},
    SHIFT_MANAGER: "shift-manager",
    CASINO_SUPERVISOR: "casino-supervisor",
    "Virtual Cora": "cashier",
}
"""Virtual person → rank."""
CASHIER: Final = "Virtual Cora"
GUESTS: Final[dict[str, str]] = {
    "dealer": "Dev Patel",
    "floorperson": "Fay Lund",
    "pit-supervisor": "Pia Costa",
    "pit-manager": "Max Berg",
    "casino-supervisor": "Cleo Grant",
    "shift-manager": "Sam Rivers",
    "cashier": "Kim Park",
    "auditor": "Alma Ortiz",
    "administrator": "Ada Stone",
}
"""Rank → the person whose place a visitor takes."""
ADMINISTRATOR: Final = GUESTS["administrator"]


def terminal_of(table: str, seat: str) -> str:
    """What the terminal at a seat is called."""
    return f"{table}-{seat}"
