"""Checks that many deciders share: who may act, who must be second, and what a name or an amount may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import DUAL_CONTROL, MOST_TEXT, Table
from taisai.game.vocabulary import MOST_ID, folded, is_name
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError, printable
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Phase

PEOPLE: Final = Clause("house:people")
MOST_AT_ONCE: Final = 1_000_000_000_000
"""Minor units of one sale, fill or payment of the owners: nine thousand of them are the greatest sum."""
AMOUNTS: Final = Clause("house:amounts")
MOST_MESSAGE: Final = 300  # characters of a refusal's message, which quotes values of the command


def refused(reason: Reason, clause: str, message: str, *, sums: tuple[int, ...] = ()) -> Refusal:
    """A refusal whose message is one printable line."""
    return Refusal(reason, Clause(clause), printable(message, MOST_MESSAGE), sums=sums)


def not_open(table: Table) -> Refusal:
    """Why a closed table accepts nothing."""
    message = f"table {table.name} is closed" if table.name else "the table is not open"
    return refused(Reason.TABLE_NOT_OPEN, "house:table", message)


def listed(names: Iterable[object]) -> str:
    """Names with commas, or 'none'."""
    return ", ".join(map(str, names)) or "none"


def shown(faces: Iterable[int]) -> str:
    """Faces with spaces, or 'none'."""
    return " ".join(map(str, faces)) or "none"


def at_table(table: Table, person: str) -> Refusal | None:
    """Why a person may not act at the table at all."""
    if not table.name:
        return not_open(table)
    if person not in table.people:
        message = f"{person!r} is not assigned to the table; assigned: {listed(table.people)}"
        return refused(Reason.UNKNOWN_PERSON, PEOPLE, message)
    return None


def no_seat(table: Table, seat: object, what: str = "seat") -> Refusal:
    """Why nothing can be done for a seat that no player has taken."""
    if not table.open:
        return not_open(table)
    return refused(Reason.UNKNOWN_SEAT, "house:seats", f"{what} {seat} is not taken")


def may_act(table: Table, person: str, position: str, clause: Clause) -> Refusal | None:
    """Why a person may not do what belongs to a position."""
    if absent := at_table(table, person):
        return absent
    holder = table.people[person].position
    if not table.ranks.may_act(holder=holder, position=position, settings=table.settings):
        message = f"only the {position} may do this, not {person} ({holder})"
        return refused(Reason.NOT_PERMITTED, clause, message)
    return None


def at_least(table: Table, person: str, rank: str, clause: Clause) -> Refusal | None:
    """Why a person is below a rank."""
    if absent := at_table(table, person):
        return absent
    holder = table.people[person].position
    if not table.ranks.at_least(holder, rank):
        message = f"only the {rank} or a higher rank may do this, not {person} ({holder})"
        return refused(Reason.NOT_PERMITTED, clause, message)
    return None


def supervisor(table: Table, person: str, clause: Clause) -> Refusal | None:
    """Why a person is below the supervisor's rank."""
    return at_least(table, person, table.ranks.second, clause)


def two_people(
    table: Table, by: str, second: str | None, *, rank: str | None = None, clause: Clause = DUAL_CONTROL
) -> Refusal | None:
    """Why the second person is not accepted: missing, the same, not at the table, or below the rank."""
    rank = rank or table.ranks.second
    if second is None or folded(second) == folded(by):
        problem = f"{second} cannot be the second person too" if second else "the second person is missing"
        return refused(Reason.SECOND_PERSON, clause, f"{problem}: it must be another {rank} or a higher rank")
    if second not in table.people:
        message = f"the second person {second!r} is not assigned to the table"
        return refused(Reason.SECOND_PERSON, clause, message)
    holder = table.people[second].position
    if not table.ranks.at_least(holder, rank):
        message = f"the second person must be {rank} or a higher rank, not {second} ({holder})"
        return refused(Reason.SECOND_PERSON, clause, message)
    return None


def bad_name(what: str, name: object) -> Refusal | None:
    """Why a text cannot be an id or a name."""
    if is_name(name):
        return None
    message = f"expected {what} of 1 to {MOST_ID} printable characters, got {repr(name)[:80]}"
    return refused(Reason.BAD_VALUE, "house:most", message)


def bad_text(what: str, text: object, *, least: int = 0) -> Refusal | None:
    """Why a text cannot be a reason or a detail."""
    if isinstance(text, str) and least <= len(text) <= MOST_TEXT:
        return None
    got = f"{len(text)}" if isinstance(text, str) else repr(text)[:80]
    message = f"expected {what} of {least} to {MOST_TEXT} characters, got {got}"
    return refused(Reason.BAD_VALUE, "house:most", message)


def bad_faces(faces: tuple[int, ...]) -> Refusal | None:
    """Why faces make no outcome."""
    try:
        Outcome.of(*faces)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, Clause("house:order"), str(error))
    return None


def bad_amount(what: str, amount: object, clause: str = "house:stakes") -> Refusal | None:
    """Why a number cannot be an amount."""
    if type(amount) is int and 0 < amount <= GREATEST_SUM:
        return None
    return refused(Reason.BAD_VALUE, clause, f"expected {what} from 1 to 2^53 - 1, got {repr(amount)[:80]}")


def above_most(amount: int, most: int = MOST_AT_ONCE) -> Refusal | None:
    """Why so much cannot move at once."""
    if amount <= most:
        return None
    message = f"expected at most {most:,} at once, got {amount:,}"
    return refused(Reason.BEYOND_GREATEST_SUM, AMOUNTS, message, sums=(most, amount))


def on_hold(table: Table) -> Refusal | None:
    """Why the round is on hold, if it is."""
    if table.held is None:
        return None
    hold, clause = table.held
    return refused(Reason.ON_HOLD, clause, f"the round waits for a {hold}, which comes first")


def money_waits(table: Table, seat: str) -> Refusal | None:
    """Why the money of a seat cannot leave: a report on a round that paid it waits for a second person."""
    for report in table.reports.values():
        number = report.round
        round_ = table.round if table.round and table.round.number == number else table.glance(number or 0)
        if round_ is not None and _was_paid(table, round_, seat):
            message = f"report {report.id} on round {number} waits for a second person, who comes first"
            return refused(Reason.ON_HOLD, "house:confirmation", message)
    return None


def _was_paid(table: Table, round_: Round, seat: str) -> bool:
    """Whether the player of a seat has money from a round; before the payment it is in no purse."""
    is_unpaid = round_ is table.round and round_.phase is not Phase.PAID
    if is_unpaid or round_.settled is None or round_.sessions.get(seat) != table.seats[seat].session:
        return False
    got = round_.settled.by_purse
    return any(got[purse.index] for purse in table.seats[seat].purses.values() if purse.index < len(got))


def between_rounds(table: Table, clause: str) -> Refusal | None:
    """Why something that is done between rounds cannot be done now."""
    if table.round is None:
        return None
    message = f"round {table.round.number} is not finished ({table.round.phase}): this is done between rounds"
    return refused(Reason.UNDER_LIVE_BETS, clause, message)
