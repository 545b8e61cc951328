"""Writes out the pairs of irregularities of every rulebook into cases/pairs, for a pit manager to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

from taisai.rules import Irregularity, Phase, Rulebook, rulebook, rulebook_ids
from taisai.rules.irregularities import SIGHTS, VOIDS, Ruling, RulingCell
from taisai.rules.pairs import Happening, PairCell, PairEnd, Prevails

CASES: Final = Path(__file__).parent.parent / "cases" / "pairs"
SEEN: Final = "[seen]"
SIGHTED: Final = (Irregularity.POWER_FAILURE, Irregularity.EQUIPMENT_FAILURE, Irregularity.OTHER)
"""Irregularities that are written out once more with a die seen."""
OTHER_SETTINGS: Final[Mapping[str, tuple[dict[str, str], ...]]] = {
    "us-sic-bo": ({"no_roll": "void"}, {"shaker": "automated"}),
}
"""Book → settings under which some pairs are decided otherwise."""
SHAKER: Final = "[shaker]"
_SETTING: Final = "shaker"
"""Of a book whose shaker, whichever is in use, can fail beside the device that its clause is about."""
WIDTH: Final = 110


class Outcome(NamedTuple):
    """How a pair is decided, as it is written out."""

    prevails: str
    ruling: str
    clause: str
    because: str


class PairLine(NamedTuple):
    """Pairs that are decided in the same way."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    either: bool
    """Whether the two may come in either order."""
    phases: tuple[Phase, ...]
    outcome: Outcome


def happenings(book: Rulebook, settings: Mapping[str, str]) -> dict[str, Happening]:
    """Name → irregularity, for all that can meet under a rulebook with these settings."""
    listed = {str(event): Happening(event) for event in Irregularity}
    if book.irregularities.open_seen is not None:
        listed |= {f"{event}{SEEN}": Happening(event, seen=True) for event in SIGHTED}
    if _SETTING in settings:
        shaker = Happening(Irregularity.EQUIPMENT_FAILURE, f"{settings[_SETTING]}-shaker")
        listed[f"{Irregularity.EQUIPMENT_FAILURE}{SHAKER}"] = shaker
    return listed


Table = dict[tuple[str, str, Phase], PairCell]


def table_of(book: Rulebook, settings: Mapping[str, str]) -> Table:
    """(first, second, phase) → how the pair is decided."""
    listed, rules = happenings(book, settings), book.irregularities
    return {
        (first, second, phase): rules.pair(listed[first], listed[second], phase, settings)
        for first, second, phase in product(listed, listed, rules.phases)
    }


def reasons(book: Rulebook, tables: Iterable[Table]) -> dict[str, str]:
    """Reason → its letter, in the order in which the lines are asked; only those of a cell."""
    pairs = book.irregularities.pairs
    if pairs is None:
        raise ValueError(f"{book!r} has no order of rulings ('precedence')")
    given = {cell.reason for table in tables for cell in table.values()}
    listed = [*(one.reason for one in pairs.exceptions), pairs.sight, *(line.reason for line in pairs.order)]
    kept = [reason for reason in dict.fromkeys(listed) if reason in given]
    return {reason: chr(ord("a") + n) for n, reason in enumerate(kept)}


def outcome_of(cell: PairCell, letters: Mapping[str, str]) -> Outcome:
    """A cell as it is written out: the ruling that weighs most comes first."""
    rulings = sorted(cell.rulings, key=lambda ruled: ruled.clause != cell.clause)
    is_void = any(ruled.ruling in VOIDS for ruled in rulings)
    words = list(dict.fromkeys(_words(ruled, is_void=is_void) for ruled in rulings))
    clauses = list(dict.fromkeys([cell.clause, *(ruled.clause for ruled in rulings)]))
    if cell.shuts:
        words.append(str(PairEnd.SHUT))
    prevails = _PREVAILS.get(cell.prevails, str(cell.prevails))
    return Outcome(prevails, " + ".join(words), " + ".join(clauses), letters[cell.reason])


def _words(ruled: RulingCell, *, is_void: bool) -> str:
    if is_void and ruled.ruling is Ruling.SETTLE_THEN_SHUT:
        return str(PairEnd.SHUT)  # there is nothing to settle
    return f"refer:{ruled.to}" if ruled.ruling is Ruling.REFER else str(ruled.ruling)


def lines_of(table: Table, letters: Mapping[str, str], order: tuple[Phase, ...]) -> list[PairLine]:
    """The table in few lines: pairs with the same outcome in the same phases stand together."""
    found: dict[tuple[str, str], dict[Outcome, list[Phase]]] = {}
    for (first, second, phase), cell in table.items():
        found.setdefault((first, second), {}).setdefault(outcome_of(cell, letters), []).append(phase)
    pairs = {
        (first, second, outcome, tuple(phases))
        for (first, second), outcomes in found.items()
        for outcome, phases in outcomes.items()
    }
    names = list(dict.fromkeys(first for first, _ in found))
    place = {name: n for n, name in enumerate(names)}
    by_first: dict[tuple[str, bool, Outcome, tuple[Phase, ...]], list[str]] = {}
    for key in sorted(pairs, key=lambda key: (place[key[0]], place[key[1]], order.index(key[3][0]))):
        first, second, outcome, phases = key
        either = _mirrored(key) in pairs
        if not either or place[first] <= place[second]:
            by_first.setdefault((first, either, outcome, phases), []).append(second)
    grouped: dict[tuple[tuple[str, ...], bool, Outcome, tuple[Phase, ...]], list[str]] = {}
    for (first, either, outcome, phases), seconds in by_first.items():
        grouped.setdefault((tuple(seconds), either, outcome, phases), []).append(first)
    lines = [
        PairLine(tuple(firsts), seconds, either, phases, outcome)
        for (seconds, either, outcome, phases), firsts in grouped.items()
    ]
    return sorted(lines, key=lambda line: ([place[name] for name in line.first], order.index(line.phases[0])))


def _mirrored(
    key: tuple[str, str, Outcome, tuple[Phase, ...]],
) -> tuple[str, str, Outcome, tuple[Phase, ...]]:
    first, second, outcome, phases = key
    return second, first, outcome._replace(prevails=_SIDES.get(outcome.prevails, outcome.prevails)), phases


_SIDES: Final = {"A": "B", "B": "A"}
_PREVAILS: Final = {Prevails.FIRST: "A", Prevails.SECOND: "B"}
UNFORESEEN: Final = "unforeseen"
"""The name under which irregularities stand together that no clause of a document foresees."""


def unforeseen(book: Rulebook) -> list[str]:
    """The irregularities that only the catch-all of a rulebook rules, in every phase and setting."""
    rules = book.irregularities
    own = {event for (event, phase), cell in rules.cells.items() if not cell.caught}
    own |= {event for event, _ in (*rules.instead, *rules.seen)}
    own |= set(SIGHTS) if rules.open_seen is not None else set()
    own |= rules.pairs.ends_with_void if rules.pairs is not None else set()
    return [str(event) for event in Irregularity if event not in own]


def phases_text(phases: tuple[Phase, ...], order: tuple[Phase, ...]) -> str:
    """Phases as they are written out: a..b are a, b and all between them."""
    if phases == order:
        return "all"
    parts: list[list[Phase]] = []
    for phase in phases:
        if parts and order.index(phase) == order.index(parts[-1][-1]) + 1:
            parts[-1].append(phase)
        else:
            parts.append([phase])
    return ",".join(part[0] if len(part) == 1 else f"{part[0]}..{part[-1]}" for part in parts)


def text_of(book: Rulebook) -> str:
    """The file of a rulebook."""
    order, kept = book.irregularities.phases, unforeseen(book)
    choices = ({}, *OTHER_SETTINGS.get(book.id, ()))
    usual, *others = (table_of(book, book.chosen(settings)) for settings in choices)
    letters = reasons(book, (usual, *others))
    parts = ["\n".join(_legend(book, letters, kept)), _written(_without(usual, kept), letters, order)]
    for settings, table in zip(choices[1:], others, strict=True):
        differing = {key: cell for key, cell in table.items() if cell != usual[key]}
        name = ", ".join(f"{setting} = {value}" for setting, value in settings.items())
        parts.append(f"## {name}: where it differs\n")
        parts.append(_written(_without(differing, kept), letters, order))
    return "\n".join(parts)


def _without(table: Table, kept: list[str]) -> Table:
    """The table with one name for all that no clause foresees."""
    named = {name: UNFORESEEN if name == kept[-1] else name for name in dict.fromkeys(f for f, _, _ in table)}
    left_out = set(kept[:-1])
    return {
        (named[first], named[second], phase): cell
        for (first, second, phase), cell in table.items()
        if first not in left_out and second not in left_out
    }


def _legend(book: Rulebook, letters: Mapping[str, str], kept: list[str]) -> Iterator[str]:
    lines = [
        f"{book.title}: two irregularities in one round. Written by tools/pairs.py (make pictures).",
        "A is the irregularity in the heading, B each of those below it. 'A then B': A happened in the phase",
        "given, B follows at once. 'A and B': the same, whichever came first. Every pair in every phase is",
        "on just one line. Prevails: A, B, both, or together where the two have a ruling of their own.",
        "Ruling and clause: what is in force for the round after both, the clause that decides first.",
        "A void round stays in the phase in which it was voided: what else is found in it is ruled by that.",
        "A wrong result or display is of this round; that of an earlier one is put right there in any case.",
        "[seen]: a die or card of this round was seen. [shaker]: of the shaker in use, not of the device.",
        "Of a failure, the equipment decides, not the word: of a terminal it is terminals-down, of a display",
        "display-wrong, of an automated shaker automated-shaker-failure, of the dice die-damaged.",
    ]
    yield from (f"# {line}" for line in lines)
    yield "#"
    yield "# Phases, in the order of a round; a..b are a, b and all between them:"
    yield f"#   {', '.join(book.irregularities.phases)}"
    yield f"# {UNFORESEEN}, which no clause foresees:"
    kept_text = ", ".join(kept)
    yield from wrap(kept_text, WIDTH, initial_indent="#   ", subsequent_indent="#   ", break_on_hyphens=False)
    yield "# Because:"
    for reason, letter in letters.items():
        yield from wrap(reason, WIDTH, initial_indent=f"#   {letter}  ", subsequent_indent="#      ")
    yield ""


def _written(table: Table, letters: Mapping[str, str], order: tuple[Phase, ...]) -> str:
    lines = lines_of(table, letters, order)
    rows: list[tuple[tuple[str, ...], tuple[str, ...], list[str]]] = []
    for line in lines:
        how = "A and B" if line.either else "A then B"
        cells = [how, phases_text(line.phases, order), *line.outcome]
        rows.append((line.first, line.second, cells))
    widths = [max(len(row[2][n]) for row in rows) for n in range(len(rows[0][2]))]
    text: list[str] = []
    heading: tuple[str, ...] = ()
    for first, second, cells in rows:
        if first != heading:
            heading = first
            text += ["", *_names(first, "")] if text else _names(first, "")
        *above, last = _names(second, "    ")
        columns = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        text += [*above, f"{last:<{_LIST + 4}}  {columns}"]
    return "\n".join(text) + "\n"


_LIST: Final = 58


def _names(names: tuple[str, ...], indent: str) -> list[str]:
    """Names over as many lines as they take; every line but the last ends in a comma."""
    width = _LIST + 4 if indent else WIDTH
    return wrap(
        ", ".join(names), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def files() -> dict[str, str]:
    """File name → text, for every rulebook."""
    return {f"{name}.txt": text_of(rulebook(name)) for name in rulebook_ids()}


if __name__ == "__main__":
    CASES.mkdir(exist_ok=True)
    for file, text in files().items():
        (CASES / file).write_text(text, encoding="utf-8")
        print(CASES / file)
