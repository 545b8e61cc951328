"""Terms: one layout under the odds and limits in force, as rows that placing and settling read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import gcd, lcm
from typing import Final, NamedTuple

from taisai.game.money import packed_sums
from taisai.game.snapshot_codec import Derived
from taisai.game.terms.messages import Limits
from taisai.rules.book import Rulebook
from taisai.rules.equipment import LimitPolicy
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM

EVEN_MONEY: Final = "even-money"
_EVEN_MONEY_AREAS: Final = frozenset({"small", "big", "odd", "even"})


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
    """Why limits are invalid, if they are."""
    areas = {str(area) for area in book.areas}
    known = areas | {family(area) for area in areas}
    pairs = [("the table", limits.least, limits.most)]
    pairs += [(name, least, most) for name, (least, most) in limits.groups.items()]
    for name, least, most in pairs:
        if not 0 < least <= most <= GREATEST_SUM:
            return f"expected limits with 0 < least <= most for {name}, got {least} to {most}"
        if name != "the table" and name not in known:
            return f"expected an area or a family of areas of {book.id}, got {name!r}"
    if limits.exposure is not None and not 0 <= limits.exposure <= GREATEST_SUM:
        return f"expected an exposure from 0 to 2^53 - 1, got {limits.exposure}"
    return None


ONES: Final = packed_sums.spread(len(OUTCOMES))
GUARDS: Final = packed_sums.guard(len(OUTCOMES))
MOST_COMPILED: Final = 16  # of one table at once, some hundred kilobytes each
MOST_LATEST: Final = 4  # of all tables together, which often have the same terms


@dataclass(frozen=True, slots=True)  # a named tuple's fields take twice as long to read
class Terms:
    """One layout under the settings, odds and limits in force."""

    layout: str
    matrix: Matrix
    rows: dict[str, int]
    least: list[int]
    most: list[int]
    greatest: list[int]
    """The greatest stake whose return is still within the greatest sum."""
    steps: list[int]
    """A stake is a multiple of this, so that what it wins is whole."""
    returns: list[tuple[int, ...]]
    """[row][outcome] what comes back per unit staked, in 1/unit; 0 for a loser."""
    winners: list[list[tuple[int, int]]]
    """[outcome] the rows that win, each with what comes back."""
    best: list[int]
    """[row] the most that comes back."""
    packed_returns: list[int]
    """[row] what comes back on each outcome, packed into one integer."""
    unit: int
    """The denominator of all returns of the table, whatever the layout."""


_LATEST: Final[dict[str, dict[str, Terms]]] = {}
"""Digest → the terms compiled last; they never change."""


def terms_of(
    book: Rulebook, settings: dict[str, str], offers: dict[str, str], limits: Limits
) -> dict[str, Terms]:
    """The terms of every layout of the book; an offer that the book does not allow raises a RulesError."""
    digest = digest_of(book, settings, offers, limits)
    terms = _LATEST.get(digest)
    if terms is None:
        terms = _LATEST[digest] = _compiled(book, settings, offers, limits)
        if len(_LATEST) > MOST_LATEST:
            del _LATEST[next(iter(_LATEST))]
    return terms


def _compiled(
    book: Rulebook, settings: dict[str, str], offers: dict[str, str], limits: Limits
) -> dict[str, Terms]:
    matrices = {
        layout: book.matrix(layout, settings=settings, offered=offers) for layout in book.pay_by_layout
    }
    unit = lcm(*(matrix.denominator for matrix in matrices.values()))
    if unit > packed_sums.GREATEST // GREATEST_SUM:
        most = packed_sums.GREATEST // GREATEST_SUM
        raise RulesError(f"expected odds with a common denominator of at most {most}, got {unit}")
    terms = {layout: _terms(layout, matrix, limits, unit) for layout, matrix in matrices.items()}
    if book.limits.over_maximum is LimitPolicy.SETTLE_TO_MAXIMUM:
        for layout_terms in terms.values():
            _check_maximum(layout_terms)
    return terms


def _check_maximum(terms: Terms) -> None:
    """A stake that is settled to the maximum only must win a whole amount too."""
    for area, row in terms.rows.items():
        if terms.most[row] % terms.steps[row]:
            expected = f"a maximum on {area} in steps of {terms.steps[row]}"
            raise RulesError(f"expected {expected}, got {terms.most[row]}")


def _terms(layout: str, matrix: Matrix, limits: Limits, unit: int) -> Terms:
    denominator = matrix.denominator
    scale = unit // denominator
    bounds = [limits_of(limits, area) for area in matrix.areas]
    returns = [tuple((net + denominator) * scale for net in nets) for nets in matrix.nets]
    return Terms(
        layout,
        matrix,
        {str(area): row for area, row in matrix.rows.items()},
        [least for least, _ in bounds],
        [most for _, most in bounds],
        [GREATEST_SUM * unit // max(row) for row in returns],
        [lcm(*(denominator // gcd(win.net, denominator) for win in wins)) for wins in matrix.wins],
        returns,
        [
            [(row, returned[place]) for row, returned in enumerate(returns) if returned[place]]
            for place in range(len(OUTCOMES))
        ],
        [max(row) for row in returns],
        [packed_sums.packed(row) for row in returns],
        unit,
    )


def digest_of(book: Rulebook, settings: dict[str, str], offers: dict[str, str], limits: Limits) -> str:
    """The SHA-256 over everything in force: the whole book, every setting, the odds offered, the limits."""
    form = {
        "rulebook": book.digest,
        "settings": settings,
        "offers": offers,
        "limits": [limits.least, limits.most, limits.groups, limits.exposure],
    }
    text = json.dumps(form, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return "sha256:" + sha256(text.encode("ascii")).hexdigest()


class Basis(NamedTuple):
    """What terms are compiled from, together with the book."""

    settings: dict[str, str]
    offers: dict[str, str]
    limits: Limits


@dataclass(slots=True, eq=False, repr=False)
class InForce(Mapping[str, dict[str, Terms]]):
    """Digest → the terms that were in force under it, compiled again when needed."""

    book: Derived[Rulebook]
    bases: dict[str, Basis] = field(default_factory=dict)
    """Digest → what the terms follow from."""
    _compiled: Derived[dict[str, dict[str, Terms]]] = field(default_factory=dict)

    def add(self, digest: str, basis: Basis, terms: dict[str, Terms] | None = None) -> None:
        """Adds terms that came into force, compiled or not."""
        self.bases[digest] = basis
        if terms is not None:
            self._keep(digest, terms)

    def _keep(self, digest: str, terms: dict[str, Terms]) -> None:
        self._compiled[digest] = terms
        if len(self._compiled) > MOST_COMPILED:
            del self._compiled[next(iter(self._compiled))]

    def __getitem__(self, digest: str) -> dict[str, Terms]:
        terms = self._compiled.get(digest)
        if terms is None:
            terms = terms_of(self.book, *self.bases[digest])
            self._keep(digest, terms)
        return terms

    def __contains__(self, digest: object) -> bool:
        return digest in self.bases

    def __iter__(self) -> Iterator[str]:
        return iter(self.bases)

    def __len__(self) -> int:
        return len(self.bases)
