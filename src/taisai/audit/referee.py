"""The referee: every command decided again by the stored rulebook, and compared with what was written."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from taisai.audit.draws import Draws
from taisai.audit.replay import JournalReplay
from taisai.game.events import RoundConcluded, RoundVoided
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.journal.codec import AnyEvent, Entry
from taisai.journal.errors import DamagedError
from taisai.journal.streams import Aggregate, TableStream
from taisai.rules.errors import printable


class RulesCheck(JournalReplay):
    """Decides again, and evolves by what it decided itself."""

    def __init__(self) -> None:
        super().__init__()
        self.events: dict[type[AnyEvent], int] = {}
        """How many events of each kind there were."""
        self.decisions = 0
        """How many commands were decided again."""
        self.clock_went_back = 0
        """How many entries say to be earlier than one before them in their stream."""
        self.draws = Draws()
        self._latest: dict[str, int] = {}
        """Stream → the latest moment that an entry of it names."""

    def take(self, entry: Entry) -> None:
        """The next entry, counted."""
        kind, at = type(entry.event), entry.event.at
        self.events[kind] = self.events.get(kind, 0) + 1
        if at < self._latest.get(entry.stream, 0):
            self.clock_went_back += 1
        else:
            self._latest[entry.stream] = at
        self.draws.follow(entry)
        super().take(entry)

    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """The command that was asked comes to the very entries that were written, or there is a flaw."""
        first = entries[0]
        self.decisions += 1
        decided = aggregate.decide(first.asked)
        if isinstance(decided, Refusal):
            says = f"expected a command that the rules allow, got one that they refuse: {decided}"
            raise DamagedError(first.position, says)
        if decided != tuple([one.event for one in entries]):
            raise _difference(entries, decided)
        for event in decided:
            aggregate.evolve(event)
        for entry in entries:
            self.draws.follow(entry)
            self.draws.take(entry)
        last = type(decided[-1])
        if (last is RoundConcluded or last is RoundVoided) and isinstance(aggregate, TableStream):
            check_books(aggregate.table, entries[-1].position)


def check_books(table: Table, position: int) -> None:
    """What is held is what is owed, and the players' accounts are what their purses hold."""
    balances = table.ledger.balances
    pairs = (
        (table.ledger.difference, 0, "what is held less what is owed"),
        (sum(table.credits), balances[Account.CREDITS], "the players' credits"),
        (sum(table.at_risk), balances[Account.AT_RISK], "the bets on the layout"),
        (sum(table.payable), balances[Account.PAYABLE], "what is to be paid"),
    )
    for got, expected, what in pairs:
        if got != expected:
            raise DamagedError(position, f"expected {what} to be {expected}, got {got}")


def _difference(entries: list[Entry], decided: tuple[AnyEvent, ...]) -> DamagedError:
    """Where what was written parts from what the rules say."""
    for entry, expected in zip(entries, decided, strict=False):
        if entry.event != expected:
            return DamagedError(entry.position, f"expected {_told(expected, entry.event)}")
    expected_count, got = len(decided), len(entries)
    return DamagedError(entries[-1].position, f"expected a decision of {expected_count} entries, got {got}")


def _told(expected: Any, got: Any) -> str:
    if type(expected) is not type(got):
        return f"{_tag(expected)} by the rules, got {_tag(got)}"
    differing = [
        f"{name} {printable(repr(getattr(expected, name)))}, got {printable(repr(getattr(got, name)))}"
        for name in structs.asdict(expected)
        if getattr(expected, name) != getattr(got, name)
    ]
    return f"{_tag(expected)} with {'; '.join(differing)}"


def _tag(event: Any) -> str:
    return str(type(event).__struct_config__.tag)
