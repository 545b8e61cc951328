"""Floods by someone who may be there: one party's connections, requests and bets do not hold up another's."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest

from taisai.cage.messages import SignInFailed
from taisai.game.commands import SetLimits
from taisai.game.events import BetRegistered
from taisai.game.refusals import Refusal
from taisai.game.terms.messages import Limits
from taisai.protocol.message import repeated_key
from taisai.server.auth.permissions import Principal, RateLimit, RateLimiter, Role
from taisai.server.connections import parties, sockets
from taisai.server.connections.parties import COPIES_EVERY, PAGES_OF_PERSON, SLIPS_OF_REQUEST, WEIGHTS
from taisai.server.projections import table as table_views
from taisai.server.projections.sign_in_watch import MANY_FAILURES
from taisai.server.runtime.plan import ConnectionLimits
from tests.server.virtual_server import PEOPLE, Connected, Line, connected

USUAL = ConnectionLimits(asks_a_second=20, burst=80)
"""As `taisai serve` has it by default."""
SOCKETS_OF_PERSON = USUAL.sockets_of_person
BATCH = 400


def slips(prefix: str, count: int) -> list[dict[str, Any]]:
    """Bets within the limits: half of them on small, half on big."""
    return [{"id": f"{prefix}-{n}", "area": "small" if n % 2 else "big", "stake": 100} for n in range(count)]


async def place(line: Line, prefix: str, count: int) -> dict[str, Any]:
    command = {"command": "place-bets", "round": 1, "seat": "1", "bets": slips(prefix, count)}
    return await line.answer("do", table="T1", do=command)


# Connections


@connected(bounds=USUAL)
async def test_one_key_has_one_connection_and_everyone_is_told(house: Connected) -> None:
    pit = await house.came(house.session(Role.PIT_SUPERVISOR))
    snapshot = await pit.answer("follow", feed="pit")
    assert snapshot["view"].get("alarms", []) == []
    lines = [await house.line() for _ in range(40)]
    welcomes = [await line.hello("P1") for line in lines]
    await house.settle()
    assert [line.is_open for line in lines] == [False] * 39 + [True]
    assert {(line.told[-1]["type"], line.told[-1]["why"]) for line in lines[:-1]} == {("end", "replaced")}
    assert [welcome.get("replaced", 0) for welcome in welcomes] == [0] + [1] * 39
    told = [alarm for change in pit.of("change") for alarm in change["changes"].get("alarms", ())]
    assert len(told) == 1, "one alarm of one device, not one of each connection"
    assert "P1 connected from 192.0.2.7 while its connection from 192.0.2.7 was open" in told[0]["says"]["en"]


@connected(bounds=USUAL)
async def test_after_a_power_cut_the_pit_has_a_few_alarms_and_no_more(house: Connected) -> None:
    pit = await house.came(house.session(Role.PIT_SUPERVISOR))
    await pit.answer("follow", feed="pit")
    house.dispatcher._copies._all = RateLimiter(RateLimit(burst=2, every=COPIES_EVERY))
    for name in ("P1", "P2", "Q1", "D1", "S1") * 2:
        await house.came(name)
    await house.settle()
    alarms = pit.of("change")[-1]["changes"]["alarms"]
    assert len(alarms) == 2


@connected(bounds=USUAL)
async def test_a_person_has_so_many_connections_and_the_oldest_goes(house: Connected) -> None:
    session = house.session(Role.SHIFT_MANAGER)
    lines = [await house.came(session) for _ in range(SOCKETS_OF_PERSON)]
    assert all(line.is_open for line in lines)
    again = house.session(Role.SHIFT_MANAGER)  # another session is no other person
    one_more = await house.came(again)
    await house.settle()
    assert [line.is_open for line in lines] == [False] + [True] * (SOCKETS_OF_PERSON - 1)
    assert lines[0].told[-1]["why"] == "replaced"
    assert one_more.is_open


# Requests


@connected(bounds=USUAL)
async def test_more_connections_of_a_person_do_not_make_more_requests(house: Connected) -> None:
    session = house.session(Role.AUDITOR)
    lines = [await house.came(session) for _ in range(SOCKETS_OF_PERSON)]
    kinds = [(await line.answer("felt", table="T1"))["type"] for line in lines for _ in range(5)]
    budget = PAGES_OF_PERSON * USUAL.burst
    at_once = budget // WEIGHTS_OF_FELT
    assert at_once <= kinds.count("felt") <= at_once + 1  # a tenth of a second goes by
    assert set(kinds) == {"felt", "refused"}


WEIGHTS_OF_FELT = next(weight for kind, weight in WEIGHTS.items() if kind.__name__ == "FeltRequest")


@connected(bounds=USUAL)
async def test_a_flood_of_layouts_costs_one_encoding_and_another_player_bets_at_once(
    house: Connected,
) -> None:
    """Counted: the writer's work for the flood, and the place of the other player's bet behind it."""
    made, jobs = list[str](), list[object]()
    felt_view, submit_job = table_views.felt_view, house.casino.queue.submit_job

    def counted(*given: Any, **named: Any) -> Any:
        made.append("felt")
        return felt_view(*given, **named)

    def job(*given: Any) -> None:
        jobs.append(given[0])
        submit_job(*given)

    await house.opens_bets()
    session = house.session(Role.SHIFT_MANAGER)
    attackers = [await house.came(session) for _ in range(SOCKETS_OF_PERSON)]
    player = await house.came("P1")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(table_views, "felt_view", counted)
        patched.setattr(house.casino.queue, "submit_job", job)
        table_views._FELTS.clear()
        for line in attackers:
            for _ in range(50):
                line.asks("felt", table="T1")
        (bet,) = player.bets()
        await house.settle()
    assert player.answer_to(bet)["type"] == "done"
    assert made == ["felt"]
    assert len(jobs) <= PAGES_OF_PERSON * USUAL.burst // WEIGHTS_OF_FELT < 1_000
    felts = [tell for line in attackers for tell in line.of("felt")]
    assert len({json.dumps(tell["felt"], sort_keys=True) for tell in felts}) == 1


@connected(bounds=USUAL)
async def test_a_layout_is_made_again_when_its_limits_change(house: Connected) -> None:
    line = await house.came(house.session(Role.SHIFT_MANAGER))
    before = (await line.answer("felt", table="T1"))["felt"]
    head, pit = PEOPLE[Role.SHIFT_MANAGER], PEOPLE[Role.PIT_SUPERVISOR]
    changed = SetLimits(at=house.clock.now(), by=head, limits=Limits(least=200, most=10_000), second=pit)
    answer = await house.do(changed, "T1")
    assert not isinstance(answer, Refusal), answer
    after = (await line.answer("felt", table="T1"))["felt"]
    assert after["terms"] != before["terms"]
    assert {area["least"] for area in after["areas"]} != {area["least"] for area in before["areas"]}


@connected(bounds=USUAL)
async def test_a_snapshot_is_encoded_once_for_all_who_follow(house: Connected) -> None:
    encoded = house.dispatcher.queue.feeds.encoded
    lines = [await house.came(name) for name in ("P1", "P2", "D1")]
    views = [(await line.answer("follow", feed="table:T1"))["view"] for line in lines]
    assert views[0] == views[1] == views[2]
    view, raw = encoded._latest["table:T1"]
    assert encoded.of("table:T1", view) is raw
    await house.opens_bets()
    later = (await (await house.came("Q1")).answer("follow", feed="lobby"))["view"]
    assert later["tables"]
    again = await house.came(house.session(Role.DEALER))
    assert (await again.answer("follow", feed="table:T1"))["view"] != views[0]


def device(name: str) -> Principal:
    return Principal(Role.TERMINAL, name, table="T1", seat="1")


def test_so_many_parties_are_remembered_and_those_that_are_connected_in_any_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parties, "MOST_PARTIES", 2)
    known = parties.Parties(USUAL)
    connected_, gone = known.of(device("P1"), "a", 0), known.of(device("P2"), "a", 0)
    socket: Any = object()
    connected_.sockets[socket] = None
    third = known.of(device("P3"), "a", 0)
    assert len(known) == 2
    assert known.of(device("P1"), "b", 0) is connected_
    assert known.of(device("P3"), "b", 0) is third
    third.sockets[socket] = None
    assert known.of(device("P2"), "a", 0) is not gone
    assert len(known) == 3, "a party that is connected is not forgotten"


def test_what_a_party_has_used_is_not_given_back_by_a_new_connection() -> None:
    known = parties.Parties(USUAL)
    party = known.of(device("P1"), "a", 0)
    assert party.has_earned(USUAL.burst, 0)
    again = known.of(device("P1"), "a", 0)
    assert not again.has_earned(1, 0)
    assert [again.has_earned(1, now) for now in (49, 50, 51, 100)] == [False, True, False, True]


def test_the_heaviest_request_passes_where_nothing_else_was_asked() -> None:
    party = parties.Party(rate=1, burst=4, now=0)
    assert party.has_earned(63, 0)
    assert not party.has_earned(63, 3_999)
    assert party.has_earned(63, 8_000)


# Bets


@connected(bounds=USUAL._replace(asks_a_second=10_000, burst=10_000))
async def test_bets_that_are_placed_and_cleared_again_and_again_fill_no_journal(house: Connected) -> None:
    await house.opens_bets()
    line, before = await house.came("P1"), house.engine.journal.size
    refused: list[dict[str, Any]] = []
    for number in range(100):
        told = await place(line, f"n{number}", BATCH)
        refused += [told] if told["type"] == "refused" else []
        await line.answer("clear", table="T1", seat="1")
    grown = house.engine.journal.size - before
    most = USUAL.bets_a_round
    assert grown <= 2 * most, "each bet is placed once and taken back once"
    assert len(refused) == 100 - most // BATCH
    assert (refused[0]["reason"], refused[0]["clause"]) == ("too-many", "house:most")
    expected = f"expected at most {most} bets in a round, those taken back included, got 400 more after 800"
    assert refused[0]["message"] == expected


LONG: Final = '{"type":"nothing","id":"a","x":[' + ",".join(['{"a":1}'] * 7_900) + "]}"
"""As long as a message may be: to read it costs as much as fifty requests."""


def noting(read: list[str]) -> Callable[[str], Any]:
    """Reads a request, and notes that it was read."""
    decode = sockets.decode_request

    def noted(text: str) -> Any:
        read.append(text)
        return decode(text)

    return noted


@pytest.mark.parametrize(("message", "most"), [(LONG, 1), ("rubbish", 11)], ids=["long ones", "short ones"])
@connected(bounds=USUAL)
async def test_who_floods_before_a_hello_is_read_no_further(
    house: Connected, monkeypatch: pytest.MonkeyPatch, message: str, most: int
) -> None:
    read = list[str]()
    monkeypatch.setattr(sockets, "decode_request", noting(read))
    line = await house.line()
    for _ in range(300):
        line.sends(message)
    await house.settle()
    assert len(read) == most
    assert line.closed is not None
    assert line.told[-1]["why"] == "silent"


@connected(bounds=USUAL)
async def test_a_long_message_weighs_what_it_costs_to_read(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    line = await house.came("P1")
    monkeypatch.setattr(sockets, "decode_request", noting(read))
    for _ in range(300):
        line.sends(LONG)
    await house.settle()
    assert len(read) <= USUAL.burst // (len(LONG) // sockets.BYTES_OF_REQUEST) + 1
    assert (line.told[-1]["reason"], line.closed) == ("too-often", None)


@connected()
async def test_moves_that_cost_nothing_fill_no_journal(house: Connected) -> None:
    """A terminal that goes to and fro between two layouts, or leaves its seat and takes it, at full rate."""
    line = await house.came("P1")
    await line.answer("ticket-out", table="T1", seat="1")
    before, refused = house.engine.journal.size, 0
    moves: list[dict[str, str]] = [
        {"command": "show-layout", "seat": "1", "layout": "A"},
        {"command": "show-layout", "seat": "1", "layout": "B"},
        {"command": "leave-seat", "seat": "1"},
        {"command": "take-seat", "seat": "1", "player": "Ann", "terminal": "P1"},
    ]
    for _ in range(50):
        for move in moves:
            told = await line.answer("do", table="T1", do=move)
            refused += told.get("reason") == "too-often"
        await asyncio.sleep(1)
    assert house.engine.journal.size - before <= 20 + 50 // 2 + 1
    assert refused > 100
    await asyncio.sleep(40)
    told = await line.answer("do", table="T1", do=moves[0] | {"layout": "C"})
    assert told["type"] == "done", "and it goes on"


@connected(bounds=USUAL._replace(asks_a_second=10_000, burst=10_000))
async def test_the_last_bet_of_a_round_is_placed_and_one_more_is_not(house: Connected) -> None:
    await house.opens_bets()
    line, most = await house.came("P1"), USUAL.bets_a_round
    for number in range(most // 100):
        assert (await place(line, f"n{number}", 100))["type"] == "done"
        await line.answer("clear", table="T1", seat="1")
    assert (await place(line, "more", 1))["reason"] == "too-many"
    again = await house.came("P1")
    assert (await place(again, "again", 1))["reason"] == "too-many", "a new connection buys nothing"
    for shortcut in ("double", "repeat"):
        assert (await again.answer(shortcut, table="T1", seat="1"))["reason"] == "too-many"
    other = await house.came("P2")
    command = {"command": "place-bets", "round": 1, "seat": "2", "bets": slips("other", 1)}
    told = await other.answer("do", table="T1", do=command)
    assert told.get("reason") != "too-many"


@connected(bounds=USUAL._replace(asks_a_second=10_000, burst=10_000, bets_a_round=5))
async def test_bets_that_the_server_lays_for_a_player_count_too(house: Connected) -> None:
    await house.opens_bets()
    line = await house.came("P1")
    assert (await place(line, "a", 2))["type"] == "done"
    assert (await line.answer("double", table="T1", seat="1"))["type"] == "done"  # one each on small and big
    assert (await place(line, "b", 1))["type"] == "done"
    assert (await line.answer("double", table="T1", seat="1"))["reason"] == "too-many"


@connected(bounds=USUAL._replace(bets_a_round=3))
async def test_another_round_begins_to_count_again(house: Connected) -> None:
    line = await house.came("P1")
    await house.opens_bets()
    assert (await place(line, "a", 3))["type"] == "done"
    assert (await place(line, "b", 1))["reason"] == "too-many"
    placed = house.dispatcher.context.placed
    assert placed["T1"]["P1"] == 3
    await house.opens_bets("T2")
    assert placed["T1"]["P1"] == 3, "a round of another table changes nothing"


@connected(bounds=USUAL)
async def test_a_batch_weighs_what_its_bets_cost(house: Connected) -> None:
    await house.opens_bets()
    line = await house.came("P1")
    weight = 1 + 200 // SLIPS_OF_REQUEST
    assert USUAL.burst == 3 * weight + 2, "three batches, and two requests to take them back"
    cleared: Any = None
    for number in range(3):
        assert (await place(line, f"n{number}", 200))["type"] == "done"
        cleared = await line.answer("clear", table="T1", seat="1")
    assert cleared["reason"] == "too-often"
    assert (await place(line, "more", 1))["reason"] == "too-often"
    await house.pass_(1)
    assert (await line.answer("clear", table="T1", seat="1"))["type"] == "done"


@connected(bounds=USUAL)
async def test_a_favourite_of_every_area_is_laid_at_once(house: Connected) -> None:
    """What a person can do in a second is never too often."""
    await house.opens_bets()
    line = await house.came("P1")
    assert (await place(line, "favourite", 104))["type"] == "done"
    assert (await line.answer("clear", table="T1", seat="1"))["type"] == "done"
    assert (await place(line, "again", 104))["type"] == "done"
    assert (await line.answer("double", table="T1", seat="1"))["type"] == "done"
    registered = [event for event in house.events() if isinstance(event, BetRegistered)]
    assert len(registered) == 2 * 104 + 2


def test_sabotage_without_the_bound_the_journal_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counter, "__getitem__", lambda *_: 0)
    with pytest.raises(AssertionError):
        test_bets_that_are_placed_and_cleared_again_and_again_fill_no_journal()


def test_sabotage_without_parties_more_connections_make_more_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def alone(self: parties.Parties, _principal: object, _network: str, now: int) -> parties.Party:
        return parties.Party(rate=self._rate, burst=self._burst, now=now)

    monkeypatch.setattr(parties.Parties, "of", alone)
    for test in (
        test_more_connections_of_a_person_do_not_make_more_requests,
        test_one_key_has_one_connection_and_everyone_is_told,
    ):
        with pytest.raises(AssertionError):
            test()


# Keys that stand twice

BETS = (
    '{"type":"do","id":"a","table":"T1","do":{"command":"place-bets","round":1,"seat":"1",'
    '"bets":[{"id":"x","area":"small","stake":100}]}}'
)
TWICE = [
    ('{"type":"books","id":"a","id":"b"}', "id"),
    ('{"type":"books","type":"books","id":"a"}', "type"),
    ('{"type":"books","id":"a","\\u0069d":"a"}', "id"),
    ('{"type":"do","id":"a","table":"T1","do":{"command":"perform","act":"tumble","act":"tumble"}}', "act"),
    (
        BETS.replace('"stake":100', '"stake":100,"stake":20000'),
        "stake",
    ),
    (
        BETS.replace('"table":"T1"', '"table":"T1","table":"T1"'),
        "table",
    ),
]


@pytest.mark.parametrize(("text", "key"), TWICE)
@connected()
async def test_a_request_with_a_key_twice_is_refused(house: Connected, text: str, key: str) -> None:
    await house.opens_bets()
    line = await house.came("P1")
    before = house.rows()
    tell = await line.reply(text)
    assert (tell["type"], tell["reason"]) == ("refused", "bad-message")
    assert f"the key '{key}' stands twice in an object" in tell["message"]
    assert house.rows() == before


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[]", None),
        ('{"a":{"a":1},"b":[{"a":1},{"a":2}]}', None),
        ('{"a":1,"b":{"c":2,"c":2}}', "c"),
        ('{"":1,"":2}', ""),
        ('{"a":%s}' % ("9" * 5_000), None),
    ],
)
def test_keys_that_stand_twice_are_found_at_any_depth(text: str, key: str | None) -> None:
    assert repeated_key(text) == key


# What the pit hears


@connected()
async def test_the_pit_hears_of_many_failed_sign_ins(house: Connected) -> None:
    pit = await house.came(house.session(Role.PIT_SUPERVISOR))
    await pit.answer("follow", feed="pit")
    for number in range(MANY_FAILURES):
        body = {"person": f"Eve {number}", "password": "a guess", "code": "123456"}
        assert (await house.request("POST", "/api/sign-in", body)).status == 401
    await house.settle()
    assert sum(isinstance(event, SignInFailed) for event in house.events()) == MANY_FAILURES
    (alarm,) = pit.of("change")[-1]["changes"]["alarms"]
    assert alarm["says"]["en"].startswith(f"Sign-ins are attacked: {MANY_FAILURES} failures")
