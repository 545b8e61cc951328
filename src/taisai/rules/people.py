"""People: the ranks of the staff, and who may act for whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.settings import Setting
from taisai.rules.toml_reader import Section

HIGHER_MAY_ACT: Final = "higher_may_act"
"""The setting for rulebooks with higher_may_act = 'as-set'."""


class HigherMayAct(StrEnum):
    """Whether a higher rank may act for a lower rank."""

    YES = "yes"
    NO = "no"
    AS_SET = "as-set"


class Rank(NamedTuple):
    """A rank of the staff, from the document or added by the house."""

    id: str
    label: str
    label_zh: str
    clause: Clause


class Placing(NamedTuple):
    """The ranks that may place a bet for a player before bets close."""

    by: tuple[str, ...]
    clause: Clause


class People(NamedTuple):
    """The ranks of a rulebook and what each may do."""

    ladder: tuple[Rank, ...]
    """All ranks, lowest first."""
    higher_may_act: HigherMayAct
    higher_clause: Clause
    second: str
    """The lowest rank of the second person for dual control, if the document names none."""
    placing: Placing | None
    """None if the staff may not bet for a player."""

    def ranks(self) -> tuple[str, ...]:
        """The ids of the ranks, lowest first."""
        return tuple(rank.id for rank in self.ladder)

    def place(self, rank: str) -> int:
        """The position of a rank; 0 is the lowest."""
        for place, candidate in enumerate(self.ladder):
            if candidate.id == rank:
                return place
        raise RulesError(f"expected a rank of this rulebook ({', '.join(self.ranks())}), got {rank!r}")

    def at_least(self, holder: str, rank: str) -> bool:
        return self.place(holder) >= self.place(rank)

    def may_act(self, *, holder: str, position: str, settings: Mapping[str, str]) -> bool:
        """Whether a person may do what the rules assign to a position."""
        if self.place(holder) <= self.place(position):
            return holder == position
        if self.higher_may_act is HigherMayAct.AS_SET:
            return settings[HIGHER_MAY_ACT] == HigherMayAct.YES
        return self.higher_may_act is HigherMayAct.YES


def read_people(book: Section, settings: Mapping[str, Setting]) -> People:
    section = book.table("people")
    ladder: list[Rank] = []
    for entry in section.tables("rank"):
        rank = Rank(entry.text("id"), entry.text("en"), entry.text("zh"), entry.clause("clause"))
        if rank.id in [known_rank.id for known_rank in ladder]:
            raise entry.error("id", "an id that no other rank has", repr(rank.id))
        ladder.append(rank)
    names = tuple(rank.id for rank in ladder)
    higher = section.choice("higher_may_act", HigherMayAct)
    if higher is HigherMayAct.AS_SET:
        choices = settings[HIGHER_MAY_ACT].choices if HIGHER_MAY_ACT in settings else ()
        if set(choices) != {HigherMayAct.YES, HigherMayAct.NO}:
            expected = f"a setting {HIGHER_MAY_ACT} with the choices yes and no, because it is 'as-set'"
            raise section.error("higher_may_act", expected, ", ".join(choices) or "no such setting")
    clause = section.clause("higher_clause")
    second = _rank(section, "second", section.text("second"), names)
    return People(tuple(ladder), higher, clause, second, _placing(section, names))


def _rank(section: Section, key: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise section.error(key, f"one of {', '.join(names)}", repr(name))
    return name


def _placing(section: Section, names: tuple[str, ...]) -> Placing | None:
    if not section.has("placing"):
        return None
    entry = section.table("placing")
    by = entry.texts("by")
    entry.no_repeat("by", by)
    return Placing(tuple(_rank(entry, "by", name, names) for name in by), entry.clause("clause"))


class RecordRules(NamedTuple):
    """Who corrects the record of the chips, and by which clause the record follows the chips."""

    by: str
    """The lowest rank that corrects it."""
    clause: Clause


def read_record(book: Section, people: People) -> RecordRules | None:
    if not book.has("record"):
        return None
    section = book.table("record")
    return RecordRules(read_rank(section, "by", people), section.clause("clause"))


def read_rank(section: Section, key: str, people: People) -> str:
    return _rank(section, key, section.text(key), people.ranks())


def read_witness(section: Section, people: People, *, wanted: bool) -> str | None:
    """Reads the rank that must be present; only 'settle-then-shut' has one."""
    if wanted != section.has("witness"):
        expected = "a rank with 'settle-then-shut'" if wanted else "no 'witness' without 'settle-then-shut'"
        raise section.error("witness", expected, section.quoted("witness"))
    return read_rank(section, "witness", people) if wanted else None
