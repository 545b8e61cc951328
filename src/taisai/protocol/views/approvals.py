"""The view of requests that wait for the approval of a second person."""

from __future__ import annotations

from taisai.protocol.views.parts import Part, View, Words


class ApprovalField(Part, frozen=True, kw_only=True):
    """One thing that a request changes."""

    label: Words
    value: Words
    amount: int | None = None
    """Money in minor units, where the value is that."""


class ApprovalLine(Part, frozen=True, kw_only=True):
    """A request that waits for the approval of a second person, in the words of the server."""

    id: str
    by: str
    """Who asks."""
    rank: str
    what: Words
    then: Words | None = None
    """What follows from it, if that is known before."""
    table: str | None = None
    seat: str | None = None
    fields: tuple[ApprovalField, ...] = ()
    asked: int
    until: int
    """When it expires."""


class OwnApprovalLine(Part, frozen=True, kw_only=True):
    """What became of a request for which this session asked for an approval."""

    id: str
    state: str
    """'waiting', 'approved' (send the request now), 'declined' or 'expired'."""
    until: int
    """When this state ends."""
    by: str | None = None
    """Who approved or declined."""
    reason: str = ""
    """Why it was declined."""
    ranks: tuple[str, ...] = ()
    """Who may approve it."""
    people: tuple[str, ...] = ()
    """Of those, who has it on a page now."""
    asks: ApprovalLine | None = None
    """All that the second person approves, as they see it on their own page; absent once it is decided."""


class ApprovalsView(View, frozen=True, kw_only=True, tag="approvals"):
    """The requests that this person may approve, and what became of this session's own."""

    waiting: tuple[ApprovalLine, ...] = ()
    own: tuple[OwnApprovalLine, ...] = ()
