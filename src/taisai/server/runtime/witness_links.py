"""What each witness of a house has seen, and how a checkpoint reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from taisai.journal.seals.checkpoints import NoteSignature
from taisai.journal.seals.growth import Growth
from taisai.journal.seals.merkle import Frontier, consistency_spans
from taisai.witness.client import PATIENCE, Witness
from taisai.witness.errors import SecondHistoryError, SilentWitnessError, WitnessedSizeError, WitnessError

MOST_LEAVES: Final = 200_000
"""Leaves that are held for a silent witness, some ten megabytes; for more, entries are read again."""
AT_ONCE: Final = 2_000  # entries that are read in one turn of the journal's thread: ten milliseconds or so
MOST_TRIES: Final = 3  # of one submission: a witness says what it has seen at most once or twice
ANSWER_WITHIN: Final = 2 * PATIENCE  # seconds for a whole answer, however slowly its bytes come

ReadLeaves = Callable[[int, int], Awaitable[list[bytes]]]
"""Reads the leaves after a size, at most so many."""


class Sealed(NamedTuple):
    """A signed checkpoint, and the tree that it was signed over."""

    text: str
    tree: Frontier

    @property
    def size(self) -> int:
        return self.tree.size


class MissingEntriesError(SecondHistoryError):
    """A witness has seen more entries than the journal has: the journal was cut, or is an old copy."""


class WitnessLink:
    """One witness, what it has seen, and the leaves since, which prove what comes next."""

    def __init__(self, witness: Witness, growth: Growth | None = None, *, cosigned: int = 0) -> None:
        """`growth` begins at what it has seen, as far as is known; `cosigned`: the least that it has seen."""
        self.witness = witness
        self.growth = growth or Growth(Frontier())
        self.saw: int | None = None
        """What it had seen when it was first asked."""
        self.problem: str | None = None
        """Why it has not seen the latest checkpoint that it was sent."""
        self.contradiction: str | None = None
        """Why the journal is not what it has seen. Only people can find out what happened."""
        self._cosigned = cosigned

    def extend(self, leaves: list[bytes], *, after: int) -> None:
        """Takes the leaves of new entries."""
        self.growth.extend(leaves, after=after)
        if self.growth.leaves > MOST_LEAVES:
            self.growth.forget()

    async def submit(self, sealed: Sealed, read: ReadLeaves) -> NoteSignature | None:
        """Sends a checkpoint; returns the cosignature. `problem` and `contradiction` say how it went."""
        if self.contradiction is not None:  # nothing that it answers later undoes that
            return None
        try:
            note = await self._submitted(sealed, read)
        except SecondHistoryError as error:
            self.problem = self.contradiction = str(error)
            return None
        except WitnessError as error:
            self.problem = str(error)
            return None
        self.problem = None
        self._cosigned = sealed.size
        self.growth.rebase(sealed.tree)
        return note

    async def _submitted(self, sealed: Sealed, read: ReadLeaves) -> NoteSignature | None:
        for _ in range(MOST_TRIES):
            old, proof = self.growth.base.size, await self._proof(sealed.size, read)
            try:
                note = await self._answer(sealed.text, old, proof)
            except WitnessedSizeError as error:
                await self._begin_at(error.size, sealed.size, read)
                continue
            self._first_saw(old)
            return note
        raise SilentWitnessError(f"the witness {self.witness.name} says another size each time it is asked")

    async def _answer(self, text: str, old: int, proof: list[bytes]) -> NoteSignature | None:
        asked = asyncio.to_thread(self.witness.add, text, old, proof)
        try:
            return await asyncio.wait_for(asked, ANSWER_WITHIN)
        except TimeoutError:
            self.witness.abort()
            problem = f"no whole answer within {ANSWER_WITHIN:g} seconds"
            raise SilentWitnessError(f"the witness {self.witness.name}: {problem}") from None

    async def _begin_at(self, seen: int, size: int, read: ReadLeaves) -> None:
        """Begins the proof at what the witness says that it has seen."""
        self._first_saw(seen)
        name = self.witness.name
        if seen > size:
            missing = "1 entry is" if seen - size == 1 else f"{seen - size:,} entries are"
            problem = f"{missing} missing: the witness {name} has seen {seen:,}"
            raise MissingEntriesError(f"{problem}, the journal has {size:,}")
        if seen < self._cosigned:
            problem = f"it says that it has seen {seen:,} entries, but it saw {self._cosigned:,} before"
            raise SilentWitnessError(f"the witness {name} has forgotten, or lies: {problem}")
        tree = self.growth.base if self.growth.base.size <= seen else Frontier()  # it may be a new witness
        while tree.size < seen:
            for leaf in await self._read(tree.size, seen, read):
                tree.append(leaf)
        self.growth.rebase(tree)

    async def _proof(self, size: int, read: ReadLeaves) -> list[bytes]:
        """The proof of growth; entries are read only for leaves that are not held."""
        growth = self.growth
        if not growth.base.size or growth.size >= size:
            return growth.proof(size)
        hashes = growth.peaks()
        spans = consistency_spans(growth.base.size, size)
        for span in spans:
            if (span.start, span.stop) not in hashes:
                tree = Frontier()
                while tree.size < len(span):
                    for leaf in await self._read(span.start + tree.size, span.stop, read):
                        tree.append(leaf)
                hashes[span.start, span.stop] = tree.root()
        return [hashes[span.start, span.stop] for span in spans]

    @staticmethod
    async def _read(after: int, until: int, read: ReadLeaves) -> list[bytes]:
        leaves = await read(after, min(AT_ONCE, until - after))
        if not leaves:
            raise SilentWitnessError(f"the journal has no entry after {after:,} to prove its growth with")
        return leaves

    def _first_saw(self, size: int) -> None:
        if self.saw is None:
            self.saw = size
