"""The playbooks, played with the terms of each table compiled once and the books looked at all the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from taisai.game import Account, Table
from taisai.game.commands import Limits
from taisai.game.events import Event
from taisai.game.playbook import Play, Playbook, PlayedCommand, playbook
from taisai.game.terms import opening
from taisai.game.terms.terms import Terms, digest_of, terms_of
from taisai.rules import Rulebook, rulebook
from tests.tiers import one_in

book_of = cache(rulebook)
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cases" / "playbooks"
FILES = [*FOLDER.glob("*.round"), ROOT / "src" / "taisai" / "cli" / "tour.round"]
EARLIER = sorted((FOLDER / "edition-1").glob("*.round"))
"""Playbooks of the first editions, which old journals are still decided by."""
PLAYBOOKS = {path.stem: path.read_text("utf-8") for path in FILES}
PLAYBOOKS |= {f"edition-1/{path.stem}": path.read_text("utf-8") for path in EARLIER}
READINGS = {
    f"{path.parent.name}/{path.stem}": path.read_text("utf-8")
    for path in sorted(FOLDER.glob("reading-[a-d]/*.round"))
}
"""Second readings: written from the documents alone, with what they order before it was played."""


def document_of(book: str) -> str:
    """The document of a rulebook, which is the same in each of its editions."""
    return book.partition("@")[0]


each_playbook = pytest.mark.parametrize("name", sorted(PLAYBOOKS))
some_playbooks = pytest.mark.parametrize("name", one_in("playbooks", sorted(PLAYBOOKS), 5))
"""For what takes every playbook apart: every one in a long search."""


class Told(NamedTuple):
    """A playbook played to its end."""

    story: Playbook
    table: Table
    opened: tuple[Event, ...]
    played: tuple[PlayedCommand, ...]

    def events(self) -> list[Event]:
        """All that happened."""
        return [*self.opened, *(event for one in self.played for event in one.events)]


def play(text: str, name: str = "playbook") -> Told:
    """Plays a text, looking at the books after every command."""
    story = playbook(text, name)
    at = Play(story, book_of(story.book))
    played = []
    for one in at.steps():
        assert books_faults(at.table) == []
        played.append(one)
    return Told(story, at.table, at.opened, tuple(played))


@cache
def told(name: str) -> Told:
    return play(PLAYBOOKS[name], name)


def books_faults(table: Table) -> list[str]:
    """What is wrong with the books: unbalanced, overdrawn, or other than the players' purses together."""
    balances = table.ledger.balances
    faults = [f"{account} {balance}" for account, balance in balances.items() if balance < 0]
    if table.ledger.difference:
        faults.append(f"held less owed is {table.ledger.difference}")
    for account, figure in ((Account.CREDITS, "credits"), (Account.AT_RISK, "at_risk")):
        if balances[account] != sum(getattr(purse, figure) for purse in table.purses):
            faults.append(f"purses: {account}")
    if balances[Account.PAYABLE] != sum(purse.payable for purse in table.purses):
        faults.append("purses: payable")
    return faults


@contextmanager
def terms_compiled_once() -> Iterator[None]:
    """Terms follow from book, settings, odds and limits alone; thousands of replays need not compile them."""
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
        yield
