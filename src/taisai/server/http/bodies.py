"""What goes over HTTP, in and out."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from taisai.cage.messages import DeviceKind

Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$")]
Password = Annotated[str, Meta(min_length=1, max_length=256)]
Code = Annotated[str, Meta(min_length=1, max_length=16)]
Key = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class RequestBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request carries."""


class SignInBody(RequestBody, frozen=True, kw_only=True):
    """Who, and the proof."""

    person: Name
    password: Password
    code: Code


class ApprovalBody(RequestBody, frozen=True, kw_only=True):
    """A second person, his proof, and exactly what he agrees to: the ask, whatever its id."""

    person: Name
    password: Password
    code: Code
    request: dict[str, Any]


class StaffBody(RequestBody, frozen=True, kw_only=True):
    """Someone new, or someone's new rank or credentials."""

    person: Name
    rank: Name
    password: Password | None = None
    approval: str | None = None


class DismissBody(RequestBody, frozen=True, kw_only=True):
    """Someone who leaves the roll; under whatever name he came onto it."""

    person: Name


class PasswordBody(RequestBody, frozen=True, kw_only=True):
    """A new password by the person himself, with the proof by the old one."""

    password: Password
    code: Code
    new: Password


class ReasonBody(RequestBody, frozen=True, kw_only=True):
    """Why."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class UnlockBody(RequestBody, frozen=True, kw_only=True):
    """Why, and who agreed."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    approval: str | None = None


class DeviceBody(RequestBody, frozen=True, kw_only=True):
    """A device, its place and its key."""

    device: Name
    kind: DeviceKind
    key: Key
    table: Name
    seat: Name | None = None
    approval: str | None = None
    """Of a second person, for a terminal where somebody sits."""


class DismissDeviceBody(RequestBody, frozen=True, kw_only=True):
    """A device that comes in no more, and why."""

    device: Name
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class EnterBody(RequestBody, frozen=True, kw_only=True):
    """A role of the demonstration, at a table of it."""

    role: Name
    table: Name | None = None
    key: Key | None = None
    """The public key of a terminal or display that wants to be enrolled."""


class AgreeBody(RequestBody, frozen=True, kw_only=True):
    """What a virtual supervisor is asked to agree to."""

    request: dict[str, Any]


# Out


class ResponseBody(Struct, frozen=True, kw_only=True):
    """What an answer carries."""


class SessionTold(ResponseBody, frozen=True, kw_only=True):
    """A session."""

    person: str
    role: str
    session: str
    opened: int


class SignedInTold(ResponseBody, frozen=True, kw_only=True):
    """A session and its token, told once."""

    token: str
    session: SessionTold


class ApprovalTold(ResponseBody, frozen=True, kw_only=True):
    """A token that is good once, for a minute, for exactly what was approved."""

    approval: str
    until: int


class DoneTold(ResponseBody, frozen=True, kw_only=True):
    """It is done, and durable."""

    done: bool = True
    uri: str | None = None
    """For the person's authenticator: told once."""


class PersonTold(ResponseBody, frozen=True, kw_only=True):
    """Someone on the staff roll."""

    person: str
    rank: str
    locked: bool
    has_credentials: bool
    sessions: int


class DeviceTold(ResponseBody, frozen=True, kw_only=True):
    """An enrolled device."""

    device: str
    kind: str
    table: str
    seat: str | None
    key: str


class RefusalTold(ResponseBody, frozen=True, kw_only=True):
    """Why something is not done."""

    reason: str
    message: str
    clause: str | None = None


class TableHealth(ResponseBody, frozen=True, kw_only=True):
    """How a table is."""

    name: str
    rulebook: str
    phase: str
    number: int
    """Of the round in hand, or of the last."""
    hold: str | None
    shut: str | None


class HealthTold(ResponseBody, frozen=True, kw_only=True):
    """How the floor is."""

    status: str
    """'ok', or 'trouble'."""
    program: str
    demonstration: bool
    tables: tuple[TableHealth, ...]
    sockets: int
    journal: int
    """Entries of the journal."""
    trouble: str | None
    checks: tuple[str, ...]


class EnteredTold(ResponseBody, frozen=True, kw_only=True):
    """How to come in, in a demonstration."""

    role: str
    name: str
    token: str | None = None
    device: str | None = None
    table: str | None = None
    seat: str | None = None


class DemoTableTold(ResponseBody, frozen=True, kw_only=True):
    """A table of the demonstration."""

    table: str
    rulebook: str
    dealer: str
    """The virtual one."""
    dealing: bool
    """Whether the virtual dealer deals, or somebody himself."""
    head: str
    """The virtual person who rules on it."""
    ranks: tuple[str, ...]
    """That its document knows, lowest first."""
    players: tuple[str, ...]
    """The virtual ones, from seat 1 on."""


class DemoTold(ResponseBody, frozen=True, kw_only=True):
    """What the demonstration has."""

    currency: str
    roles: tuple[str, ...]
    tables: tuple[DemoTableTold, ...]
