"""Facts: what a playbook pins of the table after a command, such as `= seat 7: credits 99000`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from taisai.game.irregularities.referrals import open_referrals
from taisai.game.money.ledger import Account
from taisai.game.playbook.values import PlaybookSyntaxError, UnknownWordError, pieces
from taisai.game.seating.seats import Seat
from taisai.game.table import Table

_FACT: Final = re.compile(r"=\s*(books|claims|accounts|table|seat\s+(?P<seat>[^:]+?))\s*:\s*(?P<rest>.*)")
_WHOLLY: Final = ("books", "claims")
"""What is told as a whole: every account that is not empty, every claim that is open."""
_OF_SEAT: Final[dict[str, Callable[[Seat], object]]] = {
    "credits": lambda seat: sum(purse.credits for purse in seat.purses.values()),
    "at-risk": lambda seat: sum(purse.at_risk for purse in seat.purses.values()),
    "payable": lambda seat: sum(purse.payable for purse in seat.purses.values()),
}
_OF_TABLE: Final[dict[str, Callable[[Table], object]]] = {
    "phase": lambda table: table.phase,
    "held": lambda table: " ".join(table.holds) or "no",
    "shut": lambda table: "yes" if table.shut is not None else "no",
    "rounds": lambda table: len(table.rounds),
    "referrals": lambda table: len(open_referrals(table)),
    "claims": lambda table: len(table.claims),
    "cards-left": lambda table: table.shoe.left,
}


class Fact(NamedTuple):
    """What is asked of the table: the subject, and which of its figures."""

    subject: str
    """'books', 'claims', 'accounts', 'table' or 'seat'."""
    seat: str
    names: tuple[str, ...]

    def told(self, table: Table) -> str:
        """The line as it should be now."""
        head = f"= seat {self.seat}" if self.subject == "seat" else f"= {self.subject}"
        return f"{head}: {', '.join(self._values(table)) or 'none'}"

    def _values(self, table: Table) -> list[str]:
        balances = table.ledger.balances
        match self.subject:
            case "books":
                return [f"{account} {balance}" for account, balance in balances.items() if balance]
            case "claims":
                return [
                    f"{one.id} {'of' if one.of_player else 'on'} seat {one.seat} {one.amount}"
                    for one in table.claims.values()
                ]
            case "accounts":
                return [f"{name} {balances[Account(name)]}" for name in self.names]
            case "table":
                return [f"{name} {_OF_TABLE[name](table)}" for name in self.names]
            case _:
                seat = table.seats.get(self.seat)
                if seat is None:
                    return ["no such seat"]
                return [f"{name} {_OF_SEAT[name](seat)}" for name in self.names]


def fact(text: str) -> Fact:
    """What a line that begins with '=' asks of the table; the figures in it are compared, not read."""
    match = _FACT.fullmatch(text)
    if match is None:
        raise PlaybookSyntaxError(
            "'= seat 7: …', '= accounts: …', '= table: …', '= books: …' or '= claims: …'", text
        )
    seat = match["seat"] or ""
    subject = "seat" if seat else match[1]
    if subject in _WHOLLY:
        return Fact(subject, "", ())
    known: list[str] = {"seat": list(_OF_SEAT), "table": list(_OF_TABLE)}.get(subject, list(Account))
    names = tuple(words[0] for words in pieces(match["rest"]))
    for name in names:
        if name not in known:
            raise UnknownWordError(name, known)
    if not names:
        raise PlaybookSyntaxError(f"figures of the {subject}, such as '{known[0]} 0'", "nothing")
    return Fact(subject, seat, names)
