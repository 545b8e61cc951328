"""Totals at once: how often each net comes in any number of rounds, drawn as one multinomial."""

from __future__ import annotations

from taisai.study.law import Law
from taisai.study.missing import needed


def drawn_counts(law: Law, rounds: int, key: tuple[int, ...]) -> tuple[int, ...]:
    """[value of the law] in how many of the rounds it came.

    One binomial a value, each out of the rounds that are left: the exact law of the counts, but for the
    rounding of each conditional probability to 53 bits, which moves a mean by less than one round in 10^15.
    """
    with needed("numpy", "study"):
        import numpy as np

    draw = np.random.Generator(np.random.SFC64(np.random.SeedSequence(list(key))))
    counts = []
    weight_left, rounds_left = law.total, rounds
    for weight in law.weights[:-1]:
        count = int(draw.binomial(rounds_left, weight / weight_left)) if rounds_left else 0
        counts.append(count)
        weight_left -= weight
        rounds_left -= count
    return (*counts, rounds_left)
