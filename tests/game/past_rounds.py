"""A shelf for rounds that are over, and tables that are put there and taken up again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from taisai.game import Table, snapshot
from taisai.game.commands import Limits
from taisai.game.rounds.round import Round
from taisai.game.snapshot import loading, write_round, write_table
from taisai.game.terms import opening, terms
from taisai.game.terms.terms import Terms, digest_of, terms_of
from taisai.rules import Rulebook
from tests.game import snapshots


class SnapshotStore:
    """Number → the bytes of a round that is over."""

    def __init__(self) -> None:
        self.rounds: dict[int, bytes] = {}
        self.loaded: list[int] = []
        """The numbers of the rounds that were asked for, in that order."""

    def load(self, number: int) -> Round:
        """A round from its bytes."""
        self.loaded.append(number)
        return loading(self.rounds.__getitem__)(number)

    def save(self, table: Table) -> None:
        """Writes down whatever is new or was corrected."""
        for number, round_ in table.rounds.unsaved().items():
            self.rounds[number] = write_round(round_)

    def put_away(self, table: Table, *, keep: int = 0) -> None:
        """Writes it down, and lets the table forget it."""
        self.save(table)
        table.rounds.put_away(keep=keep)

    def taken_up(self, book: Rulebook, data: bytes) -> Table:
        """The table of a snapshot, its rounds on the shelf."""
        return snapshot.read_table(book, data, self.load)

    def again(self, table: Table) -> Table:
        """A table written down with its rounds and taken up again."""
        self.save(table)
        return self.taken_up(table.book, write_table(table))


def unlike(table: Table, other: Table) -> list[str]:
    """What a table and the one that was made again from its snapshot differ in."""
    is_, was = snapshots.snapshot(other), snapshots.snapshot(table)
    differ = [name for name in was if was[name] != is_[name]]
    differ += [f"order of {name}" for name in _ORDERED if list(was[name]) != list(is_[name])]
    if not differ and write_table(table) != write_table(other):
        differ.append("bytes")
    return differ


_ORDERED = ("people", "holds", "referrals", "claims", "seats", "transfers", "in_force")
"""Dictionaries whose order shows in what a table answers."""


@contextmanager
def compiled_once() -> Iterator[None]:
    """Terms follow from book, settings, odds and limits alone; thousands of tables need not compile them."""
    known: dict[str, dict[str, Terms]] = {}

    def remembered(
        book: Rulebook, settings: dict[str, str], offers: dict[str, str], limits: Limits
    ) -> dict[str, Terms]:
        key = digest_of(book, settings, offers, limits)
        if key not in known:
            known[key] = terms_of(book, settings, offers, limits)
        return known[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "terms_of", remembered)
        patched.setattr(terms, "terms_of", remembered)
        yield
