"""Tables of every kind under watch, and a hand that plays, errs and disturbs at them by a seed."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import msgspec

from taisai.game import commands as c
from taisai.game import events as e
from taisai.game import play, vocabulary
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import Table
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import Means
from taisai.rules import OUTCOMES, rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES
from tests.game.snapshots import copied, snapshot

NOON = 1_800_000_000_000
ROLL = vocabulary.HOUSE
EVENTS: Any = msgspec.json.Decoder(reduce(operator.or_, e.EVENTS))
COMMANDS: Any = msgspec.json.Decoder(reduce(operator.or_, c.COMMANDS))
WITH_ID = (
    c.PlaceBets, c.RecordBets, c.TakeBack, c.ReceiveTicket, c.DispenseCredits, c.ReceiveFill, c.SendCredit,
    c.SendDrop, c.TakeReading, c.CommitSeed, c.RevealSeed,
)  # fmt: skip
"""Commands that say which they are: done again they change nothing."""


def read_back(event: e.Event) -> e.Event:
    """An event written down and read again."""
    return EVENTS.decode(msgspec.json.encode(event))  # type: ignore[no-any-return]


VAGUE = re.compile(r"\bgot (nobody|another|others|more|one that|it is)\b|\b(he|his|him)\b")
"""What a refusal must not say: it names the problem, and both values where one was expected."""


class Setup(NamedTuple):
    """A table to be played at."""

    name: str
    book: str
    settings: dict[str, str]
    layout: str = "A"
    demonstration: bool = False
    exposure: int | None = 2_000_000
    offers: dict[str, str] = {}  # noqa: RUF012  nobody changes it


MBS, RWS, CARDS, US = "mbs-sic-bo-v6", "rws-sic-bo-etg-v8", "mbs-3-card-sic-bo", "us-sic-bo"
SETUPS = (
    Setup("mbs", MBS, {"tumble": "before_close"}),
    Setup("mbs-after", MBS, {"tumble": "after_close", "under_minimum_memory": "ever"}, "B", exposure=None),
    Setup("mbs-demonstration", MBS, {}, demonstration=True),
    Setup("rws", RWS, {}, "B"),
    Setup("rws-before", RWS, {"tumble": "before_close", "higher_may_act": "yes"}, "C", exposure=None),
    Setup("rws-grace", RWS, {"fail_over_grace": "5"}, "A", exposure=200_000),
    Setup("cards", CARDS, {"shuffle": "every_round", "burn": "3"}),
    Setup(
        "cards-penetration", CARDS, {"shuffle": "penetration", "penetration": "10", "higher_may_act": "no"}
    ),
    Setup("cards-demonstration", CARDS, {}, "B", demonstration=True),
    Setup("us-manual", US, {"shaker": "manual"}),
    Setup(
        "us-manual-void", US, {"no_roll": "void", "double_on_triple": "no"}, offers={"triple-1": "170.5 to 1"}
    ),
    Setup("us-automated", US, {"shaker": "automated", "higher_may_act": "no"}, demonstration=True),
    Setup("us-automated-void", US, {"shaker": "automated", "no_roll": "void"}, exposure=None),
    Setup("mbs-first-edition", f"{MBS}@1", {"under_minimum_memory": "2"}),
    Setup("rws-first-edition", f"{RWS}@1", {}, "B"),
    Setup("cards-first-edition", f"{CARDS}@1", {"shuffle": "every_round"}),
    Setup("us-first-edition", f"{US}@1", {"shaker": "manual"}),
)
NAMES = {
    "dealer": "dan", "pit-supervisor": "pia", "pit-manager": "mel", "shift-manager": "sue",
    "floorperson": "flo", "casino-supervisor": "sue",
}  # fmt: skip


def limits_of(setup: Setup) -> Limits:
    """Narrow limits, so that they are met."""
    groups = {"any-triple": (50, 1_000), "even-money": (200, 20_000)}
    return Limits(least=100, most=5_000, groups=groups, exposure=setup.exposure)


def inspections(table: Table, at: int) -> Iterator[c.Command]:
    """What makes the equipment of a table ready."""
    if table.book.id != US:
        return
    yield c.PlaceItem(at=at, by="dan", item="dice", serial=f"d{at}")
    lit = tuple(map(str, table.terms[table.layout].matrix.illuminated(OUTCOMES[7])))
    faces = tuple(OUTCOMES[7].faces)
    yield c.Inspect(at=at, by="flo", item="electrical-device", runs=1, passed=True, entered=faces, lit=lit)
    for by in ("flo", "sue"):
        yield c.Inspect(at=at, by=by, item="automated-shaker", runs=3, passed=True)


def opening(setup: Setup) -> Iterator[Callable[[Table], Iterator[c.Command]]]:
    """The commands that open a table, staff it and seat three players."""
    book = rulebook(setup.book)
    top = book.people.ranks()[-1]

    def first(_table: Table) -> Iterator[c.Command]:
        yield c.OpenTable(
            at=NOON, by="sue", table="T1", limits=limits_of(setup), currency="SGD", day="2026-11-15",
            zone="Asia/Singapore", rank=top, settings=setup.settings, offers=setup.offers,
            layout=setup.layout, demonstration=setup.demonstration,
        )  # fmt: skip

    def then(table: Table) -> Iterator[c.Command]:
        for rank in book.people.ranks()[:-1]:
            yield c.Assign(at=NOON, by=ROLL, person=NAMES[rank], rank=rank, position=rank)
        yield c.Assign(at=NOON, by=ROLL, person="vic", rank=top, position=top)
        yield from inspections(table, NOON)
        yield c.LoadShoe(at=NOON, by="dan", decks=2)
        yield c.ShuffleShoe(at=NOON, by="dan")
        if Means.CREDITS not in table.means:
            yield c.ReceiveFill(at=NOON, by="dan", transfer="f0", amount=30_000, second="sue")
            yield c.TakeSeat(at=NOON, by="dan", seat="1", player="Ann")
            yield c.TakeSeat(at=NOON, by="dan", seat="2")
            yield c.BuyColour(
                at=NOON, by="dan", seat="2", colour="red", value=100, pieces=300, paid_with=Means.CASH
            )
        for seat in ("2", "3"):
            yield c.TakeSeat(at=NOON, by=f"t{seat}", seat=seat, terminal=f"t{seat}")
            yield c.BuyCredits(at=NOON, by=f"t{seat}", seat=seat, amount=60_000)

    return iter((first, then))


class Watched:
    """A table under watch: what it was asked, what happened, and what should never have."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.book = rulebook(setup.book)
        self.table = Table(self.book)
        self.twin = Table(self.book)
        """The same table made again from what was written down."""
        self.kept = snapshot(self.table)
        self.asked: list[c.Command] = []
        self.done: list[c.Command] = []
        self.events: list[e.Event] = []
        self.faults: list[str] = []
        self.counts: Counter[tuple[type[c.Command], str]] = Counter()
        self.bets = Bets()

    def copy(self) -> Watched:
        """Another in the same state."""
        other = Watched(self.setup)
        other.table, other.twin, other.kept = copied(self.table), copied(self.twin), self.kept
        other.asked, other.done = list(self.asked), list(self.done)
        other.events, other.faults = list(self.events), list(self.faults)
        other.counts = Counter(self.counts)
        other.bets.live, other.bets.settled = dict(self.bets.live), dict(self.bets.settled)
        other.bets.open, other.bets.round, other.bets.gone = (
            self.bets.open,
            self.bets.round,
            set(self.bets.gone),
        )
        return other

    def ask(self, command: c.Command) -> tuple[e.Event, ...] | Refusal:
        """Decides and does it, and notes every fault that shows."""
        command = COMMANDS.decode(msgspec.json.encode(command))  # as it comes in over a wire
        self.asked.append(command)
        decided: tuple[e.Event, ...] | Refusal = ()
        try:
            decided = play.decide(self.table, command)
            self.faults += self._unlike(command)
            if isinstance(decided, Refusal):
                self.faults += self._bad_refusal(command, decided)
            else:
                self._do(command, decided)
        except Exception as error:  # noqa: BLE001
            self.faults.append(f"{command} raised {error!r}")
        how = "refused" if isinstance(decided, Refusal) else "done" if decided else "again"
        self.counts[type(command), how] += 1
        return decided

    def _unlike(self, command: c.Command) -> Iterator[str]:
        if snapshot(self.table) != self.kept:
            yield f"deciding on {command} changed the table"
        if COMMANDS.decode(msgspec.json.encode(command)) != command:
            yield f"{command} is another when it is read back"

    def _bad_refusal(self, command: c.Command, refusal: Refusal) -> Iterator[str]:
        if refusal.clause not in self.book.clauses and refusal.clause not in HOUSE_PROCEDURES:
            yield f"{refusal} of {command} cites no clause"
        words = refusal.message
        if len(words.split()) < 3 or not words.isprintable() or len(words) > 1_000 or VAGUE.search(words):
            yield f"{refusal} of {command} does not name the problem"

    def _do(self, command: c.Command, decided: tuple[e.Event, ...]) -> None:
        for event in decided:
            again = read_back(event)
            if again != event:
                self.faults.append(f"{event} is another when it is read back")
            self.faults += self.bets.seen(event)
            play.evolve(self.table, event)
            play.evolve(self.twin, again)
            self.events.append(event)
            self.faults += wrong_books(self.table, event)
        if not decided:
            return
        self.done.append(command)
        self.kept = snapshot(self.table)
        if snapshot(self.twin) != self.kept:
            self.faults.append(f"what {command} wrote down makes another table")
        self.faults += self.bets.lost(self.table)
        if isinstance(command, WITH_ID) and (retried := play.decide(self.table, command)) != ():
            self.faults.append(f"a retry of {command} gave {retried}")

    def replay(self) -> None:
        """The whole stream again, from nothing."""
        try:
            if snapshot(play.replayed(self.book, self.events)) != self.kept:
                self.faults.append("a replay makes another table")
        except Exception as error:  # noqa: BLE001
            self.faults.append(f"a replay raised {error!r}")


class Bets:
    """What became of every bet, told by the events alone."""

    def __init__(self) -> None:
        self.open = False
        self.round = 0
        self.live: dict[tuple[int, str], e.BetRegistered] = {}
        self.settled: dict[tuple[int, str], e.BetRegistered] = {}
        self.gone: set[tuple[int, str]] = set()
        self.over: set[int] = set()
        """Rounds that are settled."""

    def seen(self, event: e.Event) -> Iterator[str]:  # noqa: C901  one kind of event after the other
        """Follows an event, and says what it does to bets that should not be."""
        match event:
            case e.BetsOpened() | e.BetsReopened():
                self.open, self.round = True, event.round
            case e.BetsClosed():
                self.open = False
            case e.BetRegistered():
                if not self.open or event.round != self.round:
                    yield f"{event} was registered after the close"
                if (event.round, event.id) in self.live.keys() | self.settled.keys() | self.gone:
                    yield f"{event} was registered twice"
                self.live[event.round, event.id] = event
            case e.BetTakenBack() | e.BetReturned():
                yield from self._leaves(event)
            case e.BetMoved():
                bet = self.live[event.round, event.id]
                self.live[event.round, event.id] = msgspec.structs.replace(bet, area=event.area)
            case e.RecordCorrected():
                yield from self._corrected(event)
            case e.WithdrawalChosen(withdraw=True):
                for key in [key for key, bet in self.live.items() if bet.seat == event.seat]:
                    self.live.pop(key)
                    self.gone.add(key)
            case _:
                yield from self._ends(event)

    def _corrected(self, event: e.RecordCorrected) -> Iterator[str]:
        """The record of a bet is what the event says of it, and was what it says it was."""
        bets = self.settled if event.round in self.over else self.live
        known = None
        if event.before is not None:
            key = (event.round, event.before.id)
            known = bets.pop(key, None)
            was = event.before
            if known is None or (known.seat, known.area, known.stake) != (was.seat, was.area, was.stake):
                yield f"{event}, and the record was {known}"
            if event.after is None:
                self.gone.add(key)
        for bet, old in ((event.after, known), (event.part, None)):
            if bet is None:
                continue
            if (event.round, bet.id) in self.live.keys() | self.settled.keys() | self.gone:
                yield f"{event}, and bet {bet.id} was recorded before"
            first = old or event
            bets[event.round, bet.id] = e.BetRegistered(
                at=first.at, by=first.by, clause=first.clause, round=event.round, id=bet.id, seat=bet.seat,
                means=bet.means, layout=bet.layout, area=bet.area, stake=bet.stake,
                at_request=old is not None and old.at_request,
            )  # fmt: skip

    def _leaves(self, event: e.BetTakenBack | e.BetReturned) -> Iterator[str]:
        if self.live.pop((event.round, event.id), None) is None:
            yield f"{event}, and no such bet stood"
        if isinstance(event, e.BetTakenBack) and not self.open:
            yield f"{event} after the close"
        self.gone.add((event.round, event.id))

    def _ends(self, event: e.Event) -> Iterator[str]:  # noqa: C901  one kind of event after the other
        match event:
            case e.RoundSettled():
                staked = sum(bet.stake for bet in self.live.values())
                if event.staked != staked or event.staked != event.collected + event.stakes_back:
                    yield f"{event}, and {staked} was staked"
                self.over.add(self.round)
                self.settled |= self.live
                self.live = {}
            case e.RoundResettled():
                staked = sum(bet.stake for key, bet in self.settled.items() if key[0] == event.round)
                if event.staked != staked:
                    yield f"{event}, and {staked} was staked"
            case e.SettlementUndone():
                self.over.discard(event.round)
                self.live = {key: bet for key, bet in self.settled.items() if key[0] == event.round}
                self.settled = {key: bet for key, bet in self.settled.items() if key[0] != event.round}
            case e.RoundVoided():
                ended = {k: bet for k, bet in (self.live | self.settled).items() if k[0] == event.round}
                staked = sum(bet.stake for bet in ended.values())
                if event.staked != staked:
                    yield f"{event}, and {staked} was staked"
                self.gone |= ended.keys()
                for key in ended:
                    self.live.pop(key, None)
                    self.settled.pop(key, None)
                self.open = self.open and event.round != self.round
            case e.RoundConcluded():
                self.open = False
                if self.live:
                    yield f"{event}, and these bets are lost: {self.live}"
            case _:
                pass

    def lost(self, table: Table) -> Iterator[str]:
        """Bets that the table knows otherwise than the events told."""
        for round_ in [*table.rounds, *([table.round] if table.round else [])]:
            number = round_.number
            told = self.live | self.settled
            expected = {key[1]: bet for key, bet in told.items() if key[0] == number}
            standing = {} if round_.voided else {bet.id: bet for bet in round_.live()}
            if standing != expected:
                yield f"bets of round {number} are {standing}, told were {expected}"
            if bool(round_.settled) is not any(key[0] == number for key in self.settled) and expected:
                yield f"round {number} is not settled as told"


def wrong_books(table: Table, event: e.Event) -> Iterator[str]:
    """What does not balance after an event."""
    kept, ledger = table.ledger.balances, table.ledger
    if ledger.difference:
        yield f"after {event} held and owed differ by {ledger.difference}"
    if sum(entry.amount if entry.account.held else -entry.amount for entry in ledger.latest):
        yield f"the entries of {event} do not sum to zero"
    if any(balance < 0 for balance in kept.values()):
        yield f"after {event} something is negative: {kept}"
    for clause in {event.clause, *(entry.clause for entry in ledger.latest)}:
        if clause not in table.book.clauses and clause not in HOUSE_PROCEDURES:
            yield f"{event} is booked by {clause}, which is no clause"
    purses = table.purses
    sums = {
        Account.CREDITS: sum(purse.credits for purse in purses),
        Account.AT_RISK: sum(purse.at_risk for purse in purses),
        Account.PAYABLE: sum(purse.payable for purse in purses),
        Account.CLAIMS_OF_PLAYERS: sum(one.amount for one in table.claims.values() if one.of_player),
        Account.CLAIMS_ON_PLAYERS: sum(one.amount for one in table.claims.values() if not one.of_player),
        Account.TRANSIT_DUE: table.archived.due + sum(max(0, one) for one in table.in_transit().values()),
        Account.TRANSIT_OWED: table.archived.owed - sum(min(0, one) for one in table.in_transit().values()),
        Account.AT_RISK: _at_risk(table.round),
    }
    for account, total in sums.items():
        if total != kept[account]:
            yield f"after {event} {account} is {kept[account]}, its parts are {total}"
    if any(min(purse.credits, purse.at_risk, purse.payable) < 0 for purse in purses):
        yield f"after {event} a purse is negative"
    if sum(purse.at_risk for purse in purses) != kept[Account.AT_RISK]:
        yield f"after {event} the purses have something else at risk than is booked"


def _at_risk(round_: Round | None) -> int:
    if round_ is None or round_.settled:
        return 0
    return sum(bet.stake for bet in round_.live())


def opened(setup: Setup) -> Watched:
    """A table of a kind, open, staffed and with players; made once and copied."""
    key = repr(setup)
    if key not in _OPENED:
        _OPENED[key] = newly_opened(setup)
    return _OPENED[key].copy()


_OPENED: dict[str, Watched] = {}


def newly_opened(setup: Setup) -> Watched:
    """The same, from its first command on."""
    under = Watched(setup)
    for commands in opening(setup):
        for command in commands(under.table):
            under.ask(command)
    return under
