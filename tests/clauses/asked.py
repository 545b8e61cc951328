"""The questions that the clause tests put to a rulebook; each compares all it is asked about, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement

from taisai.rules import OUTCOMES, Bet, Matrix, Reason, Refusal, Rulebook
from taisai.rules.equipment import Item
from taisai.rules.irregularities import Irregularity
from taisai.rules.procedure import Bets, Chance, Declared, Phase, Step
from tests.clauses.winning import OUTCOME_NAMES, TRIPLES, Paid

Ruling = tuple[str, str, str | None]
"""What happened, what is ruled, and to whom it is referred if it is."""


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
                assert isinstance(refused, Refusal), (layout, area)
                assert refused.reason is Reason.NOT_ON_LAYOUT


def one_die_establishes(book: Rulebook) -> None:
    """On every layout some bet is decided as soon as one die is known, and none before."""
    for layout in book.layouts:
        matrix = book.matrix(layout)
        assert not matrix.established(())
        for known in (1, 2, 3):
            for dice in combinations_with_replacement(range(1, 7), known):
                assert matrix.established(dice), (layout, dice)


def drawn(book: Rulebook, layout: str, whose: str) -> set[str]:
    """The blocks of a layout whose drawing is the document's, or ours."""
    return {block.id for block in book.layout(layout).blocks if block.drawing == whose}


def cells_of(book: Rulebook, layout: str, block: str) -> list[str]:
    """The rows of a block as a text: area ids, blank cells as a dash, odds cells in brackets."""
    return [
        " ".join(cell.area or (f"({cell.odds_of})" if cell.odds_of else "-") for cell in row)
        for found in book.layout(layout).blocks
        if found.id == block
        for row in found.rows
    ]


# Procedure


def in_words(step: Step) -> str:
    """A step as one line: who, what, from where to where, under which setting, after what."""
    when = f" if {step.when.setting} is {step.when.value}" if step.when else ""
    needs = f" once {' and '.join(step.needs)}" if step.needs else ""
    return f"{step.by}: {step.act}, {step.start} to {step.end}{when}{needs}"


def steps_by(book: Rulebook, clause: str) -> list[str]:
    """The steps that go by a clause, in the book's order."""
    return [in_words(step) for step in book.procedure.steps if step.clause == clause]


def round_of(book: Rulebook, **settings: str) -> list[str]:
    """The acts of one round under these settings, from between rounds to between rounds."""
    chosen = book.chosen(settings)
    phase, acts = Phase.BETWEEN, list[str]()
    while not acts or phase is not Phase.BETWEEN:
        steps = book.procedure.steps_from(phase, chosen)
        assert len(steps) == 1, f"one way on from {phase}"
        acts.append(steps[0].act)
        phase = steps[0].end
    return acts


def phases_with(book: Rulebook, *, bets: Bets | None = None, chance: Chance | None = None) -> list[str]:
    """The phases in which bets are so, or in which so much of the dice can be known."""
    return [
        facts.id
        for facts in book.procedure.phases
        if (bets is None or facts.bets is bets) and (chance is None or facts.chance is chance)
    ]


def recovers(book: Rulebook, clause: str) -> dict[str, str]:
    """What recovery does by a clause: phase, with what was declared where that is asked → action."""
    found = {}
    for (phase, declared), rule in book.procedure.recoveries.items():
        if rule.clause == clause:
            assert book.procedure.recovery(phase, declared) == rule
            found[f"{phase} {declared}" if declared else str(phase)] = str(rule.action)
    return found


def asks_whether_seen(book: Rulebook) -> list[str]:
    """The phases in which recovery has to be told whether a die was seen."""
    return [phase for phase, declared in book.procedure.recoveries if declared is Declared.SEEN]


# Irregularities


def ruled_by(book: Rulebook, clause: str, **settings: str) -> dict[Ruling, str]:
    """Every ruling that cites a clause → the phases in which it does, in the order of a round."""
    chosen = book.chosen(settings)
    found: dict[Ruling, list[str]] = {}
    for event in Irregularity:
        for phase in book.irregularities.phases:
            cell = book.irregularities.ruled(event, phase, chosen)
            if cell.clause == clause:
                found.setdefault((str(event), str(cell.ruling), cell.to), []).append(phase)
    return {ruling: " ".join(phases) for ruling, phases in found.items()}


def foreseen(book: Rulebook) -> set[str]:
    """The clauses by which something foreseen is ruled."""
    return {cell.clause for cell in book.irregularities.cells.values() if cell.foreseen}


def unforeseen(book: Rulebook) -> dict[str, str]:
    """Event → the phases in which it is left to the catch-all."""
    found: dict[str, list[str]] = {}
    for event in Irregularity:
        for phase in book.irregularities.phases:
            if not book.irregularities.cells[event, phase].foreseen:
                found.setdefault(str(event), []).append(phase)
    return {event: " ".join(phases) for event, phases in found.items()}


# People and equipment


def ladder(book: Rulebook) -> list[tuple[str, str]]:
    """The ranks, lowest first, each with its clause."""
    return [(rank.id, rank.clause) for rank in book.people.ladder]


def may_act(book: Rulebook, holder: str, position: str, **settings: str) -> bool:
    """Whether a person of one rank may do what is another's."""
    return book.people.may_act(holder=holder, position=position, settings=book.chosen(settings))


def equipment_by(book: Rulebook, clause: str) -> list[str]:
    """The equipment that a clause names, each item as one line."""
    return [_in_words(item) for item in book.equipment if item.clause == clause]


def _in_words(item: Item) -> str:
    facts = {
        "tumbles": item.least_tumbles,
        "hours": item.hours_on_table,
        "without": item.excludes,
        "if": f"{item.when.setting} is {item.when.value}" if item.when else None,
    }
    return ", ".join([item.id, *(f"{key} {fact}" for key, fact in facts.items() if fact is not None)])


def inspections_by(book: Rulebook, clause: str) -> list[str]:
    """The inspections that a clause asks, each as one line."""
    return [
        f"{item.id}: {one.by}, before {one.before}, {one.runs} run(s)"
        for item in book.equipment
        for one in item.inspections
        if one.clause == clause
    ]


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
