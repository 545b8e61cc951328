"""The witnesses at a start: what each has seen of the journal, and what no checkpoint covers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from taisai.journal import Journal, JournalError, SigningKey
from taisai.journal.errors import DamagedError
from taisai.journal.seals.checkpoints import SignedCheckpoint, read_signed
from taisai.journal.seals.cosignatures import cosigned_at
from taisai.journal.seals.growth import Growth, tree_from
from taisai.journal.seals.keys import WitnessKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.protocol.views import Words
from taisai.rules.errors import RulesError
from taisai.server.config.settings import WitnessConfig
from taisai.server.runtime.sealing import NO_WITNESS, UNSEALED_TAIL
from taisai.server.runtime.startup_checks import StartupReport
from taisai.server.runtime.witness_links import MOST_LEAVES, Sealed, WitnessLink
from taisai.witness.client import FileWitness, HttpWitness, Witness

NONE: Final = Words(
    "No witness is configured: a person who can write the journal's file can cut its end unnoticed",
    "未配置见证方：能写入日志文件的人可以截去其末尾而无人察觉",
)


class UnsealedTail(NamedTuple):
    """The entries after the last checkpoint: an unclean stop left them unsealed."""

    entries: int
    seconds: float
    """From the checkpoint to the last entry."""

    def __str__(self) -> str:
        entries = "1 entry" if self.entries == 1 else f"{self.entries:,} entries"
        return (
            f"the last stop was not clean: {entries} of {self.seconds:.1f} seconds not sealed, so a "
            "person who can write the file could have changed or cut them"
        )

    @property
    def words(self) -> Words:
        zh = f"上次停机不完整：最后 {self.seconds:.1f} 秒的 {self.entries} 条记录未封存，可能被更改或截去"
        text = str(self)
        return Words(text[0].upper() + text[1:], zh)


@dataclass(frozen=True, slots=True)
class StartWitnesses:
    """The witnesses that were asked at a start, and what the pit should know of it."""

    links: tuple[WitnessLink, ...] = ()
    notes: Mapping[str, Words] = field(default_factory=dict[str, Words])
    """Name of an alarm → what it says."""

    def close(self) -> None:
        for link in self.links:
            link.witness.close()


def unsealed_tail(journal: Journal) -> UnsealedTail | None:
    """What no checkpoint covers; None if every entry is sealed. A DamagedError if entries are missing."""
    checkpoints = journal.store.checkpoints()
    newest = read_signed(checkpoints[-1].text).checkpoint if checkpoints else None
    sealed, last = 0 if newest is None else newest.size, journal.store.last()
    if sealed > journal.size:
        problem = f"expected the {sealed:,} of a checkpoint, got {journal.size:,}"
        raise DamagedError(journal.size, f"entries are missing: {problem}")
    if last is None or journal.size == sealed:
        return None
    ended = journal.codec.decode(last.body, last.position).event.at
    return UnsealedTail(journal.size - sealed, 0.0 if newest is None else max(0, ended - newest.at) / 1_000)


def ask_witnesses(
    configured: Sequence[WitnessConfig],
    journal: Journal,
    key: SigningKey,
    start: StartupReport,
    *,
    now: int,
) -> StartWitnesses | None:
    """Asks every witness whether the journal continues what it has seen; None if it does not.

    To be called before recovery, which writes.
    """
    try:
        tail = unsealed_tail(journal)
    except JournalError as error:
        start.fails("chain", error)
        return None
    notes = {} if tail is None else {UNSEALED_TAIL: tail.words}
    if tail is not None:
        start.warns("tail", str(tail))
    if not configured:
        start.warns("witness", f"{NONE.en[0].lower()}{NONE.en[1:]}; name one in [[witness]]")
        return StartWitnesses(notes=notes | {NO_WITNESS: NONE})
    try:
        sealed = Sealed(journal.signed(key, at=now), journal.tree())
    except JournalError as error:
        start.fails("chain", error)
        return None
    held = journal.store.checkpoints()
    known = [read_signed(checkpoint.text) for checkpoint in held[-2:]]
    links = tuple(_link(each, journal, known) for each in configured)
    asyncio.run(_asked(links, sealed, journal))
    for link in links:
        _report(link, sealed.size, start)
    witnesses = StartWitnesses(links, notes)
    if any(link.contradiction is not None for link in links):
        witnesses.close()
        return None
    return witnesses


async def _asked(links: Sequence[WitnessLink], sealed: Sealed, journal: Journal) -> None:
    async def read(after: int, most: int) -> list[bytes]:
        return [leaf_hash(row.body) for row in islice(journal.store.rows(after=after), most)]

    await asyncio.gather(*(link.submit(sealed, read) for link in links))


def _link(configured: WitnessConfig, journal: Journal, known: Sequence[SignedCheckpoint]) -> WitnessLink:
    if configured.url is not None and configured.key is not None:
        key = WitnessKey.parse(configured.key)
        sizes = [
            signed.checkpoint.size
            for signed in known
            if cosigned_at(signed.checkpoint.body, signed.signatures, key) is not None
        ]
        witness: Witness = HttpWitness(configured.url, key, trust=configured.certificate)
        return WitnessLink(witness, _growth(journal), cosigned=max(sizes, default=0))
    if configured.file is None:
        raise RulesError("expected a witness with url and key, or with file")
    return WitnessLink(FileWitness(configured.file), _growth(journal))


def _growth(journal: Journal) -> Growth:
    """The stored tree that the witnesses had seen, if the journal's entries lead from it to its root."""
    newest = journal.store.newest()
    tree = None if newest is None else tree_from(newest.tree)
    if tree is None or not 0 <= journal.size - tree.size <= MOST_LEAVES:
        return Growth(Frontier())
    growth = Growth(tree)
    growth.extend((leaf_hash(row.body) for row in journal.store.rows(after=tree.size)), after=tree.size)
    return growth if growth.root() == journal.root() else Growth(Frontier())


def _report(link: WitnessLink, size: int, start: StartupReport) -> None:
    if link.contradiction is not None:
        start.fails("witness", link.contradiction)
    elif link.problem is not None:
        start.warns("witness", f"{link.problem}; no money leaves the house until it answers")
    elif not link.saw:
        problem = "had seen nothing of this journal; if it is not new, find out what it has lost"
        start.warns("witness", f"{link.witness.name} {problem}")
    else:
        start.passes("witness", f"{link.witness.name} had seen {link.saw:,} of {size:,} entries")
