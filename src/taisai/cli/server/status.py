"""`taisai status`: the status of a running server, live in the terminal."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import Any, Final

import httpx
import msgspec

from taisai.cli import INTERRUPTED
from taisai.cli.printing import as_json, line
from taisai.rules.errors import RulesError, printable

INTERVAL: Final = 1.0  # seconds between two requests
TIMEOUT: Final = 5.0  # seconds that the server has to answer
TROUBLE: Final = 1
ELSEWHERE: Final = "the server shows it on its own machine only"


class _Table(msgspec.Struct):
    name: str
    rulebook: str
    phase: str | None = None
    number: int | None = None
    hold: str | None = None
    shut: str | None = None


class _Health(msgspec.Struct):
    """The fields of a server that are shown; a newer server may send more. From afar it tells less."""

    status: str
    demonstration: bool
    tables: list[_Table]
    program: str | None = None
    sockets: int | None = None
    journal: int | None = None
    trouble: str | None = None


def run(arguments: Namespace) -> int:
    """Shows the status until Ctrl-C on a terminal, else once; exit code 1 if the server has a problem."""
    url = _address(arguments.url)
    with _client(url) as client:
        health = _health(client, url)
        if arguments.json:
            as_json(health)
        elif arguments.once or not sys.stdout.isatty():
            _print_status(url, health)
        else:
            try:
                _live(client, url, health)
            except KeyboardInterrupt:  # the usual end of a live view
                return INTERRUPTED
    return TROUBLE if health["status"] != "ok" else 0


def _address(url: str) -> str:
    """The server's address; http is the default scheme, such as for localhost:9000."""
    return (url if "://" in url else f"http://{url}").rstrip("/")


def _client(url: str) -> httpx.Client:
    try:
        return httpx.Client(base_url=url, timeout=TIMEOUT, trust_env=False)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        expected = "an address such as http://127.0.0.1:8080"
        raise RulesError(f"expected {expected}, got {printable(url)!r}") from None


def _health(client: httpx.Client, url: str) -> dict[str, Any]:
    try:
        health: dict[str, Any] = msgspec.json.decode(client.get("/health").content, type=dict[str, Any])
        health = msgspec.to_builtins(msgspec.convert(health, _Health)) | health
    except msgspec.ValidationError:
        raise RulesError(f"not a server of Taisai: {printable(url)}") from None
    except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError, UnicodeError) as error:
        reason = printable(str(error) or type(error).__name__)
        raise RulesError(f"no answer from {printable(url)}: {reason}") from None
    return health


def _rows(health: dict[str, Any]) -> list[tuple[str, str]]:
    trouble = f": {printable(health['trouble'])}" if health["trouble"] else ""
    if health["program"] is None:
        demonstration = " · DEMONSTRATION" if health["demonstration"] else ""
        return [("status", printable(health["status"]) + demonstration), ("more", ELSEWHERE)]
    return [
        ("status", printable(health["status"]) + trouble),
        ("program", printable(health["program"]) + (" · DEMONSTRATION" if health["demonstration"] else "")),
        ("connections", f"{health['sockets']:,}"),
        ("journal", f"{health['journal']:,} entries"),
    ]


def _print_status(url: str, health: dict[str, Any]) -> None:
    line(f"{printable(url)}")
    for name, value in _rows(health):
        line(f"  {name:12} {value}")
    for table in health["tables"]:
        out = f" · out of service: {printable(table['shut'])}" if table.get("shut") else ""
        hold = f" · waits: {printable(table['hold'])}" if table.get("hold") else ""
        state = printable(table["rulebook"])
        if table.get("phase") is not None:
            state += f", round {table['number']}, {printable(table['phase'])}"
        line(f"  {printable(table['name']):12} {state}{hold}{out}")


def _live(client: httpx.Client, url: str, health: dict[str, Any]) -> None:
    from rich.live import Live

    with Live(_drawn(url, health), refresh_per_second=4) as live:
        while True:
            time.sleep(INTERVAL)
            try:
                health = _health(client, url)
                live.update(_drawn(url, health))
            except RulesError as error:
                live.update(f"{error}\n(trying again; Ctrl-C ends)")


def _drawn(url: str, health: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    style = "green" if health["status"] == "ok" else "bold red"
    head = Text(f"{printable(url)}  ", style="bold")
    for name, value in _rows(health):
        head.append(f"\n{name:12} ", style="dim")
        head.append(value, style=style if name == "status" else "")
    shown = Table(
        "table", "rulebook", "round", "phase", "waits for", "out of service", box=None, pad_edge=False
    )
    for table in health["tables"]:
        shown.add_row(
            *(Text(printable(table[name])) for name in ("name", "rulebook")),
            *(Text(printable(str(table.get(name) or ""))) for name in ("number", "phase", "hold", "shut")),
        )
    return Group(head, Text(), shown)
