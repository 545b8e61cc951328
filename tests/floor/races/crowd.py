"""A crowd of raw clients: as many asks under way as there may be, and every answer counted."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

import msgspec

from bench.floor.crowd import Client, crowd
from taisai.client.who import Device, Staff, Who, hello
from tests.floor.races.furnished import TABLE, terminal

PATIENCE: Final = 60.0
"""Seconds without an answer after which there will be none."""


class Tell(msgspec.Struct):
    """What a crowd looks at of a tell."""

    tell: str
    re: str | None = None
    reason: str | None = None
    clause: str | None = None
    again: bool = False
    feed: str | None = None
    nonce: str | None = None
    changes: msgspec.Raw | None = None
    amount: int | None = None

    @property
    def is_done(self) -> bool:
        """Whether what was asked for is done, whoever told it."""
        return self.tell in ("done", "change")

    @property
    def closes(self) -> bool:
        """Whether it tells that bets are open no more."""
        return self.feed == f"table:{TABLE}" and self.changes is not None and b'"bets_open":false' in self.changes


_decode: Final = msgspec.json.Decoder(list[Tell]).decode
_encode: Final = msgspec.json.Encoder().encode
ANSWERS: Final = frozenset({"done", "refused", "change", "welcome", "snapshot", "following"})


class Crowd:
    """Connected clients, what each was told in answer to what, and who is told of it."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self.answers: list[defaultdict[str, list[Tell]]] = []
        """Client → ask → its answers."""
        self.under_way = 0
        self.told: Callable[[int, Tell], None] = lambda _number, _tell: None
        """Hears every tell, after it has been counted."""
        self._nonces: dict[int, str] = {}
        self._moved = asyncio.Event()

    def _heard(self, client: Client, text: bytes) -> None:
        number = client.number
        answers = self.answers[number]
        for tell in _decode(text):
            if tell.nonce is not None:
                self._nonces[number] = tell.nonce
            if tell.re is not None:
                if not answers[tell.re]:
                    self.under_way -= 1
                answers[tell.re].append(tell)
            self.told(number, tell)
        self._moved.set()

    def ask(self, number: int, id_: str, text: bytes) -> None:
        """Sends an ask, which is new to this connection."""
        answers = self.answers[number]
        if id_ not in answers:
            answers[id_] = []
            self.under_way += 1
        self.clients[number].send(text)

    async def answered(self) -> None:
        """Everything has been answered."""
        await self._until(lambda: self.under_way == 0)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._moved.clear()
            async with asyncio.timeout(PATIENCE):
                await self._moved.wait()

    async def come(self, port: int, whos: list[Who]) -> list[int]:
        """They connect, and are welcomed; their numbers."""
        first = len(self.clients)
        numbers = list(range(first, first + len(whos)))
        self.answers += [defaultdict(list) for _ in whos]

        def heard(client: Client, text: bytes) -> None:
            client.number += 0
            self._heard(client, text)

        self.clients += await crowd(port, len(whos), heard, first=first)
        await self._until(lambda: all(number in self._nonces for number in numbers))
        for number, who in zip(numbers, whos, strict=True):
            self.ask(number, "hello", _encode(hello("hello", who, self._nonces[number])))
        await self.answered()
        for number in numbers:
            assert [tell.tell for tell in self.answers[number]["hello"]] == ["welcome"], self.answers[number]
        return numbers

    async def follow(self, number: int, feed: str) -> None:
        """A client follows a feed."""
        self.ask(number, feed, _encode({"ask": "follow", "id": feed, "feed": feed}))

    def leave(self) -> None:
        """All of them go."""
        for client in self.clients:
            client.close()


def terminals(many: int) -> list[Who]:
    """The terminals of the first seats."""
    return [terminal(str(seat)) for seat in range(many)]


def place(id_: str, seat: int, round_: int, bets: list[dict[str, Any]]) -> bytes:
    """An ask to place bets."""
    do = {"command": "place-bets", "round": round_, "seat": str(seat), "bets": bets}
    return _encode({"ask": "do", "id": id_, "table": TABLE, "do": do})


__all__ = ["Crowd", "Device", "Staff", "Tell", "Who", "place", "terminals"]
