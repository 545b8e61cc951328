"""A scripted evening: what is asked of one table and of the House, in the batches in which it arrives.

It is played once in memory while it is written, so that amounts fit and nothing is refused by mistake;
`Evening.asked` then is plain data, to be asked of any journal, on any disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Final, NamedTuple

from taisai.cage import House, decide_house, evolve_house
from taisai.cage.messages import (
    BringIn,
    EnrolPerson,
    HouseCommand,
    IssueTicket,
    OpenHouse,
    RedeemTicket,
    SellTicket,
    SendTicket,
)
from taisai.game import Refusal, Table, decide, evolve
from taisai.game.commands import (
    Assign,
    BuyCredits,
    Command,
    DispenseCredits,
    Limits,
    OpenTable,
    Perform,
    PlaceBets,
    ReceiveTicket,
    Slip,
    TakeBack,
    TakeSeat,
)
from taisai.game.vocabulary import CAGE, HOUSE, TABLE
from taisai.journal.codec import HOUSE_STREAM, stream_of
from taisai.rules import Act, rulebook

BOOK: Final = "rws-sic-bo-etg-v8"
NAME: Final = "SB1"
TABLE_STREAM: Final = stream_of(NAME)
START: Final = 1_794_715_200_000
AREAS: Final = ("small", "big", "odd", "even", "any-triple", "total-9", "total-12", "single-3", "double-5")


class Asked(NamedTuple):
    """A command, and whose stream it goes to."""

    stream: str
    command: Command | HouseCommand


Batch = tuple[Asked, ...]
"""Commands that arrive together and are committed together."""


@dataclass(frozen=True, slots=True)
class Evening:
    """Everything that is asked in one evening."""

    seed: int
    batches: tuple[Batch, ...]

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)


@lru_cache(maxsize=64)
def evening(seed: int = 1, *, seats: int = 8, rounds: int = 4) -> Evening:
    """An evening of some rounds: settled, void, settled …, with tickets bought, put in and paid out."""
    script = _Script(Random(seed), [str(number) for number in range(1, seats + 1)])
    script.open()
    script.sit_down()
    for number in range(1, rounds + 1):
        script.round(number, void=number % 3 == 2)
    script.go_home()
    return Evening(seed, tuple(script.batches))


@dataclass(slots=True)
class _Script:
    """Writes the evening down as it plays it."""

    chance: Random
    seats: list[str]
    batches: list[Batch] = field(default_factory=list)
    table: Table = field(default_factory=lambda: Table(rulebook(BOOK)))
    house: House = field(default_factory=House)
    now: int = START

    def ask(self, *commands: Command | HouseCommand, refused: bool = False) -> None:
        """One batch; every command of it is done, unless all of them shall be refused."""
        self.batches.append(tuple(Asked(_stream(command), command) for command in commands))
        for command in commands:
            answer = self._answer(command)
            assert isinstance(answer, Refusal) == refused, f"{command}: {answer}"

    def _answer(self, command: Command | HouseCommand) -> object:
        if isinstance(command, HouseCommand):
            moved = decide_house(self.house, command)
            for event in () if isinstance(moved, Refusal) else moved:
                evolve_house(self.house, event)
            return moved
        played = decide(self.table, command)
        for happened in () if isinstance(played, Refusal) else played:
            evolve(self.table, happened)
        return played

    def by(self, who: str) -> dict[str, Any]:
        """Who asks, and when: a moment later than the one before."""
        self.now += 250
        return {"at": self.now, "by": who}

    # The evening's parts

    def open(self) -> None:
        """The House opens with money in the cage, and the table with its people."""
        ladder = ("cashier", "supervisor")
        self.ask(
            OpenHouse(
                **self.by("owner"), house="Lotus", currency="SGD", ladder=ladder, second_rank="supervisor"
            )
        )
        self.ask(
            EnrolPerson(**self.by("owner"), person="ann", rank="cashier"),
            EnrolPerson(**self.by("owner"), person="sue", rank="supervisor"),
            BringIn(**self.by("ann"), id="m1", amount=1_000_000, second="sue"),
        )
        self.ask(
            OpenTable(
                **self.by("sue"), table=NAME, limits=Limits(least=100, most=50_000), currency="SGD",
                day="2026-11-15", zone="Asia/Singapore", rank="shift-manager", settings={}, offers={},
            )
        )  # fmt: skip
        for person, rank in (("dan", "dealer"), ("pat", "pit-supervisor"), ("mia", "pit-manager")):
            self.ask(Assign(**self.by(HOUSE), person=person, rank=rank, position=rank))

    def sit_down(self) -> None:
        """Players sit down; one has a ticket, the others cash."""
        for seat in self.seats:
            at = _terminal(seat)
            self.ask(
                TakeSeat(**self.by(at), seat=seat, player=f"player {seat}", terminal=at, layout="B"),
                BuyCredits(**self.by(at), seat=seat, amount=100_000),
            )
        seat = self.seats[-1]
        ticket: dict[str, Any] = {"seat": seat, "session": self.table.seats[seat].session}
        self.ask(SellTicket(**self.by("ann"), ticket="sold", amount=30_000))
        self.ask(SendTicket(**self.by(TABLE), ticket="sold", transfer="in-1", table=NAME, **ticket))
        self.ask(ReceiveTicket(**self.by(CAGE), transfer="in-1", amount=30_000, **ticket))

    def round(self, number: int, *, void: bool) -> None:
        """One round; a void one ends with a die that does not lie flat."""
        self.perform(Act.OPEN_BETS)
        for turn in range(3):
            waiting = [self.bets(number, seat, turn) for seat in self.seats]
            while waiting:  # as many as come while the disk is busy with those before
                together = self.chance.choice((1, 2, 3, 5, 8))
                self.ask(*waiting[:together])
                del waiting[:together]
        seat = self.seats[0]
        again = self.bets(number, seat, 0)
        self.ask(again)  # a retry, harmless
        self.ask(TakeBack(**self.by(_terminal(seat)), round=number, seat=seat, ids=(again.bets[0].id,)))
        self.perform(Act.CLOSE_BETS, by="clock")
        self.ask(self.bets(number, seat, 9), refused=True)
        self.perform(Act.TUMBLE, tumbles=3)
        self.perform(Act.UNCOVER)
        if void:
            self.perform(Act.ENTER_RESULT, flat=False)
            return
        faces = tuple(self.chance.randint(1, 6) for _ in range(3))
        self.perform(Act.ENTER_RESULT, faces=faces)
        for act in (Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE):
            self.perform(act)

    def go_home(self) -> None:
        """A player takes his credits as a ticket and cashes it."""
        seat = self.seats[0]
        purse = self.table.seats[seat].purse
        assert purse is not None
        amount = purse.credits
        self.ask(DispenseCredits(**self.by(_terminal(seat)), transfer="out-1", seat=seat))
        self.ask(IssueTicket(**self.by(TABLE), transfer="out-1", table=NAME, ticket="paid", amount=amount))
        self.ask(RedeemTicket(**self.by("ann"), ticket="paid"))

    def perform(self, act: Act, *, by: str = "dan", **fields: Any) -> None:
        """An act of the round, alone in its batch."""
        self.ask(Perform(**self.by(by), act=act, **fields))

    def bets(self, number: int, seat: str, turn: int) -> PlaceBets:
        """The bets of a seat, the same for the same turn."""
        chance = Random(f"{number} {seat} {turn}")
        areas = chance.sample(AREAS, chance.choice((1, 1, 2, 4)))
        slips = tuple(
            Slip(f"{number}-{seat}-{turn}-{area}", area, 100 * chance.randint(1, 20)) for area in areas
        )
        return PlaceBets(**self.by(_terminal(seat)), round=number, seat=seat, bets=slips)


def _terminal(seat: str) -> str:
    return f"T{seat:0>2}"


def _stream(command: Command | HouseCommand) -> str:
    return HOUSE_STREAM if isinstance(command, HouseCommand) else TABLE_STREAM
