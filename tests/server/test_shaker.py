"""The demonstration shaker at work: bound before bets open, drawn after they close, told when it is over."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from taisai.audit import verified
from taisai.game import commands as said
from taisai.game.dice.draw import Throw, dealt, draw
from taisai.game.events import (
    BetsClosed,
    BetsOpened,
    BetsReopened,
    DiceTumbled,
    ReadingTaken,
    RoundConcluded,
    RoundSettled,
    RoundVoided,
    SeedCommitted,
    SeedRevealed,
    UnrecordedDeclared,
)
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.server.dice import entry
from taisai.server.dice.shaker import Shaker
from tests.journal.seeded_journal import last_close
from tests.journal.small_journal import exported
from tests.server.virtual_house import BOOKS, CARDS, MBS, RWS, STREAM, TABLE, US, Attended, attended

LABEL = "demonstration shaker"
VAULT = f"seed/{TABLE}"


def order(house: Attended, *kinds: type[Any]) -> list[str]:
    """What happened at the table, of some kinds, in order."""
    return [type(event).__name__ for event in house.events(*kinds, stream=STREAM)]


async def _ordered(house: Attended) -> None:
    await house.played(small=1_000)
    told = order(
        house, SeedCommitted, BetsOpened, BetsClosed, ReadingTaken, RoundSettled, SeedRevealed, RoundConcluded
    )
    assert told == [
        "SeedCommitted", "BetsOpened", "BetsClosed", "ReadingTaken", "RoundSettled", "SeedRevealed",
        "RoundConcluded", "SeedCommitted",
    ]  # fmt: skip
    committed, revealed = house.events(SeedCommitted)[0], house.events(SeedRevealed)[0]
    assert sha256(bytes.fromhex(revealed.seed)).hexdigest() == committed.commitment
    assert (committed.round, revealed.round, revealed.shake) == (1, 1, 1)


@pytest.mark.parametrize("book", BOOKS)
def test_it_commits_before_bets_open_draws_after_the_close_and_reveals_at_the_settlement(book: str) -> None:
    attended(_ordered, book)


def test_sabotage_a_shaker_that_reveals_with_the_draw_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Shaker._due

    def hasty(self: Shaker, engine: Any) -> Any:
        due, round_ = right(self, engine), engine.table(TABLE).round
        if due == type(due)() and round_ is not None and round_.drawn and engine.table(TABLE).commitment:
            return due._replace(reveal=self._draw(engine, round_))
        return due

    monkeypatch.setattr(Shaker, "_due", hasty)
    with pytest.raises(AssertionError):
        attended(_ordered, RWS)


def test_mbs_dice_that_tumble_before_the_close_are_drawn_after_it_all_the_same() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase.OPEN_TUMBLED)
        await house.pass_(30)
        assert house.events(DiceTumbled)
        assert house.events(ReadingTaken) == []
        assert (await house.console()).reading is None
        await house.at_phase(Phase.REVEALED)
        reading = house.events(ReadingTaken)[0]
        assert reading.at >= house.events(BetsClosed)[0].at

    attended(played, MBS)


def test_after_a_stop_dice_are_drawn_from_the_declaration_of_a_call_that_was_not_recorded(
    tmp_path: Path,
) -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.act("tumble", tumbles=3)
        await house.crash_and_come_back()
        await house.do(said.DeclareUnrecorded, "dan", called=True, seen=True, second="pat")
        await house.until(lambda table: len(table.rounds) == 1)
        entries = {type(entry.event): entry for entry in house.engine.journal.entries(stream=STREAM)}
        revealed = house.events(SeedRevealed)[0]
        assert BetsClosed not in entries
        assert revealed.close == entries[UnrecordedDeclared].position
        path = tmp_path / "journal.jsonl"
        path.write_bytes(b"\n".join(exported(house.engine.journal)) + b"\n")
        assert verified(path).draws

    attended(played, MBS)


def test_the_draw_is_a_function_of_seed_and_close_that_anyone_can_make_again() -> None:
    async def played(house: Attended) -> None:
        await house.played(small=1_000)
        revealed, reading = house.events(SeedRevealed)[0], house.events(ReadingTaken)[0]
        close = last_close(house.engine.journal, STREAM)
        assert (revealed.close, revealed.hash) == (close.position, close.hash.hex())
        seed = bytes.fromhex(revealed.seed)
        assert draw(seed, Throw(TABLE, 1, 1, close.hash)) == reading.faces == revealed.faces
        again = entry.Draw(TABLE, 1, 1, close.position, close.hash, ())
        assert entry.drawn(seed, again, at=0) == entry.drawn(seed, again, at=0)
        assert entry.drawn(seed, again, at=0).reading.faces == reading.faces

    attended(played, RWS)


def test_cards_are_dealt_from_what_is_left_of_the_shoe() -> None:
    async def played(house: Attended) -> None:
        for number in (1, 2, 3):
            await house.opened()
            await house.bet()
            left = tuple(
                a - b for a, b in zip(house.table.shoe.expected(), house.table.shoe.seen, strict=True)
            )
            await house.until(lambda table, number=number: len(table.rounds) >= number)  # type: ignore[misc]
            reading, revealed = house.events(ReadingTaken)[-1], house.events(SeedRevealed)[-1]
            assert reading.cards == left
            assert sum(left) == sum(house.table.shoe.expected()) - 3 * (number - 1)
            throw = Throw(TABLE, number, 1, bytes.fromhex(revealed.hash))
            assert dealt(bytes.fromhex(revealed.seed), throw, left) == reading.faces

    attended(played, CARDS, settings={"shuffle": "penetration"})


def test_us_6_a_dice_that_are_shaken_again_are_drawn_again_with_the_same_seed() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase.REVEALED)
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT)
        assert house.events(BetsReopened)
        assert house.events(SeedRevealed) == [], "one that is known draws nothing more"
        await house.until(lambda table: len(table.rounds) == 1)
        first, second = house.events(ReadingTaken)
        assert ((first.round, first.shake), (second.round, second.shake)) == ((1, 1), (1, 2))
        (revealed,) = house.events(SeedRevealed)
        close = last_close(house.engine.journal, STREAM)
        assert (revealed.shake, revealed.close, revealed.faces) == (2, close.position, second.faces)
        assert len(house.events(SeedCommitted)) == 2, "one of this round, one of the next"

    attended(played, US)


@pytest.mark.parametrize("is_drawn", [False, True])
def test_a_void_round_reveals_too(is_drawn: bool) -> None:  # noqa: FBT001
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase.REVEALED if is_drawn else Phase.CLOSED)
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT if is_drawn else FAILED
        )
        assert house.events(RoundVoided)
        (revealed,) = house.events(SeedRevealed)
        assert bool(revealed.faces) is bool(revealed.close) is bool(revealed.hash) is is_drawn
        assert [event.round for event in house.events(SeedCommitted)] == [1, 2]

    attended(played, RWS)


FAILED = Irregularity.EQUIPMENT_FAILURE


# Nobody knows before


async def _kept_secret(house: Attended) -> None:
    steps, kept = 0, b""
    with capture_logs() as logs:
        while not house.events(SeedRevealed):
            kept = house.store.secret(VAULT) or b""
            assert kept
            _nowhere(kept, house, logs)
            steps += 1
            if await house.next() is None:
                await house.pass_(1)
            if house.table.phase.bets_open and house.table.round and not house.table.round.bets:
                await house.bet()
    assert steps > 4
    assert any(kept.hex() in one for one in house.told), (
        "told when it is over, so that a search would find it"
    )


def _nowhere(seed: bytes, house: Attended, logs: list[Any]) -> None:
    rows = b"\n".join(row.body for row in house.store.rows())
    sealed = "\n".join(one.text for one in house.store.checkpoints())
    told = "\n".join(house.told) + repr(logs) + sealed + repr(house.casino.dispatcher.metrics.text())
    for form in (seed.hex(), seed.hex().upper(), b64encode(seed).decode(), seed.decode()):
        assert form.encode() not in rows
        assert form not in told


@pytest.mark.parametrize("book", BOOKS)
def test_before_the_reveal_the_seed_is_in_no_entry_no_frame_and_no_log(book: str) -> None:
    attended(_kept_secret, book)


@pytest.mark.parametrize("where", ["journal", "log"])
def test_sabotage_a_seed_that_gets_out_is_seen(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = entry.commitment

    def leaky(seed: bytes, *, at: int, round_: int) -> said.CommitSeed:
        made = right(seed, at=at, round_=round_)
        if where == "journal":
            return said.CommitSeed(
                at=at, by=made.by, round=round_, commitment=made.commitment, source=seed.hex()
            )
        import structlog

        structlog.get_logger("x").warning("committed", what=seed.hex())
        return made

    monkeypatch.setattr(entry, "commitment", leaky)
    with pytest.raises(AssertionError):
        attended(_leaky_from_the_start, RWS, started=False)


async def _leaky_from_the_start(house: Attended) -> None:
    with capture_logs() as logs:
        await house.start()
        await house.settle()
        kept = house.store.secret(VAULT)
        assert kept is not None
        _nowhere(kept, house, logs)


@pytest.mark.parametrize("book", BOOKS)
def test_wherever_it_is_shown_it_is_called_what_it_is(book: str) -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase.REVEALED)
        console = await house.console()
        assert console.reading is not None
        assert console.reading.device == LABEL
        await house.until(lambda table: len(table.rounds) == 1)
        shown = (await house.table_view()).dice.source
        assert shown is not None
        assert LABEL in shown.en.lower()
        assert "演示" in shown.zh
        assert {event.source for event in house.events(SeedCommitted)} == {LABEL}
        assert {event.device for event in house.events(ReadingTaken)} == {LABEL}
        clauses = {event.clause for event in house.events(SeedCommitted, SeedRevealed, ReadingTaken)}
        assert clauses == {"house:demonstration-shaker"}

    attended(played, book)


def test_a_table_that_is_played_for_money_has_none() -> None:
    async def played(house: Attended) -> None:
        assert house.casino._shakers == {}
        await house.played(small=1_000)
        assert house.events(SeedCommitted, ReadingTaken, SeedRevealed) == []

    attended(played, RWS, demonstration=False)


def test_the_next_round_may_open_before_the_seed_of_the_last_one_is_shown() -> None:
    """A slow shaker tells the old seed with the close of that round, and goes on with the next."""

    async def played(house: Attended) -> None:
        await house.opened()
        await house.at_phase(Phase.REVEALED)
        asleep = house.casino._shakers[TABLE]
        asleep._again.clear()
        house.casino.queue.listeners.remove(asleep._on_commit)
        await house.until(lambda table: len(table.rounds) == 1)
        await house.opened()
        await house.at_phase(Phase.CLOSED, Phase.CLOSED_TUMBLED)
        house.casino.queue.listeners.append(asleep._on_commit)
        asleep._again.set()
        await house.settle()
        (revealed,) = house.events(SeedRevealed)
        first = next(
            e for e in house.engine.journal.entries(stream=STREAM) if isinstance(e.event, BetsClosed)
        )
        assert (revealed.round, revealed.close) == (1, first.position)
        await house.until(lambda table: len(table.rounds) == 2, faces=(1, 2, 3))
        await house.settle()
        assert [event.round for event in house.events(SeedCommitted)] == [1, 3]
        await house.played()
        assert [event.round for event in house.events(SeedRevealed)] == [1, 3]

    attended(played, RWS)


def test_a_shaker_that_fails_tries_again_when_something_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        right = Shaker._due

        def broken(_self: Shaker, _engine: Any) -> Any:
            raise RuntimeError("broken")

        monkeypatch.setattr(Shaker, "_due", broken)
        with capture_logs() as logs, suppress(AssertionError):
            await house.at_phase(Phase.REVEALED)
        assert any(one["event"] == "the demonstration shaker failed" for one in logs)
        assert house.events(ReadingTaken) == []
        monkeypatch.setattr(Shaker, "_due", right)
        await house.at_phase(Phase.ENTERED, faces=(1, 2, 3))
        await house.until(lambda table: len(table.rounds) == 1)
        assert [event.faces for event in house.events(SeedRevealed)] == [()], "a seed that drew nothing"

    attended(played, RWS)
