"""What differs between two editions of a rulebook, and whether the changelog of the newer one names it.

>>> from taisai.rules import rulebook
>>> found = differences(rulebook("mbs-sic-bo-v6@1"), rulebook("mbs-sic-bo-v6@2"))
>>> [(one.key, one.clauses) for one in found if one.part == "setting" and one.key == "under_minimum_memory"]
[('under_minimum_memory', ('5.10',))]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from taisai.rules.book import Rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause

CONDUCT: Final = (
    "procedure",
    "irregularities",
    "limits",
    "equipment",
    "record",
    "pay_table",
    "area",
    "people",
)
"""The parts that decide what happens at a table. A changelog must name the clauses of what differs there."""
_HEADING: Final = ("id", "edition", "practice", "change")
_KEYS: Final = (
    ("act", "from", "to"), ("irregularity", "act", "phases"), ("event", "phases"), ("phases", "declared"),
    ("first", "second"), ("id",), ("ids",), ("areas",), ("clauses", "reading"), ("clause", "printed"),
)  # fmt: skip
"""What identifies an entry of a list, by the keys that it has."""


class PartDifference(NamedTuple):
    """One entry of a rulebook that differs between two editions."""

    part: str
    """The place in the rulebook, such as 'procedure.step'."""
    key: str
    """What identifies the entry there."""
    clauses: tuple[Clause, ...]
    """The clauses of the document that the two versions of the entry cite."""
    was: str | None
    """The entry in the older edition; None if it is new."""
    now: str | None
    """The entry in the newer edition; None if it is gone."""


def differences(older: Rulebook, newer: Rulebook) -> tuple[PartDifference, ...]:
    """Every entry that differs, in the order of the newer edition; what was only moved does not differ."""
    sections = dict.fromkeys([*newer.data, *older.data])
    return tuple(
        difference
        for name in sections
        if name not in _HEADING
        for difference in _compared(name, older.data.get(name), newer.data.get(name))
    )


def unnamed_clauses(older: Rulebook, newer: Rulebook) -> tuple[Clause, ...]:
    """Clauses whose steps, rulings, limits, equipment or pay differ without an entry of the changelog."""
    named = {clause for change in newer.changes for clause in change.clauses}
    return tuple(
        dict.fromkeys(
            clause
            for difference in differences(older, newer)
            if difference.part.partition(".")[0] in CONDUCT
            for clause in difference.clauses
            if clause not in named
        )
    )


def _compared(part: str, was: Any, now: Any) -> Iterator[PartDifference]:
    if was == now:
        return
    if _is_list(was) or _is_list(now):
        yield from _compared_lists(part, was or [], now or [])
    elif part == "clauses" or (isinstance(was, dict) and isinstance(now, dict) and _has_parts(was, now)):
        was, now = was or {}, now or {}
        for key in dict.fromkeys([*now, *was]):
            if part == "clauses" and was.get(key) != now.get(key):
                yield _difference(part, key, was.get(key), now.get(key), (Clause(key),))
            elif part != "clauses":
                yield from _compared(f"{part}.{key}", was.get(key), now.get(key))
    else:
        yield _difference(part, part.rpartition(".")[2], was, now)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _has_parts(*sections: Mapping[str, Any]) -> bool:
    """Whether a section has entries of its own, so that each is compared by itself."""
    return any(
        isinstance(value, dict) or _is_list(value) for section in sections for value in section.values()
    )


def _compared_lists(part: str, was: list[Any], now: list[Any]) -> Iterator[PartDifference]:
    gone, new = list(was), []
    for entry in now:
        if entry in gone:
            gone.remove(entry)
        else:
            new.append(entry)
    for entry in new:
        before = next((other for other in gone if _key(other) == _key(entry)), None)
        if before is None and (subject := _subject(entry)) is not None:
            same = [other for other in gone if _subject(other) == subject]
            before = same[0] if len(same) == sum(_subject(other) == subject for other in new) == 1 else None
        if before is not None:
            gone.remove(before)
        yield _difference(part, _key(entry), before, entry)
    for entry in gone:
        yield _difference(part, _key(entry), entry, None)


def _difference(
    part: str, key: str, was: Any, now: Any, clauses: tuple[Clause, ...] | None = None
) -> PartDifference:
    cited = dict.fromkeys(
        [*_cited_beside(was, now), *_cited_beside(now, was)] if clauses is None else clauses
    )
    of_document = tuple(clause for clause in cited if clause not in HOUSE_PROCEDURES)
    return PartDifference(
        part, key, of_document, None if was is None else text_of(was), None if now is None else text_of(now)
    )


def _subject(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a ruling is about, with its clause: one whose phases differ is the same ruling."""
    return (entry["event"], str(entry.get("clause"))) if "event" in entry else None


def _key(entry: Mapping[str, Any]) -> str:
    """What identifies an entry of a list."""
    for keys in _KEYS:
        if keys[0] in entry:
            return " ".join(text_of(entry[key]) for key in keys if key in entry)
    return text_of(entry)


def _cited_beside(value: Any, other: Any) -> Iterator[Clause]:
    """The clauses of an entry itself, and of those of its keys that the other edition has in another way."""
    if isinstance(value, dict) and isinstance(other, dict):
        changed = {name for name in value if other.get(name) != value[name]}
        prefixes = {name.partition("_")[0] for name in changed}
        own = {name for name in value if name.endswith("_clause") and name.partition("_")[0] in prefixes}
        names = changed | own | {"clause", "clauses"}
        yield from _cited({name: part for name, part in value.items() if name in names})
    else:
        yield from _cited(value)


def _cited(value: Any, key: str = "") -> Iterator[Clause]:
    """The clauses that an entry cites, wherever they stand in it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _cited(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _cited(part, key)
    elif isinstance(value, str) and (key.endswith(("clause", "clauses")) or key in _CLAUSE_KEYS):
        yield Clause(value)


_CLAUSE_KEYS: Final = ("before_close", "after_close", "loses", "loses_on_triple", "wins_on_triple")


def text_of(value: Any) -> str:
    """A value of a rulebook in one readable line."""
    match value:
        case dict():
            return "; ".join(f"{key} {text_of(part)}" for key, part in value.items())
        case list():
            return ", ".join(
                f"({text_of(part)})" if isinstance(part, dict) else text_of(part) for part in value
            )
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
