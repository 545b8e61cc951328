"""One witness as the server knows it: what is sent, what is read for it, and when it is given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from taisai.journal.seals.checkpoints import NoteSignature
from taisai.journal.seals.growth import Growth
from taisai.journal.seals.merkle import Frontier
from taisai.server.runtime import witness_links
from taisai.server.runtime.witness_links import MOST_TRIES, Sealed, WitnessLink
from taisai.witness.errors import WitnessedSizeError
from tests.server.witnesses import Watcher
from tests.witness.logs import LOG_KEY, ORIGIN, leaves, note

LEAVES = leaves(5_000)


def tree(size: int) -> Frontier:
    made = Frontier()
    for leaf in LEAVES[:size]:
        made.append(leaf)
    return made


def sealed(size: int) -> Sealed:
    return Sealed(note(LEAVES[:size]), tree(size))


class Reader:
    """Reads leaves, and remembers how many."""

    def __init__(self) -> None:
        self.read = 0

    async def __call__(self, after: int, most: int) -> list[bytes]:
        found = LEAVES[after : after + most]
        self.read += len(found)
        return found


def submitted(link: WitnessLink, size: int, reader: Reader | None = None) -> NoteSignature | None:
    return asyncio.run(link.submit(sealed(size), reader or Reader()))


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    return Watcher(tmp_path, ORIGIN, LOG_KEY)


def test_a_new_witness_needs_no_entry(watcher: Watcher) -> None:
    reader, link = Reader(), WitnessLink(watcher)
    assert submitted(link, 4_000, reader) is not None
    assert (reader.read, link.saw, watcher.size) == (0, 0, 4_000)


def test_a_new_witness_of_an_old_journal_needs_only_what_came_after_the_stored_tree(watcher: Watcher) -> None:
    """The stored tree is that of other witnesses; this one has seen nothing."""
    reader, link = Reader(), WitnessLink(watcher, Growth(tree(3_000)))
    assert submitted(link, 4_000, reader) is not None
    assert (reader.read, link.saw, watcher.asked) == (1_000, 0, [3_000, 0])


def test_only_the_entries_after_the_stored_tree_are_read(watcher: Watcher) -> None:
    assert submitted(WitnessLink(watcher), 3_500) is not None
    reader, link = Reader(), WitnessLink(watcher, Growth(tree(3_000)))
    assert submitted(link, 5_000, reader) is not None
    assert watcher.size == 5_000
    assert reader.read <= 2_000 + 500 + 1_500, "twice the gap at most, and nothing before it"


def test_a_tree_beyond_what_the_witness_has_seen_is_made_again(watcher: Watcher) -> None:
    """As after a silence: the house did not know how far it was."""
    assert submitted(WitnessLink(watcher), 1_000) is not None
    link = WitnessLink(watcher, Growth(tree(3_000)))
    assert submitted(link, 5_000) is not None
    assert (link.saw, watcher.size) == (1_000, 5_000)


class Undecided:
    """A witness that says another size whenever it is asked."""

    name = "undecided"

    def __init__(self) -> None:
        self.asked = 0

    def add(self, _text: str, _old: int, _proof: Sequence[bytes]) -> NoteSignature:
        self.asked += 1
        raise WitnessedSizeError(self.asked, "another size")

    def abort(self) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to close."""


def test_a_witness_that_changes_its_mind_is_not_asked_for_ever() -> None:
    witness = Undecided()
    link = WitnessLink(witness)
    assert submitted(link, 100) is None
    assert witness.asked == MOST_TRIES
    assert link.problem is not None
    assert "another size each time" in link.problem
    assert link.contradiction is None


class Stuck(Undecided):
    """A witness whose answer never ends, until it is given up."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = threading.Event()

    def add(self, _text: str, _old: int, _proof: Sequence[bytes]) -> NoteSignature:
        self.aborted.wait(10)
        raise WitnessedSizeError(0, "too late")

    def abort(self) -> None:
        self.aborted.set()


def test_an_answer_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness_links, "ANSWER_WITHIN", 0.1)
    witness = Stuck()
    link = WitnessLink(witness)
    assert submitted(link, 100) is None
    assert witness.aborted.is_set()
    assert link.problem == "the witness undecided: no whole answer within 0.1 seconds"


def test_a_contradiction_stays_whatever_the_witness_says_later(watcher: Watcher) -> None:
    link = WitnessLink(watcher)
    watcher.says = 1_000
    assert submitted(link, 100) is None
    assert link.contradiction is not None
    assert link.contradiction.startswith("900 entries are missing")
    watcher.says = None
    assert submitted(link, 200) is None
    assert link.problem == link.contradiction
    assert watcher.size == 0
