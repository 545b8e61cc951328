"""A server without a thread and without sockets: everything asked is done at once, and can be cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND, House, unfinished
from taisai.cage.messages import BringIn, EnrolPerson, OpenHouse
from taisai.game.commands import Assign, BuyCredits, Command, Limits, OpenTable, Perform, TakeSeat
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import Answer, Engine, Journal, MemoryStore, SigningKey, Store, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.engine import Prepare
from taisai.protocol.replies import RefusedReply
from taisai.rules import Act, Rulebook, rulebook
from taisai.server.auth.approvals import Approvals
from taisai.server.auth.permissions import Principal, Role
from taisai.server.handlers.context import Context
from taisai.server.handlers.transfers import ticket_numbers
from taisai.server.runtime.plan import HousePlan

if TYPE_CHECKING:
    from taisai.server.runtime.command_queue import CommandQueue

T = TypeVar("T")
START: Final = 1_794_715_200_000
KEY: Final = SigningKey.new("inline", seed=bytes(32))
BOOK: Final = "rws-sic-bo-etg-v8"
ROLL: Final = {
    "pat": "pit-supervisor",
    "sue": "shift-manager",
    "dan": "dealer",
    "cat": "cashier",
    "cid": "cashier",
}
IN_THE_CAGE: Final = 10_000_000


class CutError(Exception):
    """The power went."""


class InlineQueue:
    """Asks an engine at once, in the caller's own thread; what waits may overtake what asks."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.trouble: str | None = None
        self.listeners: list[Callable[[Any], None]] = []
        self.asked: list[Submission] = []
        """Every command so far."""
        self.left: int | None = None
        """How many more commands are done before the power goes."""

    async def execute(
        self, stream: str, command: AnyCommand | Prepare, book: Rulebook | None = None
    ) -> Answer:
        """What a command comes to."""
        await asyncio.sleep(0)
        return self._answer(Submission(stream, command, book))

    async def run(self, job: Callable[[Engine], T]) -> T:
        """What a job finds."""
        await asyncio.sleep(0)
        return job(self.engine)

    def submit(
        self,
        ask: Submission,
        told: Callable[[Answer | BaseException], None] | None = None,
        *,
        re: str | None = None,
    ) -> None:
        """Asks for a command, and tells."""
        del re  # nothing is published here
        answer = self._answer(ask)
        if told is not None:
            told(answer)

    def submit_job(self, job: Callable[[Engine], T], told: Callable[[T | BaseException], None]) -> None:
        """Does a job, and tells what it found."""
        told(job(self.engine))

    def close(self) -> None:
        """Nothing waits."""

    def _answer(self, ask: Submission) -> Answer:
        if self.left is not None:
            if not self.left:
                raise CutError
            self.left -= 1
        self.asked.append(ask)
        answer = self.engine.answer_all([ask])[0]
        if answer and not isinstance(answer, Refusal) and self.listeners:
            from taisai.server.runtime.command_queue import Committed

            for listener in self.listeners:
                listener(Committed(ask.stream, cast("AnyCommand", ask.command), answer))
        return answer


class HandClock:
    """Goes on by a second whenever it is looked at, or as it is told."""

    def __init__(self, now: int = START) -> None:
        self._now = now

    def now(self) -> int:
        """Later than before."""
        self._now += 1_000
        return self._now

    def steady(self) -> int:
        """The same."""
        return self._now

    def pass_(self, milliseconds: int) -> None:
        """Time passes."""
        self._now += milliseconds


class InlineServer(Context):
    """A House with its staff, a table that terminals play at, and whoever agrees to what is asked."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or MemoryStore()
        self.hand_clock = HandClock()
        self._drawn = count(1)
        self.agrees: str | None = "sue"
        """The second person."""
        journal = Journal.opened(
            self.store, journal="inline", key=KEY.public, at=START, by="olga", program="taisai",
            demonstration=True,
        )  # fmt: skip
        self.inline = InlineQueue(Engine(journal))
        super().__init__(
            queue=cast("CommandQueue", self.inline), clock=self.hand_clock,
            plan=HousePlan(house="Lotus", currency="SGD", zone="Asia/Singapore"),
            entropy=self._entropy, approvals=Approvals(bytes), dealers={},
        )  # fmt: skip

    # As a context

    def _entropy(self, size: int) -> bytes:
        """Bytes that are other ones each time."""
        return next(self._drawn).to_bytes(size)

    async def second(self, principal: Principal, request: Any) -> str | RefusedReply | None:  # noqa: ARG002
        """Whoever agrees, once an approval comes with the ask."""
        if request.approval == "bad":
            return RefusedReply(
                to=request.id, reason="second-person", message="expected an approval, got another"
            )
        return self.agrees if request.approval is not None else None

    # Doing

    def do(self, command: AnyCommand, table: str = "T1", *, book: Rulebook | None = None) -> tuple[Any, ...]:
        """Does it; an AssertionError where it is refused."""
        stream = stream_of(table) if isinstance(command, Command) else HOUSE_STREAM
        answer = self.engine.answer_all([Submission(stream, command, book)])[0]
        assert not isinstance(answer, Refusal), f"{command}: {answer}"
        return answer

    def by(self, who: str) -> dict[str, Any]:
        """Who asks, and when."""
        return {"at": self.clock.now(), "by": who}

    def restart(self) -> None:
        """The power comes back: all that is left is in the store."""
        self.inline = InlineQueue(Engine(Journal(self.store)))
        self.queue = cast("CommandQueue", self.inline)

    # What there is

    @property
    def engine(self) -> Engine:
        """Of the queue."""
        return self.inline.engine

    @property
    def house(self) -> House:
        """To be looked at."""
        return self.engine.house()

    def id_of(self, number: str) -> str:
        """The id of a ticket in the journal, by its number."""
        return ticket_numbers(self.engine, bytes(32)).held(self.house, number)

    def table(self, name: str = "T1") -> Table:
        """To be looked at."""
        return self.engine.table(name)

    def credits(self, seat: str = "7", table: str = "T1") -> int:
        """What a terminal has."""
        purse = self.table(table).seats[seat].purse
        return purse.credits if purse is not None else 0

    def faults(self) -> list[str]:
        """What is not balanced, or still on its way."""
        tables = {name: self.table(name) for name in self.engine.tables()}
        streams = {"house": self.house.ledger} | {name: one.ledger for name, one in tables.items()}
        found = [f"{name}: {one.difference}" for name, one in streams.items() if one.difference]
        due = sum(one.balances[Account.TRANSIT_DUE] for one in streams.values())
        owed = sum(one.balances[Account.TRANSIT_OWED] for one in streams.values())
        found += [f"in transit: {due} due, {owed} owed"] * (due != owed)
        booked = {name: one.in_transit() for name, one in tables.items()}
        return found + [str(one) for one in unfinished(self.house, booked)]


def inline_server(*seats: str, credits: int = 50_000, store: Store | None = None) -> InlineServer:  # noqa: A002
    """A server with staff, ten million in the cage, and terminals with credits; each is called D<seat>."""
    server = InlineServer(store)
    server.do(
        OpenHouse(
            **server.by("olga"), house="Lotus", currency="SGD", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND
        )
    )
    for person, rank in ROLL.items():
        server.do(EnrolPerson(**server.by("olga"), person=person, rank=rank))
    server.do(BringIn(**server.by("cat"), id="m1", amount=IN_THE_CAGE, second="sue"))
    open_table(server, "T1")
    for seat in seats or ("7",):
        sit(server, seat, credits)
    return server


def open_table(server: InlineServer, name: str) -> None:
    """A table with its people."""
    server.do(
        OpenTable(
            **server.by("sue"), table=name, limits=Limits(least=100, most=50_000), currency="SGD",
            day="2026-11-15", zone="Asia/Singapore", rank="shift-manager", settings={}, offers={},
        ),
        name,
        book=rulebook(BOOK),
    )  # fmt: skip
    for person in ("dan", "pat"):
        position = ROLL[person]
        server.do(Assign(**server.by(BY_THE_HOUSE), person=person, rank=position, position=position), name)


def sit(server: InlineServer, seat: str, credits: int) -> None:  # noqa: A002
    """A player sits down with so much cash."""
    device = f"D{seat}"
    server.do(TakeSeat(**server.by(device), seat=seat, player=f"player {seat}", terminal=device, layout="B"))
    if credits:
        server.do(BuyCredits(**server.by(device), seat=seat, amount=credits))


def terminal(seat: str = "7", table: str = "T1") -> Principal:
    """The terminal of a seat."""
    return Principal(Role.TERMINAL, f"D{seat}", table, seat)


def person(name: str) -> Principal:
    """Someone on the roll."""
    return Principal(Role(ROLL[name]), name, session=f"s-{name}")


def perform(server: InlineServer, *acts: Act | str, **fields: Any) -> None:
    """Acts of a round, one after the other."""
    for act in map(Act, acts):
        extra: dict[str, Any] = {"tumbles": 3} if act is Act.TUMBLE else {}
        extra |= {"faces": (1, 2, 3)} | fields if act is Act.ENTER_RESULT else {}
        by = "clock" if act is Act.CLOSE_BETS else "dan"
        server.do(Perform(**server.by(by), act=act, **extra))


CONCLUDED: Final = (
    "close-bets", "tumble", "uncover", "enter-result", "settle", "collect-and-pay", "conclude",
)  # fmt: skip
"""From open bets to the end of the round."""


def told(asked: Coroutine[Any, Any, Any]) -> Any:
    """What a handler tells."""
    return asyncio.run(asked)
