"""What `taisai rules irregularities` prints of two irregularities that meet in one round."""

from __future__ import annotations

from collections.abc import Iterator

from taisai.cli.printing import show_table
from taisai.rules.irregularities import Ruling
from taisai.rules.pairs import PairException, PairOrder, PairSide, Precedence, Precedes


def show_pairs(book: str, pairs: PairOrder) -> None:
    """Prints the exceptions and then the order of rulings."""
    title = f"{book}: when two irregularities meet in a round, the first line about them decides"
    show_table(title, ("one", "another", "prevails", "because"), _rows(pairs))


def _rows(pairs: PairOrder) -> Iterator[tuple[str, ...]]:
    for exception in pairs.exceptions:
        one, other = map(_side, exception.sides)
        yield one, other, _decided(exception), exception.reason
    for line in pairs.order:
        prevails = "the one" if line.prevails is Precedes.THESE else "both"
        yield _rulings(line.rulings), _rulings(line.beside), prevails, line.reason


def _side(side: PairSide) -> str:
    return f"{side.event} of the {side.item}" if side.item else str(side.event)


def _decided(exception: PairException) -> str:
    if exception.cell is None:
        return f"the {exception.prevails}" if exception.prevails != "both" else "both"
    return f"{exception.cell.ruling}{', then shut' if exception.shuts else ''} ({exception.cell.clause})"


def _rulings(rulings: frozenset[Ruling]) -> str:
    return "every ruling" if rulings == frozenset(Ruling) else ", ".join(sorted(rulings))


def pair_facts(pairs: PairOrder | None) -> dict[str, object] | None:
    """The order and its exceptions, for JSON; None in a first edition."""
    if pairs is None:
        return None
    return {
        "order": [_line(line) for line in pairs.order],
        "exceptions": [
            {
                "events": [side._asdict() for side in exception.sides],
                "prevails": exception.prevails,
                "ruling": exception.cell.ruling if exception.cell else None,
                "clause": exception.cell.clause if exception.cell else None,
                "shut": exception.shuts,
                "reason": exception.reason,
            }
            for exception in pairs.exceptions
        ],
    }


def _line(line: Precedence) -> dict[str, object]:
    rulings, beside = sorted(line.rulings), sorted(line.beside)
    return {"rulings": rulings, "beside": beside, "prevails": line.prevails, "reason": line.reason}
