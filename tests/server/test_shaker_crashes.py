"""The demonstration shaker over crashes: at whatever write the power goes, no seed is lost or taken twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import verified
from taisai.game.events import ReadingTaken, RoundConcluded, RoundVoided, SeedCommitted, SeedRevealed
from taisai.journal import JournalError, UnwritableError
from tests.journal.small_journal import exported
from tests.server.virtual_house import BOOKS, RWS, TABLE, Attended, attended

VAULT = f"seed/{TABLE}"
ROUNDS = 2


class Power:
    """Goes when so many writes are done: entries, or something for the vault."""

    def __init__(self, house: Attended, writes: int) -> None:
        self.gone = asyncio.Event()
        self._left = writes
        self._house = house
        store: Any = house.store
        self._append, self._keep = store.append, store.keep_secret
        store.append, store.keep_secret = self._cut(self._append), self._cut(self._keep)

    def _cut(self, write: Any) -> Any:
        def writing(*given: Any) -> None:
            write(*given)
            self._left -= 1
            if not self._left:
                self._house.queue.crash()
                self.gone.set()
                raise UnwritableError("expected power, got none")

        return writing

    def back(self) -> None:
        """It is there again."""
        store: Any = self._house.store
        store.append, store.keep_secret = self._append, self._keep


async def cut_after(house: Attended, writes: int) -> bool:
    """A round, with the power gone after so many writes; False where it never went."""
    power = Power(house, writes)
    playing = asyncio.ensure_future(_from_the_start(house))
    waiting = asyncio.ensure_future(power.gone.wait())
    await asyncio.wait((playing, waiting), return_when=asyncio.FIRST_COMPLETED)
    is_cut = power.gone.is_set()
    for task in (playing, waiting):
        task.cancel()
    await asyncio.gather(playing, waiting, return_exceptions=True)
    power.back()
    if is_cut:
        await house.crash_and_come_back()
        await _play(house)
    return is_cut


async def _from_the_start(house: Attended) -> None:
    await house.start(recover=False)
    await _play(house)


async def _play(house: Attended) -> None:
    await house.settle()
    while len(house.table.rounds) < ROUNDS:
        if await house.next() is None:
            await house.pass_(1.0)
        round_ = house.table.round
        if round_ is not None and house.table.phase.bets_open and not round_.bets and not house.table.holds:
            await house.bet()
    await house.settle()


def faults(house: Attended, folder: Path) -> list[str]:
    """What is wrong with the seeds of a house where its rounds are over."""
    found = []
    committed = Counter(event.round for event in house.events(SeedCommitted))
    revealed = Counter(event.round for event in house.events(SeedRevealed))
    if set(committed.values()) != {1} or set(revealed.values()) != {1}:
        found.append(f"expected one seed a round, got {committed} and {revealed}")
    if set(committed) - set(revealed) != {ROUNDS + 1}:
        found.append(f"expected all seeds but the next told, got {committed} and {revealed}")
    kept = house.store.secret(VAULT) or b""
    if sha256(kept).hexdigest() != house.events(SeedCommitted)[-1].commitment:
        found.append("expected the vault to keep the seed that is committed to, got another")
    draws = {(event.round, event.shake) for event in house.events(ReadingTaken)}
    if len(draws) != len(house.events(ReadingTaken)):
        found.append("expected one draw a shake, got two")
    drawn = {number for number, _ in draws}
    told = {event.round for event in house.events(SeedRevealed) if event.faces}
    if drawn != told or any(
        number not in drawn and number not in voided(house) for number in range(1, ROUNDS + 1)
    ):
        found.append(f"expected every round drawn and told, or void, got {drawn} and {told}")
    path = folder / "journal.jsonl"
    path.write_bytes(b"\n".join(exported(house.engine.journal)) + b"\n")
    verified(path)  # which makes every draw again
    return found


def voided(house: Attended) -> set[int]:
    """Rounds that ended without a result."""
    ended = {event.round for event in house.events(RoundVoided)}
    return ended | {event.round for event in house.events(RoundConcluded) if not _has_result(house, event)}


def _has_result(house: Attended, event: RoundConcluded) -> bool:
    past = house.table.past(event.round)
    return past is not None and past.result is not None


def _every_cut(book: str, folder: Path) -> tuple[int, list[str]]:
    writes, found = 0, list[str]()
    while True:
        writes += 1

        async def played(house: Attended, writes: int = writes) -> bool:
            is_cut = await cut_after(house, writes)
            found.extend(f"after {writes} writes: {fault}" for fault in faults(house, folder))
            return is_cut

        if not attended(played, book, started=False, is_followed=False):
            return writes, found


@pytest.mark.parametrize("book", BOOKS)
def test_whenever_the_power_goes_the_shaker_goes_on_with_the_seed_that_it_kept(
    book: str, tmp_path: Path
) -> None:
    writes, found = _every_cut(book, tmp_path)
    assert found == []
    assert writes > 25


def test_a_seed_that_was_kept_and_never_committed_to_is_the_one_that_is(tmp_path: Path) -> None:
    async def played(house: Attended) -> None:
        kept: list[bytes] = []
        power = Power(house, 1_000)
        right = house.store.keep_secret
        power.back()

        def keep(name: str, body: bytes | None) -> None:
            right(name, body)
            if name == VAULT:
                kept.append(body or b"")
                house.queue.crash()
                raise JournalError("the power went before the commitment was written")

        house.store.keep_secret = keep  # type: ignore[method-assign]
        starting = asyncio.ensure_future(house.start(recover=False))
        await house.pass_(1)
        starting.cancel()
        assert house.events(SeedCommitted) == []
        await house.crash_and_come_back()
        assert len(kept) == 1, "no other was taken"
        assert house.events(SeedCommitted)[0].commitment == sha256(kept[0]).hexdigest()
        house.store.keep_secret = right  # type: ignore[method-assign]
        await _play(house)
        assert faults(house, tmp_path) == []

    attended(played, RWS, started=False)


def test_sabotage_a_vault_that_forgets_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Attended.crash

    def forgets(self: Attended) -> None:
        right(self)
        self.store.keep_secret(VAULT, None)

    monkeypatch.setattr(Attended, "crash", forgets)

    async def played(house: Attended) -> list[str]:
        await house.opened()
        await house.bet()
        await house.crash_and_come_back()
        for _ in range(ROUNDS * 20):
            if len(house.table.rounds) < ROUNDS and await house.next() is None:
                await house.pass_(1)
        return faults(house, tmp_path)

    assert attended(played, RWS) != []
