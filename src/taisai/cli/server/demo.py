"""`taisai demo`: a casino of play money, live, with a lobby that leads into every role."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import signal
import socket
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from taisai.cli.printing import line
from taisai.rules.errors import RulesError, printable

if TYPE_CHECKING:  # what serves is loaded by those who serve
    from taisai.demo.house import OpenedDemonstration
    from taisai.server.runtime.command_queue import Committed

HOST: Final = "127.0.0.1"
PORT: Final = 8080
TRIED: Final = 20  # ports after the first, should others be listening there
MOST_ROUNDS: Final = 1_000_000


def run(arguments: Namespace) -> int:
    """Opens the house, serves it until someone stops it, and tells how to prove what was played."""
    rounds = _whole("--rounds", arguments.rounds, 1, MOST_ROUNDS)
    seed = _whole("--seed", arguments.seed, 0, 2**53)
    at = _listening(_whole("--port", arguments.port, 0, 65_535))
    with ExitStack() as held, at:
        if arguments.data is None:
            folder = Path(held.enter_context(TemporaryDirectory(prefix="taisai-demo-")))
        else:
            folder = Path(arguments.data)
        evening = _Evening(folder, at, is_fast=arguments.fast, rounds=rounds, seed=seed)
        evening.play(lambda url: _begun(url, folder, arguments))
        _told(evening, folder, is_kept=arguments.data is not None)
    return 0


def _whole(option: str, text: str | None, least: int, most: int) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
        raise RulesError(f"expected {option} a whole number from {least} to {most}, got {text!r}")
    return int(text)


def _listening(port: int | None) -> socket.socket:
    """A socket on the port that was asked for; unless one was, on the first that is free."""
    from taisai.server.runtime.serving import listening

    if port is not None:
        return listening(HOST, port)
    for tried in range(PORT, PORT + TRIED):
        try:
            return listening(HOST, tried)
        except RulesError:
            continue
    return listening(HOST, 0)


class _Evening:
    """One demonstration, from its opening to its end."""

    def __init__(
        self, folder: Path, at: socket.socket, *, is_fast: bool, rounds: int | None, seed: int | None
    ) -> None:
        from taisai.demo.players import FAST, LIVELY

        self.over: dict[str, int] = {}
        """Table → rounds that came to their end."""
        self.url = f"http://{HOST}:{at.getsockname()[1]}"
        self._folder = folder
        self._at = at
        self._waits = FAST if is_fast else LIVELY
        self._rounds = rounds
        self._random = Random(secrets.randbits(64) if seed is None else seed)  # noqa: S311  for behaviour alone
        self._stop: Callable[[], None] = lambda: None

    def play(self, begun: Callable[[str], None]) -> None:
        """Opens the house and serves it, in a loop of its own."""
        from taisai.cli.server.serve import recovery_lines
        from taisai.demo.house import opened
        from taisai.server.runtime import environment
        from taisai.server.runtime.environment import WallClock

        with (
            opened(self._folder, now=WallClock().now(), entropy=secrets.token_bytes) as house,
            asyncio.Runner(loop_factory=_loop()) as runner,
        ):
            environment.begin(os.environ.get("TAISAI_LOG", "error"), "console")
            for text in recovery_lines(house.recovered or {}):
                line(text)
            runner.run(self._serve(house, begun))

    async def _serve(self, house: OpenedDemonstration, begun: Callable[[str], None]) -> None:
        from taisai.client import at
        from taisai.demo.crowd import Crowd
        from taisai.demo.house import TABLES, plan
        from taisai.demo.sign_in import Demonstration, endpoints
        from taisai.demo.staff import WorkSwitch
        from taisai.server.runtime.environment import WallClock
        from taisai.server.runtime.house_server import HouseServer
        from taisai.server.runtime.serving import Serving

        origins = frozenset({self.url, self.url.replace(HOST, "localhost")})
        dealing = {setup.name: WorkSwitch() for setup in TABLES.values()}
        house_server = HouseServer(
            house.engine, plan(window=round(self._waits.window * 1000), origins=origins), clock=WallClock(),
            entropy=secrets.token_bytes, key=house.key,
            dealers={table: switch.works for table, switch in dealing.items()},
        )  # fmt: skip
        demonstration = Demonstration(house_server)
        crowd = Crowd(
            house_server, demonstration, at(f"{self.url.replace('http', 'ws')}/socket"), waits=self._waits,
            random=self._random, dealing=dealing,
        )  # fmt: skip
        demonstration.dealers = crowd
        house_server.queue.listeners.append(self._heard)
        ready = asyncio.Event()
        serving = Serving(
            house_server, self._at, extra=endpoints(demonstration), signals=False, on_ready=ready.set
        )
        self._stop = serving.stop
        await house_server.start()
        served = asyncio.ensure_future(serving.run())
        _on_signals(serving.stop)
        came = asyncio.ensure_future(ready.wait())
        await asyncio.wait((served, came), return_when=asyncio.FIRST_COMPLETED)
        came.cancel()
        try:
            if ready.is_set():
                begun(self.url)
                await crowd.start()
            await asyncio.shield(served)
        finally:
            await crowd.stop()
            serving.stop()
            await served

    def _heard(self, one: Committed) -> None:
        """Counts the rounds that came to their end, and stops where there have been enough."""
        from taisai.demo.house import TABLES
        from taisai.game.events import RoundConcluded, RoundVoided
        from taisai.journal import table_of

        table = table_of(one.stream)
        if table is None or not any(isinstance(event, RoundConcluded | RoundVoided) for event in one.events):
            return
        self.over[table] = self.over.get(table, 0) + 1
        if self._rounds is not None and all(self.over.get(name, 0) >= self._rounds for name in TABLES):
            self._stop()


def _loop() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # not made for every system
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(one, stop)
        except (NotImplementedError, RuntimeError):  # not this system, or not the main thread
            return


# What is told


def _begun(url: str, folder: Path, arguments: Namespace) -> None:
    port = int(url.rpartition(":")[2])
    line("Taisai, live: four tables, a dozen virtual players, play money. Nothing here is worth anything.")
    line()
    if arguments.port is None and port != PORT:
        line(f"  (port {PORT} is taken)")
    line(f"  lobby    {url}/")
    line(f"  health   {url}/health")
    line(f"  metrics  {url}/metrics")
    line(f"  schemas  {url}/schema/openapi.json  {url}/schema/socket.json")
    line(f"  journal  {printable(str(folder / 'journal.db'))}")
    line()
    line("The lobby leads into every role with one click. Ctrl-C stops.")
    sys.stdout.flush()
    if not arguments.no_open and _has_display():
        import webbrowser

        webbrowser.open(f"{url}/")


def _has_display() -> bool:
    is_local = not any(name in os.environ for name in ("SSH_CONNECTION", "CI"))
    return is_local and (
        sys.platform in ("darwin", "win32")
        or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    )


def _told(evening: _Evening, folder: Path, *, is_kept: bool) -> None:
    played = ", ".join(f"{count} at {table}" for table, count in sorted(evening.over.items())) or "none"
    line()
    line(f"Rounds played: {played}.")
    if is_kept:
        file = shlex.quote(str(folder / "journal.db"))
        line(f"Prove every one of them:  taisai audit verify {printable(file)}")
        line(f"Go on with it:            taisai demo --data {printable(shlex.quote(str(folder)))}")
    else:
        line("Their journal was deleted. With --data DIR it is kept, and `taisai audit verify` proves it.")
