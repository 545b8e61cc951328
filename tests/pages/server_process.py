"""A real server for the pages: served by a process of its own, that can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx
import msgspec

from taisai.audit.sources import Body, JournalFile
from taisai.client import Console, Device, Staff, Terminal, at
from taisai.demo.house import JOURNAL
from taisai.journal import stream_of
from taisai.protocol.message import Request
from tests.pages.demo_server import DONE, Laid
from tests.project.tree import ROOT

STARTED_WITHIN: Final = 60.0  # seconds: machines that test are shared
STOPPED_WITHIN: Final = 60.0
BOOKS: Final[Mapping[str, str]] = {
    "MBS": "mbs-sic-bo-v6",
    "RWS": "rws-sic-bo-etg-v8",
    "CARD": "mbs-3-card-sic-bo",
    "US": "us-sic-bo",
}
"""How tables begin → the rulebook that they are played by."""
HEADS: Final = {
    "MBS": "shift-manager",
    "RWS": "shift-manager",
    "CARD": "shift-manager",
    "US": "casino-supervisor",
}
"""How tables begin → the highest rank that their document knows."""
DEMONSTRATION: Final = tuple(Laid(name=f"{kind}1", book=book, shaker=True) for kind, book in BOOKS.items())
"""The four tables that `taisai demo` has."""


def kind_of(table: str) -> str:
    """How a table's name begins: which rulebook it has."""
    return table.rstrip("0123456789")


def tables_of(many: int) -> tuple[Laid, ...]:
    """So many tables of each rulebook, whose dice are whatever is keyed."""
    return tuple(
        Laid(name=f"{kind}{number}", book=book)
        for kind, book in BOOKS.items()
        for number in range(1, many + 1)
    )


class House:
    """A server of play money at a port of its own: `async with House(folder, tables) as house:`."""

    def __init__(self, folder: Path, tables: Sequence[Laid]) -> None:
        self.folder = folder
        self.built: Path | None = None
        """Other pages than the program's own, from the next start on."""
        self.ahead = 0
        """Milliseconds by which its clock is ahead of the machine's, from the next start on."""
        self.tables = {one.name: one for one in tables}
        self.url = ""
        self._unused = list(self.tables)
        self._process: asyncio.subprocess.Process | None = None

    # Coming and going

    async def start(self) -> Self:
        """Serves; after a stop at the same port, over the same journal."""
        port = self.url.rpartition(":")[2] or "0"
        tables = msgspec.json.encode(tuple(self.tables.values())).decode()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.pages.demo_server", str(self.folder / "journal"), port, tables,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, cwd=ROOT,
                env=os.environ
                | {"TAISAI_AHEAD": str(self.ahead)}
                | ({"TAISAI_BUILT": str(self.built)} if self.built else {}),
            )  # fmt: skip
        assert self._process.stdout is not None
        async with asyncio.timeout(STARTED_WITHIN):
            self.url = (await self._process.stdout.readline()).decode().strip()
        if not self.url:
            raise RuntimeError(f"expected a floor that serves, got one that stopped:\n{self.log}")
        return self

    async def stop(self) -> None:
        """Lets it stop as it should."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(STOPPED_WITHIN):
            await self._process.wait()
        self._process = None

    async def kill(self) -> None:
        """The power goes: SIGKILL, and nothing is tidied up."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.kill()
        await self._process.wait()
        self._process.stdin.close()
        self._process = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def _log(self) -> Path:
        return self.folder / "floor.log"

    @property
    def log(self) -> str:
        """What the server complained of."""
        return self._log.read_text("utf-8")

    def fresh(self, kind: str) -> str:
        """A table at which nobody has been, by how its name begins."""
        found = next((name for name in self._unused if kind_of(name) == kind), None)
        if found is None:
            raise LookupError(f"expected a fresh table of {kind}, got none left: lay more in the house")
        self._unused.remove(found)
        return found

    async def time_is_up(self, table: str) -> None:
        """The betting clock of a table runs out, where nobody but the clock may close."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{table}\n".encode())
        answer = (await self._process.stdout.readline()).decode().strip()
        if answer != DONE:
            raise RuntimeError(f"expected bets to close at {table}, got {answer}")

    def events(self, table: str, kind: str) -> list[dict[str, Any]]:
        """The journal's events of one kind at a table, read beside the server, as an auditor would."""
        source = JournalFile(self.folder / "journal" / JOURNAL)
        try:
            rows = [msgspec.json.decode(one.body) for one in source.pieces() if isinstance(one, Body)]
        finally:
            source.close()
        stream = stream_of(table)
        return [row["event"] for row in rows if row["stream"] == stream and row["event"]["event"] == kind]

    # People who need no page

    @property
    def socket(self) -> str:
        """Where sockets connect."""
        return f"{self.url.replace('http', 'ws', 1)}/socket"

    async def told(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """An answer over HTTP."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers) as http:
            answer = await http.request(method, path, json=body)
        if answer.is_error:
            raise RuntimeError(
                f"expected {method} {path} to be answered, got {answer.status_code}: {answer.text}"
            )
        return answer.json()

    async def token(self, rank: str, table: str | None = None) -> str:
        """A session of someone of a rank."""
        entered = await self.told("POST", "/api/demo/enter", {"role": rank, "table": table})
        return str(entered["token"])

    async def agreed(self, ask: Request, token: str) -> str:
        """The id of a virtual supervisor's approval of exactly this."""
        plain = {
            key: value for key, value in msgspec.to_builtins(ask).items() if key not in ("id", "approval")
        }
        asked = await self.told("POST", "/api/approvals", {"request": plain}, token=token)
        approval = str(asked["approval"])
        await self.told("POST", "/api/demo/agree", {"approval": approval}, token=token)
        return approval

    async def staff(self, rank: str, table: str) -> Console:
        """Someone of a rank at a table's console, without a page."""
        console = await Console(at(self.socket), Staff(await self.token(rank, table)), table=table).start()
        await console.take_position(rank)
        return console

    async def player(self, table: str, *, buys: int = 0) -> Terminal:
        """A player who sits at a terminal, without a page."""
        device = Device.of("", secrets.token_bytes(32))
        entered = await self.told(
            "POST", "/api/demo/enter", {"role": "player", "table": table, "key": device.public}
        )
        terminal = await Terminal(at(self.socket), Device(entered["device"], device.key)).start()
        await terminal.sit_down()
        if buys:
            await terminal.buy_credits(buys)
        return terminal


async def closed(clients: Iterable[Console | Terminal]) -> None:
    """Lets them all go."""
    for one in clients:
        await one.close()
