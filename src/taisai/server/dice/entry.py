"""The one module of the server that makes results and readings of dice or cards.

The Dealer enters every result. What a device saw, or the demonstration shaker drew, is a reading. The Dealer
sees it, and commits it or keys what the dice show.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.cage.messages import NoteOverride
from taisai.game.commands import CommitSeed, Perform, RevealSeed, TakeReading
from taisai.game.dice.draw import Throw
from taisai.game.dice.readings import differs_from_reading
from taisai.game.dice.seeds import drawn_by
from taisai.game.refusals import Reason
from taisai.game.vocabulary import FLOOR, RECOGNISER, SHAKER, DeviceFault
from taisai.journal import Engine, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.errors import JournalError
from taisai.protocol.commands import BY_TAG, SentCommand
from taisai.rules.errors import RulesError
from taisai.rules.vocabulary import Act
from taisai.server.config.tables import DiceIn
from taisai.server.handlers.context import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import ReadingRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

SOURCE: Final = "demonstration shaker"
"""How pages label the draws of the demonstration shaker: no real dice."""
_PERFORM: Final = BY_TAG["perform"]


# The dealer's keys


def is_result(sent: SentCommand) -> bool:
    """Whether a command that was sent enters a result."""
    sent_: Any = sent
    return type(sent) is _PERFORM and sent_.act is Act.ENTER_RESULT


def keyed(sent: SentCommand, *, at: int, by: str, second: str | None) -> Perform:
    """What the Dealer keyed."""
    fields: dict[str, Any] = {name: getattr(sent, name) for name in sent.__struct_fields__}
    return Perform(at=at, by=by, second=second, **fields)


def overrides_reading(engine: Engine, table: str, command: AnyCommand) -> bool:
    """Whether a result differs from what the device read; it is accepted, since the dice prevail."""
    if not isinstance(command, Perform) or command.act is not Act.ENTER_RESULT:
        return False
    try:
        return differs_from_reading(engine.table(table), command.faces)
    except RulesError:  # no such table, as the decision will say
        return False


def note_override(context: Context, principal: Principal, table: str, command: AnyCommand) -> None:
    """Has the House note that the Dealer entered another result than the device read."""
    faces = command.faces if isinstance(command, Perform) else ()
    note = NoteOverride(
        at=context.clock.now(), by=FLOOR, table=table, person=principal.name, what="reading",
        detail=f"keyed {' '.join(map(str, faces))}, which is not what the device read",
    )  # fmt: skip
    context.queue.submit(Submission(HOUSE_STREAM, note))


# A recognising device


async def reading(context: Context, principal: Principal, request: ReadingRequest) -> ServerMessage:
    """What a device saw, or its fault; the table decides whether it accepts it now."""
    table_plan = context.plan.table(request.table)
    if table_plan is None or table_plan.dice is not DiceIn.DEVICE:
        problem = f"readings need dice = 'device' in casino.toml, for the table {request.table!r}"
        return refused(request.id, Reason.WRONG_MEANS, problem, "house:readings")
    try:
        fault = None if request.fault is None else DeviceFault(request.fault)
    except ValueError:
        known = ", ".join(DeviceFault)
        return refused(
            request.id,
            "bad-value",
            f"expected one of the faults {known}, got {request.fault!r}",
            "house:readings",
        )
    now = context.clock.now()

    def take(engine: Engine) -> TakeReading:
        round_ = _round_in_hand(engine, request.table) if request.round is None else request.round
        return TakeReading(
            at=now, by=RECOGNISER, device=principal.name, reading=request.reading, round=round_,
            shake=request.shake, faces=request.faces or (), fault=fault,
        )  # fmt: skip

    return answer_to(request.id, await context.queue.execute(stream_of(request.table), take))


def _round_in_hand(engine: Engine, table: str) -> int:
    try:
        at = engine.table(table)
    except JournalError:
        return 0  # configured, but never opened: the engine refuses it and gives the reason
    return at.round.number if at.round is not None else len(at.rounds)


# The demonstration shaker


class Draw(NamedTuple):
    """What a draw is made from, beside its seed."""

    table: str
    round: int
    shake: int
    close: int
    """The position of the entry that closed bets."""
    hash: bytes
    """Its hash."""
    cards: tuple[int, ...]
    """How many of each face are left to be dealt; none where dice are thrown."""


class Drawn(NamedTuple):
    """A draw: the shaker's reading, and what it reveals."""

    reading: TakeReading
    reveal: RevealSeed


def commitment(seed: bytes, *, at: int, round_: int) -> CommitSeed:
    """What binds the shaker before bets open."""
    return CommitSeed(at=at, by=SHAKER, round=round_, commitment=sha256(seed).hexdigest(), source=SOURCE)


def drawn(seed: bytes, draw: Draw, *, at: int) -> Drawn:
    """The draw: a function of the seed and of the entry that closed bets, and of nothing else."""
    throw = Throw(table=draw.table, round=draw.round, shake=draw.shake, close=draw.hash)
    faces = drawn_by(seed, throw, draw.cards)
    reading_ = TakeReading(
        at=at, by=SHAKER, reading=f"draw-{draw.round}-{draw.shake}", round=draw.round, device=SOURCE,
        shake=draw.shake, faces=faces,
    )  # fmt: skip
    reveal = RevealSeed(
        at=at, by=SHAKER, round=draw.round, seed=seed.hex(), close=draw.close, hash=draw.hash.hex(),
        faces=faces,
    )  # fmt: skip
    return Drawn(reading_, reveal)


def unused(seed: bytes, *, round_: int, at: int) -> RevealSeed:
    """The seed of a round that ended without a draw."""
    return RevealSeed(at=at, by=SHAKER, round=round_, seed=seed.hex())
