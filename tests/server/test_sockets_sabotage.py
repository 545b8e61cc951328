"""Each safety of sockets is broken once, and the test that guards it must see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
from structlog.testing import capture_logs

from taisai.protocol.requests import FollowRequest
from taisai.server.auth.permissions import VISITOR
from taisai.server.connections import dispatcher, sockets
from taisai.server.connections import feeds as outbox
from taisai.server.connections import sockets as follows
from taisai.server.connections.dispatcher import HANDLERS, Dispatcher
from taisai.server.connections.feeds import Feed, Outbox
from taisai.server.connections.parties import Party
from taisai.server.connections.sockets import Socket
from taisai.server.handlers.context import refused
from taisai.server.http import app as web_socket
from taisai.server.projections.feed_writer import Frame
from taisai.server.runtime.command_queue import CommandQueue
from tests.server import test_sockets as coming
from tests.server import test_sockets_ends as ends
from tests.server import test_sockets_feeds as following
from tests.server import test_web as web
from tests.server.sim.virtual import StuckError

Break = Callable[[pytest.MonkeyPatch], None]


class Sabotage(NamedTuple):
    """How something is broken, and the test that must fail then."""

    breaks: Break
    seen_by: Callable[[], None]


def _any_signature(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dispatcher, "device_proof", lambda *_given: True)


def _one_challenge_for_all(patch: pytest.MonkeyPatch) -> None:
    connect = Dispatcher.connect

    def always(self: Dispatcher, socket: Socket) -> None:
        entropy, self.entropy = self.entropy, bytes
        connect(self, socket)
        self.entropy = entropy

    patch.setattr(Dispatcher, "connect", always)


def _hello_again(patch: pytest.MonkeyPatch) -> None:
    come_in = Dispatcher._admit

    def again(self: Dispatcher, socket: Socket, ask: Any, party: Any) -> None:
        socket.principal = VISITOR
        come_in(self, socket, ask, party)

    patch.setattr(Dispatcher, "_admit", again)


def _looks_then_lets_in(patch: pytest.MonkeyPatch) -> None:
    run = CommandQueue.submit_job

    def late(self: CommandQueue, job: Any, told: Any) -> None:
        loop = asyncio.get_running_loop()
        later: Any = partial(loop.call_soon, told)
        run(self, job, later)

    patch.setattr(CommandQueue, "submit_job", late)


def _sessions_end_in_silence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dispatcher, "_session_ended", lambda *_given: None)


def _dismissals_unheard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dispatcher, "_on_commit", lambda *_given: None)


def _hears_after_the_end(patch: pytest.MonkeyPatch) -> None:
    heard = Socket.receive

    async def deaf_to_the_end(self: Socket) -> None:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return
            was, self._is_closing = self._is_closing, False
            heard(self, message.get("text"))
            self._is_closing = self._is_closing or was

    patch.setattr(Socket, "_read", deaf_to_the_end)


def _waits_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sockets, "LAST_WORD", 1e6)


def _repeats(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Feed, "missed", lambda self, after: [one for one in self.ring if one.number >= after])


def _forgets_one(patch: pytest.MonkeyPatch) -> None:
    missed = Feed.missed

    def gap(self: Feed, after: int) -> list[Frame] | None:
        found = missed(self, after)
        return found[1:] if found else found

    patch.setattr(Feed, "missed", gap)


def _any_epoch(patch: pytest.MonkeyPatch) -> None:
    follow = follows.follow

    def trusting(server: Dispatcher, socket: Socket, ask: Any) -> None:
        epoch = server.queue.feeds.epoch if ask.after is not None else ask.epoch
        follow(server, socket, FollowRequest(id=ask.id, feed=ask.feed, epoch=epoch, after=ask.after))

    patch.setattr(dispatcher, "follow", trusting)


def _unbounded(patch: pytest.MonkeyPatch) -> None:
    def put(self: Outbox, body: bytes) -> None:
        self._bodies.append(body)

    patch.setattr(Outbox, "put", put)


def _cut_when_quick(patch: pytest.MonkeyPatch) -> None:
    def put(self: Outbox, body: bytes) -> None:
        self._bodies.append(body)
        if len(self._bodies) > outbox.MOST_MESSAGES:
            self._on_overflow()

    patch.setattr(Outbox, "put", put)


def _faults_unanswered(patch: pytest.MonkeyPatch) -> None:
    async def answer(self: Dispatcher, socket: Socket, request: Any) -> None:
        with suppress(ZeroDivisionError):
            socket.send(await HANDLERS[type(request)](self.context, socket.principal, request))

    patch.setattr(Dispatcher, "_answer", answer)


def _told_twice(patch: pytest.MonkeyPatch) -> None:
    reply = Socket.reply

    def twice(self: Socket, to: str, answer: Any) -> None:
        reply(self, to, answer)
        reply(self, to, answer)

    patch.setattr(Socket, "reply", twice)


def _told_never(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Socket, "reply", lambda *_given: None)


def _drops_what_was_asked(patch: pytest.MonkeyPatch) -> None:
    gone = Dispatcher.disconnect

    def forgetful(self: Dispatcher, socket: Socket) -> None:
        for task in socket.party.tasks:
            asyncio.get_running_loop().call_soon(task.cancel)
        gone(self, socket)

    patch.setattr(Dispatcher, "disconnect", forgetful)


def _as_often_as_one_likes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Party, "has_earned", lambda *_given: True)


def _rubbish_for_nothing(patch: pytest.MonkeyPatch) -> None:
    def unreadable(_self: Dispatcher, socket: Socket, says: str, id_: str | None = None) -> None:
        socket.send(refused(id_, "bad-message", says))

    patch.setattr(Dispatcher, "refuse_unreadable", unreadable)


def _any_number_of_feeds(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(follows, "MOST_FOLLOWED", 10_000)


def _remembers_the_gone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dispatcher, "disconnect", lambda self, socket: self.sockets.pop(socket, None))


def _from_anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(web_socket, "is_ours", lambda *_given, **_named: True)


ELSEWHERE: Final = {
    "who": "another page", "headers": {"origin": "https://evil.test"}, "reads": False, "changes": False
}  # fmt: skip
SABOTAGES: Final = [
    Sabotage(_any_signature, partial(coming.test_who_proves_nothing_stays_out, given={"device": "P1"})),
    Sabotage(_one_challenge_for_all, coming.test_the_first_message_is_a_challenge_that_nobody_gets_twice),
    Sabotage(
        _one_challenge_for_all, coming.test_a_signature_that_was_seen_on_the_wire_is_worth_nothing_afterwards
    ),
    Sabotage(_hello_again, coming.test_a_second_hello_is_refused_and_changes_nothing),
    Sabotage(_hello_again, coming.test_of_two_hellos_at_once_both_are_answered_and_one_counts),
    Sabotage(
        _looks_then_lets_in,
        partial(coming.test_a_device_that_is_dismissed_in_the_same_moment_is_not_in, first="hello"),
    ),
    Sabotage(_dismissals_unheard, coming.test_a_dismissed_device_is_out_at_once_and_stays_out),
    Sabotage(
        _sessions_end_in_silence,
        partial(
            ends.test_who_loses_their_session_is_shown_why_and_is_out_at_once,
            ends=ends.is_revoked,
            why="revoked",
        ),
    ),
    Sabotage(_sessions_end_in_silence, ends.test_a_chair_that_is_empty_for_too_long_is_nobodys),
    Sabotage(_hears_after_the_end, ends.test_what_comes_after_the_end_is_not_heard),
    Sabotage(_waits_for_ever, ends.test_a_client_that_takes_nothing_is_out_within_a_second_too),
    Sabotage(_repeats, following.test_anyone_who_returns_hears_exactly_what_they_missed_or_starts_afresh),
    Sabotage(_forgets_one, following.test_anyone_who_returns_hears_exactly_what_they_missed_or_starts_afresh),
    Sabotage(_forgets_one, following.test_bets_that_come_while_somebody_returns_are_shown_once),
    Sabotage(_any_epoch, following.test_a_number_of_another_start_is_worth_nothing),
    Sabotage(
        _told_twice, partial(following.test_every_bet_is_registered_or_refused_once, feeds=("seat:T1/1",))
    ),
    Sabotage(_told_never, partial(following.test_every_bet_is_registered_or_refused_once, feeds=())),
    Sabotage(_told_never, following.test_a_bet_is_answered_while_its_seat_is_about_to_be_followed),
    Sabotage(_drops_what_was_asked, coming.test_who_hangs_up_leaves_no_money_on_its_way),
    Sabotage(_as_often_as_one_likes, coming.test_anyone_who_asks_too_often_is_shown_and_may_again_later),
    Sabotage(_rubbish_for_nothing, coming.test_rubbish_counts_as_asks_do),
    Sabotage(_any_number_of_feeds, partial(following.test_so_many_feeds_and_not_one_more, at_once=True)),
    Sabotage(_remembers_the_gone, partial(coming.test_a_socket_that_is_gone_is_forgotten, role="terminal")),
    Sabotage(
        _from_anywhere, partial(web.test_a_socket_from_elsewhere_is_closed_before_it_is_open, **ELSEWHERE)
    ),
]


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.breaks.__name__)
def test_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage.seen_by()
    sabotage.breaks(monkeypatch)
    with pytest.raises((AssertionError, KeyError, StuckError)):
        sabotage.seen_by()


@pytest.mark.parametrize(
    ("breaks", "test"),
    [
        (_unbounded, following.test_a_slow_connection_is_closed_and_delays_nobody),
        (_cut_when_quick, following.test_who_was_only_told_much_at_once_is_not_cut_off),
        (_faults_unanswered, coming.test_a_fault_is_an_answer_too),
    ],
    ids=lambda one: one.__name__,
)
def test_sabotage_is_seen_by_a_test_that_patches(
    breaks: Break, test: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    with pytest.raises(AssertionError), capture_logs():
        test(monkeypatch=monkeypatch)
