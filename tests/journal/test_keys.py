"""Keys and their files: what is written, what is refused, and what other tools read of them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from taisai.journal.seals import keys
from taisai.journal.seals.encrypted_keys import KeyCost, encrypted, opened
from taisai.journal.seals.keys import (
    MOST_FILE,
    MOST_NAME,
    MOST_PASSPHRASE,
    KeysError,
    PublicKey,
    SigningKey,
    is_key_name,
    load_public_key,
    load_signing_key,
    make_key,
    public_path_of,
)

NAME = "taisai.example/SB1"
SEED = bytes(range(32))
NAMES = st.text(min_size=1, max_size=MOST_NAME).filter(is_key_name)

# The example that the format of signed notes came with.
NOTE_NAME = "PeterNeumann"
NOTE_SEED = "810a1402d5146c8d84f2443330f54080ebf98ee17d9c74f6252fc5d5c7283173"
NOTE_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "house.key"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def written(path: Path, text: str | bytes, mode: int = 0o600) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


def test_the_key_that_the_world_agrees_on() -> None:
    assert SigningKey.new(NOTE_NAME, seed=bytes.fromhex(NOTE_SEED)).public.text == NOTE_KEY
    assert PublicKey.parse(NOTE_KEY).id == "c74f20a3"


def test_a_signature_is_of_one_key_and_one_message() -> None:
    key, other = SigningKey.new(NAME, seed=SEED), SigningKey.new(NAME)
    signature = key.sign(b"three dice")
    assert key.public.verify(signature, b"three dice")
    assert not key.public.verify(signature, b"three dice.")
    assert not other.public.verify(signature, b"three dice")
    for wrong in (b"", signature[:-1], signature + b"\x00", bytes(64)):
        assert not key.public.verify(wrong, b"three dice")


def test_every_bit_of_a_signature_counts() -> None:
    key = SigningKey.new(NAME, seed=SEED)
    signature = key.sign(b"three dice")
    for bit in range(len(signature) * 8):
        flipped = bytearray(signature)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not key.public.verify(bytes(flipped), b"three dice"), bit


def test_sabotage_a_key_that_verifies_anything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PublicKey, "verify", lambda *_: True)
    with pytest.raises(AssertionError):
        test_every_bit_of_a_signature_counts()
    with pytest.raises(AssertionError):
        test_a_signature_is_of_one_key_and_one_message()


def test_the_secret_is_not_shown() -> None:
    key = SigningKey.new(NAME, seed=SEED)
    assert repr(key) == f"<SigningKey of {key.public.text}>"
    assert SEED.hex() not in repr(key)


def test_two_new_keys_are_two() -> None:
    assert SigningKey.new(NAME).public != SigningKey.new(NAME).public


@pytest.mark.parametrize("passphrase", [None, "x", "corrèct horse 骰寶", "p" * MOST_PASSPHRASE])
def test_a_key_comes_back_from_its_file(path: Path, passphrase: str | None) -> None:
    made = make_key(path, NAME, passphrase=passphrase)
    loaded = load_signing_key(path, passphrase)
    assert loaded.public == made.public
    assert loaded.sign(b"x") == made.sign(b"x")
    assert load_public_key(public_path_of(path)) == load_public_key(str(public_path_of(path))) == made.public
    assert load_public_key(made.public.text) == made.public


def test_a_seed_makes_the_same_key_and_the_same_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    make_key(one, NAME, seed=SEED)
    make_key(two, NAME, seed=SEED)
    assert one.read_bytes() == two.read_bytes()
    assert public_path_of(one).read_text() == SigningKey.new(NAME, seed=SEED).public.text + "\n"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_may_read_the_private_file(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_key(path, NAME)
    finally:
        os.umask(before)
    assert mode_of(path) == 0o600
    assert mode_of(public_path_of(path)) == 0o644 & ~umask


@pytest.mark.parametrize("public", [False, True])
def test_nothing_is_overwritten_and_nothing_left_behind(path: Path, public: bool) -> None:  # noqa: FBT001
    there = written(public_path_of(path) if public else path, "precious")
    with pytest.raises(KeysError, match=r"the file exists already \(.*house\.key"):
        make_key(path, NAME)
    assert there.read_text() == "precious"
    assert [*path.parent.iterdir()] == [there]


def test_a_link_to_nowhere_is_not_followed(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    for place in (path, public_path_of(path)):
        place.symlink_to(elsewhere)
        with pytest.raises(KeysError, match="the file exists already"):
            make_key(path, NAME)
        assert not elsewhere.exists()
        place.unlink()
        assert not any(path.parent.iterdir())


def test_a_key_whose_writing_fails_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KeysError, match="No space left"):
        make_key(path, NAME)
    assert not any(path.parent.iterdir())


def test_files_and_their_folder_are_synced_before_the_key_is_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").resolve()))
    if not Path("/proc/self/fd").exists():
        pytest.skip("only Linux tells which file a descriptor is")
    make_key(path, NAME)
    assert synced == [path, public_path_of(path), path.parent]


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeysError, match=r"cannot be written: No such file or directory \(.*nowhere/k\)"):
        make_key(tmp_path / "nowhere" / "k", NAME)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666, 0o601, 0o677])
def test_a_private_key_that_others_may_reach_is_refused(path: Path, mode: int) -> None:
    make_key(path, NAME)
    path.chmod(mode)
    with pytest.raises(KeysError, match=rf"expected mode 0600, got {mode:04o}; run: chmod 600 .*key"):
        load_signing_key(path)
    path.chmod(0o400)
    assert load_signing_key(path).name == NAME


def test_sabotage_without_the_question_of_modes_a_readable_key_is_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_OTHERS", 0)
    with pytest.raises(pytest.fail.Exception):
        test_a_private_key_that_others_may_reach_is_refused(path, 0o644)


def test_passphrases_that_do_not_fit(tmp_path: Path) -> None:
    plain, locked = tmp_path / "plain", tmp_path / "locked"
    make_key(plain, NAME)
    make_key(locked, NAME, passphrase="right")
    with pytest.raises(KeysError, match=r"the key is encrypted and needs a passphrase"):
        load_signing_key(locked)
    with pytest.raises(KeysError, match=r"wrong passphrase, or the file was changed \(.*locked\)"):
        load_signing_key(locked, "wrong")
    with pytest.raises(KeysError, match=r"the key is not encrypted, but a passphrase was given"):
        load_signing_key(plain, "right")


@pytest.mark.parametrize("passphrase", ["", "p" * (MOST_PASSPHRASE + 1)])
def test_passphrases_that_cannot_be(path: Path, passphrase: str) -> None:
    with pytest.raises(KeysError, match=f"expected a passphrase of 1 to {MOST_PASSPHRASE} bytes, got"):
        make_key(path, NAME, passphrase=passphrase)
    assert not any(path.parent.iterdir())


def pem(*, name: str = NAME) -> str:
    return SigningKey.new(name, seed=SEED).file_text()


def other_kind() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    return f"name: {NAME}\n{key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "",
            (
                "not a key file: expected a line 'name: …' and one private key, "
                "encrypted by taisai or in PKCS#8 PEM"
            ),
        ),
        ("garbage", "not a key file: expected a line 'name: …'"),
        (pem().split("\n", 1)[1], "not a key file: expected a line 'name: …'"),
        (pem() + pem(), "not a key file: expected a line 'name: …'"),
        (pem()[:-5], "not a key file: expected a line 'name: …'"),
        (pem().replace("\n", "\r\n"), "not a key file: expected a line 'name: …'"),
        (pem().replace("MC4C", "MC4D"), "invalid private key"),
        (pem().replace("MC4C", "M"), "invalid private key"),
        (other_kind(), "expected an Ed25519 key, got ECPrivateKey"),
        (pem().replace(NAME, "Table 1"), "without space or '\\+', got 'Table 1'"),
        (pem().replace(NAME, ""), "invalid key name: expected 1 to 100 printable characters"),
        (b"\xff\xfe", "the key file is not UTF-8: byte 0xff"),
        ("x" * (MOST_FILE + 1), f"the key file has more than {MOST_FILE} bytes"),
    ],
)
def test_files_that_are_no_private_key(path: Path, text: str | bytes, says: str) -> None:
    with pytest.raises(KeysError, match=says) as refused:
        load_signing_key(written(path, text))
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("load", [load_signing_key, load_public_key])
def test_a_file_that_is_not_there_is_named(path: Path, load: object) -> None:
    assert callable(load)
    with pytest.raises(KeysError, match=r"the key file .*house\.key.* cannot be read: No such file"):
        load(path)


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("a", True),
        ("n" * MOST_NAME, True),
        ("taisai.example/SB1", True),
        ("大小", True),
        ("", False),
        ("n" * (MOST_NAME + 1), False),
        ("Table 1", False),
        ("Table\u00a01", False),
        ("Table\u30001", False),
        ("a+b", False),
        ("a\n", False),
        ("a\x00", False),
        ("a\u200b", False),
        ("\ud800", False),
        (None, False),
        (b"a", False),
    ],
)
def test_names(name: object, fits: bool) -> None:  # noqa: FBT001
    assert is_key_name(name) == fits
    if not fits:
        with pytest.raises(KeysError, match="invalid key name: expected 1 to 100 printable characters"):
            SigningKey.new(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33)])
def test_a_seed_has_32_bytes(seed: bytes) -> None:
    with pytest.raises(KeysError, match="expected a seed of 32 bytes, got"):
        SigningKey.new(NAME, seed=seed)


def test_a_public_key_has_32_bytes() -> None:
    with pytest.raises(KeysError, match="expected a public key of 32 bytes"):
        PublicKey(NAME, bytes(31))


@given(name=NAMES, seed=st.binary(min_size=32, max_size=32))
def test_a_public_key_is_read_as_it_was_written(name: str, seed: bytes) -> None:
    public = SigningKey.new(name, seed=seed).public
    assert PublicKey.parse(public.text) == PublicKey.parse(public.text + "\n") == public
    assert load_public_key(public.text) == public


def test_no_part_of_a_public_key_is_one_and_no_changed_character_passes() -> None:
    pieces = {NOTE_KEY[a:b] for a in range(len(NOTE_KEY)) for b in range(a + 1, len(NOTE_KEY) + 1)}
    changed = {
        NOTE_KEY[:place] + chr(ord(NOTE_KEY[place]) ^ 1 << bit) + NOTE_KEY[place + 1 :]
        for place in range(len(NOTE_KEY))
        for bit in range(8)
    }
    for text in (pieces - {NOTE_KEY}) | changed:
        with pytest.raises(KeysError, match="expected"):
            PublicKey.parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NOTE_KEY.replace("c74f20a3", "C74F20A3"), "expected a public key like"),
        (
            NOTE_KEY.replace("c74f20a3", "00000000"),
            "expected the id c74f20a3 of this name and key, got 00000000",
        ),
        ("Peter+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "expected the id .* got c74f20a3"),
        (
            "n+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
            "expected 01 and the 32 bytes of an Ed25519",
        ),
        ("n+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==", "expected 01 and the 32 bytes"),
        ("n+cc469956+A", "expected base64, got 'A'"),
        (NOTE_KEY + "\n\n", "expected a public key like"),
        (" " + NOTE_KEY, "expected a public key like"),
    ],
)
def test_lines_that_are_no_public_key(text: str, says: str) -> None:
    with pytest.raises(KeysError, match=says):
        PublicKey.parse(text)


def test_a_public_file_that_is_none_is_named(path: Path) -> None:
    with pytest.raises(KeysError, match=r"expected a public key like .* \(.*house\.key\)"):
        load_public_key(written(path, "garbage"))


def test_a_private_key_taken_for_a_public_one_is_not_quoted(path: Path) -> None:
    make_key(path, NAME, seed=SEED)
    with pytest.raises(KeysError, match=r"expected a public key like .*, got a private key") as refused:
        load_public_key(path)
    secret = pem().split("\n")[2]
    assert secret[16:32] not in str(refused.value)
    with pytest.raises(KeysError, match="got a private key") as refused:
        load_public_key("PRIVATE+KEY+n+c74f20a3+AYEKFALV")
    assert "AYEK" not in str(refused.value)


@given(text=st.text())
def test_whatever_is_asked_for_as_a_public_key_is_one_or_a_refusal(text: str) -> None:
    with pytest.raises(KeysError, match=r"expected|cannot be read"):
        load_public_key(text)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_reads_the_file_past_the_name_and_we_read_what_it_encrypts(path: Path) -> None:
    made = make_key(path, NAME)
    public = subprocess.run(
        ["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], capture_output=True, check=True
    )
    assert public.stdout[-32:] == made.public.raw
    encrypted = subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-in", path, "-scrypt", "-passout", "pass:other"],
        capture_output=True,
        check=True,
        text=True,
    )
    again = load_signing_key(written(path.with_name("again"), f"name: {NAME}\n{encrypted.stdout}"), "other")
    assert again.public == made.public


def test_a_key_that_an_earlier_release_encrypted_is_read(path: Path) -> None:
    made = SigningKey.new(NAME, seed=SEED)
    old = made._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"right"))
    assert load_signing_key(written(path, f"name: {NAME}\n{old.decode()}"), "right").public == made.public


def test_an_encrypted_key_names_its_strong_algorithm_and_is_new_each_time() -> None:
    key = SigningKey.new(NAME, seed=SEED)
    text = key.file_text("right")
    assert text.startswith(
        f"name: {NAME}\nkdf: argon2id t=3 m=65536 p=4\ncipher: aes-256-gcm\n-----BEGIN TAISAI"
    )
    assert text != key.file_text("right"), "salt and nonce are random"


@pytest.mark.parametrize(
    ("changed", "into"),
    [("name: ", "name: x"), ("t=3", "t=4"), ("p=4", "p=3"), ("m=65536", "m=4294967296"), ("m=65536", "m=1")],
)
def test_an_encrypted_key_of_which_anything_was_changed_is_refused(
    path: Path, changed: str, into: str
) -> None:
    text = SigningKey.new(NAME, seed=SEED).file_text("right")
    with pytest.raises(KeysError, match=r"wrong passphrase, or the file was changed|not a key file"):
        load_signing_key(written(path, text.replace(changed, into)), "right")


def test_an_encrypted_key_of_which_a_sign_was_changed_is_refused() -> None:
    cost = KeyCost(passes=1, memory=8, lanes=1)
    text = encrypted(SEED, "right", NAME, cost=cost)
    head, body, tail = text.partition(text.split("\n")[3])
    assert opened(text, "right", NAME) == SEED
    for place in range(0, len(body) - 2, 5):
        other = "A" if body[place] != "A" else "B"
        assert opened(head + body[:place] + other + body[place + 1 :] + tail, "right", NAME) is None, place
