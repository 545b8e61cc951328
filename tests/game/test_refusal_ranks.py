"""Two things wrong with one batch of bets: the reason of the lower rank is told, as the case file says."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from taisai.game import play, refusals
from taisai.game.betting import placing
from taisai.game.commands import (
    CloseTable,
    Command,
    DispenseCredits,
    Perform,
    PlaceBets,
    RecordBets,
    ReportIrregularity,
    SendCredit,
    SendDrop,
    Slip,
)
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_IN_BATCH, Table
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Act, Irregularity
from tests.game.machine import NOON, RWS, US, Setup, opened
from tests.game.snapshots import copied

CASES = Path(__file__).parents[2] / "cases" / "refusals" / "bets.txt"
Batch = PlaceBets | RecordBets


class Fault(NamedTuple):
    """Something wrong: with the table before the batch, or with the batch."""

    reason: Reason
    table: Callable[[Table], None] | None = None
    batch: Callable[[Any], Any] | None = None


def do(table: Table, *commands: Command) -> None:
    """What must be done before."""
    for command in commands:
        decided = play.decide(table, command)
        assert not isinstance(decided, Refusal), decided
        for event in decided:
            play.evolve(table, event)


def _opened(table: Table) -> None:
    do(table, Perform(at=NOON, by="dan", act=Act.OPEN_BETS))


def _known(table: Table) -> None:
    do(table, _good(table, Slip("known", "big", 200)))


def _closed(table: Table) -> None:
    do(table, Perform(at=NOON, by="clock" if table.book.id == RWS else "dan", act=Act.CLOSE_BETS))


def _held(table: Table) -> None:
    do(table, ReportIrregularity(at=NOON, by="dan", event=Irregularity.OTHER))


def _shut_down(table: Table) -> None:
    """The table is closed for good; whoever sat there still does."""
    for seat in table.seats.values():
        if seat.terminal:
            do(table, DispenseCredits(at=NOON, by=seat.terminal, transfer=f"x{seat.name}", seat=seat.name))
    chips, box = table.ledger.balances[Account.CHIPS], table.ledger.balances[Account.DROP]
    if chips:
        do(table, SendCredit(at=NOON, by="dan", transfer="tray", amount=chips, second="sue"))
    if box:
        do(table, SendDrop(at=NOON, by="dan", transfer="box", second="sue"))
    do(table, CloseTable(at=NOON, by="sue"))


def _good(table: Table, *slips: Slip) -> Batch:
    if table.book.id == RWS:
        return PlaceBets(at=NOON, by="t2", round=1, seat="2", bets=slips)
    return RecordBets(at=NOON, by="dan", round=1, bets=slips, means=Means.CASH_CHIPS, seat="1")


def _with(*slips: Slip) -> Callable[[Any], Any]:
    return lambda batch: replace(batch, bets=(*slips, *batch.bets))


def _field(**fields: Any) -> Callable[[Any], Any]:
    return lambda batch: replace(batch, **fields)


ANYWHERE: dict[str, Fault] = {
    "table closed": Fault(Reason.TABLE_NOT_OPEN, table=_shut_down),
    "no such seat": Fault(Reason.UNKNOWN_SEAT, batch=_field(seat="99")),
    "id of another bet": Fault(
        Reason.DIFFERENT_CONTENT, table=_known, batch=_with(Slip("known", "small", 300))
    ),
    "round 7": Fault(Reason.WRONG_ROUND, batch=_field(round=7)),
    "referral open": Fault(Reason.ON_HOLD, table=_held),
    "no round in hand": Fault(Reason.OUT_OF_ORDER, table=lambda _table: None),
    "after the close": Fault(Reason.LATE, table=_closed),
    "id of no letters": Fault(Reason.BAD_VALUE, batch=_with(Slip("", "small", 200))),
    "501 bets": Fault(
        Reason.TOO_MANY,
        batch=_with(*(Slip(f"m{n}", "double-6", 100) for n in range(MOST_IN_BATCH + 1))),
    ),
    "no such area": Fault(Reason.NOT_ON_LAYOUT, batch=_with(Slip("area", "total-3", 200))),
    "stake of 0": Fault(Reason.STAKE_NOT_POSITIVE, batch=_with(Slip("zero", "odd-or-any", 0))),
    "stake of 2^53": Fault(Reason.BEYOND_GREATEST_SUM, batch=_with(Slip("huge", "big", 2**53))),
    "half a cent": Fault(Reason.WINNINGS_NOT_WHOLE, batch=_with(Slip("half", "half-odds", 101))),
    "under the minimum": Fault(Reason.UNDER_MINIMUM, batch=_with(Slip("low", "pair-12", 2))),
    "over the maximum": Fault(Reason.OVER_MAXIMUM, batch=_with(Slip("high", "pair-34", 5_002))),
    "beyond the exposure": Fault(Reason.EXPOSURE, batch=_with(Slip("risk", "triple-6", 1_000))),
}
ONLY: dict[str, dict[str, Fault]] = {
    "place": {
        "another terminal": Fault(Reason.NOT_PERMITTED, batch=_field(by="t3")),
        "more than the credits": Fault(
            Reason.CREDITS_SHORT, batch=_with(*(Slip(f"c{n}", f"total-{n}", 5_000) for n in range(4, 18)))
        ),
    },
    "record": {
        "nobody of the table": Fault(Reason.UNKNOWN_PERSON, batch=_field(by="nobody")),
        "not his to place": Fault(Reason.NOT_PERMITTED, batch=_field(by="flo", at_request=True)),
        "spoken for cash": Fault(Reason.WRONG_MEANS, batch=_field(means=Means.CASH)),
    },
}
SETUPS = {
    "place": Setup("ranks-place", RWS, {}, "B", exposure=120_000),
    "record": Setup(
        "ranks-record", US, {"higher_may_act": "no"}, exposure=120_000, offers={"double-3": "8.5 to 1"}
    ),
}
AREAS = {
    "place": {"odd-or-any": "odd", "half-odds": "double-3"},
    "record": {"odd-or-any": "small", "half-odds": "double-3"},
}
TOGETHER_NEVER = (
    {"no round in hand", "round 7"},  # without a round every number is the wrong one
    {"no round in hand", "referral open"},
    {"no round in hand", "after the close"},
    {"no round in hand", "id of another bet"},
    {"referral open", "after the close"},  # a bet is late whatever else the round waits for
    {"round 7", "id of another bet"},  # a bet is known by its round and id
    {"table closed", "id of another bet"},  # no round in hand once it is closed
    {"table closed", "referral open"},
    {"table closed", "after the close"},
    {"table closed", "no round in hand"},
    {"nobody of the table", "not his to place"},
    {"spoken for cash", "id of another bet"},  # which is what makes the content another
)


def faults_of(command: str) -> dict[str, Fault]:
    """What can be wrong with a command."""
    return ANYWHERE | ONLY[command]


def pairs_of(command: str) -> list[tuple[str, str]]:
    """The pairs that can be wrong at once."""
    return [pair for pair in combinations(faults_of(command), 2) if set(pair) not in TOGETHER_NEVER]


def lower(command: str, pair: tuple[str, str]) -> str:
    """The reason of the lower rank."""
    return min((faults_of(command)[one].reason for one in pair), key=lambda reason: reason.rank)


@cache
def _table(command: str) -> Table:
    return opened(SETUPS[command]).table


def refused(command: str, pair: tuple[str, ...]) -> Refusal | tuple[Any, ...]:
    """What the table says to a batch with these things wrong."""
    table = copied(_table(command))
    found = [faults_of(command)[one] for one in pair]
    if not {"no round in hand", "table closed"} & set(pair):
        _opened(table)
    for fault in sorted(found, key=lambda fault: fault.table is not _known):
        if fault.table is not None:
            fault.table(table)
    batch: Any = _good(table, Slip("good", "big", 200))
    for fault in found:
        if fault.batch is not None:
            batch = fault.batch(batch)
    areas = AREAS[command]
    batch = replace(batch, bets=tuple(replace(one, area=areas.get(one.area, one.area)) for one in batch.bets))
    return play.decide(table, batch)


class Line(NamedTuple):
    """A line of the case file."""

    command: str
    one: str
    other: str
    reason: str


def lines() -> list[Line]:
    """The case file."""
    texts = CASES.read_text("utf-8").splitlines()
    told = [text for text in texts if text.strip() and not text.startswith("#")]
    return [Line(*(part.strip() for part in text.split("|"))) for text in told]


@pytest.mark.parametrize("command", ONLY)
def test_each_fault_alone_is_refused_for_its_own_reason(command: str) -> None:
    for name, fault in faults_of(command).items():
        answer = refused(command, (name,))
        assert isinstance(answer, Refusal), name
        assert answer.reason is fault.reason, (name, answer)
    assert not isinstance(refused(command, ()), Refusal)


def test_the_case_file_has_every_pair_once_and_the_lower_rank_of_it() -> None:
    told = {(line.command, line.one, line.other): line.reason for line in lines()}
    assert len(told) == len(lines())
    assert told == {
        (command, *pair): str(lower(command, pair)) for command in ONLY for pair in pairs_of(command)
    }


def wrong(line: Line) -> str | None:
    """How the table answers a line otherwise than it says, whichever of the two comes first in the batch."""
    for pair in ((line.one, line.other), (line.other, line.one)):
        answer = refused(line.command, pair)
        got = answer.reason if isinstance(answer, Refusal) else "taken"
        if got != line.reason:
            return f"{line.command}: {' and '.join(pair)}: got {got}, expected {line.reason}"
    return None


MEANS_TOO_SOON = {
    "round 7", "referral open", "no round in hand", "after the close", "id of no letters", "501 bets",
    "not his to place",
}  # fmt: skip


def test_two_things_wrong_report_the_lower_rank() -> None:
    assert [fault for line in lines() if (fault := wrong(line))] == []


def test_sabotage_the_last_reason_instead_of_the_first_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "first", lambda refusals: refusals[-1])
    assert any(wrong(line) for line in lines())


def test_sabotage_a_known_id_told_as_late_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Refusal(Reason.LATE, Clause("house:retries"), "expected a new bet, got a known one")
    monkeypatch.setattr(placing, "_again", lambda *_: late)
    assert any(wrong(line) for line in lines() if "id of another bet" in line)


def test_sabotage_another_order_of_ranks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    backwards = {reason: -rank for reason, rank in refusals._RANKS.items()}
    monkeypatch.setattr(refusals, "_RANKS", backwards)
    told = {(line.command, line.one, line.other): line.reason for line in lines()}
    assert any(told[command, *pair] != lower(command, pair) for command in ONLY for pair in pairs_of(command))
    assert any(wrong(line) for line in lines())
