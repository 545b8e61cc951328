"""Power cuts: an evening on a recording disk, then any image that a cut may have left of it, read back."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Final, NamedTuple

from taisai.game import Refusal
from taisai.game.commands import PlaceBets
from taisai.game.play import recover
from taisai.journal.engine import Answer, Engine
from taisai.journal.errors import JournalError
from taisai.journal.stores.contract import Row
from taisai.journal.stores.sqlite import SqliteStore
from tests.game.snapshots import snapshot
from tests.journal.disk import Disk, Operation, Platter, Read
from tests.journal.evening import NAME, START, TABLE_STREAM, Batch
from tests.journal.evening_journal import (
    FILE,
    Expected,
    asks,
    book,
    differences,
    expected,
    flaws,
    keeping,
    on_disk,
    play,
)

MOST_TOLD: Final = 20  # failures after which a campaign has said enough
REDRAWS: Final = 20  # attempts at an image that was not seen before
MOST_PASSES: Final = 20  # through the evening, each for the images that the one before found no more of
GARBAGE_EVERY: Final = 3
"""Of so many images one has rubbish where connections share memory."""
_GARBAGE: Final = Random(0).randbytes(32_768)
FAR_EVERY: Final = 10
"""Of so many recovered journals one is played to the evening's end, the others a few batches far."""


class Known(NamedTuple):
    """What was promised when so many operations were done."""

    operations: int
    entries: int
    checkpoints: int


@dataclass(slots=True)
class Recorded:
    """An evening, everything that SQLite did for it, and when what was acknowledged."""

    right: Expected
    operations: list[Operation] = field(default_factory=list)
    known: list[Known] = field(default_factory=lambda: [Known(0, 0, 0)])

    def promised(self, place: int) -> Known:
        """What had been acknowledged before the operation at a place."""
        return self.known[bisect_right(self.known, place, key=lambda one: one.operations) - 1]


def recorded(directory: Path, seed: int, *, synchronous: str = "full", too_early: bool = False) -> Recorded:
    """Plays an evening on a recording disk; `too_early` acknowledges before anything is written."""
    right = expected(seed)
    record = Recorded(right)

    def watch(operation: Operation) -> None:
        if not isinstance(operation, Read):
            record.operations.append(operation)

    with Disk("recording", watch):
        engine = keeping(on_disk(directory, vfs="recording", synchronous=synchronous))
        before = [len(record.operations)]

        def answered(_number: int, _answers: list[Answer]) -> None:
            done = before[0] if too_early else len(record.operations)
            checkpoints = len(engine.journal.store.checkpoints())
            record.known.append(Known(done, engine.journal.size, checkpoints))
            before[0] = len(record.operations)

        play(engine, right.evening.batches, answered)
        assert differences(engine, right, len(right.rows)) == []
        engine.journal.close()
    return record


@dataclass(slots=True)
class Campaign:
    """Cuts the power again and again, and looks at what is left."""

    record: Recorded
    directory: Path
    """Where images are written: the faster, the better."""
    seed: int
    clean: int = 0
    """Images that hold all that was written, synced or not."""
    failures: list[str] = field(default_factory=list)
    sizes: Counter[int] = field(default_factory=Counter)
    """Recovered entries → images."""
    _drawn: Counter[int] = field(default_factory=Counter)
    """Place → images drawn there, seen before or not."""
    _seen: set[int] = field(default_factory=set)
    _judged: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def images(self) -> int:
        """How many there were, no two alike."""
        return len(self._seen)

    def run(self, count: int) -> list[str]:
        """So many images, no two alike, until enough have failed; every failure in words."""
        for _ in range(MOST_PASSES):
            if self.images < count and len(self.failures) < MOST_TOLD:
                self._pass(self._places(count - self.images))
        return self.failures

    def _places(self, count: int) -> Counter[int]:
        """Where to cut: the more can differ at a place, the more often there."""
        platter, weights = Platter(), [1.0]
        for operation in self.record.operations:
            platter.do(operation)
            weights.append(0.05 + platter.unsure**0.75)
        return Counter(Random(f"{self.seed} {count}").choices(range(len(weights)), weights, k=count))

    def _pass(self, places: Counter[int]) -> None:
        """Once through the evening; where nothing new is left, fewer images than were wanted."""
        platter = Platter()
        for place in range(len(self.record.operations) + 1):
            whole = hash(_plain(platter.seen())) if places[place] else 0
            for _ in range(places[place]):
                if not self._cut(platter, place, whole):
                    break
                if len(self.failures) >= MOST_TOLD:
                    return
            if place < len(self.record.operations):
                platter.do(self.record.operations[place])

    def _cut(self, platter: Platter, place: int, whole: int) -> bool:
        """Looks at an image that was not seen before; whether there was one."""
        for _ in range(REDRAWS):
            number = self._drawn[place]
            self._drawn[place] += 1
            left = self._image(platter, place, number)
            digest = hash(_plain(left))
            if digest not in self._seen:
                break
        else:
            return False
        self._seen.add(digest)
        self.clean += digest == whole
        where = f"seed={self.seed} op={place} image={number}"
        try:
            wrong = self.look(left, self.record.promised(place))
            self.failures += (f"{where}: {says}" for says in wrong)
        except JournalError as error:
            self.failures.append(f"{where}: {error}")
        return True

    def replay(self, place: int, image: int) -> list[str]:
        """Looks once more at one image that a failure names."""
        platter = Platter()
        for operation in self.record.operations[:place]:
            platter.do(operation)
        left = self._image(platter, place, image)
        return self.look(left, self.record.promised(place))

    def _image(self, platter: Platter, place: int, image: int) -> dict[str, bytes]:
        left = platter.image(Random(f"{self.seed} {place} {image}"))
        if (
            image % GARBAGE_EVERY == 0
        ):  # nobody syncs the memory that connections share, so it may be anything
            left[f"{FILE}-shm"] = _GARBAGE
        return left

    def look(self, left: dict[str, bytes], promised: Known) -> list[str]:
        """Opens what is left of the files, and says what is wrong with it."""
        written(self.directory, left)
        with closing(on_disk(self.directory)) as store:  # also where it is damaged: else the lock stays
            wrong, size, is_new = self._looked(store, promised)
        return wrong + (self._judge(left, size) if is_new else [])

    def _looked(self, store: SqliteStore, promised: Known) -> tuple[list[str], int, bool]:
        """What is wrong with a store, its entries, and whether nobody has judged the like of it."""
        right = self.record.right
        rows, checkpoints = list(store.rows()), store.checkpoints()
        size = len(rows)
        self.sizes[size] += 1
        wrong: list[str] = []
        if rows != list(right.rows[:size]):
            wrong.append(f"expected a beginning of the evening's entries, got {size} others")
        if size < promised.entries:
            wrong.append(f"expected the {promised.entries} entries that were acknowledged, got {size}")
        if size and size not in right.sizes:
            wrong.append(f"expected whole batches, got {size} entries")
        if checkpoints != list(right.sealed[: len(checkpoints)]) or len(checkpoints) < promised.checkpoints:
            wrong.append(f"expected {promised.checkpoints} checkpoints or more, got {len(checkpoints)}")
        snapshots = store.snapshots()
        state = (size, len(checkpoints), *snapshots)
        if not right.kept.issuperset(store.snapshot(*one) for one in snapshots):
            wrong.append("expected snapshots as they were kept, got others")
        if wrong or state in self._judged:
            version = sum(row.stream == TABLE_STREAM for row in rows)
            store.append([Row(size + 1, TABLE_STREAM, version + 1, b"{}")])  # it can be written
            return wrong, size, False
        self._judged.add(state)
        return wrong, size, True

    def _judge(self, left: dict[str, bytes], size: int) -> list[str]:
        """What a recovered journal is worth: its audit, the table of it, and how play goes on."""
        right = self.record.right
        written(self.directory, left)
        engine = keeping(on_disk(self.directory))
        wrong = differences(engine, right, size or 1)
        wrong += going_on(engine, right, size or 1, far=len(self._judged) % FAR_EVERY == 0)
        engine.journal.close()
        written(self.directory, left)
        engine = keeping(on_disk(self.directory))
        wrong += recovering(engine, right, size or 1)
        engine.journal.close()
        return wrong + flaws(self.directory)

    def told(self) -> str:
        """The campaign in one line."""
        lengths = " ".join(f"{size}:{count}" for size, count in sorted(self.sizes.items()))
        return (
            f"seed={self.seed}: {self.images} different images, {self.clean} as if nothing were"
            f" lost, {len(self._judged)} states audited, {len(self.failures)} failures;"
            f" entries:images {lengths}"
        )


def going_on(engine: Engine, right: Expected, size: int, *, far: bool) -> list[str]:
    """What is wrong where play goes on as if nothing had happened, bets asked once more included."""
    batches = right.evening.batches
    done = bisect_right(right.sizes, size) - 1  # batches that are there, or changed nothing
    there = done and _are_bets(batches[done - 1]) and not isinstance(right.answers[done - 1][0], Refusal)
    if there and any(engine.answer_all(asks(batches[done - 1]))):
        return ["expected bets that are there already to change nothing, got something"]
    upto = len(batches) if far else min(done + 3, len(batches))
    play(engine, batches[:upto], first=done)
    return differences(engine, right, right.sizes[upto])


def _are_bets(batch: Batch) -> bool:
    return all(isinstance(asked.command, PlaceBets) for asked in batch)


def recovering(engine: Engine, right: Expected, size: int) -> list[str]:
    """What is wrong with what a stop comes to: it is what recovery makes of the same entries in memory."""
    at = START + 10_000_000
    if NAME not in engine.tables():
        return [] if engine.recover(at=at) == {} else ["expected no table to recover, got one"]
    prefix = [entry.event for entry in right.entries(size, TABLE_STREAM)]
    in_memory = recover(prefix, book(), at=at)  # type: ignore[arg-type]
    wrong: list[str] = []
    if engine.recover(at=at) != {NAME: in_memory.events}:
        wrong.append(f"expected recovery to {in_memory.action}, got something else")
    if snapshot(engine.table(NAME)) != snapshot(in_memory.table):
        wrong.append("expected the table that recovery makes in memory, got another")
    return wrong


def _plain(left: dict[str, bytes]) -> tuple[tuple[str, bytes], ...]:
    """What tells images apart; rubbish in shared memory does not."""
    return tuple((name, left[name]) for name in sorted(left) if not name.endswith("-shm"))


def written(directory: Path, left: dict[str, bytes]) -> None:
    """The files of an image, and none besides."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        name = FILE + suffix
        if name in left:
            (directory / name).write_bytes(left[name])
        else:
            (directory / name).unlink(missing_ok=True)


def fast_directory(near: Path) -> Path:
    """A directory in memory, where there is such a thing."""
    shared = Path("/dev/shm")
    if not shared.is_dir():
        return near
    return Path(mkdtemp(prefix="taisai-", dir=shared))
