"""A house with a table and everything that acts by itself there, in virtual time; it can crash and come back.

Staff ask the queue directly: what they may do over a socket is other tests' matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import cache, partial
from itertools import count
from random import Random
from typing import Any, Final, TypeVar, cast
from unittest.mock import patch

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND, House
from taisai.cage.messages import BringIn, DeviceKind, EnrolDevice, EnrolPerson, OpenHouse
from taisai.game.commands import (
    Assign,
    BuyCredits,
    DecideReferral,
    Declare,
    Limits,
    OpenTable,
    Perform,
    PlaceBets,
    Slip,
    TakeSeat,
)
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.game.vocabulary import Treatment
from taisai.journal import Engine, Journal, MemoryStore, Store, Submission, journal, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.commands import command, completed
from taisai.protocol.views import Blank, ConsoleView, Offer, PitView, TableView
from taisai.rules import Act
from taisai.rules.outcomes import Outcome
from taisai.rules.procedure import Declared
from taisai.rules.vocabulary import Phase
from taisai.server.auth.credentials import Cost, Passwords
from taisai.server.config.tables import DiceIn
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.connections.feeds import Outbox
from taisai.server.projections.offers import offers
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import HousePlan, TablePlan, Thresholds
from tests.game.past_rounds import compiled_once
from tests.journal.evening_journal import read_once
from tests.server.sim import virtual
from tests.server.sim.sim_house import KEY, book_of, crew_of, device
from tests.server.sim.simulated_queue import SimulatedQueue
from tests.server.sim.virtual import START, VirtualClock, VirtualLoop
from tests.server.virtual_server import HOST, ORIGIN, Line, Who

T = TypeVar("T")
TABLE: Final = "T1"
OTHER: Final = "T2"
STREAM: Final = stream_of(TABLE)
RWS, MBS, US, CARDS = "rws-sic-bo-etg-v8", "mbs-sic-bo-v6", "us-sic-bo", "mbs-3-card-sic-bo"
BOOKS: Final = (RWS, MBS, US, CARDS)
WINDOW: Final = 10_000
CREDITS: Final = 10_000_000
LIMITS: Final = Limits(least=100, most=2_000_000)
SEAT: Final = "1"
FEEDS: Final = (f"table:{TABLE}", f"console:{TABLE}", f"seat:{TABLE}/{SEAT}", "lobby", "pit", "cage")
TERMINAL: Final = "P1"
SHAKERS: Final = {"S1": TABLE, "S2": OTHER}
"""Recognising devices, and their tables."""


class _AtOnce(Random):
    """A disk that is always as quick as it can be."""

    def uniform(self, a: float, b: float) -> float:  # noqa: ARG002  the names are theirs
        return a


class SetClock(VirtualClock):
    """A clock that somebody may set."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__(loop)
        self.set_by = 0

    def now(self) -> int:
        """As it was set."""
        return super().now() + self.set_by


async def _taken(_message: object) -> None:
    """A client that takes everything."""


class Attended:
    """The house at work."""

    def __init__(
        self,
        loop: VirtualLoop,
        book: str = RWS,
        *,
        demonstration: bool = True,
        window: int | None = WINDOW,
        settings: Mapping[str, str] | None = None,
        thresholds: Thresholds | None = None,
        store: Store | None = None,
        is_followed: bool = True,
        dice: DiceIn = DiceIn.DEVICE,
    ) -> None:
        """`is_followed`: whether someone follows every feed, which takes longer than all the rest."""
        self.is_followed = is_followed
        self.loop = loop
        self.clock = SetClock(loop)
        self.book = book
        self.crew = crew_of(book)
        self.store = store or furnished(book, demonstration=demonstration, settings=settings)
        self.plan = HousePlan(
            house="Sim", currency="PLAY", zone="Asia/Singapore", origins=frozenset({ORIGIN}),
            tables=[
                TablePlan(
                    name=TABLE, book=book_of(book), limits=LIMITS, window=window,
                    demonstration=demonstration, dice=dice,
                )
            ],
            thresholds=thresholds or Thresholds(),
        )  # fmt: skip
        self.drawn = count(1)
        self.starts = 0
        self.told: list[str] = []
        """Everything that any feed was told, in order."""
        self._ids = count(1)

    # Coming and going

    def entropy(self, size: int) -> bytes:
        """Bytes that are other ones each time, and that a search finds."""
        return (b"chance %d " % next(self.drawn)).ljust(size, b".")[-size:]

    @property
    def queue(self) -> SimulatedQueue:
        """The one at work."""
        queue = self.casino.queue
        assert isinstance(queue, SimulatedQueue)
        return queue

    async def start(self, *, recover: bool | None = None) -> list[str]:
        """A start, as `serve` does it; the first one finds nothing to recover."""
        self.engine = Engine(Journal(self.store))
        if self.starts if recover is None else recover:
            self.engine.recover(at=self.clock.now())
        self.starts += 1
        self.casino = HouseServer(
            self.engine, self.plan, clock=self.clock, entropy=self.entropy, key=KEY,
            make_queue=partial(SimulatedQueue, chance=_AtOnce(), slow=0.0),
            passwords=Passwords(self.entropy, Cost(time=1, memory=8, parallelism=1)),
        )  # fmt: skip
        feeds, publish = self.casino.queue.feeds, self.casino.queue.feeds.publish

        def noted(frame: Any) -> None:
            self.told.append(bytes(frame.body).decode())
            publish(frame)

        feeds.publish = noted  # type: ignore[method-assign]
        left = await self.casino.start()
        for feed in self._followed():  # from here on each of them is told every change
            self.told.append(repr(await self.shown(feed)))
            feeds.follow(feed, Outbox(_taken, lambda: None), 0, lambda: None)
        return left

    def _followed(self) -> list[str]:
        is_seated = SEAT in self.table.seats
        return [one for one in FEEDS if self.is_followed and (is_seated or not one.startswith("seat:"))]

    async def stop(self) -> None:
        """As it should be."""
        await self.casino.stop()

    def crash(self) -> None:
        """The machine is gone: all that is left is in the store."""
        self.queue.crash()
        for task in self.casino._tasks:
            task.cancel()
        for countdown in self.casino._countdowns.values():
            countdown.stop()

    async def crash_and_come_back(self) -> None:
        """Both."""
        self.crash()
        await self.start()
        await self.settle()

    async def settle(self) -> None:
        """Until everyone who has something to do has done it."""
        await asyncio.sleep(0.001)

    async def pass_(self, seconds: float) -> None:
        """Time goes by."""
        await asyncio.sleep(seconds)

    # What there is

    @property
    def table(self) -> Table:
        """To be looked at."""
        return self.engine.table(TABLE)

    @property
    def house(self) -> House:
        """To be looked at."""
        return self.engine.house()

    @property
    def dispatcher(self) -> Dispatcher:
        """Of the casino at work."""
        return self.casino.dispatcher

    def is_at(self, *phases: Phase) -> bool:
        """Whether the table is in one of these phases."""
        return self.table.phase in phases

    def events(self, *kinds: type[Any], stream: str | None = None) -> list[Any]:
        """The journal's events, all or of some kinds."""
        found = (entry.event for entry in self.engine.journal.entries(stream=stream))
        return [event for event in found if not kinds or isinstance(event, kinds)]

    async def shown(self, feed: str) -> Any:
        """What someone who follows is shown."""
        projections = self.casino.queue.projections
        await self.casino._refresh()
        await self.settle()
        found = await self.casino.queue.run(lambda _engine: projections.snapshot(feed))
        assert found is not None
        return found.view

    async def table_view(self) -> TableView:
        """The table as everyone sees it."""
        found: TableView = await self.shown(f"table:{TABLE}")
        return found

    async def console(self) -> ConsoleView:
        """The table as its staff see it."""
        found: ConsoleView = await self.shown(f"console:{TABLE}")
        return found

    async def pit(self) -> PitView:
        """The pit."""
        found: PitView = await self.shown("pit")
        return found

    # Connections

    async def line(self, who: Who) -> Line:
        """A connection that came in: a device, or someone with a session."""
        host: Any = [(b"host", HOST.encode())]
        scope = {"type": "websocket", "path": "/socket", "client": ("192.0.2.7", 1), "headers": host}
        line = Line(cast("Any", self), scope)
        await self.settle()
        welcome = await line.hello(who)
        assert welcome["type"] == "welcome", welcome
        return line

    async def signed_in(self, person: str) -> Line:
        """Someone of the staff, with a session."""
        opened = self.casino.authentication.sessions.opened(
            person, self.house.people[person], self.clock.now()
        )
        assert opened is not None
        return await self.line(opened)

    # Doing

    async def ask(self, asked: AnyCommand, table: str | None = TABLE) -> Any:
        """What a command comes to; those who act by themselves have acted by then."""
        answer = await self.casino.queue.execute(HOUSE_STREAM if table is None else stream_of(table), asked)
        await self.settle()
        return answer

    async def do(self, kind: type[Any], by: str, /, **fields: Any) -> Any:
        """Does it; an AssertionError where it is refused."""
        answer = await self.ask(kind(at=self.clock.now(), by=by, **fields))
        assert not isinstance(answer, Refusal), f"{kind.__name__} {fields}: {answer}"
        return answer

    async def bet(self, area: str = "small", stake: int = 1_000) -> Any:
        """A bet of the one player."""
        assert self.table.round is not None
        slips = [Slip(f"b{next(self._ids)}", area, stake)]
        return await self.do(PlaceBets, TERMINAL, round=self.table.round.number, seat=SEAT, bets=tuple(slips))

    async def declared_unseen(self) -> None:
        """Dealer and supervisor declare after a stop that nothing happened unrecorded."""
        await self.do(Declare, "dan", declared=Declared.UNSEEN, second=self.crew.second)

    async def rounds_voided(self, first: int, last: int) -> None:
        """The shift manager names the rounds that a damaged die affected (RWS 5.4, 5.10)."""
        (referral,) = (one.id for one in self.table.referrals.values() if one.decided_by is None)
        await self.do(
            DecideReferral, self.crew.head, referral=referral, treatment=Treatment.VOID_ROUNDS, round=first,
            through=last, reason="a chip off", second=self.crew.second,
        )  # fmt: skip

    async def act(self, act: Act | str, by: str = "dan", **fields: Any) -> Any:
        """An act of the round."""
        return await self.do(Perform, by, act=Act(act), **fields)

    async def next(self, *, faces: tuple[int, ...] | None = None) -> Offer | None:
        """Does what is to be done next, if it is someone's; what that was."""
        offer = self._main()
        if offer is None or offer.by == ("clock",):
            return None
        by = next(name for name, rank in self.crew.ranks.items() if rank in offer.by)
        asked = [one for one in offer.blanks if not one.optional or one.kind == "areas"]
        if any(one.kind == "areas" for one in asked):
            asked = list(offer.blanks)
        filled = {one.field: self._filled(one, faces) for one in asked if one.kind != "second"}
        two = any(one.kind == "second" for one in offer.blanks)
        second = next(one for one in (self.crew.second, self.crew.head) if one != by) if two else None
        sent = command(offer.command, **{**offer.preset, **filled})
        answer = await self.ask(completed(sent, at=self.clock.now(), by=by, second=second))
        assert not isinstance(answer, Refusal), f"{sent}: {answer}"
        return offer

    def _main(self) -> Offer | None:
        """The next step; at a live table people declare after a stop that nothing happened unrecorded."""
        offered = offers(self.table)
        offer = next((one for one in offered if one.main), None)
        if offer is None or offer.command != "declare" or self.table.book.record is None:
            return offer
        unseen = (one for one in offered if one.preset.get("declared") == Declared.UNSEEN)
        return next(unseen, offer)

    def _filled(self, blank: Blank, faces: tuple[int, ...] | None) -> Any:
        match blank.kind:
            case "faces":
                round_ = self.table.round
                drawn = round_.drawn if round_ is not None else None
                return faces or (tuple(drawn.faces) if drawn else (1, 2, 3))
            case "whole":
                return int(blank.choices[0].value) if blank.choices else blank.least
            case "text":
                return f"text {next(self._ids)}"
            case "choice":
                return blank.choices[0].value
            case "yes-no":
                return True
            case _:
                lit = self.table.terms[self.table.layout].matrix.illuminated(Outcome.of(1, 2, 3))
                return [str(area) for area in lit]

    async def until(
        self, holds: Callable[[Table], bool], *, faces: tuple[int, ...] | None = None, most: int = 60
    ) -> None:
        """Goes on until something holds of the table; the betting clock is given its time."""
        for _ in range(most):
            if holds(self.table):
                return
            if await self.next(faces=faces) is None:
                await self.pass_(1.0)
        raise AssertionError(f"expected it to hold within {most} steps, got {self.table.phase}")

    async def opened(self) -> int:
        """Bets are open; the number of the round."""
        await self.until(lambda table: table.phase.bets_open)
        assert self.table.round is not None
        return self.table.round.number

    async def at_phase(self, *phases: Phase, faces: tuple[int, ...] | None = None) -> None:
        """The round has come so far."""
        await self.until(lambda table: table.phase in phases, faces=faces)

    async def played(self, faces: tuple[int, ...] | None = None, **bets: int) -> int:
        """One whole round, with bets; its number."""
        number = await self.opened()
        for area, stake in bets.items():
            await self.bet(area.replace("_", "-"), stake)
        await self.until(lambda table: len(table.rounds) >= number, faces=faces)
        return number


@cache
def _furnished(book: str, *, demonstration: bool, settings: tuple[tuple[str, str], ...]) -> MemoryStore:
    store, at, crew = MemoryStore(), START - 60_000, crew_of(book)
    opened = Journal.opened(
        store, journal="attended", key=KEY.public, at=at, by="ada", program="taisai",
        demonstration=demonstration,
    )  # fmt: skip
    engine = Engine(opened)

    def done(asked: AnyCommand, stream: str = HOUSE_STREAM, of: Any = None) -> None:
        answer = engine.answer_all([Submission(stream, asked, of)])[0]
        assert not isinstance(answer, Refusal), f"{asked}: {answer}"

    by: Any = {"at": at, "by": "ada"}
    done(OpenHouse(**by, house="Sim", currency="PLAY", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND))
    done(EnrolPerson(**by, person="ada", rank="administrator"))
    for person, rank in {"sue": crew.ranks["sue"], **crew.ranks, "cat": "cashier"}.items():
        if person not in engine.house().people:
            done(EnrolPerson(**by, person=person, rank=rank, second=None if person == "sue" else "sue"))
    done(BringIn(at=at, by="cat", id="capital", amount=1_000_000_000, second="sue"))
    for name, table in SHAKERS.items():
        done(EnrolDevice(**by, device=name, kind=DeviceKind.SHAKER, key=device(name).public, table=table))
    for table in (TABLE, OTHER):
        opening = OpenTable(
            at=at, by=crew.head, rank=crew.ranks[crew.head], table=table, limits=LIMITS, currency="PLAY",
            day="2026-11-15", zone="Asia/Singapore", demonstration=demonstration, settings=dict(settings),
        )  # fmt: skip
        done(opening, stream_of(table), book_of(book))
        for person, rank in crew.ranks.items():
            if person != crew.head:
                done(
                    Assign(at=at, by=BY_THE_HOUSE, person=person, rank=rank, position=rank), stream_of(table)
                )
    if demonstration or book == RWS:  # where chips lie on a layout, nobody plays at a terminal
        done(TakeSeat(at=at, by=TERMINAL, seat=SEAT, player="may", terminal=TERMINAL), STREAM)
        done(BuyCredits(at=at, by=TERMINAL, seat=SEAT, amount=CREDITS), STREAM)
    return store


def furnished(
    book: str, *, demonstration: bool = True, settings: Mapping[str, str] | None = None
) -> MemoryStore:
    """The house before the first start, made once and copied."""
    made = _furnished(book, demonstration=demonstration, settings=tuple(sorted((settings or {}).items())))
    store = MemoryStore()
    store.append(list(made.rows()))
    return store


def attended(
    test: Callable[[Attended], Coroutine[Any, Any, T]], *args: Any, started: bool = True, **options: Any
) -> T:
    """Runs something at a house of its own, which has started, in virtual time."""

    async def main(loop: VirtualLoop) -> T:
        house = Attended(loop, *args, **options)
        if started:
            await house.start()
            await house.settle()
        return await test(house)

    # Rulebooks are read and terms compiled once: a test may start a house a hundred times.
    with patch.object(journal, "rulebook_from", read_once), compiled_once():
        return virtual.run(main)
