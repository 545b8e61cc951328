"""The feed of approvals: what waits for each person, and what became of what their session asked for.

Approvals are in the memory of the event loop, so this feed has its own writer. Its numbers count for one
connection, and each `follow` gets a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from taisai.protocol.replies import ChangeNotice, SnapshotNotice
from taisai.protocol.views import ApprovalsView, difference

if TYPE_CHECKING:
    from taisai.server.auth.approvals import Approvals
    from taisai.server.auth.permissions import Principal, Role
    from taisai.server.connections.sockets import Socket

APPROVALS_FEED: Final = "approvals"
_encoded: Final = msgspec.json.Encoder().encode


class ApprovalsFeed:
    """The connections that follow the feed, each with the view of its person."""

    def __init__(self, approvals: Approvals, publish: Callable[[Socket, bytes], None]) -> None:
        """`publish`: puts a message in the outbox of a connection."""
        self._approvals = approvals
        self._publish = publish
        self._followers: dict[Socket, tuple[int, ApprovalsView]] = {}
        """Connection → the number of its latest change, and its view."""
        approvals.on_change(self.refresh)

    def follow(self, socket: Socket, to: str) -> None:
        """Sends a snapshot, and every change from then on."""
        number = self._followers[socket][0] if socket in self._followers else 0
        self._followers[socket] = number, ApprovalsView()
        self.refresh(besides=socket)  # the person who asks learns that this person sees it now
        view = self.view(socket.principal)
        self._followers[socket] = number, view
        self._publish(socket, _encoded(SnapshotNotice(feed=APPROVALS_FEED, number=number, view=view, to=to)))

    def unfollow(self, socket: Socket) -> None:
        """Sends nothing more."""
        if self._followers.pop(socket, None) is not None:
            self.refresh()

    def refresh(self, besides: Socket | None = None) -> None:
        """Sends every follower what is different for them."""
        watching = self._watching()
        for socket, (number, before) in list(self._followers.items()):
            if socket is besides:
                continue
            after = self._seen_by(socket.principal, watching)
            changes = difference(before, after)
            if changes is not None:
                self._followers[socket] = number + 1, after
                notice = ChangeNotice(feed=APPROVALS_FEED, number=number + 1, changes=changes)
                self._publish(socket, _encoded(notice))

    def view(self, principal: Principal) -> ApprovalsView:
        """What a person sees now."""
        return self._seen_by(principal, self._watching())

    def _watching(self) -> dict[str, Role]:
        return {socket.principal.name: socket.principal.role for socket in self._followers}

    def _seen_by(self, principal: Principal, watching: dict[str, Role]) -> ApprovalsView:
        return self._approvals.view(
            principal.name, principal.role, session=principal.session, watching=watching
        )
