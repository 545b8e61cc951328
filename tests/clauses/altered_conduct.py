"""Every alteration of how a rulebook has a game run: rulings, procedure, people, equipment, readings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from taisai.rules.equipment import InspectedBefore
from taisai.rules.irregularities import Irregularity, Ruling
from taisai.rules.limits import LimitPolicy
from taisai.rules.people import HigherMayAct
from taisai.rules.procedure import CLOCK, Act, Bets, Chance, Declared, Need, Recovery
from taisai.rules.settings import Changes
from tests.clauses.altering import GONE, Alteration, Data, Entry, entries, put


def irregularities(book: Data) -> Iterator[Alteration]:
    """Every ruling: what is ruled, on what, when, by whom, by which clause; and the catch-all."""
    phases = [phase["id"] for phase in book["procedure"]["phase"]]
    for ruling in entries(book, "irregularities", "ruling"):
        yield ruling.without()
        yield ruling.other_clause()
        yield ruling.next_word("event", Irregularity)
        yield from _other_ruling(ruling)
        named = ruling.data["phases"]
        for phase in phases:
            if named == "all" or phase in named:
                left = [other for other in phases if other != phase and (named == "all" or other in named)]
                if left:
                    yield ruling.with_key("phases", left)
            else:
                yield ruling.with_key("phases", [*named, phase])
        if "instead" in ruling.data:
            yield ruling.with_key("instead", GONE)
            instead = Entry(book, (*ruling.path, "instead"), ruling.data["instead"]["clause"])
            yield instead.other_clause()
            yield from _other_ruling(instead)
    catch_all = book["irregularities"]["otherwise"]
    otherwise = Entry(book, ("irregularities", "otherwise"), catch_all["clause"])
    yield otherwise.other_clause()
    yield from _other_ruling(otherwise)


def _ranks(book: Data) -> list[str]:
    return [rank["id"] for rank in book["people"]["rank"]]


def _other_ruling(entry: Entry) -> Iterator[Alteration]:
    bare = {key: value for key, value in entry.data.items() if key != "to"}
    others = [ruling for ruling in Ruling if ruling not in (entry.data["ruling"], Ruling.REFER)]
    for ruling in (others[0], others[-1]):  # the test compares rulings, so that any two show what all would
        changed = put(entry.book, entry.path, {**bare, "ruling": str(ruling)})
        yield entry.altered(f"ruling → {ruling}", changed)
    for rank in _ranks(entry.book):
        if rank != entry.data.get("to"):
            changed = put(entry.book, entry.path, {**bare, "ruling": "refer", "to": rank})
            yield entry.altered(f"ruling → refer to {rank}", changed)


def procedure(book: Data) -> Iterator[Alteration]:
    """Every phase, step and recovery."""
    settings = {one["id"]: one["choices"] for one in book["setting"] if "choices" in one}
    phases = [phase["id"] for phase in book["procedure"]["phase"]]
    for phase in entries(book, "procedure", "phase"):
        yield from phase.each_other("bets", list(Bets))
        yield from phase.each_other("chance", list(Chance))
    for step in entries(book, "procedure", "step"):
        yield step.without()
        yield step.other_clause()
        yield step.next_word("act", Act)
        yield from step.each_other("by", [CLOCK, *_ranks(book)])
        yield from step.each_other("from", phases)
        yield from step.each_other("to", phases)
        yield from step.each_dropped("needs")
        for need in Need:
            if need not in step.data.get("needs", []):
                yield step.with_key("needs", [*step.data.get("needs", []), str(need)])
        for name, choices in settings.items():
            for value in choices:
                if step.data.get("when") != {name: value}:
                    yield step.with_key("when", {name: value})
        if "when" in step.data:
            yield step.with_key("when", GONE)
    yield from _recovery(book)


def _recovery(book: Data) -> Iterator[Alteration]:
    rules = list(entries(book, "procedure", "recovery"))
    for rule in rules:
        yield rule.without()
        yield rule.other_clause()
        yield from rule.each_other("action", list(Recovery))
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


def people(book: Data) -> Iterator[Alteration]:
    """The ladder, and who acts and decides."""
    whole = Entry(book, ("people",), None)
    for key in ("second", "refers_to"):
        yield from whole.each_other(key, _ranks(book))
    higher = Entry(book, ("people",), book["people"]["higher_clause"])
    yield higher.other_clause("higher_clause")
    yield from higher.each_other("higher_may_act", list(HigherMayAct))
    ranks = list(entries(book, "people", "rank"))
    for rank in ranks:
        yield rank.without()
        yield rank.other_clause()
        yield rank.with_key("id", "someone-else")
    for lower, upper in pairwise(ranks):
        data = put(put(book, lower.path, upper.data), upper.path, lower.data)
        for rank in (lower, upper):
            yield rank.altered(f"{lower.data['id']} and {upper.data['id']} change places", data)


def limits(book: Data) -> Iterator[Alteration]:
    """What becomes of a bet outside the limits."""
    for key, cited in (("under_minimum", "under_clause"), ("over_maximum", "over_clause")):
        side = Entry(book, ("limits",), book["limits"][cited])
        yield side.other_clause(cited)
        yield from side.each_other(key, list(LimitPolicy))


def equipment(book: Data) -> Iterator[Alteration]:
    """Every item, its figures and its inspections."""
    settings = {one["id"]: one["choices"] for one in book["setting"] if "choices" in one}
    for item in entries(book, "equipment"):
        yield item.without()
        yield item.other_clause()
        yield item.with_key("id", "something-else")
        for key in ("least_tumbles", "hours_on_table"):
            was = item.data.get(key, 0)
            for value in {was + 1, was - 1, GONE} - {-1} if was else {3}:
                yield item.with_key(key, value)
        yield from item.each_other("excludes", [one["id"] for one in book["equipment"]])
        for key in ("excludes", "when"):
            if key in item.data:
                yield item.with_key(key, GONE)
        for name, choices in settings.items():
            for value in choices:
                if item.data.get("when") != {name: value}:
                    yield item.with_key("when", {name: value})
        if "inspection" in item.data:
            yield from _inspections(book, item)


def _inspections(book: Data, item: Entry) -> Iterator[Alteration]:
    for one in entries(book, *item.path, "inspection"):
        yield one.without()
        yield one.other_clause()
        yield from one.each_other("by", _ranks(book))
        yield from one.each_other("before", list(InspectedBefore))
        yield one.with_key("runs", one.data["runs"] + 1)
        if one.data["runs"] > 1:
            yield one.with_key("runs", one.data["runs"] - 1)


def settings(book: Data) -> Iterator[Alteration]:
    """Every setting: what it changes, what it takes, its default."""
    for one in entries(book, "setting", clause=None):
        yield one.without()
        yield from one.each_other("changes", list(Changes))
        if "choices" in one.data:
            yield from one.each_other("default", one.data["choices"])
            yield one.with_key("choices", [*one.data["choices"], "something-else"])
        else:
            yield one.with_key("default", str(int(one.data["default"]) + 1))
            yield one.with_key("least", one.data["least"] + 1)
            yield one.with_key("most", one.data["most"] + 1)


def readings(book: Data) -> Iterator[Alteration]:
    """Every interpretation and erratum: that it is there, the clauses it reads, what it reads instead."""
    for reading in entries(book, "interpretation", clause=None):
        yield reading.without()
        yield reading.with_key("clauses", [*reading.data["clauses"], next(iter(book["clauses"]))])
        if "setting" in reading.data:
            yield reading.with_key("setting", GONE)
    for misprint in entries(book, "erratum", clause=None):
        yield misprint.without()
        yield misprint.other_clause()
        yield misprint.with_key("printed", "something else")
        if misprint.data["read"][0].isdigit():
            yield misprint.with_key("read", "something else")
