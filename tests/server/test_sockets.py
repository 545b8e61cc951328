"""Sockets: a challenge, a hello, and an answer to whatever is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from taisai.cage.messages import DismissDevice
from taisai.journal import Submission
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol import requests
from taisai.protocol.message import MOST_MESSAGE, PROTOCOL_VERSION
from taisai.protocol.views import Words
from taisai.server.auth.approvals import Approval, RequestToApprove, digest_of
from taisai.server.auth.permissions import SECOND_PERSONS, Role
from taisai.server.connections.dispatcher import HANDLERS, MOST_AT_WORK
from taisai.server.connections.sockets import Socket, decode_request
from taisai.server.handlers.context import approved_form
from taisai.server.runtime.plan import ConnectionLimits
from tests.server.virtual_server import Connected, connected, signature

# Coming in


@connected()
async def test_the_first_message_is_a_challenge_that_nobody_gets_twice(house: Connected) -> None:
    lines = [await house.line() for _ in range(5)]
    assert all([tell["type"] for tell in line.told] == ["challenge"] for line in lines)
    assert len({line.nonce for line in lines}) == 5
    first = lines[0].told[0]
    assert (first["protocol"], first["demonstration"], len(first["nonce"])) == (PROTOCOL_VERSION, False, 64)
    assert {line.told[0]["epoch"] for line in lines} == {house.casino.queue.feeds.epoch}


@connected()
async def test_who_comes_in_is_shown_as_whom(house: Connected) -> None:
    terminal = (await house.came("P1")).told[-1]
    assert (terminal["role"], terminal["table"], terminal["seat"]) == ("terminal", "T1", "1")
    dealer = (await house.came(house.session("dealer"))).told[-1]
    assert (dealer["role"], dealer["name"]) == ("dealer", "dealer Tan")
    assert (await house.came(None)).told[-1]["role"] == "visitor"


@connected()
async def test_another_version_of_the_wire_is_shown_which_one_is_expected(house: Connected) -> None:
    line = await house.line()
    tell = await line.answer("hello", protocol=PROTOCOL_VERSION + 1)
    assert (tell["reason"], tell["message"]) == (
        "protocol",
        f"expected version {PROTOCOL_VERSION} of the protocol, got {PROTOCOL_VERSION + 1}",
    )
    assert (line.told[-1]["type"], line.closed) == ("end", (1008, "protocol"))


@pytest.mark.parametrize(
    "given",
    [
        {"device": "P1"},
        {"device": "P1", "signature": ""},
        {"device": "P1", "signature": "not hexadecimal"},
        {"device": "P1", "signature": "00" * 64},
        {"device": "P1", "signature": "of P2"},
        {"device": "P1", "signature": "of another challenge"},
        {"device": "nobody's", "signature": "of P1"},
        {"device": "P\u0661", "signature": "of P1"},
        {"device": ""},
        {"token": ""},
        {"token": "none that was ever given"},
    ],
    ids=str,
)
@connected()
async def test_who_proves_nothing_stays_out(house: Connected, given: dict[str, str]) -> None:
    line, other = await house.line(), await house.line()
    shown = {
        "of P1": signature("P1", line.nonce),
        "of P2": signature("P2", line.nonce),
        "of another challenge": signature("P1", other.nonce),
    }
    before = house.rows()
    tell = await line.answer(
        "hello", protocol=PROTOCOL_VERSION, **{name: shown.get(word, word) for name, word in given.items()}
    )
    assert (tell["type"], tell["reason"], tell["clause"]) == ("refused", "not-known", "house:access")
    if "device" in given:  # always the same words: a stranger does not learn which devices there are
        assert tell["message"].startswith("device ")
    assert (line.told[-1]["type"], line.closed) == ("end", (1008, "not-known"))
    assert house.rows() == before
    assert (await other.hello("P1"))["type"] == "welcome", "the same device with its own signature comes in"


@connected()
async def test_a_signature_that_was_seen_on_the_wire_is_worth_nothing_afterwards(house: Connected) -> None:
    line = await house.line()
    seen = signature("P1", line.nonce)
    assert (await line.answer("hello", protocol=PROTOCOL_VERSION, device="P1", signature=seen))[
        "type"
    ] == "welcome"
    thief = await house.line()
    assert (await thief.answer("hello", protocol=PROTOCOL_VERSION, device="P1", signature=seen))[
        "type"
    ] == "refused"


@connected()
async def test_a_second_hello_is_refused_and_changes_nothing(house: Connected) -> None:
    line = await house.came("P1")
    tell = await line.hello(house.session("shift-manager"))
    assert (tell["type"], tell["message"]) == ("refused", "hello was already sent on this connection")
    assert line.is_open
    assert (await line.answer("favourites", table="T1", seat="1"))["type"] == "favourites"


@connected()
async def test_of_two_hellos_at_once_both_are_answered_and_one_counts(house: Connected) -> None:
    line = await house.line()
    shown = signature("P1", line.nonce)
    ids = [line.asks("hello", protocol=PROTOCOL_VERSION, device="P1", signature=shown) for _ in range(2)]
    await house.settle()
    assert [line.answer_to(id_)["type"] for id_ in ids] == ["welcome", "refused"]


@pytest.mark.parametrize("first", ["hello", "dismissal"])
@connected()
async def test_a_device_that_is_dismissed_in_the_same_moment_is_not_in(house: Connected, first: str) -> None:
    line = await house.line()
    command = DismissDevice(at=house.clock.now(), by="administrator Tan", device="P1", reason="stolen")
    shown = signature("P1", line.nonce)
    if first == "hello":
        house.dispatcher.handle(
            _socket(house),
            requests.HelloRequest(id="h", protocol=PROTOCOL_VERSION, device="P1", signature=shown),
        )
    house.casino.queue.submit(Submission(HOUSE_STREAM, command))  # in one group with the look at the device
    if first == "dismissal":
        house.dispatcher.handle(
            _socket(house),
            requests.HelloRequest(id="h", protocol=PROTOCOL_VERSION, device="P1", signature=shown),
        )
    await house.settle()
    assert "P1" not in house.engine.house().devices
    assert line.closed is not None
    assert line.told[-1]["type"] == "end"
    assert not house.dispatcher.sockets


def _socket(house: Connected) -> Socket:
    (socket,) = house.dispatcher.sockets
    return socket


@connected()
async def test_a_dismissed_device_is_out_at_once_and_stays_out(house: Connected) -> None:
    line, other = await house.came("P1"), await house.came("P2")
    await house.do(DismissDevice(at=house.clock.now(), by="administrator Tan", device="P1", reason="stolen"))
    await house.settle()
    assert (line.told[-1]["type"], line.told[-1]["why"], line.closed) == ("end", "revoked", (1008, "revoked"))
    assert other.is_open
    again = await house.line()
    assert (await again.hello("P1"))["reason"] == "not-known"


@connected(bounds=ConnectionLimits(sockets=2, asks_a_second=1_000, burst=1_000))
async def test_one_connection_too_many_is_shown_and_closed(house: Connected) -> None:
    first, _second = await house.came("P1"), await house.came("Q1")
    third = house.dials()
    await house.settle()
    assert [tell["type"] for tell in third.told] == ["challenge", "end"]
    assert third.told[-1]["message"] == "too many connections: expected at most 2"
    assert third.closed == (1013, "full")
    first.hangs_up()
    await house.settle()
    assert (await (await house.line()).hello("P2"))["type"] == "welcome"


# What cannot be read

LONGEST = MOST_MESSAGE - len('{"type":"books","id":"a"}')
UNREADABLE = [
    ("", None, "truncated"),
    ("hello", None, "malformed"),
    ("[]", None, "Expected `object`, got `array`"),
    ("7", None, "Expected `object`, got `int`"),
    ("null", None, "Expected `object`, got `null`"),
    ("[" * 5_000, None, "could not read"),
    ('{"type":"do","id":"a","do":' + '{"a":' * 12_000, None, "could not read"),
    ('{"type":"books","id":"a"', None, "truncated"),
    ('{"type":"books","id":"a"}{}', None, "trailing"),
    ('{"id":"a"}', "a", "missing required field `type`"),
    ('{"type":"everything","id":"a"}', "a", "Invalid value 'everything' - at `$.type`"),
    ('{"type":7,"id":"a"}', "a", "Expected `str` - at `$.type`"),
    ('{"type":"Books","id":"a"}', "a", "Invalid value 'Books'"),
    ('{"ask":"books","id":"a"}', "a", "missing required field `type`"),
    ('{"type":"books"}', None, "missing required field `id`"),
    ('{"type":"books","id":7}', None, "Expected `str`, got `int` - at `$.id`"),
    ('{"type":"books","id":""}', None, "Expected `str` of length >= 1 - at `$.id`"),
    ('{"type":"books","id":"%s"}' % ("i" * 65), None, "Expected `str` of length <= 64 - at `$.id`"),
    ('{"type":"books","id":"a","more":1}', "a", "unknown field `more`"),
    ('{"type":"sell-ticket","id":"a","amount":100.0}', "a", "Expected `int`, got `float` - at `$.amount`"),
    ('{"type":"sell-ticket","id":"a","amount":1e2}', "a", "Expected `int`, got `float` - at `$.amount`"),
    ('{"type":"sell-ticket","id":"a","amount":"100"}', "a", "Expected `int`, got `str` - at `$.amount`"),
    ('{"type":"sell-ticket","id":"a","amount":true}', "a", "Expected `int`, got `bool` - at `$.amount`"),
    ('{"type":"sell-ticket","id":"a","amount":0}', "a", "Expected `int` >= 1 - at `$.amount`"),
    ('{"type":"sell-ticket","id":"a","amount":9007199254740992}', "a", "Expected `int` <= 9007199254740991"),
    ('{"type":"sell-ticket","id":"a","amount":NaN}', None, "malformed"),
    ('{"type":"undo","id":"a","table":"T1"}', "a", "missing required field `seat`"),
    ('{"type":"undo","id":"a","table":"T1","seat":"\\ud800"}', None, "could not read"),
    ('{"type":"preview","id":"a","table":"T1","faces":[1,2]}', "a", "Expected `array` of length 3"),
    (
        '{"type":"do","id":"a","table":"T1","do":{"command":"take-reading"}}',
        "a",
        "Invalid value 'take-reading'",
    ),
    ('{"type":"do","id":"a","table":"T1","do":{"act":"tumble"}}', "a", "missing required field `command`"),
    (
        '{"type":"do","id":"a","table":"T1","do":{"command":"perform","act":"tumble","at":1}}',
        "a",
        "unknown field `at` - at `$.do`",
    ),
    (
        '{"type":"do","id":"a","table":"T1","do":{"command":"perform","act":"tumble","tumbles":3.0}}',
        "a",
        "Expected `int`, got `float` - at `$.do.tumbles`",
    ),
    ('{"type":"books","id":"a"}' + " " * (LONGEST + 1), None, f"got {MOST_MESSAGE + 1} bytes"),
    ('{"type":"books","id":"%s"}' % ("色" * 22_000), None, "got 66024 bytes"),
]


@pytest.mark.parametrize(("text", "to", "says"), UNREADABLE, ids=lambda value: repr(value)[:40])
@connected()
async def test_what_cannot_be_read_is_refused_in_words_and_the_line_stays(
    house: Connected, text: str, to: str | None, says: str
) -> None:
    line = await house.came(house.session("cashier"))
    before = house.rows()
    tell = await line.reply(text)
    assert (tell["type"], tell["reason"], tell.get("to")) == ("refused", "bad-message", to)
    assert tell["message"].startswith(("expected ", "could not read the request: "))
    assert says in tell["message"]
    assert house.rows() == before
    assert (await line.answer("books"))["type"] == "books"


@connected()
async def test_bytes_are_refused_in_words(house: Connected) -> None:
    line = await house.came(None)
    line.puts({"type": "websocket.receive", "bytes": b'{"type":"books","id":"a"}'})
    await house.settle()
    assert (
        line.told[-1]["message"]
        == f"expected a text of at most {MOST_MESSAGE} bytes, got bytes that are no text"
    )


@connected()
async def test_the_longest_message_is_read(house: Connected) -> None:
    line = await house.came(house.session("cashier"))
    text = '{"type":"books","id":"a"}' + " " * LONGEST
    assert len(text) == MOST_MESSAGE
    assert (await line.reply(text))["type"] == "books"


@connected()
async def test_a_number_that_no_machine_counts_to_is_refused_by_the_game(house: Connected) -> None:
    terminal = await house.came("P1")
    amount = int("9" * 400)
    text = json.dumps(
        {
            "type": "do",
            "id": "a",
            "table": "T1",
            "do": {"command": "buy-credits", "seat": "1", "amount": amount},
        }
    )
    tell = await terminal.reply(text)
    assert (tell["type"], tell["to"]) == ("refused", "a")
    assert tell["reason"] != "fault"


# Asks and their answers


@connected()
async def test_every_ask_is_answered_under_its_own_id(house: Connected) -> None:
    line = await house.came(house.session("shift-manager"))
    ids = ["1", "x" * 64, "色", " ", "same", "same"]
    for id_ in ids:
        line.asks("books", id=id_)
    await house.settle()
    assert sorted(tell["to"] for tell in line.of("books")) == sorted(ids)


@connected(bounds=ConnectionLimits(asks_a_second=2, burst=3))
async def test_anyone_who_asks_too_often_is_shown_and_may_again_later(house: Connected) -> None:
    line = await house.came("P1")
    asked = {"table": "T1", "seat": "1"}
    told = [await line.answer("tickets", **asked) for _ in range(4)]
    assert [tell["type"] for tell in told] == ["tickets", "tickets", "tickets", "refused"]
    assert told[-1]["reason"] == "too-often"
    assert told[-1]["message"] == "too many requests: expected at most 2 a second"
    await house.pass_(0.6)
    assert (await line.answer("tickets", **asked))["type"] == "tickets"
    assert (await line.answer("tickets", **asked))["reason"] == "too-often"


@connected(bounds=ConnectionLimits(asks_a_second=1, burst=2))
async def test_rubbish_counts_as_asks_do(house: Connected) -> None:
    line = await house.came("P1")
    reasons = [(await line.reply("rubbish"))["reason"] for _ in range(4)]
    assert reasons == ["bad-message", "bad-message", "too-often", "too-often"]
    assert (await house.came(None)).is_open, "somebody else is not held up"


@connected()
async def test_so_many_are_worked_on_at_a_time_and_one_more_is_refused(house: Connected) -> None:
    line = await house.came(house.session("shift-manager"))
    ids = [line.asks("books") for _ in range(MOST_AT_WORK + 1)]
    await house.settle()
    told = [line.answer_to(id_) for id_ in ids]
    assert [tell["type"] for tell in told] == ["books"] * MOST_AT_WORK + ["refused"]
    assert told[-1]["reason"] == "too-often"
    assert (await line.answer("books"))["type"] == "books"


@connected()
async def test_a_fault_is_an_answer_too(house: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_given: object) -> None:
        raise ZeroDivisionError

    line = await house.came(house.session("shift-manager"))
    handlers: Any = HANDLERS
    monkeypatch.setitem(handlers, requests.BooksRequest, broken)
    with capture_logs() as logs:
        tell = await line.answer("books")
    assert (tell["reason"], tell["message"]) == (
        "fault",
        "the server failed: ZeroDivisionError (see its log)",
    )
    assert [log["event"] for log in logs] == ["a request failed"]
    assert (await line.answer("report"))["type"] == "report"


@connected()
async def test_a_command_with_an_approval_at_a_table_that_is_nowhere_is_answered(house: Connected) -> None:
    opened = house.session("pit-supervisor")
    line = await house.came(opened)
    ask = {"type": "do", "id": "a", "table": "T9", "do": {"command": "shut", "reason": "a fire"}}
    approvals, now = house.door.approvals, house.clock.now()
    digest = digest_of(approved_form(decode_request(json.dumps(ask))))
    request = RequestToApprove(digest, SECOND_PERSONS, Words("Shut", "暂停"), table="T9")
    asked = approvals.asked(request, asker=opened.session, now=now)
    assert isinstance(asked, Approval)
    approvals.approved(asked.id, person="shift-manager Tan", role=Role.SHIFT_MANAGER, now=now)
    with capture_logs():
        tell = await line.reply(json.dumps(ask | {"approval": asked.id}))
    assert (tell["type"], tell["to"]) == ("refused", "a")


@connected()
async def test_who_hangs_up_leaves_no_money_on_its_way(house: Connected) -> None:
    line = await house.came("P1")
    line.asks("ticket-out", table="T1", seat="1")
    line.hangs_up()
    await house.settle()
    assert not line.told[2:], "he was gone before any answer"
    kinds = [type(event).__name__ for event in house.events()]
    assert kinds.count("CreditsDispensed") == kinds.count("TicketIssued") == 1


@connected()
async def test_an_unauthenticated_connection_may_do_nothing(house: Connected) -> None:
    line = await house.line()
    tell = await line.answer("books")
    assert (tell["reason"], tell["clause"]) == ("not-permitted", "house:access")
    assert "the role visitor" in tell["message"]


@pytest.mark.parametrize("role", [Role.TERMINAL, Role.DEALER])
@connected()
async def test_a_socket_that_is_gone_is_forgotten(house: Connected, role: Role) -> None:
    line = await house.came_as(role)
    await line.answer("follow", feed="table:T1")
    line.hangs_up()
    await house.settle()
    server = house.dispatcher
    assert not server.sockets
    feed = server.queue.feeds.get("table:T1")
    assert feed is not None
    assert not feed.followers
    assert not server.at_work
