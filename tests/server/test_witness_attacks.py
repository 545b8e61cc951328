"""Attacks on the end of the journal by whoever can write its file: cut it, roll it back, tell another story.

Each is carried out on a SQLite file that a killed server left, first without a witness, where it succeeds,
then with one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import verified
from taisai.audit.export import lines
from taisai.audit.sources import source_of
from taisai.cage.messages import OverrideWitness
from taisai.journal import DamagedError, Engine, Journal, SigningKey, SqliteStore, read_signed
from taisai.journal.seals.cosignatures import witness_key
from taisai.journal.stores.contract import MemoryStore
from taisai.protocol.views import PitView
from taisai.server.auth.permissions import Role
from taisai.server.config import read_config
from taisai.server.config.settings import WitnessConfig
from taisai.server.runtime import witness_checks
from taisai.server.runtime.startup_checks import StartupReport
from taisai.server.runtime.witness_checks import StartWitnesses, ask_witnesses
from taisai.server.runtime.witness_links import WitnessLink
from taisai.witness.client import FileWitness, HttpWitness
from taisai.witness.memory import SeenCheckpoints
from tests.journal.contract import KEY as FIRST_KEY
from tests.journal.contract import SECRET, filled, shut
from tests.server.house_folder import data_of, lotus
from tests.server.sim.virtual import START
from tests.server.virtual_server import KEY, PEOPLE, Connected, furnished, run
from tests.server.witnesses import WITNESS_KEY, Watcher, asked_at_start, cut, file_config, url_config
from tests.witness.logs import serving

ORIGIN = "taisai/connected"
NOW = START + 60_000


def house_file(folder: Path) -> Path:
    """The journal of the house before anyone comes, in a file."""
    path = folder / "journal.db"
    with closing(SqliteStore(path)) as store:
        store.append(list(furnished().rows()))
    return path


def seen(folder: Path) -> Path:
    path = folder / "seen"
    if not path.exists():
        SeenCheckpoints.make(path)
    return path


def played(
    path: Path,
    test: Callable[[Connected], Coroutine[Any, Any, None]],
    *links: WitnessLink,
    is_stopped: bool = False,
) -> None:
    """A server over the file at work; then it is killed, or stopped."""

    async def main(loop: Any) -> None:
        house = Connected(loop, SqliteStore(path), links=links)
        await house.casino.start()
        await house.pass_(1.1)
        await test(house)
        if is_stopped:
            await house.casino.stop()
        house.store.close()
        for link in links:
            link.witness.close()

    run(main)


def started(path: Path, *configured: WitnessConfig) -> tuple[list[str], StartWitnesses | None]:
    with closing(SqliteStore(path)) as store:
        lines, found = asked_at_start(store, KEY, *configured, now=NOW)
        if found is not None:
            found.close()
    return lines, found


def size_of(path: Path) -> int:
    with closing(SqliteStore(path)) as store:
        last = store.last()
        return last.position if last else 0


class Crime:
    """A ticket is cashed; then its redemption is cut off the journal."""

    def __init__(self, path: Path, *links: WitnessLink) -> None:
        self.path = path
        self.ticket = ""
        played(path, self._sell, *links)
        self.before = size_of(path)
        shutil.copy(path, path.with_name("before.db"))

    async def _sell(self, house: Connected) -> None:
        self.ticket = (await (await house.came("P1")).answer("ticket-out", table="T1", seat="1"))["ticket"]

    async def redeem(self, house: Connected) -> None:
        cage = await house.came_as(Role.CASHIER)
        paid = await cage.answer("do", do={"command": "redeem-ticket", "ticket": self.ticket})
        assert (paid["type"], paid["amount"]) == ("done", 50_000), paid


# Cut


def test_without_a_witness_a_cut_ticket_is_paid_twice_and_the_start_warns(tmp_path: Path) -> None:
    crime = Crime(house_file(tmp_path))
    played(crime.path, crime.redeem)
    cut(crime.path, crime.before)
    lines, found = started(crime.path)
    assert found is not None
    assert lines[-1].startswith("! witness: no witness is configured")
    played(crime.path, crime.redeem)  # the house pays the same ticket again


def test_a_ticket_that_was_cut_after_a_kill_is_not_paid_twice(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    played(path, crime.redeem, WitnessLink(FileWitness(seen(tmp_path))))
    whole = size_of(path)
    cut(path, crime.before)
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is None
    assert whole - crime.before > 1
    missing = f"{whole - crime.before:,} entries are missing"
    assert lines[-1].startswith(f"✗ witness: {missing}"), lines
    assert f"has seen {whole:,}, the journal has {crime.before:,}" in lines[-1]


@pytest.mark.parametrize("kept", [1, 4, 20])
def test_a_journal_that_is_rolled_back_as_a_whole_is_refused(tmp_path: Path, kept: int) -> None:
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    whole = size_of(path)
    old = tmp_path / "old.db"
    with closing(SqliteStore(old)) as store:
        store.append(list(furnished().rows())[:kept])
    shutil.move(old, path)
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is None
    assert f"{whole - kept:,} entries are missing" in lines[-1]
    del crime


def test_a_second_history_of_any_length_is_refused(tmp_path: Path) -> None:
    """The end is cut, and a server of the thief's own writes other entries in its place."""
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    played(path, crime.redeem, WitnessLink(FileWitness(seen(tmp_path))))
    whole = size_of(path)
    cut(path, crime.before)

    async def other_entries(house: Connected) -> None:
        while house.engine.journal.size < whole + 5:
            await house.signed_in(Role.DEALER)

    played(path, other_entries)
    assert size_of(path) >= whole + 5
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is None
    assert lines[-1].startswith("✗ witness: the witness seen has seen other entries up to")


def test_the_same_over_a_network(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    watcher = Watcher(tmp_path, ORIGIN, KEY)
    with serving(watcher.service) as url:
        played(path, Crime(path)._sell, is_stopped=True)
        lines, found = started(path, url_config(url))
        assert found is not None
        assert "had seen nothing of this journal" in lines[-1]
        lines, found = started(path, url_config(url))
        assert found is not None
        assert lines[-1].startswith("✓ witness: witness.example/w1 had seen")
        whole = size_of(path)
        cut(path, whole - 3)
        lines, found = started(path, url_config(url))
        assert found is None
        assert "3 entries are missing" in lines[-1]


def test_a_start_goes_on_where_the_journal_continues_what_was_seen(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is not None
    assert lines[-1].startswith("✓ witness: seen had seen")
    played(path, crime.redeem, WitnessLink(FileWitness(seen(tmp_path))), is_stopped=True)
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is not None
    assert not any(line.startswith("! tail") for line in lines), "a clean stop seals everything"


def test_a_cut_with_a_witness_that_was_emptied_is_told_in_the_pit_at_every_start_of_a_day(
    tmp_path: Path,
) -> None:
    """The administrator cuts the journal and empties the witness's file, then starts twice to hide it."""

    def served(*, kept: int | None = None) -> list[str]:
        path = tmp_path / "journal.db"
        if kept is not None:
            cut(path, kept)
            (tmp_path / "seen").unlink()
            seen(tmp_path)
        store, alarms = SqliteStore(path), list[str]()
        lines, found = asked_at_start(store, KEY, file_config(seen(tmp_path)), now=NOW)
        assert found is not None, lines

        async def main(loop: Any) -> None:
            house = Connected(loop, store, links=found.links)
            await house.casino.start()
            await house.pass_(1.1)
            feeds = house.casino.queue.projections
            pit = await house.casino.queue.run(lambda _engine: feeds.snapshot("pit"))
            assert pit is not None
            assert isinstance(pit.view, PitView)
            alarms.extend(alarm.says.en for alarm in pit.view.alarms)
            await house.casino.stop()

        run(main)
        store.close()
        return alarms

    house_file(tmp_path)
    assert served() == []
    before = size_of(tmp_path / "journal.db")
    assert served() == []
    forgotten = "Settings of the house have changed: witness.1 had forgotten the journal, or is another one"
    for alarms in (served(kept=before), served(), served()):
        assert [alarm.startswith(forgotten) for alarm in alarms] == [True], alarms


# The witness is removed


def test_one_person_does_not_remove_the_witness_and_let_money_leave(tmp_path: Path) -> None:
    """The start with the witness is refused: so the administrator takes it out of casino.toml."""

    def served(test: Callable[[Connected], Coroutine[Any, Any, None]], *configured: WitnessConfig) -> None:
        store = SqliteStore(tmp_path / "journal.db")
        _, found = asked_at_start(store, KEY, *configured, now=NOW)
        assert found is not None

        async def main(loop: Any) -> None:
            house = Connected(loop, store, links=found.links, notes=found.notes)
            await house.casino.start()
            await house.pass_(1.1)
            await test(house)
            await house.casino.stop()

        run(main)
        store.close()

    async def ticket(house: Connected, terminal: str, seat: str) -> Any:
        return await (await house.came(terminal)).answer("ticket-out", table="T1", seat=seat)

    async def plays(house: Connected) -> None:
        assert (await ticket(house, "P1", "1"))["type"] == "done"

    async def is_held(house: Connected) -> None:
        assert (await ticket(house, "P2", "2"))["reason"] == "unwitnessed"
        standing = {alarm.name: alarm.grave for alarm in house.casino.alarms.standing()}
        assert standing["witness-removed"]

    async def two_decide(house: Connected) -> None:
        await is_held(house)
        people = PEOPLE[Role.PIT_MANAGER], PEOPLE[Role.SHIFT_MANAGER]
        await house.do(
            OverrideWitness(
                at=house.clock.now(), by=people[0], hours=1, reason="it is given up", second=people[1]
            )
        )
        assert (await ticket(house, "P2", "2"))["type"] == "done"
        await house.pass_(3_600)
        assert house.casino.sealing.refusal() is None, "they agreed to it"

    async def goes_on(house: Connected) -> None:
        assert house.casino.sealing.refusal() is None

    house_file(tmp_path)
    served(plays, file_config(seen(tmp_path)))
    served(plays, file_config(seen(tmp_path)))
    served(is_held)
    served(is_held)
    served(two_decide)
    served(goes_on)


# The witness is kept from answering


def test_a_witness_that_answers_only_after_the_start_and_has_forgotten_is_recorded(
    tmp_path: Path,
) -> None:
    """The file of the witness is out of reach at the start, and comes back empty."""
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    cut(path, crime.before - 3)
    (tmp_path / "seen").unlink()
    store = SqliteStore(path)
    lines, found = asked_at_start(store, KEY, file_config(tmp_path / "seen"), now=NOW)
    assert found is not None
    assert "no money leaves the house until it answers" in lines[-1]

    async def main(loop: Any) -> None:
        house = Connected(loop, store, links=found.links)
        await house.casino.start()
        await house.pass_(1.1)
        seen(tmp_path)
        await house.pass_(40)
        assert house.casino.sealing.refusal() is None, "it answers"
        assert house.engine.house().settings["witness.1.began"] != "0"
        await house.casino.stop()

    run(main)
    store.close()


def test_a_witness_that_answers_only_after_the_start_finds_the_cut(tmp_path: Path) -> None:
    """The thief cuts the line to the witness as well: the floor plays, no money leaves, and it comes out."""
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(Watcher(tmp_path, ORIGIN, KEY)))
    played(path, crime.redeem, WitnessLink(Watcher(tmp_path, ORIGIN, KEY)))
    cut(path, crime.before)
    with closing(SqliteStore(path)) as store:
        growth = witness_checks._growth(Journal(store))
    watcher = Watcher(tmp_path, ORIGIN, KEY)
    watcher.is_silent = True
    link = WitnessLink(watcher, growth)
    link.problem = "the witness cannot be reached"  # as the start found it

    async def second_payment(house: Connected) -> None:
        cage = await house.came_as(Role.CASHIER)
        redeem = {"command": "redeem-ticket", "ticket": crime.ticket}
        assert (await cage.answer("do", do=redeem))["reason"] == "unwitnessed"
        watcher.is_silent = False
        await house.pass_(2)
        refused = await cage.answer("do", do=redeem)
        assert refused["reason"] == "unwitnessed"
        assert "has seen other entries" in refused["message"] or " missing: " in refused["message"]
        while house.engine.journal.size < watcher.size + 10:  # however long it plays on
            await house.signed_in(Role.DEALER)
        await house.pass_(2)
        assert (await cage.answer("do", do=redeem))["reason"] == "unwitnessed"

    played(path, second_payment, link)


def test_a_mount_that_is_gone_keeps_nobody_from_starting(tmp_path: Path) -> None:
    lotus(tmp_path / "lotus")
    data = data_of(tmp_path / "lotus") | {"witness": [{"file": "unmounted/seen"}]}
    config = read_config(data, tmp_path / "lotus" / "casino.toml")
    lines, found = started(house_file(tmp_path), *config.witnesses)
    assert found is not None
    assert lines[-1].startswith("! witness: the witness seen cannot be used")


def test_an_unreachable_witness_is_told_at_the_start_and_the_house_starts(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    lines, found = started(path, url_config("http://127.0.0.1:9"))
    assert found is not None
    assert lines[-1].startswith("! witness: the witness witness.example/w1 cannot be reached")
    assert lines[-1].endswith("no money leaves the house until it answers")
    assert found.links[0].problem is not None
    missing = tmp_path / "unmounted" / "seen"
    lines, found = started(path, file_config(missing))
    assert found is not None
    assert "No such file" in lines[-1]


# A witness that lies


def test_a_witness_that_lost_its_memory_is_not_believed(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    played(path, Crime(path)._sell)
    with serving(Watcher(tmp_path, ORIGIN, KEY).service) as url:
        played(path, _nothing, WitnessLink(_http(url)), is_stopped=True)
    (tmp_path / "seen").unlink()
    with serving(Watcher(tmp_path, ORIGIN, KEY).service) as url:
        lines, found = started(path, url_config(url))
    assert found is not None
    assert "has forgotten, or lies" in lines[-1]
    assert lines[-1].startswith("! ")


def _http(url: str) -> Any:
    return HttpWitness(url, witness_key(WITNESS_KEY))


async def _nothing(_house: Connected) -> None:
    """Nothing happens."""


# The unsealed tail


def test_the_length_of_the_unsealed_tail_is_told_after_a_kill(tmp_path: Path) -> None:
    path = house_file(tmp_path)

    async def killed(house: Connected) -> None:
        for _ in range(3):
            await house.signed_in(Role.DEALER)
        await house.pass_(0.2)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("taisai.server.runtime.house_server.SEAL", 0.9)
        played(path, killed)
    lines, found = started(path)
    assert found is not None
    told = [line for line in lines if line.startswith("! tail: the last stop was not clean: 3 entries of ")]
    assert told, lines
    assert any("3 entries" in note.en and "3 条" in note.zh for note in found.notes.values())
    tail = witness_checks.unsealed_tail(_journal(path))
    assert tail is not None
    assert (tail.entries, 0 <= tail.seconds < 1) == (3, True)


def _journal(path: Path) -> Journal:
    store = MemoryStore()
    with closing(SqliteStore(path)) as file:
        store.append(list(file.rows()))
        newest = file.newest()
    assert newest is not None
    store.keep_newest(newest)
    return Journal(store)


def test_a_tail_that_is_cut_below_the_newest_checkpoint_is_damage_without_a_witness_too(
    tmp_path: Path,
) -> None:
    path = house_file(tmp_path)
    crime = Crime(path)
    with closing(SqliteStore(path)) as store:
        newest = store.newest()
    assert newest is not None
    cut(path, newest.size - 1)
    with closing(SqliteStore(path)) as store:
        store.keep_newest(newest)  # a thief who forgets this row
        lines, found = asked_at_start(store, KEY, file_config(seen(tmp_path)), now=NOW)
    assert found is None
    assert "entries are missing" in lines[-1]
    del crime


# What is stored about the witness is not believed


@pytest.mark.parametrize("is_witnessed", [False, True])
def test_an_old_copy_of_an_authenticated_journal_is_authentic_but_not_what_was_seen(
    tmp_path: Path, *, is_witnessed: bool
) -> None:
    """Codes bind what lies beside the entries, not the time: an old copy has valid ones."""
    path, old, memory = tmp_path / "journal.db", tmp_path / "old.db", file_config(seen(tmp_path))
    with closing(SqliteStore(path)) as store:
        filled(store, secret=SECRET)
    shutil.copy(path, old)
    with closing(SqliteStore(path)) as store:
        journal = Journal(store, secret=SECRET)
        journal.append([shut(9)])
        start = StartupReport()
        asked = ask_witnesses([memory], journal, FIRST_KEY, start, now=NOW)
        assert asked is not None
        asked.close()
    shutil.copy(old, path)
    with closing(SqliteStore(path)) as store:
        start = StartupReport()
        configured = [memory] if is_witnessed else []
        found = ask_witnesses(configured, Journal(store, secret=SECRET), FIRST_KEY, start, now=NOW)
    assert (found is None) is is_witnessed, start.lines()
    if is_witnessed:
        assert "1 entry is missing" in start.lines()[-1]


def test_an_authenticated_tree_is_signed_without_hashing_every_entry_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hashed(*_given: object) -> None:
        raise AssertionError("every entry is hashed")

    with closing(SqliteStore(tmp_path / "journal.db")) as store:
        filled(store, secret=SECRET)
        monkeypatch.setattr(Journal, "prove", hashed)
        text = Journal(store, secret=SECRET).signed(FIRST_KEY, at=NOW)
        assert read_signed(text).is_signed_by(FIRST_KEY.public)
        with pytest.raises(AssertionError, match="every entry is hashed"):
            Journal(store).signed(FIRST_KEY, at=NOW)


def test_a_forged_tree_of_the_witness_is_made_again_from_the_entries(tmp_path: Path) -> None:
    path = house_file(tmp_path)
    crime = Crime(path, WitnessLink(FileWitness(seen(tmp_path))))
    with closing(SqliteStore(path)) as store:
        newest = store.newest()
        assert newest is not None
        forged = b'{"size":1,"peaks":["' + b"A" * 43 + b'="]}'
        store.keep_newest(newest._replace(tree=forged))
        assert witness_checks._growth(Journal(store)).base.size == 0
    lines, found = started(path, file_config(seen(tmp_path)))
    assert found is not None
    assert lines[-1].startswith("✓ witness"), lines
    del crime


def test_the_engine_knows_an_override_over_a_restart(tmp_path: Path) -> None:
    path = house_file(tmp_path)

    async def overridden(house: Connected) -> None:
        command = OverrideWitness(
            at=house.clock.now(), by=PEOPLE[Role.PIT_MANAGER], hours=3, reason="no line",
            second=PEOPLE[Role.SHIFT_MANAGER],
        )  # fmt: skip
        (event,) = await house.do(command)
        assert event.hours == 3

    played(path, overridden)
    with closing(SqliteStore(path)) as store:
        assert Engine(Journal(store)).house().witness_overridden > NOW


# The audit


def witnessed_journal(folder: Path) -> Path:
    """A journal that a witness has seen up to its clean stop."""
    path = house_file(folder)
    played(path, Crime(path)._sell, WitnessLink(Watcher(folder, ORIGIN, KEY)), is_stopped=True)
    return path


def test_an_audit_verifies_what_a_witness_cosigned(tmp_path: Path) -> None:
    path = witnessed_journal(tmp_path)
    key = witness_key(WITNESS_KEY)
    report = verified(path, key=KEY.public, witnesses=[key])
    (witnessed,) = report.witnessed
    assert (witnessed.witness, witnessed.size) == (key.text, report.entries)
    assert report.tail == 0
    assert verified(path).witnessed == ()
    stranger = witness_key(SigningKey.new(WITNESS_KEY.name, seed=bytes(32)))
    with pytest.raises(DamagedError, match="no checkpoint is cosigned by"):
        verified(path, witnesses=[stranger])
    export = tmp_path / "export.jsonl"
    with closing(source_of(path)) as source:
        export.write_bytes(b"".join(lines(source)))
    assert verified(export, witnesses=[key]).witnessed == report.witnessed


def test_an_audit_finds_a_forged_cosignature(tmp_path: Path) -> None:
    path = witnessed_journal(tmp_path)
    with closing(SqliteStore(path)) as store:
        newest = store.newest()
        assert newest is not None
        signed = read_signed(newest.text)
        forged = [
            note._replace(signature=note.signature[:-1] + b"x") if note.name == WITNESS_KEY.name else note
            for note in signed.signatures
        ]
        text = signed.checkpoint.body + "\n" + "".join(note.line for note in forged)
        store.keep_newest(newest._replace(text=text))
    assert verified(path).sealed, "without the key it does not matter"
    with pytest.raises(DamagedError, match="under the checkpoint is forged"):
        verified(path, witnesses=[witness_key(WITNESS_KEY)])
