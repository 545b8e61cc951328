"""`taisai audit verify`: what a journal proves, in sentences; or the one entry where it does not."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing

from taisai.audit import Report, verified
from taisai.cli.audit.reading import count, flawed, held_checkpoint, moment, opened, progress, said
from taisai.cli.printing import as_json, line
from taisai.journal.errors import DamagedError
from taisai.journal.seals.keys import PublicKey, load_public_key
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.errors import printable


def run(arguments: Namespace) -> int:
    """Proves everything that can be proved of a file; 1 where something is wrong with it."""
    file = arguments.file
    key = load_public_key(arguments.key) if arguments.key is not None else None
    held = [held_checkpoint(path) for path in arguments.checkpoint]
    try:
        with closing(opened(file)) as source, progress(source, "verifying") as told:
            report = verified(file, key=key, held=held, progress=told)
    except DamagedError as error:
        return flawed(error, file, json=arguments.json)
    if arguments.json:
        as_json({"ok": True, "file": file, **dataclasses.asdict(report), "tail": report.tail})
        return 0
    sealed = "" if report.sealed else ", but NOT SEALED: whoever holds the file could have written it"
    line(f"{printable(file)}: the journal {report.journal} is whole and by the rules{sealed}")
    for text in _proved(report):
        said(f"✓ {text}")
    for text in _noticed(report):
        said(f"! {text}")
    for text in _sealed(report, key):
        line()
        said(text)
    return 0


def _proved(report: Report) -> Iterator[str]:
    """What was checked, a sentence each."""
    entries = count(report.entries, "entry", "entries")
    yield f"{entries}, each chained to the one before; the tree over them has the root {report.root}"
    names = ", then ".join(_named(PublicKey.parse(text)) for text in report.signed_by)
    checkpoints, one = count(report.checkpoints, "checkpoint"), report.checkpoints == 1
    if report.checkpoints:
        yield f"{checkpoints} signed by {names}, {'' if one else 'each '}over exactly the entries before it"
    if report.held:
        yield f"{count(report.held, 'checkpoint')} kept elsewhere: the journal continues what was signed then"
    books = ", ".join(f"{name} {digest[:19]}…" for name, digest in _books(report)) or "none yet"
    yield (
        f"{count(report.decisions, 'command')} decided again by the rulebooks that the journal stores "
        f"({books}), and what is written is what they say: who may act, the order of play, limits, purses, "
        "every cent"
    )
    yield (
        f"{count(report.settlements, 'settlement')} recomputed, {count(report.bets, 'bet')}, "
        f"{count(report.voids, 'void round')}"
    )
    if report.draws:
        yield (
            f"{count(report.draws, 'draw')} of the demonstration shaker made again: each follows from a seed "
            "that was committed before bets opened and from the entry that closed them"
        )
    transit = count(report.in_transit, "transfer")
    yield (
        f"the books of {count(report.tables, 'table')} balance after every round and at the end; "
        + (f"{transit} between table and House on the way" if report.in_transit else "no transfer on the way")
    )
    if report.snapshots:
        yield f"{count(report.snapshots, 'snapshot')}: each is what the entries before it come to"


def _sealed(report: Report, key: PublicKey | None) -> Iterator[str]:
    """How far someone stands by it, and how far nobody does."""
    if report.sealed_at is not None and report.sealed_by is not None:
        by = PublicKey.parse(report.sealed_by)
        if key is None:
            whose = "a key that the journal itself names; give --key to check that it is the operator's"
        else:
            whose = "the key that you gave" if key == by else "which the key that you gave vouched for"
        yield (
            f"Sealed up to entry {report.sealed:,} by a checkpoint of {moment(report.sealed_at)}, signed by "
            f"{_named(by)}, {whose}."
        )
    else:
        yield "Not sealed: no checkpoint that you trust covers any of it."
    if report.tail:
        entries, them = count(report.tail, "entry is", "entries are"), "it" if report.tail == 1 else "them"
        yield (
            f"{entries} an unsealed tail: the chain holds {them}, but whoever holds the file could write "
            f"{them} anew."
        )
    if report.demonstration:
        yield "A journal of demonstration: it was kept for show, and is none of play for money."


def _books(report: Report) -> Iterator[tuple[str, str]]:
    return zip(report.rulebooks, report.digests, strict=True)


def _noticed(report: Report) -> Iterator[str]:
    """What is no flaw, and should be asked about."""
    for name, digest in _books(report):
        if name in rulebook_ids() and rulebook(name).digest != digest:
            yield f"{name} is another text than this Taisai has by that id: compare them before you agree"
    if report.clock_went_back:
        entries = count(report.clock_went_back, "entry says", "entries say")
        yield f"{entries} to be earlier than one before: someone set a clock back, or it was wrong"
    yield from (f"on the way: {told}" for told in report.in_transit_told)


def _named(key: PublicKey) -> str:
    return f"{key.name} {key.id}"
