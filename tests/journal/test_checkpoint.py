"""Checkpoints: one spelling, and no byte of it can be changed unnoticed."""

from __future__ import annotations

import base64
import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.journal.seals import checkpoints as module
from taisai.journal.seals.checkpoints import (
    MOST_BYTES,
    MOST_SIGNATURES,
    MOST_TIME,
    Checkpoint,
    CheckpointError,
    NoteSignature,
    SignedCheckpoint,
    read_signed,
    signed,
)
from taisai.journal.seals.keys import MOST_NAME, PublicKey, SigningKey, is_key_name
from taisai.journal.seals.merkle import EMPTY_ROOT, MOST_LEAVES, leaf_hash

KEY = SigningKey.new("taisai.example/SB1", seed=bytes(range(32)))
WITNESS = SigningKey.new("witness.example", seed=bytes(32))
POINT = Checkpoint(origin="taisai.example/SB1", size=20_852_163, root=leaf_hash(b"x"), at=1_763_244_000_000)
TEXT = signed(POINT, KEY)
BODY, SIGNATURE = TEXT.split("\n\n")
ROOT = base64.b64encode(POINT.root).decode()

NAMES = st.text(min_size=1, max_size=MOST_NAME).filter(is_key_name)
CHECKPOINTS = st.builds(
    Checkpoint,
    origin=NAMES,
    size=st.integers(1, MOST_LEAVES),
    root=st.binary(min_size=32, max_size=32),
    at=st.integers(0, MOST_TIME),
)
SIGNATURES = st.builds(
    NoteSignature,
    name=NAMES,
    id=st.binary(min_size=4, max_size=4).map(bytes.hex),
    signature=st.binary(min_size=1, max_size=100),
)


def verified(text: str | bytes, public: PublicKey = KEY.public) -> bool:
    """Whether a text is a checkpoint that the key signed."""
    try:
        return read_signed(text).is_signed_by(public)
    except CheckpointError:
        return False


def test_the_form_is_that_of_transparency_logs() -> None:
    assert TEXT.startswith(
        f"taisai.example/SB1\n20852163\n{ROOT}\ntime 1763244000000\n\n— taisai.example/SB1 "
    )
    blob = base64.b64decode(TEXT.split()[-1])
    assert blob[:4].hex() == KEY.public.id
    assert len(blob) == 4 + 64
    assert KEY.public.verify(blob[4:], POINT.body.encode())


def test_the_signature_line_that_the_world_agrees_on() -> None:
    """The example that the format of signed notes came with."""
    seed = bytes.fromhex("810a1402d5146c8d84f2443330f54080ebf98ee17d9c74f6252fc5d5c7283173")
    key = SigningKey.new("PeterNeumann", seed=seed)
    text = "If you think cryptography is the answer to your problem,\n"
    text += "then you don't know what your problem is.\n"
    assert NoteSignature(key.name, key.public.id, key.sign(text.encode())).line == (
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZIn"
        "NIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )


def test_what_is_signed_is_read_and_verified() -> None:
    read = read_signed(TEXT)
    assert read == read_signed(TEXT.encode())
    assert read.checkpoint == POINT
    assert [(each.name, each.id) for each in read.signatures] == [(KEY.name, KEY.public.id)]
    assert read.text == TEXT
    assert read.is_signed_by(KEY.public)
    assert not read.is_signed_by(WITNESS.public)


def test_a_key_of_the_same_name_or_under_another_name_did_not_sign() -> None:
    assert not verified(TEXT, SigningKey.new(KEY.name, seed=bytes(32)).public)
    assert not verified(TEXT, PublicKey("another.example", KEY.public.raw))


def changed_bytes() -> list[bytes]:
    """The text with one byte changed: every bit of it, and every value where base64 has bits to spare."""
    data = TEXT.encode()
    bits = [*(1 << bit for bit in range(8)), 0xFF]
    return [
        data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]
        for place in range(len(data))
        for mask in (range(1, 256) if data[place + 1 : place + 2] == b"=" else bits)
    ]


def test_every_flipped_byte_is_noticed() -> None:
    assert verified(TEXT)
    assert not any(verified(changed) for changed in changed_bytes())


def test_every_dropped_doubled_or_inserted_byte_is_noticed() -> None:
    data = TEXT.encode()
    for place in range(len(data)):
        before, after = data[:place], data[place:]
        for changed in (before, before + after[1:], before + after[:1] + after, before + b"0" + after):
            assert changed == data or not verified(changed), changed
        for blank in (b"\n", b" ", b"\r", b"=", b"\x00"):
            assert not verified(before + blank + after), (place, blank)
    for more in (b"\n", b" ", b"x", b"x\n", SIGNATURE.encode()[:20]):
        assert not verified(data + more)


def test_sabotage_a_lenient_reader_of_base64_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(text: str, _: int) -> bytes:
        try:
            return base64.b64decode(text)
        except ValueError as error:
            raise CheckpointError from error

    monkeypatch.setattr(module, "_decoded", lenient)
    assert any(verified(changed) for changed in changed_bytes())


def test_sabotage_a_signature_that_does_not_cover_the_time_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verify = PublicKey.verify

    def careless(self: PublicKey, signature: bytes, message: bytes) -> bool:
        return verify(self, signature, re.sub(b"time .*", b"time 1763244000000", message))

    monkeypatch.setattr(PublicKey, "verify", careless)
    assert any(verified(changed) for changed in changed_bytes())


@given(point=CHECKPOINTS, others=st.lists(SIGNATURES, max_size=MOST_SIGNATURES - 1))
def test_any_checkpoint_is_read_as_it_was_written(point: Checkpoint, others: list[NoteSignature]) -> None:
    text = signed(point, KEY) + "".join(each.line for each in others)
    read = read_signed(text)
    assert read.checkpoint == point
    assert read.signatures[1:] == tuple(others)
    assert read.text == text
    assert read.is_signed_by(KEY.public)


def test_the_signatures_of_others_are_kept_and_not_in_the_way() -> None:
    cosigned = NoteSignature("witness.example", "00c0ffee", bytes(72)).line  # time and signature of a witness
    large = NoteSignature("later.example", "00c0ffee", bytes(5000)).line
    stranger = NoteSignature(KEY.name, "00c0ffee", bytes(64)).line
    namesake = NoteSignature("namesake.example", KEY.public.id, bytes(64)).line
    for text in (TEXT + cosigned + large + stranger + namesake, f"{BODY}\n\n{cosigned}{SIGNATURE}"):
        read = read_signed(text)
        assert read.text == text
        assert read.is_signed_by(KEY.public)
    both = TEXT + signed(POINT, WITNESS).split("\n\n")[1]
    assert verified(both, KEY.public)
    assert verified(both, WITNESS.public)


def test_one_false_signature_under_the_keys_name_and_id_spoils_the_checkpoint() -> None:
    false = NoteSignature(KEY.name, KEY.public.id, bytes(64)).line
    assert not verified(TEXT + false)
    assert not verified(f"{BODY}\n\n{false}{SIGNATURE}")
    assert verified(TEXT + SIGNATURE), "the same signature twice is no harm"


def test_a_checkpoint_without_signatures_is_signed_by_nobody() -> None:
    assert not SignedCheckpoint(POINT, ()).is_signed_by(KEY.public)


def replaced(old: str, new: str) -> str:
    assert TEXT.count(old) >= 1
    return TEXT.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected four lines, an empty one and a signature, got 0 lines"),
        (BODY + "\n\n", "expected four lines, an empty one and a signature, got 5 lines"),
        (TEXT[:-1], "expected a newline at the end, got '— "),
        (replaced("taisai.example/SB1", ""), "expected an origin: "),
        (replaced("taisai.example/SB1", "SB 1"), "no space, no '+', got 'SB 1' (line 1)"),
        (replaced("20852163", "020852163"), "no leading zero, got '020852163' (line 2)"),
        (replaced("20852163", "00"), "no leading zero, got '00' (line 2)"),
        (replaced("20852163", "-1"), "no leading zero, got '-1' (line 2)"),
        (replaced("20852163", "+1"), "no leading zero, got '+1' (line 2)"),
        (replaced("20852163", "1_0"), "no leading zero, got '1_0' (line 2)"),
        (replaced("20852163", "１２"), "no leading zero, got '１２' (line 2)"),
        (replaced("20852163", " 1"), "no leading zero, got ' 1' (line 2)"),
        (replaced("20852163", str(2**63)), f"expected a size from 0 to {2**63 - 1}, got {2**63} (line 2)"),
        (replaced("20852163", "9" * 5000), "expected a decimal number of at most 19 digits"),
        (replaced("20852163", "0"), "expected the root of the empty tree, since the size is 0, got b"),
        (replaced(ROOT, ROOT[:-1]), "expected base64, got"),
        (replaced(ROOT, ROOT[:-4]), "expected a root of 32 bytes, got"),
        (replaced(ROOT, ""), "expected a root of 32 bytes, got b'' (line 3)"),
        (replaced(ROOT, "*" + ROOT[1:]), "expected base64, got"),
        (replaced(ROOT, "é" + ROOT[1:]), "expected base64, got"),
        (replaced(ROOT, ROOT[:-2] + chr(ord(ROOT[-2]) + 1) + "="), "expected base64 in its canonical form"),
        (
            replaced("time ", "Time "),
            "expected 'time' and milliseconds since 1970, got 'Time 1763244000000' (line 4)",
        ),
        (replaced("time 1", "time  1"), "no leading zero, got ' 1763244000000' (line 4)"),
        (
            replaced("1763244000000", str(10**19)),
            f"expected a decimal number of at most 19 digits, no leading zero, got '{10**19}' (line 4)",
        ),
        (
            replaced("time 1763244000000\n", ""),
            "expected 'time' and milliseconds since 1970, got '' (line 4)",
        ),
        (
            replaced("\n\n", "\nmore\n\n"),
            "expected an empty line between text and signatures, got 'more' (line 5)",
        ),
        (replaced("\n\n", "\n\n\n"), "expected a signature like '— name AbCd…', got '' (line 6)"),
        (replaced("— ", "- "), "expected a signature like '— name AbCd…', got '- tais"),
        (replaced("— ", "—  "), "expected a signature like"),
        (replaced("— taisai.example/SB1", "— a+b"), "expected a signature like"),
        (
            TEXT + "— name AAAAAA==\n",
            "expected a key id of 4 bytes and a signature, got '— name AAAAAA==' (line 7)",
        ),
        (TEXT + "— name AAAAAAA\n", "expected base64, got 'AAAAAAA' (line 7)"),
        (TEXT.replace("\n", "\r\n"), "expected"),
        ("\ufeff" + TEXT, "expected an origin"),
        ("\ud800" + TEXT, "the checkpoint is not UTF-8"),
        (b"\xff" + TEXT.encode(), "the checkpoint is not UTF-8"),
    ],
)
def test_what_is_not_canonical_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(CheckpointError, match=re.escape(says)) as refused:
        read_signed(text)
    assert len(str(refused.value)) < 500


def test_so_many_signatures_and_not_one_more() -> None:
    others = "".join(NoteSignature(f"w{n}", "00c0ffee", bytes(72)).line for n in range(MOST_SIGNATURES))
    assert len(read_signed(f"{BODY}\n\n{others}").signatures) == MOST_SIGNATURES
    with pytest.raises(CheckpointError, match=r"expected at most 16 lines of signatures, got 17"):
        read_signed(f"{BODY}\n\n{others}{SIGNATURE}")


def test_so_many_bytes_and_not_one_more() -> None:
    bare = len((TEXT + NoteSignature("w", "00c0ffee", bytes(2)).line).encode()) - 8
    spare = (MOST_BYTES - bare) // 4 * 3
    padded = TEXT + NoteSignature("w", "00c0ffee", bytes(spare - 4)).line
    assert MOST_BYTES - 4 < len(padded.encode()) <= MOST_BYTES
    assert verified(padded)
    with pytest.raises(CheckpointError, match="expected a checkpoint of at most 1000000 bytes, got 100000"):
        read_signed(TEXT + NoteSignature("w", "00c0ffee", bytes(spare - 1)).line)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("origin", "a b"),
        ("origin", "a\nb"),
        ("size", -1),
        ("size", True),
        ("size", MOST_LEAVES + 1),
        ("root", b"x"),
        ("root", "x" * 32),
        ("at", -1),
        ("at", 1.0),
        ("at", MOST_TIME + 1),
    ],
)
def test_no_checkpoint_is_made_that_could_not_be_read(field: str, value: object) -> None:
    fields = {"origin": "o", "size": 1, "root": POINT.root, "at": 0, field: value}
    with pytest.raises(CheckpointError, match=r"expected .*, got .* \(line [1-4]\)"):
        Checkpoint(**fields)  # type: ignore[arg-type]


def test_the_empty_log_has_its_own_root() -> None:
    assert verified(signed(Checkpoint(origin="o", size=0, root=EMPTY_ROOT, at=0), KEY))
    with pytest.raises(CheckpointError, match="expected the root of the empty tree"):
        Checkpoint(origin="o", size=0, root=POINT.root, at=0)


LINES = st.one_of(
    st.sampled_from([*TEXT.split("\n"), "", "0", "time 0", "— a AAAAAAA=", "— a AAAA"]),
    st.text(alphabet="—atime 019+/=AQ\r\t\u2028", max_size=20),
    st.text(max_size=20),
)


@given(lines=st.lists(LINES, max_size=24), end=st.sampled_from(["", "\n"]))
def test_whatever_is_read_is_canonical_or_refused(lines: list[str], end: str) -> None:
    text = "\n".join(lines) + end
    with contextlib.suppress(CheckpointError):
        assert read_signed(text).text == text


@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_checkpoint_or_refused(data: bytes) -> None:
    with pytest.raises(CheckpointError, match=r"expected|not UTF-8"):
        read_signed(data)


@given(data=st.data())
def test_a_damaged_checkpoint_is_refused_or_not_verified(data: st.DataObject) -> None:
    raw = TEXT.encode()
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, len(raw)))
    damaged = raw[:start] + data.draw(st.binary(max_size=8)) + raw[end:]
    assert damaged == raw or not verified(damaged)
