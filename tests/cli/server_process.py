"""A house that `taisai init` founded, served by a process of its own on a free port of this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from taisai.server.auth.credentials import STEP, OtpSecret, from_base32, step_of

PATIENCE: Final = 60.0  # seconds until a process that does nothing is given up


def free_port() -> int:
    """A port that nobody listens at just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def changed(config: Path, **settings: object) -> None:
    """Other settings in a casino.toml, by their names; each is in it once."""
    text = config.read_text("utf-8")
    for name, value in settings.items():
        told = f'"{value}"' if isinstance(value, str) else str(value)
        lines = [f"{name} = {told}" if one.startswith(f"{name} = ") else one for one in text.splitlines()]
        assert lines.count(f"{name} = {told}") == 1, name
        text = "\n".join(lines) + "\n"
    config.write_text(text, encoding="utf-8")


LATEST = 24_000  # ms of a half minute after which a page might send a code too late


class Authenticator:
    """Someone's second factor; each code is good once."""

    def __init__(self, uri: str) -> None:
        self._secret = from_base32(parse_qs(urlsplit(uri).query)["secret"][0])
        self._next = 0

    def code(self) -> str:
        """The code of now, as soon as it is one that was not shown yet and stays valid for some seconds."""
        while (here := step_of(_now())) < self._next or _now() % (STEP * 1_000) > LATEST:
            time.sleep(0.1)
        self._next = here + 1
        return OtpSecret(self._secret).code(here)


def _now() -> int:
    return time.time_ns() // 1_000_000


class Served:
    """The process."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, said: list[str]) -> None:
        self.process = process
        self.url = url
        self.said = said
        """What it printed until the server was open."""

    @property
    def socket(self) -> str:
        """The socket's address."""
        return f"{self.url.replace('http://', 'ws://')}/socket"

    async def stopped(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str, str, float]:
        """Stops it: its exit code, what it printed, what it logged, and how long it took."""
        begun = time.monotonic()
        self.process.send_signal(by)
        async with asyncio.timeout(PATIENCE):
            out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), err.decode(), time.monotonic() - begun


@asynccontextmanager
async def serving(config: Path, *words: str) -> AsyncIterator[Served]:
    """`taisai serve` until the end of the block; killed where it does not end by itself."""
    port = free_port()
    changed(config, port=port)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "taisai", "serve", "--config", str(config), *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )  # fmt: skip
    said: list[str] = []
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while not (said and said[-1].startswith("listening on")):
                line = (await process.stdout.readline()).decode().rstrip("\n")
                if not line:
                    assert process.stderr is not None
                    raise AssertionError(f"{said} {(await process.stderr.read()).decode()}")
                said.append(line)
        yield Served(process, f"http://127.0.0.1:{port}", said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
