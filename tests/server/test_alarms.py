"""Alarms of the server itself: raised once, shown although the writer stands still, ended when it is over."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import msgspec
import pytest

from taisai.cage.messages import ClockJumped, PlaceNoted
from taisai.cli.server.serve import plan_of
from taisai.game import commands as said
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Engine, UnwritableError, load_public_key
from taisai.protocol.views import AlarmsView, Words
from taisai.server.auth.permissions import Role
from taisai.server.projections.feed_writer import Frame
from taisai.server.runtime import environment
from taisai.server.runtime.alarms import MOST_ENDED, Alarms
from taisai.server.runtime.environment import JournalPlace, place_of
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.machine import CLOCK_STAYS, RESTORED_WORDS, STAYS, Machine
from taisai.server.runtime.plan import Thresholds
from taisai.server.runtime.rulebook_approvals import read_approvals
from tests.client.real_server import served
from tests.server.house_folder import changed, lotus
from tests.server.test_metrics import one, read
from tests.server.virtual_house import RWS, Attended, attended
from tests.server.virtual_server import Connected, connected

GB = 1_000_000_000
STILL = 5_000  # ms: longer than the stall that is allowed


def standing(house: Attended | Connected) -> list[str]:
    return [alarm.name for alarm in house.casino.alarms.standing()]


def text_of(house: Attended | Connected) -> str:
    (alarm,) = house.casino.alarms.standing()
    assert alarm.says.zh != alarm.says.en
    return alarm.says.en


def ended(house: Attended | Connected) -> list[str]:
    view = house.casino.alarms.snapshot().view
    assert isinstance(view, AlarmsView)
    return [alarm.name for alarm in view.ended]


def metric(house: Attended | Connected, name: str, **labels: str) -> float:
    return one(read(house.dispatcher.metrics.text()), name, **labels)


# The mechanism


class SteadyClock:
    """A clock that goes on when it must."""

    def __init__(self) -> None:
        self.at = 1_000_000

    def now(self) -> int:
        return self.at

    def steady(self) -> int:
        return self.at


class Watched:
    """One condition, and the frames of its feed."""

    def __init__(self, *, stays: int = 0) -> None:
        self.clock = SteadyClock()
        self.says: Words | None = None
        self.frames: list[Frame] = []
        self.alarms = Alarms(self.clock, self.frames.extend)
        self.alarms.add("kettle", lambda: self.says, is_grave=False, stays=stays)

    def look(self, says: str | None = None, *, after: int = 500) -> None:
        self.says = None if says is None else Words(says, f"{says}。")
        self.clock.at += after
        self.alarms.look()

    def view(self) -> AlarmsView:
        view = self.alarms.snapshot().view
        assert isinstance(view, AlarmsView)
        return view


def test_an_alarm_is_raised_once_and_ends_when_the_trouble_ends() -> None:
    watched = Watched()
    assert watched.view() == AlarmsView(standing=(), ended=())
    for _ in range(5):
        watched.look("it boils")
    (alarm,) = watched.view().standing
    assert (alarm.name, alarm.at, alarm.until, alarm.grave) == ("kettle", 1_000_500, None, False)
    assert len(watched.frames) == 1, "raised once"
    watched.look()
    assert watched.view().standing == ()
    (over,) = watched.view().ended
    assert (over.at, over.until, over.says.en) == (1_000_500, 1_003_000, "it boils")
    watched.look()
    assert len(watched.frames) == 2
    changes = [msgspec.json.decode(frame.body)["changes"] for frame in watched.frames]
    assert [len(change["standing"]) for change in changes] == [1, 0]


def test_an_alarm_stays_until_people_could_see_it_and_a_new_moment_of_trouble_prolongs_it() -> None:
    watched = Watched(stays=10_000)
    watched.look("it boiled")
    watched.look(after=9_000)
    watched.look("it boiled again", after=500)
    watched.look(after=9_999)
    (alarm,) = watched.view().standing
    assert alarm.says.en == "it boiled again"
    watched.look(after=1)
    assert watched.view().standing == ()


def test_a_condition_that_fails_is_an_alarm_and_the_others_are_looked_at() -> None:
    watched = Watched()

    def broken() -> Words | None:
        raise OSError("no such thermometer")

    watched.alarms.add("broken", broken, is_grave=True)
    watched.look("it boils")
    assert [alarm.name for alarm in watched.view().standing] == ["broken", "kettle"], "the grave one first"
    assert "no such thermometer" in watched.view().standing[0].says.en


def test_the_alarms_that_are_over_are_limited() -> None:
    watched = Watched()
    for _ in range(MOST_ENDED + 1):
        watched.look("it boils")
        watched.look()
    assert len(watched.view().ended) == MOST_ENDED


def test_a_name_belongs_to_one_condition() -> None:
    watched = Watched()
    with pytest.raises(ValueError, match="got 'kettle', which is used already"):
        watched.alarms.add("kettle", lambda: None, is_grave=True)


# The disk


class Disk:
    """The free space of a disk, or why it cannot be read."""

    def __init__(self) -> None:
        self.left: int | OSError = 10 * GB

    def __call__(self) -> int:
        if isinstance(self.left, OSError):
            raise self.left
        return self.left


def with_disk(test: Callable[[Attended, Disk], Coroutine[Any, Any, None]], **thresholds: Any) -> None:
    async def played(house: Attended) -> None:
        disk = Disk()
        house.plan = replace(house.plan, free=disk, thresholds=Thresholds()._replace(**thresholds))
        await house.start()
        await house.pass_(2)
        assert standing(house) == []
        await test(house, disk)

    attended(played, RWS, is_followed=False, started=False)


async def _disk_fills(house: Attended, disk: Disk) -> None:
    for left, expected in (
        (5 * GB, []), (5 * GB - 1, ["disk-low"]), (GB, ["disk-low"]), (GB - 1, ["disk-full"]),
        (0, ["disk-full"]), (2 * GB, ["disk-low"]), (6 * GB, []),
    ):  # fmt: skip
        disk.left = left
        await house.pass_(2)
        assert standing(house) == expected, left
        assert metric(house, "taisai_disk_free_bytes") == left
        for name, severity in (("disk-low", "warning"), ("disk-full", "critical")):
            is_on = metric(house, "taisai_alarm", alarm=name, severity=severity)
            assert is_on == (name in expected)
    assert ended(house) == ["disk-low", "disk-full", "disk-low"]


def test_a_disk_that_fills_is_a_warning_then_a_grave_alarm_and_neither_when_it_is_cleared() -> None:
    with_disk(_disk_fills)


def test_the_settings_say_when_a_disk_is_full() -> None:
    async def filled(house: Attended, disk: Disk) -> None:
        disk.left = 9 * GB
        await house.pass_(2)
        assert standing(house) == ["disk-low"]
        assert text_of(house) == "The journal's disk gets full: 9.0 GB free"
        disk.left = 8 * GB - 1
        await house.pass_(2)
        assert text_of(house).startswith("The journal's disk is almost full: 7.9 GB free")

    with_disk(filled, disk_low=10 * GB, disk_full=8 * GB)


def test_casino_toml_sets_the_thresholds(tmp_path: Path) -> None:
    lotus(tmp_path / "lotus")
    config = changed(tmp_path / "lotus", alarms={"stall_ms": 700, "disk_low_mb": 40, "disk_full_mb": 40})
    key = load_public_key(config.approvals.key)
    thresholds = plan_of(config, read_approvals(config.approvals.file.read_bytes(), key)).thresholds
    assert (thresholds.stall, thresholds.disk_low, thresholds.disk_full) == (700, 40_000_000, 40_000_000)


def test_a_disk_that_cannot_be_read_is_an_alarm() -> None:
    async def gone(house: Attended, disk: Disk) -> None:
        disk.left = OSError(5, "Input/output error")
        await house.pass_(2)
        assert text_of(house).endswith("cannot be read: Input/output error")
        assert "taisai_disk_free_bytes" not in house.dispatcher.metrics.text().decode()
        disk.left = 6 * GB
        await house.pass_(2)
        assert standing(house) == []

    with_disk(gone)


def test_sabotage_a_disk_that_nobody_looks_at_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "measure", lambda *_given: None)
    with pytest.raises(AssertionError):
        with_disk(_disk_fills)


# Stalls


def stand_still(loop: Any, milliseconds: int) -> None:
    """A callback that takes so long: meanwhile the loop does nothing else."""
    loop._now += milliseconds / 1_000


@connected()
async def test_a_loop_that_stood_still_is_an_alarm_that_stays_for_a_while(house: Connected) -> None:
    await house.casino.start()
    await house.pass_(2)
    stand_still(house.loop, 2_000)
    await house.pass_(1)
    assert standing(house) == [], "shorter than the setting"
    await house.pass_(0.25)  # no look at the machine is in flight
    stand_still(house.loop, STILL)
    await house.pass_(1)
    assert standing(house) == ["loop-stalled"]
    assert text_of(house).startswith("The server stood still for ")
    assert metric(house, "taisai_loop_stalls_total") == 1
    await house.pass_(STAYS / 1_000 - 5)
    assert standing(house) == ["loop-stalled"]
    await house.pass_(6)
    assert (standing(house), ended(house)) == ([], ["loop-stalled"])


def test_sabotage_a_loop_without_a_beat_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "beat", lambda *_given: None)
    with pytest.raises(AssertionError):
        test_a_loop_that_stood_still_is_an_alarm_that_stays_for_a_while()


def stuck(house: Connected) -> Callable[[], None]:
    """The writer's thread does nothing any more; returns what lets it go on."""
    queue: Any = house.casino.queue
    right = queue._go
    queue._go = lambda: None

    def go_on() -> None:
        queue._go = right
        queue._go()

    return go_on


async def _writer_stands_still(house: Connected) -> None:
    """What a disk does that hangs: neither bets nor any view come from the writer's thread."""
    await house.casino.start()
    pit = await house.came_as(Role.PIT_SUPERVISOR)
    shown = await pit.answer("follow", feed="alarms")
    assert shown["view"] == {"of": "alarms", "standing": [], "ended": []}
    staff = house.session(Role.PIT_SUPERVISOR)
    assert (await house.request("GET", "/metrics", session=staff)).status == 200
    await house.pass_(2)
    go_on = stuck(house)
    await house.pass_(STILL / 1_000)
    (raised,) = [one for one in pit.of("change") if one["feed"] == "alarms"]
    (alarm,) = raised["changes"]["standing"]
    assert (alarm["name"], alarm["grave"], alarm["until"]) == ("writer-stalled", True, None)
    late = await house.came_as(Role.SHIFT_MANAGER)
    (told,) = (await late.answer("follow", feed="alarms"))["view"]["standing"]
    assert told == alarm, "one who comes only now sees it too"
    health = await house.request("GET", "/health", session=staff)
    assert (health.status, health.said["status"]) == (503, "trouble")
    assert health.said["trouble"] == "the journal's writer stands still"
    assert [one["name"] for one in health.said["alarms"]] == ["writer-stalled"]
    metrics = read((await house.request("GET", "/metrics", session=staff)).body)
    assert one(metrics, "taisai_alarm", alarm="writer-stalled", severity="critical") == 1
    assert one(metrics, "taisai_writer_wait_seconds") >= STILL / 1_000
    go_on()
    await house.pass_(STAYS / 1_000 + 2)
    assert (standing(house), ended(house)) == ([], ["writer-stalled"])
    assert (await house.request("GET", "/health")).status == 200
    assert metric(house, "taisai_writer_wait_seconds") < 1


@connected()
async def test_a_writer_that_stands_still_is_seen_in_the_pit_in_health_and_in_metrics(
    house: Connected,
) -> None:
    await _writer_stands_still(house)


def test_sabotage_a_queue_that_nobody_times_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "waits", 0)
    with pytest.raises((AssertionError, ValueError)):
        connected()(_writer_stands_still)()


# An unwritable journal


@contextmanager
def broken_store(house: Attended) -> Iterator[None]:
    """The store writes nothing until the end of the block."""
    store: Any = house.store

    def fails(*_given: Any) -> None:
        raise UnwritableError("disk full")

    with pytest.MonkeyPatch.context() as broken:
        for name in ("append", "keep_secret"):
            broken.setattr(store, name, fails)
        yield


async def _unwritable(house: Attended) -> None:
    await house.opened()
    shut = said.Shut(at=house.clock.now(), by=house.crew.second, reason="smoke")
    with broken_store(house):
        answer = await house.ask(shut)
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.JOURNAL_UNWRITABLE
        await house.pass_(3)
        assert standing(house) == ["journal-unwritable"]
        assert "disk full" in text_of(house)
        assert metric(house, "taisai_alarm", alarm="journal-unwritable", severity="critical") == 1
    await house.pass_(3)
    assert standing(house) == [], "it ends although nobody plays"
    assert ended(house) == ["journal-unwritable"]
    assert not isinstance(await house.ask(shut), Refusal)


def test_a_journal_that_cannot_be_written_is_an_alarm_until_it_can() -> None:
    attended(_unwritable, RWS, is_followed=False)


def test_sabotage_a_trouble_that_is_never_tried_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "try_to_write", lambda _self: None)
    with pytest.raises(AssertionError):
        attended(_unwritable, RWS, is_followed=False)


# The clock


class SetClock(SteadyClock):
    """A clock that somebody may set."""

    def __init__(self) -> None:
        super().__init__()
        self.set_by = 0

    def now(self) -> int:
        return self.at + self.set_by


def test_a_clock_that_was_set_is_an_alarm_for_an_hour() -> None:
    clock = SetClock()
    machine, alarms = Machine(clock=clock, thresholds=Thresholds()), Alarms(clock, lambda _frames: None)
    machine.watch(alarms)

    def after(milliseconds: int) -> list[str]:
        clock.at += milliseconds
        machine.clock_step()
        alarms.look()
        return [alarm.says.en for alarm in alarms.standing()]

    assert after(1_000) == []
    clock.set_by = -5_000
    (text,) = after(1_000)
    assert "set by -5000 ms" in text
    assert after(CLOCK_STAYS - 1_000) == [text]
    clock.set_by = 0
    (other,) = after(900)
    assert "set by 5000 ms" in other
    assert after(CLOCK_STAYS - 1) == [other]
    assert after(1) == []
    assert machine.steps == 2


async def _in_small_steps(house: Attended) -> None:
    for _ in range(5):
        house.clock.set_by += 1_900
        await house.pass_(2)
    assert len(house.events(ClockJumped)) == 2, "5 × 1.9 s, two at a time"
    assert sum(event.jump for event in house.events(ClockJumped)) == pytest.approx(7_600, abs=50)
    assert standing(house) == ["clock-stepped"]


def test_a_clock_that_is_set_in_small_steps_is_noted_all_the_same() -> None:
    attended(_in_small_steps, RWS, is_followed=False)


def test_a_time_service_that_slows_the_clock_a_little_is_no_alarm() -> None:
    clock = SetClock()
    machine = Machine(clock=clock, thresholds=Thresholds())
    for _ in range(100_000):
        clock.at += 2_000
        clock.set_by -= 1  # the fastest that a time service corrects: half a millisecond a second
        assert machine.clock_step() is None
    assert machine.steps == 0


# The place of the journal


HERE = JournalPlace("a" * 16, "1" * 16)
ELSEWHERE = JournalPlace("b" * 16, "1" * 16)
COPY = JournalPlace("a" * 16, "2" * 16)


async def _starts_at(house: Attended, place: JournalPlace, restored: Path | None = None) -> list[str]:
    house.plan = replace(house.plan, place=place, restored=restored)
    if house.starts:
        await house.stop()
    told = await house.start()
    await house.pass_(1)
    return told


def test_a_journal_that_starts_elsewhere_is_an_alarm_until_the_next_start_there() -> None:
    attended(_moves, RWS, is_followed=False, started=False)


def test_sabotage_a_start_that_compares_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(_self: HouseServer, _now: int) -> list[str]:
        return []

    monkeypatch.setattr(HouseServer, "_note_place", nothing)
    with pytest.raises(AssertionError):
        test_a_journal_that_starts_elsewhere_is_an_alarm_until_the_next_start_there()


async def _moves(house: Attended) -> None:
    assert await _starts_at(house, HERE) == [], "the first start only notes where it is"
    assert await _starts_at(house, HERE) == []
    assert len(house.events(PlaceNoted)) == 1
    for place, where in ((ELSEWHERE, "on another machine"), (COPY, "on another machine")):
        (sentence,) = await _starts_at(house, place)
        assert where in sentence
        assert standing(house) == ["journal-moved"]
        assert text_of(house) == sentence
        assert await _starts_at(house, place) == []
        assert standing(house) == []
        told = [alarm.says.en for alarm in (await house.pit()).alarms]
        assert told[-1].startswith("The journal started in another place than before"), "a second start"
    (sentence,) = await _starts_at(house, HERE)
    assert "in another file" in sentence
    assert [(event.machine, event.file, event.restored) for event in house.events(PlaceNoted)] == [
        (*HERE, False), (*ELSEWHERE, False), (*COPY, False), (*HERE, False),
    ]  # fmt: skip


@pytest.mark.parametrize("machine_id", ["", "uninitialized\n"])
def test_a_machine_without_an_id_is_told_what_a_container_needs(
    machine_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "machine-id"
    file.write_text(machine_id, "utf-8")
    monkeypatch.setattr(environment, "MACHINE_IDS", (file, tmp_path / "none"))
    assert environment.machine_id() == platform.node()

    async def played(house: Attended) -> None:
        await _starts_at(house, HERE)
        (sentence,) = await _starts_at(house, ELSEWHERE)
        assert "mount the host's /etc/machine-id" in sentence
        (sentence,) = await _starts_at(house, ELSEWHERE._replace(file=HERE.file[::-1].replace("1", "3")))
        assert "mount" not in sentence
        file.write_text("0123456789abcdef0123456789abcdef\n", "utf-8")
        assert environment.machine_id() == file.read_text("utf-8").strip()
        (sentence,) = await _starts_at(house, HERE)
        assert "mount" not in sentence

    attended(played, RWS, is_followed=False, started=False)


def test_a_restored_journal_is_told_and_recorded_and_is_a_warning(tmp_path: Path) -> None:
    async def played(house: Attended) -> None:
        await _starts_at(house, HERE)
        note = tmp_path / "journal.db-restored"
        note.write_text("x", "utf-8")
        for place in (COPY, COPY):
            note.write_text("x", "utf-8")
            assert await _starts_at(house, place, note) == [RESTORED_WORDS]
            assert standing(house) == ["journal-restored"], "a thief can leave the note, too"
            assert not note.exists()
        assert [event.restored for event in house.events(PlaceNoted)] == [False, True, True]

    attended(played, RWS, is_followed=False, started=False)


def test_a_place_is_the_machine_the_path_and_the_file(tmp_path: Path) -> None:
    file, other = tmp_path / "journal.db", tmp_path / "other.db"
    file.write_bytes(b"entries")
    other.write_bytes(b"entries")
    place = place_of(file, "j1", machine=lambda: "m1")
    assert place_of(file, "j1", machine=lambda: "m1") == place
    assert place_of(file, "j1", machine=lambda: "m2").machine != place.machine
    assert place_of(file, "j1", machine=lambda: "m2").file == place.file
    assert place_of(file, "j2", machine=lambda: "m1").machine != place.machine, "no two journals say the same"
    assert place_of(other, "j1", machine=lambda: "m1").file != place.file
    other.replace(file)
    assert place_of(file, "j1", machine=lambda: "m1").file != place.file, "another file under the same name"
    (tmp_path / "link.db").symlink_to(file)
    assert place_of(tmp_path / "link.db", "j1") == place_of(file, "j1")


# Who sees them


@connected()
async def test_strangers_and_dealers_see_no_alarm(house: Connected) -> None:
    await house.casino.start()
    house.casino.alarms.add("kettle", lambda: Words("it boils", "水开了"), is_grave=True)
    await house.pass_(1)
    assert standing(house) == ["kettle"]
    assert (await house.request("GET", "/health")).said["alarms"] == []
    session = house.session(Role.ADMINISTRATOR)
    assert (await house.request("GET", "/health", session=session)).said["alarms"][0]["name"] == "kettle"
    session = house.session(Role.DEALER)
    assert (await house.request("GET", "/health", session=session)).said["alarms"] == []
    for role, answered in (
        (Role.DEALER, "refused"), (Role.TERMINAL, "refused"), (Role.VISITOR, "refused"),
        (Role.SHIFT_MANAGER, "snapshot"), (Role.AUDITOR, "snapshot"), (Role.ADMINISTRATOR, "snapshot"),
    ):  # fmt: skip
        line = await house.came_as(role)
        assert (await line.answer("follow", feed="alarms"))["type"] == answered, role


# The real thread and a real socket


def test_a_real_writer_that_hangs_is_seen_over_http_while_it_hangs() -> None:
    async def hangs() -> None:
        hung = Event()
        async with asyncio.timeout(30), served() as server:
            queue = server.casino.queue
            queue.submit_job(lambda _engine: hung.wait(20), lambda _answer: None)
            try:
                async with httpx.AsyncClient(base_url=server.http, trust_env=False) as client:
                    await asyncio.sleep(5)
                    answers = [await client.get(path) for path in ("/metrics", "/health")]
            finally:
                hung.set()
        assert [answer.status_code for answer in answers] == [200, 503]
        metrics = read(answers[0].content)
        assert one(metrics, "taisai_alarm", alarm="writer-stalled", severity="critical") == 1
        assert one(metrics, "taisai_writer_wait_seconds") > 3

    asyncio.run(hangs())
