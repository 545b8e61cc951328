"""People: the ladder of ranks, and who may act for whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause, read_clause
from taisai.rules.errors import RulesError
from taisai.rules.settings import Setting
from taisai.rules.toml_reader import Section

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
    placing: Placing | None
    """None where the document lets nobody bet for a player."""

    def ranks(self) -> tuple[str, ...]:
        """The ids of the ladder, lowest first."""
        return tuple(rank.id for rank in self.ladder)

    def place(self, rank: str) -> int:
        """How high a rank stands, 0 the lowest."""
        for place, one in enumerate(self.ladder):
            if one.id == rank:
                return place
        raise RulesError(f"expected one of {', '.join(self.ranks())}, got {rank!r}")

    def at_least(self, holder: str, rank: str) -> bool:
        """Whether a person stands at a rank or above it, as referrals and second persons must."""
        return self.place(holder) >= self.place(rank)

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
    ladder: list[Rank] = []
    for entry in section.tables("rank"):
        rank = Rank(entry.text("id"), entry.text("en"), entry.text("zh"), read_clause(entry, "clause", known))
        if rank.id in [known_rank.id for known_rank in ladder]:
            raise entry.error("id", "a rank not yet named", repr(rank.id))
        ladder.append(rank)
        entry.reject_unknown_keys()
    names = tuple(rank.id for rank in ladder)
    higher = section.choice("higher_may_act", HigherMayAct)
    if higher is HigherMayAct.AS_SET:
        choices = settings[HIGHER_MAY_ACT].choices if HIGHER_MAY_ACT in settings else ()
        if set(choices) != {HigherMayAct.YES, HigherMayAct.NO}:
            expected = f"a setting {HIGHER_MAY_ACT} between yes and no, where it is 'as-set'"
            raise section.error("higher_may_act", expected, ", ".join(choices) or "none")
    clause = read_clause(section, "higher_clause", known)
    second = _rank(section, "second", section.text("second"), names)
    people = People(tuple(ladder), higher, clause, second, _placing(section, names, known))
    section.reject_unknown_keys()
    return people


def _rank(section: Section, key: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise section.error(key, f"one of {', '.join(names)}", repr(name))
    return name


def _placing(section: Section, names: tuple[str, ...], known: Mapping[Clause, object]) -> Placing | None:
    if not section.has("placing"):
        return None
    entry = section.table("placing")
    by = entry.texts("by")
    entry.no_repeat("by", by)
    placing = Placing(
        tuple(_rank(entry, "by", name, names) for name in by), read_clause(entry, "clause", known)
    )
    entry.reject_unknown_keys()
    return placing


def read_rank(section: Section, key: str, people: People) -> str:
    """A rank of the ladder, named under a key."""
    return _rank(section, key, section.text(key), people.ranks())


def read_witness(section: Section, people: People, *, wanted: bool) -> str | None:
    """Who must be present, given with 'settle-then-shut' and with nothing else."""
    if wanted != section.has("witness"):
        got = "nothing" if wanted else "one"
        raise section.error("witness", "a rank, with 'settle-then-shut' and with nothing else", got)
    return read_rank(section, "witness", people) if wanted else None
