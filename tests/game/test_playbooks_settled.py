"""Every settlement in every playbook against the oracle, from the registered bets alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import pytest

from taisai.game import events as happened
from taisai.game.commands import Limits
from taisai.game.events import Event
from taisai.game.playbook import LimitEffect, Play
from taisai.game.vocabulary import Means
from tests.game.playbooks import (
    PLAYBOOKS,
    book_of,
    document_of,
    each_playbook,
    terms_compiled_once,
    told,
)
from tests.oracle import PAY_TABLES, PayTable, Roll


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


class Sign(NamedTuple):
    """The limits of a table as a player reads them off the sign."""

    limits: Limits

    def on(self, area: str) -> tuple[int, int]:
        kind = "even-money" if area in ("small", "big", "odd", "even") else re.sub(r"-\d+$", "", area)
        both = (self.limits.least, self.limits.most)
        return self.limits.groups.get(area) or self.limits.groups.get(kind) or both


class Expected(NamedTuple):
    staked: int
    collected: int
    won: int
    returned: int
    by_seat: dict[str, int]


class Accountant:
    """Follows a stream of events with pencil and paper and knows what each settlement should be."""

    def __init__(self) -> None:
        self.bets: dict[int, dict[str, happened.BetRegistered | happened.RecordedBet]] = defaultdict(dict)
        self.returned_under: dict[int, set[tuple[str, str]]] = {}
        self.player: dict[str, str] = {}
        """Seat → who sits there: by name, or whoever took it last."""
        self.sitting: set[str] = set()
        self.left: Counter[str] = Counter()
        """Player → how often they left the table."""
        self.once: Counter[str] = Counter()
        """Player and stay → rounds in which a bet under the minimum was settled."""
        self.used: dict[int, set[str]] = {}
        self.freed: dict[int, set[str]] = defaultdict(set)
        """Round that is looked at again → players whose tolerance is free when the next round opens."""
        self.seated: dict[int, dict[str, str]] = {}
        """Round → seat → the player's stay then."""
        self.round, self.is_open, self.in_hand = 0, False, False
        self.terms: dict[int, tuple[Sign, dict[str, str]]] = {}
        """Round → the limits on the sign and the odds offered when it opened."""

    def see(self, event: Event) -> None:  # noqa: C901, PLR0912, PLR0915  one line for each thing that can happen
        match event:
            case happened.TableOpened():
                self.opened, self.offers, self.limits = event, event.offers, Sign(event.limits)
                memory = event.settings.get("under_minimum_memory", "stay")
                self.by_day, self.by_stay = memory.isdigit(), memory == "stay"
                self.memory = int(memory) if self.by_day else 1
                self.loses_double = event.settings.get("double_on_triple") == "no"
            case happened.LimitsSet():
                self.limits = Sign(event.limits)
            case happened.OddsOffered():
                self.offers = event.offers
            case happened.SeatTaken():
                self.player[event.seat] = event.player or f"{event.seat} since {event.at}"
                self.sitting.add(event.seat)
                if self.is_open:
                    self.seated[self.round][event.seat] = self.remembered(event.seat)
            case happened.SeatLeft():
                self.sitting.remove(event.seat)
                player = self.player[event.seat]
                if self.by_stay and player not in {self.player[seat] for seat in self.sitting}:
                    self.left[player] += 1
            case happened.DayBegun() if self.by_day:
                self.once.clear()
            case happened.BetsOpened():
                for players in self.freed.values():
                    self.once.subtract(players)
                self.freed.clear()
                self.round, self.is_open, self.in_hand = event.round, True, True
                self.terms[event.round] = (self.limits, self.offers)
                self.seated[event.round] = {seat: self.remembered(seat) for seat in self.sitting}
            case happened.BetsClosed():
                self.is_open = False
            case happened.BetRegistered():
                self.bets[event.round][event.id] = event
            case happened.BetTakenBack() | happened.BetReturned():
                del self.bets[event.round][event.id]
            case happened.BetMoved():
                bet = self.bets[event.round][event.id]
                assert isinstance(bet, happened.BetRegistered)
                facts = {name: getattr(bet, name) for name in bet.__struct_fields__}
                self.bets[event.round][event.id] = happened.BetRegistered(**(facts | {"area": event.area}))
            case happened.RecordCorrected():
                bets = self.bets[event.round]
                if event.before is not None:
                    del bets[event.before.id]
                bets |= {bet.id: bet for bet in (event.after, event.part) if bet is not None}
                self._look_again(event.round)
            case happened.WithdrawalChosen() if event.withdraw:
                left = {name: bet for name, bet in self.bets[self.round].items() if bet.seat != event.seat}
                self.bets[self.round] = left
            case happened.SettlementUndone() | happened.RoundVoided():
                self._look_again(event.round)
                is_over = isinstance(event, happened.RoundVoided) and event.round == self.round
                self.in_hand = self.in_hand and not is_over
            case happened.RoundConcluded():
                self.in_hand = False
            case _:
                pass

    def _look_again(self, number: int) -> None:
        """The bet under the minimum may not have been settled after all; a round in hand counts it still."""
        players = self.used.pop(number, set())
        if self.in_hand and number != self.round and not self.by_day:
            self.freed[number] |= players
        else:
            self.once.subtract(players)

    def settles(self, number: int, faces: Roll) -> Expected:
        """5.10: under the minimum settled once, then returned; 5.11: over the maximum the excess returned."""
        sign = self.terms[number][0]
        stakes: Counter[tuple[str, str, str]] = Counter()
        for bet in self.bets[number].values():
            stakes[bet.seat, bet.layout, bet.area] += bet.stake
        if number not in self.used:
            self._decide_limits(number, stakes)
        collected = won = returned = 0
        by_seat: Counter[str] = Counter()
        for (seat, layout, area), stake in stakes.items():
            most = sign.on(area)[1]
            most = most if self.opened.rulebook.startswith(("mbs-sic-bo", "rws")) else stake  # it is referred
            plays = 0 if (seat, area) in self.returned_under[number] else min(stake, most)
            net = self.net(number, layout, area, faces)
            by_seat[seat] += stake - plays
            returned += stake - plays
            if net < 0:
                collected += plays
                continue
            gain = plays * net
            assert gain.denominator == 1, "refused at entry"
            won, returned = won + int(gain), returned + plays
            by_seat[seat] += plays + int(gain)
        return Expected(sum(stakes.values()), collected, won, returned, dict(by_seat))

    def _decide_limits(self, number: int, stakes: Counter[tuple[str, str, str]]) -> None:
        sign = self.terms[number][0]
        under = {(seat, area) for (seat, _, area), stake in stakes.items() if stake < sign.on(area)[0]}
        players = {self.seated[number][seat] for seat, _ in under}
        own = self.freed[number]
        free = {player for player in players if self.once[player] - (player in own) < self.memory}
        self.used[number] = free
        self.once.update(free - own)
        self.freed[number] -= free
        self.returned_under[number] = {
            one for one in under if self.seated[number][one[0]] not in self.used[number]
        }

    def remembered(self, seat: str) -> str:
        """The player of a seat, in this stay at the table."""
        return f"{self.player[seat]}, stay {self.left[self.player[seat]]}"

    def double_lost(self, area: str, faces: Roll) -> bool:
        """Two of a kind on three of that kind, where the table is set to take it."""
        return self.loses_double and area.startswith("double-") and len(set(faces)) == 1

    def net(self, number: int, layout: str, area: str, faces: Roll) -> Fraction:
        if self.double_lost(area, faces):
            return Fraction(-1)
        net = pay_table(self.opened.rulebook, layout).verdict(area, faces).net
        offers = self.terms[number][1]
        if net > 0 and area in offers and not area.startswith("single-"):
            return Fraction(offers[area].partition(" to ")[0])
        return net


def pay_table(book: str, layout: str) -> PayTable:
    document = document_of(book)
    (table,) = (table for table in PAY_TABLES if table.rulebook == document and layout in table.layouts)
    return table


def settlements(name: str) -> Iterator[tuple[Event, Expected, dict[str, int], list[str]]]:
    """Each settlement: the event, what the oracle expects, what the seats got, clauses that are not its."""
    accountant, of = Accountant(), told(name)
    for event in of.opened:
        accountant.see(event)
    for step in of.played:
        for one in step.happened:
            event = one.event
            if isinstance(event, happened.RoundSettled | happened.RoundResettled):
                number = event.round if isinstance(event, happened.RoundResettled) else accountant.round
                roll: Roll = (event.faces[0], event.faces[1], event.faces[2])
                got: Counter[str] = Counter()
                for share in one.shares:
                    got[share.seat] += share.returned
                clauses = [
                    f"{share.area} {share.clause}"
                    for share in one.shares
                    if share.limited in (LimitEffect.NOT, LimitEffect.UNDER_ONCE)
                    and not accountant.double_lost(share.area, roll)
                    and share.clause
                    != pay_table(of.story.book, share.layout).verdict(str(share.area), roll).clause
                ]
                yield event, accountant.settles(number, roll), dict(got), clauses
            accountant.see(event)


@each_playbook
def test_every_settlement_is_what_the_oracle_says(name: str) -> None:
    for event, expected, got, clauses in settlements(name):
        assert isinstance(event, happened.RoundSettled | happened.RoundResettled)
        assert (event.staked, event.collected, event.won, event.stakes_back) == expected[:4]
        assert got == expected.by_seat
        assert clauses == []


@each_playbook
def test_what_the_seats_are_owed_is_what_the_settlement_tells(name: str) -> None:
    """The table's own purses, of which the lines of a settlement are only the telling."""
    story = told(name).story
    at = Play(story, book_of(story.book))
    for step in at.steps():
        if any(isinstance(event, happened.WinnersPaid) for event in step.events):
            continue  # entered as it was made by hand, and paid in the same breath
        for one in step.happened:
            if isinstance(one.event, happened.RoundSettled):
                owed: Counter[str] = Counter()
                for share in one.shares:
                    owed[share.seat] += share.returned
                seats = at.table.seats.values()
                assert {
                    seat.name: sum(purse.payable for purse in seat.purses.values()) for seat in seats
                } == {seat.name: owed[seat.name] for seat in seats}


def test_there_are_settlements_under_the_minimum_over_the_maximum_and_at_every_layout() -> None:
    shares = [
        share
        for name in PLAYBOOKS
        for step in told(name).played
        for one in step.happened
        for share in one.shares
    ]
    assert {share.limited for share in shares} == set(LimitEffect)
    assert {share.layout for share in shares} >= {"A", "B", "C"}
    assert {share.means for share in shares} == {Means.CREDITS, Means.CASH_CHIPS, Means.COLOUR_CHIPS}


def test_sabotage_an_accountant_who_forgets_the_limits_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sign, "on", lambda _self, _area: (1, 10**9))
    with pytest.raises(AssertionError):
        test_every_settlement_is_what_the_oracle_says("mbs-plain-round")
