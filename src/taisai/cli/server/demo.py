"""`taisai demo`: runs a casino of play money, with a lobby into every role."""

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
from taisai.validation import whole_text

if TYPE_CHECKING:  # loaded when the demonstration starts
    from taisai.demo.house import OpenedDemonstration
    from taisai.server.runtime.command_queue import Committed

HOST: Final = "127.0.0.1"
PORT: Final = 8080
PORTS_TRIED: Final = 20  # ports after the first, if other programs use them
MOST_ROUNDS: Final = 1_000_000


def run(arguments: Namespace) -> int:
    """Opens the house, serves it until it is stopped, and prints how to prove what was played."""
    rounds = _whole(arguments.rounds, "--rounds", 1, MOST_ROUNDS)
    seed = _whole(arguments.seed, "--seed", 0, 2**53)
    at = _listening(_whole(arguments.port, "--port", 0, 65_535))
    with ExitStack() as stack, at:
        if arguments.data is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="taisai-demo-")))
        else:
            folder = Path(arguments.data)
        evening = _Evening(folder, at, is_fast=arguments.fast, rounds=rounds, seed=seed)
        evening.play(lambda url: _print_addresses(url, folder, arguments))
        _print_end(evening, folder, is_kept=arguments.data is not None)
    return 0


def _whole(text: str | None, option: str, least: int, most: int) -> int | None:
    return None if text is None else whole_text(least, most, such_as="").check(text, option)


def _listening(port: int | None) -> socket.socket:
    """A socket on the given port; by default on the first free one."""
    from taisai.server.runtime.serving import listening

    if port is not None:
        return listening(HOST, port)
    for candidate in range(PORT, PORT + PORTS_TRIED):
        try:
            return listening(HOST, candidate)
        except RulesError:
            continue
    return listening(HOST, 0)


class _Evening:
    """One run of the demonstration."""

    def __init__(
        self, folder: Path, at: socket.socket, *, is_fast: bool, rounds: int | None, seed: int | None
    ) -> None:
        from taisai.demo.players import FAST, LIVELY

        self.finished: dict[str, int] = {}
        """Table → number of finished rounds."""
        self.url = f"http://{HOST}:{at.getsockname()[1]}"
        self._folder = folder
        self._at = at
        self._waits = FAST if is_fast else LIVELY
        self._rounds = rounds
        self._random = Random(secrets.randbits(64) if seed is None else seed)  # noqa: S311  only for behaviour
        self._stop: Callable[[], None] = lambda: None

    def play(self, begun: Callable[[str], None]) -> None:
        """Opens the house and serves it in a new event loop; calls `begun` when it listens."""
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
        house_server.queue.listeners.append(self._count_rounds)
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

    def _count_rounds(self, happened: Committed) -> None:
        """Counts finished rounds, and stops after the given number."""
        from taisai.demo.house import TABLES
        from taisai.game.events import RoundConcluded, RoundVoided
        from taisai.journal import table_of

        table = table_of(happened.stream)
        is_over = any(isinstance(event, RoundConcluded | RoundVoided) for event in happened.events)
        if table is None or not is_over:
            return
        self.finished[table] = self.finished.get(table, 0) + 1
        if self._rounds is not None and all(self.finished.get(name, 0) >= self._rounds for name in TABLES):
            self._stop()


def _loop() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # not available on every system
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for signal_ in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(signal_, stop)
        except (NotImplementedError, RuntimeError):  # not supported here, or not the main thread
            return


# Output


def _print_addresses(url: str, folder: Path, arguments: Namespace) -> None:
    port = int(url.rpartition(":")[2])
    line("Taisai demonstration: four tables, a dozen virtual players, play money without any value.")
    line()
    if arguments.port is None and port != PORT:
        line(f"  (port {PORT} is in use)")
    line(f"  lobby    {url}/")
    line(f"  health   {url}/health")
    line(f"  metrics  {url}/metrics")
    line(f"  schemas  {url}/schema/openapi.json  {url}/schema/socket.json")
    line(f"  journal  {printable(str(folder / 'journal.db'))}")
    line()
    line("The lobby opens every role with one click. Ctrl-C stops.")
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


def _print_end(evening: _Evening, folder: Path, *, is_kept: bool) -> None:
    played = ", ".join(f"{count} at {table}" for table, count in sorted(evening.finished.items())) or "none"
    line()
    line(f"Rounds played: {played}.")
    if is_kept:
        file = shlex.quote(str(folder / "journal.db"))
        line(f"Prove them:     taisai audit verify {printable(file)}")
        line(f"Continue later: taisai demo --data {printable(shlex.quote(str(folder)))}")
    else:
        line("The journal was deleted. --data DIR keeps it, and `taisai audit verify` proves it.")
