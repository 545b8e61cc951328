"""Forged proofs by a seed: each says of an honest log what is not so, or has a proof that does not show it.

A checker trusts the heads of the log, size and root together, for a signed checkpoint binds them. All else is
the forger's. A size under the root of another tree is a forgery only where the two proofs differ in shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple, TypeVar

from tests.journal.rfc9162 import Hash, Log, sides

Claim = TypeVar("Claim")

ENTRIES = 150
LOG = Log([b"entry %d" % number for number in range(ENTRIES)])


def rewritten(place: int) -> Log:
    """The log with one entry written over."""
    return Log([*LOG.entries[:place], b"another entry", *LOG.entries[place + 1 :]])


REWRITTEN = {place: rewritten(place) for place in (0, 1, 6, 31, 64, 100)}


class Inclusion(NamedTuple):
    """The claim that a leaf is in a tree."""

    leaf: Hash
    at: int
    size: int
    proof: list[Hash]
    root: Hash

    @property
    def true(self) -> bool:
        """Whether it is what the honest log would say."""
        return self.at < self.size <= ENTRIES and self == included(self.at, self.size)


class Consistency(NamedTuple):
    """The claim that a tree begins with another."""

    old_size: int
    old_root: Hash
    new_size: int
    new_root: Hash
    proof: list[Hash]

    @property
    def true(self) -> bool:
        """Whether it is what the honest log would say."""
        return 0 < self.old_size < self.new_size <= ENTRIES and self == consistent(
            self.old_size, self.new_size
        )


InclusionCheck = Callable[[Inclusion], bool]
ConsistencyCheck = Callable[[Consistency], bool]


def included(index: int, size: int) -> Inclusion:
    return Inclusion(LOG.leaves[index], index, size, LOG.path(index, 0, size), LOG.root(size))


def consistent(old: int, new: int) -> Consistency:
    return Consistency(old, LOG.root(old), new, LOG.root(new), LOG.proof(old, new))


def flipped(value: Hash, rng: Random) -> Hash:
    place = rng.randrange(len(value))
    return value[:place] + bytes([value[place] ^ 1 << rng.randrange(8)]) + value[place + 1 :]


def spoilt_proofs(proof: list[Hash], rng: Random) -> Iterator[tuple[str, list[Hash]]]:
    """The same proof with something wrong in its hashes."""
    extra = rng.choice([rng.randbytes(32), *proof])
    place = rng.randrange(len(proof) + 1)
    yield "hash added", [*proof[:place], extra, *proof[place:]]
    yield "hash added at the end", [*proof, extra]
    yield "random hashes", [rng.randbytes(32) for _ in range(len(proof) or 1)]
    if not proof:
        return
    place = rng.randrange(len(proof))
    before, hit, after = proof[:place], proof[place], proof[place + 1 :]
    yield "bit flipped", [*before, flipped(hit, rng), *after]
    yield "hash dropped", before + after
    yield "cut short", proof[: rng.randrange(len(proof))]
    yield "hash too short", [*before, hit[:-1], *after]
    yield "hash too long", [*before, hit + bytes(1), *after]
    swaps = [at for at, (one, two) in enumerate(pairwise(proof)) if one != two]
    if swaps:
        at = rng.choice(swaps)
        yield "hashes swapped", [*proof[:at], proof[at + 1], proof[at], *proof[at + 2 :]]


def forged_inclusions(truth: Inclusion, rng: Random) -> Iterator[tuple[str, Inclusion]]:
    """Claims that a leaf is where it is not, or is there by a proof that shows nothing."""
    leaf, index, size, proof, root = truth
    for kind, spoilt in spoilt_proofs(proof, rng):
        yield kind, truth._replace(proof=spoilt)
    yield "leaf flipped", truth._replace(leaf=flipped(leaf, rng))
    yield "root flipped", truth._replace(root=flipped(root, rng))
    other = rng.randrange(ENTRIES)
    yield "another leaf", truth._replace(leaf=LOG.leaves[other])
    yield "another index", truth._replace(at=other)
    yield "index beyond the tree", truth._replace(at=index + size)
    yield "another leaf's proof", truth._replace(proof=LOG.path(other % size, 0, size))
    other_size = rng.randrange(1, ENTRIES + 1)
    yield "another tree", truth._replace(size=other_size, root=LOG.root(other_size))
    if index >= other_size or sides(index, other_size) != sides(index, size):
        yield "another size", truth._replace(size=other_size)
    place, log = rng.choice([*REWRITTEN.items()])
    if place < size:
        yield (
            "a log written over",
            Inclusion(log.leaves[place], place, size, log.path(place, 0, size), LOG.root(size)),
        )
    if proof:
        if index | 1 < size:
            yield (
                "node for a leaf",
                truth._replace(leaf=LOG.mth(index & ~1, (index | 1) + 1), proof=proof[1:]),
            )
        # The bytes under the first node stay the same, so that only the lengths tell.
        if sides(index, size)[0] == "right":
            yield "border moved", truth._replace(leaf=leaf[:-1], proof=[leaf[-1:] + proof[0], *proof[1:]])
        else:
            yield "border moved", truth._replace(leaf=proof[0][-1:] + leaf, proof=[proof[0][:-1], *proof[1:]])


def forged_consistencies(truth: Consistency, rng: Random) -> Iterator[tuple[str, Consistency]]:
    """Claims that a tree begins with one that it does not begin with, or by a proof that shows nothing."""
    old, old_root, new, new_root, proof = truth
    for kind, spoilt in spoilt_proofs(proof, rng):
        yield kind, truth._replace(proof=spoilt)
    yield "empty proof", truth._replace(proof=[])
    yield "old root flipped", truth._replace(old_root=flipped(old_root, rng))
    yield "new root flipped", truth._replace(new_root=flipped(new_root, rng))
    yield "roots exchanged", truth._replace(old_root=new_root, new_root=old_root)
    yield "shrunk", Consistency(new, new_root, old, old_root, proof)
    yield "same size, another root", truth._replace(new_size=old, proof=[])
    yield "from nothing, with a proof", truth._replace(old_size=0, old_root=LOG.root(0))
    other = rng.randrange(1, ENTRIES + 1)
    yield "another old size", truth._replace(old_size=other)
    yield "another old tree", truth._replace(old_size=other, old_root=LOG.root(other))
    yield "another new tree", truth._replace(new_size=other, new_root=LOG.root(other))
    if other < new:
        yield "another pair's proof", truth._replace(proof=LOG.proof(other, new))
    place, log = rng.choice([*REWRITTEN.items()])
    if place < old:
        yield "a log written over", truth._replace(new_root=log.root(new), proof=log.proof(old, new))
        yield "a past written over", truth._replace(old_root=log.root(old), proof=log.proof(old, new))
    if old & (old - 1) == 0:
        moved = [old_root[-1:] + proof[0], *proof[1:]]
        yield "border moved", truth._replace(old_root=old_root[:-1], proof=moved)


def inclusion_forgeries(seed: int, number: int) -> Iterator[tuple[str, Inclusion]]:
    """So many forgeries, the same for the same seed; none of them true after all."""
    rng = Random(seed)
    while True:
        size = rng.randrange(1, ENTRIES + 1)
        for kind, claim in forged_inclusions(included(rng.randrange(size), size), rng):
            if not claim.true:
                yield kind, claim
                number -= 1
                if not number:
                    return


def consistency_forgeries(seed: int, number: int) -> Iterator[tuple[str, Consistency]]:
    """So many forgeries, the same for the same seed; none of them true after all."""
    rng = Random(seed)
    while True:
        new = rng.randrange(2, ENTRIES + 1)
        for kind, claim in forged_consistencies(consistent(rng.randrange(1, new), new), rng):
            if not claim.true:
                yield kind, claim
                number -= 1
                if not number:
                    return


class Tally(NamedTuple):
    """How many forgeries of each kind were tried, and how many a checker let through."""

    tried: Counter[str]
    passed: Counter[str]


def tallied(check: Callable[[Claim], bool], forgeries: Iterable[tuple[str, Claim]]) -> Tally:
    tally = Tally(Counter(), Counter())
    for kind, claim in forgeries:
        tally.tried[kind] += 1
        tally.passed[kind] += check(claim)
    return tally
