"""`taisai audit verify`, `export`, `prove` and `check`."""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from taisai.audit import Report, verified
from taisai.audit.export import COLUMNS, lines, write_csv, write_parquet
from taisai.audit.prove import (
    MOST_PROOF_BYTES,
    Checked,
    FailedProofError,
    Inclusion,
    Proof,
    check_entry,
    check_growth,
    encoded_proof,
    prove_entry,
    prove_growth,
    read_proof,
)
from taisai.cli import values
from taisai.cli.audit.reading import CHECK_FAILED, count, flawed, held_checkpoint, moment, opened, progress
from taisai.cli.files import STDOUT, read_file, writing
from taisai.cli.printing import as_json, line, wrapped
from taisai.journal.errors import DamagedError
from taisai.journal.seals.keys import PublicKey, WitnessKey, load_key, load_public_key
from taisai.rules import rulebook_ids
from taisai.rules.book import editions
from taisai.rules.errors import RulesError, printable


def verify(arguments: Namespace) -> int:
    """Verifies a file; exit code 1 if it is damaged."""
    file = arguments.file
    key = load_public_key(arguments.key) if arguments.key is not None else None
    held = [held_checkpoint(path) for path in arguments.checkpoint]
    witnesses = [load_key(witness, WitnessKey) for witness in arguments.witness_key]
    try:
        with closing(opened(file)) as source, progress(source, "verifying") as advance:
            report = verified(file, key=key, held=held, witnesses=witnesses, progress=advance)
    except DamagedError as error:
        return flawed(error, file, json=arguments.json)
    if arguments.json:
        as_json({"ok": True, "file": file, **dataclasses.asdict(report), "tail": report.tail})
        return 0
    sealed = "" if report.sealed else ", but it is NOT SEALED: anyone with the file could have written it"
    line(f"{printable(file)}: the journal {report.journal} is intact and follows the rules{sealed}")
    for text in _proved(report):
        wrapped(f"✓ {text}")
    for text in _noticed(report):
        wrapped(f"! {text}")
    for text in _sealed(report, key):
        line()
        wrapped(text)
    return 0


def _proved(report: Report) -> Iterator[str]:
    entries = count(report.entries, "entry", "entries")
    yield f"{entries}, each with the hash of the entry before it; the root of the hash tree is {report.root}"
    names = ", then ".join(_named(PublicKey.parse(text)) for text in report.signed_by)
    if report.checkpoints:
        checkpoints = f"{count(report.checkpoints, 'checkpoint')} signed by {names}"
        yield f"{checkpoints}; {_each(report.checkpoints)} matches the entries before it"
    if report.held:
        held = count(report.held, "checkpoint")
        yield f"{held} kept elsewhere: the journal still begins with the entries that were signed then"
    books = ", ".join(f"{name} {digest[:19]}…" for name, digest in _books(report)) or "none yet"
    yield (
        f"{count(report.decisions, 'command')} decided again by the rulebooks that the journal stores "
        f"({books}); the results equal the written entries: who may act, the order of play, limits, "
        "balances, every amount"
    )
    yield (
        f"{count(report.settlements, 'settlement')} recomputed, {count(report.bets, 'bet')}, "
        f"{count(report.voids, 'void round')}"
    )
    for adoption in report.adoptions:
        yield f"interpretations adopted: {adoption}"
    if report.draws:
        yield (
            f"{count(report.draws, 'draw')} of the demonstration shaker made again: {_each(report.draws)} "
            "follows from a seed that was committed before bets opened, and from the entry that closed bets"
        )
    transit = count(report.in_transit, "transfer") if report.in_transit else "no transfer"
    balanced = f"the books of {count(report.tables, 'table')} balance after every round and at the end"
    yield f"{balanced}; {transit} between table and House in transit"
    if report.snapshots:
        snapshots = f"{count(report.snapshots, 'snapshot')} compared"
        yield f"{snapshots}: {_each(report.snapshots)} equals the state that the entries give"


def _each(number: int) -> str:
    return "it" if number == 1 else "each"


def _sealed(report: Report, key: PublicKey | None) -> Iterator[str]:
    """Which entries a trusted checkpoint covers, and which none covers."""
    if report.sealed_at is not None and report.sealed_by is not None:
        by = PublicKey.parse(report.sealed_by)
        if key is None:
            whose = "a key that the journal itself names; give --key to check that it is the operator's"
        else:
            whose = "the key that you gave" if key == by else "a successor of the key that you gave"
        yield (
            f"Sealed up to entry {report.sealed:,} by a checkpoint of {moment(report.sealed_at)}, signed by "
            f"{_named(by)}, {whose}."
        )
    else:
        yield "Not sealed: no checkpoint that you trust covers any entry."
    for cosigned in report.witnessed:
        witness, at = WitnessKey.parse(cosigned.witness), moment(1_000 * cosigned.at)
        yield f"Witnessed up to entry {cosigned.size:,} by {_named(witness)} on {at}, the key that you gave."
    if report.tail:
        entries = count(report.tail, "entry is", "entries are")
        yield f"{entries} in the unsealed tail: anyone with the file could have changed these entries."
    if report.demonstration:
        yield "This is a demonstration, not play for money."


def _books(report: Report) -> Iterator[tuple[str, str]]:
    return zip(report.rulebooks, report.digests, strict=True)


def _noticed(report: Report) -> Iterator[str]:
    """What is not a fault, but may need attention."""
    for name, digest in _books(report):
        if name in rulebook_ids() and digest not in {book.digest for book in editions(name)}:
            yield f"the stored {name} differs from the rulebook with that id in this Taisai: compare them"
    for table in report.not_adopted:
        yield f"table {table} opened before a person of the rank that its rulebook names adopted the readings"
    if report.record_corrections:
        yield f"{count(report.record_corrections, 'correction')} of the record of the chips: ask about each"
        yield from report.record_corrections_told
        more = report.record_corrections - len(report.record_corrections_told)
        if more:
            yield f"and {count(more, 'correction')} more: `taisai audit export --of events` has them all"
    if report.clock_went_back:
        entries = count(report.clock_went_back, "entry has", "entries have")
        yield f"{entries} an earlier time than an entry before: someone set a clock back, or it was wrong"
    if report.late_checkpoints:
        yield "two servers sealed this journal at a time; each checkpoint is valid over its own entries:"
        yield from report.late_checkpoints
    if report.unused_snapshots:
        snapshots = count(report.unused_snapshots, "snapshot is", "snapshots are")
        yield f"{snapshots} of another version: not compared, and not used at a start"
    yield from (f"in transit: {told}" for told in report.in_transit_told)


def _named(key: PublicKey) -> str:
    return f"{key.name} {key.id}"


FORMATS: Final = ("jsonl", "csv", "parquet")


def export(arguments: Namespace) -> int:
    """Writes the export; exit code 1, and no file, if the journal is damaged."""
    file, form, kind, out = arguments.file, arguments.format, arguments.of, arguments.output
    _expect("--format", form, FORMATS)
    _expect("--of", kind, tuple(COLUMNS))
    if form == "jsonl" and kind != "events":
        raise RulesError("--of bets needs --format csv or parquet, got jsonl")
    if form == "parquet" and out == STDOUT:
        raise RulesError("parquet cannot go to standard output: name a file with -o")
    try:
        with (
            closing(opened(file)) as source,
            writing(out, mode=0o600) as output,  # names of players, and all that happened
            progress(source, "exporting") as advance,
        ):
            if form == "jsonl":
                output.writelines(lines(source, advance))
                return 0
            from taisai.audit.rows import bet_rows, event_rows

            rows = (bet_rows if kind == "bets" else event_rows)(source, advance)
            (write_csv if form == "csv" else write_parquet)(COLUMNS[kind], rows, output)
    except DamagedError as error:
        return flawed(error, file)
    return 0


def _expect(option: str, got: str, words: tuple[str, ...]) -> None:
    if got not in words:
        raise RulesError(f"expected {option} {', '.join(words[:-1])} or {words[-1]}, got {got!r}")


def prove(arguments: Namespace) -> int:
    """Writes the proof; exit code 1, and no file, if the journal is not what was signed."""
    position = _number(arguments.position, "--position")
    size = _number(arguments.size, "--size")
    if size is not None and position is None:
        raise RulesError("--size needs --position")
    try:
        with closing(opened(arguments.file)) as source, progress(source, "proving") as advance:
            proof: Proof
            if position is not None:
                proof = prove_entry(source, position, size=size, progress=advance)
            else:
                proof = prove_growth(source, held_checkpoint(arguments.held), progress=advance)
    except DamagedError as error:
        return flawed(error, arguments.file)
    with writing(arguments.output) as out:
        out.write(encoded_proof(proof) + b"\n")
    return 0


def _number(text: str | None, option: str) -> int | None:
    return None if text is None else values.whole(text, option, such_as="12")


def check(arguments: Namespace) -> int:
    """Checks a proof; exit code 1 if it does not hold."""
    file = arguments.proof
    keys = [load_public_key(key) for key in arguments.key]
    proof = read_proof(read_file(file, "proof", MOST_PROOF_BYTES), file)
    try:
        if isinstance(proof, Inclusion):
            checked: tuple[Checked, ...] = (check_entry(proof, keys),)
        else:
            checked = check_growth(proof, keys)
    except FailedProofError as error:
        if arguments.json:
            as_json({"ok": False, "file": file, "says": str(error)})
        else:
            sys.stderr.write(f"taisai: {printable(f'{error} ({file})', 1_000)}\n")
        return CHECK_FAILED
    if arguments.json:
        about = {"position": proof.position, "entry": proof.entry} if isinstance(proof, Inclusion) else {}
        signed = [_plain(checkpoint) for checkpoint in checked]
        kind = "inclusion" if about else "consistency"
        facts = {"ok": True, "file": file, "proof": kind, **about}
        as_json(facts | {"checkpoints": signed, "key_given": bool(keys)})
        return 0
    if isinstance(proof, Inclusion):
        wrapped(f"Entry {proof.position} is one of the {_entries(checked[0])}.")
        line(printable(proof.entry, len(proof.entry)))
    else:
        old, new = checked
        wrapped(f"The {_entries(new)} begin with the {_entries(old)}: none was altered, removed or inserted.")
    if not keys:
        wrapped("The key is the one that the proof names; give --key to check that it is the operator's.")
    return 0


def _entries(checked: Checked) -> str:
    checkpoint, key = checked.signed.checkpoint, checked.by
    return (
        f"{checkpoint.size:,} entries of {checkpoint.origin} that {key.name} {key.id} signed on "
        f"{moment(checkpoint.at)}"
    )


def _plain(checked: Checked) -> dict[str, object]:
    checkpoint = checked.signed.checkpoint
    return dataclasses.asdict(checkpoint) | {"root": checkpoint.root.hex(), "key": checked.by.text}
