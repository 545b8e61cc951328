"""A table with terminals, rich players and open bets, for the benches of a table in play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taisai.game.commands import Assign, BuyCredits, Command, Limits, OpenTable, Perform, TakeSeat
from taisai.game.play import decide, evolve
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.rules import Outcome, rulebook
from taisai.rules.vocabulary import Act

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"
AT: Final = 1_763_200_800_000
TABLE: Final = "T1"
DEALER: Final = "dan"
MANAGER: Final = "sue"
CREDITS: Final = 10**11
LIMITS: Final = Limits(least=100, most=10**10, exposure=10**14)
"""So high that no bet of a bench is refused; every one of them is looked at all the same."""


def do(table: Table, command: Command) -> None:
    """Decides a command and evolves the table by what comes of it."""
    events = decide(table, command)
    assert not isinstance(events, Refusal), events
    for event in events:
        evolve(table, event)


def perform(act: Act, **figures: object) -> Perform:
    """An act of the round, asked for by whoever's it is."""
    by = "clock" if act is Act.CLOSE_BETS else DEALER
    return Perform(at=AT, by=by, act=act, **figures)  # type: ignore[arg-type]


def act(table: Table, done: Act, **figures: object) -> None:
    """An act of the round, done."""
    do(table, perform(done, **figures))


def terminal(seat: int) -> str:
    """The terminal of a seat."""
    return f"T{seat}"


def opening(*, seats: int) -> Iterator[Command]:
    """What opens a table whose seats 0, 1, … all play at terminals, up to the opening of its first round."""
    yield OpenTable(
        at=AT, by=MANAGER, rank="shift-manager", table=TABLE, limits=LIMITS, currency="SGD",
        day="2026-11-15", zone="Asia/Singapore",
    )  # fmt: skip
    yield Assign(at=AT, by=MANAGER, person=DEALER, rank="dealer", position="dealer")
    for seat in range(seats):
        name, by = str(seat), terminal(seat)
        yield TakeSeat(at=AT, by=by, seat=name, terminal=by, layout=LAYOUT)
        yield BuyCredits(at=AT, by=by, seat=name, amount=CREDITS)
    yield perform(Act.OPEN_BETS)


def with_bets_open(*, seats: int) -> Table:
    """A table whose seats all play at terminals, at the opening of its first round."""
    table = Table(rulebook(BOOK))
    for command in opening(seats=seats):
        do(table, command)
    return table


def close(table: Table) -> None:
    """From the close until the dice are uncovered."""
    act(table, Act.CLOSE_BETS)
    act(table, Act.TUMBLE, tumbles=3)
    act(table, Act.UNCOVER)


def enter(table: Table, outcome: Outcome) -> None:
    """What the dice show."""
    act(table, Act.ENTER_RESULT, faces=outcome.faces)


def settle(table: Table) -> None:
    """From the result to balances that hold what was won."""
    act(table, Act.SETTLE)
    act(table, Act.COLLECT_AND_PAY)


def play_on(table: Table) -> None:
    """To the opening of the next round."""
    close(table)
    enter(table, Outcome.of(1, 3, 4))
    settle(table)
    act(table, Act.CONCLUDE)
    act(table, Act.OPEN_BETS)
