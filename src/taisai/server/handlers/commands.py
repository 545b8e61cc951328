"""Commands of people and terminals: the checks of the House, then the game's decision; tables are opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from taisai.cage.messages import AdoptInterpretations, RedeemTicket
from taisai.game.commands import Assign, BeginDay, BuyCredits, OpenTable
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer, Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.commands import completed as meant_by
from taisai.protocol.commands import tag_of
from taisai.protocol.replies import RefusedReply
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import Role
from taisai.server.dice import entry as dice
from taisai.server.handlers import positions
from taisai.server.handlers.cage import owners_moved, redeem, redeemed
from taisai.server.handlers.context import answer_to, leaving, refused
from taisai.server.runtime.gaming_days import DAY, house_day

if TYPE_CHECKING:
    from taisai.cage import House
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import DoRequest, OpenTableRequest
    from taisai.rules.book import Rulebook
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

_OWNERS: Final = frozenset({"bring-in", "take-out"})
_OF_HOUSE: Final = _OWNERS | {"adopt-interpretations", "override-witness", "redeem-ticket"}
_LEAVE: Final = frozenset({"redeem-ticket", "take-out"})
"""Commands by which cash leaves the house."""


def misplaced(principal: Principal, request: DoRequest) -> str | None:
    """Why a command may not be sent by this principal to this table, or without one."""
    sent: Any = request.do
    tag = tag_of(sent)
    if (tag in _OF_HOUSE) != (request.table is None):
        return f"expected {'no table' if tag in _OF_HOUSE else 'a table'} with {tag}, got {request.table}"
    if tag == "take-seat" and principal.role is Role.TERMINAL and sent.terminal != principal.name:
        return f"expected the terminal {principal.name}, got {sent.terminal}"
    return None


async def do(context: Context, principal: Principal, request: DoRequest) -> ServerMessage:
    """Executes a command; one by which cash leaves the house only when that is witnessed."""
    handler = leaving(_do) if tag_of(request.do) in _LEAVE else _do
    return await handler(context, principal, request)


async def _do(context: Context, principal: Principal, request: DoRequest) -> ServerMessage:
    """Executes a command, after the checks of the House in the same turn of the engine."""
    if tag_of(request.do) in _OWNERS:
        earlier = await owners_moved(context, principal, request)
        if earlier is not None:
            return earlier
    is_retry = tag_of(request.do) == "redeem-ticket" and await redeemed(context, principal, request)
    second = None if is_retry else await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    command = command_of(request, at=context.clock.now(), by=principal.name, second=second)
    if isinstance(command, BeginDay) and context.plan.day is not None:
        command = replace(command, calendar=context.plan.day(command.at))
    if isinstance(command, BuyCredits) and context.plan.amounts is not None:
        command = replace(command, alone=context.plan.amounts.sale)
    if isinstance(command, RedeemTicket):
        return await redeem(context, command, request.id)
    overrides = False

    def checked(engine: Engine) -> AnyCommand | Answer:
        nonlocal overrides
        refusal = _refusal(context, engine, principal, request.table, command)
        if refusal is None and request.table is not None:
            overrides = dice.overrides_reading(engine, request.table, command)
        return command if refusal is None else refusal

    stream = HOUSE_STREAM if request.table is None else stream_of(request.table)
    answer = await context.queue.execute(stream, checked)
    if overrides and answer and not isinstance(answer, Refusal):
        dice.note_override(context, principal, request.table or "", command)
    return answer_to(request.id, answer)


def _refusal(
    context: Context, engine: Engine, principal: Principal, table: str | None, command: AnyCommand
) -> Refusal | None:
    """Why the House refuses a command that the table alone would decide."""
    refusal = None
    if principal.session is not None and table is not None:
        refusal = positions.out_of_place(engine, table, principal.name)
    if refusal is None and isinstance(command, Assign):
        refusal = positions.not_on_list(engine, command.person, command.rank)
    if refusal is None and isinstance(command, AdoptInterpretations):
        refusal = _wrong_adoption(context, command)
    if refusal is None and isinstance(command, BeginDay) and table is not None:
        try:
            is_early = command.calendar not in ("", command.day)
            return _not_approved(context, engine.table(table).book, command.at + is_early * DAY)
        except RulesError:
            return None  # the engine's own refusal of an unknown table is better
    return refusal


def command_of(request: DoRequest, *, at: int, by: str, second: str | None) -> AnyCommand:
    """The game's own command; a result is made by the one module that may make results."""
    if dice.is_result(request.do):
        return dice.keyed(request.do, at=at, by=by, second=second)
    return meant_by(request.do, at=at, by=by, second=second)


async def open_table(context: Context, principal: Principal, request: OpenTableRequest) -> ServerMessage:
    """The first command of a table's stream; its rulebook, whole, comes into the journal before it."""
    plan = context.plan
    table = plan.table(request.table)
    if table is None:
        return refused(request.id, "not-known", f"the configuration has no table {request.table!r}")
    now = context.clock.now()
    calendar = plan.day(now) if plan.day else "1970-01-01"
    book = plan.edition(table, now)
    refusal = _not_approved(context, book, now)
    if refusal is not None:
        return answer_to(request.id, refusal)
    command = OpenTable(
        at=now, by=principal.name, rank="", table=table.name, limits=table.limits, currency=plan.currency,
        day=calendar, zone=plan.zone, settings=dict(table.settings),
        offers=dict(table.offers), layout=table.layout, demonstration=table.demonstration,
    )  # fmt: skip

    def open_with_rank(engine: Engine) -> OpenTable | Refusal:
        if missing := _not_adopted(context, engine.house(), book):
            return missing
        day = house_day(calendar, map(engine.table, engine.tables()))
        return replace(command, day=day, rank=engine.house().people.get(principal.name, ""))

    answer = await context.queue.execute(stream_of(table.name), open_with_rank, book)
    return answer_to(request.id, answer)


def _not_adopted(context: Context, house: House, book: Rulebook) -> Refusal | None:
    """Why a table may not open for money: nobody of the rank that the document names adopted its readings."""
    if context.plan.approved is None or book.adoption is None or book.digest in house.adopted:
        return None
    rank, clause = book.adoption
    missing = f"the interpretations of {book.id}, edition {book.edition}, are not adopted"
    message = f"{missing}: “Adopt the interpretations” first, by a {rank} or above (page: office)"
    return Refusal(Reason.UNMET_NEED, clause, message)


def _wrong_adoption(context: Context, command: AdoptInterpretations) -> Refusal | None:
    """Why a command names no edition of a table of this house, with the rank of its rulebook."""
    books = [book for table in context.plan.tables for book in (table.editions or (table.book,))]
    named = (command.rulebook, command.edition, command.digest, (command.rank, command.asked_by))
    if any((book.id, book.edition, book.digest, book.adoption) == named for book in books):
        return None
    known = [f"{book.name} {book.digest}" for book in dict.fromkeys(books) if book.adoption is not None]
    expected = f"expected an edition whose readings are adopted here ({'; '.join(known) or 'there is none'})"
    got = f"{command.rulebook}@{command.edition} {command.digest} by {command.rank} ({command.asked_by})"
    return Refusal(Reason.BAD_VALUE, Clause("house:adoption"), f"{expected}, got {got}")


def _not_approved(context: Context, book: Rulebook, now: int) -> Refusal | None:
    """Why a rulebook may not be played for money."""
    approved = context.plan.approved
    problem = None if approved is None else approved(book, now)
    return None if problem is None else Refusal(Reason.RULED_OUT, Clause("house:approvals"), problem)
