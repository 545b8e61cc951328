"""The office: what goes over HTTP; signing in and out, approvals, the staff roll, devices and reports."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx
import msgspec
from msgspec import Struct

from taisai.client.connection import Disconnected, Refused
from taisai.protocol.message import Request
from taisai.protocol.views import BooksView, ReportView

PATIENCE: Final = 15.0  # seconds for an answer: a password alone takes a fifth of one to check
T = TypeVar("T")


class Signed(Struct, frozen=True, kw_only=True):
    """A session."""

    person: str
    role: str
    session: str
    opened: int


class Enrolled(Struct, frozen=True, kw_only=True):
    """Someone on the staff roll."""

    person: str
    rank: str
    locked: bool
    has_credentials: bool
    sessions: int


class Listed(Struct, frozen=True, kw_only=True):
    """An enrolled device."""

    device: str
    kind: str
    table: str
    seat: str | None
    key: str


class _SignedIn(Struct, frozen=True, kw_only=True):
    token: str
    session: Signed


class _Approved(Struct, frozen=True, kw_only=True):
    approval: str
    until: int


class _Done(Struct, frozen=True, kw_only=True):
    done: bool = True
    uri: str | None = None


class _Refusal(Struct, frozen=True, kw_only=True):
    reason: str
    message: str
    clause: str | None = None


class Office:
    """A floor over HTTP: `async with Office("http://localhost:8080") as office:`."""

    def __init__(
        self, base_url: str, *, token: str | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.token = token
        self._http = httpx.AsyncClient(base_url=base_url, transport=transport, timeout=PATIENCE)

    async def close(self) -> None:
        """Lets go of the connections; the session stays open until someone signs out."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Sessions

    async def sign_in(self, person: str, password: str, code: str) -> str:
        """The token of a new session, which this office bears from now on."""
        body = {"person": person, "password": password, "code": code}
        told = await self._asked("POST", "/api/sign-in", _SignedIn, body)
        self.token = told.token
        return told.token

    async def sign_out(self) -> None:
        """The session is over, and its sockets close."""
        await self._asked("POST", "/api/sign-out", _Done)
        self.token = None

    async def session(self) -> Signed:
        """Whose token it is."""
        return await self._asked("GET", "/api/session", Signed)

    async def renew(self, password: str, code: str, new: str) -> str | None:
        """A new password: the address for the authenticator, told once; every session ends."""
        body = {"password": password, "code": code, "new": new}
        return (await self._asked("POST", "/api/password", _Done, body)).uri

    async def approval(self, ask: Request | dict[str, Any], person: str, password: str, code: str) -> str:
        """A second person's agreement to exactly this ask, or endpoint with its body: good once."""
        if isinstance(ask, Request):
            ask = {
                key: value for key, value in msgspec.to_builtins(ask).items() if key not in ("id", "approval")
            }
        body = {"person": person, "password": password, "code": code, "request": ask}
        return (await self._asked("POST", "/api/approvals", _Approved, body)).approval

    # Staff and devices

    async def staff(self) -> list[Enrolled]:
        """The staff roll."""
        return await self._asked("GET", "/api/staff", list[Enrolled])

    async def enrol(
        self, person: str, rank: str, *, password: str | None = None, approval: str | None = None
    ) -> str | None:
        """Someone new, or a new rank; with a password, the address for his authenticator, told once."""
        body = {"person": person, "rank": rank, "password": password, "approval": approval}
        return (await self._asked("POST", "/api/staff", _Done, body)).uri

    async def dismiss(self, person: str) -> None:
        """Takes someone off the roll."""
        await self._asked("DELETE", "/api/staff", _Done, {"person": person})

    async def unlock(self, person: str, reason: str, *, approval: str | None = None) -> None:
        """He may sign in again."""
        body = {"reason": reason, "approval": approval}
        await self._asked("POST", f"/api/staff/{_part(person)}/unlock", _Done, body)

    async def revoke(self, person: str, reason: str) -> None:
        """Ends all sessions of someone."""
        await self._asked("POST", f"/api/staff/{_part(person)}/revoke", _Done, {"reason": reason})

    async def devices(self) -> list[Listed]:
        """Enrolled devices."""
        return await self._asked("GET", "/api/devices", list[Listed])

    async def enrol_device(
        self,
        device: str,
        kind: str,
        key: str,
        *,
        table: str,
        seat: str | None = None,
        approval: str | None = None,
    ) -> None:
        """A terminal, display or shaker may connect from now on, with this key; at a taken seat, with two."""
        body = {
            "device": device, "kind": kind, "key": key, "table": table, "seat": seat, "approval": approval,
        }  # fmt: skip
        await self._asked("POST", "/api/devices", _Done, body)

    async def dismiss_device(self, device: str, reason: str) -> None:
        """It may not any more."""
        await self._asked("DELETE", "/api/devices", _Done, {"device": device, "reason": reason})

    # The books

    async def books(self) -> BooksView:
        """Every account, and whether they balance."""
        return await self._asked("GET", "/api/books", BooksView)

    async def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold of a gaming day."""
        path = "/api/report" if day is None else f"/api/report?day={_part(day)}"
        return await self._asked("GET", path, ReportView)

    async def _asked(self, method: str, path: str, kind: type[T], body: dict[str, Any] | None = None) -> T:
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        told = None if body is None else {key: value for key, value in body.items() if value is not None}
        try:
            answer = await self._http.request(method, path, json=told, headers=headers)
        except httpx.HTTPError as error:
            says = f"expected a floor at {self._http.base_url}, got {type(error).__name__}: {error}"
            raise Disconnected(says, in_doubt=method != "GET") from None
        if answer.is_success:
            return msgspec.json.decode(answer.content, type=kind)
        raise _refused(answer)


def _refused(answer: httpx.Response) -> Refused:
    try:
        told = msgspec.json.decode(answer.content, type=_Refusal)
    except msgspec.DecodeError:
        return Refused("fault", f"expected an answer, got status {answer.status_code}")
    return Refused(told.reason, told.message, clause=told.clause)


def _part(text: str) -> str:
    """A name as a part of an address."""
    from urllib.parse import quote

    return quote(text, safe="")


async def sign_in(base_url: str, person: str, password: str, code: str) -> str:
    """The token of a new session."""
    async with Office(base_url) as office:
        return await office.sign_in(person, password, code)
