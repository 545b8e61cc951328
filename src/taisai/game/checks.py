"""Authority: who may do what, who stands beside him, and what a name or an amount may be."""

from __future__ import annotations

from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_TEXT, Table
from taisai.game.vocabulary import MOST_ID, folded, is_name
from taisai.rules.clauses import Clause
from taisai.rules.errors import printable
from taisai.rules.settlement import GREATEST_SUM

DUAL_CONTROL = Clause("house:dual-control")
PEOPLE = Clause("house:people")


def refused(
    reason: Reason, clause: str, expected: str, got: object, *, sums: tuple[int, ...] = ()
) -> Refusal:
    """A refusal in the usual words."""
    return Refusal(reason, Clause(clause), f"expected {expected}, got {printable(str(got))}", sums=sums)


def at_table(table: Table, person: str) -> Refusal | None:
    """Why someone may not act at the table at all."""
    if not table.name:
        return refused(Reason.TABLE_NOT_OPEN, "house:table", "a table that is open", "one that is not")
    if person not in table.people:
        here = ", ".join(table.people) or "nobody"
        return refused(Reason.UNKNOWN_PERSON, PEOPLE, f"someone assigned to the table ({here})", person)
    return None


def no_seat(table: Table, name: object, expected: str = "a seat that is taken") -> Refusal:
    """Why nothing can be done for a seat that nobody has taken."""
    if not table.open:
        return refused(Reason.TABLE_NOT_OPEN, "house:table", "a table that is open", "one that is not")
    return refused(Reason.UNKNOWN_SEAT, "house:seats", expected, name)


def may_act(table: Table, person: str, position: str, clause: Clause) -> Refusal | None:
    """Why someone may not do what is a position's to do."""
    absent = at_table(table, person)
    if absent:
        return absent
    holder = table.people[person].position
    if not table.ranks.may_act(holder=holder, position=position, settings=table.settings):
        return refused(Reason.NOT_PERMITTED, clause, f"the {position} to do it", f"{person}, {holder}")
    return None


def at_least(table: Table, person: str, rank: str, clause: Clause) -> Refusal | None:
    """Why someone is not of a rank or above it."""
    absent = at_table(table, person)
    if absent:
        return absent
    holder = table.people[person].position
    if not table.ranks.at_least(holder, rank):
        return refused(Reason.NOT_PERMITTED, clause, f"the {rank} or above", f"{person}, {holder}")
    return None


def supervisor(table: Table, person: str, clause: Clause) -> Refusal | None:
    """Why someone is no supervisor."""
    return at_least(table, person, table.ranks.second, clause)


def two_people(
    table: Table, by: str, second: str | None, *, rank: str | None = None, clause: Clause = DUAL_CONTROL
) -> Refusal | None:
    """Why the second person does not do: missing, the same, not here, or not of the rank asked."""
    rank = rank or table.ranks.second
    if second is None or folded(second) == folded(by):
        got = "nobody" if second is None else f"{second} twice"
        return refused(Reason.SECOND_PERSON, clause, f"a second person, {rank} or above", got)
    if second not in table.people:
        return refused(Reason.SECOND_PERSON, clause, "a second person assigned to the table", second)
    holder = table.people[second].position
    if not table.ranks.at_least(holder, rank):
        return refused(
            Reason.SECOND_PERSON, clause, f"a second person, {rank} or above", f"{second}, {holder}"
        )
    return None


def bad_name(what: str, name: object) -> Refusal | None:
    """Why a text cannot be an id or a name."""
    if is_name(name):
        return None
    expected = f"{what} of 1 to {MOST_ID} printable characters"
    return refused(Reason.BAD_VALUE, "house:most", expected, repr(name)[:80])


def bad_text(what: str, text: object, *, least: int = 0) -> Refusal | None:
    """Why a text cannot be a reason or a detail."""
    if isinstance(text, str) and least <= len(text) <= MOST_TEXT:
        return None
    got = f"{len(text)}" if isinstance(text, str) else repr(text)[:80]
    return refused(Reason.BAD_VALUE, "house:most", f"{what} of {least} to {MOST_TEXT} characters", got)


def bad_amount(what: str, amount: object, clause: str = "house:stakes") -> Refusal | None:
    """Why a number cannot be an amount."""
    if type(amount) is int and 0 < amount <= GREATEST_SUM:
        return None
    return refused(Reason.BAD_VALUE, clause, f"{what} from 1 to 2^53 - 1", repr(amount)[:80])


def on_hold(table: Table) -> Refusal | None:
    """Why the round does not go on, if it waits for something."""
    if table.held is None:
        return None
    hold, clause = table.held
    return refused(Reason.ON_HOLD, clause, f"the {hold} to be over first", "it is open")


def between_rounds(table: Table, clause: str) -> Refusal | None:
    """Why something that needs an empty layout cannot be done."""
    if table.round is None:
        return None
    got = f"round {table.round.number}, {table.round.phase}"
    return refused(Reason.UNDER_LIVE_BETS, clause, "no round in hand", got)


def first_of(*refusals: Refusal | None) -> Refusal | None:
    """The refusal of the lowest rank among those there are."""
    return min((one for one in refusals if one), key=lambda one: one.reason.rank, default=None)
