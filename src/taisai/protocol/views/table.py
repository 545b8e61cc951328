"""What players and displays see: a table, its layouts, and a seat to its own player."""

from __future__ import annotations

from taisai.game.commands import Slip
from taisai.protocol.views.history import HistoryView
from taisai.protocol.views.parts import ClaimLine, ColourLine, Part, View, Words


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


class OddsLine(Part, frozen=True, kw_only=True):
    """Odds, as printed."""

    text: Words
    """Such as '8.5 to 1', which is how odds are entered too."""
    dice: int | None
    """On how many dice, where an area has odds for one, two and three."""


class FeltArea(Part, frozen=True, kw_only=True):
    """An area: what it is called, what it wins and when, and how much may lie on it."""

    id: str
    label: Words
    family: str
    numbers: tuple[int, ...]
    """The faces or totals that it is about."""
    odds: tuple[OddsLine, ...]
    wins: Words
    """What wins, in words."""
    clause: str
    """By which it is paid."""
    says: str
    """What that clause says, where the rulebook tells it."""
    least: int
    most: int
    step: int
    """A stake is a multiple of this, so that what it wins is whole."""
    edge: str | None = None
    """The house edge, exact, where the operator lets players know it: such as '2.78 % (1/36)'."""


class FeltCell(Part, frozen=True, kw_only=True):
    """A rectangle of the felt, in units from the top left: an area, the odds of one, or blank."""

    x: float
    y: float
    wide: float
    tall: float
    block: str
    drawing: str
    """'document' or 'ours'."""
    area: str | None = None
    odds_of: str | None = None
    odds: Words | None = None
    """What is written there, in a cell that tells odds."""
    figures: str | None = None
    """The area's numbers as they are printed, such as '6 5 4 3' or '11–17'."""
    note: Words | None = None
    """What is printed below, such as 'except any triple'."""


class FeltView(Part, frozen=True, kw_only=True):
    """A layout under the settings, odds and limits in force."""

    table: str
    rulebook: str
    layout: str
    clause: str
    terms: str
    """The digest of everything in force."""
    wide: int
    tall: int
    drawn: str
    """'document', 'ours' or 'both'."""
    cells: tuple[FeltCell, ...]
    areas: tuple[FeltArea, ...]
    denominations: tuple[int, ...]
    """Chips that a terminal may offer."""


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
