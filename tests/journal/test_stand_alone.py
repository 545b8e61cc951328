"""The verifier that stands alone accepts good journals, names the entry of each forgery, and never raises."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from taisai.rules import rulebook
from tests.game.machine import SETUPS, newly_opened
from tests.game.playbooks import PLAYBOOKS, told
from tests.game.seeded_player import STEPS, Hand
from tests.journal.journal_by_hand import (
    BOOK,
    EVENING,
    NIGHT,
    ORIGIN,
    STRANGER,
    Change,
    Fields,
    Journal,
    Signer,
    canonical,
    digest_of,
    drop,
    event,
    leaf,
    less,
    put,
    raw,
    root,
    rotation,
    written,
)
from tests.tiers import LONG
from tools import verify_export
from tools.verify_export import LONGEST, Flaw, verify

pytestmark = pytest.mark.part(name="tampering")

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "verify_export.py"
MOST_LINES = 320
STANDARD = {"__future__", "cryptography"} | set(sys.stdlib_module_names)

GOOD = written().end()


def flaw_of(lines: Iterable[bytes], key: str | None = None, held: tuple[str, ...] = ()) -> Flaw | None:
    """What is found; whatever else is raised fails the test."""
    try:
        verify(iter(lines), key, held)
    except Flaw as flaw:
        return flaw
    return None


# Good journals


def test_a_good_journal_is_proved_up_to_its_last_checkpoint() -> None:
    report = verify(GOOD, EVENING.verifier)
    assert (report.entries, report.sealed, report.origin) == (19, 17, ORIGIN)
    assert report.root() == root([leaf(line[:-1]) for line in GOOD if b'"position"' in line])
    assert report.checkpoints == {EVENING.verifier: 1, NIGHT.verifier: 2}
    assert dict(report.streams) == {"journal": 3, "table:SB1": 15, "house": 1}
    assert report.rulebooks == {digest_of(BOOK): "little"}


@pytest.mark.parametrize("entries", range(1, 70))
def test_the_tree_is_the_one_of_the_definition_at_every_size(entries: int) -> None:
    journal = Journal()
    journal.open()
    for _ in range(entries - 1):
        journal.decide("house", {"event": "person-enrolled"})
    journal.seal()
    report = verify(journal.end(), EVENING.verifier)
    assert (report.sealed, report.root()) == (entries, root(journal.leaves))
    assert len(report.edge) == entries.bit_count()


def test_without_a_checkpoint_everything_is_an_unsealed_tail() -> None:
    journal = Journal()
    journal.open()
    report = verify(journal.end())
    assert (report.entries, report.sealed) == (1, 0)


def test_a_later_key_seals_only_from_the_entry_that_introduced_it() -> None:
    """Anyone can name a key that is not his: what was sealed before it came proves nothing to its owner."""
    journal = Journal()
    journal.open()
    journal.seal()
    journal.rotate(NIGHT)
    with pytest.raises(Flaw, match="sealed by the key that was given"):
        verify(journal.end(), NIGHT.verifier)
    assert verify(journal.end()).sealed == 1
    journal.seal()
    assert verify(journal.end(), NIGHT.verifier).sealed == 2
    assert verify(journal.end()).sealed == 2


def test_a_witness_may_sign_in_whatever_form_it_signs() -> None:
    note = (
        EVENING.note(written().text(size=8)) + STRANGER.line("another text") + "— cosigner/v1 AAAAAAAAAAAA\n"
    )
    journal = written(notes={8: note})
    assert verify(journal.end()).sealed == 17


def test_several_checkpoints_over_as_many_entries_are_all_checked() -> None:
    journal = Journal()
    journal.open()
    first, second = journal.seal(), journal.seal()
    assert first == second
    assert verify(journal.end()).checkpoints == {EVENING.verifier: 2}


HELD_8 = EVENING.note(written().text(size=8))
HELD_10 = EVENING.note(written().text(size=10))
HELD_18 = NIGHT.note(written().text(size=18))


def test_checkpoints_held_elsewhere_agree_and_seal_what_they_cover() -> None:
    report = verify(GOOD, EVENING.verifier, [HELD_18, HELD_8, HELD_10])
    assert (report.agreed, report.sealed) == (3, 18)


def test_texts_of_every_kind_are_canonical() -> None:
    odd = '\x00\x1f\x7f"\\\b\f\n\r\t/ é 骰宝 😀 \u2028 \ufeff'
    journal = Journal()
    journal.open()
    numbers = [-(2**63), 2**64 - 1, 0, -1, True, False, None]
    journal.decide("house", {"event": "odd", odd: odd, "😀": 1, "\uffff": 2, "numbers": numbers})
    assert verify(journal.end()).entries == 2


# Forgeries that are chained and signed again: only a rule can find them


class Forgery(NamedTuple):
    """What a holder of the key does to one entry, and what gives it away."""

    at: int
    change: Change
    says: str
    found_at: int | None = None


def introduced(by: Signer, position: int, previous: str) -> Change:
    """The night's key, vouched for by someone."""
    return event(signature=rotation(by, NIGHT, position, previous))


BEFORE = written().leaves[11].hex()
"""The hash of the entry before the one that introduces a key."""
OTHER_BOOK = BOOK.replace("8.5", "9.5")
FORGED = {
    # canonical form
    "a-space": Forgery(4, raw('"more":0', '"more": 0'), "canonical JSON"),
    "keys-out-of-order": Forgery(4, raw('"more":0,"position":4', '"position":4,"more":0'), "canonical JSON"),
    "a-key-twice": Forgery(4, raw('"more":0', '"more":0,"more":0'), "canonical JSON"),
    "a-key-twice-with-another-value": Forgery(6, raw('"stake":100', '"stake":999,"stake":100'), "canonical"),
    "a-float": Forgery(6, raw('"stake":100', '"stake":100.0'), "integers"),
    "an-exponent": Forgery(6, raw('"stake":100', '"stake":1e2'), "integers"),
    "not-a-number": Forgery(6, raw('"stake":100', '"stake":NaN'), "integers"),
    "minus-zero": Forgery(6, raw('"stake":100', '"stake":-0'), "canonical JSON"),
    "a-leading-zero": Forgery(6, raw('"stake":100', '"stake":0100'), "the format"),
    "an-integer-too-great": Forgery(4, event(extra=2**64), "integers"),
    "an-integer-too-small": Forgery(4, event(extra=-(2**63) - 1), "integers"),
    "an-integer-of-many-digits": Forgery(4, raw('"more":0', f'"more":{"9" * 5000}'), "integers"),
    "a-character-escaped-for-nothing": Forgery(4, raw("皮", "\\u76ae"), "canonical JSON"),
    "a-slash-escaped": Forgery(4, raw("pia 皮", "\\/"), "canonical JSON"),
    "a-control-character-in-great-digits": Forgery(4, raw("pia 皮", "\\u001F"), "canonical JSON"),
    "a-control-character-that-stands-for-itself": Forgery(4, raw("pia 皮", "\x01"), "the format"),
    "half-a-character": Forgery(4, raw("皮", "\\ud83d"), "the format"),
    "half-a-character-in-bytes": Forgery(4, raw("皮", "\ud83d"), "the format"),
    "a-byte-order-mark": Forgery(4, lambda entry: b"\xef\xbb\xbf" + canonical(entry), "the format"),
    "a-carriage-return": Forgery(4, lambda entry: canonical(entry) + b"\r", "canonical JSON"),
    "nested-without-end": Forgery(4, lambda _: b"[" * 100_000 + b"]" * 100_000, "the format"),
    "a-list": Forgery(4, lambda _: b"[1]", "a line that is"),
    "null": Forgery(4, lambda _: b"null", "a line that is"),
    "an-empty-line": Forgery(4, lambda _: b"", "the format"),
    "an-empty-object": Forgery(4, lambda _: b"{}", "v as int"),
    # an entry's own keys
    "another-format": Forgery(4, put("v", 3), "v of 1 or 2, never less than before, 2, got 3"),
    "a-format-that-goes-down": Forgery(4, put("v", 0), "v of 1 or 2, never less than before, 1, got 0"),
    "true-for-one": Forgery(4, put("v", value=True), "v as int, got True"),
    "a-key-too-many": Forgery(4, put("note", "x"), "keys"),
    "no-event": Forgery(4, drop("event"), "event as dict"),
    "an-event-without-a-time": Forgery(4, less("at"), "at as int"),
    "an-event-without-an-actor": Forgery(4, less("by"), "by as str"),
    "an-event-without-a-clause": Forgery(4, less("clause"), "clause as str"),
    "an-event-without-a-kind": Forgery(4, less("event"), "kind as str"),
    "a-position-too-far": Forgery(4, put("position", 5), "position 4, got 5"),
    "a-position-again": Forgery(4, put("position", 3), "position 4, got 3"),
    "another-predecessor": Forgery(4, put("previous", "ab" * 32), "previous"),
    "a-predecessor-in-great-digits": Forgery(
        4, lambda entry: entry | {"previous": entry["previous"].upper()}, "previous"
    ),
    "a-predecessor-of-the-first": Forgery(1, put("previous", "0" * 63 + "1"), "previous"),
    "a-version-too-far": Forgery(5, put("version", 3), "version 2, got 3"),
    "a-version-again": Forgery(5, put("version", 1), "version 2, got 1"),
    "a-stream-of-no-kind": Forgery(4, put("stream", "cage"), "event and version"),
    "a-table-without-a-name": Forgery(3, lambda e: event(table="")(e | {"stream": "table:"}), "table:…"),
    # decisions
    "a-decision-that-loses-its-rest": Forgery(8, put("more", 1), "same decision"),
    "a-decision-that-another-stream-finishes": Forgery(7, put("stream", "house"), "same decision"),
    "a-decision-that-never-ends": Forgery(9, put("more", 1), "keys", 10),
    "a-negative-rest": Forgery(9, put("more", -1), "more as int"),
    "a-decision-that-nobody-asked": Forgery(9, drop("asked"), "asked as dict"),
    "a-text-for-what-was-asked": Forgery(9, put("asked", "take-back"), "asked as dict"),
    "asked-again-within-a-decision": Forgery(7, put("asked", {}), "keys"),
    "asked-in-the-journals-stream": Forgery(2, put("asked", {}), "keys"),
    # the journal's own stream
    "never-opened": Forgery(1, event(event="rulebook-stored"), "journal-opened at 1"),
    "opened-in-another-stream": Forgery(1, lambda e: e | {"stream": "house", "asked": {}}, "journal's"),
    "opened-twice": Forgery(2, event(event="journal-opened"), "journal-opened at 1"),
    "an-event-that-the-journal-has-not": Forgery(2, event(event="key-forgotten"), "journal's stream"),
    "a-rulebook-in-a-tables-stream": Forgery(9, event(event="rulebook-stored"), "journal's stream"),
    "opened-without-a-key": Forgery(1, less("key"), "key as str"),
    "opened-as-who-knows-what": Forgery(1, less("demonstration"), "demonstration as bool"),
    "opened-by-no-program": Forgery(1, less("program"), "program as str"),
    "opened-by-a-key-of-another-id": Forgery(
        1, event(key=EVENING.verifier.replace(EVENING.id.hex(), "00000000")), "kind and id"
    ),
    "opened-by-a-key-of-another-kind": Forgery(
        1, event(key=f"x+00000000+{base64.b64encode(bytes(33)).decode()}"), "kind and id"
    ),
    "opened-by-a-key-that-is-none": Forgery(1, event(key="evening"), "name+id+base64"),
    "a-rulebook-of-another-text": Forgery(2, event(text=OTHER_BOOK), "digest"),
    "a-rulebook-of-another-digest": Forgery(2, event(digest=digest_of(OTHER_BOOK)), "digest"),
    "a-rulebook-of-another-id": Forgery(2, event(id="large"), "id"),
    "a-rulebook-that-is-no-toml": Forgery(2, event(text="id = "), "the format"),
    "a-table-by-a-rulebook-not-stored": Forgery(3, event(digest=digest_of(OTHER_BOOK)), "rulebook stored"),
    "a-table-by-a-rulebook-of-another-name": Forgery(3, event(rulebook="large"), "rulebook stored"),
    "a-table-in-the-stream-of-another": Forgery(3, event(table="SB2"), "stream 'table:SB2'"),
    "a-table-opened-twice": Forgery(5, event(event="table-opened"), "event and version"),
    "a-table-played-before-it-opened": Forgery(3, event(event="bets-opened", round=1), "event and version"),
    "a-key-that-introduces-itself": Forgery(13, introduced(NIGHT, 13, BEFORE), "new key"),
    "a-key-introduced-elsewhere": Forgery(13, introduced(EVENING, 12, BEFORE), "new key"),
    "a-key-after-another-past": Forgery(13, introduced(EVENING, 13, "0" * 64), "new key"),
    "another-key-introduced": Forgery(13, event(key=STRANGER.verifier), "new key signed"),
    "a-signature-that-is-none": Forgery(13, event(signature="?"), "the format"),
    # money
    "a-round-left-out": Forgery(14, event(round=3), "round"),
    "a-stake-greater-than-was-registered": Forgery(6, event(stake=101), "staked [151], got [150]", 11),
    "a-negative-stake": Forgery(6, event(stake=-100), "stake as int"),
    "a-bet-registered-twice": Forgery(7, event(id="a"), "if it stands"),
    "a-bet-of-another-round": Forgery(7, event(round=2), "if it stands"),
    "a-bet-taken-back-that-does-not-stand": Forgery(9, event(id="z"), "if it stands"),
    "a-bet-moved-that-was-taken-back": Forgery(10, event(id="c"), "if it stands"),
    "more-staked-than-stood": Forgery(11, event(staked=250, collected=200), "staked [150], got [250]"),
    "more-collected-than-staked": Forgery(11, event(collected=101), "collected and back 150, got 151"),
    "fewer-stakes-back": Forgery(11, event(stakes_back=49), "collected and back 150, got 149"),
    "a-withdrawal-that-was-none": Forgery(17, event(withdraw=False), "staked [90], got [20]", 18),
    "another-seats-withdrawal": Forgery(17, event(seat="2"), "staked [70], got [20]", 18),
    "another-sum-voided": Forgery(18, event(staked=90), "staked [20], got [90]"),
    "settled-again-out-of-balance": Forgery(19, event(collected=51), "collected and back 150, got 151"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_that_is_chained_and_signed_again_is_found_at_its_entry(name: str) -> None:
    forgery = FORGED[name]
    flaw = flaw_of(written({forgery.at: forgery.change}).end(), EVENING.verifier)
    assert flaw is not None
    assert (flaw.position, str(flaw)) == (
        forgery.found_at or forgery.at,
        f"entry {flaw.position}: {flaw.says}",
    )
    assert forgery.says in flaw.says
    assert flaw.says.startswith("expected")
    assert "got" in flaw.says
    assert "\n" not in str(flaw)


# Forgeries of lines, by someone without the key


def place(position: int) -> int:
    """The line of an entry in the good export."""
    return next(n for n, line in enumerate(GOOD) if f'"position":{position},'.encode() in line)


def without(*lines: int) -> list[bytes]:
    return [line for n, line in enumerate(GOOD) if n not in lines]


def with_line(at: int, line: bytes) -> list[bytes]:
    return [*GOOD[:at], line, *GOOD[at + 1 :]]


def altered(position: int, old: bytes, new: bytes) -> list[bytes]:
    at = place(position)
    assert GOOD[at].count(old) == 1
    return with_line(at, GOOD[at].replace(old, new))


def swapped(one: int, other: int) -> list[bytes]:
    lines = list(GOOD)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def ended(**fields: object) -> list[bytes]:
    return [*GOOD[:-1], canonical({"end": json.loads(GOOD[-1])["end"] | fields}) + b"\n"]


SEAL_8, SEAL_13, SEAL_17 = (n for n, line in enumerate(GOOD) if b'"checkpoint"' in line)
FIRST = GOOD[0]
LINES: dict[str, tuple[int, list[bytes], str]] = {
    "an-entry-altered": (7, altered(6, b'"seat":"1"', b'"seat":"3"'), "previous"),
    "the-sealed-entry-altered": (8, altered(8, b'"seat":"1"', b'"seat":"3"'), "root"),
    "the-last-entry-altered": (20, altered(19, b'"won":100', b'"won":101'), "the end"),
    "an-entry-dropped": (9, without(place(9)), "position 9, got 10"),
    "the-first-entry-dropped": (1, without(0), "position 1, got 2"),
    "the-tail-dropped": (18, without(place(18), place(19)), "the end"),
    "an-entry-twice": (10, [*GOOD[: place(10)], GOOD[place(9)], *GOOD[place(10) :]], "position 10, got 9"),
    "two-entries-swapped": (9, swapped(place(9), place(10)), "position 9, got 10"),
    "cut-within-a-decision": (8, [*GOOD[: place(8)], GOOD[-1]], "finish the decision: 1, got 0"),
    "torn-after-an-entry": (11, GOOD[: place(11)], "torn"),
    "torn-within-a-line": (11, [*GOOD[: place(11)], GOOD[place(11)][:50]], "line break"),
    "torn-before-the-end": (20, GOOD[:-1], "torn"),
    "the-end-without-a-line-break": (20, [*GOOD[:-1], GOOD[-1][:-1]], "line break"),
    "a-line-after-the-end": (20, [*GOOD, GOOD[-1]], "after the end"),
    "an-entry-after-the-end": (20, [*GOOD, GOOD[place(19)]], "after the end"),
    "another-size-at-the-end": (20, ended(size=20), "the end"),
    "true-for-a-size": (20, ended(size=True), "the end"),
    "another-root-at-the-end": (20, ended(root="00" * 32), "the end"),
    "more-said-at-the-end": (20, ended(by="me"), "the end"),
    "an-end-that-says-nothing": (20, [*GOOD[:-1], b'{"end":null}\n'], "the end"),
    "nothing-at-all": (1, [], "torn"),
    "nothing-but-an-end": (1, Journal().end(), "torn"),
    "a-checkpoint-before-anything": (1, [GOOD[SEAL_8], *GOOD], "so many entries: 8, got 0"),
    "a-checkpoint-too-early": (8, swapped(SEAL_8, SEAL_13), "so many entries: 13, got 8"),
    "a-checkpoint-that-is-no-text": (8, with_line(SEAL_8, b'{"checkpoint":8}\n'), "checkpoint as str"),
    "a-line-too-long": (4, with_line(place(4), b" " * (LONGEST + 1) + b"\n"), "line break after"),
    "a-line-without-end": (4, with_line(place(4), b" " * (LONGEST + 2)), "line break after"),
    "bytes-that-are-no-text": (4, with_line(place(4), b"\xff\xfe\x00\n"), "the format"),
    "another-journal": (1, [b"PK\x03\x04\n"], "the format"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_an_export_that_someone_altered_is_found_out_where_it_breaks(name: str) -> None:
    position, lines, says = LINES[name]
    flaw = flaw_of(lines, EVENING.verifier)
    assert flaw is not None
    assert (flaw.position, says in flaw.says) == (position, True), str(flaw)


# Checkpoints


TEXT_8 = written().text(size=8)
HEAD, TIME = TEXT_8.rsplit("time", 1)
NOTES: dict[str, tuple[str, str]] = {
    "by-another-key": (STRANGER.note(TEXT_8), "signed by"),
    "by-a-key-not-yet-in-force": (NIGHT.note(TEXT_8), "signed by"),
    "by-another-under-the-same-name": (STRANGER.note(TEXT_8).replace("stranger", EVENING.name), "signed by"),
    "of-another-text": (f"{TEXT_8}\n{EVENING.line(TEXT_8 + ' ')}", "signed by"),
    "one-signature-of-two-is-false": (EVENING.note(TEXT_8) + EVENING.line("x"), "signed by"),
    "a-signature-too-short": (f"{TEXT_8}\n{EVENING.line(TEXT_8)[:-65]}\n", "signed by"),
    "a-signature-that-is-no-base64": (f"{TEXT_8}\n— {EVENING.name} x5Tg?\n", "the format"),
    "of-another-origin": (EVENING.note(written().text(size=8, origin="taisai/other")), "the origin"),
    "of-another-root": (EVENING.note(written().text(size=8, top=bytes(32))), "the root"),
    "of-a-root-in-hexadecimal": (EVENING.note(f"{ORIGIN}\n8\n{'00' * 32}\ntime 1\n"), "the root"),
    "over-fewer-entries": (EVENING.note(written().text(size=7)), "so many entries: 7, got 8"),
    "over-nothing": (EVENING.note(written().text(size=0)), "four lines"),
    "of-a-size-with-a-leading-zero": (EVENING.note(TEXT_8.replace("\n8\n", "\n08\n")), "four lines"),
    "of-a-size-in-other-digits": (EVENING.note(TEXT_8.replace("\n8\n", "\n８\n")), "four lines"),
    "of-no-time": (EVENING.note(HEAD), "four lines"),
    "of-more-lines": (EVENING.note(TEXT_8 + "and more\n"), "four lines"),
    "not-signed": (TEXT_8 + "\n", "four lines"),
    "signed-with-a-hyphen": (EVENING.note(TEXT_8).replace("—", "-"), "four lines"),
    "without-its-last-line-break": (EVENING.note(TEXT_8)[:-1], "four lines"),
    "empty": ("", "four lines"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTES)
def test_a_checkpoint_that_is_wrong_is_found_at_the_entry_it_follows(name: str) -> None:
    note, says = NOTES[name]
    flaw = flaw_of(written(notes={8: note}).end())
    assert flaw is not None
    assert (flaw.position, says in flaw.says) == (8, True), str(flaw)


def test_a_key_signs_no_more_once_another_was_introduced() -> None:
    flaw = flaw_of(written(notes={13: EVENING.note(written().text(size=13))}).end())
    assert flaw is not None
    assert (flaw.position, NIGHT.verifier in flaw.says) == (13, True)


def test_a_rulebook_is_stored_once() -> None:
    journal = Journal()
    journal.open()
    journal.store()
    journal.store(BOOK + "\n# the same data\n")
    flaw = flaw_of(journal.end())
    assert flaw is not None
    assert (flaw.position, "once" in flaw.says) == (3, True)


# Keys and checkpoints from elsewhere


REWRITTEN = written({4: event(person="pip")}).end()


@pytest.mark.parametrize(
    ("lines", "note", "position", "says"),
    [
        pytest.param(REWRITTEN, HELD_10, 10, "in the journal that was seen then the root", id="rewritten"),
        pytest.param(GOOD, NIGHT.note(written().text(size=25)), 20, "it was cut before", id="cut"),
        pytest.param(GOOD, EVENING.note(written().text(size=10, origin="x")), 10, "origin", id="another"),
        pytest.param(GOOD, STRANGER.note(written().text(size=10)), 10, "signed by", id="not-signed-by-it"),
        pytest.param(GOOD, NIGHT.note(written().text(size=10)), 10, "signed by", id="not-signed-by-it-then"),
    ],
)
def test_a_journal_that_is_not_the_one_seen_then_is_found_out(
    lines: list[bytes], note: str, position: int, says: str
) -> None:
    assert flaw_of(REWRITTEN) is None
    flaw = flaw_of(lines, EVENING.verifier, (note,))
    assert flaw is not None
    assert (flaw.position, says in flaw.says) == (position, True), str(flaw)


def test_a_journal_of_another_key_than_the_one_given_is_refused() -> None:
    flaw = flaw_of(GOOD, STRANGER.verifier)
    assert flaw is not None
    assert (flaw.position, "key that was given" in flaw.says) == (1, True)


@pytest.mark.parametrize("key", ["", "x", "a+b+c", EVENING.verifier + "\n", EVENING.verifier[1:]])
def test_a_key_that_is_none_is_no_flaw_of_the_journal(key: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        verify(GOOD, key)


# As it reads


def endless() -> Iterator[bytes]:
    """A journal that goes on and on."""
    journal = Journal()
    journal.open()
    yield journal.lines[0]
    position, previous = 2, journal.leaves[0]
    while True:
        happened = {"event": "person-enrolled", "at": position, "by": "sue", "clause": "house:people"}
        place = {"position": position, "previous": previous.hex(), "stream": "house", "version": position - 1}
        line = canonical({**place, "more": 0, "v": 1, "asked": {}, "event": happened})
        yield line + b"\n"
        position, previous = position + 1, leaf(line)


def most_memory(entries: int) -> int:
    tracemalloc.start()
    try:
        flaw = flaw_of(islice(endless(), entries))
        assert flaw is not None
        assert (flaw.position, "torn" in flaw.says) == (entries + 1, True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_longer_journal_takes_no_more_memory() -> None:
    most_memory(100)  # whatever is made once
    assert most_memory(2_000) < most_memory(200) + 20_000


def test_nothing_is_read_beyond_the_first_flaw() -> None:
    lines = iter(LINES["an-entry-dropped"][1])
    with pytest.raises(Flaw, match="entry 9: expected position 9, got 10"):
        verify(lines)
    assert json.loads(next(lines))["position"] == 11


# A check that cannot fail proves nothing


def unchecked(*_: object) -> None:
    """What a check comes to that is put out."""


def unlooked(fields: Fields, *keys: str) -> list[object]:
    return [fields.get(key) for key in keys]


def forged(name: str) -> list[bytes]:
    return written({FORGED[name].at: FORGED[name].change}).end()


UNSEEN: dict[str, tuple[str, object, list[bytes]]] = {
    "signatures": ("Key.check", unchecked, written(notes={8: NOTES["of-another-text"][0]}).end()),
    "rotation": ("Key.check", unchecked, forged("a-key-that-introduces-itself")),
    "money": ("Table.follow", unchecked, forged("more-staked-than-stood")),
    "tables": ("Report._table", unchecked, forged("a-table-in-the-stream-of-another")),
    "versions": ("same", unchecked, forged("a-version-again")),
    "chain": ("same", unchecked, LINES["an-entry-altered"][1]),
    "kinds": ("take", unlooked, forged("an-event-without-a-clause")),
    "form": ("canonical", json.loads, forged("a-space")),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_sabotage_a_check_that_is_put_out_misses_its_forgery(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    what, instead, lines = UNSEEN[name]
    seen = flaw_of(lines)
    monkeypatch.setattr(f"tools.verify_export.{what}", instead)
    assert seen is not None
    assert flaw_of(lines) is None


# Whatever the bytes


def test_no_bit_of_an_export_can_be_turned_unseen() -> None:
    whole = b"".join(GOOD)
    seed = int(os.environ.get("TAISAI_SEED", "20261116"))
    places = range(len(whole)) if LONG else Random(seed).sample(range(len(whole)), 400)
    for at in places:
        turned = bytearray(whole)
        turned[at] ^= 1 << (at % 7)
        assert flaw_of(io.BytesIO(turned), EVENING.verifier) is not None, f"TAISAI_SEED={seed}, byte {at}"


def test_no_part_of_an_export_passes_for_the_whole() -> None:
    whole = b"".join(GOOD)
    for at in range(0, len(whole), 1 if LONG else 23):
        assert flaw_of(io.BytesIO(whole[:at])) is not None, at


ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    2**64,
    1.5,
    "",
    "\x00",
    "\ud800",
    [],
    {},
    [[]],
    {"": {}},
    "+" * 99,
)


def paths(value: object, to: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*to, key)
            yield from paths(inner, (*to, key))


def replaced(path: tuple[str, ...], value: object) -> Change:
    def change(entry: Fields) -> bytes:
        within = entry = json.loads(canonical(entry))
        for key in path[:-1]:
            within = within[key]
        within[path[-1]] = value
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode(
            "utf-8", "surrogatepass"
        )

    return change


def test_whatever_stands_in_an_entry_is_a_flaw_or_none_and_never_an_exception() -> None:
    seed = int(os.environ.get("TAISAI_SEED", "20261116"))
    entries = [json.loads(line) for line in GOOD if b'"position"' in line]
    every = [(entry["position"], path, value) for entry in entries for path in paths(entry) for value in ODD]
    found = 0
    for at, path, value in every if LONG else Random(seed).sample(every, 400):
        try:
            found += flaw_of(written({at: replaced(path, value)}).end()) is not None
        except Exception as error:
            raise AssertionError(f"TAISAI_SEED={seed}, entry {at}, {path} = {value!r}") from error
    assert found > (len(every) if LONG else 400) / 2


# What the game really writes


def kept(book: str, decisions: Iterator[tuple[Any, tuple[Any, ...]]]) -> Journal:
    """A journal of a table that was really played."""
    journal = Journal()
    journal.open()
    journal.store(rulebook(book).text, rulebook(book).id)
    stream = ""
    for command, events in decisions:
        made = [msgspec.to_builtins(one) for one in events]
        stream = stream or f"table:{made[0]['table']}"
        journal.decide(stream, *made, asked=msgspec.to_builtins(command) if command else None)
    journal.seal()
    return journal


SHORT = ("mbs-withdrawals", "mbs-void-rounds", "mbs-wrong-result", "rws-wrong-result-in-hand", "rws-disputes")


@pytest.mark.parametrize("name", sorted(PLAYBOOKS) if LONG else SHORT)
def test_every_playbooks_journal_is_good(name: str) -> None:
    played = told(name)
    opened = [(None, (event,)) for event in played.opened]
    steps = [(one.command, one.events) for one in played.played if one.events]
    journal = kept(played.story.book, iter([*opened, *steps]))
    assert verify(journal.end(), EVENING.verifier).sealed == journal.size


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_whatever_is_played_at_a_table_its_journal_is_good(setup: Any) -> None:
    seed = int(os.environ.get("TAISAI_SEED", "20261116"))
    random, under = Random(f"{seed} {setup.name}"), newly_opened(setup)
    hand = Hand(under)
    for _ in range(500 if LONG else 120):
        hand.step(random.choice(STEPS), random.getrandbits(32))
    assert under.faults == []
    journal = kept(setup.book, ((None, (event,)) for event in under.events))
    flaw = flaw_of(journal.end(), EVENING.verifier)
    assert flaw is None, f"TAISAI_SEED={seed}: {flaw}"


# The command


def run(*words: str, flags: tuple[str, ...] = ("-I",)) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *flags, str(TOOL), *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.jsonl"
    path.write_bytes(b"".join(GOOD))
    return str(path)


def test_the_command_tells_what_it_proved(good: str, tmp_path: Path) -> None:
    key, note = tmp_path / "evening.pub", tmp_path / "seen.txt"
    key.write_text(EVENING.verifier + "\n", "utf-8")
    note.write_text(HELD_10, "utf-8")
    done = run(good, "--key", str(key), "--checkpoint", str(note))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"'{ORIGIN}': 19 entries: chain, tree and signatures hold" in done.stdout
    assert "held elsewhere: 1" in done.stdout
    assert f"sealed up to 17, unsealed tail of 2; the key: {EVENING.verifier}" in done.stdout
    assert "none was given" in run(good).stdout


def test_the_command_names_a_flaw_and_its_entry_and_ends_with_one(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(LINES["an-entry-dropped"][1]))
    done = run(str(path), "--json")
    assert (done.returncode, done.stderr) == (1, "entry 9: expected position 9, got 10\n")
    said = json.loads(done.stdout)
    assert said.pop("root") == root(written().leaves[:8]).hex()
    flaw = {"position": 9, "says": "expected position 9, got 10"}
    assert said == {"ok": False, "entries": 8, "sealed": 8, "tail": 0, "flaw": flaw}


def test_the_command_says_the_same_as_data(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_export.main([good, "--json", "--key", EVENING.verifier]) == 0
    said = json.loads(capsys.readouterr().out)
    top = root(written().leaves).hex()
    assert said == {"ok": True, "entries": 19, "sealed": 17, "tail": 2, "root": top, "flaw": None}


@pytest.mark.parametrize(
    "words",
    [
        ("none.jsonl",),
        (".",),
        ("{good}", "--key", "none.pub"),
        ("{good}", "--checkpoint", "{good}"),
        ("a\0b",),
    ],
)
def test_what_cannot_be_read_is_no_flaw(
    words: tuple[str, ...], good: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify_export.main([word.format(good=good) for word in words]) == 2
    assert capsys.readouterr().err.startswith("cannot check: ")


@pytest.mark.parametrize("words", [(), ("a", "b"), ("a", "--keys")])
def test_bad_usage_ends_with_two(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        verify_export.main(words)
    assert ended.value.code == 2


# It stands alone


def test_it_is_one_file_of_a_length_that_can_be_read() -> None:
    assert len(TOOL.read_text("utf-8").splitlines()) <= MOST_LINES


def test_it_imports_the_standard_library_and_one_for_signatures() -> None:
    found = set()
    for node in ast.walk(ast.parse(TOOL.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or ".").split(".")[0])
    assert found <= STANDARD
    assert "cryptography" in found


def test_it_runs_without_taisai_being_there(good: str) -> None:
    code = f"import runpy, sys; sys.argv = ['x', {good!r}]; sys.modules['taisai'] = None\n"
    code += f"try: runpy.run_path({str(TOOL)!r}, run_name='__main__')\n"
    code += "except SystemExit as end: print(end.code, [m for m in sys.modules if m.startswith('taisai.')])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n0 []\n")


def test_without_the_library_for_signatures_it_says_so(good: str) -> None:
    done = run(good, flags=("-I", "-S"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cannot check: No module named 'cryptography'\n"
