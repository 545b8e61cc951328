"""The Merkle tree against its definition: every size to 64, every leaf, every pair of sizes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.journal.seals import merkle
from taisai.journal.seals.merkle import (
    EMPTY_ROOT,
    MOST_LEAVES,
    Frontier,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
)
from tests.journal.rfc9162 import Log, hashed, verified_consistency, verified_inclusion

MOST = 64
LOG = Log([b"entry %d" % number for number in range(MOST)])
LEAVES = LOG.leaves

# The leaves and roots that implementations of Certificate Transparency test themselves with.
CT_ENTRIES = [
    bytes.fromhex(entry)
    for entry in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def grown(size: int) -> Frontier:
    tree = Frontier()
    for leaf in LEAVES[:size]:
        tree.append(leaf)
    return tree


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert EMPTY_ROOT.hex() == Frontier().root().hex() == root_of([]).hex() == empty


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_that_the_world_agrees_on(size: int) -> None:
    assert root_of([leaf_hash(entry) for entry in CT_ENTRIES[:size]]).hex() == CT_ROOTS[size - 1]


def test_a_consistency_proof_that_the_world_agrees_on() -> None:
    leaves = [leaf_hash(entry) for entry in CT_ENTRIES]
    assert [each.hex() for each in consistency_proof(leaves, 6, 8)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_a_node_cannot_pass_for_an_entry() -> None:
    left, right = LEAVES[:2]
    assert node_hash(left, right) == hashed(b"\x01" + left + right)
    assert leaf_hash(left + right) == hashed(b"\x00" + left + right) != node_hash(left, right)


@pytest.mark.parametrize("size", range(MOST + 1))
def test_the_root_is_the_definitions_however_it_is_reached(size: int) -> None:
    tree = grown(size)
    assert tree.root() == root_of(LEAVES[:size]) == LOG.root(size)
    assert tree.size == size
    assert len(tree.peaks) == size.bit_count()


@pytest.mark.parametrize("size", range(MOST + 1))
def test_a_tree_made_again_from_its_peaks_grows_on_as_before(size: int) -> None:
    tree = grown(size)
    again = Frontier(tree.size, tree.peaks)
    for leaf in LEAVES[size:]:
        again.append(leaf)
    assert again.root() == LOG.root(MOST)
    assert tree.root() == LOG.root(size), "a copy that grew changed the original"
    assert eval(repr(tree), {"Frontier": Frontier}).root() == tree.root()


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_leaf_of_every_tree_is_proved(size: int) -> None:
    root = LOG.root(size)
    for index in range(size):
        proof = inclusion_proof(LEAVES, index, size)
        assert proof == LOG.path(index, 0, size)
        assert check_inclusion(LEAVES[index], index=index, size=size, proof=proof, root=root)
        assert verified_inclusion(LEAVES[index], index=index, size=size, proof=proof, root=root)


@pytest.mark.parametrize("new", range(1, MOST + 1))
def test_every_tree_is_proved_to_begin_with_every_smaller_one(new: int) -> None:
    for old in range(1, new):
        proof = consistency_proof(LEAVES, old, new)
        assert proof == LOG.proof(old, new)
        claim: dict[str, Any] = {
            "old_size": old,
            "old_root": LOG.root(old),
            "new_size": new,
            "new_root": LOG.root(new),
            "proof": proof,
        }
        assert check_consistency(**claim)
        assert verified_consistency(**claim)


@pytest.mark.parametrize("size", range(MOST + 1))
def test_a_tree_begins_with_itself_and_with_the_empty_tree_by_an_empty_proof(size: int) -> None:
    root, other = LOG.root(size), hashed(b"other")
    assert consistency_proof(LEAVES, size, size) == consistency_proof(LEAVES, 0, size) == []

    def checked(old_size: int, old_root: bytes, new_root: bytes, proof: list[bytes]) -> bool:
        return check_consistency(
            old_size=old_size, old_root=old_root, new_size=size, new_root=new_root, proof=proof
        )

    assert checked(size, root, root, [])
    assert checked(0, EMPTY_ROOT, root, [])
    assert not checked(size, other, root, [])
    assert not checked(size, root, other, [])
    assert not checked(size, root, root, [other])
    assert not checked(0, other, root, [])
    assert not checked(0, EMPTY_ROOT, root, [other])


def test_two_empty_trees_with_another_root_are_none() -> None:
    other = hashed(b"other")
    assert not check_consistency(old_size=0, old_root=other, new_size=0, new_root=other, proof=[])


def test_leaves_are_taken_in_portions_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    for portion in (1, 2, 3, 7, MOST, MOST + 1):
        monkeypatch.setattr(merkle, "_AT_ONCE", portion)
        assert root_of(LEAVES) == LOG.root(MOST)
        assert inclusion_proof(LEAVES, 37, 61) == LOG.path(37, 0, 61)


SIZES = st.integers(0, MOST + 2)
HASHES = st.one_of(st.sampled_from(LEAVES), st.binary(min_size=32, max_size=32))


@given(data=st.data())
def test_any_inclusion_claim_is_judged_as_the_rfc_does(data: st.DataObject) -> None:
    size, index = data.draw(st.integers(1, MOST)), data.draw(SIZES)
    claimed = data.draw(st.one_of(st.just(index), SIZES))
    path = LOG.path(min(index, size - 1), 0, size)
    claim: dict[str, Any] = {
        "index": claimed,
        "size": data.draw(st.one_of(st.just(size), SIZES)),
        "proof": data.draw(st.one_of(st.just(path), st.lists(HASHES, max_size=7))),
        "root": data.draw(st.sampled_from([LOG.root(size), LOG.root(min(claimed, MOST))])),
    }
    leaf = data.draw(st.sampled_from([LEAVES[min(index, size - 1)], LEAVES[0]]))
    assert check_inclusion(leaf, **claim) == verified_inclusion(leaf, **claim)


@given(data=st.data())
def test_any_consistency_claim_is_judged_as_the_rfc_does(data: st.DataObject) -> None:
    new = data.draw(st.integers(2, MOST))
    old = data.draw(st.integers(1, new - 1))
    claimed_new = data.draw(st.one_of(st.just(new), st.integers(2, MOST)))
    claimed_old = data.draw(st.one_of(st.just(min(old, claimed_new - 1)), st.integers(1, claimed_new - 1)))
    path = LOG.proof(old, new)
    claim: dict[str, Any] = {
        "old_size": claimed_old,
        "old_root": LOG.root(data.draw(st.sampled_from([old, claimed_old]))),
        "new_size": claimed_new,
        "new_root": LOG.root(data.draw(st.sampled_from([new, claimed_new]))),
        "proof": data.draw(st.one_of(st.just(path), st.lists(HASHES, max_size=7))),
    }
    assert check_consistency(**claim) == verified_consistency(**claim)


@pytest.mark.parametrize(
    ("size", "peaks", "says"),
    [
        (3, LEAVES[:1], "expected 2 peaks for 3 leaves, got 1"),
        (0, LEAVES[:1], "expected 0 peaks for 0 leaves, got 1"),
        (-1, (), "expected a size from 0"),
        (MOST_LEAVES + 1, LEAVES[:1], "expected a size from 0"),
        (True, LEAVES[:1], "expected a size from 0"),
        (1, [LEAVES[0][:31]], r"expected a hash of 32 bytes, got .* \(peak 1\)"),
        (1, ["x" * 32], r"expected a hash of 32 bytes, got .* \(peak 1\)"),
    ],
)
def test_peaks_that_cannot_be_are_refused(size: int, peaks: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Frontier(size, peaks)


@pytest.mark.parametrize("leaf", [b"", LEAVES[0][:31], LEAVES[0] + b"\x00"])
def test_only_a_hash_can_be_appended(leaf: bytes) -> None:
    tree = grown(3)
    with pytest.raises(ValueError, match="expected the hash of a leaf, 32 bytes, got"):
        tree.append(leaf)
    assert (tree.size, tree.root()) == (3, LOG.root(3))


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0), (0, MOST + 1)])
def test_no_proof_is_made_of_a_leaf_that_is_not_there(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        inclusion_proof(LEAVES, index, size)


@pytest.mark.parametrize(("old", "new"), [(-1, 3), (4, 3), (1, MOST + 1)])
def test_no_proof_is_made_of_a_tree_that_is_not_there(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        consistency_proof(LEAVES, old, new)


WRONG = [None, "", "x" * 32, b"", b"x" * 31, b"x" * 33, -7, 1.0, True, -1, 10**400, [b"x"], bytearray(32)]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:12])
def test_a_claim_of_wrong_types_is_false_and_raises_nothing(wrong: Any) -> None:
    inclusion: dict[str, Any] = {"index": 2, "size": 7, "proof": LOG.path(2, 0, 7), "root": LOG.root(7)}
    for name in inclusion:
        assert not check_inclusion(LEAVES[2], **{**inclusion, name: wrong})
    assert not check_inclusion(wrong, **inclusion)
    consistency: dict[str, Any] = {
        "old_size": 3,
        "old_root": LOG.root(3),
        "new_size": 7,
        "new_root": LOG.root(7),
        "proof": LOG.proof(3, 7),
    }
    for name in consistency:
        assert not check_consistency(**{**consistency, name: wrong})
    for check, claim in (
        (check_inclusion, {"leaf": LEAVES[2], **inclusion}),
        (check_consistency, consistency),
    ):
        proof: Any = claim["proof"]
        assert not check(**{**claim, "proof": [*proof[:-1], wrong]})


def test_the_largest_tree_is_checked_without_delay() -> None:
    assert not check_inclusion(LEAVES[0], index=0, size=MOST_LEAVES, proof=[LEAVES[1]] * 63, root=LOG.root(1))
    assert not check_inclusion(
        LEAVES[0], index=0, size=MOST_LEAVES + 1, proof=[LEAVES[1]] * 63, root=LEAVES[0]
    )
