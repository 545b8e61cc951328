"""The rounds that are over, as boards show them."""

from __future__ import annotations

from msgspec import field

from taisai.protocol.views.parts import Part


class Shown(Part, frozen=True, kw_only=True):
    """A round that is over, in a line of the board."""

    number: int
    void: bool = False
    """A void round is marked, and counts nowhere."""
    faces: tuple[int, int, int] | None = None
    """None where it has no result."""
    total: int | None = None
    size: str | None = None
    """'small', 'big' or 'triple'."""
    parity: str | None = None
    """'odd', 'even' or 'triple'; None where the rulebook has no such areas."""


class Run(Part, frozen=True, kw_only=True):
    """A column of a road: the same mark in round after round."""

    mark: str
    rounds: tuple[int, ...]


class HistoryView(Part, frozen=True, kw_only=True):
    """The last results, the first of them the oldest, and the roads and frequencies over them."""

    results: tuple[Shown, ...] = ()
    sizes: tuple[Run, ...] = ()
    """The road of big and small."""
    parities: tuple[Run, ...] = ()
    """The road of odd and even."""
    totals: dict[int, int] = field(default_factory=dict)
    """Total → how often, over the rounds that count."""
    counted: int = 0
    """Rounds among them that count: void ones do not."""
