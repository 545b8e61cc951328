"""Journals made by hand from docs/reference/journal-format.md alone: one that is good, and ways to forge it.

A forged entry is chained, and every checkpoint after it signed, as the holder of the key could do it: what is
then still found is found by a rule, not by a hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Fields = dict[str, Any]
Change = Callable[[Fields], Fields | bytes]
"""What a forger makes of an entry: another one, or whatever bytes he likes."""

ID: Final = "5f3a9c0e7d214b68"
ORIGIN: Final = f"taisai/{ID}"
NOON: Final = 1_794_715_200_000
BOOK: Final = (
    'id = "little"\neffective = 2026-11-15\ntitle = { en = "Little", zh = "骰宝" }\nodds = [1, 8.5]\n'
)


def canonical(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode("utf-8")


def leaf(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def root(leaves: list[bytes]) -> bytes:
    """The tree by the definition of RFC 6962, 2.1: split at the greatest power of two below n."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256().digest()
    half = 1
    while 2 * half < len(leaves):
        half *= 2
    return hashlib.sha256(b"\x01" + root(leaves[:half]) + root(leaves[half:])).digest()


def digest_of(text: str) -> str:
    data = json.dumps(
        tomllib.loads(text), ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=str
    )
    return "sha256:" + hashlib.sha256(data.encode("ascii")).hexdigest()


class Signer:
    """A key that signs, always the same for a name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode("utf-8")).digest())
        raw = b"\x01" + self._private.public_key().public_bytes_raw()
        self.id = hashlib.sha256(name.encode("utf-8") + b"\n" + raw).digest()[:4]
        self.verifier = f"{name}+{self.id.hex()}+{base64.b64encode(raw).decode('ascii')}"

    def sign(self, text: str) -> bytes:
        return self._private.sign(text.encode("utf-8"))

    def line(self, text: str) -> str:
        """The signature line of a note."""
        return f"— {self.name} {base64.b64encode(self.id + self.sign(text)).decode('ascii')}\n"

    def note(self, text: str) -> str:
        return f"{text}\n{self.line(text)}"


EVENING, NIGHT, STRANGER = Signer("evening-2026-11"), Signer("night-2026-11"), Signer("stranger")


def rotation(by: Signer, to: Signer, position: int, previous: str) -> str:
    text = f"taisai key rotation\n{ORIGIN}\n{position}\n{previous}\n{to.verifier}\n"
    return base64.b64encode(by.sign(text)).decode("ascii")


class Journal:
    """A journal being written, line by line of its export."""

    def __init__(self, forged: Mapping[int, Change] | None = None) -> None:
        self.lines: list[bytes] = []
        self.leaves: list[bytes] = []
        self.versions: Counter[str] = Counter()
        self.signer = EVENING
        self.forged = forged or {}

    @property
    def size(self) -> int:
        return len(self.leaves)

    def add(self, stream: str, event: Fields, more: int = 0, asked: Fields | None = None) -> None:
        """Appends an entry, or what a forger makes of it."""
        self.versions[stream] += 1
        entry: Fields = {
            "position": self.size + 1, "previous": self.leaves[-1].hex() if self.leaves else "0" * 64,
            "stream": stream, "version": self.versions[stream], "more": more, "v": 1,
            "event": {"at": NOON + self.size, "by": "sue", "clause": "house:table"} | event,
        }  # fmt: skip
        if asked is not None:
            entry["asked"] = asked
        made = self.forged.get(self.size + 1, dict)(entry)
        line = made if isinstance(made, bytes) else canonical(made)
        self.lines.append(line + b"\n")
        self.leaves.append(leaf(line))

    def decide(self, stream: str, *events: Fields, asked: Fields | None = None) -> None:
        """Appends the events of one decision."""
        for place, event in enumerate(events):
            asks = (asked or {"command": "ask"}) if place == 0 and stream != "journal" else None
            self.add(stream, event, len(events) - 1 - place, asks)

    def text(self, *, origin: str = ORIGIN, size: int | None = None, top: bytes | None = None) -> str:
        """What a checkpoint over the entries so far says."""
        over = self.size if size is None else size
        signed = base64.b64encode(root(self.leaves[:over]) if top is None else top).decode("ascii")
        return f"{origin}\n{over}\n{signed}\ntime {NOON + over}\n"

    def seal(self, note: str | None = None) -> str:
        """Appends a checkpoint."""
        note = self.signer.note(self.text()) if note is None else note
        self.lines.append(canonical({"checkpoint": note}) + b"\n")
        return note

    def open(self) -> None:
        key, introduced = EVENING.verifier, {"demonstration": False, "program": "by hand"}
        self.decide("journal", {"event": "journal-opened", "journal": ID, "key": key, **introduced})

    def store(self, text: str = BOOK, name: str = "little") -> None:
        stored = {"event": "rulebook-stored", "id": name, "digest": digest_of(text), "text": text}
        self.decide("journal", stored)

    def rotate(self, to: Signer) -> None:
        signature = rotation(self.signer, to, self.size + 1, self.leaves[-1].hex())
        self.decide("journal", {"event": "key-introduced", "key": to.verifier, "signature": signature})
        self.signer = to

    def end(self) -> list[bytes]:
        """The whole export."""
        end = {"root": root(self.leaves).hex(), "size": self.size}
        return [*self.lines, canonical({"end": end}) + b"\n"]


def bet(name: str, seat: str, stake: int, number: int = 1) -> Fields:
    where = {"area": "small", "layout": "A", "means": "credits"}
    return {"event": "bet-registered", "round": number, "id": name, "seat": seat, "stake": stake, **where}


def written(forged: Mapping[int, Change] | None = None, notes: Mapping[int, str] | None = None) -> Journal:
    """A short evening at one table: 19 entries, checkpoints over 8, 13 and 17, two of them unsealed."""
    journal, sb1, notes = Journal(forged), "table:SB1", notes or {}
    journal.open()
    journal.store()
    opened = {"event": "table-opened", "table": "SB1", "rulebook": "little", "digest": digest_of(BOOK)}
    journal.decide(sb1, opened)
    journal.decide("house", {"event": "person-enrolled", "person": "pia 皮"})
    journal.decide(sb1, {"event": "bets-opened", "round": 1})
    journal.decide(sb1, bet("a", "1", 100), bet("b", "2", 50), bet("c", "1", 30))  # 6 to 8
    journal.seal(notes.get(8))
    journal.decide(sb1, {"event": "bet-taken-back", "round": 1, "id": "c"})
    journal.decide(sb1, {"event": "bet-moved", "round": 1, "id": "b", "area": "big"})
    totals = {"staked": 150, "collected": 100, "won": 50, "stakes_back": 50}
    journal.decide(sb1, {"event": "round-settled", **totals})
    journal.decide(sb1, {"event": "round-concluded", "round": 1})
    journal.rotate(NIGHT)  # 13
    journal.seal(notes.get(13))
    journal.decide(sb1, {"event": "bets-opened", "round": 2})
    journal.decide(sb1, bet("a", "1", 70, 2), bet("d", "2", 20, 2))  # 15, 16
    journal.decide(sb1, {"event": "withdrawal-chosen", "seat": "1", "withdraw": True})
    journal.seal(notes.get(17))
    journal.decide(sb1, {"event": "round-voided", "round": 2, "staked": 20})
    again = {"staked": 150, "collected": 50, "won": 100, "stakes_back": 100}
    journal.decide(sb1, {"event": "round-resettled", "round": 1, **again})
    return journal


# What a forger does to an entry


def put(key: str, value: object) -> Change:
    """Another value under a key of the entry."""
    return lambda entry: entry | {key: value}


def drop(key: str) -> Change:
    """An entry without a key."""
    return lambda entry: {name: value for name, value in entry.items() if name != key}


def event(**fields: object) -> Change:
    """Other values in the event."""
    return lambda entry: entry | {"event": entry["event"] | fields}


def less(key: str) -> Change:
    """An event without a key."""
    return lambda entry: entry | {"event": drop(key)(entry["event"])}


def raw(old: str, new: str) -> Change:
    """Other bytes."""

    def change(entry: Fields) -> bytes:
        line = canonical(entry)
        assert line.count(old.encode("utf-8")) == 1, line
        return line.replace(old.encode("utf-8"), new.encode("utf-8", "surrogatepass"))

    return change
