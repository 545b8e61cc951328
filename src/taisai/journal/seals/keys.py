"""Ed25519 keys that sign and verify checkpoints, and their files.

A public key has the form of signed notes (c2sp.org/signed-note), which other tools for transparency logs
read. A private key is PKCS#8 PEM after a line with its name, which readers of PEM skip. With a passphrase it
is encrypted (`encrypted_keys`); PKCS#8 that another program encrypted is read too.

`cryptography` is imported when a key is used, so that the journal can be imported without it.

>>> key = SigningKey.new("taisai.example/SB1", seed=bytes(32))
>>> print(key.public.text)
taisai.example/SB1+d0869228+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop
>>> key.public.verify(key.sign(b"three dice"), b"three dice")
True
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import shlex
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar

from taisai.journal.errors import JournalError
from taisai.journal.seals.encrypted_keys import ENCRYPTED, encrypted, opened
from taisai.rules.errors import printable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MOST_NAME: Final = 100  # characters of a key's name
MOST_PASSPHRASE: Final = 1023  # bytes; the limit of OpenSSL
MOST_FILE: Final = 16_384  # bytes of a key file; ours have a few hundred
KEY_BYTES: Final = 32
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_LINE: Final = re.compile(r"([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")
_LINE_START: Final = re.compile(r"(PRIVATE\+KEY\+)?[^+\s]+\+[0-9a-f]{8}\+")
_FILE: Final = re.compile(
    r"name: (?P<name>[^\n]*)\n"
    r"(?P<pem>-----BEGIN (?P<kind>(?:ENCRYPTED )?PRIVATE KEY)-----\n"
    r"[A-Za-z0-9+/=\n]+-----END (?P=kind)-----\n)"
)


class KeysError(JournalError):
    """An invalid key, name of a key or key file."""


def is_key_name(value: object) -> bool:
    """Whether a value is a valid name of a key or a log: printable, no space, no plus sign, not too long."""
    return (
        type(value) is str and 0 < len(value) <= MOST_NAME and value.isprintable() and not {*" +"} & {*value}
    )


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, which verifies signatures."""

    KIND: ClassVar[bytes] = b"\x01"
    """The signature type of signed notes: Ed25519 over the text itself."""
    name: str
    raw: bytes = field(repr=False)

    def __post_init__(self) -> None:
        _expect_name(self.name)
        if type(self.raw) is not bytes or len(self.raw) != KEY_BYTES:
            raise KeysError(f"expected a public key of {KEY_BYTES} bytes, got {self.raw!r} ({self.name})")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key in a line `name+id+key`, with or without its newline."""
        match = _LINE.fullmatch(text.removesuffix("\n"))
        if match is None:
            # The two files lie side by side: a private key given by mistake must not appear in a message.
            got = "a private key" if "PRIVATE" in text else printable(repr(text))
            raise KeysError(f"expected a public key like 'name+d0869228+ATtq…', got {got}")
        name, key_id, encoded = match.groups()
        try:
            kind_and_raw = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise KeysError(f"expected base64, got {printable(repr(encoded))} ({name}): {error}") from error
        if len(kind_and_raw) != 1 + KEY_BYTES or not kind_and_raw.startswith(cls.KIND):
            expected = f"{cls.KIND.hex()} and the {KEY_BYTES} bytes of an Ed25519 key"
            raise KeysError(f"expected {expected}, got {encoded} ({name})")
        key = cls(name, kind_and_raw[1:])
        if key.id != key_id:
            raise KeysError(f"expected the id {key.id} of this name and key, got {key_id} ({name})")
        return key

    @property
    def id(self) -> str:
        """The key id of signed notes: eight hexadecimal digits, derived from name and key."""
        return hashlib.sha256(self.name.encode() + b"\n" + self.KIND + self.raw).hexdigest()[:8]

    @property
    def text(self) -> str:
        """The key as one line, without its newline."""
        return f"{self.name}+{self.id}+{base64.b64encode(self.KIND + self.raw).decode()}"

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether this key made the signature of this message."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class WitnessKey(PublicKey):
    """The public key of a witness (c2sp.org/tlog-cosignature): it signs a text together with a time."""

    __slots__ = ()
    KIND: ClassVar[bytes] = b"\x04"


_Kind = TypeVar("_Kind", bound=PublicKey)


class SigningKey:
    """A private key, which signs. Its secret is not in its repr."""

    __slots__ = ("_private", "public")

    def __init__(self, name: str, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = PublicKey(name, private.public_key().public_bytes_raw())

    @classmethod
    def new(cls, name: str, *, seed: bytes | None = None) -> SigningKey:
        """A new key, not stored in a file. The same seed of 32 bytes gives the same key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        _expect_name(name)
        if seed is None:
            return cls(name, Ed25519PrivateKey.generate())
        if len(seed) != KEY_BYTES:
            raise KeysError(f"expected a seed of {KEY_BYTES} bytes, got {len(seed)} ({name})")
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    def __repr__(self) -> str:
        return f"<SigningKey of {self.public.text}>"

    @property
    def name(self) -> str:
        return self.public.name

    def sign(self, message: bytes) -> bytes:
        """The signature of a message, 64 bytes, the same each time."""
        return self._private.sign(message)

    def derived(self, info: bytes) -> bytes:
        """A secret of 32 bytes for another purpose, which only the holder of this key can make."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        kdf = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info)
        return kdf.derive(self._private.private_bytes_raw())

    def file_text(self, passphrase: str | None = None) -> str:
        """What a private key file says: the name, then the key."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        if passphrase is not None:
            _passphrase_bytes(passphrase)
            return f"name: {self.name}\n{encrypted(self._private.private_bytes_raw(), passphrase, self.name)}"
        pem = self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return f"name: {self.name}\n{pem.decode()}"


def make_key(
    path: Path,
    name: str,
    *,
    passphrase: str | None = None,
    seed: bytes | None = None,
    kind: type[PublicKey] = PublicKey,
) -> SigningKey:
    """A new key in a new file that only its owner may read, and its public half in `<file>.pub`."""
    key = SigningKey.new(name, seed=seed)
    public_path = public_path_of(path)
    secret, public = key.file_text(passphrase), kind(name, key.public.raw).text + "\n"
    if public_path.exists():
        raise KeysError(f"the file exists already ({public_path})")
    _write_new(path, secret, mode=0o600)
    try:
        _write_new(public_path, public, mode=0o644)
    except BaseException:
        path.unlink()  # a key that was reported as not made must not be found later
        raise
    _sync_directory(path.parent)
    return key


def public_path_of(path: Path) -> Path:
    return Path(f"{path}.pub")


def load_signing_key(path: Path, passphrase: str | None = None) -> SigningKey:
    """The private key in a file, which only its owner may be able to read."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = _read(path, private=True)
    first, _, rest = text.partition("\n")
    if ENCRYPTED.fullmatch(rest) and first.startswith("name: "):
        return _decrypted(path, first.removeprefix("name: "), rest, passphrase)
    match = _FILE.fullmatch(text)
    if match is None:
        expected = "a line 'name: …' and one private key, encrypted by taisai or in PKCS#8 PEM"
        raise KeysError(f"not a key file: expected {expected} ({path})")
    is_encrypted = match["kind"].startswith("ENCRYPTED")
    if is_encrypted and passphrase is None:
        raise _needs_passphrase(path)
    if not is_encrypted and passphrase is not None:
        raise KeysError(f"the key is not encrypted, but a passphrase was given ({path})")
    password = None if passphrase is None else _passphrase_bytes(passphrase)
    try:
        private = load_pem_private_key(match["pem"].encode(), password)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        problem = "wrong passphrase" if is_encrypted else "invalid private key"
        raise KeysError(f"{problem}: {error} ({path})") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise KeysError(f"expected an Ed25519 key, got {type(private).__name__} ({path})")
    try:
        return SigningKey(match["name"], private)
    except KeysError as error:
        raise KeysError(f"{error} ({path}, line 1)") from error


def _decrypted(path: Path, name: str, text: str, passphrase: str | None) -> SigningKey:
    if passphrase is None:
        raise _needs_passphrase(path)
    _passphrase_bytes(passphrase)
    raw = opened(text, passphrase, name)
    if raw is None or len(raw) != KEY_BYTES:
        raise KeysError(f"wrong passphrase, or the file was changed ({path})")
    try:
        return SigningKey.new(name, seed=raw)
    except KeysError as error:
        raise KeysError(f"{error} ({path}, line 1)") from error


def _needs_passphrase(path: Path) -> KeysError:
    problem = "the key is encrypted and needs a passphrase"
    return KeysError(f"{problem}; name its file with --passphrase-file ({path})")


def load_public_key(path_or_text: Path | str) -> PublicKey:
    """The public key in a `.pub` file or in a line `name+id+key`; see `load_key`."""
    return load_key(path_or_text, PublicKey)


def load_key(path_or_text: Path | str, kind: type[_Kind]) -> _Kind:
    """The key of a kind in a `.pub` file or in a line `name+id+key`.

    A string that begins like such a line is taken for one, any other for a path.
    """
    if isinstance(path_or_text, str) and _LINE_START.match(path_or_text):
        return kind.parse(path_or_text)
    path = Path(path_or_text)
    text = _read(path, private=False)
    try:
        return kind.parse(text)
    except KeysError as error:
        raise KeysError(f"{error} ({path})") from error


def _expect_name(name: object) -> None:
    if not is_key_name(name):
        expected = f"1 to {MOST_NAME} printable characters without space or '+'"
        raise KeysError(f"invalid key name: expected {expected}, got {printable(repr(name))}")


def _passphrase_bytes(passphrase: str) -> bytes:
    encoded = passphrase.encode(errors="surrogateescape")
    if not 0 < len(encoded) <= MOST_PASSPHRASE:
        raise KeysError(f"expected a passphrase of 1 to {MOST_PASSPHRASE} bytes, got {len(encoded)}")
    return encoded


def _write_new(path: Path, text: str, *, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        raise KeysError(f"the file exists already ({path})") from error
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        raise _unwritable(error, path) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        path.unlink()
        if isinstance(error, OSError):
            raise _unwritable(error, path) from error
        raise


def _unwritable(error: OSError | ValueError, path: Path) -> KeysError:
    why = error.strerror if isinstance(error, OSError) else error
    return KeysError(f"the key file cannot be written: {why} ({path})")


def _sync_directory(path: Path) -> None:
    if os.name == "posix":  # other systems cannot open a directory, and need not
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(path: Path, *, private: bool) -> str:
    try:
        file = path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        why = error.strerror if isinstance(error, OSError) else "invalid file name"
        raise KeysError(f"the key file {printable(repr(str(path)))} cannot be read: {why}") from error
    with file:
        # The mode of the open file: the path could name another file by the time it is read.
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if private and path.suffix == ".pub":
            raise KeysError(f"expected the private key, got the public one ({path})")
        if private and os.name == "posix" and mode & _OTHERS:
            problem = f"others can read the key file: expected mode 0600, got {mode:04o}"
            raise KeysError(f"{problem}; run: chmod 600 {shlex.quote(str(path))}")
        data = file.read(MOST_FILE + 1)
    if len(data) > MOST_FILE:
        raise KeysError(f"the key file has more than {MOST_FILE} bytes ({path})")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise KeysError(f"the key file is not UTF-8: byte {data[error.start]:#04x} ({path})") from error
