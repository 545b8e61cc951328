"""A hundred thousand forged proofs, and none is believed."""

from __future__ import annotations

import os

import pytest

from taisai.journal.seals import merkle
from taisai.journal.seals.merkle import (
    check_consistency,
    check_inclusion,
    consistency_spans,
    inclusion_spans,
    node_hash,
)
from tests.journal.forged_proofs import (
    ENTRIES,
    Consistency,
    ConsistencyCheck,
    Inclusion,
    InclusionCheck,
    consistency_forgeries,
    consistent,
    included,
    inclusion_forgeries,
    tallied,
)
from tests.tiers import LONG, count

pytestmark = pytest.mark.part(name="tampering")

SEED = int(os.environ.get("TAISAI_SEED", "6962"))
OF_EACH = count(20_000, 250_000)
FOR_SABOTAGE = 1_000
FEWEST = 100 if LONG else 20  # forgeries of each kind, so that none is in the list only by name


def believed(claim: Inclusion) -> bool:
    return check_inclusion(claim.leaf, index=claim.at, size=claim.size, proof=claim.proof, root=claim.root)


def believed_growth(claim: Consistency) -> bool:
    return check_consistency(
        old_size=claim.old_size,
        old_root=claim.old_root,
        new_size=claim.new_size,
        new_root=claim.new_root,
        proof=claim.proof,
    )


def test_what_is_true_is_believed() -> None:
    sizes = [*range(1, 40), 63, 64, 65, 127, 128, 129, ENTRIES]
    assert all(believed(included(index, size)) for size in sizes for index in range(size))
    assert all(believed_growth(consistent(old, new)) for new in sizes for old in range(1, new))


def test_forged_inclusions_are_refused() -> None:
    tried, passed = tallied(believed, inclusion_forgeries(SEED, OF_EACH))
    assert not passed.total(), f"TAISAI_SEED={SEED} lets through {+passed}"
    assert tried.total() == OF_EACH
    assert min(tried.values()) >= FEWEST, tried
    assert len(tried) == 20, tried


def test_forged_consistency_is_refused() -> None:
    tried, passed = tallied(believed_growth, consistency_forgeries(SEED, OF_EACH))
    assert not passed.total(), f"TAISAI_SEED={SEED} lets through {+passed}"
    assert tried.total() == OF_EACH
    assert min(tried.values()) >= FEWEST, tried
    assert len(tried) == 23, tried


# ── sabotage: checkers with one thing left out ───────────────────────────────────────────────────────


def takes_longer_proofs(claim: Inclusion) -> bool:
    if claim.at >= claim.size:
        return False
    return believed(claim._replace(proof=claim.proof[: len(inclusion_spans(claim.at, claim.size))]))


def takes_shorter_proofs(claim: Inclusion) -> bool:
    """Joins what hashes there are, on the sides that it expects, and never asks whether they are enough."""
    if claim.at >= claim.size:
        return False
    reached = claim.leaf
    for span, beside in zip(inclusion_spans(claim.at, claim.size), claim.proof, strict=False):
        left = span.start < claim.at
        reached = node_hash(beside, reached) if left else node_hash(reached, beside)
    return reached == claim.root


def ignores_the_last_hash(claim: Inclusion) -> bool:
    """Compares what is under the root with what an honest proof reaches there."""
    if claim.at >= claim.size:
        return False
    truth = included(claim.at, claim.size)
    same = (claim.leaf, claim.root, claim.proof[:-1]) == (truth.leaf, truth.root, truth.proof[:-1])
    return same and len(claim.proof) == len(truth.proof)


def ignores_the_index(claim: Inclusion) -> bool:
    return any(believed(claim._replace(at=index)) for index in range(claim.size))


def ignores_the_leaf(claim: Inclusion) -> bool:
    return claim.at < claim.size and believed(claim._replace(leaf=included(claim.at, claim.size).leaf))


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        (takes_longer_proofs, "hash added at the end"),
        (takes_shorter_proofs, "another size"),
        (ignores_the_last_hash, "bit flipped"),
        (ignores_the_last_hash, "hash too short"),
        (ignores_the_index, "another index"),
        (ignores_the_leaf, "another leaf"),
        (ignores_the_leaf, "leaf flipped"),
    ],
)
def test_sabotage_a_careless_checker_of_inclusion_is_noticed(check: InclusionCheck, kind: str) -> None:
    assert check(included(5, 13)), "a sabotage that believes nothing shows nothing"
    assert tallied(check, inclusion_forgeries(SEED, FOR_SABOTAGE)).passed[kind]


def takes_longer_growth(claim: Consistency) -> bool:
    if claim.old_size > claim.new_size:
        return False
    needed = len(consistency_spans(claim.old_size, claim.new_size))
    return believed_growth(claim._replace(proof=claim.proof[:needed]))


def ignores_the_old_root(claim: Consistency) -> bool:
    """Rebuilds the new root alone."""
    honest = (
        claim._replace(old_root=consistent(claim.old_size, ENTRIES).old_root) if claim.old_size else claim
    )
    return believed_growth(honest) if claim.old_size < ENTRIES else believed_growth(claim)


def ignores_the_new_root(claim: Consistency) -> bool:
    """Believes a new root as soon as the old one is right and the hashes are as many as they should be."""
    if not 0 < claim.old_size < claim.new_size:
        return False
    truth = consistent(claim.old_size, claim.new_size)
    return claim.old_root == truth.old_root and len(claim.proof) == len(truth.proof)


def takes_any_growth_by_an_empty_proof(claim: Consistency) -> bool:
    return not claim.proof or believed_growth(claim)


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        (takes_longer_growth, "hash added at the end"),
        (takes_longer_growth, "from nothing, with a proof"),
        (ignores_the_old_root, "old root flipped"),
        (ignores_the_new_root, "a log written over"),
        (ignores_the_new_root, "new root flipped"),
        (takes_any_growth_by_an_empty_proof, "empty proof"),
        (takes_any_growth_by_an_empty_proof, "same size, another root"),
    ],
)
def test_sabotage_a_careless_checker_of_consistency_is_noticed(check: ConsistencyCheck, kind: str) -> None:
    assert check(consistent(5, 13)), "a sabotage that believes nothing shows nothing"
    assert tallied(check, consistency_forgeries(SEED, FOR_SABOTAGE)).passed[kind]


def test_sabotage_hashes_of_any_length_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merkle, "_is_hash", lambda _: True)
    assert tallied(believed, inclusion_forgeries(SEED, FOR_SABOTAGE)).passed["border moved"]
    assert tallied(believed_growth, consistency_forgeries(SEED, FOR_SABOTAGE)).passed["border moved"]
