"""Verifies a journal or an export: a report of what is proved, or the position of the first fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from taisai.audit.chain import Chain, Cosigned, Seal
from taisai.audit.rules_check import RulesCheck, check_books
from taisai.audit.sources import PROGRESS_EVERY, Body, JournalFile, Progress, Source, source_of
from taisai.cage import MissingSide, how_to_finish, unfinished
from taisai.game.events import BetRegistered, RecordCorrected, RoundResettled, RoundSettled, RoundVoided
from taisai.game.snapshot import write_round
from taisai.journal.beside import TREE, body_of, part_of, tree_of
from taisai.journal.codec import HOUSE_STREAM, Entry, table_of
from taisai.journal.errors import DamagedError
from taisai.journal.seals.checkpoints import SignedCheckpoint
from taisai.journal.seals.keys import PublicKey, WitnessKey
from taisai.journal.stores.contract import Reader, StoredCheckpoint
from taisai.journal.streams import HouseStream, TableStream, is_round, is_usable

MOST_TRANSFERS: Final = 5  # that a report names
MOST_LATE: Final = 5  # checkpoints stored late that a report names
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the audit proved."""

    journal: str
    program: str
    demonstration: bool
    entries: int
    root: str
    tables: int
    rulebooks: tuple[str, ...]
    digests: tuple[str, ...]
    decisions: int
    """Commands that were decided again."""
    bets: int
    settlements: int
    voids: int
    draws: int
    """Draws of the demonstration shaker that were made again from their seeds."""
    checkpoints: int
    sealed: int
    """Entries under the latest trusted checkpoint."""
    sealed_at: int | None
    sealed_by: str | None
    """The verifier key of that checkpoint."""
    keys: tuple[str, ...]
    """The verifier keys that the journal names, in their order."""
    signed_by: tuple[str, ...]
    """The keys that signed a checkpoint."""
    witnessed: tuple[Cosigned, ...]
    """The latest checkpoint of each witness whose key was given."""
    is_key_given: bool
    """Whether the key was given; otherwise it is the key that the journal names."""
    held: int
    """Checkpoints kept elsewhere that the journal continues."""
    snapshots: int
    """Snapshots that were compared with the state that the entries give."""
    unused_snapshots: int
    """Snapshots of another version, which no start uses and which cannot be compared."""
    in_transit: int
    """Transfers between a table and the House that only one side has booked."""
    in_transit_told: tuple[str, ...]
    """How to finish the first of them."""
    record_corrections: int
    """Corrections of the record of the chips."""
    record_corrections_told: tuple[str, ...]
    """The first of them, with who, what, why and what shows it: someone should ask about each."""
    adoptions: tuple[str, ...]
    """Who adopted the interpretations of which edition of a rulebook, and when."""
    not_adopted: tuple[str, ...]
    """Tables that opened for money before anyone adopted the interpretations of their rulebook."""
    clock_went_back: int
    """Entries with an earlier time than an entry before them in their stream."""
    late_checkpoints: tuple[str, ...]
    """Valid checkpoints over fewer entries than the one stored before them: two servers wrote at a time."""

    @property
    def tail(self) -> int:
        """Entries after the last trusted checkpoint."""
        return self.entries - self.sealed


def verified(
    path: str | Path,
    *,
    key: PublicKey | None = None,
    held: Sequence[SignedCheckpoint] = (),
    witnesses: Sequence[WitnessKey] = (),
    progress: Progress | None = None,
) -> Report:
    """What the file proves; a DamagedError with the position of the first fault if it is damaged."""
    source = source_of(path)
    try:
        return _Audit(source, key, held, witnesses).run(progress)
    finally:
        source.close()


class _Audit:
    def __init__(
        self,
        source: Source,
        key: PublicKey | None,
        held: Sequence[SignedCheckpoint],
        witnesses: Sequence[WitnessKey] = (),
    ) -> None:
        self.source, self.key, self.witnesses = source, key, witnesses
        self.chain, self.rules = Chain(witnesses=witnesses), RulesCheck()
        self.held = sorted(held, key=lambda signed: signed.checkpoint.size)
        self.agreed = 0
        self.snapshots = _Snapshots(source.reader if isinstance(source, JournalFile) else None)

    def run(self, progress: Progress | None) -> Report:
        try:
            for entry in self._chained():
                self.rules.take(entry)
                if self.snapshots.due:
                    self.snapshots.compare(entry, self.rules)
                if progress and not entry.position % PROGRESS_EVERY:
                    progress(self.source.done, self.source.total)
            self._end()
            if progress:
                progress(self.source.total, self.source.total)
            return self._report()
        finally:
            self.rules.close()

    def _chained(self) -> Iterator[Entry]:
        """Each entry, once the chain has confirmed it by the entries before and after it."""
        waiting: Entry | None = None
        for piece in self.source.pieces():
            if isinstance(piece, Body):
                entry = self.chain.take(piece)
                if waiting is not None:
                    yield waiting
                waiting = entry
                if self.snapshots.due:
                    self.snapshots.compare_tree(self.chain)
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
            raise DamagedError(0, "the journal is empty: it has no opening entry")
        if not self.chain.is_whole:
            problem = "expected the rest of a decision, got the end of the journal: it was cut"
            raise DamagedError(size, problem)
        keys = [signer.key for signer in self.chain.signers]
        if self.held:
            over = self.held[0].checkpoint.size
            problem = f"expected the {over} entries of a checkpoint kept elsewhere, got {size}"
            is_known = any(map(self.held[0].is_signed_by, keys))
            why = (
                "the journal was cut" if is_known else "it was cut, or none of its keys signed the checkpoint"
            )
            raise DamagedError(size + 1, f"{problem}: {why}")
        if self.key and self.key not in keys:
            names = ", ".join(f"{key.name} {key.id}" for key in keys)
            problem = f"expected a journal signed by {self.key.name} {self.key.id}, got one signed by {names}"
            raise DamagedError(1, problem)
        if self.key and self._trusted() is None:
            problem = f"no checkpoint is signed by {self.key.name} {self.key.id} or a later key"
            raise DamagedError(size, problem)
        for witness in self.witnesses:
            if witness.text not in self.chain.cosigned:
                raise DamagedError(size, f"no checkpoint is cosigned by {witness.name} {witness.id}")
        self.snapshots.end()
        if isinstance(self.source, JournalFile) and (faults := self.source.reader.faults()):
            raise DamagedError(0, f"damaged SQLite file: {faults[0]}")

    def _report(self) -> Report:
        chain, rules = self.chain, self.rules
        assert chain.opened is not None
        seal = self._trusted()
        in_transit, how = self._in_transit()
        return Report(
            journal=chain.opened.journal, program=chain.opened.program,
            demonstration=chain.opened.demonstration, entries=chain.size, root=chain.tree.root().hex(),
            tables=sum(table_of(stream) is not None for stream in chain.versions),
            rulebooks=tuple(book.id for book in rules.books.values()), digests=tuple(rules.books),
            decisions=rules.decisions, bets=rules.events.get(BetRegistered, 0),
            settlements=rules.events.get(RoundSettled, 0) + rules.events.get(RoundResettled, 0),
            voids=rules.events.get(RoundVoided, 0), draws=rules.draws.proven, checkpoints=chain.checkpoints,
            sealed=seal.size if seal else 0, sealed_at=seal and seal.at, sealed_by=seal and seal.key.text,
            keys=tuple(signer.key.text for signer in chain.signers),
            signed_by=tuple(dict.fromkeys(seal.key.text for seal in chain.seals)),
            witnessed=tuple(chain.cosigned.values()),
            is_key_given=self.key is not None, held=self.agreed, snapshots=self.snapshots.compared,
            unused_snapshots=self.snapshots.unused, in_transit=in_transit, in_transit_told=how,
            record_corrections=rules.events.get(RecordCorrected, 0),
            record_corrections_told=tuple(rules.record_corrections), clock_went_back=rules.clock_went_back,
            adoptions=rules.adoptions(),
            not_adopted=() if chain.opened.demonstration else tuple(rules.not_adopted),
            late_checkpoints=self._late_checkpoints(),
        )  # fmt: skip

    def _late_checkpoints(self) -> tuple[str, ...]:
        """The checkpoints of a file that were stored late; each was checked over its own entries."""
        late = self.source.reader.backwards() if isinstance(self.source, JournalFile) else []
        return tuple(
            f"a checkpoint over {size:,} entries was stored after one over {before:,}"
            for before, size in late[:MOST_LATE]
        )

    def _trusted(self) -> Seal | None:
        """The latest checkpoint by the given key or by a later key of the journal."""
        keys = [signer.key for signer in self.chain.signers]
        trusted = keys[keys.index(self.key) if self.key else 0 :]
        return next((seal for seal in reversed(self.chain.seals) if seal.key in trusted), None)

    def _in_transit(self) -> tuple[int, tuple[str, ...]]:
        """Checks the books of every stream, and compares the transfers of the House and the tables."""
        position, transfers = self.chain.size, {}
        house = self.rules.aggregate(HOUSE_STREAM)
        for stream in self.rules.streams():
            aggregate = self.rules.aggregate(stream)
            if isinstance(aggregate, TableStream):
                check_books(aggregate.table, position)
                if aggregate.table.transfers:
                    transfers[aggregate.table.name] = aggregate.table.in_transit()
        if not isinstance(house, HouseStream):
            return sum(map(len, transfers.values())), ()
        if house.house.ledger.difference:
            raise DamagedError(
                position, f"the House's books do not balance: difference {house.house.ledger.difference}"
            )
        open_transfers = unfinished(house.house, transfers)
        for transfer in open_transfers:
            if transfer.missing is MissingSide.AGREEMENT:
                problem = f"House and table booked different amounts for the transfer {transfer.id}"
                raise DamagedError(position, problem)
        return len(open_transfers), tuple(map(how_to_finish, open_transfers[:MOST_TRANSFERS]))


class _Snapshots:
    """Compares the snapshots in a journal's file with the state that the entries give."""

    def __init__(self, reader: Reader | None) -> None:
        self._reader = reader
        self.due: set[tuple[str, int]] = set(reader.snapshots()) if reader else set()
        self.compared = self.unused = 0

    def compare_tree(self, chain: Chain) -> None:
        """Compares the snapshot of the tree, if there is one after so many entries."""
        here = (TREE, chain.size)
        if here in self.due:
            kept = self._content(*here, tree_of)
            if kept is not None:
                expected = (chain.size, chain.tree.peaks, chain.versions)
                self._agree((kept.tree.size, kept.tree.peaks, kept.versions) == expected, *here, chain.size)

    def compare(self, entry: Entry, rules: RulesCheck) -> None:
        """Compares the snapshot of a stream, if there is one after this entry."""
        here = (entry.stream, entry.version)
        if here not in self.due or entry.more:
            return
        aggregate = rules.aggregate(entry.stream)
        assert aggregate is not None
        assert self._reader is not None
        body = self._content(*here, body_of)
        if body is None:
            return
        if body != aggregate.written()[0] and not is_usable(entry.stream, body):
            self.unused += 1
        else:
            self._agree(body == aggregate.written()[0], *here, entry.position)
        if isinstance(aggregate, TableStream):
            for number in self._reader.parts(*here):
                expected = write_round(aggregate.table.rounds.glance(number))
                stored = self._reader.part(entry.stream, number, entry.version)
                part = None if stored is None else part_of(stored)
                if part is None and self._reader.is_replaced(*here):
                    return
                if part is None or (part != expected and is_round(part)):
                    raise _wrong_snapshot(*here, entry.position)

    def _content(self, stream: str, version: int, read: Callable[[bytes], T]) -> T | None:
        """What a snapshot holds; None if it has another form, in which no start uses it, or was replaced."""
        assert self._reader is not None
        kept = self._reader.snapshot(stream, version)
        self.due.discard((stream, version))
        if kept is None:
            if self._reader.is_replaced(stream, version):
                return None
            raise _wrong_snapshot(stream, version, 0)
        try:
            return read(kept.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.unused += 1
            return None

    def _agree(self, is_equal: bool, stream: str, version: int, position: int) -> None:  # noqa: FBT001
        if not is_equal:
            raise _wrong_snapshot(stream, version, position)
        self.compared += 1

    def end(self) -> None:
        """Raises an error if a snapshot is left over, which is of no entry."""
        if self.due:
            raise _wrong_snapshot(*min(self.due), 0)


def _wrong_snapshot(stream: str, version: int, position: int) -> DamagedError:
    problem = f"the snapshot of {stream} after {version} entries differs from the state that they give"
    return DamagedError(position, f"{problem}; `taisai journal forget` deletes the snapshots")
