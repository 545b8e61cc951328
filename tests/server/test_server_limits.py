"""What keeps the server from being kept busy, and what a race must not leave behind."""

from __future__ import annotations

import asyncio
import socket
from functools import partial

import pytest

from taisai.cage.messages import SendFill
from taisai.game.commands import Perform, ReceiveFill, SendCredit
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import CAGE
from taisai.journal import Submission, stream_of
from taisai.rules import Act
from taisai.server.auth.permissions import Role
from taisai.server.http.public import PAGES, BuiltPages
from taisai.server.runtime import command_queue
from taisai.server.runtime.betting_clock import close_of_round
from taisai.server.runtime.plan import ConnectionLimits
from taisai.server.runtime.serving import TAKES_NOTHING, listening
from tests.server.virtual_server import HERE, PEOPLE, Connected, connected

DEALER = PEOPLE[Role.DEALER]


@connected(bounds=ConnectionLimits(requests_a_second=5))
async def test_requests_from_one_address_have_a_rate(house: Connected) -> None:
    answers = [await house.request("GET", "/metrics", client=HERE) for _ in range(21)]
    assert [one.status for one in answers] == [200] * 20 + [429]
    assert answers[-1].reason == "too-often"
    await house.pass_(1)
    assert (await house.request("GET", "/metrics", client=HERE)).status == 200


@connected(bounds=ConnectionLimits(requests_a_second=5))
async def test_a_hall_of_terminals_loads_again_from_behind_one_address(house: Connected) -> None:
    house.dispatcher.pages = BuiltPages("feed0123feed0123", dict.fromkeys(PAGES.values(), b"<p>"))
    for path in (*PAGES, "/health"):
        told = [(await house.request("GET", path)).status for _ in range(60)]
        assert set(told) == {200}, path


@connected()
async def test_unauthenticated_clients_who_look_do_not_keep_the_writer_busy(house: Connected) -> None:
    looks: list[object] = []
    run = house.casino.queue.submit_job

    def counted(job: object, told: object) -> None:
        looks.append(job)
        run(job, told)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(house.casino.queue, "submit_job", counted)
        for _ in range(50):
            assert (await house.request("GET", "/health")).status == 200
            assert (await house.request("GET", "/metrics", client=HERE)).status == 200
        assert len(looks) == 1
        await house.pass_(2)
        await asyncio.gather(*(house.request("GET", "/health") for _ in range(50)))
        assert len(looks) == 2, "who asks at the same time hears of the same look"


@connected()
async def test_when_too_many_commands_wait_one_more_is_refused_at_once(house: Connected) -> None:
    await house.opens_bets()
    terminal = await house.came("P1")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command_queue, "MOST_WAITING", 3)
        bets = terminal.bets(5)
        await house.settle()
    told = [terminal.answer_to(bet) for bet in bets]
    assert [one["type"] for one in told] == ["done"] * 3 + ["refused"] * 2
    assert told[-1]["reason"] == "too-many"


@connected()
async def test_a_command_can_be_bound_to_how_things_stand_when_its_turn_comes(house: Connected) -> None:
    """As the close of the betting clock is to its round."""
    other = Refusal(Reason.WRONG_ROUND, house.engine.table("T1").bet_clause, "expected round 1, got round 2")
    act = Perform(at=house.clock.now(), by=DEALER, act=Act.OPEN_BETS)
    size = house.engine.journal.size
    answers = house.engine.outcomes([Submission(stream_of("T1"), lambda _: other)])
    assert (answers, house.engine.journal.size) == ([other], size)
    answers = house.engine.outcomes([Submission(stream_of("T1"), lambda _: act)])
    assert isinstance(answers[0], tuple)
    assert house.engine.journal.size == size + 1


def test_the_system_lets_go_of_clients_that_take_nothing() -> None:
    made = listening("127.0.0.1", 0)
    try:
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == TAKES_NOTHING
    finally:
        made.close()


@connected()
async def test_supervisors_take_cash_for_credits_and_a_terminal_of_a_house_for_money_does_not(
    house: Connected,
) -> None:
    terminal = await house.came("P1")
    buying = {"command": "buy-credits", "seat": "1", "amount": 5_000}
    refused = await terminal.answer("do", table="T1", do=buying)
    assert (refused["reason"], refused["clause"]) == ("not-permitted", "house:access")
    dealer = await house.came(house.session("dealer"))
    assert (await dealer.answer("do", table="T1", do=buying))["reason"] == "not-permitted"
    pit = await house.came(house.session("pit-supervisor"))
    assert (await pit.answer("do", table="T1", do=buying))["type"] == "done"


@connected()
async def test_a_credit_that_a_crash_cut_in_two_is_finished_by_its_transfer(house: Connected) -> None:
    """Whoever finishes it, and under whatever id he asks."""
    at, pit = house.clock.now(), PEOPLE[Role.PIT_SUPERVISOR]
    fill = SendFill(at=at, by=PEOPLE[Role.CASHIER], transfer="f1", table="T1", amount=5_000, second=pit)
    assert not isinstance(await house.do(fill), Refusal)
    came = ReceiveFill(at=at, by=CAGE, transfer="f1", amount=5_000, second=pit)
    assert not isinstance(await house.do(came, "T1"), Refusal)
    half = SendCredit(at=at, by=DEALER, transfer="c1", amount=2_000, second=pit)
    assert not isinstance(await house.do(half, "T1"), Refusal)
    assert [one.id for one in house.casino.queue.projections.books().in_transit] == ["c1"]
    line = await house.came(house.session("pit-manager"))
    wrong = await line.answer("take-credit", table="T1", amount=2_000, transfer="c2")
    assert (wrong["type"], wrong["reason"]) == ("refused", "bad-value")
    done = await line.answer("take-credit", table="T1", amount=2_000, transfer="c1")
    assert (done["type"], done["amount"], done["transfer"]) == ("done", 2_000, "c1")
    books = house.casino.queue.projections.books()
    assert (books.in_transit, books.balanced) == ((), True)


@connected()
async def test_the_clock_of_a_round_closes_no_other(house: Connected) -> None:
    """Round 1 was voided and round 2 opened before the close of its clock had its turn."""
    await house.opens_bets()
    stream = stream_of("T1")
    now = house.clock.now()
    late = Submission(stream, partial(close_of_round, "T1", 2, now))
    in_time = Submission(stream, partial(close_of_round, "T1", 1, now))
    (refused,) = house.engine.outcomes([late])
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.message) == (
        Reason.WRONG_ROUND,
        "expected round 2 in play, got round 1",
    )
    (closed,) = house.engine.outcomes([in_time])
    assert not isinstance(closed, Refusal | Exception)
