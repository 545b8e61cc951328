"""Bodies of HTTP requests and responses."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from taisai.cage.messages import DeviceKind
from taisai.protocol.views.house import SystemAlarm
from taisai.protocol.views.parts import Words

Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$")]
Password = Annotated[str, Meta(min_length=1, max_length=256)]
Code = Annotated[str, Meta(min_length=1, max_length=16)]
Challenge = Annotated[str, Meta(min_length=1, max_length=96)]
DeviceKeyText = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class RequestBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request. Unknown fields are refused."""


class SignInBody(RequestBody, frozen=True, kw_only=True):
    """A person's name, password and code."""

    person: Name
    password: Password
    code: Code


class ApprovalBody(RequestBody, frozen=True, kw_only=True):
    """The request for which a second person's approval is wanted. Its id does not count.

    It is a request on the socket, or `{"endpoint": …, "body": …}`.
    """

    request: dict[str, Any]


class ApproveBody(RequestBody, frozen=True, kw_only=True):
    """The second person approves; some minutes after their last code they give another, or use a passkey."""

    code: Code | None = None
    challenge: Challenge | None = None
    assertion: dict[str, Any] | None = None


class StaffBody(RequestBody, frozen=True, kw_only=True):
    """A new member of staff, or the new rank of one."""

    person: Name
    rank: Name
    activate: bool | None = None
    """Whether the person gets a code for a first sign-in. Their old credentials end at once."""
    approval: str | None = None


class DismissBody(RequestBody, frozen=True, kw_only=True):
    """A member of staff to remove from the staff list."""

    person: Name
    approval: str | None = None
    """The approval of a second person. Someone of supervising rank needs it."""


class FirstSignInBody(RequestBody, frozen=True, kw_only=True):
    """A person's name and the activation code that they were given."""

    person: Name
    activation: Annotated[str, Meta(min_length=1, max_length=64)]


class ProofBody(RequestBody, frozen=True, kw_only=True):
    """A person's own password and a code, or the answer of their passkey, as proof that it is them."""

    password: Password | None = None
    """Beside a passkey: only to change the password."""
    code: Code | None = None
    challenge: Challenge | None = None
    assertion: dict[str, Any] | None = None


class EndSessionsBody(RequestBody, frozen=True, kw_only=True):
    """Which of one's own sessions to end, and a code or the answer of a passkey as proof that it is them."""

    session: Name | None = None
    """Left out: all except the one that asks."""
    code: Code | None = None
    challenge: Challenge | None = None
    assertion: dict[str, Any] | None = None


class PasskeyBody(RequestBody, frozen=True, kw_only=True):
    """A person's name, and the answer of their passkey to a challenge (AuthenticationResponseJSON)."""

    person: Name
    challenge: Challenge
    assertion: dict[str, Any]


class CredentialsBody(RequestBody, frozen=True, kw_only=True):
    """What a person sets; what is left out stays as it is."""

    setup: Annotated[str, Meta(min_length=1, max_length=64)]
    """The token that the person was given with their new secret."""
    password: Password | None = None
    code: Code | None = None
    """What the authenticator shows for the new secret."""
    passkey: dict[str, Any] | None = None
    """A new passkey, as the browser made it (RegistrationResponseJSON)."""


class ReasonBody(RequestBody, frozen=True, kw_only=True):
    """The reason for an action."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class UnlockBody(ReasonBody, frozen=True, kw_only=True):
    """The reason, and the approval of a second person."""

    approval: str | None = None


class DeviceBody(RequestBody, frozen=True, kw_only=True):
    """A device, its place and its key."""

    device: Name
    kind: DeviceKind
    key: DeviceKeyText
    table: Name
    seat: Name | None = None
    approval: str | None = None
    """The approval of a second person. A terminal at a taken seat needs it."""


class DismissDeviceBody(ReasonBody, frozen=True, kw_only=True):
    """A device to remove, and the reason."""

    device: Name


class EnterBody(RequestBody, frozen=True, kw_only=True):
    """A role of the demonstration, and a table."""

    role: Name
    table: Name | None = None
    key: DeviceKeyText | None = None
    """The public key of a terminal or display to enrol."""


class AgreeBody(RequestBody, frozen=True, kw_only=True):
    """The approval that a virtual supervisor is to give."""

    approval: Name


# Responses


class ResponseBody(Struct, frozen=True, kw_only=True):
    """The body of a response."""


class SessionResponse(ResponseBody, frozen=True, kw_only=True):
    """A session of a member of staff."""

    person: str
    role: str
    session: str
    opened: int


class OwnSession(ResponseBody, frozen=True, kw_only=True):
    """One of a person's own open sessions."""

    session: str
    opened: int
    seen: int
    """The time of the last action in it."""
    address: str
    """Where the sign-in came from."""
    is_this: bool
    """Whether it is the session that asks."""


class SignInResponse(ResponseBody, frozen=True, kw_only=True):
    """A new session and its token. The server does not show the token again."""

    token: str
    session: SessionResponse


class ApprovalResponse(ResponseBody, frozen=True, kw_only=True):
    """The id of an approval. Once it is given, this session may make exactly this request, once."""

    approval: str
    until: int
    """When the request for the approval expires."""


class DoneResponse(ResponseBody, frozen=True, kw_only=True):
    """The request is carried out and stored durably."""

    done: bool = True
    activation: str | None = None
    """The code for a person's first sign-in. The server does not show it again."""
    until: int | None = None
    """When the code ends."""
    token: str | None = None
    """The new token of this session, if the person has proved who they are. The one of before has ended."""

    def __repr__(self) -> str:  # without the code
        return "<DoneResponse>"


class SetupResponse(ResponseBody, frozen=True, kw_only=True):
    """What a person needs to set their own credentials. The server does not show it again."""

    setup: str
    person: str
    uri: str
    """The address for the person's authenticator."""
    until: int
    passkey: dict[str, Any] | None = None
    """What a browser needs to make a passkey; absent where it cannot (CreationOptionsJSON)."""
    may_set_password: bool = True
    """Whether a password may be set: at a first sign-in, or if the old one was typed."""
    token: str | None = None
    """The new token of this session, if there is one. The one of before has ended."""

    def __repr__(self) -> str:  # without the secret
        return f"<SetupResponse {self.person!r}>"


class PasskeyChallengeResponse(ResponseBody, frozen=True, kw_only=True):
    """A challenge for a passkey. It is good once, for two minutes."""

    challenge: str
    host: str
    """The host that the passkey must be for."""


class StaffMember(ResponseBody, frozen=True, kw_only=True):
    """A person on the staff list."""

    person: str
    rank: str
    locked: bool
    has_credentials: bool
    sessions: int
    activation: int | None = None
    """When the code for their first sign-in ends, if they have one."""
    recovered: bool = False
    """Whether access was recovered for them at the command line, and nobody has acknowledged it."""


class DeviceResponse(ResponseBody, frozen=True, kw_only=True):
    """An enrolled device."""

    device: str
    kind: str
    table: str
    seat: str | None
    key: str


class RefusalResponse(ResponseBody, frozen=True, kw_only=True):
    """Why the request is not carried out."""

    reason: str
    message: str
    clause: str | None = None


class TableHealth(ResponseBody, frozen=True, kw_only=True):
    """The state of a table."""

    name: str
    rulebook: str
    phase: str | None = None
    number: int | None = None
    """The number of the current round; between rounds, of the last one."""
    hold: str | None = None
    shut: str | None = None


class HealthResponse(ResponseBody, frozen=True, kw_only=True):
    """The state of the server. A stranger gets the status, and the name and rulebook of each table."""

    status: str
    """'ok', or 'trouble'."""
    demonstration: bool
    tables: tuple[TableHealth, ...]
    program: str | None = None
    sockets: int | None = None
    journal: int | None = None
    """The number of entries in the journal."""
    trouble: str | None = None
    """Why the journal cannot be written; else which tables or stored bytes are bad."""
    checks: tuple[str, ...] = ()
    """What was checked at the start."""
    alarms: tuple[SystemAlarm, ...] = ()
    """The alarms of the server that go on, for people who may follow the feed `alarms`."""


class EnterResponse(ResponseBody, frozen=True, kw_only=True):
    """How a visitor connects to the demonstration: with a session token, or as an enrolled device."""

    role: str
    name: str
    token: str | None = None
    device: str | None = None
    table: str | None = None
    seat: str | None = None

    def __repr__(self) -> str:  # without the token
        return f"<EnterResponse {self.role} {self.name!r}>"


class DemoTable(ResponseBody, frozen=True, kw_only=True):
    """A table of the demonstration."""

    table: str
    rulebook: str
    dealer: str
    """The virtual dealer."""
    dealing: bool
    """Whether the virtual dealer deals. If not, a visitor does."""
    head: str
    """The virtual person who decides referrals."""
    ranks: tuple[str, ...]
    """The ranks in its rulebook, lowest first."""
    players: tuple[str, ...]
    """The virtual players, from seat 1 on."""


class DemoResponse(ResponseBody, frozen=True, kw_only=True):
    """The tables and roles of the demonstration."""

    currency: str
    roles: tuple[str, ...]
    tables: tuple[DemoTable, ...]


class ClauseResponse(ResponseBody, frozen=True, kw_only=True):
    """A clause of a document, in the words of the rulebook."""

    clause: str
    says: str


class ReadingResponse(ResponseBody, frozen=True, kw_only=True):
    """How an unclear passage of a document is read, and why."""

    clauses: tuple[ClauseResponse, ...]
    reading: str
    reason: str


class EditionResponse(ResponseBody, frozen=True, kw_only=True):
    """An edition of a rulebook of this house whose interpretations somebody has to adopt."""

    rulebook: str
    edition: int
    title: Words
    digest: str
    rank: str
    """The least rank of who adopts them."""
    asked_by: str
    """The clause of the document that asks for it."""
    tables: tuple[str, ...]
    """The tables that may be opened by it."""
    interpretations: tuple[ReadingResponse, ...]


class AdoptedResponse(ResponseBody, frozen=True, kw_only=True):
    """Who adopted the interpretations of an edition, and when."""

    rulebook: str
    edition: int
    digest: str
    by: str
    at: int


class InterpretationsResponse(ResponseBody, frozen=True, kw_only=True):
    """The editions whose interpretations somebody has to adopt, and every adoption."""

    editions: tuple[EditionResponse, ...]
    adopted: tuple[AdoptedResponse, ...]
