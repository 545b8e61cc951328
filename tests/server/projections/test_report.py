"""What tables took: always what their ledgers say, and booked on the day on which it happened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.game import Account, Table
from taisai.game import events as e
from taisai.game.commands import BeginDay, BeginShift, ReportIrregularity
from taisai.game.vocabulary import TransferKind
from taisai.rules import Irregularity, rulebook
from taisai.server.projections.takings import Takings, percent, report_view
from tests.game.playing import RWS, Playing, at
from tests.server.projections.played_tables import every_state


def wrong_sums(takings: Takings, table: Table, events: list[e.Event]) -> Iterator[str]:
    """Where the takings are other than the ledger."""
    sums, balances = takings.total(), table.ledger.balances
    moved = {
        kind: sum(abs(one.amount) for one in table.transfers.values() if one.kind is kind)
        for kind in TransferKind
    }
    waived = sum(claim.amount for claim in table.waived)
    dropped = sum(event.amount for event in events if isinstance(event, e.DropSent))
    for what, got, expected in (
        ("collected", sums.collected, balances[Account.HOUSE_WON]),
        ("won", sums.won, balances[Account.HOUSE_LOST] - waived),
        ("drop", sums.drop, balances[Account.DROP] + dropped),
        ("tickets in", sums.tickets_in, moved[TransferKind.TICKET]),
        ("tickets out", sums.tickets_out, moved[TransferKind.DISPENSED]),
        ("fills", sums.fills, moved[TransferKind.FILL]),
        ("credits", sums.credits, moved[TransferKind.CREDIT]),
        ("handle", sums.handle, _handle(table)),
        ("rounds", sums.rounds, len(table.rounds)),
        ("void", sums.void, sum(one.voided for one in table.rounds)),
    ):
        if got != expected:
            yield f"{what} is {got}, and the table says {expected}"


def _handle(table: Table) -> int:
    rounds = [*table.rounds, *([table.round] if table.round else [])]
    return sum(one.settled.staked for one in rounds if one.settled)


def all_wrong() -> Iterator[str]:
    for state in every_state(120):
        if isinstance(state.latest[-1], e.BetRegistered):
            continue
        takings = Takings.of(state.events)
        yield from (f"{state}: {says}" for says in wrong_sums(takings, state.table, state.events))


def test_takings_are_what_the_ledger_says_at_every_moment() -> None:
    assert list(all_wrong()) == []


def test_sabotage_takings_that_overlook_corrections_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e, "RoundVoided", e.TableClosed)
    monkeypatch.setattr(e, "RoundResettled", e.TableClosed)
    assert next(all_wrong(), None) is not None


def reported(playing: Playing, day: str | None = None) -> list[tuple[str, str, int, int, int, int]]:
    """(day, shift, handle, win, rounds, void) of every line."""
    report = report_view({"T1": Takings.of(playing.log)}, day)
    return [(one.day, one.shift, one.handle, one.win, one.rounds, one.void) for one in report.tables]


def test_a_correction_next_day_leaves_the_report_of_the_day_before_as_it_was() -> None:
    playing = at(rulebook(RWS), "between")
    first = reported(playing)
    assert first == [("2026-11-15", "", 1_400, -600, 1, 0)]
    playing.do(BeginDay, "sue", day="2026-11-16")
    playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=1, faces=(4, 5, 6), second="sue"
    )
    assert reported(playing, "2026-11-15") == first
    assert reported(playing) == [("2026-11-16", "", 0, 1_200, 0, 0)]
    playing.do(ReportIrregularity, "dan", event=Irregularity.DIE_DAMAGED, round=1, second="sue")
    assert reported(playing) == [("2026-11-16", "", -1_400, 600, 0, 1)]


def test_shifts_have_lines_of_their_own() -> None:
    playing = at(rulebook(RWS), "between")
    playing.do(BeginShift, "sue", shift="night")
    playing.to("between")
    assert reported(playing) == [
        ("2026-11-15", "", 2_800, -1_200, 2, 0),
        ("2026-11-15", "", 1_400, -600, 1, 0),
        ("2026-11-15", "night", 1_400, -600, 1, 0),
    ]


def test_hold_is_exact_and_totals_are_over_all_tables() -> None:
    playing = at(rulebook(RWS), "between")
    takings = Takings.of(playing.log)
    report = report_view({"T1": takings, "T2": takings})
    assert (report.tables[0].drop, report.tables[0].hold, report.tables[0].hold_percent) == (
        100_000, "-3/500", "-0.60",
    )  # fmt: skip
    (total,) = report.totals
    assert (total.table, total.currency, total.drop, total.win, total.rounds) == (
        "",
        "SGD",
        200_000,
        -1_200,
        2,
    )
    assert report_view({}).tables == ()
    nothing = report_view({"T1": Takings.of(playing.log[:1])}).tables[0]
    assert (nothing.hold, nothing.hold_percent) == (None, None)


@pytest.mark.parametrize(
    ("part", "whole", "text"), [(1, 3, "33.33"), (-1, 800, "-0.12"), (3, 800, "0.38"), (0, 5, "0.00")]
)
def test_percent_is_rounded_from_the_exact_fraction(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text
