"""The audit: what a journal or an export proves, or the one position where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taisai.audit.chain import Chain, Seal
from taisai.audit.referee import RulesCheck, check_books
from taisai.audit.sources import TOLD_EVERY, Body, JournalFile, Progress, Source, source_of
from taisai.cage import MissingSide, how_to_finish, unfinished
from taisai.game.events import BetRegistered, RoundResettled, RoundSettled, RoundVoided
from taisai.game.snapshot import write_round
from taisai.journal.codec import HOUSE_STREAM, Entry, table_of
from taisai.journal.errors import DamagedError
from taisai.journal.journal import TREE, written_tree
from taisai.journal.seals.checkpoints import SignedCheckpoint
from taisai.journal.seals.keys import PublicKey
from taisai.journal.seals.merkle import Frontier
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.journal.streams import HouseStream, TableStream, is_round, is_usable

MOST_TOLD: Final = 5  # transfers that a report tells of


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What was proved."""

    journal: str
    program: str
    demonstration: bool
    entries: int
    root: str
    tables: int
    rulebooks: tuple[str, ...]
    digests: tuple[str, ...]
    """Of the rulebooks, in their order."""
    decisions: int
    """Commands that were decided again."""
    bets: int
    settlements: int
    voids: int
    draws: int
    """Draws of demonstration tables that follow from their seeds."""
    checkpoints: int
    sealed: int
    """How many entries a trusted checkpoint covers."""
    sealed_at: int | None
    sealed_by: str | None
    """The verifier key that signed it."""
    keys: tuple[str, ...]
    """The verifier keys that the journal names, in their order."""
    signed_by: tuple[str, ...]
    """Those of them that signed a checkpoint."""
    is_key_given: bool
    """Whether the checker brought the key, or had to take the journal's word for it."""
    held: int
    """Checkpoints kept elsewhere that the journal agrees with."""
    snapshots: int
    in_transit: int
    """Transfers between a table and the House that only one of them has booked so far."""
    in_transit_told: tuple[str, ...]
    """What is left to do about the first of them."""
    clock_went_back: int
    """Entries that say to be earlier than one before them in their stream."""

    @property
    def tail(self) -> int:
        """How many entries came after the last checkpoint."""
        return self.entries - self.sealed


def verified(
    path: str | Path,
    *,
    key: PublicKey | None = None,
    held: Sequence[SignedCheckpoint] = (),
    progress: Progress | None = None,
) -> Report:
    """What the file proves; DamagedError with the position of the first flaw where it does not."""
    source = source_of(path)
    try:
        return _Audit(source, key, held).run(progress)
    finally:
        source.close()


class _Audit:
    def __init__(self, source: Source, key: PublicKey | None, held: Sequence[SignedCheckpoint]) -> None:
        self.source, self.key = source, key
        self.chain, self.referee = Chain(), RulesCheck()
        self.held = sorted(held, key=lambda one: one.checkpoint.size)
        self.agreed = 0
        self.snapshots = _Snapshots(source.reader if isinstance(source, JournalFile) else None)

    def run(self, progress: Progress | None) -> Report:
        """Everything, in one reading."""
        try:
            for entry in self._chained():
                self.referee.take(entry)
                if self.snapshots.due:
                    self.snapshots.compare(entry, self.referee)
                if progress and not entry.position % TOLD_EVERY:
                    progress(self.source.done, self.source.total)
            self._end()
            if progress:
                progress(self.source.total, self.source.total)
            return self._report()
        finally:
            self.referee.close()

    def _chained(self) -> Iterator[Entry]:
        """Each entry once the chain holds it from both sides: by what came before it, and by the next one."""
        waiting: Entry | None = None
        for piece in self.source.pieces():
            if isinstance(piece, Body):
                entry = self.chain.take(piece)
                if waiting is not None:
                    yield waiting
                waiting = entry
                if self.snapshots.due:
                    self.snapshots.compare_tree(self.chain.tree)
                while self.held and self.held[0].checkpoint.size <= entry.position:
                    self.chain.hold(self.held.pop(0))
                    self.agreed += 1
            elif isinstance(piece, StoredCheckpoint):
                self.chain.check(piece)
            else:
                self.chain.end(piece)
        if waiting is not None:
            yield waiting

    def _end(self) -> None:
        size = self.chain.size
        if not size:
            raise DamagedError(0, "expected a journal with at least its opening, got none")
        if not self.chain.is_whole:
            raise DamagedError(size, "expected the rest of a decision, got the end: the journal was cut")
        if self.held:
            over = self.held[0].checkpoint.size
            says = f"expected the {over} entries of a checkpoint kept elsewhere, got {size}"
            is_known = any(self.held[0].is_signed_by(one.key) for one in self.chain.signers)
            why = "the journal was cut" if is_known else "it was cut, or no key of it signed that checkpoint"
            raise DamagedError(size + 1, f"{says}: {why}")
        if self.key and self.key not in [one.key for one in self.chain.signers]:
            names = ", ".join(f"{one.key.name} {one.key.id}" for one in self.chain.signers)
            says = f"expected a journal signed by {self.key.name} {self.key.id}, got one signed by {names}"
            raise DamagedError(1, says)
        if self.key and self._trusted() is None:
            says = f"expected a checkpoint by {self.key.name} {self.key.id} or its successors, got none"
            raise DamagedError(size, f"{says}: nobody whom you trust stands by this journal")
        self.snapshots.end()
        if isinstance(self.source, JournalFile):
            faults = self.source.reader.faults()
            if faults:
                raise DamagedError(0, f"expected a whole SQLite file, got one with faults: {faults[0]}")

    def _report(self) -> Report:
        chain, events = self.chain, self.referee.events
        assert chain.opened is not None
        signers, seal = [one.key for one in chain.signers], self._trusted()
        in_transit, told = self._in_transit()
        return Report(
            journal=chain.opened.journal,
            program=chain.opened.program,
            demonstration=chain.opened.demonstration,
            entries=chain.size,
            root=chain.tree.root().hex(),
            tables=sum(table_of(stream) is not None for stream in chain.versions),
            rulebooks=tuple(book.id for book in self.referee.books.values()),
            digests=tuple(self.referee.books),
            decisions=self.referee.decisions,
            bets=events.get(BetRegistered, 0),
            settlements=events.get(RoundSettled, 0) + events.get(RoundResettled, 0),
            voids=events.get(RoundVoided, 0),
            draws=self.referee.draws.proven,
            checkpoints=chain.checkpoints,
            sealed=seal.size if seal else 0,
            sealed_at=seal and seal.at,
            sealed_by=seal and seal.key.text,
            keys=tuple(one.text for one in signers),
            signed_by=tuple(dict.fromkeys(one.key.text for one in chain.seals)),
            is_key_given=self.key is not None,
            held=self.agreed,
            snapshots=self.snapshots.checked,
            in_transit=in_transit,
            in_transit_told=told,
            clock_went_back=self.referee.clock_went_back,
        )

    def _trusted(self) -> Seal | None:
        """The latest checkpoint by the key that was given, or by one that it vouched for."""
        signers = [one.key for one in self.chain.signers]
        trusted = signers[signers.index(self.key) if self.key else 0 :]
        return next((one for one in reversed(self.chain.seals) if one.key in trusted), None)

    def _in_transit(self) -> tuple[int, tuple[str, ...]]:
        """Balances every stream's books once more, and House against tables."""
        position, transfers = self.chain.size, {}
        house = self.referee.aggregate(HOUSE_STREAM)
        for stream in self.referee.streams():
            aggregate = self.referee.aggregate(stream)
            if isinstance(aggregate, TableStream):
                check_books(aggregate.table, position)
                if aggregate.table.transfers:
                    transfers[aggregate.table.name] = aggregate.table.in_transit()
        if not isinstance(house, HouseStream):
            return sum(map(len, transfers.values())), ()
        if house.house.ledger.difference:
            raise DamagedError(position, "expected the House's books to balance, got a difference")
        open_ones = unfinished(house.house, transfers)
        for one in open_ones:
            if one.missing is MissingSide.AGREEMENT:
                raise DamagedError(
                    position, f"expected House and table to book {one.id} alike, got a difference"
                )
        return len(open_ones), tuple(map(how_to_finish, open_ones[:MOST_TOLD]))


class _Snapshots:
    """The snapshots of a journal's file: each is what its entries come to, or a table would start wrong."""

    def __init__(self, reader: SqliteReader | None) -> None:
        self._reader = reader
        self.due: set[tuple[str, int]] = set(reader.snapshots()) if reader else set()
        self.checked = 0

    def compare_tree(self, tree: Frontier) -> None:
        """The tree's own, where one was kept after so many entries."""
        if (TREE, tree.size) in self.due:
            self._same(TREE, tree.size, written_tree(tree), tree.size)

    def compare(self, entry: Entry, referee: RulesCheck) -> None:
        """The one of a stream that was kept after this entry."""
        here = (entry.stream, entry.version)
        if here not in self.due or entry.more:
            return
        aggregate = referee.aggregate(entry.stream)
        assert aggregate is not None
        assert self._reader is not None
        self._same(*here, aggregate.written()[0], entry.position)
        if isinstance(aggregate, TableStream):
            for number in self._reader.parts(*here):
                expected = write_round(aggregate.table.rounds.glance(number))
                part = self._reader.part(entry.stream, number, entry.version)
                if part is None or (part != expected and is_round(part)):
                    raise _thrown_away(*here, entry.position)

    def _same(self, stream: str, version: int, body: bytes, position: int) -> None:
        assert self._reader is not None
        kept = self._reader.snapshot(stream, version)
        self.due.discard((stream, version))
        if kept is None or (kept.body != body and is_usable(stream, kept.body)):
            raise _thrown_away(stream, version, position)
        self.checked += 1

    def end(self) -> None:
        """None may be left over."""
        if self.due:
            raise _thrown_away(*min(self.due), 0)


def _thrown_away(stream: str, version: int, position: int) -> DamagedError:
    says = f"expected the snapshot of {stream} after {version} entries to be what they come to, got another"
    return DamagedError(position, f"{says}; `taisai journal forget` throws snapshots away")
