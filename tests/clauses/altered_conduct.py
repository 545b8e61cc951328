"""Every alteration of what surrounds a round: people, limits, equipment, settings, readings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from taisai.rules.equipment import InspectedBefore, LimitPolicy, PermittedMeans
from taisai.rules.people import HigherMayAct
from taisai.rules.settings import RulesPart
from tests.clauses.altering import GONE, Alteration, Data, Entry, entries, put, ranks_of, worded

ANOTHER_NUMBER = {
    "id": "another_number",
    "changes": "limits",
    "least": 1,
    "most": 9,
    "default": "1",
    "says": "A number.",
    "clause": "house:limits",
}
"""A setting that no document has, for something to be tied to."""


def people(book: Data) -> Iterator[Alteration]:
    """The ladder, and who acts and decides."""
    whole = Entry(book, ("people",), None)
    yield from whole.each_other("second", ranks_of(book))
    yield from _placing(book)
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


def _placing(book: Data) -> Iterator[Alteration]:
    if "placing" not in book["people"]:
        for rank in ranks_of(book):
            by = {"by": [rank], "clause": book["people"]["rank"][0]["clause"]}
            yield Entry(book, ("people",), None).with_key("placing", by)
        return
    placing = Entry(book, ("people", "placing"), book["people"]["placing"]["clause"])
    yield placing.without()
    yield placing.other_clause()
    for rank in ranks_of(book):
        others = [one for one in placing.data["by"] if one != rank]
        yield placing.with_key("by", others if rank in placing.data["by"] else [*others, rank])


def limits(book: Data) -> Iterator[Alteration]:
    """What becomes of a bet outside the limits."""
    another = {**book, "setting": [*book["setting"], ANOTHER_NUMBER]}
    for key, cited in (("under_minimum", "under_clause"), ("over_maximum", "over_clause")):
        side = Entry(another, ("limits",), book["limits"][cited])
        yield side.other_clause(cited)
        for policy in LimitPolicy:
            if policy != side.data[key]:
                changed = {**side.data, key: str(policy)}
                changed.pop("memory", None)
                if changed["under_minimum"] == "settle-once":
                    changed["memory"] = ANOTHER_NUMBER["id"]
                yield side.altered(f"{key} → {policy}", {**another, "limits": changed})
    if "memory" in book["limits"]:
        side = Entry(another, ("limits",), book["limits"]["under_clause"])
        yield side.with_key("memory", ANOTHER_NUMBER["id"])


def equipment(book: Data) -> Iterator[Alteration]:
    """Every item, its figures and its inspections."""
    for item in entries(book, "equipment"):
        yield item.without()
        yield item.other_clause()
        yield item.with_key("id", "something-else")
        for key in ("least_tumbles", "hours_on_table"):
            was = item.data.get(key, 0)
            for value in {was + 1, was - 1, GONE} - {-1} if was else {3}:
                yield item.with_key(key, value)
        yield from item.each_other("custody", ranks_of(book))
        for key in ("custody", "when"):
            if key in item.data:
                yield item.with_key(key, GONE)
        for when in worded(book):
            if item.data.get("when") != when:
                yield item.with_key("when", when)
        yield from _means(item)
        yield from _excludes(book, item)
        if "inspection" in item.data:
            yield from _inspections(book, item)


def _means(item: Entry) -> Iterator[Alteration]:
    was = item.data.get("means", [])
    for one in map(str, PermittedMeans):
        others = [other for other in was if other != one]
        yield item.with_key("means", (others or GONE) if one in was else [*was, one])
    if len(was) > 1:
        yield item.with_key("means", was[::-1])


def _excludes(book: Data, item: Entry) -> Iterator[Alteration]:
    items = [one["id"] for one in book["equipment"]]
    if "excludes" not in item.data:
        for other in items:
            yield item.with_key("excludes", {"item": other, "clause": item.data["clause"]})
        return
    excludes = Entry(book, (*item.path, "excludes"), item.data["excludes"]["clause"])
    yield excludes.without()
    yield excludes.other_clause()
    yield from excludes.each_other("item", items)


def _inspections(book: Data, item: Entry) -> Iterator[Alteration]:
    for one in entries(book, *item.path, "inspection"):
        yield one.without()
        yield one.other_clause()
        yield from one.each_other("by", ranks_of(book))
        yield from one.each_other("before", list(InspectedBefore))
        yield one.with_key("runs", one.data["runs"] + 1)
        if one.data["runs"] > 1:
            yield one.with_key("runs", one.data["runs"] - 1)


def settings(book: Data) -> Iterator[Alteration]:
    """Every setting: what it changes, what it takes, its default."""
    for one in entries(book, "setting", clause=None):
        yield one.without()
        yield from one.each_other("changes", list(RulesPart))
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
