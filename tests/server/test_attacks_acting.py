"""Attacks by people: acting above one's rank, and putting others out."""

from __future__ import annotations

from typing import Any

from taisai.cage.messages import EnrolPerson
from taisai.game.refusals import Refusal
from taisai.server.auth.permissions import Role
from tests.server.virtual_server import PEOPLE, Connected, connected

SUE, DAN, ADA, MAX = (
    PEOPLE[role] for role in (Role.PIT_SUPERVISOR, Role.DEALER, Role.ADMINISTRATOR, Role.SHIFT_MANAGER)
)


async def demoted(house: Connected) -> Any:
    """The pit supervisor, who stands at T1, is a dealer from now on; her new session."""
    answer = await house.do(EnrolPerson(at=house.clock.now(), by=ADA, person=SUE, rank="dealer", second=MAX))
    assert not isinstance(answer, Refusal), answer
    opened = house.door.sessions.opened(SUE, "dealer", house.clock.now())
    assert opened is not None
    return opened


@connected()
async def test_who_was_demoted_does_not_act_in_the_position_of_before(house: Connected) -> None:
    line = await house.came(await demoted(house))
    left = {"command": "leave", "person": DAN}  # to send someone away is a supervisor's
    told = await line.answer("do", table="T1", do=left)
    assert told["type"] == "refused", told
    assert DAN in house.engine.table("T1").people


@connected()
async def test_who_was_demoted_takes_a_position_of_the_rank_that_is_left(house: Connected) -> None:
    line = await house.came(await demoted(house))
    assert (await line.answer("take-position", table="T1", position="dealer"))["type"] == "done"
    told = await line.answer("do", table="T1", do={"command": "perform", "act": "open-bets"})
    assert told["type"] == "done", told
