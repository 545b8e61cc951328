"""Pairs of irregularities: which ruling prevails when two of them meet in one round, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import combinations_with_replacement, permutations
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.irregularities import VOIDS, Ruling, RulingCell
from taisai.rules.procedure import Procedure
from taisai.rules.toml_reader import Section
from taisai.rules.vocabulary import Act, Irregularity, Phase, Visibility

if TYPE_CHECKING:
    from taisai.rules.irregularities import Irregularities


class Precedes(StrEnum):
    """What a line of the order says of two rulings."""

    THESE = "these"
    """The rulings named first prevail over those beside them, whichever came first."""
    BOTH = "both"
    """Both rulings apply."""


class Prevails(StrEnum):
    """Which of two irregularities decides what becomes of the round."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    TOGETHER = "together"
    """Together they have a ruling of their own."""


class PairEnd(StrEnum):
    """What follows after the ruling on a pair."""

    SHUT = "shut"
    """The table is shut until it is repaired and reopened."""


class Precedence(NamedTuple):
    """A line of the order: rulings, the rulings beside them, and which of them prevail."""

    rulings: frozenset[Ruling]
    beside: frozenset[Ruling]
    prevails: Precedes
    reason: str
    events: frozenset[Irregularity] = frozenset()
    """The irregularities whose rulings are beside; those of every one if empty."""

    def fits(self, one: RuledEvent, other: RuledEvent) -> bool:
        """Whether the line is about the rulings of two irregularities, in either order."""
        return self._stands(one, other) or self._stands(other, one)

    def _stands(self, one: RuledEvent, other: RuledEvent) -> bool:
        is_meant = not self.events or other.event in self.events
        return is_meant and one.cell.ruling in self.rulings and other.cell.ruling in self.beside

    def is_about(self, ruling: Ruling, other: Ruling) -> bool:
        """Whether two rulings can meet on the line, in either order."""
        return any(one in self.rulings and two in self.beside for one, two in permutations((ruling, other)))


class PairSide(NamedTuple):
    """One of the two irregularities of an exception."""

    event: Irregularity
    phases: tuple[Phase, ...]
    """The phases in which it must have happened."""
    item: str | None
    """The equipment that it must be about; a report that names no equipment is about it too."""

    def fits(self, ruled: RuledEvent) -> bool:
        item = self.item is None or ruled.item is None or ruled.item == self.item
        return ruled.event is self.event and ruled.phase in self.phases and item


class PairException(NamedTuple):
    """Two irregularities of one round that the order does not decide, in either order."""

    sides: tuple[PairSide, PairSide]
    prevails: Prevails
    cell: RulingCell | None
    """The ruling that they have together, if they have one."""
    shuts: bool
    """Whether the table is shut after it."""
    reason: str

    def fits(self, first: RuledEvent, second: RuledEvent) -> bool:
        one, other = self.sides
        return (one.fits(first) and other.fits(second)) or (one.fits(second) and other.fits(first))


class RuledEvent(NamedTuple):
    """An irregularity, and the ruling that it has by itself."""

    event: Irregularity | None
    """None where a round was voided without a report."""
    phase: Phase
    cell: RulingCell
    item: str | None = None
    seen: bool = False


class Happening(NamedTuple):
    """An irregularity as it is reported: with the equipment that failed, and whether a die was seen."""

    event: Irregularity
    item: str | None = None
    seen: bool = False


class PairCell(NamedTuple):
    """A cell of the table of pairs."""

    prevails: Prevails
    rulings: tuple[RulingCell, ...]
    """The rulings in force after both, that of the first before that of the second."""
    clause: Clause
    """The clause by which the pair is decided."""
    reason: str
    shuts: bool = False
    """Whether the table is shut at once."""

    @property
    def ruling(self) -> Ruling:
        """The ruling that weighs most: of those in force, the one that is cited."""
        return next(
            (cell.ruling for cell in self.rulings if cell.clause == self.clause), self.rulings[0].ruling
        )


class PairOrder(NamedTuple):
    """The order in which rulings prevail, and the exceptions from it."""

    order: tuple[Precedence, ...]
    exceptions: tuple[PairException, ...]
    closed_seen: Clause | None
    """The clause by which a round goes on when a die of it was seen after bets closed."""
    sight: str
    """Why a die seen after the close ends the option to withdraw."""
    opened: Phase
    """The phase of a round after bets are opened again."""
    uncovered: Phase | None
    """The phase of a round after its dice are uncovered."""

    def meet(self, first: RuledEvent, second: RuledEvent) -> PairCell:
        """Which of two irregularities of a round prevails."""
        for exception in self.exceptions:
            if exception.fits(first, second):
                return _excepted(exception, first, second)
        if self.closed_seen is not None and _ends_option(first, second):
            return PairCell(Prevails.SECOND, (second.cell,), self.closed_seen, self.sight)
        line = next(line for line in self.order if line.fits(first, second))
        if line.prevails is Precedes.BOTH:
            second_weighs = first.cell.ruling in line.beside and second.cell.ruling not in line.beside
            weightier = second if second_weighs else first
            return PairCell(Prevails.BOTH, (first.cell, second.cell), weightier.cell.clause, line.reason)
        prevails = Prevails.FIRST if first.cell.ruling in line.rulings else Prevails.SECOND
        cell = first.cell if prevails is Prevails.FIRST else second.cell
        return PairCell(prevails, (cell,), cell.clause, line.reason)

    @property
    def ends_with_void(self) -> frozenset[Irregularity]:
        """The irregularities of which nothing is left to decide once their round is void."""
        lines = (line for line in self.order if line.events and line.prevails is Precedes.THESE)
        return frozenset().union(
            *(line.events for line in lines if line.rulings & VOIDS and Ruling.REFER in line.beside)
        )

    def phase_after(self, phase: Phase, ruling: Ruling) -> Phase:
        """The phase in which a second irregularity is ruled that follows a first at once.

        A void round stays in the phase in which it was voided: what else is found in it is ruled by that.
        """
        if ruling is Ruling.NO_ROLL:
            return self.opened
        uncovers = ruling is Ruling.RESET_AND_ENTER and phase.visibility is not Visibility.SHOWN
        return self.uncovered if uncovers and self.uncovered is not None else phase


def pair(
    rules: Irregularities, first: Happening, second: Happening, phase: Phase, settings: Mapping[str, str]
) -> PairCell:
    """The cell of two irregularities, the first in a phase and the second at once after it."""
    if rules.pairs is None:
        raise RulesError("this rulebook has no table of pairs: it has no order of rulings ('precedence')")
    before = _ruled(rules, first, phase, settings, seen=first.seen)
    after = rules.pairs.phase_after(phase, before.cell.ruling)
    stays_seen = before.seen and before.cell.ruling not in VOIDS  # a void round has had that consequence
    return rules.pairs.meet(before, _ruled(rules, second, after, settings, seen=stays_seen or second.seen))


def _ruled(
    rules: Irregularities, happening: Happening, phase: Phase, settings: Mapping[str, str], *, seen: bool
) -> RuledEvent:
    event, item = rules.event_about(happening.event, happening.item), happening.item
    seen = rules.sees(event, phase, seen=seen)
    return RuledEvent(event, phase, rules.ruled(event, phase, settings, seen=seen, item=item), item, seen)


def _ends_option(first: RuledEvent, second: RuledEvent) -> bool:
    """Whether the first offered the option to withdraw, and by the second a die is seen after the close."""
    if first.cell.ruling is not Ruling.WITHDRAW_OPTION or second.cell.ruling in VOIDS:
        return False
    seen = second.seen or second.cell.ruling is Ruling.RESET_AND_ENTER
    return seen and not second.phase.bets_open


def _excepted(exception: PairException, first: RuledEvent, second: RuledEvent) -> PairCell:
    if exception.cell is not None:
        cell = exception.cell
        return PairCell(Prevails.TOGETHER, (cell,), cell.clause, exception.reason, exception.shuts)
    if exception.prevails is Prevails.FIRST:
        return PairCell(Prevails.FIRST, (first.cell,), first.cell.clause, exception.reason)
    return PairCell(Prevails.BOTH, (first.cell, second.cell), first.cell.clause, exception.reason)


# Reading


def read_pairs(
    section: Section, procedure: Procedure, phases: tuple[Phase, ...], cells: Iterable[RulingCell]
) -> PairOrder | None:
    """Reads the order and the exceptions of `[irregularities]`; None if the rulebook has no order."""
    if not section.has("precedence"):
        if section.has("pair"):
            raise section.error("pair", "an order under 'precedence' as well", "exceptions without an order")
        return None
    order = tuple(_precedence(entry) for entry in section.tables("precedence"))
    _check_total(section, order, {cell.ruling for cell in cells})
    exceptions = tuple(_exception(entry, phases) for entry in section.tables("pair", least=0))
    closed_seen, sight = None, ""
    if section.has("sight"):
        sighted = section.table("sight")
        sight = sighted.text("reason")
        closed_seen = sighted.clause("after_close") if sighted.has("after_close") else None
    opened = next((step.end for step in procedure.steps if step.act is Act.OPEN_BETS), Phase.OPEN)
    uncover = next((step.end for step in procedure.steps if step.act is Act.UNCOVER), None)
    return PairOrder(order, exceptions, closed_seen, sight, opened, uncover)


_EVERY: Final = "all"


def _precedence(entry: Section) -> Precedence:
    rulings, beside = _rulings(entry, "rulings"), _rulings(entry, "beside")
    prevails = entry.choice("prevails", Precedes)
    if prevails is Precedes.THESE and rulings & beside:
        expected = f"rulings that are not under 'rulings' as well, where '{Precedes.THESE}' prevail"
        raise entry.error("beside", expected, repr(", ".join(sorted(rulings & beside))))
    events = frozenset(entry.each_choice("events", Irregularity) if entry.has("events") else ())
    return Precedence(rulings, beside, prevails, entry.text("reason"), events)


def _rulings(entry: Section, key: str) -> frozenset[Ruling]:
    return frozenset(Ruling if entry.texts(key) == (_EVERY,) else entry.each_choice(key, Ruling))


def _check_total(section: Section, order: tuple[Precedence, ...], rulings: set[Ruling]) -> None:
    """Every two rulings of the book meet on a line, and every line is about two rulings of the book."""
    used = set()
    for one, other in combinations_with_replacement(sorted(rulings), 2):
        about = [number for number, line in enumerate(order) if line.is_about(one, other)]
        number = next((number for number in about if not order[number].events), None)
        if number is None:
            raise section.error("precedence", f"a line about '{one}' and '{other}'", "no such line")
        used |= {each for each in about if each <= number}
    for number in range(len(order)):
        if number not in used:
            got = "a line that no two rulings of this rulebook reach"
            raise section.error(f"precedence {number + 1}", "a line that decides something", got)


def _exception(entry: Section, phases: tuple[Phase, ...]) -> PairException:
    sides = entry.tables("events")
    if len(sides) != 2:
        raise entry.error("events", "2 irregularities", str(len(sides)))
    one, other = (_side(side, phases) for side in sides)
    if entry.has("ruling") == entry.has("prevails"):
        got = "both" if entry.has("ruling") else "neither"
        raise entry.error("ruling", "either 'ruling' or 'prevails'", got)
    shuts = entry.choice("then", PairEnd) is PairEnd.SHUT if entry.has("then") else False
    reason = entry.text("reason")
    if entry.has("ruling"):
        ruling = entry.choice("ruling", Ruling)
        if ruling is not Ruling.VOID:
            raise entry.error("ruling", f"'{Ruling.VOID}'", repr(str(ruling)))
        cell = RulingCell(ruling, entry.clause("clause"))
        return PairException((one, other), Prevails.TOGETHER, cell, shuts, reason)
    prevails = entry.choice("prevails", Prevails)
    if prevails not in (Prevails.FIRST, Prevails.BOTH):
        expected = f"'{Prevails.FIRST}' or '{Prevails.BOTH}'; the two are found in either order"
        raise entry.error("prevails", expected, repr(str(prevails)))
    if shuts:
        raise entry.error("then", f"no 'then' with '{prevails}'", repr(str(PairEnd.SHUT)))
    return PairException((one, other), prevails, None, shuts, reason)


def _side(entry: Section, phases: tuple[Phase, ...]) -> PairSide:
    event = entry.choice("event", Irregularity)
    named = entry.each_choice("phases", Phase) if entry.has("phases") else phases
    for phase in named:
        if phase not in phases:
            expected = f"phases of this procedure ({', '.join(phases)})"
            raise entry.error("phases", expected, repr(str(phase)))
    return PairSide(event, named, entry.text("item") if entry.has("item") else None)


def pair_clauses(pairs: PairOrder) -> Iterator[tuple[Clause, str]]:
    """The clauses that exceptions cite, each with what for."""
    for exception in pairs.exceptions:
        events = " with ".join(side.event for side in exception.sides)
        if exception.cell is not None:
            yield exception.cell.clause, f"{events}: {exception.cell.ruling}"
