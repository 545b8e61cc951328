"""The server in a process of its own: one table, so many enrolled terminals, all seated and rich.

The journal is sealed every second, and a witness has seen it, as at a house.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import uvloop
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bench.terminals import AT, BOOK, CREDITS, DEALER, LAYOUT, LIMITS, TABLE
from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import DeviceKind, EnrolDevice, EnrolPerson, OpenHouse
from taisai.game.commands import Assign, BuyCredits, OpenTable, Perform, TakeSeat
from taisai.game.refusals import Refusal
from taisai.journal import Engine, Journal, SigningKey, SqliteStore, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.rules import rulebook
from taisai.rules.procedure import CLOCK
from taisai.rules.vocabulary import Act
from taisai.server.runtime import environment
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan, TablePlan
from taisai.server.runtime.serving import Serving, listening
from taisai.server.runtime.witness_links import WitnessLink
from taisai.witness.client import FileWitness
from taisai.witness.memory import SeenCheckpoints

KEY: Final = Ed25519PrivateKey.from_private_bytes(b"a key that every terminal has!!!")
PUBLIC: Final = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
STREAM: Final = stream_of(TABLE)
HOUSE_KEY: Final = SigningKey.new("bench", seed=bytes(32))


def _prepared(folder: str, many: int) -> Engine:
    store = SqliteStore(Path(folder, "floor.db"))
    journal = Journal.opened(
        store, journal="bench", key=HOUSE_KEY, at=AT, by="ann", program="bench", demonstration=True
    )
    engine = Engine(journal)
    ann: Any = {"at": AT, "by": "ann"}
    opening = OpenTable(
        at=AT, by="sue", rank="shift-manager", table=TABLE, limits=LIMITS, currency="SGD", day="2026-11-15",
        zone="Asia/Singapore",
    )  # fmt: skip
    house = OpenHouse(**ann, house="Bench", currency="SGD", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND)
    asks = [
        Submission(HOUSE_STREAM, house),
        Submission(HOUSE_STREAM, EnrolPerson(**ann, person="sue", rank="shift-manager")),
        Submission(HOUSE_STREAM, EnrolPerson(**ann, person=DEALER, rank="dealer")),
        Submission(STREAM, opening, rulebook(BOOK)),
        Submission(STREAM, Assign(at=AT, by="sue", person=DEALER, rank="dealer", position="dealer")),
    ]
    for number in range(many):
        seat, device = str(number), f"T{number}"
        enrol = EnrolDevice(
            at=AT, by="sue", device=device, kind=DeviceKind.TERMINAL, key=PUBLIC, table=TABLE, seat=seat
        )
        asks += [
            Submission(HOUSE_STREAM, enrol),
            Submission(STREAM, TakeSeat(at=AT, by=device, seat=seat, terminal=device, layout=LAYOUT)),
            Submission(STREAM, BuyCredits(at=AT, by=device, seat=seat, amount=CREDITS)),
        ]
    for answer in engine.answer_all(asks):
        assert not isinstance(answer, Refusal), answer
    return engine


async def main(many: int) -> None:
    """Serves until standard input ends; each line of it is an act of the round."""
    with TemporaryDirectory() as folder:
        engine = _prepared(folder, many)
        at = listening("127.0.0.1", 0)
        port = at.getsockname()[1]
        plan = HousePlan(
            house="Bench", currency="SGD", zone="Asia/Singapore",
            tables=[TablePlan(name=TABLE, book=rulebook(BOOK), limits=LIMITS)],
            origins=frozenset({f"http://127.0.0.1:{port}"}),
            bounds=ConnectionLimits(
                asks_a_second=100_000, burst=100_000, bets_a_round=10**9, sockets_of_person=1_000,
            ),
        )  # fmt: skip
        clock = WallClock()
        seen = Path(folder, "witnessed.jsonl")
        SeenCheckpoints.make(seen)
        link = WitnessLink(FileWitness(seen))
        casino = HouseServer(
            engine, plan, clock=clock, entropy=secrets.token_bytes, key=HOUSE_KEY, links=[link]
        )
        await casino.start()
        serving = Serving(casino, at, signals=False)
        task = asyncio.create_task(serving.run())
        print(port, flush=True)
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
        while line := await reader.readline():
            words = line.decode().split()
            act = Act(words[0])
            figures: dict[str, object] = {}
            if act is Act.TUMBLE:
                figures = {"tumbles": 3}
            elif act is Act.ENTER_RESULT:
                figures = {"faces": (1, 2, 3)}
            by = CLOCK if act is Act.CLOSE_BETS else DEALER
            answer = await casino.queue.execute(STREAM, Perform(at=clock.now(), by=by, act=act, **figures))  # type: ignore[arg-type]
            print(answer if isinstance(answer, Refusal) else "done", flush=True)
        assert await casino.sealing.cover() is None, "the witness has not seen the journal"
        assert casino.sealing.covered == engine.journal.size
        serving.stop()
        await task


if __name__ == "__main__":
    environment.begin("warning", "json")  # standard output is read for answers alone
    uvloop.run(main(int(sys.argv[1])))
