"""Every alteration of what a rulebook pays: pay lines, losing clauses, dice and cards, layouts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from taisai.rules import CATALOGUE, Condition, Odds
from taisai.rules.pay import condition_fault, winning_places
from tests.clauses.altering import GONE, Alteration, Data, Entry, entries, put


def pay(book: Data) -> Iterator[Alteration]:
    """Every pay line: its odds, its condition, its clause, each of its areas."""
    for t, _ in enumerate(book["pay_table"]):
        yield Entry(book, ("pay_table", t), None).other_clause()
        for line in entries(book, "pay_table", t, "pay"):
            yield line.other_clause()
            yield from _other_odds(line)
            yield from _other_condition(line)
            for area in line.data["areas"]:
                yield _area_gone(line, t, area)
                if len(line.data["areas"]) > 1:
                    yield _area_mispriced(line, t, area)


def _moved(odds: str, by: str) -> str:
    return f"{float(Odds.parse(odds).net + Fraction(by)):g} to 1"


def _other_odds(line: Entry) -> Iterator[Alteration]:
    for key in {"odds", "floor", "offered"} & set(line.data):
        yield line.with_key(key, _moved(line.data[key], "1/2"))
        yield line.with_key(key, _moved(line.data[key], "-1/2"))
    if "floor" in line.data:
        raised = {**line.data, "floor": _moved(line.data["floor"], "1/2")}
        raised["offered"] = raised["floor"]
        yield line.altered("floor and offered raised", put(line.book, line.path, raised))
        fixed = {key: value for key, value in line.data.items() if key not in ("floor", "offered")}
        fixed["odds"] = line.data["offered"]
        yield line.altered("floor made fixed odds", put(line.book, line.path, fixed))
    else:
        floored = {key: value for key, value in line.data.items() if key != "odds"}
        floored["floor"] = floored["offered"] = line.data["odds"]
        if (
            line.book["id"] == "us-sic-bo"
        ):  # elsewhere no document knows floors, and none can be offered against
            yield line.altered("fixed odds made a floor", put(line.book, line.path, floored))


def _other_condition(line: Entry) -> Iterator[Alteration]:
    areas = [CATALOGUE[area] for area in line.data["areas"]]
    ways = [(condition, None) for condition in Condition if condition is not Condition.EXACTLY]
    was = Condition(line.data["wins"]), line.data.get("dice")
    for condition, dice in [*ways, *((Condition.EXACTLY, dice) for dice in (1, 2, 3))]:
        if any(condition_fault(condition, numbers, dice) for numbers in areas):
            continue
        if all(
            winning_places(condition, numbers, dice) == winning_places(was[0], numbers, was[1])
            for numbers in areas
        ):
            continue
        changed = {**line.data, "wins": str(condition), "dice": dice}
        if dice is None:
            del changed["dice"]
        yield line.altered(f"wins {condition} {dice or ''}", put(line.book, line.path, changed))
    if "instead" in line.data:
        yield line.with_key("instead", GONE)
        yield line.with_key("instead", {**line.data["instead"], "dice": 1})
        yield line.with_key("instead", {**line.data["instead"], "when": {"double_on_triple": "yes"}})


def _without_area(line: Entry, area: str) -> Data:
    left = [other for other in line.data["areas"] if other != area]
    changed: Data = put(line.book, line.path, {**line.data, "areas": left} if left else GONE)
    return changed


def _area_mispriced(line: Entry, table: int, area: str) -> Alteration:
    key = "odds" if "odds" in line.data else "offered"
    alone = {**line.data, "areas": [area], key: _moved(line.data[key], "1/2")}
    data = _without_area(line, area)
    lines = [*data["pay_table"][table]["pay"], alone]
    return line.altered(f"{area} alone at {alone[key]}", put(data, ("pay_table", table, "pay"), lines))


def _area_gone(line: Entry, table: int, area: str) -> Alteration:
    """The area taken out of the line and, once nothing prices it, off the felt and out of the book."""
    data = _without_area(line, area)
    if not _priced(data["pay_table"][table], area):
        for n, layout in enumerate(data["layout"]):
            if layout["pay_table"] == data["pay_table"][table]["id"]:
                data = put(data, ("layout", n), _blanked(layout, area))
    if not any(_priced(one, area) for one in data["pay_table"]):
        data = {**data, "area": list(_declared_without(data, area))}
    return line.altered(f"{area} taken out", data)


def _priced(table: Data, area: str) -> bool:
    return any(area in line["areas"] for line in table["pay"])


def _blanked(layout: Data, area: str) -> Data:
    def cell(was: Any) -> Any:
        return "" if was == area or (isinstance(was, dict) and area in was.values()) else was

    blocks = [
        {**one, "cells": [[cell(was) for was in row] for row in one["cells"]]} for one in layout["block"]
    ]
    return {**layout, "block": blocks}


def _declared_without(book: Data, area: str) -> Iterator[Data]:
    for entry in book["area"]:
        ids = [other for other in entry["ids"] if other != area]
        if ids:
            yield {**entry, "ids": ids}


def losing(book: Data) -> Iterator[Alteration]:
    """The clauses by which areas lose, and win on a triple."""
    for key in ("loses", "loses_on_triple", "wins_on_triple"):
        for area in entries(book, "area", clause=key):
            if key in area.data:
                yield area.other_clause(key)


def chance(book: Data) -> Iterator[Alteration]:
    """Dice or cards, and how many."""
    entry = Entry(book, ("chance",), book["chance"]["clause"])
    yield entry.other_clause()
    if entry.data["kind"] == "dice":
        cards = {"kind": "cards", "cards_per_face": 8, "least_decks": 2, "most_decks": 6, "decks": 6}
        yield entry.altered("dice → cards", {**book, "chance": {**cards, "clause": entry.data["clause"]}})
        return
    for key in ("cards_per_face", "least_decks", "most_decks", "decks"):
        for step in (1, -1):
            yield entry.with_key(key, entry.data[key] + step)


def layouts(book: Data) -> Iterator[Alteration]:
    """Every felt: its clause, its table, and whatever is said to be the document's drawing."""
    for n, _ in enumerate(book["layout"]):
        layout = Entry(book, ("layout", n), None)
        yield layout.other_clause()
        yield from layout.each_other("pay_table", [table["id"] for table in book["pay_table"]])
        for block in entries(book, "layout", n, "block", clause=None):
            yield from block.each_other("drawing", ["document", "ours"])
            if block.data["drawing"] == "document":
                yield from _other_cells(block)


def _other_cells(block: Entry) -> Iterator[Alteration]:
    for r, row in enumerate(block.data["cells"]):
        for left, right in pairwise(range(len(row))):
            swapped = [*row[:left], row[right], row[left], *row[right + 1 :]]
            yield block.with_key("cells", put(block.data["cells"], (r,), swapped))
        for c, cell in enumerate(row):
            if isinstance(cell, dict):
                yield block.with_key("cells", put(block.data["cells"], (r, c), {"odds_of": "small"}))
            if isinstance(cell, dict) and "dice" in cell:
                yield block.with_key("cells", put(block.data["cells"], (r, c, "dice"), GONE))
