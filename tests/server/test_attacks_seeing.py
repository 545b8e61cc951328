"""Attacks on what others do in private: the bets of the player before, and of the seat beside."""

from __future__ import annotations

from typing import Any

from taisai.game.commands import LeaveSeat, Perform, TakeReading, TakeSeat
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import RECOGNISER
from taisai.rules import Act
from taisai.rules.outcomes import OUTCOMES
from taisai.server.auth.permissions import Role
from tests.server.virtual_server import PEOPLE, Connected, connected


async def done(house: Connected, *commands: Any) -> None:
    """Commands at T1, none of which may be refused."""
    for command in commands:
        answer = await house.do(command, "T1")
        assert not isinstance(answer, Refusal), f"{command}: {answer}"


async def played(house: Connected) -> None:
    """The round that is open, to its end."""
    at: Any = {"at": house.clock.now(), "by": PEOPLE[Role.DEALER]}
    await done(
        house,
        Perform(at=at["at"], by="clock", act=Act.CLOSE_BETS),
        Perform(**at, act=Act.TUMBLE, tumbles=3),
        Perform(**at, act=Act.UNCOVER),
        Perform(**at, act=Act.ENTER_RESULT, faces=(1, 2, 3)),
        Perform(**at, act=Act.SETTLE),
        Perform(**at, act=Act.COLLECT_AND_PAY),
        Perform(**at, act=Act.CONCLUDE),
    )


@connected()
async def test_the_next_player_does_not_see_the_rounds_of_the_one_before(house: Connected) -> None:
    line = await house.came("P1")
    await house.opens_bets()
    line.bets(1, stake=4_200)
    await house.settle()
    await played(house)
    own = await line.answer("rounds", table="T1", seat="1")
    assert [bet["stake"] for bet in own["rounds"][0]["bets"]] == [4_200]
    now = house.clock.now()
    ticket = await line.answer("ticket-out", table="T1", seat="1")
    assert ticket["type"] == "done", ticket
    await done(
        house,
        LeaveSeat(at=now, by="P1", seat="1"),
        TakeSeat(at=now, by="P1", seat="1", player="someone else", terminal="P1"),
    )
    for asked in ({}, {"round": 1}):
        told = await line.answer("rounds", table="T1", seat="1", **asked)
        assert "4200" not in str(told), told
        assert [bet for one in told["rounds"] for bet in one.get("bets", ())] == []


@connected()
async def test_a_bets_id_that_is_taken_tells_nothing_of_whose_it_is(house: Connected) -> None:
    await house.opens_bets()
    victim, thief = await house.came("P1"), await house.came("P2")
    victim.asks(
        "do", id="x", table="T1",
        do={"command": "place-bets", "round": 1, "seat": "1",
            "bets": [{"id": "guessed", "area": "big", "stake": 4_200}]},
    )  # fmt: skip
    await house.settle()
    told = await thief.answer(
        "do", table="T1",
        do={"command": "place-bets", "round": 1, "seat": "2",
            "bets": [{"id": "guessed", "area": "small", "stake": 100}]},
    )  # fmt: skip
    assert told["reason"] == "different-content", told
    assert "4200" not in told["message"], told
    assert "big" not in told["message"], told


@connected()
async def test_what_a_device_sees_under_the_cover_is_shown_to_nobody_before_it_is_lifted(
    house: Connected,
) -> None:
    dealer = await house.came_as(Role.DEALER)
    assert (await dealer.answer("follow", feed="console:T1"))["type"] == "snapshot"
    await house.opens_bets()
    at: Any = {"at": house.clock.now(), "by": PEOPLE[Role.DEALER]}
    await done(
        house,
        Perform(at=at["at"], by="clock", act=Act.CLOSE_BETS),
        Perform(**at, act=Act.TUMBLE, tumbles=3),
        TakeReading(
            at=at["at"],
            by=RECOGNISER,
            device="S1",
            reading="r",
            round=1,
            shake=1,
            faces=(2, 5, 6),
            fault=None,
        ),
    )

    async def differing() -> int:
        """For how many results the console says that the device saw another."""
        return sum(
            [
                (await dealer.answer("preview", table="T1", faces=list(one.faces)))["preview"]["differs"]
                for one in OUTCOMES
            ]
        )

    def told() -> list[Any]:
        """What the console was told of readings."""
        changes = [one["changes"] for one in dealer.of("change")]
        return [one["reading"].get("faces") for one in changes if one.get("reading")]

    assert told() == [None]
    assert await differing() == 0
    await done(house, Perform(**at, act=Act.UNCOVER))
    assert told()[-1] == [2, 5, 6]
    assert await differing() == len(OUTCOMES) - 1
