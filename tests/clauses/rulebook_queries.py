"""The questions that the clause tests put to a rulebook on pay, felts, settings and readings.

Each compares all it is asked about, both ways.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement

from taisai.rules import OUTCOMES, Bet, BetRefusal, BetRefusalReason, Matrix, Outcome, Rulebook
from taisai.rules.layout import Cell
from tests.clauses.winning import OUTCOME_NAMES, ROLLS, TRIPLES, Paid


def won_in(matrix: Matrix, area: str) -> dict[str, tuple[Fraction, str]]:
    """The outcomes on which an area wins in the matrix, each with its net and its clause."""
    row = matrix.row(area)
    cells = zip(OUTCOME_NAMES, matrix.nets[row], matrix.clauses[row], strict=True)
    return {
        outcome: (Fraction(net, matrix.denominator), clause)
        for outcome, net, clause in cells
        if net != -matrix.denominator
    }


def pays(matrix: Matrix, clause: str, expected: Mapping[str, Paid], triples: str | None = None) -> None:
    """Each area wins where it is expected to, at these odds, by this clause, and nowhere else.

    On a triple the clause may be another.
    """
    for area, paid in expected.items():
        wanted = {
            outcome: (odds, triples if triples and outcome in TRIPLES else clause)
            for outcome, odds in paid.items()
        }
        assert won_in(matrix, area) == wanted, f"{area} on layout {matrix.layout}"


def paid_by(matrix: Matrix, clause: str) -> set[str]:
    """The areas of which some win goes by the clause."""
    return {area for area in matrix.areas if clause in {by for _, by in won_in(matrix, area).values()}}


def loses_by(matrix: Matrix, clause: str, expected: Mapping[str, Paid]) -> None:
    """Each area loses by this clause wherever it does not win; no other area loses by it anywhere."""
    for area in matrix.areas:
        row = matrix.row(area)
        cells = zip(OUTCOME_NAMES, matrix.nets[row], matrix.clauses[row], strict=True)
        lost = {outcome for outcome, net, by in cells if net == -matrix.denominator and by == clause}
        paid = expected.get(area)
        assert lost == (set() if paid is None else set(OUTCOME_NAMES) - set(paid)), f"{area} by {clause}"
    assert set(expected) <= set(matrix.areas)


def not_on_layout(book: Rulebook, layouts: str, areas: Iterable[str]) -> None:
    """A bet on any of these is refused, whatever the dice show."""
    for layout in layouts.split():
        matrix = book.matrix(layout)
        for area in areas:
            for outcome in OUTCOMES:
                refused = matrix.settle(outcome, [Bet.on(area, 100)])
                assert isinstance(refused, BetRefusal), (layout, area)
                assert refused.reason is BetRefusalReason.NOT_ON_LAYOUT


def one_die_establishes(book: Rulebook) -> None:
    """On every layout some bet is decided as soon as one die is known, and none before."""
    for layout in book.layouts:
        matrix = book.matrix(layout)
        assert not matrix.established(())
        for known in (1, 2, 3):
            for dice in combinations_with_replacement(range(1, 7), known):
                assert matrix.established(dice), (layout, dice)


def areas_called(book: Rulebook, label: str) -> set[str]:
    """The areas that the book calls so, whatever their numbers; they are on every layout."""
    called = {area.id for area in book.areas.values() if area.label.rstrip("0123456789 ") == label}
    for layout in book.layouts:
        assert called <= set(book.matrix(layout).areas), f"{label} on layout {layout}"
    return {str(area) for area in called}


def each_of(kind: str, numbers: str) -> set[str]:
    """The areas of a kind on each of several numbers, which stand in one text."""
    return {f"{kind}-{number}" for number in numbers.split()}


def kinds_on(book: Rulebook, layout: str) -> dict[str, int]:
    """The kinds of area on a layout, and how many there are of each."""
    return dict(Counter(area.rstrip("0123456789").rstrip("-") for area in book.matrix(layout).areas))


def won_on(book: Rulebook, layout: str, *faces: int) -> set[str]:
    """With a bet on every area of a layout at once, those that win on these faces."""
    matrix = book.matrix(layout)
    stake = matrix.denominator  # so that half odds win whole units
    settled = matrix.settle(Outcome.of(*faces), [Bet.on(area, stake) for area in matrix.areas])
    assert not isinstance(settled, BetRefusal), settled
    assert settled.staked == stake * len(matrix.areas)
    return {str(one.area) for one in settled.bets if one.won > 0}


def totals_go_by_the_sum(book: Rulebook) -> None:
    """On every layout, whatever shows, the total that wins is the sum of the three faces, and no other."""
    for layout in book.layouts:
        for faces in ROLLS:
            totals = {area for area in won_on(book, layout, *faces) if area.startswith("total-")}
            assert totals == ({f"total-{sum(faces)}"} if 4 <= sum(faces) <= 17 else set()), faces


def drawn(book: Rulebook, layout: str, whose: str) -> set[str]:
    """The blocks of a layout whose drawing is the document's, or ours."""
    return {block.id for block in book.layout(layout).blocks if block.drawing == whose}


def cells_of(book: Rulebook, layout: str, block: str) -> list[str]:
    """The rows of a block as a text: area ids, blank cells as a dash, odds cells in brackets."""
    return [
        " ".join(map(_in_words, row))
        for found in book.layout(layout).blocks
        if found.id == block
        for row in found.rows
    ]


def _in_words(cell: Cell) -> str:
    if cell.odds_of:
        return f"({cell.odds_of} on {cell.dice})" if cell.dice else f"({cell.odds_of})"
    return cell.area or "-"


def bands_of(book: Rulebook, layout: str, from_column: int) -> list[str]:
    """The blocks right of a column as they lie, from the top down and within a band from the left."""
    bands: dict[int, list[tuple[int, str]]] = {}
    for block in book.layout(layout).blocks:
        if block.column >= from_column:
            bands.setdefault(block.row, []).append((block.column, block.id))
    return [" ".join(name for _, name in sorted(bands[row])) for row in sorted(bands)]


def setting(book: Rulebook, name: str) -> tuple[str, tuple[str, ...] | tuple[int, int], str]:
    """What a setting changes, what it takes, and its default."""
    assert name in book.settings
    found = book.settings[name]
    return str(found.changes), found.bounds or found.choices, found.default


def readings(book: Rulebook) -> list[str]:
    """The clauses of each interpretation, and the setting that leaves it to the house."""
    return sorted(
        " ".join(one.clauses) + (f" [{one.setting}]" if one.setting else "") for one in book.interpretations
    )


def errata(book: Rulebook) -> list[str]:
    """Each misprint and, where it is a figure, what is read instead; the rest is in our own words."""
    return sorted(
        f"{one.clause}: {one.printed}" + (f" → {one.read}" if one.read[0].isdigit() else "")
        for one in book.errata
    )
