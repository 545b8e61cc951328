"""The client for HTTP: signing in and out, approvals, the staff list, devices and reports."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from taisai.client.connection import Disconnected, Refused, encrypted
from taisai.protocol import bodies
from taisai.protocol.message import Request
from taisai.protocol.views import ApprovalsView, BooksView, OwnApprovalLine, ReportView

TIMEOUT: Final = 15.0  # seconds: checking a password alone takes 0.2
PENDING_FOR: Final = 300.0  # seconds in which a second person decides
T = TypeVar("T")


class Office:
    """A server over HTTP: `async with Office("http://localhost:8080") as office:`."""

    def __init__(
        self, base_url: str, *, token: str | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        if transport is None:
            encrypted(base_url)
        self.token = token
        self._http = httpx.AsyncClient(base_url=base_url, transport=transport, timeout=TIMEOUT)

    async def close(self) -> None:
        """Closes the connections. The session stays open until `sign_out`."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    # Sessions

    async def sign_in(self, person: str, password: str, code: str) -> str:
        """Opens a session and uses its token from now on; returns the token. A session of before goes on."""
        body = {"person": person, "password": password, "code": code}
        before, self.token = self.token, None  # a sign-in ends the session with whose token it is sent
        try:
            self.token = (await self._request("POST", "/api/sign-in", bodies.SignInResponse, body)).token
        except BaseException:
            self.token = before
            raise
        return self.token

    async def sign_out(self) -> None:
        """Ends the session. The server closes its sockets."""
        await self._done("POST", "/api/sign-out")
        self.token = None

    async def session(self) -> bodies.SessionResponse:
        """The session that the token belongs to."""
        return await self._request("GET", "/api/session", bodies.SessionResponse)

    async def first_sign_in(self, person: str, activation: str) -> bodies.SetupResponse:
        """Begins a first sign-in with the code that the person was given."""
        body = {"person": person, "activation": activation}
        return await self._request("POST", "/api/first-sign-in", bodies.SetupResponse, body)

    async def account(self, password: str, code: str) -> bodies.SetupResponse:
        """Begins to change one's own credentials."""
        body = {"password": password, "code": code}
        setup = await self._request("POST", "/api/account", bodies.SetupResponse, body)
        self.token = setup.token or self.token
        return setup

    async def set_credentials(
        self, setup: str, *, password: str | None = None, code: str | None = None
    ) -> None:
        """Sets a password, an authenticator by a code of its new secret, or both; ends every session."""
        await self._done("POST", "/api/credentials", {"setup": setup, "password": password, "code": code})

    async def sessions(self) -> list[bodies.OwnSession]:
        """One's own open sessions."""
        return await self._request("GET", "/api/sessions", list[bodies.OwnSession])

    async def end_sessions(self, code: str, *, session: str | None = None) -> None:
        """Ends one of one's own sessions, or all others; uses the new token of this one from now on."""
        done = await self._done("POST", "/api/sessions/end", {"session": session, "code": code})
        self.token = done.token or self.token

    # Approvals

    async def ask(self, request: Request | dict[str, Any]) -> str:
        """Asks for the approval of exactly this request, or of an endpoint and its body; returns its id."""
        if isinstance(request, Request):
            fields = msgspec.to_builtins(request)
            request = {name: value for name, value in fields.items() if name not in ("id", "approval")}
        asked = await self._request("POST", "/api/approvals", bodies.ApprovalResponse, {"request": request})
        return asked.approval

    async def approval(
        self, request: Request | dict[str, Any], *, within: float = PENDING_FOR, every: float = 0.5
    ) -> str:
        """Asks, and waits until a second person has approved; returns the id to send with the request.

        Raises Refused if nobody approves in time.
        """
        approval = await self.ask(request)
        try:
            async with asyncio.timeout(within):
                while True:
                    own = {line.id: line for line in (await self.approvals()).own}.get(approval)
                    if own is None or own.state not in ("waiting", "approved"):
                        raise Refused("second-person", _not_approved(own), clause="house:dual-control")
                    if own.state == "approved":
                        return approval
                    await asyncio.sleep(every)
        except TimeoutError:
            await self.cancel(approval)
            problem = f"nobody approved within {within:g} seconds"
            raise Refused("second-person", problem, clause="house:dual-control") from None

    async def approvals(self) -> ApprovalsView:
        """What waits for this person's approval, and what became of this session's own requests."""
        return await self._request("GET", "/api/approvals", ApprovalsView)

    async def approve(self, approval: str, *, code: str | None = None) -> None:
        """Approves a request as the second person; some minutes after the last code it needs another."""
        done = await self._done("POST", f"/api/approvals/{_part(approval)}/approve", {"code": code})
        self.token = done.token or self.token

    async def decline(self, approval: str, reason: str) -> None:
        """Declines a request as the second person."""
        await self._done("POST", f"/api/approvals/{_part(approval)}/decline", {"reason": reason})

    async def cancel(self, approval: str) -> None:
        """Withdraws what this session asked for."""
        await self._done("DELETE", f"/api/approvals/{_part(approval)}")

    # Staff and devices

    async def staff(self) -> list[bodies.StaffMember]:
        return await self._request("GET", "/api/staff", list[bodies.StaffMember])

    async def enrol(
        self, person: str, rank: str, *, activate: bool = False, approval: str | None = None
    ) -> str | None:
        """Enrols a person or changes a rank; returns the activation code, if one is wanted."""
        body = {"person": person, "rank": rank, "activate": activate or None, "approval": approval}
        return (await self._done("POST", "/api/staff", body)).activation

    async def dismiss(self, person: str, *, approval: str | None = None) -> None:
        """Removes a person from the staff list."""
        await self._done("DELETE", "/api/staff", {"person": person, "approval": approval})

    async def acknowledge(self, person: str) -> None:
        """Ends the alarm that access was recovered for another person."""
        await self._done("POST", f"/api/staff/{_part(person)}/acknowledge")

    async def unlock(self, person: str, reason: str, *, approval: str | None = None) -> None:
        """Lets a locked person sign in again."""
        body = {"reason": reason, "approval": approval}
        await self._done("POST", f"/api/staff/{_part(person)}/unlock", body)

    async def revoke(self, person: str, reason: str) -> None:
        await self._done("POST", f"/api/staff/{_part(person)}/revoke", {"reason": reason})

    async def devices(self) -> list[bodies.DeviceResponse]:
        return await self._request("GET", "/api/devices", list[bodies.DeviceResponse])

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
        """Lets a terminal, display or shaker connect with this key; a taken seat needs an approval."""
        body = {
            "device": device, "kind": kind, "key": key, "table": table, "seat": seat, "approval": approval,
        }  # fmt: skip
        await self._done("POST", "/api/devices", body)

    async def dismiss_device(self, device: str, reason: str) -> None:
        """Lets a device connect no longer."""
        await self._done("DELETE", "/api/devices", {"device": device, "reason": reason})

    async def interpretations(self) -> bodies.InterpretationsResponse:
        """Editions whose interpretations a person of the house adopts, and who adopted which."""
        return await self._request("GET", "/api/interpretations", bodies.InterpretationsResponse)

    # The books

    async def books(self) -> BooksView:
        """Every account, and whether the books balance."""
        return await self._request("GET", "/api/books", BooksView)

    async def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold of a gaming day."""
        path = "/api/report" if day is None else f"/api/report?day={_part(day)}"
        return await self._request("GET", path, ReportView)

    async def _done(self, method: str, path: str, body: dict[str, Any] | None = None) -> bodies.DoneResponse:
        return await self._request(method, path, bodies.DoneResponse, body)

    async def _request(self, method: str, path: str, kind: type[T], body: dict[str, Any] | None = None) -> T:
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            body = {name: value for name, value in body.items() if value is not None}
        try:
            response = await self._http.request(method, path, json=body, headers=headers)
        except httpx.HTTPError as error:
            problem = f"no answer from {self._http.base_url}: {type(error).__name__}: {error}"
            raise Disconnected(problem, in_doubt=method != "GET") from None
        if response.is_success:
            return msgspec.json.decode(response.content, type=kind)
        raise _refused(response)


def _not_approved(own: OwnApprovalLine | None) -> str:
    if own is None:
        return "the request for approval was withdrawn"
    return f"declined by {own.by}: {own.reason}" if own.state == "declined" else "nobody decided in time"


def _refused(response: httpx.Response) -> Refused:
    try:
        refusal = msgspec.json.decode(response.content, type=bodies.RefusalResponse)
    except msgspec.DecodeError:
        return Refused("fault", f"the server answered with status {response.status_code} and no reason")
    return Refused(refusal.reason, refusal.message, clause=refusal.clause)


def _part(text: str) -> str:
    """A name as a part of an address."""
    return quote(text, safe="")


async def sign_in(base_url: str, person: str, password: str, code: str) -> str:
    async with Office(base_url) as office:
        return await office.sign_in(person, password, code)
