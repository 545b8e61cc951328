"""A journal re-proved in the tests' own words: chain, places, decisions, and each command decided once more."""

from __future__ import annotations

from typing import Any

from taisai.game import Table, decide, evolve
from taisai.game.cage import House, decide_house, evolve_house
from taisai.game.events import TableOpened
from taisai.house.checkpoint import read_signed
from taisai.house.codec import HOUSE, NOTHING_BEFORE, Entry
from taisai.house.journal import Journal
from taisai.house.merkle import leaf_hash, root_of
from taisai.house.records import STREAM


def flaws(journal: Journal) -> list[str]:
    """Everything that is wrong with a journal."""
    rows = list(journal.store.rows())
    leaves = [leaf_hash(row.body) for row in rows]
    entries = list(journal.entries())
    previous = [NOTHING_BEFORE, *(leaf.hex() for leaf in leaves)]
    found = [
        f"entry {entry.position}: expected the chain to hold, got another predecessor"
        for entry, before in zip(entries, previous, strict=False)
        if entry.previous != before
    ]
    for sealed in journal.store.checkpoints():
        read = read_signed(sealed.text)
        if read.checkpoint.size > len(leaves) or read.checkpoint.root != root_of(
            leaves[: read.checkpoint.size]
        ):
            found.append(f"expected a checkpoint over {sealed.size} entries that are there, got others")
    return found + _undecided(journal, entries)


def _undecided(journal: Journal, entries: list[Entry]) -> list[str]:
    """Decisions that are not whole, or that the rules would not take again."""
    found: list[str] = []
    house, tables = House(), dict[str, Table]()
    place = 0
    while place < len(entries):
        first = entries[place]
        decision = entries[place : place + first.more + 1]
        place += len(decision)
        if [entry.more for entry in decision] != list(range(first.more, -1, -1)):
            found.append(f"entry {first.position}: expected a whole decision, got a part")
        if first.stream == STREAM:
            continue
        events: list[Any] = [entry.event for entry in decision]
        asked: Any = first.asked
        if first.stream == HOUSE:
            answer: object = decide_house(house, asked)
            for event in events:
                evolve_house(house, event)
            difference = house.ledger.difference
        else:
            if isinstance(events[0], TableOpened):
                tables[first.stream] = Table(journal.rulebook(events[0].digest))
            table = tables[first.stream]
            answer = decide(table, asked)
            for event in events:
                evolve(table, event)
            difference = table.ledger.difference
        if answer != tuple(events):
            found.append(f"entry {first.position}: expected what the rules decide, got something else")
        if difference:
            found.append(f"entry {first.position}: expected balanced books, got {difference} too much")
    return found
