"""A demonstration without its virtual people, in a process of its own: whoever tests it deals himself.

`python -m tests.pages.demo_server FOLDER PORT '[{"name": "MBS1", "book": "mbs-sic-bo-v6"}]'` serves until its
standard input ends, or until it is killed. A line with the name of a table says that its betting time is up.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import secrets
import sys
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from taisai.demo import house as demo_house
from taisai.demo import house as opening
from taisai.demo import sign_in as demo
from taisai.demo.house import OpenedDemonstration, opened, plan
from taisai.demo.sign_in import Demonstration, endpoints
from taisai.game.commands import Perform
from taisai.game.refusals import Refusal
from taisai.journal import stream_of
from taisai.rules import rulebook
from taisai.rules.procedure import CLOCK
from taisai.rules.vocabulary import Act
from taisai.server.http.public import read_built
from taisai.server.runtime import environment
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan
from taisai.server.runtime.serving import Serving, listening

HOST: Final = "127.0.0.1"
WINDOW: Final = 300_000  # ms for which bets are open: longer than any test, which says itself when time is up
DONE: Final = "done"
once: Final = cache(rulebook)
_OF_BOOK: Final = {spot.book: spot for spot in demo_house.TABLES.values()}


class Laid(Struct, frozen=True, kw_only=True):
    """A table to be served."""

    name: str
    book: str
    layout: str | None = None
    window: int = WINDOW
    shaker: bool = False
    """Whether the demonstration's shaker draws; else the dice are whatever is keyed."""


class _Clock(WallClock):
    """The machine's clock, or ahead of it by `TAISAI_AHEAD` milliseconds."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        return super().now() + int(os.environ.get("TAISAI_AHEAD") or 0)


class _Nobody:
    """The virtual dealers of a house that has none."""

    def __init__(self) -> None:
        self.tables = {spot.name: False for spot in demo_house.TABLES.values()}

    def pause(self, table: str, *, dealing: bool) -> None:
        """Notes what was asked for; nobody deals all the same."""
        self.tables[table] = dealing

    def relieved(self, rank: str, table: str, session: str) -> None:
        """There is nobody to relieve."""


def _cast(tables: tuple[Laid, ...]) -> None:
    """Gives the demonstration these tables instead of its own: same people, same limits."""
    for module in (opening, demo):
        vars(module)["rulebook"] = once  # a dozen tables of a book need not read it a dozen times
    spots = tuple(_OF_BOOK[one.book]._replace(name=one.name, layout=one.layout) for one in tables)
    if not any(one.shaker for one in tables):  # a test adopts the interpretations itself
        vars(opening)["_adopt"] = lambda *_engine_and_book, **_now: None
    vars(demo_house).update(TABLES={spot.name: spot for spot in spots})


def _planned(tables: tuple[Laid, ...], origins: frozenset[str]) -> HousePlan:
    made = plan(window=WINDOW, origins=origins)
    by_name = {one.name: one for one in tables}
    return dataclasses.replace(
        made,
        tables=[
            dataclasses.replace(one, window=by_name[one.name].window, demonstration=by_name[one.name].shaker)
            for one in made.tables
        ],
        # A whole run comes from one address, in the name of one person a rank.
        bounds=ConnectionLimits(asks_a_second=5_000, burst=5_000, requests_a_second=5_000),
        policy=made.policy._replace(most_per_person=2_000),
    )


async def _heed(casino: HouseServer, reader: asyncio.StreamReader) -> None:
    """Plays the betting clock, for tables where nobody else may close, until there are no more lines."""
    while line := (await reader.readline()).decode().strip():
        close = Perform(at=casino.clock.now(), by=CLOCK, act=Act.CLOSE_BETS)
        answer = await casino.queue.execute(stream_of(line), close)
        print(answer if isinstance(answer, Refusal) else DONE, flush=True)  # noqa: T201


async def _serve(house: OpenedDemonstration, port: int, tables: tuple[Laid, ...]) -> None:
    at = listening(HOST, port)
    url = f"http://{HOST}:{at.getsockname()[1]}"
    casino = HouseServer(
        house.engine, _planned(tables, frozenset({url})), clock=_Clock(), entropy=secrets.token_bytes,
        key=house.key,
    )  # fmt: skip
    if folder := os.environ.get("TAISAI_BUILT"):
        casino.dispatcher.pages = read_built(
            Path(folder)
        )  # others than the program's own, as Vite calls it too
    demonstration = Demonstration(casino)
    demonstration.dealers = _Nobody()
    await casino.start()
    serving = Serving(
        casino, at, extra=endpoints(demonstration), on_ready=lambda: print(url, flush=True)  # noqa: T201
    )  # fmt: skip
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    served = asyncio.ensure_future(serving.run())
    ended = asyncio.ensure_future(_heed(casino, reader))
    await asyncio.wait((served, ended), return_when=asyncio.FIRST_COMPLETED)
    serving.stop()
    await served


def main(folder: str, port: str, tables: str) -> None:
    """Serves the house in a folder: made where there is none, recovered where there is."""
    laid = msgspec.json.decode(tables, type=tuple[Laid, ...])
    _cast(laid)
    environment.begin("warning", "console")
    with opened(Path(folder), now=_Clock().now(), entropy=secrets.token_bytes) as house:
        asyncio.run(_serve(house, int(port), laid))


if __name__ == "__main__":
    main(*sys.argv[1:])
