"""A playbook at a served table: people and terminals at sockets, and kill -9 wherever it has a stop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop
from msgspec.structs import replace

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import BringIn, DeviceKind, EnrolDevice, EnrolPerson, OpenHouse, SendFill
from taisai.client import Client, Device, Refused, Staff, at
from taisai.game import Table
from taisai.game.commands import Command, OpenTable, Perform, ReceiveFill, Recover, TakeSeat
from taisai.game.events import Event
from taisai.game.messages import tag_of
from taisai.game.playbook import Mismatch, Play, Playbook
from taisai.game.playbook.parser import STEP
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer, Codec, Engine, Journal, SqliteStore, Submission
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.protocol.commands import SentCommand
from taisai.protocol.commands import command as sent
from taisai.rules import Act, rulebook
from taisai.rules.clauses import Clause
from taisai.server.runtime.environment import WallClock
from tests.server.races.journal_totals import Reckoning
from tests.server.races.players import PACE
from tests.server.races.race_house import CAPITAL, CURRENCY, FILE, KEY, STREAM, TABLE
from tests.server.races.server_process import Order, Wish
from tests.server.races.server_processes import Server, Servers

CASHIER: Final = "Cat"
ACCESS: Final = "house:access"
_FILLED_IN: Final = frozenset({"alone", "ask", "at", "by", "calendar", "second"})
"""Fields of a command that the server fills in."""


class KilledPlay:
    """Plays to the end, and is killed once more there; `wrongs` is everything that the rules do not order.

    Everything before the first round is asked of the engine: nothing is killed there. From then on everyone
    has a connection of their own. What needs a second person, and what only the house's own devices do, is
    asked within the server.
    """

    def __init__(
        self, processes: Servers, folder: Path, story: Playbook, sabotage: str | None = None
    ) -> None:
        opening = replace(story.opening, table=TABLE, currency=CURRENCY)
        self.story = story._replace(opening=opening)
        self.wrongs: list[str] = []
        self._processes = processes
        self._folder = folder
        self._book = rulebook(story.book)
        self._order = Order(folder=str(folder), book=story.book, sabotage=sabotage)
        self._engine: Engine | None = None
        self._server: Server | None = None
        self._clients: dict[str, Client] = {}
        self._devices: dict[str, Device] = {}
        self._codec = Codec()
        self._read = 0
        """How much of the table's journal has been read."""
        self._at = opening.at

    def play(self) -> None:
        """The whole of it."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as self._runner:
            self._engine = self._furnished()
            played = Play(self.story, self._book, decided=self._decided)
            found = [wrong for step in played.steps() for wrong in step.mismatches]
            # What a playbook does not pin, it does not order; but it expects no refusal.
            self.wrongs += [str(one) for one in found if one.expected is not None or one.got[0] == "!"]
            ended = self._runner.run(self._killed())
            if played.table.round is None and [tag_of(type(event)) for event in ended] != ["interrupted"]:
                self.wrongs.append(str(Mismatch(0, "nothing after the last kill", f"{ended}")))
            self._runner.run(self._left())
            assert self._server is not None
            self._runner.run(self._server.stop())
        self.wrongs += Reckoning(self._folder).kept()

    # Before the first round

    def _furnished(self) -> Engine:
        now, head = WallClock().now(), self.story.opening.by
        store = SqliteStore(self._folder / FILE)
        journal = Journal.opened(
            store, journal="kills", key=KEY.public, at=now, by="ada", program="taisai", demonstration=True
        )
        engine = Engine(journal)
        ranks = {head: self.story.opening.rank, CASHIER: "cashier"}
        lines = [line for _, line in self.story.people] + [step.command_line for step in self.story.steps]
        ranks |= {line.values["person"]: line.values["rank"] for line in lines if line.verb == "assign"}
        enrolled = [
            EnrolPerson(at=now, by="ada", person=name, rank=rank, second=None if name == head else head)
            for name, rank in ranks.items()
        ]
        for asked in (
            OpenHouse(
                at=now, by="ada", house="Kills", currency=CURRENCY, ladder=FLOOR_LADDER,
                second_rank=FLOOR_SECOND,
            ),
            EnrolPerson(at=now, by="ada", person="ada", rank="administrator"),
            *enrolled,
            BringIn(at=now, by=CASHIER, id="capital", amount=CAPITAL, second=head),
        ):  # fmt: skip
            _done(engine.answer(HOUSE_STREAM, asked))
        return engine

    def _asked_before(self, engine: Engine, asked: Command) -> Answer:
        now, head = WallClock().now(), self.story.opening.by
        house: list[AnyCommand] = []
        if isinstance(asked, ReceiveFill):
            house += [
                SendFill(
                    at=now, by=CASHIER, transfer=asked.transfer, table=TABLE, amount=asked.amount, second=head
                )
            ]
        elif isinstance(asked, TakeSeat) and asked.terminal is not None:
            device = Device.of(asked.terminal, asked.terminal.encode().ljust(32, b"-"))
            self._devices[device.name] = device
            house += [
                EnrolDevice(
                    at=now, by="ada", device=device.name, kind=DeviceKind.TERMINAL, key=device.public,
                    table=TABLE, seat=asked.seat,
                )
            ]  # fmt: skip
        for one in house:
            _done(engine.answer(HOUSE_STREAM, one))
        book = self._book if isinstance(asked, OpenTable) else None
        return engine.answer_all([Submission(STREAM, replace(asked, at=now), book)])[0]

    # From the first round on

    def _decided(self, _table: Table, asked: Command) -> tuple[Event, ...] | Refusal:
        away, self._at = asked.at - self._at, asked.at
        if self._engine is not None and isinstance(asked, Perform) and asked.act is Act.OPEN_BETS:
            self._engine.journal.close()
            self._engine = None
            self._server = self._runner.run(self._processes.open(self._order))
            self._news()
        if self._engine is not None:
            answer: Any = self._asked_before(self._engine, asked)
            return answer if isinstance(answer, Refusal) else tuple(answer)
        if isinstance(asked, Recover):
            return self._runner.run(self._killed(away - STEP))
        assert away <= STEP, f"expected time to pass only while the server is away, got {away} ms"
        refusal = self._runner.run(self._said(asked))
        return self._news() if refusal is None else refusal

    async def _said(self, asked: Command) -> Refusal | None:
        """By whom it is, over their own connection where they have one."""
        assert self._server is not None
        fields = {name: getattr(asked, name) for name in asked.__struct_fields__ if name not in _FILLED_IN}
        tag, second = tag_of(type(asked)), getattr(asked, "second", None)
        has_connection = second is None and asked.by not in ("clock", "house")
        refusal = await self._over_the_socket(asked.by, sent(tag, **fields)) if has_connection else None
        if has_connection and (refusal is None or refusal.clause != ACCESS):
            return refusal
        # What the server's own rights refuse already, the table refuses too, by a clause of the document.
        do = {**msgspec.to_builtins(fields), "command": tag}
        told = await self._server.wish(Wish(by=asked.by, second=second, do=do))
        return told.why or refusal

    async def _over_the_socket(self, by: str, command: SentCommand) -> Refusal | None:
        client = self._clients.get(by) or await self._connected(by)
        try:
            await client.send(command, table=TABLE)
        except Refused as error:
            return Refusal(Reason(error.reason), Clause(error.clause or ""), error.message, error.bet)
        return None

    async def _connected(self, name: str) -> Client:
        assert self._server is not None
        who = self._devices.get(name) or Staff(await self._server.token(name))
        client = self._clients[name] = await Client(at(self._server.url), who, pace=PACE).start()
        return client

    async def _killed(self, away: int = 0) -> tuple[Event, ...]:
        """Kill -9; the next server starts after a while, and says at once what the stop means."""
        assert self._server is not None
        self._server.kill()
        await self._left()
        self._order = replace(self._order, port=self._server.port, ahead=self._order.ahead + away)
        self._server = await self._processes.open(self._order)
        return self._news()

    async def _left(self) -> None:
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def _news(self) -> tuple[Event, ...]:
        """What has come to the table's journal since, as an auditor reads it beside the server."""
        reader = SqliteReader(self._folder / FILE)
        rows = list(reader.rows(after=self._read, stream=STREAM))
        reader.close()
        self._read = rows[-1].version if rows else self._read
        events: list[Any] = [self._codec.decode(row.body, row.position).event for row in rows]
        return tuple(events)


def _done(answer: Answer) -> None:
    assert not isinstance(answer, Refusal), answer
