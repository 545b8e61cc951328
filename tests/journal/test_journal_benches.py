"""The benches of the journal: small runs, and wrong journals that they see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench import auditing, journals, lone_bet, registering, settling_durably, starting, whole_round
from bench.harness import Line
from taisai.game.money import packed_sums
from taisai.game.money.ledger import UnbalancedError
from taisai.game.money.packed_sums import Column, unpacked
from taisai.game.snapshot import write_table
from taisai.game.table import Table
from taisai.journal import streams
from taisai.journal.errors import DamagedError
from taisai.journal.journal import Decision, Journal


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Everything a hundredth as large, and nowhere else than other tests write."""
    for module, name, value in (
        (journals, "ON_DISK", tmp_path),
        (journals, "SEATS", 4),
        (journals, "COMMANDS", 10),
        (journals, "SNAPSHOT_EVERY", 60),
        (journals, "SNAPSHOTS", (1, 2, 3, 4)),
        (journals, "TAIL", 1),
        (journals, "TAKEN_BACK_EVERY", 4),
        (journals, "VOID_EVERY", 3),
        (journals, "CORRECTED_EVERY", 2),
        (registering, "SEATS", 10),
        (registering, "BETS", 60),
        (registering, "SINGLY", 5),
        (lone_bet, "SEATS", 4),
        (lone_bet, "SHORT_LOG", 5),
        (lone_bet, "FILLING", 80),
        (settling_durably, "MOST_BETS", 3_000),
        (settling_durably, "MOST_SEATS", 20),
        (settling_durably, "FEW", 300),
        (whole_round, "SWEEP_BYTES", 8),
    ):
        monkeypatch.setattr(module, name, value)
    journals.evening.cache_clear()
    yield
    journals.evening.cache_clear()


def targets(lines: Sequence[Line]) -> list[str]:
    """What is asked of each line, in order; every line has measured something."""
    assert all(line.ratio > 0 for line in lines)
    return [str(line.target) for line in lines if line.target]


# A thousand seats


def test_seats_bet_again_when_they_are_answered() -> None:
    assert targets(list(registering.run(quick=True))) == ["≥ 15×", "≥ 0.4×", "≤ 3×"]


def test_sabotage_bets_that_are_answered_and_not_written_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Journal.append

    def forgetful(journal: Journal, decisions: Sequence[Decision]) -> None:
        is_bets = all(type(one.asked).__name__ == "PlaceBets" for one in decisions)
        written(journal, decisions[:1] if is_bets else decisions)

    monkeypatch.setattr(Journal, "append", forgetful)
    with pytest.raises(AssertionError):
        list(registering.run(quick=True))


# One bet


def test_a_lone_bet_is_measured_in_a_log_that_grows_and_in_one_that_has_begun_again() -> None:
    lines = list(lone_bet.run(quick=True))
    assert targets(lines) == ["≤ 3×", "≤ 3×"]
    assert ["12,360" in line.bench for line in lines] == [True, True]  # of the entry, the index, the head


# A settlement


def test_a_settlement_writes_as_much_for_many_bets_as_for_few() -> None:
    lines = list(settling_durably.run(quick=True))
    assert targets(lines) == ["≥ 20×", "≤ 1.05×"]
    assert lines[-1].met


def _to_another_purse(packed: int, count: int) -> Column:
    numbers = unpacked(packed, count)
    numbers.reverse()
    return numbers


def test_sabotage_money_that_goes_to_another_purse_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_sums, "unpacked", _to_another_purse)
    with pytest.raises((AssertionError, UnbalancedError)):
        list(settling_durably.run(quick=True))


# A start


def test_a_start_is_measured_with_and_without_snapshots() -> None:
    assert targets(list(starting.run(quick=True))) == ["≤ 1.5×", "≤ 3×"]


def test_sabotage_a_snapshot_of_another_table_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(table: Table) -> bytes:
        return write_table(table).replace(b'"shift":""', b'"shift":"another"')

    monkeypatch.setattr(streams, "write_table", wrong)
    with pytest.raises(AssertionError):
        list(starting.run(quick=True))


# The audit


def test_the_audit_is_measured_in_time_and_memory() -> None:
    assert targets(list(auditing.run(quick=True))) == ["≤ 8×", "≤ 1.1×"]


def test_sabotage_an_audit_that_keeps_everything_misses_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "memory", lambda path: path.stat().st_size)
    assert not list(auditing.run(quick=True))[-1].met


def test_sabotage_an_evening_that_nobody_signed_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "seal", lambda *_, **__: None)
    with pytest.raises((AssertionError, DamagedError)):
        list(auditing.run(quick=True))
