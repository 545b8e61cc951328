"""Checks a journal's export without Taisai: `python verify_export.py EXPORT.jsonl --key name+id+base64`.

Written from docs/reference/journal-format.md alone, with the standard library and `cryptography`.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

LONGEST: Final = 2 * 2**20  # bytes of a line without its line break: no file may take all the memory
KEY: Final = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})")
LINES: Final = r"((.+)\n([1-9]\d{0,18})\n(.+)\ntime (?:0|[1-9]\d{0,18})\n)\n((?:— [^\s+]{1,100} \S+\n){1,16})"
NOTE: Final = re.compile(f"(?a){LINES}")
KEYS: Final = ("v", "position", "previous", "stream", "version", "more", "event")
OWN: Final = ("journal-opened", "rulebook-stored", "key-introduced", "storage-secret-sealed")
NUMBERS = {"v", "position", "version", "more", "at", "round", "stake", "staked", "collected", "stakes_back"}
OTHERS = {"demonstration": bool, "withdraw": bool, "event": dict, "asked": dict}
Fields = dict[str, Any]


class Flaw(Exception):  # noqa: N818  a flaw of the journal, not an error of the program
    """What is wrong with a journal, and at which entry."""

    def __init__(self, position: int, says: str) -> None:
        self.says = says if says.startswith("expected") else f"expected what the format describes, got {says}"
        self.position = position
        super().__init__(f"entry {position}: {self.says}")


def same(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise ValueError(f"expected {what} {expected!r:.99}, got {got!r:.99}")


def take(fields: Fields, *keys: str) -> list[Any]:
    """What stands under these keys, each of its kind."""
    for key in keys:
        got, kind = fields.get(key), int if key in NUMBERS else OTHERS.get(key, str)
        if type(got) is not kind or (key != "at" and isinstance(got, int) and got < 0):
            raise ValueError(f"expected {key} as {kind.__name__}, got {got!r:.99}")
    return [fields[key] for key in keys]


def integer(text: str) -> int:
    if len(text) > 20 or not text.lstrip("-").isdecimal() or not -(2**63) <= int(text) < 2**64:
        raise ValueError(f"expected integers from -(2^63) to 2^64 - 1 alone, got {text!r:.99}")
    return int(text)


DECODER: Final = json.JSONDecoder(parse_int=integer, parse_float=integer, parse_constant=integer)
ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def canonical(line: bytes) -> Fields:
    """The object on a line. Encoded again it must have the same bytes, so no key can be there twice."""
    if len(line) > LONGEST + 1 or not line.endswith(b"\n"):
        raise ValueError(f"expected a line break after at most {LONGEST} bytes, got {line[-20:]!r} last")
    found: Fields = DECODER.decode(line.decode("utf-8"))
    if ENCODER.encode(found).encode("utf-8") + b"\n" != line:
        raise ValueError("expected canonical JSON, got a line that has other bytes when encoded again")
    same("a line that is", dict, type(found))
    return found


def from_base64(text: str) -> bytes:
    found = base64.b64decode(text, validate=True)
    same("base64 like", base64.b64encode(found).decode("ascii"), text)
    return found


class Key:
    """A verifier key, whose id has to be its own."""

    def __init__(self, text: str) -> None:
        found = KEY.fullmatch(text)
        if not found:
            raise ValueError(f"expected a key like 'name+id+base64', got {text!r:.99}")
        self.text, self.name, raw = text, found[1], from_base64(found[3])
        self.id, self.raw = hashlib.sha256(self.name.encode("utf-8") + b"\n" + raw).digest()[:4], raw[1:]
        same(f"of the key {self.name!r:.99} kind and id", (b"\x01", self.id.hex()), (raw[:1], found[2]))

    def check(self, what: str, signed: str, signature: bytes) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, signed.encode("utf-8"))
        except (InvalidSignature, ValueError):
            raise ValueError(f"expected {what} signed by {self.text}, got no such signature") from None


class Note:
    """A checkpoint."""

    def __init__(self, text: str) -> None:
        found = NOTE.fullmatch(text)
        if not found:
            raise ValueError(f"expected a checkpoint of four lines and signatures, got {text!r:.99}")
        self.signed, self.origin, self.size, self.root = found[1], found[2], int(found[3]), found[4]
        lines = [line.split(" ")[1:] for line in found[5].split("\n")[:-1]]
        self.signatures = [(name, from_base64(blob)) for name, blob in lines]
        odd = [name for name, blob in self.signatures if not name.isprintable() or len(blob) < 5]
        same("odd signatures:", [], odd)


class Table:
    """The last round of a table, and what of its money adds up without knowing the rules."""

    def __init__(self) -> None:
        self.round, self.bets = 0, dict[str, list[Any]]()  # by bet its seat and stake

    def follow(self, kind: str, event: Fields) -> None:
        if kind == "bets-opened":
            self.round, self.bets = self.round + 1, {}
            same("round", [self.round], take(event, "round"))
        elif kind in ("round-settled", "round-resettled", "round-voided"):
            if event.get("round", self.round) == self.round:  # the bets of earlier ones are forgotten
                same("staked", [sum(stake for _, stake in self.bets.values())], take(event, "staked"))
            if kind != "round-voided":
                staked, collected, back = take(event, "staked", "collected", "stakes_back")
                same("as staked, collected and back", staked, collected + back)
        elif kind == "withdrawal-chosen":
            seat, leaves = take(event, "seat", "withdraw")
            self.bets = {bet: one for bet, one in self.bets.items() if not leaves or one[0] != seat}
        elif kind in ("bet-registered", "bet-moved", "bet-taken-back", "bet-returned"):
            self._bet(kind, event)
        elif kind == "record-corrected" and take(event, "round") == [self.round]:
            self._correct(event)

    def _correct(self, event: Fields) -> None:
        before, *now = ([event[key]] if key in event else [] for key in ("before", "after", "part"))
        for bet, seat, stake in (take(old, "id", "seat", "stake") for old in before):
            same(f"of bet {bet!r:.99} before", self.bets.pop(bet, None), [seat, stake])
        for bet, seat, stake in (take(new, "id", "seat", "stake") for some in now for new in some):
            same(f"of bet {bet!r:.99} another record", None, self.bets.get(bet))
            self.bets[bet] = [seat, stake]

    def _bet(self, kind: str, event: Fields) -> None:
        (bet, number), stands = take(event, "id", "round"), kind != "bet-registered"
        same(f"of bet {bet!r:.99} round, and if it stands,", (self.round, stands), (number, bet in self.bets))
        if kind == "bet-registered":
            self.bets[bet] = take(event, "seat", "stake")
        elif kind != "bet-moved":
            del self.bets[bet]


class Report:
    """What is proved of a journal by the lines read so far."""

    def __init__(self, key: str | None, held: Sequence[str]) -> None:
        self.given, self.trusted = None if key is None else Key(key).text, key is None
        self.held = sorted(map(Note, held), key=lambda note: -note.size)  # kept elsewhere, still to come
        self.entries = self.sealed = self.agreed = self.more = self.format = 0
        self.previous, self.stream, self.origin, self.ended = "0" * 64, "", "", False
        self.edge: list[tuple[int, bytes]] = []  # heights and roots of complete trees, the highest first
        self.key: Key
        self.streams, self.checkpoints = Counter[str](), Counter[str]()
        self.rulebooks, self.tables = dict[str, str](), defaultdict[str, Table](Table)

    def root(self) -> bytes:
        root = self.edge[-1][1] if self.edge else hashlib.sha256().digest()
        for _, left in self.edge[-2::-1]:
            root = hashlib.sha256(b"\x01" + left + root).digest()
        return root

    def read(self, lines: Iterable[bytes]) -> "Report":
        for line in lines:
            at = self.entries + 1
            try:
                fields = canonical(line)
                same("lines after the end:", 0, int(self.ended))
                if set(fields) == {"checkpoint"}:
                    at = max(1, self.entries)
                    self._agree(Note(*take(fields, "checkpoint")), "by the checkpoint")
                    self.checkpoints[self.key.text] += 1
                elif set(fields) == {"end"}:
                    self._end(fields["end"])
                else:
                    self._entry(fields)
                    self._add(hashlib.sha256(b"\x00" + line[:-1]).digest())
            except (ValueError, RecursionError) as error:
                raise Flaw(at, str(error)) from None
        if not self.ended or not self.entries:
            raise Flaw(self.entries + 1, "expected an entry, a checkpoint or the end, got a torn copy")
        if self.held:
            seen = f"expected the {self.held[-1].size} entries that were seen then, got {self.entries}"
            raise Flaw(self.entries + 1, f"{seen}: it was cut before, or is another")
        if not self.trusted or (self.given and not self.sealed):
            raise Flaw(1, f"expected a journal sealed by the key that was given, got one of {self.key.text}")
        return self

    def _end(self, end: object) -> None:
        same("so many entries to finish the decision:", self.more, 0)
        counted = {"root": self.root().hex(), "size": self.entries}
        same("the end", *map(ENCODER.encode, (counted, end)))
        self.ended = True

    def _add(self, leaf: bytes) -> None:
        self.entries, self.previous, height = self.entries + 1, leaf.hex(), 0
        while self.edge and self.edge[-1][0] == height:
            leaf, height = hashlib.sha256(b"\x01" + self.edge.pop()[1] + leaf).digest(), height + 1
        self.edge.append((height, leaf))
        while self.held and self.held[-1].size == self.entries:
            self._agree(self.held.pop(), "in the journal that was seen then")
            self.agreed += 1

    def _agree(self, note: Note, where: str) -> None:
        same(f"{where} so many entries:", note.size, self.entries)
        same(f"{where} the origin", note.origin, self.origin)
        own = [blob for name, blob in note.signatures if (name, blob[:4]) == (self.key.name, self.key.id)]
        for signature in [blob[4:] for blob in own] or [b""]:
            self.key.check(f"the checkpoint over {note.size}", note.signed, signature)
        same(f"{where} the root", note.root, base64.b64encode(self.root()).decode("ascii"))
        self.sealed = self.entries if self.trusted else 0

    def _entry(self, fields: Fields) -> None:
        v, position, previous, stream, version, more, event = take(fields, *KEYS)
        same("v of 1 or 2, never less than before,", min(max(1, self.format, v), 2), v)
        same("position", self.entries + 1, position)
        same("previous", self.previous, previous)
        if self.more:
            same("of the same decision stream and more", (self.stream, self.more - 1), (stream, more))
        asked = ("asked",) if stream != "journal" and not self.more else ()
        take(fields, *asked)
        same("keys", sorted((*KEYS, *asked)), sorted(fields))
        self.stream, self.more, self.streams[stream], self.format = stream, more, self.streams[stream] + 1, v
        same("version", self.streams[stream], version)
        kind, *_ = take({**event, "kind": event.get("event")}, "kind", "by", "clause", "at")
        if (kind in OWN) != (stream == "journal") or (kind == "journal-opened") != (self.entries == 0):
            raise ValueError(f"expected journal-opened at 1, and {OWN} in the journal's stream, got {kind!r}")
        if stream == "journal":
            self._own(kind, event)
        elif stream != "house":
            self._table(kind, event)

    def _table(self, kind: str, event: Fields) -> None:
        if kind == "table-opened" or self.streams[self.stream] == 1:
            same("event and version", ("table-opened", 1), (kind, self.streams[self.stream]))
            table, book, digest = take(event, "table", "rulebook", "digest")
            same("stream", f"table:{table or '…'}", self.stream)
            same("the rulebook stored under its digest,", self.rulebooks.get(digest), book)
        self.tables[self.stream].follow(kind, event)

    def _own(self, kind: str, event: Fields) -> None:
        if kind == "rulebook-stored":
            name, digest, text = take(event, "id", "digest", "text")
            if len(text.encode("utf-8")) > 2**18 or max(map(len, text.splitlines() or [""])) > 4_000:
                raise ValueError("expected a rulebook of 2^18 bytes, 4,000 in a line, got a longer one")
            book = tomllib.loads(text)
            data = json.dumps(book, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=str)
            same("digest", "sha256:" + hashlib.sha256(data.encode("ascii")).hexdigest(), digest)
            same("id, and the digest once,", (book.get("id"), False), (name, digest in self.rulebooks))
            self.rulebooks[digest] = name
            return
        if kind == "storage-secret-sealed" or "secret" in event:
            take(event, "secret")
        if kind == "storage-secret-sealed":
            return
        key = Key(*take(event, "key"))
        if kind == "journal-opened":
            self.origin = "taisai/" + take(event, "journal", "demonstration", "program")[0]
            same("of the id in wrong characters:", "", re.sub(r"taisai/[A-Za-z0-9.-]{1,64}", "", self.origin))
        else:
            says = f"taisai key rotation\n{self.origin}\n{self.entries + 1}\n{self.previous}\n{key.text}\n"
            self.key.check("the new key", says, from_base64(*take(event, "signature")))
        self.key = key
        self.trusted |= key.text == self.given


def verify(lines: Iterable[bytes], key: str | None = None, held: Sequence[str] = ()) -> Report:
    """What an export proves; Flaw where it is wrong, ValueError for a key or checkpoint that is none."""
    return Report(key, held).read(lines)


def main(words: Sequence[str] | None = None) -> int:
    asks = argparse.ArgumentParser(description="Checks a journal's export without Taisai.")
    asks.add_argument("export", help="a jsonl export of a journal")
    asks.add_argument("--key", help="name+id+base64, or a file that holds it")
    asks.add_argument("--checkpoint", metavar="FILE", nargs="+", action="extend", default=[])
    asks.add_argument("--json", action="store_true")
    asked, report, flaw = asks.parse_args(words), Report(None, ()), None
    try:
        named = asked.key is None or KEY.fullmatch(asked.key)
        key = asked.key if named else Path(asked.key).read_text("utf-8").strip()
        report = Report(key, [Path(name).read_text("utf-8") for name in asked.checkpoint])
        with Path(asked.export).open("rb") as file:
            report.read(iter(lambda: file.readline(LONGEST + 2), b""))
    except Flaw as found:
        flaw = {"position": found.position, "says": found.says}
        print(found, file=sys.stderr)
    except (ImportError, OSError, ValueError) as error:
        print(f"cannot check: {error}", file=sys.stderr)
        return 2
    sealed, tail, root = report.sealed, report.entries - report.sealed, report.root().hex()
    if asked.json:
        proved = {"ok": flaw is None, "entries": report.entries, "sealed": sealed, "tail": tail, "root": root}
        print(json.dumps({**proved, "flaw": flaw}))
    elif flaw is None:
        print(f"{report.origin!a}: {report.entries} entries: chain, tree and signatures hold; root {root}")
        print("rulebooks:", ascii(report.rulebooks), "checkpoints held elsewhere:", report.agreed)
        print(f"sealed up to {sealed}, unsealed tail of {tail}; the key:", report.given or "none was given")
    return 0 if flaw is None else 1


if __name__ == "__main__":
    sys.exit(main())
