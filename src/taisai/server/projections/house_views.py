"""The lobby, the pit, the cage and the books: views of all tables and the House together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from taisai.cage import House, how_to_finish, unfinished
from taisai.cage.messages import ClockJumped, DiceAlarmNoted, OverrideNoted, PersonLocked
from taisai.cage.transfers import MissingSide
from taisai.game import Account, Ledger, Table, exposures
from taisai.protocol.views import (
    Alarm,
    Books,
    BooksView,
    CageView,
    Flight,
    LargeWin,
    LobbyTable,
    LobbyView,
    PitTable,
    PitView,
    TableClaims,
    Words,
)
from taisai.server.projections.history import History
from taisai.server.projections.labels import board_of, claim_line, phase_label, title_of, waiting
from taisai.server.projections.table import denominations, limits_range

MOST_WAITING: Final = 20  # referrals of a table that the pit is shown
MOST_QUICK: Final = 6  # amounts that the cage is offered to sell
MOST_WINS: Final = 50  # the latest large wins that the pit is shown
MOST_CLAIMS: Final = 100  # of a table that the cage is shown


def lobby_view(tables: Mapping[str, tuple[Table, History]]) -> LobbyView:
    """Every table that one may go to."""
    return LobbyView(
        tables=tuple(_in_lobby(table, history) for table, history in tables.values() if table.open)
    )


def _in_lobby(table: Table, history: History) -> LobbyTable:
    least, most = limits_range(table)
    return LobbyTable(
        name=table.name,
        title=title_of(table),
        rulebook=table.book.id,
        phase=str(table.phase),
        label=phase_label(table),
        bets_open=table.phase.bets_open,
        number=table.round.number if table.round else len(table.rounds),
        last=history.last,
        operator=table.book.operator,
        least=least,
        most=most,
        currency=table.currency,
        demonstration=table.demonstration,
        shut=table.shut is not None,
    )


def pit_view(house: House, tables: Mapping[str, Table], alarms: tuple[Alarm, ...] = ()) -> PitView:
    """Every table, and what needs someone's attention; alarms come from outside."""
    return PitView(
        tables=tuple(_in_pit(table) for table in tables.values() if table.name),
        alarms=alarms,
        wins=tuple(
            LargeWin(table=table, round=number, seat=seat, won=won)
            for (table, number, seat), won in islice(reversed(house.wins.items()), MOST_WINS)
        ),
        locked=tuple(sorted(house.locked)),
    )


def _in_pit(table: Table) -> PitTable:
    board = board_of(table)
    return PitTable(
        name=table.name,
        title=title_of(table),
        phase=str(table.phase),
        label=phase_label(table),
        number=table.round.number if table.round else len(table.rounds),
        dealer=table.dealer(),
        shut=board.shut,
        hold=board.hold,
        says=board.says,
        clause=board.clause,
        referrals=waiting(table, MOST_WAITING),
        staked=table.round.staked if table.round else 0,
        worst=max(exposures(table)),
    )


def cage_view(
    house: House, tables: Mapping[str, Table], transit: TransfersInTransit | None = None
) -> CageView:
    """The cage; give `transit` where it is shown again and again."""
    transit = transit or TransfersInTransit()
    transit.catch_up(house, tables)
    balances = house.ledger.balances
    return CageView(
        house=house.name,
        currency=house.currency,
        quick=_quick(tables.values()),
        cash=balances[Account.CAGE],
        outstanding=balances[Account.TICKETS],
        flights=transit.flights(),
        claims=tuple(_table_claims(table) for table in tables.values() if table.claims),
    )


def _quick(tables: Iterable[Table]) -> tuple[int, ...]:
    """A few round amounts: the greatest chips that are played with anywhere."""
    chips = {
        chip
        for table in tables
        if table.open
        for chip in denominations(table.limits.least, table.limits.most)
    }
    return tuple(sorted(chips))[-MOST_QUICK:]


def _table_claims(table: Table) -> TableClaims:
    balances = table.ledger.balances
    return TableClaims(
        table=table.name,
        to_players=balances[Account.CLAIMS_OF_PLAYERS],
        by_players=balances[Account.CLAIMS_ON_PLAYERS],
        claims=tuple(map(claim_line, islice(table.claims.values(), MOST_CLAIMS))),
    )


def alarm_of(event: object) -> Alarm | None:
    """What the pit is told of an event, if it is told anything."""
    match event:
        case DiceAlarmNoted():
            says = Words(
                en=f"Dice {event.serial} look unfair: {event.results} results counted, e = {event.e_value}",
                zh=f"骰子 {event.serial} 疑似不公平：已计 {event.results} 次，e = {event.e_value}",
            )
            return Alarm(at=event.at, about=event.table, says=says)
        case ClockJumped():
            says = Words(en=f"The clock was set by {event.jump} ms", zh=f"时钟被调整 {event.jump} 毫秒")
            return Alarm(at=event.at, about="floor", says=says)
        case OverrideNoted():
            says = Words(en=f"{event.person}: {event.detail}", zh=f"{event.person}：{event.detail}")
            return Alarm(at=event.at, about=event.table, says=says)
        case PersonLocked():
            says = Words(en=f"{event.person} is locked", zh=f"{event.person} 已被锁定")
            return Alarm(at=event.at, about="floor", says=says)
        case _:
            return None


class _Booked(NamedTuple):
    """A side's record of a transfer."""

    kind: str
    amount: int
    subject: str


class TransfersInTransit:
    """Follows the transfers of both sides, of which there are ever more, looking at new ones only."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._ours: dict[tuple[str, str], _Booked] = {}
        self._theirs: dict[tuple[str, str], _Booked] = {}
        self._seen: dict[str, int] = {}
        """Table → how many of its transfers have been looked at; '' is the House."""

    @classmethod
    def of(cls, house: House, tables: Mapping[str, Table]) -> TransfersInTransit:
        """As things stand."""
        made = cls()
        made.catch_up(house, tables)
        return made

    def catch_up(self, house: House, tables: Mapping[str, Table]) -> None:
        """What has been booked since the last time."""
        new = len(house.transfers) - self._seen.get("", 0)
        self._seen[""] = len(house.transfers)
        for kept in islice(reversed(house.transfers.values()), new):
            subject = kept.claim or kept.ticket or kept.seat or ""
            self._book(
                self._ours, self._theirs, (kept.table, kept.id), _Booked(kept.kind, kept.signed, subject)
            )
        for name, table in tables.items():
            new = len(table.transfers) - self._seen.get(name, 0)
            self._seen[name] = len(table.transfers)
            for id_, moved in islice(reversed(table.transfers.items()), new):
                booked = _Booked(moved.kind, moved.amount, moved.subject)
                self._book(self._theirs, self._ours, (name, id_), booked)

    @staticmethod
    def _book(
        mine: dict[tuple[str, str], _Booked],
        other: dict[tuple[str, str], _Booked],
        key: tuple[str, str],
        booked: _Booked,
    ) -> None:
        answer = other.get(key)
        if answer is not None and answer.amount + booked.amount == 0:
            del other[key]
        else:
            mine[key] = booked

    def flights(self, table: str | None = None) -> tuple[Flight, ...]:
        """Everything that is under way, or what concerns one table."""
        keys = sorted(self._ours.keys() | self._theirs.keys())
        return tuple(self._flight(key) for key in keys if table in (None, key[0]))

    def _flight(self, key: tuple[str, str]) -> Flight:
        ours, theirs = self._ours.get(key), self._theirs.get(key)
        told = self._theirs[key] if ours is None else ours
        by = "both" if ours and theirs else "table" if theirs else "house"
        table, name = key
        return Flight(
            id=name, table=table, kind=str(told.kind), amount=abs(told.amount), booked_by=by,
            subject=told.subject,
        )  # fmt: skip


def books_view(house: House, tables: Mapping[str, Table]) -> BooksView:
    """Every account, what is in transit, and what does not agree."""
    books = [_books("", house.ledger), *(_books(name, table.ledger) for name, table in tables.items())]
    off = tuple(_off(house, tables))
    total = sum(one.held - one.owed for one in books)
    return BooksView(
        currency=house.currency,
        books=tuple(books),
        in_transit=TransfersInTransit.of(house, tables).flights(),
        sum=total,
        balanced=not off and total == 0,
        off=off,
    )


def _books(of: str, ledger: Ledger) -> Books:
    balances = ledger.balances
    return Books(
        of=of,
        accounts={str(account): balance for account, balance in balances.items() if balance},
        held=sum(balance for account, balance in balances.items() if account.held),
        owed=sum(balance for account, balance in balances.items() if not account.held),
    )


def _off(house: House, tables: Mapping[str, Table]) -> Iterator[str]:
    """Ledgers that do not sum to zero, accounts that are not what their parts are, contradicted transfers."""
    if house.ledger.difference:
        yield f"expected the House's accounts to sum to zero, got {house.ledger.difference}"
    tickets = house.ledger.balances[Account.TICKETS]
    if tickets != house.outstanding:
        yield f"expected {house.outstanding} owed to the holders of tickets, got {tickets}"
    yield from _in_transit("the House", house.ledger, [one.signed for one in house.transfers.values()])
    for name, table in tables.items():
        yield from _off_at(name, table)
    for one in unfinished(house, {name: table.in_transit() for name, table in tables.items()}):
        if one.missing is MissingSide.AGREEMENT:
            yield how_to_finish(one)


def _off_at(name: str, table: Table) -> Iterator[str]:
    ledger = table.ledger
    if ledger.difference:
        yield f"expected the accounts of {name} to sum to zero, got {ledger.difference}"
    owed = [claim.amount for claim in table.claims.values() if claim.of_player]
    due = [claim.amount for claim in table.claims.values() if not claim.of_player]
    for account, parts in (
        (Account.CREDITS, sum(table.credits)),
        (Account.AT_RISK, sum(table.at_risk)),
        (Account.PAYABLE, sum(table.payable)),
        (Account.CLAIMS_OF_PLAYERS, sum(owed)),
        (Account.CLAIMS_ON_PLAYERS, sum(due)),
    ):
        if ledger.balances[account] != parts:
            yield f"expected {parts} as {account} of {name}, got {ledger.balances[account]}"
    yield from _in_transit(name, ledger, list(table.in_transit().values()))


def _in_transit(name: str, ledger: Ledger, amounts: list[int]) -> Iterator[str]:
    due = sum(amount for amount in amounts if amount > 0)
    owed = -sum(amount for amount in amounts if amount < 0)
    for account, parts in ((Account.TRANSIT_DUE, due), (Account.TRANSIT_OWED, owed)):
        if ledger.balances[account] != parts:
            yield f"expected {parts} as {account} of {name}, got {ledger.balances[account]}"
