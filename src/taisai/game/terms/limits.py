"""Limits of a table: minimum and maximum per player and area, by group of areas, and the house's exposure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from taisai.rules.book import Rulebook
from taisai.rules.settlement import GREATEST_SUM

EVEN_MONEY: Final = "even-money"
_EVEN_MONEY_AREAS: Final = frozenset({"small", "big", "odd", "even"})


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Minimum and maximum per player and area, and what the house may lose on one outcome."""

    least: int
    most: int
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    """(least, most) for a family of areas, such as 'triple' or 'even-money', or for one area."""
    exposure: int | None = None


def family(area: str) -> str:
    """The group an area belongs to: 'even-money', 'triple', 'total' and so on."""
    if area in _EVEN_MONEY_AREAS:
        return EVEN_MONEY
    head, _, tail = area.rpartition("-")
    return head if head and tail.isdigit() else area


def limits_of(limits: Limits, area: str) -> tuple[int, int]:
    """The least and the most on an area: its own, its family's or the table's."""
    for name in (area, family(area)):
        if name in limits.groups:
            return limits.groups[name]
    return limits.least, limits.most


def fault_of(limits: Limits, book: Rulebook) -> str | None:
    """What is wrong with limits, if something is."""
    areas = {str(area) for area in book.areas}
    known = areas | {family(area) for area in areas}
    pairs = [("the table", limits.least, limits.most)]
    pairs += [(name, least, most) for name, (least, most) in limits.groups.items()]
    for name, least, most in pairs:
        if not 0 < least <= most <= GREATEST_SUM:
            return f"expected 0 < least <= most for {name}, got {least} and {most}"
        if name != "the table" and name not in known:
            return f"expected a family or an area of {book.id} in the groups, got {name!r}"
    if limits.exposure is not None and not 0 <= limits.exposure <= GREATEST_SUM:
        return f"expected an exposure from 0 to 2^53 - 1, got {limits.exposure}"
    return None
