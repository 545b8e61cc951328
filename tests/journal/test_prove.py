"""Short proofs: they hold with nothing but the proof, and nothing that was altered passes for proved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from taisai.audit import prove
from taisai.audit.prove import (
    Consistency,
    FailedProofError,
    Inclusion,
    check_entry,
    check_growth,
    checkpoints_of,
    encoded_proof,
    prove_entry,
    prove_growth,
    read_proof,
)
from taisai.audit.sources import source_of
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.checkpoints import SignedCheckpoint, read_signed
from taisai.journal.seals.keys import SigningKey
from tests.journal.small_journal import NEW, OLD, forged, small_export, text_of
from tests.journal.small_journal import on_disk as small_on_disk

PLAYED = ("rws-wrong-result", "rws-plain-round")
OTHER = SigningKey.new("other", seed=bytes(31) + b"\x07")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("small")
    export = folder / "small.jsonl"
    export.write_bytes(text_of(small_export(*PLAYED)))
    return [small_on_disk(folder / "small.db", *PLAYED), export]


def checkpoints(path: Path) -> list[SignedCheckpoint]:
    return list(checkpoints_of(source_of(path)))


def entry_proof(path: Path, position: int = 17) -> Inclusion:
    return prove_entry(source_of(path), position)


def growth_proof(path: Path) -> Consistency:
    return prove_growth(source_of(path), checkpoints(path)[0])


# Proofs hold


def test_every_entry_is_proved_by_every_checkpoint_that_covers_it(files: list[Path]) -> None:
    bodies = [line.decode() for line in small_export(*PLAYED) if b'"position":' in line]
    sealed = checkpoints(files[0])
    assert len({one.checkpoint.size for one in sealed}) == 3
    for signed in sealed:
        size = signed.checkpoint.size
        for position in range(1, size + 1):
            proof = prove_entry(source_of(files[position % 2]), position, size=size)
            checked = check_entry(proof)
            assert (proof.entry, checked.signed.checkpoint.size) == (bodies[position - 1], size)
            assert checked.by == (OLD if signed is sealed[0] else NEW).public


def test_growth_is_proved_from_every_checkpoint(files: list[Path]) -> None:
    for held in checkpoints(files[0]):
        for path in files:
            old, new = check_growth(prove_growth(source_of(path), held), [OLD.public, NEW.public])
            assert old.signed == held
            assert new.signed == checkpoints(files[0])[-1]


def test_a_proof_is_a_line_of_json(files: list[Path]) -> None:
    for proof in (entry_proof(files[0]), growth_proof(files[0])):
        data = encoded_proof(proof)
        assert read_proof(data, "proof") == proof
        assert json.dumps(
            json.loads(data), ensure_ascii=False, separators=(",", ":"), sort_keys=True
        ).encode() == (data)


def test_a_witness_may_sign_beside_the_key(files: list[Path]) -> None:
    proof = entry_proof(files[0])
    signed = read_signed(proof.checkpoint)
    other = read_signed(_signed_too(signed, OTHER))
    proof = replace(proof, checkpoint=other.text)
    assert check_entry(proof, [OTHER.public]).by == OTHER.public
    assert check_entry(proof).by == NEW.public


def _signed_too(signed: SignedCheckpoint, key: SigningKey) -> str:
    from taisai.journal.seals.checkpoints import signed as sign

    return signed.text + sign(signed.checkpoint, key).split("\n\n")[1]


# Proofs fail


def altered(text: str) -> str:
    """The same with another last character of some figure."""
    return text.replace("1", "2", 1) if "1" in text else text.replace("0", "1", 1)


ENTRY: dict[str, Callable[[Any], dict[str, Any]]] = {
    "entry": lambda one: {"entry": one.entry.replace('"by":"', '"by":"x', 1)},
    "entry without position": lambda _: {"entry": "{}"},
    "entry that is no JSON": lambda _: {"entry": "x"},
    "entry that is a list": lambda _: {"entry": "[1]"},
    "entry with half a character": lambda one: {"entry": one.entry + "\ud800"},
    "position": lambda one: {"position": one.position + 1},
    "position 0": lambda _: {"position": 0},
    "negative position": lambda _: {"position": -1},
    "hash": lambda one: {"hashes": (altered(one.hashes[0]), *one.hashes[1:])},
    "hash of other length": lambda one: {"hashes": ("00", *one.hashes[1:])},
    "no hexadecimal": lambda one: {"hashes": ("zz", *one.hashes[1:])},
    "hash too few": lambda one: {"hashes": one.hashes[1:]},
    "hash too many": lambda one: {"hashes": (*one.hashes, one.hashes[0])},
    "hashes in another order": lambda one: {"hashes": one.hashes[::-1]},
    "checkpoint's size": lambda one: {"checkpoint": _line(one.checkpoint, 1, "31")},
    "checkpoint's time": lambda one: {"checkpoint": _line(one.checkpoint, 3, "time 5")},
    "no checkpoint": lambda _: {"checkpoint": "x"},
    "another's key": lambda _: {"key": OTHER.public.text},
    "no key": lambda _: {"key": "x"},
}


def _line(text: str, number: int, line: str) -> str:
    lines = text.split("\n")
    lines[number] = line
    return "\n".join(lines)


@pytest.mark.parametrize("what", sorted(ENTRY))
def test_a_proof_of_an_entry_with_anything_altered_fails(files: list[Path], what: str) -> None:
    proof = entry_proof(files[0])
    with pytest.raises(FailedProofError, match=r"expected |not signed: |no valid signature|hexadecimal"):
        check_entry(replace(proof, **ENTRY[what](proof)))


GROWTH: dict[str, Callable[[Any], dict[str, Any]]] = {
    "hash": lambda one: {"hashes": (altered(one.hashes[0]), *one.hashes[1:])},
    "hash too few": lambda one: {"hashes": one.hashes[1:]},
    "swapped": lambda one: {
        "old": one.new, "new": one.old, "old_key": one.new_key, "new_key": one.old_key
    },
    "another old one": lambda one: {"old": one.new, "old_key": one.new_key},
    "old size": lambda one: {"old": _line(one.old, 1, "5")},
    "another journal": lambda one: {"old": _of_another(one.old), "old_key": OTHER.public.text},
    "another's key": lambda _: {"new_key": OTHER.public.text},
}  # fmt: skip


def _of_another(text: str) -> str:
    from taisai.journal.seals.checkpoints import Checkpoint, signed

    read = read_signed(text).checkpoint
    return signed(Checkpoint(origin="taisai/other", size=read.size, root=read.root, at=read.at), OTHER)


@pytest.mark.parametrize("what", sorted(GROWTH))
def test_a_proof_of_growth_with_anything_altered_fails(files: list[Path], what: str) -> None:
    proof = growth_proof(files[0])
    with pytest.raises(FailedProofError, match=r"expected |was altered: |no valid signature"):
        check_growth(replace(proof, **GROWTH[what](proof)))


def test_a_key_that_is_given_must_have_signed(files: list[Path]) -> None:
    with pytest.raises(FailedProofError, match="no valid signature of other"):
        check_entry(entry_proof(files[0]), [OTHER.public])
    with pytest.raises(FailedProofError, match="no valid signature of old"):
        check_growth(growth_proof(files[0]), [OLD.public])  # the new one is by another key


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"\xff", b'{"proof":"other"}', b'{"proof":"inclusion","v":2}', b"[" * 9_999]
)
def test_what_is_no_proof_is_refused_and_has_not_failed(data: bytes) -> None:
    with pytest.raises(JournalError, match="not a proof") as caught:
        read_proof(data, "p.json")
    assert not isinstance(caught.value, FailedProofError)


# Nothing to prove


def test_an_altered_journal_gives_no_proof(files: list[Path], tmp_path: Path) -> None:
    path, text = tmp_path / "altered.jsonl", files[1].read_bytes()
    path.write_bytes(text.replace(b'"stake":1000', b'"stake":1001', 1))
    with pytest.raises(DamagedError, match="is not what was signed"):
        prove_entry(source_of(path), 1)
    with pytest.raises(DamagedError, match="is not what was signed"):
        prove_growth(source_of(path), checkpoints(files[1])[0])


def test_a_journal_that_was_written_again_does_not_continue_the_old_one(
    files: list[Path], tmp_path: Path
) -> None:
    def change(entries: list[dict[str, Any]]) -> None:
        entries[1]["event"]["house"] = entries[1]["asked"]["house"] = "G"

    path = tmp_path / "again.jsonl"
    path.write_bytes(text_of(forged(small_export(*PLAYED), change)))
    assert check_entry(entry_proof(path))
    with pytest.raises(DamagedError, match="expected the root"):
        prove_growth(source_of(path), checkpoints(files[1])[0])


def test_what_cannot_be_proved_is_refused(files: list[Path], tmp_path: Path) -> None:
    source, size = source_of(files[0]), checkpoints(files[0])[-1].checkpoint.size
    for position in (0, -1, size + 1):
        with pytest.raises(JournalError, match=f"from 1 to {size}, got {position}"):
            prove_entry(source, position)
    with pytest.raises(JournalError, match=r"expected a checkpoint over 3 entries, got those over \d+, "):
        prove_entry(source, 1, size=3)
    with pytest.raises(JournalError, match="expected a checkpoint of taisai/0123"):
        prove_growth(source, read_signed(_of_another(checkpoints(files[0])[0].text)))
    path = tmp_path / "unsealed.jsonl"
    path.write_bytes(text_of([one for one in small_export(*PLAYED) if b'"checkpoint"' not in one[:14]]))
    with pytest.raises(JournalError, match="expected a checkpoint, got a file without checkpoints"):
        prove_entry(source_of(path), 1)


def test_a_journal_that_was_cut_is_noticed(tmp_path: Path) -> None:
    text = small_export(*PLAYED)
    path = tmp_path / "cut.jsonl"
    entries = [line for line in text if b'"position":' in line]
    path.write_bytes(text_of([*entries[:-2], text[-2], text[-1]]))
    with pytest.raises(DamagedError, match="the journal was cut"):
        entry_proof(path, 1)


def test_sabotage_a_check_that_looks_at_no_hash_is_noticed(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "check_inclusion", lambda *_, **__: True)
    proof = entry_proof(files[0])
    passed = []
    for what, change in ENTRY.items():
        try:
            check_entry(replace(proof, **change(proof)))
        except FailedProofError:
            continue
        passed.append(what)
    assert "entry" in passed
    assert "hash" in passed


def test_sabotage_a_prover_that_forgets_a_leaf_is_noticed(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "inclusion_spans", lambda index, size: [range(index, size)])
    with pytest.raises(FailedProofError):
        check_entry(entry_proof(files[0]))
