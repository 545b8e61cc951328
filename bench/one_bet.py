"""One bet at a table in play: decided and evolved, beside the decoding of the message that carries it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import log
from statistics import mean, median, quantiles
from typing import Final

import msgspec

from bench.harness import Bench, Line, Target, Times, in_turns
from bench.mix import mixed
from bench.terminals import AT, do, play_on, terminal, with_bets_open
from taisai.game.commands import PlaceBets, Slip
from taisai.game.play import decide, evolve
from taisai.game.table import Table

SEATS: Final = 100
BESIDE_DECODING: Final = 1_000
LYING: Final = (10, 100, 1_000, 10_000, 100_000)
"""Bets in the round when a measurement begins."""
AT_ONCE: Final = 50
"""Bets of one measurement: a quarter of a millisecond, into which other work on the machine seldom falls."""
ONE_MORE: Final = 10
"""The same where the round is to stay about as large as it is."""


def run(*, quick: bool) -> Iterator[Line]:
    """Against msgspec decoding the same bets; then the same with more and more bets in the round."""
    yield from _beside_decoding(quick=quick)
    yield from _flatness(quick=quick)


def _beside_decoding(*, quick: bool) -> Iterator[Line]:
    growing = _Growing(BESIDE_DECODING, AT_ONCE)
    decode = msgspec.json.Decoder(PlaceBets).decode
    messages: list[bytes] = []
    kept: dict[str, PlaceBets] = {}
    feed: list[PlaceBets] = []

    def ready(_turn: int) -> None:
        growing.ready()
        messages[:] = [msgspec.json.encode(command) for command in growing.next]

    def decoding() -> None:
        for message in messages:
            decode(message)

    def keeping() -> None:
        for command in growing.next:
            kept[command.bets[0].id] = command
            feed.append(command)

    ready(0)
    assert [decode(message) for message in messages] == growing.next
    expected = growing.staked + sum(command.bets[0].stake for command in growing.next)
    growing.lay()
    assert growing.staked == expected

    ways = {"ours": growing.lay, "decoding": decoding, "bare limit": keeping}
    times = in_turns(ways, turns=101 if quick else 501, before=ready)
    size = round(mean(map(len, messages)))
    bench = Bench(f"one bet, its message of {size} bytes decoded by msgspec beside it", times)
    yield bench.line("decoding / ours", of="decoding", over="ours", target=Target(0.08))
    yield bench.line("bare limit: ours / keeping the command in dict and list", of="ours", over="bare limit")


def _flatness(*, quick: bool) -> Iterator[Line]:
    rounds = {lying: _Growing(lying, ONE_MORE) for lying in LYING}
    ways: dict[str, Callable[[], object]] = {str(lying): one.lay for lying, one in rounds.items()}

    def ready(_turn: int) -> None:
        for one in rounds.values():
            one.ready()

    times = in_turns(ways, turns=51 if quick else 201, before=ready)
    slopes = _slopes(times)
    low, _, high = quantiles(slopes, n=4)
    name = f"one bet more, with {LYING[0]:,} to {LYING[-1]:,} bets in the round"
    flat = Target(0.1, at_most=True, unit="")
    yield Line(name, "slope of log time over log bets", median(slopes), low, high, flat)
    yield Bench(name, times).line(
        f"with {LYING[-1]:,} / with {LYING[1]:,}", of=str(LYING[-1]), over=str(LYING[1])
    )


class _Growing:
    """A round with so many bets, or up to a tenth more; then it is played on and the next one filled."""

    def __init__(self, lying: int, at_once: int) -> None:
        self._table, self._lying, self._at_once = with_bets_open(seats=SEATS), lying, at_once
        self._laid = True
        self._fill()
        self.next: list[PlaceBets] = []

    def _fill(self) -> None:
        self._bets = _commands(self._table)
        for command in islice(self._bets, self._lying):
            do(self._table, command)

    @property
    def staked(self) -> int:
        """What lies in the round."""
        assert self._table.round is not None
        return self._table.round.staked

    def ready(self) -> None:
        """Has the next bets at hand, and a round to lay them in."""
        if not self._laid:
            return
        assert self._table.round is not None
        if len(self._table.round.bets) >= self._lying + max(self._at_once, self._lying // 10):
            play_on(self._table)
            self._fill()
        self.next = list(islice(self._bets, self._at_once))
        self._laid = False

    def lay(self) -> None:
        """Lays them."""
        _lay(self._table, self.next)
        self._laid = True


def _lay(table: Table, commands: Sequence[PlaceBets]) -> None:
    for command in commands:
        for event in decide(table, command):
            evolve(table, event)  # type: ignore[arg-type]


def _commands(table: Table) -> Iterator[PlaceBets]:
    """Bets of one slip each for the round in hand, without end."""
    assert table.round is not None
    terms = table.seats["0"].terms
    assert terms is not None
    number, matrix, laid = table.round.number, terms.matrix, 0
    while True:
        mix = mixed(matrix, bets=1_000, players=SEATS, seed=laid)
        for seat, row, stake in mix.plain():
            slip = Slip(str(laid), matrix.areas[row], stake)
            yield PlaceBets(at=AT + laid, by=terminal(seat), round=number, seat=str(seat), bets=(slip,))
            laid += 1


def _slopes(times: Times) -> list[float]:
    """The least-squares slope of log time over log bets, turn by turn."""
    at = [log(lying) for lying in LYING]
    spread = [one - mean(at) for one in at]
    turns = zip(*(times[str(lying)] for lying in LYING), strict=True)
    return [
        sum(one * log(seconds) for one, seconds in zip(spread, turn, strict=True))
        / sum(one * one for one in spread)
        for turn in turns
    ]
