"""What visitors leave behind in a demonstration: empty seats are freed, rounds without dice end."""

from __future__ import annotations

import pytest

from taisai.demo import sign_in, staff
from taisai.server.dice import shaker
from tests.cli.demo_house import Evening, run

GONE = sign_in.GONE_FOR / 1000


def taken(evening: Evening, table: str) -> set[str]:
    """The players who sit at a table."""
    return {seat.player for seat in evening.engine.table(table).seats.values() if seat.taken}


async def left_empty(evening: Evening) -> None:
    player = await evening.player("MBS1")
    await evening.goes_on(GONE + 60)
    assert "Visitor" in taken(evening, "MBS1")  # he is there, and does nothing
    await player.close()
    await evening.goes_on(GONE / 2)
    assert "Visitor" in taken(evening, "MBS1")
    await evening.goes_on(GONE)
    assert "Visitor" not in taken(evening, "MBS1")
    assert len(taken(evening, "MBS1")) == 3  # the virtual ones are nobody's to free


def test_a_seat_without_credits_is_free_again_when_its_terminal_has_been_gone_for_a_while() -> None:
    run(left_empty)


def test_credits_keep_a_seat() -> None:
    async def story(evening: Evening) -> None:
        player = await evening.player("MBS1")
        await player.buy_credits(10_000)
        await player.close()
        await evening.goes_on(3 * GONE)
        assert "Visitor" in taken(evening, "MBS1")

    run(story)


def test_sabotage_a_seat_that_stays_taken_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "GONE_FOR", 10**9)
    with pytest.raises(AssertionError):
        run(left_empty)


# Bets that were opened before the shaker was ready


async def opened_too_early(evening: Evening) -> None:
    table = "RWS1"
    console = await evening.console("dealer", table)
    while evening.engine.table(table).round is not None or console.next_offer is None:
        await evening.goes_on(1)
    number = len(evening.engine.table(table).rounds) + 1
    await console.take(console.next_offer)
    await evening.goes_on(0.1)
    round_ = evening.engine.table(table).round
    assert round_ is not None
    assert round_.number == number
    await console.close()
    await evening.goes_on(300)
    assert evening.engine.table(table).past(number).voided  # type: ignore[union-attr]


def late_shaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shaker that commits itself to nothing while the table has played no round."""
    due = shaker.Shaker._due

    def late(self: shaker.Shaker, engine: object) -> object:
        table = engine.table(self._table)  # type: ignore[attr-defined]
        return shaker._Due() if not len(table.rounds) and table.round is None else due(self, engine)  # type: ignore[arg-type]

    monkeypatch.setattr(shaker.Shaker, "_due", late)


def test_a_round_that_was_opened_before_the_shaker_was_ready_is_void_and_the_table_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late_shaker(monkeypatch)

    async def story(evening: Evening) -> None:
        await opened_too_early(evening)
        assert evening.concluded()["RWS1"] >= 2

    run(story)


def test_sabotage_a_dealer_who_waits_for_ever_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    late_shaker(monkeypatch)
    monkeypatch.setattr(staff, "is_undrawn", lambda _console: False)
    with pytest.raises((AssertionError, AttributeError)):
        run(opened_too_early)
