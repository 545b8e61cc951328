"""`taisai status`: how a floor is, live in the terminal."""

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

EVERY: Final = 1.0  # seconds between looks
PATIENCE: Final = 5.0  # seconds that a floor may take to answer
TROUBLE: Final = 1


class _Table(msgspec.Struct):
    """What is shown of a table."""

    name: str
    rulebook: str
    phase: str
    number: int
    hold: str | None
    shut: str | None


class _Health(msgspec.Struct):
    """What is shown of a floor; one that is newer may say more."""

    status: str
    program: str
    demonstration: bool
    sockets: int
    journal: int
    trouble: str | None
    tables: list[_Table]


def run(arguments: Namespace) -> int:
    """Shows the floor until Ctrl-C on a terminal, once elsewhere; 1 while the floor is in trouble."""
    url = _address(arguments.url)
    with _client(url) as client:
        health = _health(client, url)
        if arguments.json:
            as_json(health)
        elif arguments.once or not sys.stdout.isatty():
            _tell(url, health)
        else:
            try:
                _live(client, url, health)
            except KeyboardInterrupt:  # how one leaves it: nothing was stopped
                return INTERRUPTED
    return TROUBLE if health["status"] != "ok" else 0


def _address(url: str) -> str:
    """The floor's address; one without a scheme, such as localhost:9000, is taken as http."""
    return (url if "://" in url else f"http://{url}").rstrip("/")


def _client(url: str) -> httpx.Client:
    try:
        return httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise RulesError(
            f"expected an address such as http://127.0.0.1:8080, got {printable(url)!r}"
        ) from None


def _health(client: httpx.Client, url: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(client.get("/health").content, type=dict[str, Any])
        msgspec.convert(found, _Health)
    except msgspec.ValidationError:
        raise RulesError(f"expected a floor of Taisai at {printable(url)}, got something else") from None
    except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError, UnicodeError) as error:
        got = printable(str(error) or type(error).__name__)
        raise RulesError(f"expected a floor that answers at {printable(url)}, got none: {got}") from None
    return found


def _rows(health: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (
            "status",
            printable(health["status"]) + (f": {printable(health['trouble'])}" if health["trouble"] else ""),
        ),
        ("program", printable(health["program"]) + (" · DEMONSTRATION" if health["demonstration"] else "")),
        ("connections", f"{health['sockets']:,}"),
        ("journal", f"{health['journal']:,} entries"),
    ]


def _tell(url: str, health: dict[str, Any]) -> None:
    line(f"{printable(url)}")
    for name, value in _rows(health):
        line(f"  {name:12} {value}")
    for one in health["tables"]:
        shut = f" · shut: {printable(one['shut'])}" if one["shut"] else ""
        hold = f" · waits: {printable(one['hold'])}" if one["hold"] else ""
        what = f"{printable(one['rulebook'])}, round {one['number']}, {printable(one['phase'])}"
        line(f"  {printable(one['name']):12} {what}{hold}{shut}")


def _live(client: httpx.Client, url: str, health: dict[str, Any]) -> None:
    from rich.live import Live

    with Live(_drawn(url, health), refresh_per_second=4) as live:
        while True:
            time.sleep(EVERY)
            try:
                health = _health(client, url)
                live.update(_drawn(url, health))
            except RulesError as error:
                live.update(f"{error}\n(looking again; Ctrl-C ends)")


def _drawn(url: str, health: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    style = "green" if health["status"] == "ok" else "bold red"
    head = Text(f"{printable(url)}  ", style="bold")
    for name, value in _rows(health):
        head.append(f"\n{name:12} ", style="dim")
        head.append(value, style=style if name == "status" else "")
    shown = Table("table", "rulebook", "round", "phase", "waits for", "shut", box=None, pad_edge=False)
    for one in health["tables"]:
        shown.add_row(
            *(Text(printable(one[name])) for name in ("name", "rulebook")), str(one["number"]),
            *(Text(printable(one[name] or "")) for name in ("phase", "hold", "shut")),
        )  # fmt: skip
    return Group(head, Text(), shown)
