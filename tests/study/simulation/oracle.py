"""The streams and the rounds once more, one at a time in plain Python, from the published recipes."""

from __future__ import annotations

from collections.abc import Iterator

M32, M64 = 2**32 - 1, 2**64 - 1


def scrambled(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & M64
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & M64
    return word ^ (word >> 31)


def stream(key: tuple[int, ...], number: int) -> Iterator[int]:
    """The draws of one stream."""
    one = scrambled((key[0] + scrambled(number ^ key[1])) & M64)
    two = scrambled((key[2] + scrambled(number ^ key[3])) & M64)
    a, b, c, counter = one & M32, one >> 32, two & M32, 1
    while True:
        drawn = (a + b + counter) & M32
        a, b, c = b ^ (b >> 9), (c + (c << 3)) & M32, ((((c << 21) | (c >> 11)) & M32) + drawn) & M32
        if counter > 15:
            yield drawn
        counter = (counter + 1) & M32


def drawdown(nets: list[int]) -> tuple[int, int, int, int]:
    """Net, highest, lowest and deepest fall, from the definition."""
    at = high = low = fall = 0
    for net in nets:
        at += net
        high, low = max(high, at), min(low, at)
        fall = max(fall, high - at)
    return at, high, low, fall
