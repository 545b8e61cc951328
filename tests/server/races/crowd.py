"""A crowd of raw clients: as many asks under way as there may be, and every answer counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from bench.server.crowd import Client, crowd
from taisai.client.connection import Device, Staff, Who, hello
from tests.server.races.race_house import TABLE, terminal

PATIENCE: Final = 60.0
"""Seconds without an answer after which there will be none."""


class Tell(msgspec.Struct):
    """What a crowd looks at of a tell."""

    type: str
    to: str | None = None
    reason: str | None = None
    clause: str | None = None
    again: bool = False
    feed: str | None = None
    nonce: str | None = None
    changes: msgspec.Raw = msgspec.Raw()
    view: msgspec.Raw = msgspec.Raw()
    ticket: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether what was asked for is done, whoever told it."""
        return self.type in ("done", "change")

    @property
    def closes(self) -> bool:
        """Whether it tells that bets are open no more."""
        return self.feed == f"table:{TABLE}" and b'"bets_open":false' in bytes(self.changes)


_decode: Final = msgspec.json.Decoder(list[Tell]).decode
_encode: Final = msgspec.json.Encoder().encode


class Crowd:
    """Connected clients, what each was told in answer to what, and who is told of it."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self.answers: list[dict[str, list[Tell]]] = []
        """Client → ask → its answers."""
        self.under_way = 0
        """Asks that have no answer yet."""
        self.told: Callable[[int, Tell], None] = lambda _number, _tell: None
        """Hears every tell, after it has been counted."""
        self._sent: list[dict[str, int]] = []
        """Client → ask → how often it was sent."""
        self._nonces: dict[int, str] = {}
        self._moved = asyncio.Event()

    def _heard(self, number: int, text: bytes) -> None:
        answers, sent = self.answers[number], self._sent[number]
        for tell in _decode(text):
            if tell.nonce is not None:
                self._nonces[number] = tell.nonce
            if tell.to is not None:
                told = answers.setdefault(tell.to, [])
                told.append(tell)
                if len(told) <= sent.get(tell.to, 0):
                    self.under_way -= 1
            self.told(number, tell)
        self._moved.set()

    def ask(self, number: int, id_: str, text: bytes) -> None:
        """Sends an ask, for the first time or again."""
        sent, told = self._sent[number], self.answers[number].get(id_, ())
        sent[id_] = sent.get(id_, 0) + 1
        if sent[id_] > len(told):
            self.under_way += 1
        self.clients[number].send(text)

    async def answered(self) -> None:
        """Everything has been answered."""
        await self.until(lambda: self.under_way == 0)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Something holds, as it may whenever somebody was told something."""
        while not holds():
            self._moved.clear()
            async with asyncio.timeout(PATIENCE):
                await self._moved.wait()

    async def come(self, port: int, whos: Sequence[Who]) -> list[int]:
        """They connect, and are welcomed; their numbers."""
        first = len(self.clients)
        numbers = list(range(first, first + len(whos)))
        self.answers += [{} for _ in whos]
        self._sent += [{} for _ in whos]
        self.clients += await crowd(
            port, len(whos), lambda client, text: self._heard(first + client.number, text)
        )
        await self.until(lambda: all(number in self._nonces for number in numbers))
        for number, who in zip(numbers, whos, strict=True):
            self.ask(number, "hello", _encode(hello("hello", who, self._nonces[number])))
        await self.answered()
        for number in numbers:
            assert [tell.type for tell in self.answers[number]["hello"]] == ["welcome"], self.answers[number]
        return numbers

    def follow(self, number: int, feed: str) -> None:
        """A client follows a feed."""
        self.ask(number, feed, _encode({"type": "follow", "id": feed, "feed": feed}))

    def leave(self) -> None:
        """All of them go."""
        for client in self.clients:
            client.close()


def terminals(many: int) -> list[Who]:
    """The terminals of the first seats."""
    return [terminal(str(seat)) for seat in range(many)]


def encoded(**fields: Any) -> bytes:
    """An ask."""
    return _encode(fields)


def place(id_: str, seat: int, round_: int, bets: list[dict[str, Any]]) -> bytes:
    """An ask to place bets."""
    do = {"command": "place-bets", "round": round_, "seat": str(seat), "bets": bets}
    return _encode({"type": "do", "id": id_, "table": TABLE, "do": do})


__all__ = ["Crowd", "Device", "Staff", "Tell", "Who", "encoded", "place", "terminals"]
