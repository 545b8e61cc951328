"""The lobby, the pit, the cage and the books: views of all tables and the House together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from taisai.cage import House, how_to_finish, unfinished
from taisai.cage.credentials import ALTERED, RecoveredAccess
from taisai.cage.messages import (
    ClockJumped,
    DiceAlarmNoted,
    OverAgeNoted,
    OverrideNoted,
    PersonLocked,
    SignInFailed,
    WitnessOverridden,
)
from taisai.cage.transfers import MissingSide
from taisai.game import Account, Ledger, Table, exposures
from taisai.game.events import RecordCorrected, RoundEntered, SettlementEntered
from taisai.game.table import ArchivedTransfers
from taisai.journal import Distrusted
from taisai.protocol import views
from taisai.protocol.views import Words
from taisai.server.projections import texts
from taisai.server.projections.by_hand_offers import ROUND_ALARM, SETTLEMENT_ALARM
from taisai.server.projections.history import History
from taisai.server.projections.record_offers import RECORD_ALARM, RECORD_CHANGES
from taisai.server.projections.table import denominations, limits_range

MOST_WAITING: Final = 20  # referrals of a table in the view of the pit
MOST_QUICK: Final = 6  # amounts of tickets offered to the cage
MOST_WINS: Final = 50  # the latest large wins in the view of the pit
MOST_CLAIMS: Final = 100  # of a table in the view of the cage
CREDENTIALS: Final = "staff/"
"""How the names of credentials in the vault begin."""


def _summary(table: Table) -> dict[str, Any]:
    """What the lobby and the pit show alike."""
    return {
        "name": table.name, "title": texts.title_of(table.book), "phase": str(table.phase),
        "label": texts.phase_label(table, table.phase),
        "number": table.round.number if table.round else len(table.rounds),
    }  # fmt: skip


def lobby_view(tables: Mapping[str, tuple[Table, History]]) -> views.LobbyView:
    """Every open table."""
    return views.LobbyView(
        tables=tuple(_in_lobby(table, history) for table, history in tables.values() if table.open)
    )


def _in_lobby(table: Table, history: History) -> views.LobbyTable:
    least, most = limits_range(table)
    return views.LobbyTable(
        **_summary(table), rulebook=table.book.id, bets_open=table.phase.bets_open, last=history.last,
        operator=table.book.operator, least=least, most=most, currency=table.currency,
        demonstration=table.demonstration, shut=table.shut is not None,
    )  # fmt: skip


def pit_view(
    house: House,
    tables: Mapping[str, Table],
    alarms: tuple[views.Alarm, ...] = (),
    no_money: Words | None = None,
    unopened: tuple[str, ...] = (),
) -> views.PitView:
    """Every table, and what needs attention.

    The caller gives the alarms, why no money leaves, and which tables were never opened.
    """
    recovered = (_recovered(person, recovery) for person, recovery in house.recovered.items())
    return views.PitView(
        tables=tuple(_in_pit(table) for table in tables.values() if table.name),
        alarms=(*alarms, *recovered),
        wins=tuple(
            views.LargeWin(table=table, round=number, seat=seat, won=won)
            for (table, number, seat), won in islice(reversed(house.wins.items()), MOST_WINS)
        ),
        locked=tuple(sorted(house.locked)),
        no_money=no_money,
        unopened=unopened,
    )


def _recovered(person: str, recovery: RecoveredAccess) -> views.Alarm:
    """The alarm that stays until somebody acknowledges it in the office."""
    en = f"Access was recovered for {person} with the house's key: {recovery.reason}. Acknowledge it"
    zh = f"已用本场密钥为 {person} 恢复登录：{recovery.reason}。请在办公室页确认"
    return views.Alarm(at=recovery.at, about="house", says=Words(f"{en} in the office", zh))


def _in_pit(table: Table) -> views.PitTable:
    stoppage = msgspec.structs.asdict(texts.stoppage_of(table))
    del stoppage["closed"]
    return views.PitTable(
        **_summary(table),
        **stoppage,
        dealer=table.dealer(),
        referrals=tuple(map(texts.referral_line, texts.waiting(table, MOST_WAITING))),
        reports=len(table.reports),
        staked=table.round.staked if table.round else 0,
        worst=max(exposures(table)),
    )


def cage_view(
    house: House, tables: Mapping[str, Table], tracker: TransferTracker | None = None
) -> views.CageView:
    """The cage. Give `tracker` for repeated calls: it reads only new transfers."""
    tracker = tracker or TransferTracker()
    tracker.catch_up(house, tables)
    balances = house.ledger.balances
    return views.CageView(
        house=house.name, currency=house.currency, quick=_quick(tables.values()),
        cash=balances[Account.CAGE], outstanding=balances[Account.TICKETS],
        in_transit=tracker.in_transit(),
        claims=tuple(_table_claims(table) for table in tables.values() if table.claims),
    )  # fmt: skip


def _quick(tables: Iterable[Table]) -> tuple[int, ...]:
    """A few round amounts: the greatest chips of the open tables."""
    chips = {
        chip
        for table in tables
        if table.open
        for chip in denominations(table.limits.least, table.limits.most)
    }
    return tuple(sorted(chips))[-MOST_QUICK:]


def _table_claims(table: Table) -> views.TableClaims:
    balances = table.ledger.balances
    return views.TableClaims(
        table=table.name,
        to_players=balances[Account.CLAIMS_OF_PLAYERS],
        by_players=balances[Account.CLAIMS_ON_PLAYERS],
        claims=texts.claim_lines(table.claims.values(), MOST_CLAIMS),
    )


def alarm_of(event: object) -> views.Alarm | None:
    """The alarm of an event for the pit; None if it has none."""
    match event:
        case DiceAlarmNoted():
            about = event.table
            en = f"Dice {event.serial} may be unfair: {event.results} results, e-value {event.e_value}"
            zh = f"骰子 {event.serial} 可能不公平：共 {event.results} 次结果，e 值 {event.e_value}"
        case OverAgeNoted():
            about = event.table
            en = f"{event.item} ({event.serial}): more than {event.hours} hours on the table. Replace them"
            zh = f"{event.item}（{event.serial}）在桌上已超过 {event.hours} 小时，请更换"
        case ClockJumped():
            about = "house"
            en, zh = f"The server's clock jumped by {event.jump} ms", f"服务器时钟跳变 {event.jump} 毫秒"
        case OverrideNoted():
            about = event.table
            en, zh = f"{event.person}: {event.detail}", f"{event.person}：{event.detail}"
        case WitnessOverridden():
            about = "house"
            who, hours = f"{event.by} and {event.second}", event.hours
            en = f"{who} let money leave for {hours} hours while a witness is silent: {event.reason}"
            zh = f"{event.by} 与 {event.second} 允许资金在见证方无应答时离场 {hours} 小时：{event.reason}"
        case PersonLocked():
            about = "house"
            en, zh = f"{event.person} is locked", f"{event.person} 已被锁定"
        case SignInFailed() if event.why == ALTERED:
            about = "house"
            en = f"The stored credentials of {event.person} were changed outside the server. Give a new code"
            zh = f"{event.person} 的登录凭据在服务器之外被改动，请发新的激活码"
        case _:
            return None
    return views.Alarm(at=event.at, about=about, says=Words(en, zh))


def copied_key_alarm(at: int, table: str, device: str, *, older: str, newer: str) -> views.Alarm:
    """The alarm of a device that is on two connections."""
    en = (
        f"{device} connected from {newer} while its connection from {older} was open, which was closed. "
        "If nobody restarted it, its key may be copied"
    )
    zh = (
        f"{device} 在 {older} 的连接未断时又从 {newer} 连接，旧连接已关闭。"
        "若无人重启该设备，其密钥可能已被复制"
    )
    return views.Alarm(at=at, about=table, says=Words(en, zh))


def storage_alarm(found: Distrusted, at: int) -> views.Alarm:
    """The alarm of stored bytes that someone without the house key has written or changed."""
    if found.kind == "vault" and found.name.startswith(CREDENTIALS):
        person = found.name.removeprefix(CREDENTIALS)
        en = (
            f"The stored password of {person} has no valid code of this house. They cannot sign in: give a "
            "new code for a first sign-in"
        )
        zh = f"{person} 的已存密码没有本场的有效验证码，无法登录：请发新的激活码"
    elif found.kind == "vault":
        en = f"The stored secret {found.name} has no valid code of this house and is not used"
        zh = f"已存机密 {found.name} 没有本场的有效验证码，不予使用"
    else:
        en = f"The stored {found} has no valid code of this house: made again from the entries"
        zh = f"已存数据 {found} 没有本场的有效验证码：已从日志重新生成"
    en, zh = f"{en}. Someone has changed the file of the journal", f"{zh}。有人改动了日志文件"
    return views.Alarm(at=at, about="house", says=Words(en, zh))


def audit_alarm(problem: str, at: int) -> views.Alarm:
    """The alarm of a background audit that found another journal than the start did."""
    en = f"The background audit found a difference in the journal: {problem}. Stop, and restore a backup"
    zh = f"后台审计发现日志有差异：{problem}。请停机并恢复备份"
    return views.Alarm(at=at, about="house", says=Words(en, zh))


def table_alarm(table: str, event: object) -> views.Alarm | None:
    """The alarm for the pit of a corrected record, or of what was done by hand and entered afterwards."""
    if not isinstance(event, RecordCorrected | RoundEntered | SettlementEntered):
        return None
    by, reason = Words(event.by, event.by), Words(event.reason, event.reason)
    if isinstance(event, RecordCorrected):
        change = RECORD_CHANGES[event.change]
        says = texts.filled(RECORD_ALARM, round=event.round, by=by, change=change, reason=reason)
    else:
        alarm = ROUND_ALARM if isinstance(event, RoundEntered) else SETTLEMENT_ALARM
        second = Words(event.second, event.second)
        says = texts.filled(alarm, round=event.round, by=by, second=second, reason=reason)
    return views.Alarm(at=event.at, about=table, says=says)


class _Booked(NamedTuple):
    """One side's record of a transfer."""

    kind: str
    amount: int
    subject: str


class TransferTracker:
    """Finds the transfers that only one side has booked. It reads only new transfers."""

    def __init__(self) -> None:
        self._ours: dict[tuple[str, str], _Booked] = {}
        self._theirs: dict[tuple[str, str], _Booked] = {}
        self._seen: dict[str, int] = {}
        """Table → how many of its transfers were read; '' is the House."""

    def catch_up(self, house: House, tables: Mapping[str, Table]) -> None:
        """Reads the transfers booked since the last call."""
        ever = len(house.transfers) + house.archived.number
        new = ever - self._seen.get("", 0)
        self._seen[""] = ever
        for kept in islice(reversed(house.transfers.values()), new):
            subject = kept.claim or kept.ticket or kept.seat or ""
            self._book(
                self._ours, self._theirs, (kept.table, kept.id), _Booked(kept.kind, kept.signed, subject)
            )
        for name, table in tables.items():
            ever = len(table.transfers) + table.archived.number
            new = ever - self._seen.get(name, 0)
            self._seen[name] = ever
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

    def in_transit(self, table: str | None = None) -> tuple[views.TransferInTransit, ...]:
        """All transfers in transit, or those of one table."""
        keys = sorted(self._ours.keys() | self._theirs.keys())
        return tuple(self._transfer(key) for key in keys if table in (None, key[0]))

    def _transfer(self, key: tuple[str, str]) -> views.TransferInTransit:
        ours, theirs = self._ours.get(key), self._theirs.get(key)
        booked = self._theirs[key] if ours is None else ours
        by = "both" if ours and theirs else "table" if theirs else "house"
        table, name = key
        return views.TransferInTransit(
            id=name, table=table, kind=str(booked.kind), amount=abs(booked.amount), booked_by=by,
            subject=booked.subject,
        )  # fmt: skip


def books_view(house: House, tables: Mapping[str, Table]) -> views.BooksView:
    """Every account, transfers in transit, and disagreements."""
    books = [_books("", house.ledger), *(_books(name, table.ledger) for name, table in tables.items())]
    off = tuple(_off(house, tables))
    tracker = TransferTracker()
    tracker.catch_up(house, tables)
    total = sum(account.held - account.owed for account in books)
    return views.BooksView(
        currency=house.currency, books=tuple(books), in_transit=tracker.in_transit(), sum=total,
        balanced=not off and total == 0, off=off,
    )  # fmt: skip


def _books(of: str, ledger: Ledger) -> views.Books:
    balances = ledger.balances
    return views.Books(
        of=of, accounts={str(account): balance for account, balance in balances.items() if balance},
        held=sum(balance for account, balance in balances.items() if account.held),
        owed=sum(balance for account, balance in balances.items() if not account.held),
    )  # fmt: skip


def _off(house: House, tables: Mapping[str, Table]) -> Iterator[str]:
    """Ledgers that do not sum to zero, accounts that differ from their parts, and contradictory transfers."""
    if house.ledger.difference:
        yield f"the House's accounts do not sum to zero but to {house.ledger.difference}"
    tickets = house.ledger.balances[Account.TICKETS]
    if tickets != house.outstanding:
        yield f"the account of tickets has {tickets}; unredeemed tickets are worth {house.outstanding}"
    yield from _in_transit(
        "the House", house.ledger, house.archived.plus(one.signed for one in house.transfers.values())
    )
    for name, table in tables.items():
        yield from _off_at(name, table)
    for transfer in unfinished(house, {name: table.in_transit() for name, table in tables.items()}):
        if transfer.missing is MissingSide.AGREEMENT:
            yield how_to_finish(transfer)


def _off_at(name: str, table: Table) -> Iterator[str]:
    ledger = table.ledger
    if ledger.difference:
        yield f"the accounts of {name} do not sum to zero but to {ledger.difference}"
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
            yield f"the account {account} of {name} has {ledger.balances[account]}; its parts sum to {parts}"
    yield from _in_transit(name, ledger, table.archived.plus(table.in_transit().values()))


def _in_transit(name: str, ledger: Ledger, ever: ArchivedTransfers) -> Iterator[str]:
    for account, parts in ((Account.TRANSIT_DUE, ever.due), (Account.TRANSIT_OWED, ever.owed)):
        if ledger.balances[account] != parts:
            yield f"the account {account} of {name} has {ledger.balances[account]}; its parts sum to {parts}"
