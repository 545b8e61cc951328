"""Finishing: what a stop has left between the House and the tables is booked on the other side too."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from taisai.cage import Missing, Unfinished, finishing, unfinished
from taisai.game.refusals import Refusal
from taisai.game.words import Moved
from taisai.journal import Keeper, stream_of
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.server.handlers.ticket_numbers import KEY_BYTES, tickets_key
from taisai.server.handlers.transfers import arriving, issuing, second_of

if TYPE_CHECKING:
    from taisai.server.runtime.clock import Clock, Entropy
    from taisai.server.runtime.host import Host


class Due(NamedTuple):
    """A transfer that one side alone has booked, and what would finish it, if the system itself may."""

    sentence: str
    stream: str
    command: AnyCommand | None


async def finish(host: Host, clock: Clock, entropy: Entropy = secrets.token_bytes) -> list[str]:
    """Finishes every transfer that it may; what people have to do about the others, a sentence each.

    To be called at a start, and after a fault; twice is as good as once, also while play goes on.
    """
    at, fresh = clock.now(), entropy(KEY_BYTES)
    left = []
    for one in await host.look(lambda keeper: due(keeper, at=at, fresh=fresh)):
        answer = None if one.command is None else await host.ask(one.stream, one.command)
        if answer is None:
            left.append(one.sentence)
        elif isinstance(answer, Refusal):
            left.append(f"{one.sentence} It was refused: {answer}.")
    return left


def due(keeper: Keeper, *, at: int, fresh: bytes) -> list[Due]:
    """Every transfer on which the House and a table are not at one; in the writer's thread."""
    tables = {name: keeper.table(name).in_transit() for name in keeper.tables()}
    found = unfinished(keeper.house(), tables)
    return [_due(keeper, one, at=at, fresh=fresh) for one in found]


def _due(keeper: Keeper, one: Unfinished, *, at: int, fresh: bytes) -> Due:
    sentence, booked = finishing(one), one.booked_by_table
    if one.missing is Missing.TABLE and one.transfer is not None:
        command = arriving(one.transfer, at=at, second=second_of(keeper, one.transfer))
        return Due(sentence, stream_of(one.table), command)
    if one.missing is Missing.HOUSE and one.transfer is None and booked is not None:
        moved = keeper.table(one.table).transfers[one.id]
        if moved.kind is Moved.DISPENSED:
            key = tickets_key(keeper, fresh)
            return Due(sentence, HOUSE, issuing(one.id, one.table, -booked, at=at, key=key))
    return Due(sentence, HOUSE, None)
