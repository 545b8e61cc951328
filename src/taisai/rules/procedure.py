"""Procedure: the phases of a round, the steps between them, and recovery after an interruption."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.people import People, read_witness
from taisai.rules.settings import Setting, SettingIs, every_choice, read_setting_is
from taisai.rules.toml_reader import Section
from taisai.rules.vocabulary import Act, Irregularity, Need, Phase, Visibility

CLOCK: Final = "clock"
"""The betting clock. It acts only if the rules allow it; otherwise it only reminds the Dealer."""


class Recovery(StrEnum):
    """What the system does with a round after an interruption."""

    NOTHING = "nothing"
    VOID = "void"
    WITHDRAW_OPTION = "withdraw-option"
    CONTINUE = "continue"
    SETTLE_THEN_SHUT = "settle-then-shut"
    LOCK_AND_REFER = "lock-and-refer"
    CONCLUDE = "conclude"
    DECLARE = "declare"
    """First, the Dealer and a supervisor declare whether anyone saw a die."""


class Declared(StrEnum):
    """What the Dealer and a supervisor declare after an interruption: whether anyone saw a die."""

    SEEN = "seen"
    UNSEEN = "unseen"


class PhaseName(NamedTuple):
    id: Phase
    label: str
    label_zh: str


class StepNeed(NamedTuple):
    """A condition that a step needs, and its clause."""

    need: Need
    clause: Clause
    unmet: Irregularity | None
    """The irregularity if the need is not met; None if the act is refused then."""


class Step(NamedTuple):
    """An act that moves a round from one phase to another, and who does it."""

    act: Act
    by: str
    start: Phase
    end: Phase
    when: SettingIs | None
    needs: tuple[StepNeed, ...]
    clause: Clause
    proposed: SettingIs | None = None
    """The setting under which the console proposes this step first. It is possible under the others too."""


class OutOfOrder(NamedTuple):
    """An act that is no step of this phase. It is an irregularity; if None, the act is refused."""

    irregularity: Irregularity | None
    clause: Clause


class Positions(NamedTuple):
    """The act that fixes the positions of the bets."""

    fixed_by: Act
    clause: Clause


class RecoveryRule(NamedTuple):
    action: Recovery
    clause: Clause
    witness: str | None = None
    """The rank that must be present."""


class Procedure(NamedTuple):
    """The phases of a round, the steps between them, and the recovery in each phase."""

    phases: tuple[PhaseName, ...]
    steps: tuple[Step, ...]
    out_of_order: Mapping[tuple[Act, Phase], Irregularity]
    refused: Mapping[tuple[Act, Phase], Clause]
    """Acts that a clause forbids in a phase, for the refusal to cite."""
    positions: Positions
    recoveries: Mapping[tuple[Phase, Declared | None], RecoveryRule]

    def steps_from(self, phase: Phase, settings: Mapping[str, str]) -> tuple[Step, ...]:
        """The steps that a phase allows under these settings."""
        return tuple(step for step in self.steps if step.start is phase and _holds(step.when, settings))

    def resolve(self, act: Act, phase: Phase, settings: Mapping[str, str]) -> Step | OutOfOrder:
        """The step that an act is in a phase, or why it is out of order."""
        for step in self.steps_from(phase, settings):
            if step.act is act:
                return step
        if (act, phase) in self.refused:
            return OutOfOrder(None, self.refused[act, phase])
        candidates = [step for step in self.steps if step.act is act]
        candidates.sort(key=lambda step: not _holds(step.when, settings))
        clause = candidates[0].clause if candidates else Clause("house:order")
        return OutOfOrder(self.out_of_order.get((act, phase)), clause)

    def needs_declaration(self, phase: Phase) -> bool:
        """Whether recovery in this phase depends on whether anyone saw a die."""
        return (phase, Declared.SEEN) in self.recoveries

    def recovery(self, phase: Phase, declared: Declared | None = None) -> RecoveryRule:
        """What recovery does when the journal ends in this phase."""
        if not self.needs_declaration(phase):
            declared = None
        elif declared is None:
            return RecoveryRule(Recovery.DECLARE, Clause("house:declaration"))
        if (phase, declared) not in self.recoveries:
            phases = ", ".join(facts.id for facts in self.phases)
            raise RulesError(f"expected a phase of this procedure ({phases}), got {str(phase)!r}")
        return self.recoveries[phase, declared]


def _holds(when: SettingIs | None, settings: Mapping[str, str]) -> bool:
    return when is None or when.holds(settings)


def read_procedure(book: Section, settings: Mapping[str, Setting], people: People) -> Procedure:
    """Reads the procedure of a rulebook. Every round must be able to reach settlement and its end."""
    section = book.table("procedure")
    phases = _phases(section)
    used = tuple(phase.id for phase in phases)
    entries = section.tables("step")
    steps = tuple(_step(entry, used, settings, people) for entry in entries)
    procedure = Procedure(
        phases,
        steps,
        _out_of_order(section, used, steps),
        _refused(section, used, steps),
        _positions(section.table("positions"), steps),
        _recoveries(section, used, people),
    )
    for choice in every_choice((step.when.setting for step in steps if step.when), settings):
        _one_end_each(entries, steps, choice)
        _settles(section, procedure, choice)
    return procedure


def _phases(section: Section) -> tuple[PhaseName, ...]:
    read: list[PhaseName] = []
    for entry in section.tables("phase"):
        name = entry.choice("id", Phase)
        if name in [phase.id for phase in read]:
            raise entry.error("id", "each phase once", f"{str(name)!r} twice")
        read.append(PhaseName(name, entry.text("en"), entry.text("zh")))
    for needed in (Phase.BETWEEN, Phase.SETTLED):
        if needed not in [phase.id for phase in read]:
            got = f"only {', '.join(phase.id for phase in read)}"
            raise section.error("phase", f"the phase '{needed}'", got)
    return tuple(read)


def _phase(entry: Section, key: str, used: tuple[Phase, ...]) -> Phase:
    phase = entry.choice(key, Phase)
    if phase not in used:
        raise entry.error(key, f"a phase of this procedure ({', '.join(used)})", repr(str(phase)))
    return phase


def _step(entry: Section, used: tuple[Phase, ...], settings: Mapping[str, Setting], people: People) -> Step:
    by = entry.text("by")
    actors = (CLOCK, *people.ranks())
    if by not in actors:
        raise entry.error("by", f"one of {', '.join(actors)}", repr(by))
    step = Step(
        entry.choice("act", Act),
        by,
        _phase(entry, "from", used),
        _phase(entry, "to", used),
        read_setting_is(entry, "when", settings),
        tuple(_need(section) for section in entry.tables("needs", least=0)),
        entry.clause("clause"),
        read_setting_is(entry, "proposed", settings),
    )
    if step.act is Act.SETTLE and (step.start.bets_open or step.start.visibility is not Visibility.SHOWN):
        expected = "a phase in which bets are closed and the outcome can be seen"
        raise entry.error("from", expected, repr(str(step.start)))
    return step


def _need(entry: Section) -> StepNeed:
    unmet = entry.choice("unmet", Irregularity) if entry.has("unmet") else None
    return StepNeed(entry.choice("need", Need), entry.clause("clause"), unmet)


def _out_of_order(
    section: Section, used: tuple[Phase, ...], steps: tuple[Step, ...]
) -> dict[tuple[Act, Phase], Irregularity]:
    read: dict[tuple[Act, Phase], Irregularity] = {}
    for entry in section.tables("out_of_order", least=0):
        act = entry.choice("act", Act)
        irregularity = entry.choice("irregularity", Irregularity)
        for phase in entry.each_choice("phases", Phase):
            if phase not in used or (act, phase) in {(step.act, step.start) for step in steps}:
                raise entry.error("phases", f"phases that have no step '{act}'", repr(str(phase)))
            if (act, phase) in read:
                raise entry.error("phases", "each phase once", f"{act} in {phase} twice")
            read[act, phase] = irregularity
    return read


def _refused(
    section: Section, used: tuple[Phase, ...], steps: tuple[Step, ...]
) -> dict[tuple[Act, Phase], Clause]:
    read: dict[tuple[Act, Phase], Clause] = {}
    for entry in section.tables("refused", least=0):
        act, clause = entry.choice("act", Act), entry.clause("clause")
        for phase in entry.each_choice("phases", Phase):
            if phase not in used or (act, phase) in {(step.act, step.start) for step in steps}:
                raise entry.error("phases", f"phases that have no step '{act}'", repr(str(phase)))
            read[act, phase] = clause
    return read


def _positions(entry: Section, steps: tuple[Step, ...]) -> Positions:
    act = entry.choice("fixed_by", Act)
    if act not in {step.act for step in steps}:
        acts = ", ".join(dict.fromkeys(step.act for step in steps))
        raise entry.error("fixed_by", f"an act of this procedure ({acts})", repr(str(act)))
    return Positions(act, entry.clause("clause"))


def _recoveries(
    section: Section, used: tuple[Phase, ...], people: People
) -> dict[tuple[Phase, Declared | None], RecoveryRule]:
    read: dict[tuple[Phase, Declared | None], RecoveryRule] = {}
    for entry in section.tables("recovery"):
        action = entry.choice("action", Recovery)
        witness = read_witness(entry, people, wanted=action is Recovery.SETTLE_THEN_SHUT)
        rule = RecoveryRule(action, entry.clause("clause"), witness)
        declared = entry.choice("declared", Declared) if entry.has("declared") else None
        for phase in entry.each_choice("phases", Phase):
            if phase not in used:
                raise entry.error("phases", f"phases of this procedure ({', '.join(used)})", repr(str(phase)))
            if (phase, declared) in read:
                raise entry.error("phases", "one recovery per phase", f"{str(phase)!r} twice")
            if not _fits(rule.action, phase):
                fitting = ", ".join(other for other in Recovery if _fits(other, phase))
                expected = f"an action for the phase '{phase}' ({fitting})"
                raise entry.error("action", expected, repr(str(rule.action)))
            read[phase, declared] = rule
    for phase in used:
        given = {declared for (at, declared) in read if at is phase}
        if given not in ({None}, {Declared.SEEN, Declared.UNSEEN}):
            got = ", ".join(sorted(declared or "one recovery" for declared in given)) or "no recovery"
            raise section.error("recovery", f"one recovery for {phase}, or one each for seen and unseen", got)
    return read


def _fits(action: Recovery, phase: Phase) -> bool:
    if phase is Phase.BETWEEN or action is Recovery.NOTHING:
        return phase is Phase.BETWEEN and action is Recovery.NOTHING
    if action is Recovery.CONCLUDE:
        return phase.settlement_recorded
    if action is Recovery.WITHDRAW_OPTION:
        return phase.visibility is not Visibility.SHOWN
    return action is not Recovery.DECLARE


def _one_end_each(entries: tuple[Section, ...], steps: tuple[Step, ...], choice: Mapping[str, str]) -> None:
    """Raises an error if an act leads from one phase to two phases under the same settings."""
    first_steps: dict[tuple[Act, Phase], Step] = {}
    for entry, step in zip(entries, steps, strict=True):
        if _holds(step.when, choice):
            first = first_steps.setdefault((step.act, step.start), step)
            if first is not step:
                got = f"2 steps, to {first.end} and to {step.end}"
                raise entry.error("from", f"1 step for {step.act} in {step.start}", got)


def _settles(section: Section, procedure: Procedure, choice: dict[str, str]) -> None:
    """Raises an error if a round can get stuck before settlement or before its end."""
    under = "".join(f" with {name} = {value}" for name, value in choice.items())
    reached = _reachable(procedure, Phase.BETWEEN, choice)
    for phase in (phase.id for phase in procedure.phases):
        within_reach = _reachable(procedure, phase, choice)
        for wanted in (Phase.SETTLED, Phase.BETWEEN):
            if (phase in reached or phase is Phase.BETWEEN) and wanted not in within_reach:
                expected = f"steps that lead from {phase} to {wanted}{under}"
                got = f"steps that lead only to {', '.join(sorted(within_reach)) or 'no phase'}"
                raise section.error("step", expected, got)


def _reachable(procedure: Procedure, start: Phase, choice: Mapping[str, str]) -> set[Phase]:
    reached: set[Phase] = set()
    queue = [start]
    while queue:
        for step in procedure.steps_from(queue.pop(), choice):
            if step.end not in reached:
                reached.add(step.end)
                queue.append(step.end)
    return reached
