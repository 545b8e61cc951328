"""The settings of casino.toml, section by section."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast
from zoneinfo import ZoneInfo

from taisai.cage.values import NAME
from taisai.game.checks import MOST_AT_ONCE
from taisai.rules.settlement import GREATEST_SUM
from taisai.server.config import kinds
from taisai.server.config.kinds import PathKind
from taisai.validation import ValueKind, choice, flag, number, whole

T = TypeVar("T")


class ServerSetting(NamedTuple):
    name: str
    kind: ValueKind[Any]
    says: str
    default: object
    """As written in the file; None if there is no default."""
    example: object
    """Shown where there is no default."""
    required: bool
    instead: str = ""
    """The setting of the same section that may be given in its place."""

    @property
    def is_public(self) -> bool:
        """Whether the journal records its value: a path says how a machine is set up, so it does not."""
        return not isinstance(self.kind, PathKind) and self.kind is not kinds.DATABASE


def _field(setting: ServerSetting) -> Any:
    return field(metadata={"setting": setting})


def with_default(kind: ValueKind[T], says: str, *, default: object, example: object = None) -> T:
    return cast(T, _field(ServerSetting("", kind, says, default, example, required=False)))


def with_default_unless(instead: str, kind: ValueKind[T], says: str, *, default: object) -> T | None:
    """A setting with a default that counts only where another setting is not given."""
    return cast(
        T | None, _field(ServerSetting("", kind, says, default, None, required=False, instead=instead))
    )


def required(kind: ValueKind[T], says: str, *, example: object) -> T:
    return cast(T, _field(ServerSetting("", kind, says, None, example, required=True)))


def optional(kind: ValueKind[T], says: str, *, example: object) -> T | None:
    """A setting that may be left out and has no default."""
    return cast(T | None, _field(ServerSetting("", kind, says, None, example, required=False)))


def settings_of(section: type[Any]) -> Iterator[ServerSetting]:
    for section_field in fields(section):
        if "setting" in section_field.metadata:
            setting: ServerSetting = section_field.metadata["setting"]
            yield setting._replace(name=section_field.name)


# ruff: noqa: RUF009  a setting is a field of a dataclass, made by a function


AMOUNT: Final = whole(1, GREATEST_SUM, "minor units")
AT_ONCE: Final = whole(1, MOST_AT_ONCE, "minor units")
_DAY: Final = 24 * 60
_LEFT_OUT: Final = {"http": ":80", "https": ":443"}
"""The ports that a browser leaves out of an origin."""


class LogLevel(StrEnum):
    """The least severity that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogForm(StrEnum):
    """The form of log lines: JSON for machines, or text for people."""

    JSON = "json"
    CONSOLE = "console"


# A row begins with the name, the type and the kind of a setting.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class HouseConfig:
    """The house itself."""

    name: str = required(NAME, "The name of the house; the journal records it for ever.", example="Lotus")
    currency: str = required(kinds.CURRENCY,
        "The currency of the cage and of all tables; money is in its minor units.", example="SGD")
    zone: ZoneInfo = required(
        kinds.ZONE, "The time zone of the house (IANA), which gaming days follow.", example="Asia/Singapore")
    day_begins: datetime.time = with_default(
        kinds.TIME, "The local time at which a gaming day begins.", default="06:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalConfig:
    """The journal, the key that signs it, and the copies of its checkpoints."""

    file: Path | None = with_default_unless("database", PathKind("a journal", exists=True),
        "The journal; `taisai init` makes it. Keep it on a local disk.", default="journal.db")
    database: str | None = optional(kinds.DATABASE,
        "A journal in PostgreSQL, in place of a file; `taisai init --database` makes it.",
        example="postgresql:///taisai#house")
    key: Path = with_default(PathKind("a key file", exists=True),
        "The secret key that signs checkpoints. Mode 0600; keep it on another disk than the journal.",
        default="house.key")
    passphrase_file: Path | None = optional(
        PathKind("a file with a passphrase", exists=True, is_quoted=False),
        "A file whose first line is the key's passphrase, if it has one. Mode 0600.",
        example="house.passphrase")
    seal_every: int = with_default(whole(1, 1_000_000, "entries"),
        "The server signs a checkpoint after this many new entries.", default=1_000)
    seal_minutes: int = with_default(whole(1, _DAY, "minutes"),
        "The server signs a checkpoint after this time, if there is a new entry.", default=15)
    checkpoints: Path | None = optional(PathKind("a folder", exists=False),
        "A folder for a copy of every checkpoint: mount one whose files this machine cannot alter.",
        example="checkpoints")

    @property
    def place(self) -> str:
        """Where the journal is: a path, or the URL of a database with the journal's name."""
        return self.database or str(self.file)

    @property
    def label(self) -> str:
        """What messages call the journal."""
        return self.database or (self.file.name if self.file else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenConfig:
    """The address of the server, and the pages and proxies that it trusts."""

    host: str = with_default(kinds.HOST,
        "The address to listen on. Any address except this machine's own (127.0.0.1, ::1, localhost) needs "
        "TLS, also behind a proxy.", default="127.0.0.1")
    port: int = with_default(whole(1, 65_535), "The port to listen on.", default=8080)
    origins: tuple[str, ...] = with_default(kinds.ORIGINS,
        "Addresses of the pages that may connect, as browsers show them; empty: the server's own address. "
        "Required behind a proxy, and if the host is every address (0.0.0.0, ::).", default=[])
    tls_certificate: Path | None = optional(PathKind("a certificate", exists=True),
        "The certificate chain in PEM; requires tls_key.", example="floor.crt")
    tls_key: Path | None = optional(PathKind("the certificate's key", exists=True),
        "The certificate's secret key in PEM. Mode 0600.", example="floor.key")
    behind_proxy: bool = with_default(flag(),
        "Whether a proxy in front of the server does the TLS for clients. On another machine it speaks TLS "
        "to the server, too.",
        default=False)
    proxies: tuple[str, ...] = with_default(kinds.NETWORKS,
        "The proxy's addresses or networks, with behind_proxy: the server believes a forwarded client "
        "address only from these. It counts and records sign-ins by client address.", default=["127.0.0.1"])

    metrics_token_file: Path | None = optional(
        PathKind("a file with a token", exists=True, is_quoted=False),
        "A file whose first line is the token of your monitoring: with it (Authorization: Bearer) another "
        "machine may read /metrics and all of /health. 32 characters or more; mode 0600. Read again when it "
        "changes, so renew it often.",
        example="metrics.token")

    @property
    def address(self) -> str:
        scheme = "http" if self.tls_key is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"

    @property
    def allowed_origins(self) -> frozenset[str]:
        """The pages that may connect: those of the setting, else the server's own."""
        if self.origins:
            return frozenset(self.origins)
        scheme, _, host = self.address.lower().removesuffix(f":{self.port}").partition("://")
        hosts = {host, "localhost"} if is_loopback(self.host) else {host}
        own = {f"{scheme}://{name}:{self.port}" for name in hosts}
        return frozenset(own | {origin.removesuffix(_LEFT_OUT[scheme]) for origin in own})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """Sign-ins and sessions."""

    idle_minutes: int = with_default(
        whole(1, _DAY, "minutes"), "A session ends after this time without a message.", default=15)
    absolute_hours: int = with_default(
        whole(1, 24, "hours"), "A session ends after this time in any case.", default=10)
    sign_ins_a_minute: int = with_default(
        whole(1, 1_000), "The number of sign-ins that one address may try in a minute.", default=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsConfig:
    """The rulebooks that may be played for money, and who approves them."""

    file: Path = with_default(PathKind("a list of approvals", exists=True),
        "The signed list of approved rulebooks (`taisai approve`).", default="approvals.txt")
    key: Path = with_default(PathKind("a public key file", exists=True),
        "The public key that signs that list: the regulator's, or your compliance department's.",
        default="approvals.key.pub")


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareConfig:
    """The program that may run."""

    manifest: str | None = optional(kinds.DIGEST,
        "The digest over all files of the approved program; the server refuses to start any other program.",
        example="sha256:" + "0" * 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorConfig:
    """Limits of the server, and what it records in the journal."""

    sockets: int = with_default(
        whole(1, 15_000), "The most connections at once; the server rejects the next one.", default=5_000)
    asks_a_second: int = with_default(whole(1, 1_000),
        "The number of plain requests that one device may make in a second, on average; a person may make "
        "four times as many. A heavy request counts as several.", default=20)
    large_win: int = with_default(AMOUNT,
        "The journal records winnings of one seat in one round from this amount on.", default=1_000_000)
    clock_jump_ms: int = with_default(whole(100, 3_600_000, "milliseconds"),
        "The journal records a jump of the machine's clock of this length or more; at a start, the clock may "
        "be this far behind the journal's last entry.", default=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class CageConfig:
    """Amounts of the cage: what one person may do alone."""

    sale_alone: int = with_default(AT_ONCE,
        "One person may sell a ticket or credits up to this amount; above it, it takes two.",
        default=1_000_000)
    redemption_alone: int = with_default(AT_ONCE,
        "One person may cash a ticket up to this amount; above it, it takes two.", default=1_000_000)
    largest_fill: int = with_default(AT_ONCE,
        "The most that one fill may send to a table. Every fill takes two people.", default=100_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """The dice monitor."""

    level: float = with_default(number(1e-9, 0.1),
        "The probability that a fair set of dice ever raises the alarm, over any length of time.",
        default=0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmsConfig:
    """From when on the pit has an alarm about the server and its machine."""

    stall_ms: int = with_default(whole(100, 600_000, "milliseconds"),
        "The event loop, or the writer of the journal, stands still for this time.", default=3_000)
    disk_low_mb: int = with_default(whole(1, 100_000_000, "megabytes"),
        "The journal's disk has less than this free: a warning.", default=5_000)
    disk_full_mb: int = with_default(whole(1, 100_000_000, "megabytes"),
        "The journal's disk has less than this free: play is in danger. At most disk_low_mb.", default=1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessConfig:
    """A witness, which remembers the journal's latest checkpoint where this machine cannot change it."""

    url: str | None = optional(kinds.WITNESS_URL,
        "The address of a witness on another host (`taisai witness serve`, or any tlog-witness); needs key.",
        example="https://witness.example/taisai")
    key: str | None = optional(kinds.WITNESS_KEY,
        "The public key of that witness, as `taisai witness init` prints it.",
        example="witness.example/w1+c8b74c6c+BNzFxUNKZzOTTOXrVqhhWaRpCYKNvnEiIoxomfH78PJd")
    certificate: Path | None = optional(PathKind("a certificate", exists=True),
        "The certificate in PEM to trust for url; without it, those that this machine trusts.",
        example="witness.crt")
    file: Path | None = optional(PathKind("a witness's file", exists=False),
        "In place of url: a file on another mount that only takes appends; make it once, empty.",
        example="seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsConfig:
    """The log of the program; events at tables are in the journal, not in the log."""

    level: LogLevel = with_default(choice(LogLevel), "The least severity that is logged.", default="info")
    form: LogForm = with_default(
        choice(LogForm), "The form of log lines: JSON for machines, or text for people.", default="json")


# fmt: on
SECTIONS: Final[dict[str, type[Any]]] = {
    "house": HouseConfig,
    "journal": JournalConfig,
    "listen": ListenConfig,
    "access": AccessConfig,
    "approvals": ApprovalsConfig,
    "software": SoftwareConfig,
    "floor": FloorConfig,
    "cage": CageConfig,
    "watch": WatchConfig,
    "alarms": AlarmsConfig,
    "logs": LogsConfig,
}  # fmt: skip


WITNESS: Final = "witness"
MOST_WITNESSES: Final = 4  # of one house: each of them has to answer before money leaves


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if not kinds.is_address(host):
        return host.lower() == "localhost"
    return ip_address(host).is_loopback
