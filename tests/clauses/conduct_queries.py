"""The questions that the clause tests put to a rulebook on the conduct of a game.

Each compares all it is asked about, both ways.
"""

from __future__ import annotations

from taisai.rules import Act, Clause, EquipmentItem, Irregularity, Phase, Rulebook, Step
from taisai.rules.procedure import Declared, Recovery, RecoveryRule
from taisai.rules.vocabulary import Visibility

Ruling = tuple[str, str, str | None]
"""What happened, what is ruled, and who decides it or has to be present."""


# Procedure


def in_words(step: Step) -> str:
    """A step as one line: who, what, from where to where, under which setting, after what."""
    when = f" if {step.when.setting} is {step.when.value}" if step.when else ""
    needs = f" once {' and '.join(need.need for need in step.needs)}" if step.needs else ""
    return f"{step.by}: {step.act}, {step.start} to {step.end}{when}{needs}"


def steps_by(book: Rulebook, clause: str) -> list[str]:
    """The steps that go by a clause, in the book's order."""
    return [in_words(step) for step in book.procedure.steps if step.clause == clause]


def needs_by(book: Rulebook, clause: str) -> list[str]:
    """What acts need by a clause, each with what it is without: an irregularity, or refused."""
    return [
        f"{step.act} in {step.start}: {need.need}, else {need.unmet or 'refused'}"
        for step in book.procedure.steps
        for need in step.needs
        if need.clause == clause
    ]


def verdict(book: Rulebook, act: str, phase: str, **settings: str) -> str:
    """What an act in a phase is: a step to another, an irregularity, or refused, with the clause."""
    answer = book.procedure.resolve(Act(act), Phase(phase), book.chosen(settings))
    if isinstance(answer, Step):
        return f"to {answer.end}, {answer.clause}"
    return f"{answer.irregularity or 'refused'}, {answer.clause}"


def out_of_order(book: Rulebook, irregularity: str | None = None) -> list[str]:
    """The acts of which the document makes an irregularity, or this irregularity, where they are no step."""
    found = []
    for act in Act:
        for phase in book.irregularities.phases:
            answer = book.procedure.resolve(act, phase, book.chosen())
            if isinstance(answer, Step) or answer.irregularity is None:
                continue
            if irregularity in (None, answer.irregularity):
                found.append(f"{act} in {phase}: {answer.irregularity}")
    return found


def round_of(book: Rulebook, **settings: str) -> list[str]:
    """The acts of one round under these settings, from between rounds to between rounds."""
    chosen = book.chosen(settings)
    phase, acts = Phase.BETWEEN, list[str]()
    while not acts or phase is not Phase.BETWEEN:
        steps = [step for step in book.procedure.steps_from(phase, chosen) if step.end is not phase]
        if len(steps) > 1:
            steps = [step for step in steps if step.proposed is None or step.proposed.holds(chosen)]
            steps = [step for step in steps if step.proposed is not None] or steps
        assert len(steps) == 1, f"one way on from {phase}"
        acts.append(steps[0].act)
        phase = steps[0].end
    return acts


def positions(book: Rulebook) -> tuple[str, str]:
    """The act from which on bets count as they lie, and the clause."""
    return str(book.procedure.positions.fixed_by), str(book.procedure.positions.clause)


def phases_open(book: Rulebook) -> list[str]:
    """The phases in which bets are taken."""
    return [phase.id for phase in book.procedure.phases if phase.id.bets_open]


def phases_with(book: Rulebook, sight: Visibility) -> list[str]:
    """The phases in which so much of the dice or cards can be known."""
    return [phase.id for phase in book.procedure.phases if phase.id.visibility is sight]


def recovers(book: Rulebook, clause: str) -> dict[str, str]:
    """What recovery does by a clause: phase, with what was declared where that is asked → action."""
    found = {}
    for (phase, declared), rule in book.procedure.recoveries.items():
        if rule.clause == clause:
            assert book.procedure.recovery(phase, declared) == rule
            before = f" before {rule.witness}" if rule.witness else ""
            found[f"{phase} {declared}" if declared else str(phase)] = f"{rule.action}{before}"
    return found


def asks_whether_seen(book: Rulebook) -> list[str]:
    """The phases in which recovery waits for a declaration whether a die was seen."""
    waits = RecoveryRule(Recovery.DECLARE, Clause("house:declaration"))
    asks = []
    for phase in book.irregularities.phases:
        answers = {book.procedure.recovery(phase, declared) for declared in (None, *Declared)}
        if book.procedure.recovery(phase).action is Recovery.DECLARE:
            assert book.procedure.recovery(phase) == waits
            assert len(answers) == 3
            asks.append(str(phase))
        else:
            assert len(answers) == 1, f"a declaration changes nothing in {phase}"
    return asks


# Irregularities


def ruled_by(book: Rulebook, clause: str, *, seen: bool = False, **settings: str) -> dict[Ruling, str]:
    """Every ruling that cites a clause → the phases in which it does, in the order of a round."""
    chosen = book.chosen(settings)
    found: dict[Ruling, list[str]] = {}
    for event in Irregularity:
        for phase in book.irregularities.phases:
            cell = book.irregularities.ruling_for(event, phase, chosen, seen=seen)
            assert not (cell.to and cell.witness)
            if cell.clause == clause:
                who = cell.to or cell.witness
                found.setdefault((str(event), str(cell.ruling), who), []).append(phase)
    return {ruling: " ".join(phases) for ruling, phases in found.items()}


def changed_once_seen(book: Rulebook) -> dict[str, str]:
    """Event → the phases in which it is ruled otherwise once a die was seen."""
    found: dict[str, list[str]] = {}
    chosen = book.chosen()
    for event in Irregularity:
        for phase in book.irregularities.phases:
            usual, seen = (
                book.irregularities.ruling_for(event, phase, chosen, seen=known) for known in (False, True)
            )
            if usual != seen or (event, phase) in book.irregularities.seen:
                found.setdefault(str(event), []).append(phase)
    return {event: " ".join(phases) for event, phases in found.items()}


def foreseen(book: Rulebook) -> set[str]:
    """The clauses by which something foreseen is ruled."""
    return {cell.clause for cell in book.irregularities.cells.values() if cell.foreseen}


def unforeseen(book: Rulebook) -> dict[str, str]:
    """Event → the phases in which it is left to the catch-all."""
    found: dict[str, list[str]] = {}
    for event in Irregularity:
        for phase in book.irregularities.phases:
            cell = book.irregularities.cells[event, phase]
            if cell.caught:
                assert not cell.foreseen
                found.setdefault(str(event), []).append(phase)
    return {event: " ".join(phases) for event, phases in found.items()}


# People and equipment


def ladder(book: Rulebook) -> list[tuple[str, str]]:
    """The ranks, lowest first, each with its clause."""
    return [(rank.id, rank.clause) for rank in book.people.ladder]


def may_act(book: Rulebook, holder: str, position: str, **settings: str) -> bool:
    """Whether a person of one rank may do what is another's."""
    return book.people.may_act(holder=holder, position=position, settings=book.chosen(settings))


def may_place(book: Rulebook) -> tuple[list[str], str] | None:
    """Who may bet for a player who asks, and the clause; None where the document lets nobody."""
    placing = book.people.placing
    return (sorted(placing.by), str(placing.clause)) if placing else None


def equipment_by(book: Rulebook, clause: str) -> list[str]:
    """The equipment that a clause names, each item as one line."""
    return [_in_words(item) for item in book.equipment if item.clause == clause]


def _in_words(item: EquipmentItem) -> str:
    facts = {
        "tumbles": item.least_tumbles,
        "hours": item.hours_on_table,
        "kept by": item.custody,
        "without": item.excludes.item if item.excludes else None,
        "if": f"{item.when.setting} is {item.when.value}" if item.when else None,
        "for bets with": " and ".join(item.means) or None,
    }
    return ", ".join([item.id, *(f"{key} {fact}" for key, fact in facts.items() if fact is not None)])


def excluded_by(book: Rulebook, clause: str) -> list[str]:
    """What must be off the table by a clause before something else may be used."""
    return [
        f"{item.id} not beside {item.excludes.item}"
        for item in book.equipment
        if item.excludes and item.excludes.clause == clause
    ]


def inspections_by(book: Rulebook, clause: str) -> list[str]:
    """The inspections that a clause asks, each as one line."""
    return [
        f"{item.id}: {one.by}, before {one.before}, {one.runs} run(s)"
        for item in book.equipment
        for one in item.inspections
        if one.clause == clause
    ]
