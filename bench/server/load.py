"""Two thousand terminals on one table, beside a bare echo and broadcast on the same server and machine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median, quantiles
from time import perf_counter
from typing import Final

import msgspec
import uvloop

from bench.harness import Line, Target
from bench.server.crowd import Client, crowd
from bench.server.taisai_server import KEY
from bench.terminals import TABLE
from taisai.protocol.requests import device_text
from taisai.server.projections.feed_writer import seat_feed, table_feed

TERMINALS: Final = 2_000
IN_A_ROW: Final = 5
"""Chips that a player taps one after the other, a message each; then he waits for their answers."""
BURSTS: Final = 2
PATIENCE: Final = 120.0
_TICK: Final = os.sysconf("SC_CLK_TCK")
_KB: Final = 1024
_encode: Final = msgspec.json.Encoder().encode


def run(*, quick: bool) -> Iterator[Line]:
    """Processor time a bet, notices to the last terminal, and memory of a terminal that is only there."""
    return iter(uvloop.run(_run(turns=3 if quick else 11)))


class _Server:
    """A server in a process of its own, with its crowd."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(TERMINALS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self.port = int(self._out.readline())
        self.heard: Callable[[Client, bytes], None] = lambda _client, _text: None
        self.clients: list[Client] = []
        self.kilobytes = 0.0
        """Of memory that each connection has cost."""

    async def fill(self, ready: Callable[[], asyncio.Future[None]] | None = None) -> None:
        before = self._resident()
        waiting = ready() if ready else None
        self.clients = await crowd(self.port, TERMINALS, self._hears)
        if waiting is not None:
            await asyncio.wait_for(waiting, PATIENCE)
        self.kilobytes = (self._resident() - before) / TERMINALS

    def _hears(self, client: Client, text: bytes) -> None:
        self.heard(client, text)

    def _resident(self) -> float:
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as status:  # noqa: PTH123
            return next(float(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def processor(self) -> float:
        """Seconds of processor time that it has used."""
        with open(f"/proc/{self._process.pid}/stat", encoding="ascii") as stat:  # noqa: PTH123
            words = stat.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / _TICK

    async def do(self, order: str) -> None:
        """Has it do something, and waits until it has."""
        self.order(order)
        answer = await asyncio.get_running_loop().run_in_executor(None, self._out.readline)
        assert answer == b"done\n", answer

    def order(self, order: str) -> None:
        """Has it do something."""
        self._in.write(order.encode() + b"\n")
        self._in.flush()

    async def seen_by_all(self, order: str, mark: bytes) -> float:
        """Seconds from an order until the last of the crowd has heard of it."""
        left = set(range(TERMINALS))
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def heard(client: Client, text: bytes) -> None:
            if mark in text:
                left.discard(client.number)
                if not left and not done.done():
                    done.set_result(perf_counter())

        self.heard = heard
        begun = perf_counter()
        doing = asyncio.ensure_future(self.do(order))
        ended = await asyncio.wait_for(done, PATIENCE)
        await doing
        return ended - begun

    async def storm(self, bet: Callable[[int, int], bytes]) -> float:
        """Processor seconds a message, while everyone bets at once."""
        sent, answered = [0] * TERMINALS, [0] * TERMINALS
        left = TERMINALS * IN_A_ROW * BURSTS
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def burst(client: Client) -> None:
            for _ in range(IN_A_ROW):
                client.send(bet(client.number, sent[client.number]))
                sent[client.number] += 1

        def heard(client: Client, text: bytes) -> None:
            nonlocal left
            assert b'"refused"' not in text, text
            number, many = client.number, text.count(b'"to":"')
            answered[number] += many
            left -= many
            if left <= 0 and not done.done():
                done.set_result(None)
            elif answered[number] == sent[number] < IN_A_ROW * BURSTS:
                burst(client)

        self.heard = heard
        before = self.processor()
        for client in self.clients:
            burst(client)
        await asyncio.wait_for(done, PATIENCE)
        return (self.processor() - before) / (TERMINALS * IN_A_ROW * BURSTS)

    def close(self) -> None:
        """Sends the crowd home, and ends the server."""
        for client in self.clients:
            client.close()
        self._in.close()
        assert self._process.wait(30) == 0


def _coming_in(server: _Server) -> asyncio.Future[None]:
    """Every terminal says hello and follows its table and its seat."""
    left = 2 * TERMINALS
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def heard(client: Client, text: bytes) -> None:
        nonlocal left
        if b'"type":"challenge"' in text:
            device, nonce = f"T{client.number}", msgspec.json.decode(text)[0]["nonce"]
            signature = KEY.sign(device_text(device, bytes.fromhex(nonce))).hex()
            client.send(
                _encode({"type": "hello", "id": "h", "protocol": 2, "device": device, "signature": signature})
            )
        elif b'"type":"welcome"' in text:
            for feed in (table_feed(TABLE), seat_feed(TABLE, str(client.number))):
                client.send(_encode({"type": "follow", "id": "f", "feed": feed}))
        left -= text.count(b'"type":"snapshot"')
        if left == 0 and not done.done():
            done.set_result(None)

    server.heard = heard
    return done


async def _run(*, turns: int) -> list[Line]:
    bare, ours = _Server("bench.server.bare_server"), _Server("bench.server.taisai_server")
    try:
        await bare.fill()
        await ours.fill(lambda: _coming_in(ours))
        storms: list[float] = []
        closes: list[float] = []
        settled: list[float] = []
        for turn in range(1, turns + 1):
            await ours.do("open-bets")
            before = await bare.storm(partial(_bet, turn))
            took = await ours.storm(partial(_bet, turn))
            after = await bare.storm(partial(_bet, turn))
            storms.append(2 * took / (before + after))
            closes.append(await _notice(bare, ours, "close-bets", b'"bets-closed"', 300))
            for order in ("tumble", "uncover", "enter-result"):
                await ours.seen_by_all(order, b'"type":"change"')
            settled.append(await _notice(bare, ours, "settle", b'"payable"', 500))
            await ours.seen_by_all("collect-and-pay", b'"cleared"')
            await ours.seen_by_all("conclude", b'"round-concluded"')
        name = f"{TERMINALS:,} terminals on one table"
        return [
            _line(
                name, "processor time a durable bet / bare echo a message", storms, Target(2, at_most=True)
            ),
            _line(name, "close notice to the last / bare broadcast", closes, Target(1.5, at_most=True)),
            _line(name, "settlement seen by all / bare broadcast", settled, Target(2, at_most=True)),
            _line(
                name, "memory of an idle terminal", [ours.kilobytes] * 2, Target(60, at_most=True, unit=" KB")
            ),
            _line(name, "the same / a bare connection", [ours.kilobytes / bare.kilobytes] * 2, None),
        ]
    finally:
        bare.close()
        ours.close()


async def _notice(bare: _Server, ours: _Server, order: str, mark: bytes, size: int) -> float:
    """How much longer a notice takes than a bare broadcast of its size, measured before and after it."""
    before = await bare.seen_by_all(str(size), b"")
    took = await ours.seen_by_all(order, mark)
    after = await bare.seen_by_all(str(size), b"")
    return 2 * took / (before + after)


def _bet(turn: int, seat: int, bet: int) -> bytes:
    return (
        b'{"type":"do","id":"b%d-%d","table":"%b","do":{"command":"place-bets","round":%d,"seat":"%d",'
        b'"bets":[{"id":"%d-%d","area":"small","stake":100}]}}'
    ) % (turn, bet, TABLE.encode(), turn, seat, seat, bet)


def _line(name: str, what: str, ratios: list[float], target: Target | None) -> Line:
    low, _, high = quantiles(ratios, n=4)
    return Line(name, what, median(ratios), low, high, target)
