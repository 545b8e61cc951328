"""Every alteration of how a rulebook has a round run: steps, recovery, rulings on what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from taisai.rules import Act, Irregularity, Need, Phase, Recovery, Ruling
from taisai.rules.procedure import CLOCK, Declared
from taisai.rules.vocabulary import Visibility
from tests.clauses.altering import GONE, Alteration, Data, Entry, entries, phases_of, put, ranks_of, worded

ADDED = {"ruling": "continue", "clause": "house:void"}
OUT_OF_ORDER = {"act": "conclude", "phases": ["open"], "irregularity": "other"}
"""A ruling and an act out of order that no document has."""


def irregularities(book: Data) -> Iterator[Alteration]:
    """Every ruling: what is ruled, on what, when, by whom, by which clause; the catch-all; void and later."""
    for ruling in entries(book, "irregularities", "ruling"):
        yield ruling.without()
        yield ruling.other_clause()
        yield ruling.next_word("event", Irregularity)
        yield from _other_ruling(ruling)
        yield from _other_phases(ruling)
        yield from _once_seen(ruling)
        if "instead" in ruling.data:
            yield from _instead(ruling)
    otherwise = _within(Entry(book, ("irregularities",), None), "otherwise")
    yield otherwise.other_clause()
    yield from _other_ruling(otherwise)
    for key in ("void", "later"):
        yield Entry(book, ("irregularities",), book["irregularities"][key]).other_clause(key)


def _within(entry: Entry, key: str) -> Entry:
    return Entry(entry.book, (*entry.path, key), entry.data[key]["clause"])


def _other_phases(ruling: Entry) -> Iterator[Alteration]:
    phases, named = phases_of(ruling.book), ruling.data["phases"]
    for phase in phases:
        if named == "all" or phase in named:
            left = [other for other in phases if other != phase and (named == "all" or other in named)]
            if left:
                yield ruling.with_key("phases", left)
        else:
            yield ruling.with_key("phases", [*named, phase])


def _instead(ruling: Entry) -> Iterator[Alteration]:
    instead = _within(ruling, "instead")
    yield ruling.with_key("instead", GONE)
    yield instead.other_clause()
    yield from _other_ruling(instead)
    for when in worded(ruling.book):
        if when != instead.data["when"]:
            yield instead.with_key("when", when)


def _once_seen(ruling: Entry) -> Iterator[Alteration]:
    if "seen" in ruling.data:
        seen = _within(ruling, "seen")
        yield seen.altered("taken out", put(seen.book, seen.path, GONE))
        yield seen.other_clause()
        yield from _other_ruling(seen)
        return
    covered = [phase for phase in phases_of(ruling.book) if Phase(phase).visibility is Visibility.CONCEALED]
    named = phases_of(ruling.book) if ruling.data["phases"] == "all" else ruling.data["phases"]
    if set(covered) & set(named):
        parts = [
            {**ruling.data, "phases": [one for one in named if one not in covered]},
            {**ruling.data, "phases": [one for one in named if one in covered], "seen": ADDED},
        ]
        rulings = [one for one in ruling.book["irregularities"]["ruling"] if one != ruling.data]
        rulings += [part for part in parts if part["phases"]]
        added = put(ruling.book, ("irregularities", "ruling"), rulings)
        # What a clause rules is asked with no die seen: the test that names all that is changed notices.
        yield Alteration(ruling.name, "otherwise once seen", None, added)


def _other_ruling(entry: Entry) -> Iterator[Alteration]:
    bare = {key: value for key, value in entry.data.items() if key not in ("to", "witness")}
    with_someone = {Ruling.REFER: "to", Ruling.SETTLE_THEN_SHUT: "witness"}
    others = [ruling for ruling in Ruling if ruling not in (entry.data["ruling"], *with_someone)]
    for ruling in (others[0], others[-1]):  # the test compares rulings, so that any two show what all would
        changed = put(entry.book, entry.path, {**bare, "ruling": str(ruling)})
        yield entry.altered(f"ruling → {ruling}", changed)
    for ruling, key in with_someone.items():
        for rank in ranks_of(entry.book):
            changed = {**bare, "ruling": str(ruling), key: rank}
            if changed != entry.data:
                yield entry.altered(f"ruling → {ruling}, {rank}", put(entry.book, entry.path, changed))


def procedure(book: Data) -> Iterator[Alteration]:
    """Every phase, step, act out of order and recovery, and from when positions count."""
    for upper, lower in pairwise(entries(book, "procedure", "phase", clause=None)):
        data = put(put(book, upper.path, lower.data), lower.path, upper.data)
        yield upper.altered(f"{upper.data['id']} and {lower.data['id']} change places", data)
    for step in entries(book, "procedure", "step"):
        yield from _step(step)
        yield from _needs(step)
    yield from _out_of_order(book)
    positions = _within(Entry(book, ("procedure",), None), "positions")
    yield positions.other_clause()
    yield from positions.each_other("fixed_by", list(Act))
    yield from _recovery(book)


def _step(step: Entry) -> Iterator[Alteration]:
    phases = phases_of(step.book)
    yield step.without()
    yield step.other_clause()
    yield step.next_word("act", Act)
    yield from step.each_other("by", [CLOCK, *ranks_of(step.book)])
    yield from step.each_other("from", phases)
    yield from step.each_other("to", phases)
    for when in worded(step.book):
        if step.data.get("when") != when:
            yield step.with_key("when", when)
    if "when" in step.data:
        yield step.with_key("when", GONE)


def _needs(step: Entry) -> Iterator[Alteration]:
    had: list[dict[str, Any]] = step.data.get("needs", [])
    for need in entries(step.book, *step.path, "needs") if had else ():
        left = [one for one in had if one != need.data] or GONE
        yield need.altered("taken out", put(step.book, (*step.path, "needs"), left))
        yield need.other_clause()
        yield from need.each_other("need", list(Need))
        yield need.with_key("unmet", GONE if "unmet" in need.data else "other")
        if "unmet" in need.data:
            yield need.next_word("unmet", Irregularity)
    for word in Need:
        if word not in [one["need"] for one in had]:
            added = {"need": str(word), "clause": step.data["clause"]}
            yield step.altered(f"needs {word}", put(step.book, (*step.path, "needs"), [*had, added]))


def _out_of_order(book: Data) -> Iterator[Alteration]:
    had = book["procedure"].get("out_of_order", [])
    added = put(book, ("procedure", "out_of_order"), [*had, OUT_OF_ORDER])
    yield Entry(book, ("procedure",), None).altered("an act out of order added", added)
    for n, one in enumerate(had):
        entry = Entry(book, ("procedure", "out_of_order", n), _ruled_by(book, one))
        yield entry.without()
        yield entry.next_word("irregularity", Irregularity)
        yield from entry.each_other("act", list(Act))
        for phase in phases_of(book):
            if phase not in one["phases"]:
                yield entry.with_key("phases", [*one["phases"], phase])
                yield entry.with_key("phases", [phase])


def _ruled_by(book: Data, out_of_order: Data) -> str:
    """The clause that rules on the irregularity which an act out of order is."""
    for ruling in book["irregularities"]["ruling"]:
        if ruling["event"] == out_of_order["irregularity"] and out_of_order["phases"][0] in ruling["phases"]:
            clause: str = ruling["clause"]
            return clause
    raise LookupError(out_of_order["irregularity"])


def _recovery(book: Data) -> Iterator[Alteration]:
    rules = list(entries(book, "procedure", "recovery"))
    for rule in rules:
        yield rule.without()
        yield rule.other_clause()
        yield from _other_action(rule)
        yield from rule.each_other("declared", list(Declared))
        # A phase that moves to another rule of the same kind leaves no hole for the loader to find.
        for other in rules:
            if other.path == rule.path or other.data.get("declared") != rule.data.get("declared"):
                continue
            for phase in rule.data["phases"]:
                left = [one for one in rule.data["phases"] if one != phase]
                data = put(book, (*other.path, "phases"), [*other.data["phases"], phase])
                data = put(data, (*rule.path, "phases") if left else rule.path, left or GONE)
                yield rule.altered(f"{phase} moved to {other.name}", data)


def _other_action(rule: Entry) -> Iterator[Alteration]:
    bare = {key: value for key, value in rule.data.items() if key != "witness"}
    for action in Recovery:
        witnesses = ranks_of(rule.book) if action is Recovery.SETTLE_THEN_SHUT else [None]
        for rank in witnesses:
            changed = {**bare, "action": str(action), **({"witness": rank} if rank else {})}
            if changed != rule.data:
                yield rule.altered(f"action → {action} {rank or ''}", put(rule.book, rule.path, changed))
