"""Following: who may, from where he last was if that is still known, else from a snapshot."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from taisai.protocol.replies import TellFollowing, TellSnapshot
from taisai.server.auth import permissions
from taisai.server.auth.principals import VISITOR
from taisai.server.projections.boards import Shown, seat_feed
from taisai.server.replies import encoded, refused

if TYPE_CHECKING:
    from taisai.protocol.requests import AskFollow, AskUnfollow
    from taisai.server.connections.dispatcher import Floor
    from taisai.server.connections.sockets import Socket

MOST_FOLLOWED: Final = 64  # feeds of one socket


def follow(floor: Floor, socket: Socket, ask: AskFollow) -> None:
    """Tells what was missed, or the feed as it stands; from then on, every change."""
    wrong = _wrong(floor, socket, ask.feed)
    if wrong is not None:
        socket.say(refused(ask.id, "not-permitted", wrong, "house:access"))
        return
    if len(socket.wanted) >= MOST_FOLLOWED and ask.feed not in socket.wanted:
        socket.say(refused(ask.id, "too-many", f"expected at most {MOST_FOLLOWED} feeds, got one more"))
        return
    socket.wanted.add(ask.feed)
    feeds = floor.host.feeds
    feed = feeds.get(ask.feed)
    if feed is not None and ask.after is not None and ask.epoch == feeds.epoch:
        missed = feed.missed(ask.after)
        if missed is not None:
            for frame in missed:
                socket.tell(frame.body)
            _followed(floor, socket, ask.feed, feed.number)
            socket.say(TellFollowing(re=ask.id, feed=ask.feed, number=feed.number))
            return
    boards, name = floor.host.boards, ask.feed
    floor.host.run(lambda _keeper: boards.snapshot(name), partial(_shown, floor, socket, ask))


def unfollow(floor: Floor, socket: Socket, ask: AskUnfollow) -> None:
    """From here on nothing of the feed is told; what is missed can still be asked for."""
    socket.wanted.discard(ask.feed)
    socket.following.discard(ask.feed)
    _look_at_seat(socket)
    floor.host.feeds.unfollow(ask.feed, socket)
    socket.say(TellFollowing(re=ask.id, feed=ask.feed, number=0))


def _wrong(floor: Floor, socket: Socket, feed: str) -> str | None:
    """Why a feed may not be followed."""
    kind, _, rest = feed.partition(":")
    if floor.demonstration and socket.party is VISITOR and kind in permissions.VISITORS_FOLLOW:
        return None
    table, _, seat = rest.partition("/") if kind == "seat" else (rest, "", "")
    return floor.may_not(socket.party, permissions.FEEDS.get(kind), table or None, seat or None)


def _shown(floor: Floor, socket: Socket, ask: AskFollow, shown: Shown | BaseException | None) -> None:
    if not isinstance(shown, Shown):
        socket.wanted.discard(ask.feed)
        floor.metrics.refusals["not-known"] += 1
        socket.tell(encoded(refused(ask.id, "not-known", f"expected a feed, got {ask.feed!r}")))
        floor.host.feeds.note(socket)
        return
    if socket in floor.sockets:
        if ask.feed in socket.wanted:  # else it has thought better of it meanwhile
            _followed(floor, socket, ask.feed, shown.number)
        socket.tell(encoded(TellSnapshot(feed=ask.feed, number=shown.number, view=shown.view, re=ask.id)))
        floor.host.feeds.note(socket)


def _followed(floor: Floor, socket: Socket, feed: str, number: int) -> None:
    floor.host.feeds.follow(feed, socket, number)
    socket.following.add(feed)
    _look_at_seat(socket)


def _look_at_seat(socket: Socket) -> None:
    table, seat = socket.party.own
    socket.follows_seat = seat_feed(table or "", seat or "") in socket.following
