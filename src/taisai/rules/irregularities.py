"""Irregularities: what happened × phase → ruling and clause, with no hole."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause, read_clause
from taisai.rules.people import People, read_rank, read_witness
from taisai.rules.procedure import Procedure
from taisai.rules.settings import Setting, SettingIs, read_setting_is
from taisai.rules.toml_reader import Section
from taisai.rules.vocabulary import Irregularity, Phase, Visibility


class Ruling(StrEnum):
    """What the rules order."""

    VOID = "void"
    """The round has no result; every bet is returned."""
    VOID_AFFECTED = "void-affected"
    """All affected rounds are void, settled ones too."""
    NO_ROLL = "no-roll"
    """Bets stay and re-open until a fresh close; the dice are shaken again."""
    WITHDRAW_OPTION = "withdraw-option"
    """Each player may withdraw all of his bets or none."""
    CONTINUE = "continue"
    SETTLE_BY_OUTCOME = "settle-by-outcome"
    """Settled by what the dice or cards show, whatever was keyed or lit."""
    SETTLE_REGISTERED = "settle-registered"
    """The round goes on: registered bets are settled, others returned."""
    SETTLE_THEN_SHUT = "settle-then-shut"
    """Settled in a supervisor's presence; then the table is shut until repaired."""
    RESET_AND_ENTER = "reset-and-enter"
    """The outcome stands; the equipment is reset and the result keyed in."""
    REFUSE = "refuse"
    STAYS_LIVE = "stays-live"
    SETTLE_ONCE = "settle-once"
    """Paid or collected once for this player, afterwards returned."""
    SETTLE_TO_MAXIMUM = "settle-to-maximum"
    """Paid and collected to the maximum only; the excess is returned."""
    STANDS = "stands"
    """What was settled earlier stands."""
    REFER = "refer"
    """Someone of the named rank decides."""


class RulingCell(NamedTuple):
    """One cell: the ruling, its clause, who decides a referral, who must be present at a settlement."""

    ruling: Ruling
    clause: Clause
    to: str | None = None
    witness: str | None = None
    caught: bool = False
    """Whether the catch-all filled the cell."""

    @property
    def foreseen(self) -> bool:
        """Whether the document speaks of it: neither the catch-all does, nor a procedure of the house."""
        return not self.caught and not self.clause.startswith("house:")


class Irregularities(NamedTuple):
    """The total table of rulings."""

    phases: tuple[Phase, ...]
    cells: Mapping[tuple[Irregularity, Phase], RulingCell]
    instead: Mapping[tuple[Irregularity, Phase], tuple[SettingIs, RulingCell]]
    seen: Mapping[tuple[Irregularity, Phase], RulingCell]
    """What is ruled, while the dice lie concealed, once any of them was seen: the outcome is established."""
    void: Clause
    """The clause by which the bets of a void round are returned."""
    later: Clause
    """The clause by which rounds after the one that is voided or corrected stay as they were."""

    def ruling_for(
        self, event: Irregularity, phase: Phase, settings: Mapping[str, str], *, seen: bool = False
    ) -> RulingCell:
        """What the rules order when this happens in this phase; in `between`, on rounds that are over."""
        if seen and (event, phase) in self.seen:
            return self.seen[event, phase]
        otherwise = self.instead.get((event, phase))
        if otherwise and otherwise[0].holds(settings):
            return otherwise[1]
        return self.cells[event, phase]


def read_irregularities(
    book: Section,
    settings: Mapping[str, Setting],
    people: People,
    procedure: Procedure,
    known: Mapping[Clause, object],
) -> Irregularities:
    """The book's table; the catch-all fills what it does not foresee, and without one a hole is refused."""
    section = book.table("irregularities")
    phases = tuple(facts.id for facts in procedure.phases)
    cells: dict[tuple[Irregularity, Phase], RulingCell] = {}
    instead: dict[tuple[Irregularity, Phase], tuple[SettingIs, RulingCell]] = {}
    seen: dict[tuple[Irregularity, Phase], RulingCell] = {}
    for entry in section.tables("ruling"):
        event = entry.choice("event", Irregularity)
        ruled = _ruled(entry, people, known)
        other = _instead(entry, settings, people, known)
        once_seen = _seen(entry, people, known)
        for phase in _phases(entry, phases):
            if (event, phase) in cells:
                raise entry.error("phases", "one ruling for each phase", f"{event} in {phase} twice")
            cells[event, phase] = ruled
            if other:
                instead[event, phase] = other
            if once_seen:
                if phase.visibility is not Visibility.CONCEALED:
                    raise entry.error("seen", "phases in which the dice lie concealed", repr(str(phase)))
                seen[event, phase] = once_seen
        entry.reject_unknown_keys()
    _fill(section, cells, phases, people, known)
    void, later = read_clause(section, "void", known), read_clause(section, "later", known)
    section.reject_unknown_keys()
    return Irregularities(phases, cells, instead, seen, void, later)


def _ruled(entry: Section, people: People, known: Mapping[Clause, object]) -> RulingCell:
    ruling = entry.choice("ruling", Ruling)
    if (ruling is Ruling.REFER) != entry.has("to"):
        got = "one" if entry.has("to") else "nothing"
        raise entry.error("to", "the rank that decides, with 'refer' and with nothing else", got)
    to = read_rank(entry, "to", people) if ruling is Ruling.REFER else None
    witness = read_witness(entry, people, wanted=ruling is Ruling.SETTLE_THEN_SHUT)
    return RulingCell(ruling, read_clause(entry, "clause", known), to, witness)


def _instead(
    entry: Section, settings: Mapping[str, Setting], people: People, known: Mapping[Clause, object]
) -> tuple[SettingIs, RulingCell] | None:
    if not entry.has("instead"):
        return None
    section = entry.table("instead")
    when = read_setting_is(section, "when", settings)
    if when is None:
        raise section.error("when", "a setting", "nothing")
    ruled = _ruled(section, people, known)
    section.reject_unknown_keys()
    return when, ruled


def _seen(entry: Section, people: People, known: Mapping[Clause, object]) -> RulingCell | None:
    if not entry.has("seen"):
        return None
    section = entry.table("seen")
    ruled = _ruled(section, people, known)
    section.reject_unknown_keys()
    return ruled


def _phases(entry: Section, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    if entry.texts("phases") == ("all",):
        return phases
    named = entry.each_choice("phases", Phase)
    for phase in named:
        if phase not in phases:
            raise entry.error("phases", "phases that the procedure has, or 'all'", repr(str(phase)))
    return named


def _fill(
    section: Section,
    cells: dict[tuple[Irregularity, Phase], RulingCell],
    phases: tuple[Phase, ...],
    people: People,
    known: Mapping[Clause, object],
) -> None:
    otherwise = None
    if section.has("otherwise"):
        entry = section.table("otherwise")
        otherwise = _ruled(entry, people, known)._replace(caught=True)
        entry.reject_unknown_keys()
    for event in Irregularity:
        for phase in phases:
            if (event, phase) not in cells:
                if otherwise is None:
                    raise section.error(
                        "otherwise", f"a ruling on {event} in {phase}, or a catch-all", "a hole"
                    )
                cells[event, phase] = otherwise
