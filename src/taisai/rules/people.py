"""People: the ladder of ranks, and who may act for whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause, cited
from taisai.rules.errors import RulesError
from taisai.rules.reading import Section
from taisai.rules.settings import Setting

HIGHER_MAY_ACT: Final = "higher_may_act"
"""The setting that decides it where the document does not."""


class HigherMayAct(StrEnum):
    """Whether a higher position may act for a lower one."""

    YES = "yes"
    NO = "no"
    AS_SET = "as-set"


class Rank(NamedTuple):
    """A position that the document names, or that the house fills where it names none."""

    id: str
    label: str
    label_zh: str
    clause: Clause


class Placing(NamedTuple):
    """Who may place a bet at a player's request before the close."""

    by: tuple[str, ...]
    clause: Clause


class People(NamedTuple):
    """The ladder, lowest first."""

    ladder: tuple[Rank, ...]
    higher_may_act: HigherMayAct
    higher_clause: Clause
    second: str
    """The least rank of the second person where dual control is asked and the document names none."""
    refers_to: str
    """Who decides what the document does not foresee."""
    placing: Placing | None
    """None where the document lets nobody bet for a player."""

    def place(self, rank: str) -> int:
        """How high a rank stands, 0 the lowest."""
        names = [known.id for known in self.ladder]
        if rank not in names:
            raise RulesError(f"expected one of {', '.join(names)}, got {rank!r}")
        return names.index(rank)

    def may_act(self, *, holder: str, position: str, settings: Mapping[str, str]) -> bool:
        """Whether a person of one rank may do what is another's to do."""
        if self.place(holder) <= self.place(position):
            return holder == position
        if self.higher_may_act is HigherMayAct.AS_SET:
            return settings[HIGHER_MAY_ACT] == HigherMayAct.YES
        return self.higher_may_act is HigherMayAct.YES


def read_people(book: Section, settings: Mapping[str, Setting], known: Mapping[Clause, object]) -> People:
    """The book's people."""
    section = book.table("people")
    ladder = []
    for entry in section.tables("rank"):
        ladder.append(
            Rank(entry.text("id"), entry.text("en"), entry.text("zh"), cited(entry, "clause", known))
        )
        if ladder[-1].id in [rank.id for rank in ladder[:-1]]:
            raise entry.refused("id", "a rank not yet named", repr(ladder[-1].id))
        entry.done()
    names = tuple(rank.id for rank in ladder)
    for key in ("second", "refers_to"):
        if section.text(key) not in names:
            raise section.refused(key, f"one of {', '.join(names)}", repr(section.text(key)))
    higher = section.choice("higher_may_act", HigherMayAct)
    if higher is HigherMayAct.AS_SET and HIGHER_MAY_ACT not in settings:
        raise section.refused("higher_may_act", f"a setting {HIGHER_MAY_ACT}, where it is 'as-set'", "none")
    clause = cited(section, "higher_clause", known)
    placing = _placing(section, names, known)
    people = People(tuple(ladder), higher, clause, section.text("second"), section.text("refers_to"), placing)
    section.done()
    return people


def _placing(section: Section, names: tuple[str, ...], known: Mapping[Clause, object]) -> Placing | None:
    if not section.has("placing"):
        return None
    entry = section.table("placing")
    by = entry.texts("by")
    entry.no_repeat("by", by)
    for name in by:
        if name not in names:
            raise entry.refused("by", f"one of {', '.join(names)}", repr(name))
    placing = Placing(by, cited(entry, "clause", known))
    entry.done()
    return placing
