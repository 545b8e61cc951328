"""A layout: where its cells lie, and what can be read on them."""

from __future__ import annotations

from taisai.protocol.views.texts import Part, Words


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
