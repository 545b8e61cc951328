"""Takings that are kept from one start to the next are those that counting afresh gives."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import msgspec
import pytest

from taisai.game import commands as said
from taisai.journal import Engine, JournalError
from taisai.journal.stores.contract import MOST_SECRET
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import takings
from taisai.server.projections.takings import PeriodSums, SettlementSums, Takings, load_takings, save_takings
from taisai.study.dice.watch import DiceWatch
from tests.server.virtual_house import RWS, STREAM, TABLE, Attended, attended

SMALL, BIG, TRIPLE = (1, 2, 4), (4, 5, 6), (6, 6, 6)


def afresh(engine: Engine) -> Takings:
    """Counted from the first entry."""
    return Takings.of(event for _, event in engine.journal.events(STREAM))


def shown(takings: Takings) -> object:
    """All that a report could ever say of it."""
    return (
        takings.table, takings.currency, takings.day, takings.shift, takings.round, takings.over,
        takings.periods, takings.settled,
    )  # fmt: skip


def faults(house: Attended) -> list[str]:
    """Where kept and counted differ."""
    kept, counted = shown(load_takings(house.engine, TABLE)), shown(afresh(house.engine))
    return [] if kept == counted else [f"expected {counted}, got {kept}"]


async def _corrected(house: Attended, number: int, faces: tuple[int, ...]) -> None:
    await house.do(
        said.ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT,
        round=number, faces=faces, second="pat", detail="seen",
    )  # fmt: skip


async def _evening(house: Attended) -> list[str]:
    """Rounds over several chunks, with stops, crashes and corrections of old rounds between."""
    found: list[str] = []
    for number in range(1, 8):
        await house.played((SMALL, BIG, TRIPLE)[number % 3], small=1_000 * number, any_triple=200)
        if number == 3:
            await house.do(said.BeginShift, "sue", shift="night")
        if number == 4:
            await house.stop()
            await house.start()
            await _corrected(house, 1, SMALL)
        if number == 5:
            await house.casino.seal()
            await _corrected(house, 2, SMALL)
            await house.crash_and_come_back()
            await _corrected(house, 1, BIG)
        if number == 6:
            await house.do(
                said.ReportIrregularity,
                "dan",
                event=Irregularity.DIE_DAMAGED,
                round=2,
                through=3,
                second="pat",
                detail="x",
            )
        found += faults(house)
        save_takings(house.engine, TABLE, house.casino.queue.projections.tables[TABLE].takings)
        found += faults(house)
    found += (
        []
        if shown(house.casino.queue.projections.tables[TABLE].takings) == shown(afresh(house.engine))
        else ["x"]
    )
    return found


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk is two rounds, a page one period: a few rounds are as good as thousands."""
    monkeypatch.setattr(takings, "CHUNK", 2)
    monkeypatch.setattr(takings, "PAGE", 1)


@pytest.mark.usefixtures("chunks")
def test_kept_is_counted_over_stops_and_corrections_of_old_rounds() -> None:
    async def played(house: Attended) -> None:
        assert await _evening(house) == []
        names = house.store.secrets(f"takings/{TABLE}")
        assert len(names) == 1 + 4 + 1 + 2, (
            names
        )  # the whole, rounds 1 to 7 in chunks, their index, two shifts

    attended(played, RWS, demonstration=False, is_followed=False)


def test_takings_of_a_copy_that_was_continued_are_not_those_of_the_house() -> None:
    """They have a valid code, and a version that the table has reached; the report would show other sums."""

    async def continued(house: Attended, faces: tuple[int, ...], rounds: int) -> None:
        await house.start()
        for _ in range(rounds):
            await house.played(faces, small=7_000)
        save_takings(house.engine, TABLE, house.casino.queue.projections.tables[TABLE].takings)
        house.crash()

    async def played(house: Attended) -> None:
        await house.played(SMALL, small=1_000)
        house.crash()
        own, copy = house.store, deepcopy(house.store)
        house.store = copy
        await continued(house, SMALL, 1)
        house.store = own
        await continued(house, BIG, 2)
        for name in (f"takings/{TABLE}", f"watch/{TABLE}"):
            for stored in copy.secrets(name):
                own.keep_secret(stored, copy.secret(stored))
        await house.start()
        assert faults(house) == []
        watch = (await house.console()).watch
        assert watch is not None
        expected = DiceWatch.of([SMALL, BIG, BIG], house.plan.thresholds.watch)
        assert (watch.results, watch.e_value) == (9, f"{expected.e_value:.3g}")

    attended(played, RWS, demonstration=False, is_followed=False)


@pytest.mark.usefixtures("chunks")
def test_sabotage_chunks_that_are_not_written_again_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = save_takings

    def forgetful(engine: Engine, table: str, takings: Takings) -> None:
        takings.touched = {number for number in takings.touched if number == takings.round}
        right(engine, table, takings)

    monkeypatch.setattr("taisai.server.projections.house_feeds.save_takings", forgetful)
    monkeypatch.setitem(globals(), "save_takings", forgetful)
    assert attended(_evening, RWS, demonstration=False, is_followed=False) != []


async def _cut_between_pieces(house: Attended) -> None:
    for number in (1, 2, 3):
        await house.played(SMALL, small=1_000 * number)
    save_takings(house.engine, TABLE, load_takings(house.engine, TABLE))
    before = {name: house.store.secret(name) for name in house.store.secrets("takings/")}
    await _corrected(house, 1, BIG)
    await house.do(said.BeginShift, "sue", shift="night")
    await house.played(BIG, big=5_000)
    right, left = house.store.keep_secret, 0
    for cut in range(10):
        for name, body in before.items():
            right(name, body)
        left = cut

        def keep(name: str, body: bytes | None) -> None:
            nonlocal left
            if not left:
                raise JournalError("expected power, got none")
            left -= 1
            right(name, body)

        house.store.keep_secret = keep  # type: ignore[method-assign]
        save_takings(house.engine, TABLE, load_takings(house.engine, TABLE))
        house.store.keep_secret = right  # type: ignore[method-assign]
        assert faults(house) == [], f"after {cut} pieces"
    assert left > 0, "the last time all of them were written"


@pytest.mark.usefixtures("chunks")
def test_a_crash_between_the_pieces_counts_afresh() -> None:
    """At whichever piece the power goes: what is newer than the whole is not believed."""
    attended(_cut_between_pieces, RWS, demonstration=False, is_followed=False)


@pytest.mark.usefixtures("chunks")
def test_sabotage_pieces_that_are_believed_however_new_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takings, "_check", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_cut_between_pieces, RWS, demonstration=False, is_followed=False)


async def _older_beside_newer(house: Attended) -> None:
    """Someone puts a part back as it was before the latest save."""
    await house.played(SMALL, small=1_000)
    save_takings(house.engine, TABLE, load_takings(house.engine, TABLE))
    older = {name: house.store.secret(name) for name in house.store.secrets(f"takings/{TABLE}/")}
    await _corrected(house, 1, BIG)
    await house.played(BIG, big=5_000)
    save_takings(house.engine, TABLE, load_takings(house.engine, TABLE))
    for name, body in older.items():
        latest = house.store.secret(name)
        assert latest != body, name
        house.store.keep_secret(name, body)
        assert faults(house) == [], name
        house.store.keep_secret(name, latest)


@pytest.mark.usefixtures("chunks")
def test_an_older_part_beside_a_newer_whole_is_not_believed() -> None:
    attended(_older_beside_newer, RWS, demonstration=False, is_followed=False)


@pytest.mark.usefixtures("chunks")
def test_sabotage_parts_that_are_believed_however_old_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takings, "_check", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_older_beside_newer, RWS, demonstration=False, is_followed=False)


def test_what_cannot_be_read_is_counted_afresh() -> None:
    async def played(house: Attended) -> None:
        await house.played(SMALL, small=1_000)
        save_takings(house.engine, TABLE, load_takings(house.engine, TABLE))
        for name in house.store.secrets("takings/"):
            kept = house.store.secret(name)
            for body in (b"", b"{]", b"[]", b"null"):
                house.store.keep_secret(name, body)
                assert faults(house) == [], (name, body)
            house.store.keep_secret(name, kept)

    attended(played, RWS, demonstration=False, is_followed=False)


def test_what_was_kept_of_a_longer_journal_is_not_believed() -> None:
    async def played(house: Attended) -> None:
        await house.played(SMALL, small=1_000)
        longer = load_takings(house.engine, TABLE)
        save_takings(house.engine, TABLE, longer)
        name = f"takings/{TABLE}"
        told: dict[str, Any] = msgspec.json.decode(house.store.secret(name) or b"")
        house.store.keep_secret(name, msgspec.json.encode(told | {"version": told["version"] + 1}))
        assert faults(house) == []

    attended(played, RWS, demonstration=False, is_followed=False)


def test_a_table_may_be_open_for_years() -> None:
    """Each secret is short, so many shifts and the greatest sums fit all the same."""

    async def played(house: Attended) -> None:
        takings, most = load_takings(house.engine, TABLE), 2**53 - 1
        for number in range(5 * 365 * 3):
            period = (f"day {number // 3:06}", f"the shift with the longest name of all {number % 3}")
            takings.periods[period] = PeriodSums(*[most] * 10)
        latest = takings.periods[next(reversed(takings.periods))]
        for number in range(1, 2_001):
            takings._book(1_000_000 + number, SettlementSums(most, most, most))
        takings.round = 1_002_000
        save_takings(house.engine, TABLE, takings)
        assert not takings.touched, "all of it was kept"
        names = house.store.secrets("takings/")
        assert all(len(house.store.secret(name) or b"") <= MOST_SECRET for name in names)
        assert load_takings(house.engine, TABLE).periods == takings.periods
        writes: list[str] = []
        right = house.store.keep_secret
        house.store.keep_secret = lambda name, body: (writes.append(name), right(name, body))[1]  # type: ignore[method-assign,func-returns-value]
        latest.drop -= 1
        save_takings(house.engine, TABLE, takings)
        assert len(writes) == 2, "the page that changed, and the whole"

    attended(played, RWS, demonstration=False, is_followed=False)


def test_a_table_may_have_millions_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """More chunks than have their digests in one part: beyond that, every start counted all events again."""
    monkeypatch.setattr(takings, "CHUNK", 1)

    async def played(house: Attended) -> None:
        many = load_takings(house.engine, TABLE)
        for number in range(1, 2 * takings.INDEX + 2):
            many._book(number, SettlementSums(number, 1, 2))
        save_takings(house.engine, TABLE, many)
        assert not many.touched, "all of it was kept"
        names = house.store.secrets("takings/")
        assert {f"takings/{TABLE}/index {index}" for index in range(3)} <= set(names)
        assert all(len(house.store.secret(name) or b"") <= MOST_SECRET for name in names)
        again = load_takings(house.engine, TABLE)
        assert (again.settled, again.saved) == (many.settled, many.saved)
        assert shown(again) == shown(many)

    attended(played, RWS, demonstration=False, is_followed=False)
