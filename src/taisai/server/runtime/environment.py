"""What the process needs of its machine: clock, randomness, logs, its own manifest, copies of checkpoints."""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import structlog

import taisai
from taisai.journal.errors import JournalError
from taisai.journal.seals.checkpoints import MOST_BYTES, SignedCheckpoint, read_signed
from taisai.rules.errors import printable
from taisai.server.auth.permissions import RateLimit, RateLimiter

Entropy = Callable[[int], bytes]
"""Returns so many unpredictable bytes, such as `secrets.token_bytes`."""


class Clock(Protocol):
    """The time."""

    def now(self) -> int:
        """Milliseconds since 1970 in UTC."""

    def steady(self) -> int:
        """Milliseconds since some moment, by a clock that cannot be set."""


class WallClock:
    """The machine's own clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def steady(self) -> int:
        return time.monotonic_ns() // 1_000_000


class JournalPlace(NamedTuple):
    """Where a journal's file is. Digests, because the journal records no path and no name of a machine."""

    machine: str
    file: str


MACHINE_IDS: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


NO_MACHINE_ID: Final = frozenset({"", "uninitialized"})
"""What such a file says in an image that no machine has started yet (machine-id(5))."""


def own_machine_id() -> str | None:
    """The id of this machine; None if it has none, as in most containers."""
    for path in MACHINE_IDS:
        with suppress(OSError):
            name = path.read_text("ascii", errors="replace").strip()
            if name not in NO_MACHINE_ID:
                return name
    return None


def machine_id() -> str:
    """What tells this machine from others: its id, or its network name where it has none."""
    return own_machine_id() or platform.node()


def place_of(file: Path, journal: str, *, machine: Callable[[], str] = machine_id) -> JournalPlace:
    """The place of a journal with this id: the machine, the file's path and its number on the disk."""

    def digest(*parts: str) -> str:
        return sha256("\n".join(("taisai place", journal, *parts)).encode()).hexdigest()[:16]

    path = os.path.realpath(file)
    return JournalPlace(digest(machine()), digest(path, str(Path(path).stat().st_ino)))


CACHE: Final = "__pycache__"
"""Python makes it from the other files, on every machine differently."""


def manifest(package: Path | None = None) -> str:
    """The SHA-256 over path and SHA-256 of every file of the program, sorted by path.

    It is the same for a checkout and for what is installed from it.
    """
    folder = Path(taisai.__file__).parent if package is None else package
    return "sha256:" + sha256("".join(manifest_lines(folder)).encode()).hexdigest()


def manifest_lines(package: Path) -> list[str]:
    """One line a file, as `sha256sum` writes it, so that anyone can make the list again."""
    found = {
        path.relative_to(package).as_posix(): path
        for path in package.rglob("*")
        if path.is_file() and CACHE not in path.relative_to(package).parts
    }
    return [f"{sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(found.items())]


_SECRET: Final = frozenset(
    {
        "password", "code", "token", "approval", "seed", "secret", "totp", "passphrase", "authorization",
        "signature", "ticket",
    }
)  # fmt: skip


def without_secrets(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Masks every value whose name is that of a secret, at any depth."""
    masked: dict[str, Any] = _masked(event)
    return masked


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: "…" if isinstance(key, str) and key.lower() in _SECRET else _masked(within)
            for key, within in value.items()
        }
    return [_masked(within) for within in value] if type(value) in (list, tuple, set) else value


LOGGED_AT_ONCE: Final = 100  # lines about connections; then one a second
_CONNECTIONS: Final = "uvicorn"
"""The logger of whatever clients do to their connections: anyone can make it write."""


class _Sparing(logging.Filter):
    """Lets through so many lines about connections that no stranger fills the disk with them."""

    def __init__(self, *, all_of_them: bool) -> None:
        super().__init__()
        self._all = all_of_them
        self._limit = RateLimiter(RateLimit(burst=LOGGED_AT_ONCE, every=1_000))

    def filter(self, record: logging.LogRecord) -> bool:
        if self._all or record.name.partition(".")[0] != _CONNECTIONS:
            return True
        return self._limit.takes("", int(record.created * 1_000))


def _json_line(event: Mapping[str, Any], **options: Any) -> str:
    """An event as JSON in one line; what a terminal would obey is escaped."""
    text = json.dumps(event, ensure_ascii=False, **options)
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if c <= "\uffff" else json.dumps(c)[1:-1] for c in text
    )


def _in_one_line(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """The event for people: texts of clients make no line of their own. Tracebacks keep their lines."""
    return {
        key: "\n".join(printable(line, len(value) * 10) for line in value.split("\n"))
        if key == "exception" and isinstance(value, str)
        else printable(value, len(value) * 10) if isinstance(value, str) else value
        for key, value in event.items()
    }  # fmt: skip


def begin(level: str, form: str) -> None:
    """Sends all logs to standard error, in one form."""
    shown: tuple[Any, ...] = (structlog.processors.JSONRenderer(_json_line),)
    if form == "console":
        # Its own tracebacks show the values of variables, among them tokens.
        people = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        shown = (_in_one_line, people)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_secrets,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, *shown],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shown],
            foreign_pre_chain=shared,
        )
    )
    handler.addFilter(_Sparing(all_of_them=level.upper() == "DEBUG"))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())


_NAME: Final = re.compile(r"checkpoint-([0-9]{19})\.txt")


def copy_checkpoint(folder: Path, text: str) -> Path:
    """Writes a checkpoint into the folder, completely or not at all; the name has its number of entries."""
    size = read_signed(text).checkpoint.size
    path = folder / f"checkpoint-{size:019}.txt"
    half = folder / f".{path.name}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with half.open("w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        half.replace(path)
    except OSError as error:
        raise JournalError(f"cannot copy the checkpoint to {folder}: {error.strerror}") from None
    return path


def newest_copy(folder: Path) -> SignedCheckpoint | None:
    """The checkpoint over the most entries in the folder, if any."""
    try:
        names = [file.name for file in folder.iterdir()] if folder.exists() else []
        names = list(filter(_NAME.fullmatch, names))
        if not names:
            return None
        with (folder / max(names)).open("rb") as opened:
            return read_signed(opened.read(MOST_BYTES + 1))
    except OSError as error:
        raise JournalError(f"cannot read the checkpoints in {folder}: {error.strerror}") from None
