"""Money: double entry in whole minor units. Every account has its side, and none falls below zero on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct

from taisai.rules.clauses import Clause


class Account(StrEnum):
    """Where money is, or to whom it is owed."""

    CREDITS = "credits"
    """Owed to players: credits on terminals, colour chips in their hands."""
    AT_RISK = "at-risk"
    """Owed to players until their round is settled or void: the bets."""
    PAYABLE = "payable"
    """Owed to players by a settlement that is recorded and not yet paid."""
    CLAIMS_OF_PLAYERS = "claims-of-players"
    """Owed to players beyond what could be put back into their purse."""
    HOUSE_WON = "house-won"
    """Collected from losing bets."""
    TICKETS = "tickets"
    """Owed to the holders of tickets."""
    TRANSIT_OWED = "in-transit-owed"
    """Owed to another stream, transfer by transfer."""
    COUNT_OVER = "count-over"
    CAPITAL = "capital"
    """What the house brought in."""

    CHIPS = "chips"
    """Held at the table: chips and plaques in the tray and on the layout."""
    DROP = "drop"
    """Held in the drop box: the cash that players paid at the table."""
    CLAIMS_ON_PLAYERS = "claims-on-players"
    """Due from players who were paid too much."""
    HOUSE_LOST = "house-lost"
    """Paid to winning bets above their stakes."""
    CAGE = "cage"
    """Held at the cage: cash and chips."""
    TRANSIT_DUE = "in-transit-due"
    """Due from another stream, transfer by transfer."""
    COUNT_SHORT = "count-short"

    __hash__ = str.__hash__  # an enumeration's own is written in Python, and every bet looks accounts up

    @property
    def held(self) -> bool:
        """Whether it is something held or due (a debit balance) and not something owed."""
        return self in _HELD


_HELD: Final = frozenset({
    Account.CHIPS, Account.DROP, Account.CLAIMS_ON_PLAYERS, Account.HOUSE_LOST, Account.CAGE,
    Account.TRANSIT_DUE, Account.COUNT_SHORT,
})  # fmt: skip


class LedgerEntry(Struct, frozen=True, gc=False):
    """A change of one account, by a clause."""

    account: Account
    amount: int
    """Positive where the balance grows, on the account's own side."""
    clause: Clause


class UnbalancedError(Exception):
    """Entries that do not sum to zero, or that overdraw an account: a defect, never a refusal."""


@dataclass(slots=True)
class Ledger:
    """The balances of one stream, and the entries of its latest event."""

    balances: dict[Account, int] = field(default_factory=lambda: dict.fromkeys(Account, 0))
    latest: list[LedgerEntry] = field(default_factory=list)

    def post(self, *entries: LedgerEntry) -> None:
        """Books the entries of an event together; they sum to zero and overdraw nothing."""
        balances, total = self.balances, 0
        for entry in entries:
            account, amount = entry.account, entry.amount
            total += amount if account in _HELD else -amount
            balance = balances[account] + amount
            if balance < 0:
                raise UnbalancedError(f"{account} would be {balance} after {entries}")
            balances[account] = balance
        if total:
            raise UnbalancedError(f"expected entries that sum to zero, got {total} from {entries}")
        self.latest += [entry for entry in entries if entry.amount]

    def move(self, source: Account, target: Account, amount: int, clause: Clause) -> None:
        """From one account to another on the same side, or the growth of both on opposite sides."""
        if not amount:
            return
        change = amount if (source in _HELD) is not (target in _HELD) else -amount
        balances = self.balances
        left = balances[source] + change
        if left < 0 or amount < 0:
            raise UnbalancedError(f"{source} would be {left} after {amount} to {target}")
        balances[source] = left
        balances[target] += amount
        latest = self.latest
        latest.append(LedgerEntry(source, change, clause))
        latest.append(LedgerEntry(target, amount, clause))

    def withdraw(self, source: Account, target: Account, amount: int, clause: Clause) -> None:
        """The shrinking of two accounts on opposite sides: something held pays something owed."""
        if amount:
            self.post(LedgerEntry(source, -amount, clause), LedgerEntry(target, -amount, clause))

    @property
    def difference(self) -> int:
        """What is held less what is owed: zero."""
        return sum(balance if account in _HELD else -balance for account, balance in self.balances.items())

    def check(self) -> None:
        """Raises ValueError where a restored ledger has other accounts, or does not balance."""
        if self.balances.keys() != set(Account):
            raise ValueError(f"expected the accounts {', '.join(Account)}, got {', '.join(self.balances)}")
        if self.difference:
            raise ValueError(f"expected a ledger that balances, got a difference of {self.difference}")
