"""Metrics: what the server counts about itself, as Prometheus reads it; no names of people, and no money."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from taisai.game import commands as said
from taisai.game.events import RoundConcluded
from taisai.journal import Submission
from taisai.protocol.requests import BooksRequest, DoRequest
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Irregularity
from taisai.server.auth.permissions import Role
from taisai.server.runtime import metrics as module
from taisai.server.runtime.command_queue import Committed
from taisai.server.runtime.metrics import BUCKETS, Metrics
from tests.server.virtual_house import RWS, STREAM, TABLE, TERMINAL, Attended, attended
from tests.server.virtual_server import HERE, PEOPLE, Connected, connected

Labels = tuple[tuple[str, str], ...]


def read(text: bytes) -> dict[tuple[str, Labels], float]:
    """Every sample, by its name and labels."""
    found = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.documentation, family.name
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, key
            found[key] = float(sample.value)
    return found


def one(found: dict[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return found.get((name, tuple(sorted(labels.items()))), 0.0)


async def scraped(house: Connected) -> dict[tuple[str, Labels], float]:
    await house.pass_(2)  # a look at the journal is good for a moment
    told = await house.request("GET", "/metrics", client=HERE)
    assert told.status == 200
    assert told.headers["content-type"].startswith("text/plain")
    return read(told.body)


@connected()
async def test_asks_by_kind_and_refusals_by_reason_are_counted(house: Connected) -> None:
    line = await house.came("P1")
    await house.opens_bets()
    line.bets(5)
    line.bets(2, stake=7)
    line.bets(1, seat="2")
    await line.answer("follow", feed="table:T1")
    await line.answer("follow", feed="table:nowhere")
    await line.answer("follow", feed="pit")
    await line.answer("books")
    await line.reply("{]")
    found = await scraped(house)
    expected = {"hello": 1, "do": 8, "follow": 3, "books": 1, "unreadable": 1}
    assert {
        dict(labels)["kind"]: value for (name, labels), value in found.items() if name == "taisai_asks_total"
    } == expected
    assert one(found, "taisai_refusals_total", reason="not-permitted") == 4 - one(
        found, "taisai_refusals_total", reason="not-known"
    )
    assert one(found, "taisai_refusals_total", reason="bad-message") == 1
    refused = sum(value for (name, _), value in found.items() if name == "taisai_refusals_total")
    assert refused == len(line.of("refused")), "every refusal that someone heard, and no other"


@connected()
async def test_sockets_sessions_journal_and_queue(house: Connected) -> None:
    before = await scraped(house)
    assert (one(before, "taisai_sockets"), one(before, "taisai_sessions")) == (0, 0)
    line = await house.came("P1")
    await house.came(await house.signed_in(Role.DEALER))
    found = await scraped(house)
    assert (one(found, "taisai_sockets"), one(found, "taisai_sessions")) == (2, 1)
    assert one(found, "taisai_journal_entries") == house.engine.journal.size
    assert one(found, "taisai_journal_entries") > one(before, "taisai_journal_entries")
    await house.opens_bets()
    assert one(await scraped(house), "taisai_writer_queue") == 0
    line.bets(7)
    queued: list[int] = []
    house.loop.call_later(0, lambda: queued.append(house.casino.queue.waiting))
    await house.settle()
    assert max(queued) <= 7
    assert house.casino.queue.waiting == 0
    line.hangs_up()
    await house.settle()
    assert one(await scraped(house), "taisai_sockets") == 1


@connected()
async def test_the_queue_is_what_the_writer_has_not_answered(house: Connected) -> None:
    line = await house.came("P1")
    await house.opens_bets()
    seen: list[int] = []
    right = house.engine.outcomes

    def outcomes(submissions: Any) -> Any:
        seen.append(house.casino.queue.waiting)
        return right(submissions)

    house.engine.outcomes = outcomes  # type: ignore[method-assign]
    line.bets(9)
    await house.settle()
    assert sum(seen) == 9
    assert house.casino.queue.waiting == 0


@connected()
async def test_a_slow_client_that_is_cut_off_is_counted(house: Connected) -> None:
    line = await house.came("P1")
    line.stalls()
    await house.opens_bets()
    line.bets(2_500, stake=7)
    await house.pass_(1)
    assert one(await scraped(house), "taisai_sockets_cut_off_total") == 1


@connected()
async def test_sign_ins_are_counted_by_result(house: Connected) -> None:
    body = {"person": PEOPLE[Role.DEALER], "password": "no such password", "code": "123456"}
    assert (await house.request("POST", "/api/sign-in", body, origin="https://floor.test")).status == 401
    found = await scraped(house)
    results = {
        dict(labels)["result"]: value
        for (name, labels), value in found.items()
        if name == "taisai_sign_ins_total"
    }
    assert sum(results.values()) == 1
    assert "in" not in results


def test_rounds_are_counted_by_their_end() -> None:
    async def played(house: Attended) -> None:
        await house.played(small=1_000)
        await house.played(small=1_000)
        await house.opened()
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.EQUIPMENT_FAILURE)
        found = read(house.dispatcher.metrics.text())
        assert one(found, "taisai_rounds_total", table=TABLE, end="concluded") == 2
        assert one(found, "taisai_rounds_total", table=TABLE, end="void") == 1

    attended(played, RWS, is_followed=False)


def test_latency_is_observed_once_for_a_group() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        before = one(read(house.dispatcher.metrics.text()), "taisai_durable_seconds_count")
        chance: Any = house.queue._chance
        chance.uniform = lambda _a, _b: 0.03
        now = house.clock.now()
        for number in range(50):
            slip = said.Slip(f"m{number}", "small", 100)
            bet = said.PlaceBets(at=now, by=TERMINAL, round=1, seat="1", bets=(slip,))
            house.casino.queue.submit(Submission(STREAM, bet))
        await house.pass_(0.2)
        found = read(house.dispatcher.metrics.text())
        assert one(found, "taisai_durable_seconds_count") - before == 1
        within = {
            bound: one(found, "taisai_durable_seconds_bucket", le=str(bound)) for bound in (*BUCKETS, "+Inf")
        }
        assert within["+Inf"] - within[0.05] == 1, "two waits of 30 ms"
        assert one(found, "taisai_durable_seconds_sum") == pytest.approx(0.06, abs=0.002)

    attended(played, RWS, is_followed=False)


# The counters alone


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.0011, 5.0, 5.1, 1e6])
def test_a_latency_is_in_the_first_bucket_that_holds_it(seconds: float) -> None:
    metrics = Metrics()
    metrics.durable(seconds)
    found = read(metrics.text())
    for bound in BUCKETS:
        assert one(found, "taisai_durable_seconds_bucket", le=str(bound)) == (seconds <= bound)
    assert one(found, "taisai_durable_seconds_bucket", le="+Inf") == 1


def test_without_anything_counted_it_is_read_all_the_same() -> None:
    assert one(read(Metrics().text()), "taisai_durable_seconds_count") == 0


def test_a_table_with_an_odd_name_is_one_label() -> None:
    metrics = Metrics()
    name = 'T"1\\\n{}'
    by: Any = {"at": 1, "by": "x", "clause": Clause("x")}
    events = (RoundConcluded(**by, round=1), RoundConcluded(**by, round=2))
    metrics.count_rounds(Committed(f"table:{name}", said.Shut(at=1, by="x", reason="y"), events))
    metrics.count_rounds(Committed("house", said.Shut(at=1, by="x", reason="y"), events))
    assert one(read(metrics.text()), "taisai_rounds_total", table=name, end="concluded") == 2


def test_the_hot_path_is_one_addition_in_a_dictionary() -> None:
    """Prometheus' own counters take a lock and make a label at each call: some microseconds for every bet."""
    metrics = Metrics()
    metrics.requests[DoRequest] += 1
    metrics.requests[BooksRequest] += 2
    assert {type(value) for value in metrics.requests.values()} == {int}
    found = read(metrics.text())
    assert (one(found, "taisai_asks_total", kind="do"), one(found, "taisai_asks_total", kind="books")) == (
        1,
        2,
    )
    assert ".labels(" not in inspect.getsource(module)


SAID = ("pat", "may", "P1", "10000000", "1000", "192.0.2.7")


def test_no_name_of_anyone_and_no_money_is_in_it() -> None:
    async def played(house: Attended) -> None:
        line = await house.signed_in("pat")
        await line.answer("follow", feed="pit")
        await line.answer("report")
        await house.played(small=1_000)
        text = house.dispatcher.metrics.text().decode()
        values = [labels for _, labels in read(text.encode())]
        told = {value for labels in values for _, value in labels}
        assert told, "something was told"
        assert not told & {*house.house.people, *SAID, *house.table.seats}
        names = {name for name, _ in read(text.encode())}
        assert not {
            name for name in names if any(word in name for word in ("stake", "won", "credit", "money"))
        }
        assert all(name.startswith("taisai_") for name in names)

    attended(played, RWS)


def test_sabotage_a_metric_with_a_name_of_someone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Metrics.collect

    def nosy(self: Metrics) -> Any:
        yield from right(self)
        yield module._counter("taisai_people", "Who is here", "person", {"pat": 1})

    monkeypatch.setattr(Metrics, "collect", nosy)
    with pytest.raises(AssertionError):
        test_no_name_of_anyone_and_no_money_is_in_it()
