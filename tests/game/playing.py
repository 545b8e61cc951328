"""Plays at a table under a rulebook; `tests.game.played_events` describes what happened by its events.

Nothing here reads what a rulebook orders: the people, the equipment and the course of a round are written
down by hand, so that a book with something else in it is played otherwise, or not at all.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from taisai.game import play
from taisai.game.commands import (
    Assign,
    BuyCredits,
    Command,
    Inspect,
    Limits,
    LoadShoe,
    OpenTable,
    Perform,
    PlaceBets,
    PlaceItem,
    ReceiveFill,
    RecordBets,
    ReportIrregularity,
    ShuffleShoe,
    Slip,
    TakeSeat,
)
from taisai.game.equipment.items import HOUR
from taisai.game.events import Event
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import HOUSE, Means
from taisai.rules import Act, Irregularity, Outcome, Phase, Rulebook
from tests.game.copying import deeply_copied

Answer = tuple[Event, ...] | Refusal
Course = tuple[tuple[str, str], ...]
"""The acts of a round, each with the phase that it leads to."""

MBS, RWS, THREE_CARD, US = "mbs-sic-bo-v6", "rws-sic-bo-etg-v8", "mbs-3-card-sic-bo", "us-sic-bo"
START: Final = 1_700_000_000_000
CREDITS: Final = 100_000
FILL: Final = 1_000_000
STAKES: Final = {"small": 1_000, "big": 400}
"""What the player of seat 7 lays in every round."""
FACES: Final = (1, 2, 3)
OTHER_FACES: Final = (4, 5, 6)
LIMITS: Final = Limits(least=100, most=50_000)
SEAT: Final = "7"
TERMINAL: Final = "T07"

_ASIAN_PIT: Final = {
    "dan": "dealer",
    "pat": "pit-supervisor",
    "mia": "pit-manager",
    "sue": "shift-manager",
}
STAFF: Final[Mapping[str, Mapping[str, str]]] = {
    MBS: _ASIAN_PIT,
    RWS: _ASIAN_PIT,
    THREE_CARD: _ASIAN_PIT,
    US: {"dan": "dealer", "flo": "floorperson", "sal": "casino-supervisor", "sue": "casino-supervisor"},
}
"""Who is at the table; sue opened it."""

_KEYED: Final = (("enter-result", "entered"), ("settle", "settled"))
_PAID: Final = (("collect-and-pay", "paid"), ("conclude", "between"))
_BEFORE: Final = (("open-bets", "open"), ("tumble", "open-tumbled"), ("close-bets", "closed-tumbled"))
_AFTER: Final = (("open-bets", "open"), ("close-bets", "closed"), ("tumble", "closed-tumbled"))
_AMERICAN_END: Final = (("collect", "collected"), ("pay", "paid"), ("clear-lights", "between"))
_MBS_END: Final = (("press-deal", "deal-pressed"), ("uncover", "revealed"), *_KEYED, *_PAID)
_RWS_END: Final = (("uncover", "revealed"), *_KEYED, *_PAID)
COURSES: Final[Mapping[tuple[str, str], Course]] = {
    (MBS, "before_close"): (*_BEFORE, *_MBS_END),
    (MBS, "after_close"): (*_AFTER, *_MBS_END),
    (RWS, "before_close"): (*_BEFORE, *_RWS_END),
    (RWS, "after_close"): (*_AFTER, *_RWS_END),
    (THREE_CARD, ""): (*_AFTER[:2], ("deal-cards", "revealed"), *_KEYED, *_PAID),
    (US, "manual"): (*_AFTER, ("uncover", "revealed"), *_KEYED, *_AMERICAN_END),
    (US, "automated"): (*_AFTER[:2], ("activate-shaker", "revealed"), *_KEYED, *_AMERICAN_END),
}
"""(book, what its course depends on) → the course of a round."""
_DEPENDS_ON: Final = {
    MBS: ("tumble", "before_close"),
    RWS: ("tumble", "after_close"),
    US: ("shaker", "manual"),
}
"""Book → the setting that its course depends on, and the choice unless said."""
_ONLY_WITH: Final = {
    (MBS, "closed"): {"tumble": "after_close"},
    (RWS, "open-tumbled"): {"tumble": "before_close"},
}
"""Phases that a round passes only with a setting that is not the usual one."""
_PHASES: Final = {
    MBS: "between open open-tumbled closed closed-tumbled deal-pressed revealed entered settled paid",
    RWS: "between open open-tumbled closed closed-tumbled revealed entered settled paid",
    THREE_CARD: "between open closed revealed entered settled paid",
    US: "between open closed closed-tumbled revealed entered settled collected paid",
}


class Playing:
    """A table under a book, with its people, its equipment and a player who has money."""

    def __init__(
        self,
        book: Rulebook,
        settings: Mapping[str, str],
        *,
        limits: Limits = LIMITS,
        offers: Mapping[str, str] | None = None,
    ) -> None:
        self.book = book
        self.settings = dict(settings)
        self.table = Table(book)
        self.log: list[Event] = []
        self.now = START
        self.do(
            OpenTable, "sue", table="T1", limits=limits, currency="SGD", day="2026-11-15",
            zone="Asia/Singapore", rank=STAFF[book.id]["sue"], settings=self.settings,
            offers=dict(offers or {}),
        )  # fmt: skip

    # Asking and doing

    def ask(self, command: type[Command], by: str, **fields: Any) -> Answer:
        """What a command would come to; nothing is done."""
        return play.decide(self.table, command(at=self.now, by=by, **fields))

    def do(self, command: type[Command], by: str, **fields: Any) -> tuple[Event, ...]:
        """Does it; an AssertionError where it is refused."""
        self.now += 1_000
        answer = self.ask(command, by, **fields)
        assert not isinstance(answer, Refusal), f"{command.__name__} by {by}: {answer}"
        for event in answer:
            play.evolve(self.table, event)
            self.log.append(event)
            assert self.table.ledger.difference == 0
        return answer

    def refused(self, command: type[Command], by: str, **fields: Any) -> str:
        """'<reason> <clause>' of a command that is refused; an AssertionError where it is not."""
        told = self.tried(command, by, **fields)
        assert told != "done", f"expected {command.__name__} by {by} to be refused"
        return told

    def tried(self, command: type[Command], by: str, **fields: Any) -> str:
        """'done' where a command would be done, else '<reason> <clause>' of its refusal."""
        answer = self.ask(command, by, **fields)
        return f"{answer.reason} {answer.clause}" if isinstance(answer, Refusal) else "done"

    def fork(self) -> Playing:
        """The same table once more, to be played on without touching this one."""
        other = copy.copy(self)
        other.log = list(self.log)
        table = self.table
        shared: list[object] = [
            self.book, table.ranks, table.procedure, table.irregularities, table.means, table.limits,
            table.equipment.items, table.shoe.rule, *self.log, *table.in_force.values(),
        ]  # fmt: skip
        shared += [terms for layouts in table.in_force.values() for terms in layouts.values()]
        other.table = deeply_copied(table, shared)
        return other

    # Before the first round

    def staff(self) -> Playing:
        """The House signs everyone in to the position that he is of."""
        for person, rank in STAFF[self.book.id].items():
            if person != "sue":
                self.do(Assign, HOUSE, person=person, rank=rank, position=rank)
        return self

    def equip(self) -> Playing:
        """Chips in the tray, dice or cards on the table, everything inspected."""
        if self.book.id != RWS:
            self.do(ReceiveFill, "dan", transfer="fill-1", amount=FILL, second="sue")
        if self.book.id == THREE_CARD:
            self.do(LoadShoe, "dan", decks=4)
        if self.book.id == US:
            self.do(PlaceItem, "dan", item="dice")
            self.inspect()
        self.make_ready()
        return self

    def inspect(self) -> None:
        """The inspections that an American table opens with."""
        lit = tuple(self.table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
        self.do(Inspect, "flo", item="electrical-device", runs=1, passed=True, entered=FACES, lit=lit)
        if self.settings.get("shaker") == "automated":
            for person in ("flo", "sue"):
                self.do(Inspect, person, item="automated-shaker", runs=3, passed=True)

    def make_ready(self) -> None:
        """What a round takes before it opens: a shuffle, where there are cards."""
        if self.book.id == THREE_CARD:
            self.do(ShuffleShoe, "dan")

    def seat(self) -> Playing:
        """A player sits down at seat 7, at a terminal with credits where there are terminals."""
        if self.book.id == RWS:
            self.do(TakeSeat, TERMINAL, seat=SEAT, player="ann", terminal=TERMINAL, layout="B")
            self.do(BuyCredits, TERMINAL, seat=SEAT, amount=CREDITS)
        else:
            self.do(TakeSeat, "dan", seat=SEAT, player="ann")
        return self

    # A round

    @property
    def number(self) -> int:
        """The number of the round in hand, or of the last."""
        return self.table.round.number if self.table.round else len(self.table.rounds)

    def bets(self, **stakes: int) -> tuple[type[Command], str, dict[str, Any]]:
        """The command that lays stakes of seat 7, who gives it, its fields; an id is '<round>-<area>'."""
        known = self.table.round.bets if self.table.round else {}
        slips: list[Slip] = []
        for area, stake in stakes.items():
            name = f"{self.number}-{area.replace('_', '-')}"
            while name in known:
                name += "+"
            slips.append(Slip(name, area.replace("_", "-"), stake))
        fields: dict[str, Any] = {"round": self.number, "seat": SEAT, "bets": tuple(slips)}
        if self.book.id == RWS:
            return PlaceBets, TERMINAL, fields
        return RecordBets, "dan", fields | {"means": Means.CASH_CHIPS}

    def bet(self, **stakes: int) -> tuple[Event, ...]:
        """Lays stakes of seat 7: `bet(small=1_000, total_8=200)`."""
        command, by, fields = self.bets(**stakes)
        return self.do(command, by, **fields)

    def bet_refused(self, **stakes: int) -> str:
        """'<reason> <clause>' of stakes that are refused."""
        command, by, fields = self.bets(**stakes)
        return self.refused(command, by, **fields)

    def performing(self, act: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        """Who performs an act, and with what."""
        if act == Act.TUMBLE:
            fields = {"tumbles": 3} | fields
        if act == Act.ENTER_RESULT:
            fields = {"faces": FACES} | fields
        by = "clock" if (self.book.id, act) == (RWS, Act.CLOSE_BETS) else "dan"
        return by, {"act": Act(act)} | fields

    def act(self, act: str, **fields: Any) -> tuple[Event, ...]:
        """Performs an act."""
        by, fields = self.performing(act, **fields)
        return self.do(Perform, by, **fields)

    def act_refused(self, act: str, **fields: Any) -> str:
        """'<reason> <clause>' of an act that is refused."""
        by, fields = self.performing(act, **fields)
        return self.refused(Perform, by, **fields)

    def report(self, event: str, **fields: Any) -> Answer:
        """What a report would come to, on the round in hand or, between rounds, the last."""
        return self.ask(ReportIrregularity, "dan", **self.reporting(event, **fields))

    def reporting(self, event: str, **fields: Any) -> dict[str, Any]:
        """The fields of a report with all that any ruling could ask for."""
        usual = {"event": Irregularity(event), "round": self.number, "second": "sue", "faces": OTHER_FACES}
        return usual | fields

    def to(self, phase: str) -> Playing:
        """Brings the round to a phase, from the beginning of a round; seat 7 bets once bets are open."""
        for act, reached in course(self.book.id, self.settings):
            if self.table.round is None and act != Act.OPEN_BETS:
                break
            self.act(act)
            assert self.table.phase == reached, f"{act} led to {self.table.phase}, not to {reached}"
            if act == Act.OPEN_BETS:
                self.bet(**STAKES)
            if reached == phase:
                if reached == Phase.BETWEEN:
                    self.make_ready()
                return self
        raise AssertionError(f"a round does not come to {phase}")

    def wear(self, hours: int = 25) -> Playing:
        """A day and an hour pass, and a trial finds a device out of order: no reason to stop a round."""
        self.now += hours * HOUR
        if self.book.id == US:
            self.do(Inspect, "flo", item="electrical-device", runs=1, passed=False, entered=FACES)
            if self.settings.get("shaker") == "automated":
                self.do(Inspect, "flo", item="automated-shaker", runs=3, passed=False)
        return self

    # What there is of it

    @property
    def credits(self) -> int:
        """The credits of seat 7."""
        purse = self.table.seats[SEAT].purse
        assert purse is not None
        return purse.credits

    def balance(self, account: Account) -> int:
        """What an account holds."""
        return self.table.ledger.balances[account]

    def entries(self) -> list[tuple[str, int, str]]:
        """(account, amount, clause) of the entries of the last event."""
        return [(str(one.account), one.amount, str(one.clause)) for one in self.table.ledger.latest]


def course(book: str, settings: Mapping[str, str]) -> Course:
    """The course of a round under these settings."""
    name, usual = _DEPENDS_ON.get(book, ("", ""))
    return COURSES[book, settings.get(name, usual)]


def phases(book: str) -> list[str]:
    """The phases of a book, in order."""
    return _PHASES[book].split()


# Tables that stand in a phase, to be asked or forked


class Stands(NamedTuple):
    """A table in each phase that a round came to, and why it came no further."""

    by_phase: Mapping[str, Playing]
    stopped: str


@lru_cache(maxsize=16)
def _stands(book: Rulebook, settings: tuple[tuple[str, str], ...]) -> Stands:
    playing = Playing(book, dict(settings)).staff().equip().seat()
    reached: dict[str, Playing] = {}
    stopped = "a round does not come here"
    here = playing
    for act, phase in course(book.id, dict(settings)):
        here = here.fork()
        try:
            here.act(act)
            assert here.table.phase == phase, f"{act} led to {here.table.phase}, not to {phase}"
            if act == Act.OPEN_BETS:
                here.bet(**STAKES)
            if phase == Phase.BETWEEN:
                here.make_ready()
        except AssertionError as error:
            stopped = str(error)
            break
        reached[phase] = here
    return Stands(reached, stopped)


def standing(book: Rulebook, phase: str, **settings: str) -> Playing:
    """A table in a phase with the bets of seat 7 on it: to be asked only. Between: after the first round."""
    chosen = _ONLY_WITH.get((book.id, phase), {}) | settings
    stands = _stands(book, tuple(sorted(chosen.items())))
    assert phase in stands.by_phase, f"{phase}: {stands.stopped}"
    return stands.by_phase[phase]


@lru_cache(maxsize=32)
def _worn(here: Playing, hours: int) -> Playing:
    return here.fork().wear(hours)


def worn(book: Rulebook, phase: str, *, hours: int = 25, **settings: str) -> Playing:
    """The same after a day and a failure, which stop no round that is in hand: to be asked only."""
    return _worn(standing(book, phase, **settings), hours)


def at(book: Rulebook, phase: str, **settings: str) -> Playing:
    """A table in a phase with the bets of seat 7 on it, to be played on."""
    return standing(book, phase, **settings).fork()


def opened(
    book: Rulebook, *, limits: Limits = LIMITS, offers: Mapping[str, str] | None = None, **settings: str
) -> Playing:
    """A table before its first round, staffed, equipped, with a player."""
    return Playing(book, settings, limits=limits, offers=offers).staff().equip().seat()
