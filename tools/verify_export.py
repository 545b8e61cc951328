"""Checks a journal's export without Taisai: `python verify_export.py EXPORT.jsonl --key name+id+base64`.

Written from docs/journal-format.md alone; it takes Python 3.11 and, for Ed25519, the library `cryptography`.
It reads line by line, and keeps the edge of the tree, the rulebooks' digests and the last round of each table.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

LONGEST: Final = 16 * 2**20
"""Bytes of a line without its line break: no file may take all the memory."""
KINDS: Final = {str: "a text", int: "an integer", bool: "true or false", dict: "an object"}
KEYS: Final = {"position", "previous", "stream", "version", "more", "v", "event"}
KEY: Final = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})")
NUMBER: Final = "(?:0|[1-9][0-9]{0,18})"
NOTE: Final = re.compile(rf"(([^\n]+)\n({NUMBER})\n([^\n]+)\ntime {NUMBER}\n)\n((?:— [^\s+]+ \S+\n)+)")
OWN: Final = ("journal-opened", "rulebook-stored", "key-introduced")
Fields = dict[str, object]
T = TypeVar("T")


class Wrong(ValueError):
    """What was expected, and what was got."""


class Flaw(Exception):  # noqa: N818  a flaw of the journal, not an error of the program
    """What is wrong with a journal, and at which entry."""

    def __init__(self, position: int, says: str) -> None:
        super().__init__(f"entry {position}: {says}")
        self.position, self.says = position, says


def same(what: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Wrong(f"expected {what} {expected!r:.99}, got {got!r:.99}")


def field(fields: Fields, key: str, kind: type[T], least: int = 0) -> T:
    got = fields.get(key)
    if not isinstance(got, kind) or (kind is int and isinstance(got, bool)):
        raise Wrong(f"expected {key} as {KINDS[kind]}, got {got!r:.99}")
    if isinstance(got, int) and got < least:
        raise Wrong(f"expected {key} of at least {least}, got {got}")
    return got


def integer(text: str) -> int:
    if len(text) > 20 or not text.lstrip("-").isdecimal() or not -(2**63) <= int(text) < 2**64:
        raise Wrong(f"expected integers from -(2^63) to 2^64 - 1 alone, got {text!r:.99}")
    return int(text)


DECODER: Final = json.JSONDecoder(parse_int=integer, parse_float=integer, parse_constant=integer)
ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def canonical(line: bytes) -> Fields:
    """The object on a line; written anew it must be the same bytes, which no key that stands twice survives."""
    if len(line) > LONGEST + 1 or not line.endswith(b"\n"):
        got = "a longer one" if len(line) > LONGEST else "one that is torn"
        raise Wrong(f"expected a line of at most {LONGEST} bytes and its line break, got {got}")
    try:
        found = DECODER.decode(line.decode("utf-8"))
        again = ENCODER.encode(found).encode("utf-8") + b"\n"
    except Wrong:
        raise
    except (ValueError, RecursionError) as error:
        raise Wrong(f"expected a line of JSON, got {line[:40]!r} ({error})") from None
    if again != line:
        at = next((i for i, (a, b) in enumerate(zip(again, line, strict=False)) if a != b), len(again))
        raise Wrong(f"expected canonical JSON, {again[at:][:20]!r} at byte {at}, got {line[at:][:20]!r}")
    if not isinstance(found, dict):
        raise Wrong(f"expected {KINDS[dict]}, got {found!r:.99}")
    return found


def from_base64(what: str, text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        found = b""
    if not found or base64.b64encode(found).decode() != text:
        raise Wrong(f"expected {what} in base64, got {text!r:.99}")
    return found


class Key:
    """A verifier key, whose id must be its own."""

    def __init__(self, text: str) -> None:
        found = KEY.fullmatch(text)
        if not found:
            raise Wrong(f"expected a key like 'name+id+base64', got {text!r:.99}")
        self.text, self.name, raw = text, found[1], from_base64("a key", found[3])
        same("a key to begin with", b"\x01", raw[:1])
        self.id, self.raw = hashlib.sha256(self.name.encode("utf-8") + b"\n" + raw).digest()[:4], raw[1:]
        same(f"of the key {self.name} the id", self.id.hex(), found[2])

    def check(self, what: str, signed: bytes, signature: bytes) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, signed)
        except (InvalidSignature, ValueError):
            raise Wrong(f"expected {what} signed by {self.text}, got a signature that is not") from None


class Note:
    """A checkpoint, its signatures not yet checked."""

    def __init__(self, text: str) -> None:
        found = NOTE.fullmatch(text)
        if not found or found[3] == "0":
            raise Wrong(f"expected a checkpoint of four lines, an empty one and signatures, got {text!r:.99}")
        self.signed, self.origin, self.size = found[1].encode("utf-8"), found[2], int(found[3])
        self.root = from_base64("a root", found[4]).hex()
        lines = [line.split(" ") for line in found[5].split("\n")[:-1]]
        self.signatures = [(name, from_base64("a signature", signed)) for _, name, signed in lines]


class Table:
    """The last round of a table, and the money that adds up without knowing the rules."""

    def __init__(self) -> None:
        self.round = 0
        self.bets: dict[str, tuple[str, int]] = {}  # bet → seat and stake, 0 once it has left

    def follow(self, kind: str, event: Fields) -> None:
        if kind in ("round-settled", "round-resettled"):
            parts = field(event, "collected", int) + field(event, "stakes_back", int)
            same("staked as collected and stakes_back together", parts, event.get("staked"))
        if kind == "bets-opened":
            same("round", self.round + 1, event.get("round"))
            self.round, self.bets = self.round + 1, {}
        elif kind in ("round-settled", "round-resettled", "round-voided"):
            if event.get("round", self.round) == self.round:  # the bets of earlier ones are forgotten
                standing = sum(stake for _, stake in self.bets.values())
                same("staked as by the bets that stand", standing, event.get("staked"))
        elif kind == "withdrawal-chosen" and field(event, "withdraw", bool):
            self.bets |= {bet: ("", 0) for bet, (seat, _) in self.bets.items() if seat == event.get("seat")}
        elif kind.startswith("bet-"):
            same("round", self.round, event.get("round"))
            self._bet(kind, field(event, "id", str), event)

    def _bet(self, kind: str, bet: str, event: Fields) -> None:
        stands = self.bets.get(bet, ("", 0))[1] > 0
        if stands if kind == "bet-registered" else not stands:
            raise Wrong(f"expected {kind} of a bet that {'is new' if stands else 'stands'}, got {bet!r:.99}")
        if kind == "bet-registered":
            self.bets[bet] = field(event, "seat", str), field(event, "stake", int, 1)
        elif kind in ("bet-taken-back", "bet-returned"):
            self.bets[bet] = "", 0


class Report:
    """What is proved of a journal by the lines read so far."""

    def __init__(self, key: str | None, held: Sequence[str]) -> None:
        self.given = Key(key) if key is not None else None
        self.held = sorted((Note(text) for text in held), key=lambda note: -note.size)
        self.entries = self.more = self.sealed = self.agreed = 0
        self.previous, self.stream, self.origin, self.ended = "0" * 64, "", "", False
        self.edge: list[tuple[int, bytes]] = []  # complete trees and their heights, the highest first
        self.keys: list[Key] = []
        self.streams: Counter[str] = Counter()
        self.checkpoints: Counter[str] = Counter()
        self.rulebooks: dict[str, str] = {}
        self.tables: dict[str, Table] = {}

    def root(self) -> str:
        root = self.edge[-1][1] if self.edge else hashlib.sha256().digest()
        for _, left in self.edge[-2::-1]:
            root = hashlib.sha256(b"\x01" + left + root).digest()
        return root.hex()

    def read(self, lines: Iterable[bytes]) -> Report:
        for line in lines:
            at = self.entries + 1
            try:
                fields = canonical(line)
                same("lines after the end:", 0, int(self.ended))
                if set(fields) == {"checkpoint"}:
                    at = self.entries
                    self._checkpoint(Note(field(fields, "checkpoint", str)))
                elif set(fields) == {"end"}:
                    self._end(field(fields, "end", dict))
                else:
                    self._entry(fields)
                    self._add(hashlib.sha256(b"\x00" + line[:-1]).digest())
            except (Wrong, RecursionError) as wrong:
                raise Flaw(at, str(wrong)) from None
        if not self.ended:
            raise Flaw(
                self.entries + 1, "expected an entry, a checkpoint or the end, got a copy that is torn"
            )
        if self.given and self.given.text not in [key.text for key in self.keys]:
            raise Flaw(1, f"expected a journal of the key {self.given.text}, got {self.keys[0].text}")
        return self

    def _add(self, leaf: bytes) -> None:
        self.entries, self.previous, height = self.entries + 1, leaf.hex(), 0
        while self.edge and self.edge[-1][0] == height:
            leaf, height = hashlib.sha256(b"\x01" + self.edge.pop()[1] + leaf).digest(), height + 1
        self.edge.append((height, leaf))
        while self.held and self.held[-1].size == self.entries:
            self._agree(self.held.pop(), ": this journal is not the one that was seen then")
            self.agreed += 1

    def _checkpoint(self, note: Note) -> None:
        same("a checkpoint over the entries before it,", self.entries, note.size)
        self._agree(note)
        self.checkpoints[self.keys[-1].text] += 1

    def _agree(self, note: Note, otherwise: str = "") -> None:
        for what, said, is_so in (("origin", note.origin, self.origin), ("root", note.root, self.root())):
            if said != is_so:
                raise Wrong(
                    f"expected the {what} {said!r:.99} of the checkpoint, got {is_so!r:.99}{otherwise}"
                )
        key = self.keys[-1]
        own = [signed[4:] for name, signed in note.signatures if (name, signed[:4]) == (key.name, key.id)]
        for signature in own or [b""]:
            key.check(f"the checkpoint over {note.size}", note.signed, signature)
        if not self.given or self.given.text in [one.text for one in self.keys]:
            self.sealed = self.entries

    def _end(self, end: Fields) -> None:
        same("entries to finish the decision:", 0, self.more)
        same("the end's root and size", ["root", "size"], sorted(end))
        same("size", self.entries, end["size"])
        same("root", self.root(), end["root"])
        if self.held or not self.entries:
            least = self.held[0].size if self.held else 1
            raise Wrong(
                f"expected the {least} entries that were seen, got {self.entries}: the journal was cut"
            )
        self.ended = True

    def _entry(self, fields: Fields) -> None:
        same("v", 1, fields.get("v"))
        same("position", self.entries + 1, fields.get("position"))
        same("previous", self.previous, fields.get("previous"))
        stream, more, event = (
            field(fields, "stream", str),
            field(fields, "more", int),
            field(fields, "event", dict),
        )
        if self.more:
            same("the decision to go on with", (self.stream, self.more - 1), (stream, more))
        asked = {"asked"} if stream != "journal" and not self.more else set()
        same("the keys", sorted(KEYS | asked), sorted(fields))
        for part in asked:
            field(fields, part, dict)
        self.stream, self.more, self.streams[stream] = stream, more, self.streams[stream] + 1
        same("version", self.streams[stream], fields["version"])
        kind, _, _ = (field(event, key, str) for key in ("event", "by", "clause"))
        field(event, "at", int, -(2**63))
        if (kind in OWN) != (stream == "journal") or (kind == OWN[0]) != (self.entries == 0):
            raise Wrong(
                f"expected {OWN} in the journal's stream alone, the first at 1 alone, got {kind!r:.99}"
            )
        if stream == "journal":
            self._own(kind, event)
        elif stream.startswith("table:") and len(stream) > 6:
            self._table(kind, event)
        else:
            same("stream", "house", stream)

    def _table(self, kind: str, event: Fields) -> None:
        same("table-opened first and once:", self.streams[self.stream] == 1, kind == "table-opened")
        if kind == "table-opened":
            same("table", self.stream[6:], event.get("table"))
            same(
                "rulebook by its digest",
                self.rulebooks.get(field(event, "digest", str)),
                event.get("rulebook"),
            )
        self.tables.setdefault(self.stream, Table()).follow(kind, event)

    def _own(self, kind: str, event: Fields) -> None:
        if kind == "rulebook-stored":
            digest, text = field(event, "digest", str), field(event, "text", str)
            same("each digest once, before:", None, self.rulebooks.get(digest))
            try:
                book = tomllib.loads(text)
                data = json.dumps(book, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=str)
            except (ValueError, RecursionError) as error:
                raise Wrong(f"expected a rulebook as TOML, got {error!s:.99}") from None
            same("digest", "sha256:" + hashlib.sha256(data.encode("ascii")).hexdigest(), digest)
            same("id", book.get("id"), event.get("id"))
            self.rulebooks[digest] = field(event, "id", str)
            return
        key = Key(field(event, "key", str))
        if kind == "key-introduced":
            text = f"taisai key rotation\n{self.origin}\n{self.entries + 1}\n{key.text}\n"
            signature = from_base64("a signature", field(event, "signature", str))
            self.keys[-1].check("a new key", text.encode("utf-8"), signature)
        else:
            self.origin = "taisai/" + field(event, "journal", str)
            field(event, "demonstration", bool)
            field(event, "program", str)
        self.keys.append(key)


def verify(lines: Iterable[bytes], key: str | None = None, held: Sequence[str] = ()) -> Report:
    """What an export proves; raises Flaw at the first thing that is wrong, Wrong for a key or note that is none."""
    return Report(key, held).read(lines)


def told(report: Report) -> str:
    by = ", ".join(f"{count} by {key}" for key, count in report.checkpoints.items()) or "none"
    return f"""{report.origin}: {report.entries} entries in {len(report.streams)} streams follow each other, root {report.root()}
{len(report.rulebooks)} rulebooks are what their digests say
checkpoints signed: {by}; held elsewhere and in agreement: {report.agreed}
sealed up to {report.sealed}, unsealed tail of {report.entries - report.sealed}
the key was {"given" if report.given else "merely named by the journal itself: compare it with one from elsewhere"}"""


def main(words: Sequence[str] | None = None) -> int:
    asks = argparse.ArgumentParser(description="Checks a journal's export without Taisai.")
    asks.add_argument("export", type=Path)
    asks.add_argument("--key", metavar="KEY|FILE.pub", help="the verifier key that the journal must be of")
    asks.add_argument("--checkpoint", metavar="FILE", type=Path, nargs="+", action="extend", default=[])
    asks.add_argument("--json", action="store_true")
    asked, flaw = asks.parse_args(words), None
    try:
        key = (
            asked.key
            if asked.key is None or KEY.fullmatch(asked.key)
            else Path(asked.key).read_text("utf-8").strip()
        )
        report = Report(key, [path.read_text("utf-8") for path in asked.checkpoint])
        with asked.export.open("rb") as file:
            report.read(iter(lambda: file.readline(LONGEST + 2), b""))
    except Flaw as found:
        flaw = found
        print(flaw, file=sys.stderr)
    except (ImportError, OSError, ValueError) as error:
        print(f"cannot check: {error}", file=sys.stderr)
        return 2
    if asked.json:
        says = flaw and {"position": flaw.position, "says": flaw.says}
        found = {"entries": report.entries, "sealed": report.sealed, "tail": report.entries - report.sealed}
        print(json.dumps({"ok": not flaw, **found, "root": report.root(), "flaw": says}))
    elif not flaw:
        print(told(report))
    return int(flaw is not None)


if __name__ == "__main__":
    sys.exit(main())
