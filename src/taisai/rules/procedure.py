"""Procedure: the order of a round, who acts, what must precede, and what recovery does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import product
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause, cited
from taisai.rules.people import People
from taisai.rules.reading import Section
from taisai.rules.settings import Setting, SettingIs, read_setting_is

CLOCK: Final = "clock"
"""The betting clock, which acts where the rules let it; elsewhere it only prompts."""


class Phase(StrEnum):
    """Where a round stands. A rulebook uses those that its procedure has."""

    BETWEEN = "between"
    """No round of play."""
    OPEN = "open"
    OPEN_TUMBLED = "open-tumbled"
    """Bets open over dice that have tumbled and lie concealed."""
    CLOSED = "closed"
    CLOSED_TUMBLED = "closed-tumbled"
    DEAL_PRESSED = "deal-pressed"
    REVEALED = "revealed"
    """The outcome is on view."""
    ENTERED = "entered"
    """The result is keyed in, and the winning areas are lit where there are lights."""
    SETTLED = "settled"
    """The settlement is recorded."""
    COLLECTED = "collected"
    PAID = "paid"


class Act(StrEnum):
    """What someone does to bring a round forward."""

    OPEN_BETS = "open-bets"
    TUMBLE = "tumble"
    ACTIVATE_SHAKER = "activate-shaker"
    CLOSE_BETS = "close-bets"
    PRESS_DEAL = "press-deal"
    UNCOVER = "uncover"
    DEAL_CARDS = "deal-cards"
    ENTER_RESULT = "enter-result"
    SETTLE = "settle"
    COLLECT = "collect"
    PAY = "pay"
    COLLECT_AND_PAY = "collect-and-pay"
    CLEAR_LIGHTS = "clear-lights"
    CONCLUDE = "conclude"


class Need(StrEnum):
    """What must be true before an act."""

    TABLE_INSPECTED = "table-inspected"
    SHIFT_INSPECTED = "shift-inspected"
    DICE_WITHIN_LIFE = "dice-within-life"
    SHOE_CAN_COMPLETE = "shoe-can-complete"
    COVERED = "covered"
    ENOUGH_TUMBLES = "enough-tumbles"
    DICE_FLAT = "dice-flat"


class Recovery(StrEnum):
    """What is done with a round that an interruption cut off."""

    NOTHING = "nothing"
    VOID = "void"
    WITHDRAW_OPTION = "withdraw-option"
    CONTINUE = "continue"
    SETTLE_THEN_SHUT = "settle-then-shut"
    LOCK_AND_REFER = "lock-and-refer"
    CONCLUDE = "conclude"


class Declared(StrEnum):
    """What Dealer and supervisor declare where a crash can hide whether a die was seen."""

    SEEN = "seen"
    UNSEEN = "unseen"


class Bets(StrEnum):
    """Whether bets are taken."""

    OPEN = "open"
    CLOSED = "closed"


class Chance(StrEnum):
    """What can be known of the dice or cards."""

    NONE = "none"
    CONCEALED = "concealed"
    SHOWN = "shown"


class PhaseFacts(NamedTuple):
    """What a phase means for bets and dice."""

    id: Phase
    label: str
    label_zh: str
    bets: Bets
    chance: Chance


class Step(NamedTuple):
    """An act, who does it, from which phase to which, what must precede, by which clause."""

    act: Act
    by: str
    start: Phase
    end: Phase
    when: SettingIs | None
    needs: tuple[Need, ...]
    clause: Clause


class RecoveryRule(NamedTuple):
    """What recovery does, by which clause."""

    action: Recovery
    clause: Clause


class Positions(NamedTuple):
    """From which act on the positions of bets count as they lie, by which clause."""

    fixed_by: Act
    clause: Clause


class Procedure(NamedTuple):
    """The total table of procedure: phases, steps between them, recovery at each."""

    phases: tuple[PhaseFacts, ...]
    steps: tuple[Step, ...]
    positions: Positions
    recoveries: Mapping[tuple[Phase, Declared | None], RecoveryRule]

    def facts(self, phase: Phase) -> PhaseFacts:
        """What the phase means."""
        return next(facts for facts in self.phases if facts.id is phase)

    def steps_from(self, phase: Phase, settings: Mapping[str, str]) -> tuple[Step, ...]:
        """What may be done next."""
        return tuple(step for step in self.steps if step.start is phase and _holds(step.when, settings))

    def needs_declaration(self, phase: Phase) -> bool:
        """Whether recovery here has to be told if a die was seen."""
        return (phase, Declared.SEEN) in self.recoveries

    def recovery(self, phase: Phase, declared: Declared | None = None) -> RecoveryRule:
        """What recovery does when the journal ends in this phase."""
        return self.recoveries[phase, declared if self.needs_declaration(phase) else None]


def _holds(when: SettingIs | None, settings: Mapping[str, str]) -> bool:
    return when is None or when.holds(settings)


def read_procedure(
    book: Section, settings: Mapping[str, Setting], people: People, known: Mapping[Clause, object]
) -> Procedure:
    """The book's procedure; refused unless every round that opens can be settled and concluded."""
    section = book.table("procedure")
    phases = _phases(section)
    used = {facts.id for facts in phases}
    steps = tuple(_step(entry, used, settings, people, known) for entry in section.tables("step"))
    positions = _positions(section.table("positions"), steps, known)
    procedure = Procedure(phases, steps, positions, _recoveries(section, used, known))
    section.done()
    for choice in _every_choice(steps, settings):
        _settles(section, procedure, choice)
    return procedure


def _phases(section: Section) -> tuple[PhaseFacts, ...]:
    read: list[PhaseFacts] = []
    for entry in section.tables("phase"):
        name = entry.choice("id", Phase)
        if name in [facts.id for facts in read]:
            raise entry.refused("id", "a phase not yet given", repr(str(name)))
        bets, chance = entry.choice("bets", Bets), entry.choice("chance", Chance)
        read.append(PhaseFacts(name, entry.text("en"), entry.text("zh"), bets, chance))
        entry.done()
    return tuple(read)


def _phase(entry: Section, key: str, used: set[Phase]) -> Phase:
    phase = entry.choice(key, Phase)
    if phase not in used:
        raise entry.refused(key, "a phase that the procedure has", repr(str(phase)))
    return phase


def _step(
    entry: Section,
    used: set[Phase],
    settings: Mapping[str, Setting],
    people: People,
    known: Mapping[Clause, object],
) -> Step:
    by = entry.text("by")
    actors = (CLOCK, *(rank.id for rank in people.ladder))
    if by not in actors:
        raise entry.refused("by", f"one of {', '.join(actors)}", repr(by))
    step = Step(
        entry.choice("act", Act),
        by,
        _phase(entry, "from", used),
        _phase(entry, "to", used),
        read_setting_is(entry, "when", settings),
        entry.each_choice("needs", Need) if entry.has("needs") else (),
        cited(entry, "clause", known),
    )
    entry.done()
    return step


def _positions(entry: Section, steps: tuple[Step, ...], known: Mapping[Clause, object]) -> Positions:
    act = entry.choice("fixed_by", Act)
    if act not in {step.act for step in steps}:
        raise entry.refused("fixed_by", "an act of this procedure", repr(str(act)))
    positions = Positions(act, cited(entry, "clause", known))
    entry.done()
    return positions


def _recoveries(
    section: Section, used: set[Phase], known: Mapping[Clause, object]
) -> dict[tuple[Phase, Declared | None], RecoveryRule]:
    read: dict[tuple[Phase, Declared | None], RecoveryRule] = {}
    for entry in section.tables("recovery"):
        rule = RecoveryRule(entry.choice("action", Recovery), cited(entry, "clause", known))
        declared = entry.choice("declared", Declared) if entry.has("declared") else None
        for phase in entry.each_choice("phases", Phase):
            if phase not in used:
                raise entry.refused("phases", "phases that the procedure has", repr(str(phase)))
            if (phase, declared) in read:
                raise entry.refused("phases", "one recovery for each phase", f"{str(phase)!r} twice")
            read[phase, declared] = rule
        entry.done()
    for phase in sorted(used):
        given = {declared for (at, declared) in read if at is phase}
        if given not in ({None}, {Declared.SEEN, Declared.UNSEEN}):
            got = ", ".join(sorted(str(one) for one in given)) or "none"
            raise section.refused(
                "recovery", f"for {phase} one recovery, or one each for seen and unseen", got
            )
    return read


def _every_choice(steps: tuple[Step, ...], settings: Mapping[str, Setting]) -> Iterator[dict[str, str]]:
    names = sorted({step.when.setting for step in steps if step.when})
    for values in product(*(settings[name].choices for name in names)):
        yield dict(zip(names, values, strict=True))


def _settles(section: Section, procedure: Procedure, choice: dict[str, str]) -> None:
    """From the start, whatever is done next, settlement and the end of the round stay within reach."""
    under = "".join(f" with {name} = {value}" for name, value in choice.items())
    if not {Phase.BETWEEN, Phase.SETTLED} <= {facts.id for facts in procedure.phases}:
        raise section.refused(
            "phase", "the phases 'between' and 'settled'", "a procedure that cannot reach settlement"
        )
    for phase in _reachable(procedure, Phase.BETWEEN, choice):
        within_reach = _reachable(procedure, phase, choice)
        for wanted in (Phase.SETTLED, Phase.BETWEEN):
            if wanted not in within_reach:
                raise section.refused(
                    "step",
                    f"steps that lead from {phase} to {wanted}{under}",
                    "a procedure that cannot reach settlement",
                )


def _reachable(procedure: Procedure, start: Phase, choice: Mapping[str, str]) -> set[Phase]:
    reached: set[Phase] = set()
    ahead = [start]
    while ahead:
        for step in procedure.steps_from(ahead.pop(), choice):
            if step.end not in reached:
                reached.add(step.end)
                ahead.append(step.end)
    return reached
