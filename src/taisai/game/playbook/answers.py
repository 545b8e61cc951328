"""The answers of a table as a playbook writes them: events, refusals, the result of each stake, and facts."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import NODEFAULT

from taisai.game.betting.messages import BetRegistered, RecordedBet
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.messages import Event, tag_of
from taisai.game.money.ledger import Account
from taisai.game.playbook.command_lines import (
    PlaybookSyntaxError,
    UnknownWordError,
    fields_of,
    keyword,
    pieces,
    written,
)
from taisai.game.refusals import Refusal
from taisai.game.rounds.messages import RoundResettled, RoundSettled
from taisai.game.rounds.settlement import bet_records
from taisai.game.table import Seat, Table
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means
from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.settlement import BetRecord

NOTHING: Final = "+ nothing"
"""The answer to a harmless retry."""
_HIDDEN: Final = frozenset({"at", "by", "clause", "terms", "digest", "day"})
"""Fields that a playbook leaves out; digests change with every word of a rulebook."""


def event_line(event: Event) -> str:
    """An event: its tag, its clause, and its fields that are not at their defaults."""
    return f"+ {tag_of(type(event))} [{event.clause}] {', '.join(_shown_fields(event))}".rstrip()


def _shown_fields(event: Event) -> list[str]:
    if isinstance(event, BetRegistered):
        at_request = ["at-request yes"] if event.at_request else []
        bet = f"{written(event.area)} {event.stake}"
        return [event.id, f"seat {event.seat}", bet, event.means, f"layout {event.layout}", *at_request]
    texts = []
    for field in fields_of(type(event)):
        value = getattr(event, field.name)
        default = field.default is not NODEFAULT and value == field.default
        if field.name in _HIDDEN or default or value is None or value in ("", (), {}):
            continue
        if isinstance(value, RecordedBet):
            bet = f"{value.id} seat {written(value.seat)} {written(value.area)} {value.stake} {value.means}"
            texts.append(f"{keyword(field.name)} {bet}")
        elif isinstance(value, Limits):
            texts += limit_texts(value)
        else:
            texts.append(f"{keyword(field.name)} {written(value)}")
    return texts


def limit_texts(limits: Limits) -> list[str]:
    """Limits in the form of a header."""
    texts = [f"{limits.least} to {limits.most}"]
    texts += [f"{name} {least} to {most}" for name, (least, most) in limits.groups.items()]
    return texts + ([f"exposure {limits.exposure}"] if limits.exposure is not None else [])


def refusal_line(refusal: Refusal) -> str:
    """A refusal: why, by which clause, and which bet it concerns."""
    bet = f" bet {written(refusal.bet)}" if refusal.bet is not None else ""
    return f"! {refusal.reason} [{refusal.clause}]{bet}"


def share_line(share: Share) -> str:
    """The result of a stake."""
    means = "" if share.means is Means.CREDITS else f" {share.means}"
    head = f"* seat {share.seat}{means}, {share.area} {share.stake}"
    got = f"returned {share.returned}" if share.returned else "lost"
    match share.limited:
        case LimitEffect.NOT:
            return f"{head}: {got} [{share.clause}]"
        case LimitEffect.UNDER_ONCE:
            return f"{head}: {got} [{share.clause}], {share.limited} [{share.limits_clause}]"
        case _:
            return f"{head}: {share.limited}, {got} [{share.limits_clause}]"


class LimitEffect(StrEnum):
    """How the limits affected a stake."""

    NOT = "not"
    OVER_RETURNED = "over the maximum"
    """It was above the maximum and was returned."""
    UNDER_RETURNED = "under the minimum"
    """It was under the minimum and was returned."""
    UNDER_ONCE = "under the minimum, once"
    """It was under the minimum and was settled once."""


class Share(NamedTuple):
    """The result of one player's stake on one area."""

    seat: str
    means: Means
    layout: str
    area: AreaId
    stake: int
    returned: int
    """Of stake and winnings together; 0 where it lost."""
    clause: Clause
    limited: LimitEffect = LimitEffect.NOT
    limits_clause: Clause | None = None


def shares(table: Table, event: Event) -> tuple[Share, ...]:
    """What the settlement of an event gave to each stake, in the order of the bets; () for other events."""
    if isinstance(event, RoundSettled):
        round_ = table.round
    elif isinstance(event, RoundResettled):
        is_current = table.round is not None and table.round.number == event.round
        round_ = table.round if is_current else table.past(event.round)
    else:
        return ()
    assert round_ is not None
    stakes: dict[tuple[str, Means, str, str], list[BetRecord[BetRegistered]]] = {}
    sums: dict[tuple[str, str, str], int] = {}
    for record in bet_records(table, round_, round_.live()):
        bet = record.bet
        purse = Means.CASH_CHIPS if bet.means is Means.PLAQUES else bet.means
        stakes.setdefault((bet.seat, purse, bet.layout, bet.area), []).append(record)
        cell = (bet.seat, bet.layout, bet.area)
        sums[cell] = sums.get(cell, 0) + bet.stake
    parts: list[Share] = []
    for (seat, means, layout, area), records in stakes.items():
        terms = table.in_force[round_.terms][layout]
        parts += _split(table, terms, records, means, sums[seat, layout, area])
    return tuple(parts)


def _split(
    table: Table, terms: Terms, records: list[BetRecord[BetRegistered]], means: Means, lying: int
) -> list[Share]:
    """The part of a stake that was in play, and the part that the limits returned."""
    first, limits = records[0], table.book.limits
    row = terms.rows[first.area]
    kept = sum(record.kept_out for record in records)
    in_play = sum(record.stake for record in records) - kept
    area, clause = terms.matrix.areas[row], first.clause
    assert clause is not None
    parts: list[Share] = []
    if in_play:
        returned = sum(record.returned for record in records) - kept
        once = lying < terms.least[row]
        parts.append(
            Share(first.bet.seat, means, terms.layout, area, in_play, returned, clause,
                  LimitEffect.UNDER_ONCE if once else LimitEffect.NOT, limits.under_clause if once else None)
        )  # fmt: skip
    if kept:
        over = lying > terms.most[row]
        limited = LimitEffect.OVER_RETURNED if over else LimitEffect.UNDER_RETURNED
        by = limits.over_clause if over else limits.under_clause
        parts.append(Share(first.bet.seat, means, terms.layout, area, kept, kept, clause, limited, by))
    return parts


_FACT: Final = re.compile(r"=\s*(books|claims|accounts|table|seat\s+(?P<seat>[^:]+?))\s*:\s*(?P<rest>.*)")
_COMPLETE: Final = ("books", "claims")
"""Subjects that are shown completely: every account that is not empty, every open claim."""
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
    """A line that begins with '=': its subject, and which figures of it are shown."""

    subject: str
    """'books', 'claims', 'accounts', 'table' or 'seat'."""
    seat: str
    names: tuple[str, ...]

    def line(self, table: Table) -> str:
        """The line with the figures of now."""
        head = f"= seat {self.seat}" if self.subject == "seat" else f"= {self.subject}"
        return f"{head}: {', '.join(self._values(table)) or 'none'}"

    def _values(self, table: Table) -> list[str]:
        balances = table.ledger.balances
        match self.subject:
            case "books":
                return [f"{account} {balance}" for account, balance in balances.items() if balance]
            case "claims":
                return [
                    f"{claim.id} {'of' if claim.of_player else 'on'} seat {claim.seat} {claim.amount}"
                    for claim in table.claims.values()
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
    """Parses a line that begins with '='; its figures are compared, not read."""
    match = _FACT.fullmatch(text)
    if match is None:
        raise PlaybookSyntaxError(
            "'= seat 7: …', '= accounts: …', '= table: …', '= books: …' or '= claims: …'", text
        )
    seat = match["seat"] or ""
    subject = "seat" if seat else match[1]
    if subject in _COMPLETE:
        return Fact(subject, "", ())
    known: list[str] = {"seat": list(_OF_SEAT), "table": list(_OF_TABLE)}.get(subject, list(Account))
    names = tuple(words[0] for words in pieces(match["rest"]))
    for name in names:
        if name not in known:
            raise UnknownWordError(name, known)
    if not names:
        raise PlaybookSyntaxError(f"figures of the {subject}, such as '{known[0]} 0'", "nothing")
    return Fact(subject, seat, names)
