"""A table as everyone may see it: terminals and displays."""

from __future__ import annotations

from taisai.protocol.views.history import HistoryView
from taisai.protocol.views.texts import Part, View, Words


class TableFacts(Part, frozen=True, kw_only=True):
    """What does not change while a table is played."""

    name: str
    rulebook: str
    title: Words
    digest: str
    """Of the rulebook."""
    currency: str
    layouts: tuple[str, ...]
    layout: str
    """The one that a terminal shows unless it asks for another."""
    kind: str
    """'dice' or 'cards'."""
    demonstration: bool
    stand_in: Words | None
    """Where bets are chips on a layout, what a terminal is here."""
    means: tuple[str, ...]
    """What bets are made with, such as `cash-chips`."""


class LimitLine(Part, frozen=True, kw_only=True):
    """What may lie on the areas of a group."""

    group: str
    """A family or an area; '' for all others."""
    label: Words
    least: int
    most: int


class LimitsView(Part, frozen=True, kw_only=True):
    """Minimum and maximum per player and area."""

    least: int
    most: int
    groups: dict[str, tuple[int, int]]
    """Family or area → its own minimum and maximum."""
    lowest: int
    """The least minimum of any area."""
    highest: int
    """The greatest maximum of any area."""
    lines: tuple[LimitLine, ...]
    """By group, where areas differ: what a display shows."""


class RoundStand(Part, frozen=True, kw_only=True):
    """Where the round stands."""

    number: int
    """Of the round in hand; between rounds, of the last one, 0 before the first."""
    phase: str
    label: Words
    bets_open: bool
    notice: Words
    """What players are told."""
    since: int | None
    """When this phase began, in milliseconds since 1970."""
    collected: bool
    """Whether losing bets are off the layout; until the next round opens."""
    paid: bool
    """Whether winning bets are paid; until the next round opens."""
    void: str | None
    """The clause by which the round that has just ended is void, until the next opens."""


class CountdownView(Part, frozen=True, kw_only=True):
    """The betting clock."""

    closes_at: int | None
    """In milliseconds since 1970; None where it does not run."""
    since: int | None
    """From when on it runs to that moment: when bets opened, later by as long as the round waited."""
    prompt: bool
    """Whether it only prompts the Dealer, who closes."""
    is_up: bool
    """Whether it prompts him now: the time is up, and bets are still open."""


class DiceView(Part, frozen=True, kw_only=True):
    """What was keyed in last, and where it came from."""

    kind: str
    """'dice' or 'cards'."""
    round: int | None = None
    faces: tuple[int, int, int] | None = None
    total: int | None = None
    source: Words | None = None


class Board(Part, frozen=True, kw_only=True):
    """Why the table does not go on, if it does not."""

    closed: bool = False
    """For good."""
    shut: str | None = None
    """The reason, in the words of whoever shut it."""
    hold: str | None = None
    """'declaration', 'withdrawal' or 'referral'."""
    says: Words | None = None
    clause: str | None = None


class Revealed(Part, frozen=True, kw_only=True):
    """What a player needs to draw the same dice again."""

    round: int
    seed: str
    shake: int
    close: int
    """The position in the journal of the entry that closed the bets."""
    hash: str
    """Of that entry."""
    faces: tuple[int, ...]


class DrawView(Part, frozen=True, kw_only=True):
    """The demonstration shaker: what it committed itself to, and what it revealed last."""

    commitment: str | None = None
    """The SHA-256 of the seed, hexadecimal."""
    round: int | None = None
    """The round that it is for."""
    revealed: Revealed | None = None


class TableView(View, frozen=True, kw_only=True, tag="table"):
    """A table."""

    table: TableFacts
    limits: LimitsView
    round: RoundStand
    countdown: CountdownView
    dice: DiceView
    lit: dict[str, tuple[str, ...]]
    """Layout → the winning areas, until the next round opens or the lights are cleared."""
    history: HistoryView
    board: Board
    draw: DrawView
