"""The one door for what dice or cards show. No other module of the floor makes a result or a reading.

The Dealer enters every result. What a device saw, or the demonstration shaker drew, is a reading: it is told
to the Dealer, who commits it, or keys what the dice show.
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
from taisai.journal import Answer, Engine, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.errors import JournalError
from taisai.protocol.commands import BY_TAG, SentCommand
from taisai.rules.vocabulary import Act
from taisai.server.config.tables import DiceIn
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import ReadingRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.connections.dispatcher import Dispatcher
    from taisai.server.handlers.context import Context
    from taisai.server.runtime.command_queue import AnswerCallback

SOURCE: Final = "demonstration shaker"
"""What people are told wherever the shaker's work is shown: it is no dice of anyone's."""
_PERFORM: Final = BY_TAG["perform"]


# The dealer's keys


def is_result(sent: SentCommand) -> bool:
    """Whether a command that was sent enters a result."""
    sent_: Any = sent
    return type(sent) is _PERFORM and sent_.act is Act.ENTER_RESULT


def keyed(sent: SentCommand, *, at: int, by: str, second: str | None) -> Perform:
    """What the Dealer keyed."""
    told: dict[str, Any] = {name: getattr(sent, name) for name in sent.__struct_fields__}
    return Perform(at=at, by=by, second=second, **told)


def noting_override(
    dispatcher: Dispatcher, principal: Principal, table: str | None, command: AnyCommand, told: AnswerCallback
) -> AnswerCallback:
    """A result other than the device's reading is accepted, since the dice prevail, and then noted."""
    if table is None or not isinstance(command, Perform) or command.act is not Act.ENTER_RESULT:
        return told
    faces, differs = command.faces, False

    def looked(found: object) -> None:
        nonlocal differs
        differs = found is True

    def noted(answer: Answer | BaseException) -> None:
        told(answer)
        if differs and type(answer) is tuple and answer:  # what was refused overrides nothing
            detail = f"keyed {' '.join(map(str, faces))}, which is not what the device read"
            note = NoteOverride(
                at=dispatcher.clock.now(),
                by=FLOOR,
                table=table,
                person=principal.name,
                what="reading",
                detail=detail,
            )
            dispatcher.queue.submit(Submission(HOUSE_STREAM, note))

    dispatcher.queue.submit_job(lambda engine: differs_from_reading(engine.table(table), faces), looked)
    return noted


# A recognising device


async def reading(context: Context, principal: Principal, ask: ReadingRequest) -> ServerMessage:
    """What a device saw, or its fault; the table decides whether it may be told now."""
    planned = context.plan.table(ask.table)
    if planned is None or planned.dice is not DiceIn.DEVICE:
        says = f"expected a table with dice = 'device' in the configuration, got {ask.table!r}"
        return refused(ask.id, Reason.WRONG_MEANS, says, "house:readings")
    try:
        fault = None if ask.fault is None else DeviceFault(ask.fault)
    except ValueError:
        known = ", ".join(DeviceFault)
        return refused(
            ask.id, "bad-value", f"expected a fault of {known}, got {ask.fault!r}", "house:readings"
        )
    round_ = ask.round
    if round_ is None:
        round_ = await context.queue.run(lambda engine: _round_in_hand(engine, ask.table))
    command = TakeReading(
        at=context.clock.now(), by=RECOGNISER, device=principal.name, reading=ask.reading, round=round_,
        shake=ask.shake, faces=ask.faces or (), fault=fault,
    )  # fmt: skip
    return answer_to(ask.id, await context.queue.execute(stream_of(ask.table), command))


def _round_in_hand(engine: Engine, table: str) -> int:
    try:
        at = engine.table(table)
    except JournalError:
        return 0  # configured, but never opened: the queue refuses it, in words
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
    """A draw: what the shaker tells, and what it reveals."""

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
