"""What players and displays see: a table, its layouts, and a seat to its own player."""

from __future__ import annotations

from taisai.game.commands import Slip
from taisai.protocol.views.parts import ClaimLine, ColourLine, Part, View, Words
from taisai.protocol.views.rounds import HistoryView


class TableFacts(Part, frozen=True, kw_only=True):
    """What does not change while a table is open."""

    name: str
    rulebook: str
    title: Words
    digest: str
    """The digest of the rulebook."""
    currency: str
    layouts: tuple[str, ...]
    layout: str
    """The default layout of terminals."""
    kind: str
    """'dice' or 'cards'."""
    demonstration: bool
    stand_in: Words | None
    """A note for terminals at a live table, where bets are chips on the layout."""
    means: tuple[str, ...]
    """The means of betting, such as `cash-chips`."""


class LimitLine(Part, frozen=True, kw_only=True):
    """The limits of a group of areas."""

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
    """The limits by group, if they differ, for displays."""


class RoundStand(Part, frozen=True, kw_only=True):
    """The state of the round."""

    number: int
    """The number of the current round; between rounds of the last one; 0 before the first."""
    phase: str
    label: Words
    bets_open: bool
    notice: Words
    """The message for players."""
    since: int | None
    """When this phase began, in milliseconds since 1970."""
    collected: bool
    """Whether losing bets are collected; until the next round opens."""
    paid: bool
    """Whether winning bets are paid; until the next round opens."""
    void: str | None
    """The clause by which the last round is void, until the next opens; None if it is not void."""


class CountdownView(Part, frozen=True, kw_only=True):
    """The betting clock."""

    closes_at: int | None
    """In milliseconds since 1970; None if it does not run."""
    since: int | None
    """The start of the time for bets: when bets opened, plus the time that the round was held."""
    prompt: bool
    """Whether it only prompts the Dealer, who closes bets."""
    is_up: bool
    """Whether the time is up and bets are still open."""


class DiceView(Part, frozen=True, kw_only=True):
    """The latest result and its source."""

    kind: str
    """'dice' or 'cards'."""
    round: int | None = None
    faces: tuple[int, int, int] | None = None
    total: int | None = None
    source: Words | None = None


class Stoppage(Part, frozen=True, kw_only=True):
    """Why the table is stopped; all fields are empty if it is not."""

    closed: bool = False
    """Whether the table is closed permanently."""
    shut: str | None = None
    """The reason that was given when the table was shut."""
    hold: str | None = None
    """'declaration', 'withdrawal' or 'referral'."""
    says: Words | None = None
    clause: str | None = None
    """The clause of the hold, else that by which the table was shut."""


class Revealed(Part, frozen=True, kw_only=True):
    """What a player needs to compute the dice of a round."""

    round: int
    seed: str
    shake: int
    close: int
    """The position in the journal of the entry that closed the bets."""
    hash: str
    """The hash of that entry."""
    faces: tuple[int, ...]


class DrawView(Part, frozen=True, kw_only=True):
    """The commitment of the demonstration shaker, and what it revealed last."""

    commitment: str | None = None
    """The SHA-256 of the seed, hexadecimal."""
    round: int | None = None
    """The round of the commitment."""
    revealed: Revealed | None = None


class TableView(View, frozen=True, kw_only=True, tag="table"):
    """A table as everyone may see it."""

    table: TableFacts
    limits: LimitsView
    round: RoundStand
    countdown: CountdownView
    dice: DiceView
    lit: dict[str, tuple[str, ...]]
    """Layout → the winning areas, until the next round opens or the lights are cleared."""
    history: HistoryView
    stoppage: Stoppage
    draw: DrawView


class OddsLine(Part, frozen=True, kw_only=True):
    """Odds as printed."""

    text: Words
    """Such as '8.5 to 1'. Odds are entered in the same form."""
    dice: int | None
    """The number of matching dice, if an area has odds for one, two and three."""


class FeltArea(Part, frozen=True, kw_only=True):
    """An area: its label, odds, winning condition and limits."""

    id: str
    label: Words
    family: str
    numbers: tuple[int, ...]
    """The faces or totals of its winning condition."""
    odds: tuple[OddsLine, ...]
    wins: Words
    """The winning condition in words."""
    clause: str
    """The clause by which it is paid."""
    says: str
    """The text of that clause, if the rulebook has it."""
    least: int
    most: int
    step: int
    """A stake is a multiple of this, so that winnings are whole minor units."""
    edge: str | None = None
    """The exact house edge, such as '2.78 % (1/36)', if the operator shows it to players."""


class FeltCell(Part, frozen=True, kw_only=True):
    """A rectangle of the layout, in units from the top left: an area, the odds of one, or blank."""

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
    """The text of a cell that shows odds."""
    figures: str | None = None
    """The area's numbers as printed, such as '6 5 4 3' or '11–17'."""
    note: Words | None = None
    """The text below, such as 'except any triple'."""


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
    """The result of the seat's last round."""

    number: int
    void: bool
    staked: int
    returned: int
    """Stakes and winnings together."""


class ColourChips(Part, frozen=True, kw_only=True):
    """Colour chips of this seat, at the value at which they were bought."""

    colour: ColourLine
    value: int
    credits: int
    """The value of those that the seat has left."""


class SeatView(View, frozen=True, kw_only=True, tag="seat"):
    """A seat as its player sees it."""

    seat: str
    taken: bool
    player: str
    session: int
    since: int | None
    """When this session began, in milliseconds since 1970; None if the seat is free."""
    net: int
    """Returned less staked in the settled rounds of this session, including corrections."""
    layout: str
    credits: int
    at_risk: int
    payable: int
    """Returned by the settlement and not paid yet."""
    bets: tuple[Slip, ...]
    """The bets of the current round. Changes add and remove single bets."""
    last: LastRound | None
    withdrawal: bool
    """Whether the player may choose to withdraw."""
    withdrew: bool | None
    """What the player chose."""
    claims: tuple[ClaimLine, ...]
    colour: ColourChips | None = None
    """The seat's colour chips; None if it has none."""
    in_colour: tuple[str, ...] = ()
    """The ids of the bets with colour chips."""
