"""A crowd at one table: however many seats are shown, and however often, each bet is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from taisai.game.commands import BuyCredits, Perform, PlaceBets, Slip, TakeBack, TakeSeat
from taisai.game.events import BetRegistered
from taisai.game.refusals import Refusal
from taisai.journal import Submission, stream_of
from taisai.journal.codec import AnyCommand
from taisai.rules import Act
from taisai.server.auth.permissions import Role
from taisai.server.projections import seats as seats_module
from taisai.server.projections import table_feeds as table_feeds_module
from taisai.server.projections.rounds import round_view
from taisai.server.projections.seats import seat_view
from tests.server.virtual_server import PEOPLE, Connected, connected

STREAM: Final = stream_of("T1")
SEATS: Final = [f"z{n}" for n in range(60)]
EACH: Final = 5
"""Bets of a seat in a round."""
IN_A_ROUND: Final = len(SEATS) * EACH
DEALER: Final = PEOPLE[Role.DEALER]


class _Looks:
    def __init__(self, found: Any, looked: Callable[[], None]) -> None:
        self._found, self._looked = found, looked

    def __iter__(self) -> Iterator[Any]:
        for one in self._found:
            self._looked()
            yield one

    def __reversed__(self) -> Iterator[Any]:
        for one in reversed(self._found):
            self._looked()
            yield one

    def __len__(self) -> int:
        return len(self._found)


class Counted(dict[str, BetRegistered]):
    """Bets that count how often someone goes through them, one by one."""

    looked = 0

    def _look(self) -> None:
        self.looked += 1

    def __iter__(self) -> Iterator[str]:
        return iter(_Looks(super().keys(), self._look))

    def values(self) -> Any:
        """Every bet."""
        return _Looks(super().values(), self._look)

    def items(self) -> Any:
        """Every id and bet."""
        return _Looks(super().items(), self._look)


class Crowd:
    """The players of one table, without their terminals."""

    def __init__(self, house: Connected) -> None:
        self.house = house
        self.engine = house.engine
        self.projections = house.casino.queue.projections
        self.rounds: list[Counted] = []

    async def do(self, *commands: AnyCommand) -> None:
        """Does all of them, in one group."""
        told: list[Any] = []
        for command in commands:
            self.house.casino.queue.submit(Submission(STREAM, command), told.append)
        await self.house.settle()
        assert [answer for answer in told if isinstance(answer, Refusal)] == []
        assert len(told) == len(commands)

    async def sit(self) -> None:
        """Everybody sits down and has money."""
        now = self.house.clock.now()
        for seat in SEATS:
            await self.do(
                TakeSeat(at=now, by=seat, seat=seat, player=seat, terminal=seat, layout="B"),
                BuyCredits(at=now, by=seat, seat=seat, amount=100_000),
            )

    async def act(self, *acts: str, **fields: Any) -> None:
        """Acts of a round."""
        for act in acts:
            by = "clock" if act == "close-bets" else DEALER
            await self.do(Perform(at=self.house.clock.now(), by=by, act=Act(act), **fields))

    async def opens(self) -> None:
        """A round, whose bets count from here on."""
        await self.act("open-bets")
        round_ = self.engine.table("T1").round
        assert round_ is not None
        round_.bets = counted = Counted()
        self.rounds.append(counted)

    async def bet(self, names: str) -> None:
        """Everybody bets."""
        number, now = len(self.rounds), self.house.clock.now()
        areas = ("small", "big", "odd", "even", "single-3")
        await self.do(
            *(
                PlaceBets(
                    at=now, by=seat, round=number, seat=seat,
                    bets=tuple(Slip(f"{names}-{seat}-{n}", area, 100) for n, area in enumerate(areas)),
                )
                for seat in SEATS
            )
        )  # fmt: skip

    async def ends(self) -> None:
        """The round is played to its end."""
        await self.act("close-bets")
        await self.act("tumble", tumbles=3)
        await self.act("uncover")
        await self.act("enter-result", faces=(1, 2, 3))
        await self.act("settle", "collect-and-pay", "conclude")

    @property
    def looked(self) -> list[int]:
        """How many bets were looked at, by round."""
        return [one.looked for one in self.rounds]

    def count_anew(self) -> None:
        """From here on."""
        for one in self.rounds:
            one.looked = 0


async def _comes_back(house: Connected) -> None:
    crowd = Crowd(house)
    await crowd.sit()
    await crowd.opens()
    await crowd.bet("first")
    await crowd.ends()
    await crowd.opens()
    await crowd.bet("second")
    crowd.count_anew()
    for _ in range(3):
        for seat in SEATS:
            shown = crowd.projections.snapshot(f"seat:T1/{seat}")
            assert shown is not None
            assert len(shown.view.bets) == EACH  # type: ignore[attr-defined]
            assert shown.view.last.staked == 100 * EACH  # type: ignore[attr-defined]
    assert crowd.looked == [IN_A_ROUND, IN_A_ROUND], "of the last round and of the one in hand, each once"
    await crowd.bet("more")
    taken = TakeBack(at=house.clock.now(), by="z0", round=2, seat="z0", ids=("more-z0-0",))
    await crowd.do(taken)
    crowd.count_anew()
    for seat in SEATS:
        shown = crowd.projections.snapshot(f"seat:T1/{seat}")
        assert shown is not None
        assert len(shown.view.bets) == 2 * EACH - (seat == "z0")  # type: ignore[attr-defined]
    assert sum(crowd.looked) <= IN_A_ROUND, "the new ones alone, if nobody has looked at them yet"


@connected()
async def test_terminals_that_come_back_cost_one_look_at_each_bet(house: Connected) -> None:
    await _comes_back(house)


def test_sabotage_an_index_for_every_snapshot_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats_module, "seat_view", lambda table, name, _by_seat: seat_view(table, name))
    with pytest.raises(AssertionError):
        connected()(_comes_back)()


async def _histories(house: Connected) -> None:
    crowd = Crowd(house)
    await crowd.sit()
    for name in ("first", "second", "third"):
        await crowd.opens()
        await crowd.bet(name)
        await crowd.ends()
    crowd.count_anew()
    for _ in range(3):
        for seat in SEATS:
            told = crowd.projections.rounds("T1", most=10, seat=seat, own=True)
            assert [one.number for one in told] == [3, 2, 1]
            assert {one.totals.bets for one in told} == {EACH}
            assert {bet.seat for one in told for bet in one.bets} == {seat}
    assert max(crowd.looked) <= IN_A_ROUND


@connected()
async def test_everyones_history_costs_one_look_at_each_bet(house: Connected) -> None:
    await _histories(house)


def test_sabotage_rounds_that_are_gone_through_for_every_player_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fresh(*given: Any, index: object, **named: Any) -> Any:  # noqa: ARG001  nor is it used
        return round_view(*given, **named)

    monkeypatch.setattr(table_feeds_module, "round_view", fresh)
    with pytest.raises(AssertionError):
        connected()(_histories)()


@connected()
async def test_a_settlement_and_its_payment_go_through_no_seats_bets(house: Connected) -> None:
    crowd = Crowd(house)
    await crowd.sit()
    for seat in SEATS:
        crowd.projections.snapshot(f"seat:T1/{seat}")
    await crowd.opens()
    await crowd.bet("first")
    await crowd.act("close-bets")
    await crowd.act("tumble", tumbles=3)
    await crowd.act("uncover")
    await crowd.act("enter-result", faces=(1, 2, 3))
    crowd.count_anew()
    await crowd.act("settle", "collect-and-pay", "conclude")
    assert crowd.looked == [0]


async def _void(house: Connected) -> None:
    crowd = Crowd(house)
    await crowd.sit()
    for seat in SEATS:
        crowd.projections.snapshot(f"seat:T1/{seat}")
    await crowd.opens()
    await crowd.bet("first")
    await crowd.act("close-bets")
    await crowd.act("tumble", tumbles=3)
    await crowd.act("uncover")
    crowd.count_anew()
    await crowd.act("enter-result", flat=False)
    assert crowd.looked[0] <= 5 * IN_A_ROUND, "the game's own looks and ours, and not one for every seat"


@connected()
async def test_a_void_is_shown_to_every_seat_with_one_look_at_each_bet(house: Connected) -> None:
    await _void(house)


def test_sabotage_a_void_that_is_worked_out_for_every_seat_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats_module, "seat_view", lambda table, name, _by_seat: seat_view(table, name))
    with pytest.raises(AssertionError):
        connected()(_void)()


@connected()
async def test_staff_who_recall_a_round_are_shown_what_it_came_to_in_all(house: Connected) -> None:
    crowd = Crowd(house)
    await crowd.sit()
    await crowd.opens()
    await crowd.bet("first")
    await crowd.bet("second")
    await crowd.ends()
    (told,) = crowd.projections.rounds("T1", most=1, own=False)
    by_seat = [crowd.projections.rounds("T1", most=1, seat=seat, own=False)[0].totals for seat in SEATS]
    assert told.left_out == 2 * IN_A_ROUND - len(told.bets) > 0
    assert (told.totals.bets, told.totals.staked) == (2 * IN_A_ROUND, 2 * IN_A_ROUND * 100)
    assert told.totals.won == sum(one.won for one in by_seat) > 0
    assert told.totals.returned == sum(one.returned for one in by_seat)
