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

from taisai.rules.settlement import GREATEST_SUM
from taisai.server.config import kinds
from taisai.server.config.kinds import SettingKind

T = TypeVar("T")


class ServerSetting(NamedTuple):
    """One setting as it is listed."""

    name: str
    kind: SettingKind[Any]
    says: str
    default: object
    """As it would stand in the file; None where it need not be given at all."""
    example: object
    """What to show where there is no default."""
    required: bool


def _field(setting: ServerSetting) -> Any:
    return field(metadata={"setting": setting})


def with_default(kind: SettingKind[T], says: str, *, default: object, example: object = None) -> T:
    """A setting with a default."""
    return cast(T, _field(ServerSetting("", kind, says, default, example, required=False)))


def required(kind: SettingKind[T], says: str, *, example: object) -> T:
    """A setting that must be given."""
    return cast(T, _field(ServerSetting("", kind, says, None, example, required=True)))


def optional(kind: SettingKind[T], says: str, *, example: object) -> T | None:
    """A setting without which something is not done, or done otherwise."""
    return cast(T | None, _field(ServerSetting("", kind, says, None, example, required=False)))


def settings_of(section: type[Any]) -> Iterator[ServerSetting]:
    """The settings of a section, in order."""
    for one in fields(section):
        if "setting" in one.metadata:
            listed: ServerSetting = one.metadata["setting"]
            yield listed._replace(name=one.name)


# ruff: noqa: RUF009  a setting is a field of a dataclass, made by a function


AMOUNT: Final = kinds.WholeKind(1, GREATEST_SUM, "minor units")
_DAY: Final = 24 * 60
_LEFT_OUT: Final = {"http": ":80", "https": ":443"}
"""Ports that a browser leaves out of an origin."""


class LogLevel(StrEnum):
    """From which weight on something is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogForm(StrEnum):
    """For machines, or for people."""

    JSON = "json"
    CONSOLE = "console"


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseConfig:
    """The house itself."""

    name: str = required(
        kinds.NameKind(), "What the house is called; it stands in the journal for ever.", example="Lotus"
    )
    currency: str = required(
        kinds.CURRENCY, "The one currency of cage and tables; money is in its minor units.", example="SGD"
    )
    zone: ZoneInfo = required(
        kinds.ZoneKind(),
        "The time zone of the floor (IANA), by which gaming days are told.",
        example="Asia/Singapore",
    )
    day_begins: datetime.time = with_default(
        kinds.TimeKind(), "When a gaming day begins, by the clock on the wall.", default="06:00"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalConfig:
    """The journal, the key that signs it, and where its checkpoints go."""

    file: Path = with_default(
        kinds.PathKind("a journal", exists=True),
        "The journal; `taisai init` makes it. Keep it on a local disk.",
        default="journal.db",
    )
    key: Path = with_default(
        kinds.PathKind("a key file", exists=True),
        "The secret key that signs checkpoints. Mode 0600; best on another disk than the journal.",
        default="house.key",
    )
    passphrase_file: Path | None = optional(
        kinds.PathKind("a file with a passphrase", exists=True, quoted=False),
        "A file whose first line is the key's passphrase, where it has one. Mode 0600.",
        example="house.passphrase",
    )
    seal_every: int = with_default(
        kinds.WholeKind(1, 1_000_000, "entries"),
        "A checkpoint is signed after so many new entries.",
        default=1_000,
    )
    seal_minutes: int = with_default(
        kinds.WholeKind(1, _DAY, "minutes"),
        "A checkpoint is signed after so long, if there is a new entry.",
        default=15,
    )
    checkpoints: Path | None = optional(
        kinds.PathKind("a folder", exists=False),
        "A folder to which every checkpoint is copied: mount one that this machine cannot alter later.",
        example="checkpoints",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenConfig:
    """Where the floor listens, and to whom."""

    host: str = with_default(
        kinds.HostKind(),
        "The address to listen at. Any but this machine's own (127.0.0.1, ::1, localhost) needs TLS, here or "
        "in a proxy.",
        default="127.0.0.1",
    )
    port: int = with_default(kinds.WholeKind(1, 65_535), "The port to listen at.", default=8080)
    origins: tuple[str, ...] = with_default(
        kinds.OriginsKind(),
        "Addresses of the pages that may talk to the floor, as browsers show them; empty means its own "
        "address. Needed behind a proxy, and where the host is every address (0.0.0.0, ::).",
        default=[],
    )
    tls_certificate: Path | None = optional(
        kinds.PathKind("a certificate", exists=True),
        "The certificate chain in PEM; with tls_key or not at all.",
        example="floor.crt",
    )
    tls_key: Path | None = optional(
        kinds.PathKind("the certificate's key", exists=True),
        "The certificate's secret key in PEM. Mode 0600.",
        example="floor.key",
    )
    behind_proxy: bool = with_default(
        kinds.FlagKind(),
        "Whether a proxy before the floor keeps the TLS; only then may it listen elsewhere without.",
        default=False,
    )
    proxies: tuple[str, ...] = with_default(
        kinds.AddressesKind(),
        "The proxy's addresses or networks, with behind_proxy: what it says of a client's own address is "
        "believed from there alone. Sign-ins are counted and recorded by that address.",
        default=["127.0.0.1"],
    )

    @property
    def address(self) -> str:
        """The floor's own address."""
        scheme = "http" if self.tls_key is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"

    @property
    def allowed_origins(self) -> frozenset[str]:
        """Which pages may talk to the floor: those of the setting, else its own."""
        if self.origins:
            return frozenset(self.origins)
        scheme, _, host = self.address.lower().removesuffix(f":{self.port}").partition("://")
        hosts = {host, "localhost"} if is_loopback(self.host) else {host}
        own = {f"{scheme}://{one}:{self.port}" for one in hosts}
        return frozenset(own | {one.removesuffix(_LEFT_OUT[scheme]) for one in own})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """How people come in, and how long they stay."""

    idle_minutes: int = with_default(
        kinds.WholeKind(1, _DAY, "minutes"), "A session ends after so long without a word.", default=15
    )
    absolute_hours: int = with_default(
        kinds.WholeKind(1, 24, "hours"), "A session ends after so long, whatever happens.", default=10
    )
    sign_ins_a_minute: int = with_default(
        kinds.WholeKind(1, 1_000), "Sign-ins that one address may try in a minute.", default=10
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsConfig:
    """Which rulebooks may be played for money, and whose word that is."""

    file: Path = with_default(
        kinds.PathKind("a list of approvals", exists=True),
        "The signed list of approved rulebooks (`taisai approve`).",
        default="approvals.txt",
    )
    key: Path = with_default(
        kinds.PathKind("a public key file", exists=True),
        "The public key of whoever signs that list: the regulator's, or your compliance department's.",
        default="approvals.key.pub",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareConfig:
    """Which program may run."""

    manifest: str | None = optional(
        kinds.DIGEST,
        "The digest over all files of the approved program; any other is refused at the start.",
        example="sha256:" + "0" * 64,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorConfig:
    """Limits of the live system, and what it notes."""

    sockets: int = with_default(
        kinds.WholeKind(1, 15_000), "Connections at once; the next one is turned away.", default=5_000
    )
    asks_a_second: int = with_default(
        kinds.WholeKind(1, 1_000),
        "Messages that one connection may send in a second, on average.",
        default=20,
    )
    large_win: int = with_default(
        AMOUNT, "A seat's winnings of one round from which the House notes them.", default=1_000_000
    )
    clock_jump_ms: int = with_default(
        kinds.WholeKind(100, 3_600_000, "milliseconds"),
        "A jump of the machine's clock from which it is noted; at the start, how far it may be behind the "
        "journal's last entry.",
        default=2_000,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """The watch over the dice."""

    level: float = with_default(
        kinds.ShareKind(1e-9, 0.1),
        "How likely a fair set of dice is ever to raise the alarm, however long it is watched.",
        default=0.001,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsConfig:
    """What the program logs; what happened at tables is in the journal, not here."""

    level: LogLevel = with_default(
        kinds.ChoiceKind(LogLevel), "From which weight on something is logged.", default="info"
    )
    form: LogForm = with_default(kinds.ChoiceKind(LogForm), "For machines, or for people.", default="json")


SECTIONS: Final[dict[str, type[Any]]] = {
    "house": HouseConfig,
    "journal": JournalConfig,
    "listen": ListenConfig,
    "access": AccessConfig,
    "approvals": ApprovalsConfig,
    "software": SoftwareConfig,
    "floor": FloorConfig,
    "watch": WatchConfig,
    "logs": LogsConfig,
}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if not kinds.is_address(host):
        return host.lower() == "localhost"
    return ip_address(host).is_loopback
