"""Approvals: what one person may not do alone waits here until a second person decides about it.

An approval is for exactly one request of one session, and is used once. The second person decides in their
own session. Nothing here reads a clock, and nothing is stored: a stop ends all that waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Final, NamedTuple

import msgspec

from taisai.game.vocabulary import folded
from taisai.protocol.views import ApprovalField, ApprovalLine, ApprovalsView, OwnApprovalLine, Words
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import Session
from taisai.server.runtime.environment import Entropy

APPROVAL_ID: Final = 32  # random bytes: no id repeats, and nobody guesses one
PENDING_FOR: Final = 5 * 60_000  # ms: the second person may have to come to a console of their own
USE_WITHIN: Final = 60_000  # ms from the approval on: the asker's page sends the request at once
SHOWN_FOR: Final = 60_000  # ms in which the asker still sees that a request was declined or has expired
MOST_OF_SESSION: Final = 3  # that wait or are approved: a page asks for one at a time
MOST_WAITING: Final = 200  # that wait or are approved: every console of a large house, and its desks
MOST_KEPT: Final = 1_000  # with those that are declined or expired
MOST_SHOWN: Final = 1024 * 1024  # bytes of all that waits: it is sent to everybody who may approve it


NOT_ASKED: Final = "this session asked for no such approval, or it is used up"


class ApprovalState(StrEnum):
    """What became of a request for an approval."""

    WAITING = "waiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"


_OPEN: Final = (ApprovalState.WAITING, ApprovalState.APPROVED)


class RequestToApprove(NamedTuple):
    """A request that needs a second person: its digest, who may approve it, and all that it changes."""

    digest: str
    roles: frozenset[Role]
    what: Words
    then: Words | None = None
    table: str | None = None
    seat: str | None = None
    fields: tuple[ApprovalField, ...] = ()


class Approval(NamedTuple):
    """A request for an approval, and what became of it."""

    request: RequestToApprove
    asker: Session
    line: ApprovalLine
    """As the people who may approve it see it."""
    size: int
    """Bytes of the line."""
    until: int
    """When its state ends."""
    state: ApprovalState = ApprovalState.WAITING
    by: str | None = None
    """Who decided."""
    reason: str = ""

    @property
    def id(self) -> str:
        return self.line.id

    @property
    def is_open(self) -> bool:
        return self.state in _OPEN

    def is_for(self, person: str, role: Role) -> bool:
        """Whether a person may decide about it."""
        return role in self.request.roles and folded(person) != folded(self.asker.person)


class Approved(NamedTuple):
    """An approval that was given, and the new token of the approver's session if they proved who they are."""

    approval: Approval
    token: str | None = None

    def __repr__(self) -> str:
        return f"<Approved {self.approval.id}>"


def digest_of(approved: bytes) -> str:
    """The digest of a request in canonical JSON."""
    return sha256(approved).hexdigest()


class Approvals:
    """The requests that wait for a second person, and those that one has decided about."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._known: dict[str, Approval] = {}
        """Id → approval, oldest first."""
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Adds a listener that is called after every change."""
        self._listeners.append(listener)

    # The first person

    def asked(self, request: RequestToApprove, *, asker: Session, now: int) -> Approval | str:
        """Lets a request wait for a second person; returns why not, if too many wait."""
        self.due(now)
        line = ApprovalLine(
            id=self._entropy(APPROVAL_ID).hex(), by=asker.person, rank=asker.rank, what=request.what,
            then=request.then, table=request.table, seat=request.seat, fields=request.fields, asked=now,
            until=now + PENDING_FOR,
        )  # fmt: skip
        approval = Approval(request, asker, line, len(msgspec.json.encode(line)), line.until)
        if problem := self._too_many(approval):
            return problem
        self._known[approval.id] = approval
        self._drop_surplus()
        self._changed()
        return approval

    def of_session(self, id_: str, *, asker: str) -> Approval | None:
        """What a session asked for under an id."""
        approval = self._known.get(id_)
        return approval if approval is not None and approval.asker.id == asker else None

    def cancelled(self, id_: str, *, asker: str) -> bool:
        """Withdraws what a session asked for; False if it asked for no such thing."""
        if self.of_session(id_, asker=asker) is None:
            return False
        del self._known[id_]
        self._changed()
        return True

    def used(self, id_: str, digest: str, *, asker: str, now: int) -> str | None:
        """Uses an approval up; returns who gave it, or None if it is not valid for this request.

        An approval that its session presents for another request is used up too.
        """
        approval = self.of_session(id_, asker=asker)
        if approval is None or approval.state is not ApprovalState.APPROVED:
            return None
        del self._known[id_]
        self._changed()
        is_for_it = compare_digest(approval.request.digest.encode(), digest.encode())
        return approval.by if is_for_it and now < approval.until else None

    # The second person

    def problem(self, id_: str, *, person: str, role: Role, now: int) -> str | None:
        """Why a person cannot decide about a request; None if they can."""
        approval = self._known.get(id_)
        if approval is None or approval.state is not ApprovalState.WAITING or now >= approval.until:
            return "nothing waits for this approval: it was decided or withdrawn, or it has expired"
        if approval.is_for(person, role):
            return None
        if folded(person) == folded(approval.asker.person):
            return f"the second person must not be {approval.asker.person!r}, who makes the request"
        return f"expected a second person of the rank {', '.join(ranks_of(approval))}, got {role}"

    def approved(self, id_: str, *, person: str, role: Role, now: int) -> Approval | str:
        """Approves a request; its session may make it once, within a minute."""
        return self._decided(id_, ApprovalState.APPROVED, person=person, role=role, now=now, lasts=USE_WITHIN)

    def declined(self, id_: str, *, person: str, role: Role, reason: str, now: int) -> Approval | str:
        """Declines a request."""
        return self._decided(
            id_, ApprovalState.DECLINED, person=person, role=role, now=now, lasts=SHOWN_FOR, reason=reason
        )

    def _decided(
        self,
        id_: str,
        state: ApprovalState,
        *,
        person: str,
        role: Role,
        now: int,
        lasts: int,
        reason: str = "",
    ) -> Approval | str:
        if problem := self.problem(id_, person=person, role=role, now=now):
            return problem
        decided = self._known[id_]._replace(state=state, by=person, reason=reason, until=now + lasts)
        self._known[id_] = decided
        self._changed()
        return decided

    # Ends

    def withdrawn(self, *, session: str | None = None, person: str | None = None) -> None:
        """Withdraws what a session asked for, and what a person approved."""
        kept = {
            id_: approval
            for id_, approval in self._known.items()
            if approval.asker.id != session
            and not (approval.state is ApprovalState.APPROVED and approval.by == person)
        }
        self._keep(kept)

    def due(self, now: int) -> None:
        """Ends what nobody decided about or used in time."""
        kept: dict[str, Approval] = {}
        for id_, approval in self._known.items():
            if now < approval.until:
                kept[id_] = approval
            elif approval.is_open and now < approval.until + SHOWN_FOR:
                until = approval.until + SHOWN_FOR
                kept[id_] = approval._replace(state=ApprovalState.EXPIRED, until=until)
        self._keep(kept)

    # What people see

    def view(
        self, person: str, role: Role, *, session: str | None, watching: Mapping[str, Role]
    ) -> ApprovalsView:
        """What waits for a person, and what became of the session's own. `watching`: who follows the feed."""
        waiting, own = [], []
        for approval in self._known.values():
            if approval.asker.id == session:
                people = [who for who, their in watching.items() if approval.is_for(who, their)]
                own.append(
                    OwnApprovalLine(
                        id=approval.id, state=approval.state, until=approval.until, by=approval.by,
                        reason=approval.reason, ranks=ranks_of(approval), people=tuple(sorted(people)),
                        asks=approval.line if approval.state is ApprovalState.WAITING else None,
                    )
                )  # fmt: skip
            elif approval.state is ApprovalState.WAITING and approval.is_for(person, role):
                waiting.append(approval.line)
        return ApprovalsView(waiting=tuple(waiting), own=tuple(own))

    def __len__(self) -> int:
        return len(self._known)

    def _too_many(self, new: Approval) -> str | None:
        open_ = [approval for approval in self._known.values() if approval.is_open]
        own = [approval for approval in open_ if approval.asker.id == new.asker.id]
        if len(own) >= MOST_OF_SESSION:
            return f"{len(own)} requests of this session wait already: withdraw one, or wait"
        if len(open_) >= MOST_WAITING:
            return f"too many requests wait for approval: the limit is {MOST_WAITING}; try again in a minute"
        if sum(approval.size for approval in open_) + new.size > MOST_SHOWN:
            return f"what waits for approval is too long: the limit is {MOST_SHOWN} bytes in all; try later"
        return None

    def _drop_surplus(self) -> None:
        """Forgets the oldest of those that are decided, if there are too many."""
        surplus = len(self._known) - MOST_KEPT
        for id_ in [id_ for id_, one in self._known.items() if not one.is_open][: max(0, surplus)]:
            del self._known[id_]

    def _keep(self, kept: dict[str, Approval]) -> None:
        if kept != self._known:
            self._known = kept
            self._changed()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def ranks_of(approval: Approval) -> tuple[str, ...]:
    """The ranks that may approve a request, lowest first."""
    return tuple(role for role in Role if role in approval.request.roles)
