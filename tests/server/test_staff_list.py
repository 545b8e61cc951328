"""The roll at the tables: nobody acts on a rank that he has no more."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.cage.messages import DismissPerson, EnrolPerson
from taisai.game.commands import Assign
from taisai.game.events import PersonLeft
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import stream_of
from taisai.journal.errors import JournalError
from taisai.server.auth.permissions import Role
from taisai.server.handlers import positions
from taisai.server.runtime.reconciliation import PositionReconciler, out_of_place
from tests.server.virtual_server import PEOPLE, Connected, Line, connected

ADA, MAX = PEOPLE[Role.ADMINISTRATOR], PEOPLE[Role.SHIFT_MANAGER]
SUE, DAN = PEOPLE[Role.PIT_SUPERVISOR], PEOPLE[Role.DEALER]
SHUT: Final = {"command": "shut", "reason": "a spill"}


async def given(house: Connected, person: str, rank: str | None) -> None:
    """The roll has someone under another rank, or no more."""
    at: Any = {"at": house.clock.now(), "by": ADA, "person": person}
    changed = DismissPerson(**at) if rank is None else EnrolPerson(**at, rank=rank, second=MAX)
    answer = await house.do(changed)
    assert not isinstance(answer, Refusal), answer
    await house.settle()


async def back(house: Connected, person: str, rank: str) -> Line:
    """Someone who signed in again."""
    opened = house.door.sessions.opened(person, rank, house.clock.now())
    assert opened is not None
    return await house.came(opened)


def standing(house: Connected, person: str) -> list[str]:
    """The tables where someone has a position."""
    return [name for name in house.engine.tables() if person in house.engine.table(name).people]


def left(house: Connected) -> list[tuple[str, str]]:
    """Who left, at whose word."""
    return [(event.by, event.person) for event in house.events() if isinstance(event, PersonLeft)]


@connected()
async def test_anyone_who_is_demoted_loses_their_position_at_every_table(house: Connected) -> None:
    assert standing(house, SUE) == ["T1", "T2"]
    await given(house, SUE, "dealer")
    assert standing(house, SUE) == []
    assert left(house) == [(BY_THE_HOUSE, SUE)] * 2
    line = await back(house, SUE, "dealer")
    assert (await line.answer("do", table="T1", do=SHUT))["reason"] == "unknown-person"
    told = await line.answer("take-position", table="T1", position="pit-supervisor")
    assert (told["reason"], told["message"]) == (
        "not-permitted", "expected a position up to dealer, got pit-supervisor",
    )  # fmt: skip
    assert (await line.answer("take-position", table="T1", position="dealer"))["type"] == "done"


@connected()
async def test_a_dismissed_dealer_deals_no_more_whatever_is_in_hand(house: Connected) -> None:
    await house.opens_bets("T1")
    await given(house, DAN, None)
    assert house.engine.table("T1").round is not None
    assert house.engine.table("T1").dealer() is None
    assert standing(house, DAN) == []
    assert standing(house, SUE) == ["T1", "T2"], "nobody else hears of it"


@connected()
async def test_the_same_rank_again_changes_nothing(house: Connected) -> None:
    await given(house, SUE, "pit-supervisor")
    assert standing(house, SUE) == ["T1", "T2"]


@connected()
async def test_a_start_finds_what_a_stop_kept_the_tables_from_hearing(house: Connected) -> None:
    for command in (
        EnrolPerson(at=house.clock.now(), by=ADA, person=SUE, rank="dealer", second=MAX),
        DismissPerson(at=house.clock.now(), by=ADA, person=DAN),
    ):
        assert not isinstance(house.engine.answer("house", command), Refusal)
    assert out_of_place(house.engine) == [("T1", DAN), ("T1", SUE), ("T2", DAN), ("T2", SUE)]
    await house.casino.start()
    assert out_of_place(house.engine) == []
    assert sorted(left(house)) == sorted([(BY_THE_HOUSE, DAN), (BY_THE_HOUSE, SUE)] * 2)
    await house.casino.stop()


@connected()
async def test_anyone_who_comes_under_a_rank_that_they_lost_meanwhile_goes_again(house: Connected) -> None:
    await given(house, SUE, "dealer")
    late = Assign(
        at=house.clock.now(), by=BY_THE_HOUSE, person=SUE, rank="pit-supervisor", position="pit-supervisor"
    )
    assert not isinstance(await house.do(late, "T1"), Refusal)
    await house.settle()
    assert standing(house, SUE) == []


@connected()
async def test_what_could_not_be_written_is_done_with_the_next_tick(house: Connected) -> None:
    table = house.engine.table

    def broken(name: str) -> Any:
        if name == "T2":
            raise JournalError("expected a stream, got a damaged one")
        return table(name)

    house.engine.table = broken  # type: ignore[method-assign]
    assert out_of_place(house.engine) == []
    queue, run = house.casino.queue, house.casino.queue.submit_job

    def failing(_job: Any, told: Any) -> None:
        told(JournalError("expected a thread, got none"))

    queue.submit_job = failing  # type: ignore[assignment, method-assign]
    await given(house, SUE, "dealer")
    queue.submit_job = run  # type: ignore[method-assign]
    assert SUE in table("T1").people
    house.casino._positions.tick()
    await house.settle()
    assert SUE not in table("T1").people, "the other table is broken, and this one is not"
    assert SUE in table("T2").people
    house.engine.table = table  # type: ignore[method-assign]


# Second persons


async def second(house: Connected, person: str) -> Any:
    """What comes of it that someone approves a request at a table."""
    at = house.clock.now()
    return await house.casino.queue.execute(
        stream_of("T1"), lambda engine: positions.bring_second(engine, "T1", person, at=at)
    )


@connected()
async def test_a_second_person_counts_with_the_rank_on_the_staff_list(house: Connected) -> None:
    assert not isinstance(await second(house, MAX), Refusal)
    assert house.engine.table("T1").people[MAX].position == "shift-manager"
    answer = house.engine.answer(
        "house", EnrolPerson(at=house.clock.now(), by=ADA, person=MAX, rank="pit-supervisor", second=SUE)
    )
    assert not isinstance(answer, Refusal), answer
    assert not isinstance(await second(house, MAX), Refusal)
    assert house.engine.table("T1").people[MAX] == ("pit-supervisor", "pit-supervisor")


@connected()
async def test_who_is_no_second_person_any_more_is_refused_though_they_stand_there(house: Connected) -> None:
    for rank, got in (("dealer", "dealer"), (None, "not on the staff list")):
        at: Any = {"at": house.clock.now(), "by": ADA, "person": SUE}
        changed = DismissPerson(**at) if rank is None else EnrolPerson(**at, rank=rank, second=MAX)
        assert not isinstance(house.engine.answer("house", changed), Refusal)
        assert SUE in house.engine.table("T1").people
        refused = await second(house, SUE)
        assert isinstance(refused, Refusal)
        assert refused.message.endswith(f"got {SUE}, {got}")
        wrong = positions.out_of_place(house.engine, "T1", SUE)
        assert wrong is not None
        assert "taken as pit-supervisor" in wrong.message


@connected()
async def test_to_take_a_position_again_is_no_way_to_keep_it(house: Connected) -> None:
    change = EnrolPerson(at=house.clock.now(), by=ADA, person=SUE, rank="dealer", second=MAX)
    assert not isinstance(house.engine.answer("house", change), Refusal)
    again = positions.take(house.engine, "T1", SUE, "pit-supervisor", at=house.clock.now())
    assert isinstance(again, Refusal)
    assert again.reason == "not-permitted"


# Sabotage


def _deaf(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PositionReconciler, "_on_commit", lambda _self, _one: None)


def _blind(patch: pytest.MonkeyPatch) -> None:
    async def nothing(_self: PositionReconciler) -> None:
        pass

    patch.setattr(PositionReconciler, "reconcile", nothing)


def _any_rank(patch: pytest.MonkeyPatch) -> None:
    def found(here: Any) -> str | None:
        return here.here.position if here.here is not None else None

    patch.setattr(positions._Known, "position", property(found))


@pytest.mark.parametrize(
    ("breaks", "check"),
    [
        (_deaf, test_anyone_who_is_demoted_loses_their_position_at_every_table),
        (_deaf, test_a_dismissed_dealer_deals_no_more_whatever_is_in_hand),
        (_deaf, test_anyone_who_comes_under_a_rank_that_they_lost_meanwhile_goes_again),
        (_blind, test_a_start_finds_what_a_stop_kept_the_tables_from_hearing),
        (_any_rank, test_a_second_person_counts_with_the_rank_on_the_staff_list),
        (_any_rank, test_who_is_no_second_person_any_more_is_refused_though_they_stand_there),
        (_any_rank, test_to_take_a_position_again_is_no_way_to_keep_it),
    ],
)
def test_sabotage_is_seen(breaks: Any, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    with pytest.raises(AssertionError):
        check()
