"""Irregularities: a table with a ruling and a clause for every irregularity in every phase."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.people import People, read_rank, read_witness
from taisai.rules.procedure import Procedure
from taisai.rules.settings import Setting, SettingIs, read_setting_is
from taisai.rules.toml_reader import Section
from taisai.rules.vocabulary import Irregularity, Phase, Visibility

if TYPE_CHECKING:
    from taisai.rules.pairs import Happening, PairCell, PairOrder


class Ruling(StrEnum):
    """What the rules order when an irregularity happens."""

    VOID = "void"
    """The round has no result; every bet is returned."""
    VOID_AFFECTED = "void-affected"
    """All affected rounds are void, also settled rounds."""
    NO_ROLL = "no-roll"
    """The bets stay, betting opens again until a new close, and the dice are shaken again."""
    WITHDRAW_OPTION = "withdraw-option"
    """Each player may withdraw all of their bets, or none."""
    CONTINUE = "continue"
    SETTLE_BY_OUTCOME = "settle-by-outcome"
    """The round is settled by what the dice or cards show, not by the entered result or the lights."""
    SETTLE_REGISTERED = "settle-registered"
    """The round continues: registered bets are settled, other bets are returned."""
    SETTLE_THEN_SHUT = "settle-then-shut"
    """The round is settled in the presence of a supervisor; then the table is shut until it is repaired."""
    RESET_AND_ENTER = "reset-and-enter"
    """The outcome stands; the equipment is reset and the Dealer enters the result."""
    REFUSE = "refuse"
    STAYS_LIVE = "stays-live"
    SETTLE_ONCE = "settle-once"
    """Such a bet is paid or collected once per player; later ones are returned."""
    SETTLE_TO_MAXIMUM = "settle-to-maximum"
    """The bet is paid or collected up to the maximum; the excess is returned."""
    STANDS = "stands"
    """The earlier settlement stands."""
    REFER = "refer"
    """A person of the named rank decides."""


VOIDS: Final = frozenset({Ruling.VOID, Ruling.VOID_AFFECTED})
DEVICE: Final = "electrical-device"
"""The item that lights the winning areas."""
SHOWING: Final[Mapping[str, Irregularity]] = {
    "player-terminal": Irregularity.TERMINALS_DOWN,
    "display": Irregularity.DISPLAY_WRONG,
}
"""Item → the irregularity that its failure is, however it is reported."""
_OWN_EVENT: Final[Mapping[str, Irregularity]] = {
    **SHOWING,
    "automated-shaker": Irregularity.AUTOMATED_SHAKER_FAILURE,
    "dice": Irregularity.DIE_DAMAGED,
}
"""Item → the irregularity that its failure is, where the rulebook has an order of rulings."""
_FAILURES: Final = frozenset(
    {
        Irregularity.EQUIPMENT_FAILURE,
        Irregularity.AUTOMATED_SHAKER_FAILURE,
        Irregularity.TERMINALS_DOWN,
        Irregularity.DISPLAY_WRONG,
        Irregularity.OTHER,
    }
)
"""Words for the failure of equipment; which one it is, the equipment decides that the report names."""
SIGHTS: Final = frozenset({Irregularity.EXPOSED_EARLY, Irregularity.EXPOSED_LATE})
"""Irregularities that are themselves the sight of a concealed die or card."""


class RulingCell(NamedTuple):
    """A cell of the table: the ruling and its clause."""

    ruling: Ruling
    clause: Clause
    to: str | None = None
    """The rank that decides a referral."""
    witness: str | None = None
    """The rank that must be present at the settlement."""
    caught: bool = False
    """Whether the cell comes from the catch-all, `otherwise`."""

    @property
    def foreseen(self) -> bool:
        """Whether a clause of the document covers this case: no catch-all and no house procedure."""
        return not self.caught and not self.clause.startswith("house:")


class Irregularities(NamedTuple):
    """The table of rulings; it has a cell for every irregularity in every phase."""

    phases: tuple[Phase, ...]
    cells: Mapping[tuple[Irregularity, Phase], RulingCell]
    instead: Mapping[tuple[Irregularity, Phase], tuple[SettingIs, RulingCell]]
    seen: Mapping[tuple[Irregularity, Phase], RulingCell]
    """The ruling if someone has seen a die that should be concealed."""
    open_seen: Clause | None
    """The clause that voids a round when a die of it was seen before bets closed."""
    closed_seen: Clause | None
    """The clause by which a round goes on when a die of it was seen after bets closed."""
    pairs: PairOrder | None
    """Which ruling prevails when two irregularities meet; None in a first edition."""
    void: Clause
    """The clause that returns the bets of a void round."""
    later: Clause
    """The clause that keeps the rounds after a voided or corrected round unchanged."""

    def ruling_for(
        self, event: Irregularity, phase: Phase, settings: Mapping[str, str], *, seen: bool = False
    ) -> RulingCell:
        """The ruling for an irregularity in a phase; in `between`, the ruling for earlier rounds."""
        if seen and (event, phase) in self.seen:
            return self.seen[event, phase]
        alternative = self.instead.get((event, phase))
        if alternative and alternative[0].holds(settings):
            return alternative[1]
        return self.cells[event, phase]

    def ruled(
        self,
        event: Irregularity,
        phase: Phase,
        settings: Mapping[str, str],
        *,
        seen: bool = False,
        item: str | None = None,
    ) -> RulingCell:
        """The ruling on a report: by the equipment that it names, and by what was seen."""
        if self.pairs is None:
            event = SHOWING.get(item or "", event)
        cell = self.ruling_for(event, phase, settings, seen=seen)
        if cell.ruling is Ruling.SETTLE_THEN_SHUT and item not in (None, DEVICE):
            # The clause is about the device that lights the areas; the document names no other equipment.
            cell = self.ruling_for(Irregularity.OTHER, phase, settings)
        if seen and phase.bets_open and self.open_seen is not None and cell.ruling not in VOIDS:
            return RulingCell(Ruling.VOID, self.open_seen)
        return cell

    def event_about(self, event: Irregularity, item: str | None) -> Irregularity:
        """The irregularity that a report is about: of a failure, the equipment decides, not the word."""
        if item is None:
            return event
        if event is Irregularity.POWER_FAILURE and item != "dice":
            return _OWN_EVENT.get(item, event)
        if event in _FAILURES:
            return _OWN_EVENT.get(item, Irregularity.EQUIPMENT_FAILURE)
        damaged = self.cells[Irregularity.DIE_DAMAGED, Phase.OPEN]
        broken = event is Irregularity.DOME_OR_DICE_BROKEN and item == "dice"
        if broken and damaged.foreseen and not self.cells[event, Phase.OPEN].foreseen:
            return Irregularity.DIE_DAMAGED  # a broken die is damaged
        return event

    def sees(self, event: Irregularity, phase: Phase, *, seen: bool = False) -> bool:
        """Whether a report says that a concealed die or card was seen, or is itself such a sight."""
        if self.open_seen is None or phase is Phase.BETWEEN or phase.visibility is Visibility.SHOWN:
            return False
        return seen or event in SIGHTS

    def pair(
        self, first: Happening, second: Happening, phase: Phase, settings: Mapping[str, str]
    ) -> PairCell:
        """Which of two irregularities prevails, the first in a phase and the second at once after it."""
        from taisai.rules.pairs import pair

        return pair(self, first, second, phase, settings)


def read_irregularities(
    book: Section, settings: Mapping[str, Setting], people: People, procedure: Procedure
) -> Irregularities:
    """Reads the table of a rulebook. The catch-all `otherwise` fills cells without a ruling."""
    from taisai.rules.pairs import read_pairs

    section = book.table("irregularities")
    phases = tuple(facts.id for facts in procedure.phases)
    cells: dict[tuple[Irregularity, Phase], RulingCell] = {}
    instead: dict[tuple[Irregularity, Phase], tuple[SettingIs, RulingCell]] = {}
    seen: dict[tuple[Irregularity, Phase], RulingCell] = {}
    for entry in section.tables("ruling"):
        event = entry.choice("event", Irregularity)
        cell = _cell(entry, people)
        alternative = _instead(entry, settings, people)
        seen_cell = _cell(entry.table("seen"), people) if entry.has("seen") else None
        for phase in _phases(entry, phases):
            if (event, phase) in cells:
                raise entry.error("phases", "one ruling for each phase", f"{event} in {phase} twice")
            cells[event, phase] = cell
            if alternative:
                instead[event, phase] = alternative
            if seen_cell:
                if phase is Phase.BETWEEN or phase.visibility is Visibility.SHOWN:
                    raise entry.error("seen", "phases before the dice are uncovered", repr(str(phase)))
                seen[event, phase] = seen_cell
    _fill(section, cells, phases, people)
    void, later = section.clause("void"), section.clause("later")
    sight = section.table("sight") if section.has("sight") else None
    open_seen = sight.clause("before_close") if sight else None
    closed_seen = sight.clause("after_close") if sight and sight.has("after_close") else None
    every = [*cells.values(), *(cell for _, cell in instead.values()), *seen.values()]
    pairs = read_pairs(section, procedure, phases, every)
    return Irregularities(phases, cells, instead, seen, open_seen, closed_seen, pairs, void, later)


def _cell(entry: Section, people: People) -> RulingCell:
    ruling = entry.choice("ruling", Ruling)
    if (ruling is Ruling.REFER) != entry.has("to"):
        expected = "the rank that decides" if ruling is Ruling.REFER else f"no 'to' with '{ruling}'"
        raise entry.error("to", expected, entry.quoted("to"))
    to = read_rank(entry, "to", people) if ruling is Ruling.REFER else None
    witness = read_witness(entry, people, wanted=ruling is Ruling.SETTLE_THEN_SHUT)
    return RulingCell(ruling, entry.clause("clause"), to, witness)


def _instead(
    entry: Section, settings: Mapping[str, Setting], people: People
) -> tuple[SettingIs, RulingCell] | None:
    if not entry.has("instead"):
        return None
    section = entry.table("instead")
    when = read_setting_is(section, "when", settings)
    if when is None:
        raise section.error("when", "a setting and its value", section.quoted("when"))
    return when, _cell(section, people)


def _phases(entry: Section, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    if entry.texts("phases") == ("all",):
        return phases
    named = entry.each_choice("phases", Phase)
    for phase in named:
        if phase not in phases:
            expected = f"'all', or phases of this procedure ({', '.join(phases)})"
            raise entry.error("phases", expected, repr(str(phase)))
    return named


def _fill(
    section: Section,
    cells: dict[tuple[Irregularity, Phase], RulingCell],
    phases: tuple[Phase, ...],
    people: People,
) -> None:
    otherwise = None
    if section.has("otherwise"):
        otherwise = _cell(section.table("otherwise"), people)._replace(caught=True)
        for key, cell in cells.items():
            if cell == otherwise._replace(caught=False):
                cells[key] = otherwise  # written out for the sake of what it says once a die is seen
    for event in Irregularity:
        for phase in phases:
            if (event, phase) not in cells:
                if otherwise is None:
                    expected = f"a ruling for {event} in {phase}, or a catch-all"
                    raise section.error("otherwise", expected, "no ruling and no catch-all")
                cells[event, phase] = otherwise
