"""The outbox: sends that are done at once, that wait, that fail, and that are given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from taisai.server.connections.feeds import MOST_BYTES, MOST_MESSAGES, AsgiMessage, Outbox
from tests.server.virtual_server import run

Post = Callable[[AsgiMessage], Coroutine[Any, Any, None]]


class Client:
    """Someone who takes what is sent to him, as he pleases."""

    def __init__(self) -> None:
        self.sent: list[AsgiMessage] = []
        self.ends = 0
        self.waits = 0
        """How often a send has had to wait."""
        self.given_up = 0
        self._door: asyncio.Future[None] | None = None
        self.error: BaseException | None = None
        self.overflows = 0
        self.outbox = Outbox(self.send, self._ended, on_overflow=self._overflowed)

    def _overflowed(self) -> None:
        self.overflows += 1

    def _ended(self) -> None:
        self.ends += 1

    async def send(self, message: AsgiMessage) -> None:
        """Takes a message, when it can."""
        while self._door is not None:
            self.waits += 1
            try:
                await self._door
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        if self.error is not None:
            raise self.error
        self.sent.append(message)

    def stalls(self) -> None:
        """Takes nothing from now on."""
        self._door = asyncio.get_running_loop().create_future()

    def goes_on(self, error: Exception | None = None) -> None:
        """Takes everything again, or breaks."""
        door, self._door = self._door, None
        assert door is not None
        if error is None:
            door.set_result(None)
        else:
            door.set_exception(error)

    def tells(self, *names: str) -> None:
        """Puts tells into the outbox, and sends."""
        for name in names:
            self.outbox.put(msgspec.json.encode(name))
        assert not self.overflows
        self.outbox.flush()

    @property
    def told(self) -> list[list[str]]:
        """What has arrived, message by message."""
        return [msgspec.json.decode(one["text"]) for one in self.sent if one["type"] == "websocket.send"]

    @property
    def is_closed(self) -> bool:
        """Whether the server closed the connection."""
        return bool(self.sent) and self.sent[-1]["type"] == "websocket.close"


def played(test: Callable[[Client], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test in a loop of its own."""

    def run_() -> None:
        async def main(_loop: object) -> None:
            await test(Client())

        run(main)

    run_.__name__ = test.__name__
    return run_


async def turn() -> None:
    """Everybody has his turn."""
    for _ in range(5):
        await asyncio.sleep(0)


@played
async def test_a_client_that_takes_its_post_has_it_at_once_and_no_task_is_made(client: Client) -> None:
    client.tells("a", "b")
    client.tells("c")
    assert client.told == [["a", "b"], ["c"]]
    assert len(asyncio.all_tasks()) == 1
    client.outbox.flush()
    assert len(client.sent) == 2, "nothing is sent where there is nothing to tell"


@played
async def test_what_comes_while_a_client_waits_goes_together_and_in_order(client: Client) -> None:
    client.stalls()
    client.tells("a")
    client.tells("b")
    client.tells("c", "d")
    await turn()
    assert client.told == []
    client.goes_on()
    await turn()
    assert client.told == [["a"], ["b", "c", "d"]]
    assert not client.outbox.is_waiting
    client.tells("e")
    assert client.told[-1] == ["e"]
    assert client.ends == 0


@played
async def test_a_client_that_stalls_again_and_again_misses_nothing(client: Client) -> None:
    names = []
    for number in range(20):
        client.stalls()
        names += [f"{number} a", f"{number} b"]
        client.tells(names[-2])
        client.tells(names[-1])
        await turn()
        client.goes_on()
        if number % 3:
            await turn()
            continue
        client.stalls()  # before its task has had a turn
        await turn()
        client.goes_on()
        await turn()
    assert [name for message in client.told for name in message] == names


@played
async def test_a_send_that_only_gives_way_for_a_moment_is_finished(client: Client) -> None:
    async def polite(message: AsgiMessage) -> None:
        await asyncio.sleep(0)
        client.sent.append(message)

    client.outbox = Outbox(polite, client._ended)
    client.tells("a")
    client.tells("b")
    assert client.told == []
    await turn()
    assert client.told == [["a"], ["b"]]


@played
async def test_a_client_that_is_gone_is_noticed_by_the_send_itself(client: Client) -> None:
    client.error = OSError("gone")
    client.tells("a")
    assert (client.ends, client.outbox.is_over) == (1, True)
    client.tells("b")
    client.outbox.close(1008, "late", b'"last"')
    await turn()
    assert (client.sent, client.ends) == ([], 1)


@played
async def test_a_send_that_cannot_even_begin_ends_the_connection(client: Client) -> None:
    def broken(_message: AsgiMessage) -> Any:
        raise OSError("gone")

    client.outbox = Outbox(broken, client._ended)
    client.tells("a")
    assert (client.ends, client.outbox.is_over) == (1, True)


@played
async def test_a_client_that_goes_while_it_is_waited_for_is_noticed(client: Client) -> None:
    client.stalls()
    client.tells("a")
    client.tells("b")
    client.goes_on(OSError("gone"))
    await turn()
    assert (client.told, client.ends, client.outbox.is_waiting) == ([], 1, False)


@played
async def test_a_client_that_goes_after_it_was_waited_for_is_noticed(client: Client) -> None:
    client.stalls()
    client.tells("a")
    client.tells("b")
    await turn()
    client.error = OSError("gone")
    client.goes_on()
    await turn()
    assert (client.told, client.ends, client.outbox.is_over) == ([], 1, True)


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_send_that_is_given_up_is_cancelled_where_it_waits(is_begun: bool) -> None:  # noqa: FBT001
    async def main(_loop: object) -> Client:
        client = Client()
        client.stalls()
        client.tells("a")
        if is_begun:
            await turn()
        client.outbox.abandon()
        await turn()
        assert len(asyncio.all_tasks()) == 1, "no task is left"
        assert (client.told, client.ends) == ([], 0)
        client.tells("b")
        await turn()
        assert client.told == []
        return client

    assert run(main).given_up == is_begun, "the send hears of it, once its task has begun"


@played
async def test_the_last_word_comes_last_and_then_the_end(client: Client) -> None:
    client.outbox.put(b'"a"')
    client.outbox.close(1008, "revoked", b'"last"')
    assert client.told == [["a", "last"]]
    assert client.is_closed
    assert (client.sent[-1]["code"], client.sent[-1]["reason"], client.ends) == (1008, "revoked", 1)
    client.tells("b")
    client.outbox.close(1000, "again", b'"another"')
    assert (len(client.sent), client.ends) == (2, 1)


@played
async def test_what_a_slow_client_has_not_taken_gives_way_to_the_last_word(client: Client) -> None:
    client.stalls()
    client.tells("a")
    client.tells("b")
    client.outbox.close(1013, "slow", b'"last"')
    await turn()
    assert (client.told, client.ends) == ([], 0)
    client.goes_on()
    await turn()
    assert client.told == [["a"], ["last"]]
    assert client.is_closed
    assert client.ends == 1


@pytest.mark.parametrize(
    ("body", "most"), [(b'"a"', MOST_MESSAGES), (b'"%b"' % (b"a" * (MOST_BYTES // 8 - 2)), 8)]
)
def test_so_much_waits_for_a_slow_client_and_not_one_tell_more(body: bytes, most: int) -> None:
    async def main(_loop: object) -> None:
        client = Client()
        client.stalls()
        client.tells("the one that waits in the line")
        for _ in range(most):
            client.outbox.put(body)
        assert client.overflows == 0
        client.outbox.put(body)
        assert client.overflows == 1
        client.outbox.abandon()
        await turn()

    run(main)


@played
async def test_a_quick_client_may_be_told_more_than_waits_for_a_slow_one(client: Client) -> None:
    for _ in range(MOST_MESSAGES + 1):
        client.outbox.put(b'"a"')
    assert client.overflows == 0
    client.outbox.flush()
    assert sum(map(len, client.told)) == MOST_MESSAGES + 1
