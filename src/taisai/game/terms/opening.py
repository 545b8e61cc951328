"""Opening a table and the terms it is played under: settings, odds, limits, days, shifts, shutting."""

from __future__ import annotations

import datetime
from typing import Final

from taisai.game.checks import bad_name, bad_text, between_rounds, listed, refused, supervisor, two_people
from taisai.game.equipment.items import PlacedItem
from taisai.game.messages import Events
from taisai.game.money.ledger import Account, UnbalancedError
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_TERMS, SHUT, Deciders, Effects, Person, Table
from taisai.game.terms import messages
from taisai.game.terms.terms import Basis, digest_of, fault_of, terms_of
from taisai.game.vocabulary import FLOOR, SYSTEM, Means, folded
from taisai.rules.clauses import Clause
from taisai.rules.equipment import InspectedBefore
from taisai.rules.errors import OfferError, RulesError
from taisai.rules.vocabulary import Act

TABLE: Final = Clause("house:table")
DAY: Final = Clause("house:day")
TERMS: Final = Clause("house:terms")
MOST_DAYS: Final = (
    7  # that pass at once: after a longer time, or with a wrong clock, two people begin the day
)
LEFT_BEHIND: Final = (
    Account.CREDITS, Account.CLAIMS_OF_PLAYERS, Account.CLAIMS_ON_PLAYERS, Account.CHIPS, Account.DROP
)  # fmt: skip
"""What must be empty when a table is closed."""


def open_table(table: Table, command: messages.OpenTable) -> Events | Refusal:
    """The first command of a stream."""
    if table.open or table.name:
        return refused(Reason.TABLE_OPEN, TABLE, f"table {table.name} was opened already")
    book = table.book
    refusal = bad_name("a table's name", command.table) or bad_name("a person's name", command.by)
    refusal = refusal or bad_name("a currency", command.currency) or bad_name("a time zone", command.zone)
    refusal = refusal or _bad_day(command.day)
    if refusal:
        return refusal
    if folded(command.by) in SYSTEM:
        return refused(Reason.NOT_PERMITTED, TABLE, f"only a person may open a table, not {command.by!r}")
    if command.rank not in book.people.ranks() or not book.people.at_least(command.rank, book.people.second):
        message = f"only the {book.people.second} or a higher rank may open a table, not {command.rank!r}"
        return refused(Reason.NOT_PERMITTED, TABLE, message)
    try:
        settings = book.chosen(command.settings)
        layout = book.layout_id(command.layout)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, TABLE, str(error))
    if fault := _bad_terms(table, settings, command.offers, command.limits):
        return fault
    return (
        messages.TableOpened(
            at=command.at, by=command.by, clause=TABLE, table=command.table, rulebook=book.id,
            digest=book.digest, settings=settings, offers=dict(command.offers), limits=command.limits,
            layout=layout, currency=command.currency, day=command.day, zone=command.zone,
            rank=command.rank, demonstration=command.demonstration,
        ),
    )  # fmt: skip


def _bad_terms(
    table: Table, settings: dict[str, str], offers: dict[str, str], limits: messages.Limits
) -> Refusal | None:
    fault = fault_of(limits, table.book)
    if fault:
        return Refusal(Reason.BAD_VALUE, Clause("house:limits"), fault)
    is_full = len(table.in_force) >= MOST_TERMS
    if is_full and digest_of(table.book, settings, offers, limits) not in table.in_force:
        message = f"the table has had {MOST_TERMS} different limits and odds, the most: take earlier ones"
        return refused(Reason.TOO_MANY, "house:most", message)
    try:
        terms_of(table.book, settings, offers, limits)
    except RulesError as error:
        clause = TERMS
        if isinstance(error, OfferError) and table.practice > 1:
            clause = Clause(error.clause)
        return Refusal(Reason.BAD_VALUE, clause, str(error))
    return None


def _bad_day(day: str) -> Refusal | None:
    try:
        if datetime.date.fromisoformat(day).isoformat() == day:
            return None
    except ValueError:
        pass
    return refused(Reason.BAD_VALUE, DAY, f"expected a gaming day such as 2026-11-15, got {repr(day)[:40]}")


def close_table(table: Table, command: messages.CloseTable) -> Events | Refusal:
    """Closes the table; no money may be left in the tray, the drop box, on seats or as claims."""
    if refusal := supervisor(table, command.by, TABLE) or between_rounds(table, TABLE):
        return refusal
    balances = table.ledger.balances
    left = [f"{account} {balances[account]}" for account in LEFT_BEHIND if balances[account]]
    if left:
        return refused(Reason.UNMET_NEED, TABLE, f"money is left on the table: {listed(left)}")
    waiting = [referral.id for referral in table.referrals.values() if referral.decided_by is None]
    if waiting:
        return refused(Reason.ON_HOLD, TABLE, f"referrals wait for a decision: {listed(waiting)}")
    return (messages.TableClosed(at=command.at, by=command.by, clause=TABLE),)


def begin_day(table: Table, command: messages.BeginDay) -> Events | Refusal:
    """A gaming day, later than the one before; the server itself begins the calendar's."""
    is_by_clock = command.by == FLOOR and command.calendar != ""
    refusal = None if is_by_clock else supervisor(table, command.by, DAY)
    if refusal := refusal or between_rounds(table, DAY) or _bad_day(command.day):
        return refusal
    if command.day <= table.day:
        return refused(Reason.BAD_VALUE, DAY, f"expected a day after {table.day}, got {command.day}")
    takes_two = _takes_two(table, command)
    if takes_two and (refusal := _off_calendar(table, command)):
        return refusal
    second = command.second if takes_two else None
    return (messages.DayBegun(at=command.at, by=command.by, clause=DAY, day=command.day, second=second),)


def _takes_two(table: Table, command: messages.BeginDay) -> bool:
    """Whether the day is not the calendar's, or so far from the table's that the clock may be wrong."""
    if not command.calendar:
        return False
    return command.day != command.calendar or _is_far(table, command)


def _is_far(table: Table, command: messages.BeginDay) -> bool:
    passed = datetime.date.fromisoformat(command.day) - datetime.date.fromisoformat(table.day)
    return passed.days > MOST_DAYS and not table.demonstration


def _off_calendar(table: Table, command: messages.BeginDay) -> Refusal | None:
    """Why a day that takes two people may not begin: it is not the next one, or there is no second person."""
    if refusal := _bad_day(command.calendar):
        return refusal
    latest = latest_day(command.calendar)
    if command.day not in (command.calendar, latest):
        wanted = f"the gaming day {command.calendar}, or with a second person {latest}"
        return refused(Reason.BAD_VALUE, DAY, f"expected {wanted}, got {command.day}")
    if command.by == FLOOR and not _is_far(table, command):
        return None  # the server brings the other tables to the day that two people began at one
    return two_people(table, command.by, command.second, clause=DAY)


def latest_day(calendar: str) -> str:
    """The latest gaming day that may begin: the one after the calendar's.

    >>> latest_day("2026-02-28")
    '2026-03-01'
    """
    return (datetime.date.fromisoformat(calendar) + datetime.timedelta(days=1)).isoformat()


def begin_shift(table: Table, command: messages.BeginShift) -> Events | Refusal:
    refusal = supervisor(table, command.by, DAY) or between_rounds(table, DAY)
    refusal = refusal or bad_name("a shift's name", command.shift)
    if refusal:
        return refusal
    return (messages.ShiftBegun(at=command.at, by=command.by, clause=DAY, shift=command.shift),)


def _may_change(table: Table, by: str, second: str | None) -> Refusal | None:
    """Why the limits or odds may not be changed now, or not by these people."""
    return supervisor(table, by, TERMS) or two_people(table, by, second) or between_rounds(table, TERMS)


def set_limits(table: Table, command: messages.SetLimits) -> Events | Refusal:
    """Other limits from the next round on."""
    refusal = _may_change(table, command.by, command.second)
    if refusal := refusal or _bad_terms(table, table.settings, table.offers, command.limits):
        return refusal
    assert command.second is not None
    return (
        messages.LimitsSet(
            at=command.at, by=command.by, clause=TERMS, limits=command.limits, second=command.second
        ),
    )


def offer_odds(table: Table, command: messages.OfferOdds) -> Events | Refusal:
    """Other odds from the next round on."""
    refusal = _may_change(table, command.by, command.second)
    if refusal := refusal or _bad_terms(table, table.settings, command.offers, table.limits):
        return refusal
    assert command.second is not None
    return (
        messages.OddsOffered(
            at=command.at, by=command.by, clause=TERMS, offers=dict(command.offers), second=command.second
        ),
    )


def shut(table: Table, command: messages.Shut) -> Events | Refusal:
    """No round opens until the table is reopened; the current round goes on."""
    if refusal := supervisor(table, command.by, SHUT) or bad_text("a reason", command.reason, least=1):
        return refusal
    if table.shut is not None:
        return refused(Reason.TABLE_SHUT, SHUT, f"the table is shut already: {table.shut}")
    return (messages.TableShut(at=command.at, by=command.by, clause=SHUT, reason=command.reason),)


def reopen(table: Table, command: messages.Reopen) -> Events | Refusal:
    """A shut table may be played again, its equipment in order."""
    refusal = supervisor(table, command.by, SHUT)
    refusal = refusal or two_people(table, command.by, command.second, clause=SHUT)
    refusal = refusal or bad_text("a reason", command.reason, least=1)
    if refusal:
        return refusal
    if table.shut is None:
        return refused(Reason.OUT_OF_ORDER, SHUT, "the table is not shut")
    item = table.equipment.failed(table.settings)
    if item:
        return refused(Reason.UNMET_NEED, SHUT, f"{item} is missing or out of order")
    assert command.second is not None
    return (
        messages.TableReopened(
            at=command.at, by=command.by, clause=SHUT, reason=command.reason, second=command.second
        ),
    )


def on_table_opened(table: Table, event: messages.TableOpened) -> None:
    if (event.rulebook, event.digest) != (table.book.id, table.book.digest):
        got = f"{table.book.id} {table.book.digest}"
        raise UnbalancedError(f"expected the rulebook {event.rulebook} {event.digest}, got {got}")
    table.name, table.open = event.table, True
    table.settings, table.offers, table.limits = _sorted(event.settings), _sorted(event.offers), event.limits
    table.layout, table.currency = event.layout, event.currency
    table.day, table.zone, table.demonstration = event.day, event.zone, event.demonstration
    table.people[event.by] = Person(event.rank, event.rank)
    for item in table.equipment.in_use(table.settings):
        if item.hours_on_table is None:
            table.equipment.place(item.id, PlacedItem(event.at, "", None))
    put_in_force(table)


def _sorted(values: dict[str, str]) -> dict[str, str]:
    """In one order, whether the event was just decided or read from the journal."""
    return dict(sorted(values.items()))


def put_in_force(table: Table) -> None:
    """Compiles the terms, and gives each seat the terms of its layout."""
    basis = Basis(dict(table.settings), dict(table.offers), table.limits)
    table.digest = digest_of(table.book, *basis)
    if table.digest not in table.in_force:
        table.in_force.add(table.digest, basis, terms_of(table.book, *basis))
    table.terms = table.in_force[table.digest]
    table.bet_clause = table.means.get(Means.CASH_CHIPS) or table.clause_of(Act.OPEN_BETS)
    for seat in table.seats.values():
        seat.terms = table.terms.get(seat.layout)


def on_table_closed(table: Table, _event: messages.TableClosed) -> None:
    table.open = False


def on_day(table: Table, event: messages.DayBegun) -> None:
    table.day = event.day
    table.equipment.begin(InspectedBefore.OPENING)
    if table.practice == 1:
        table.tolerated = {}


def on_shift(table: Table, event: messages.ShiftBegun) -> None:
    table.shift = event.shift
    table.equipment.begin(InspectedBefore.SHIFT)


def on_limits(table: Table, event: messages.LimitsSet) -> None:
    table.limits = event.limits
    put_in_force(table)


def on_odds(table: Table, event: messages.OddsOffered) -> None:
    table.offers = _sorted(event.offers)
    put_in_force(table)


def on_shut(table: Table, event: messages.TableShut) -> None:
    table.shut, table.shut_by = event.reason, event.clause
    if table.round is None:  # an order for the end of the current round stays
        table.shut_after = None


def on_table_reopened(table: Table, _event: messages.TableReopened) -> None:
    """Rounds open again, after the inspections that come before opening."""
    table.shut, table.shut_by = None, SHUT
    table.equipment.begin(InspectedBefore.OPENING)


def gaming_day(at: int, zone: datetime.tzinfo, begins: datetime.time = datetime.time(6)) -> str:
    """The gaming day of a moment in milliseconds since 1970: what is played at night is still yesterday's.

    >>> singapore = datetime.timezone(datetime.timedelta(hours=8))
    >>> gaming_day(1_763_243_999_000, singapore), gaming_day(1_763_244_000_000, singapore)
    ('2025-11-15', '2025-11-16')
    """
    local = local_time(at, zone)
    day = local.date()
    return (day if local.time() >= begins else day - datetime.timedelta(days=1)).isoformat()


def local_time(at: int, zone: datetime.tzinfo) -> datetime.datetime:
    """A moment by the clock on the casino's wall."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (epoch + datetime.timedelta(milliseconds=at)).astimezone(zone)


DECIDERS: Final[Deciders] = {
    messages.OpenTable: open_table,
    messages.CloseTable: close_table,
    messages.BeginDay: begin_day,
    messages.BeginShift: begin_shift,
    messages.SetLimits: set_limits,
    messages.OfferOdds: offer_odds,
    messages.Shut: shut,
    messages.Reopen: reopen,
}

EFFECTS: Final[Effects] = {
    messages.TableOpened: on_table_opened,
    messages.TableClosed: on_table_closed,
    messages.DayBegun: on_day,
    messages.ShiftBegun: on_shift,
    messages.LimitsSet: on_limits,
    messages.OddsOffered: on_odds,
    messages.TableShut: on_shut,
    messages.TableReopened: on_table_reopened,
}
