"""A casino starts and stops: what the journal says, and what the next start makes of a round in hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from taisai import __version__
from taisai.cage.messages import (
    NoteSignIn,
    SettingsTaken,
    SignedIn,
    SignedOut,
    SignOutCause,
    SystemStarted,
    SystemStopped,
)
from taisai.game import commands as said
from taisai.game.events import BetsClosed, Interrupted, RoundVoided
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR, Hold
from taisai.journal import Engine, Journal, JournalError, MemoryStore, UnwritableError
from taisai.journal.seals.checkpoints import read_signed
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Phase, Visibility
from taisai.server.runtime.environment import newest_copy
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import HousePlan
from tests.server.sim import virtual
from tests.server.sim.sim_house import KEY
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_house import BOOKS, CARDS, MBS, RWS, STREAM, US, Attended, attended


async def _stopped(house: Attended) -> None:
    line = await house.signed_in("dan")
    session = await house.casino.authentication.admitted("pat", address="192.0.2.7", now=house.clock.now())
    assert isinstance(session, tuple)
    await house.opened()
    await house.stop()
    assert line.closed is not None
    assert line.closed[0] == 1012
    assert line.told[-1]["type"] == "end"
    (signed,) = house.events(SignedIn)
    (out,) = house.events(SignedOut)
    assert (out.session, out.person, out.why) == (signed.session, "pat", SignOutCause.STOPPED)
    assert len(house.casino.authentication.sessions) == 0
    assert isinstance(house.events()[-1], SystemStopped)
    sealed = read_signed(house.store.checkpoints()[-1].text)
    assert sealed.checkpoint.size == house.engine.journal.size, "the very last entry is under the seal"
    assert sealed.is_signed_by(KEY.public)


def test_a_stop_ends_sessions_says_so_and_is_sealed() -> None:
    attended(_stopped, RWS)


def test_sabotage_a_stop_that_is_not_sealed_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(_self: HouseServer) -> None:
        pass

    monkeypatch.setattr(HouseServer, "seal", nothing)
    with pytest.raises((AssertionError, IndexError)):
        attended(_stopped, RWS)


def test_a_start_says_which_program_by_which_settings() -> None:
    async def played(house: Attended) -> None:
        house.plan = replace(house.plan, settings={"floor.sockets": "5000"}, manifest="sha256:" + "1" * 64)
        await house.start()
        started, taken = house.events(SystemStarted)[-1], house.events(SettingsTaken)[-1]
        assert (started.program, started.manifest, started.by) == (
            f"taisai {__version__}", "sha256:" + "1" * 64, FLOOR,
        )  # fmt: skip
        assert taken.settings == {"floor.sockets": "5000"}

    attended(played, RWS, started=False)


def test_sessions_of_before_a_crash_are_over_at_the_next_start() -> None:
    async def played(house: Attended) -> None:
        note = NoteSignIn(at=house.clock.now(), by=FLOOR, person="dan", session="s" * 32, address="192.0.2.7")
        assert not isinstance(await house.ask(note, None), Refusal)
        assert house.house.sessions
        await house.crash_and_come_back()
        assert not house.house.sessions
        (out,) = house.events(SignedOut)
        assert (out.person, out.why) == ("dan", SignOutCause.STOPPED)
        assert len(house.events(SystemStarted)) == 2
        assert house.events(SystemStopped) == []

    attended(played, RWS)


def test_a_casino_over_an_empty_journal_is_refused() -> None:
    async def main(_loop: VirtualLoop) -> None:
        engine = Engine(Journal(MemoryStore()))
        plan = HousePlan(house="x", currency="SGD", zone="UTC")
        with pytest.raises(JournalError, match="the journal is empty: it has no opening entry"):
            HouseServer(engine, plan, clock=virtual.VirtualClock(_loop), entropy=bytes)

    virtual.run(main)


# Stopped in the middle of a round: RULES, after an interruption

# book              stopped when    what the next start does, and by which clause; where people are asked
#                                   what happened unrecorded: after they declare that nothing did
STOPPED = """
rws-sic-bo-etg-v8   open            -      void              5.1.2
rws-sic-bo-etg-v8   closed          asked  void              5.1.2
rws-sic-bo-etg-v8   closed-tumbled  asked  void              5.1.2
rws-sic-bo-etg-v8   revealed        -      continue          5.1.1
rws-sic-bo-etg-v8   entered         -      continue          5.1.1
rws-sic-bo-etg-v8   settled         -      conclude          -
mbs-sic-bo-v6       open            asked  withdraw-option   5.13.1
mbs-sic-bo-v6       open-tumbled    asked  withdraw-option   5.13.1
mbs-sic-bo-v6       closed-tumbled  asked  withdraw-option   5.13.1
mbs-sic-bo-v6       revealed        asked  continue          5.13.2
mbs-sic-bo-v6       entered         asked  continue          5.13.2
mbs-sic-bo-v6       settled         asked  conclude          -
mbs-3-card-sic-bo   open            asked  lock-and-refer    -
mbs-3-card-sic-bo   closed          asked  lock-and-refer    -
mbs-3-card-sic-bo   revealed        asked  lock-and-refer    -
mbs-3-card-sic-bo   settled         asked  conclude          -
us-sic-bo           open            asked  lock-and-refer    -
us-sic-bo           closed          asked  lock-and-refer    -
us-sic-bo           closed-tumbled  asked  lock-and-refer    -
us-sic-bo           entered         asked  settle-then-shut  6(b)
us-sic-bo           settled         asked  conclude          -
"""


@pytest.mark.parametrize("how", ["stop", "crash"])
@pytest.mark.parametrize(
    "row", [line for line in STOPPED.splitlines() if line], ids=lambda row: " ".join(row.split()[:2])
)
def test_a_round_that_was_in_hand_goes_on_as_its_rulebook_orders(row: str, how: str) -> None:
    book, phase, asked, action, clause = row.split()

    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase(phase))
        before = house.events(stream=STREAM)
        if how == "stop":
            await house.stop()
            assert house.events(stream=STREAM) == before, "a stop leaves the round to recovery"
        else:
            house.crash()
        await house.start()
        stops = house.events(Interrupted, stream=STREAM)
        if asked == "asked":
            (stopped,) = stops
            assert (stopped.action, stopped.phase) == (Recovery.DECLARE, phase)
            assert list(house.table.holds) == [Hold.DECLARATION]
            is_shown = house.table.phase.visibility is Visibility.SHOWN
            declared = Declared.SEEN if is_shown else Declared.UNSEEN
            await house.do(said.Declare, "dan", declared=declared, second=house.crew.second)
            stops = house.events(Interrupted, stream=STREAM)[1:]
        if stops or action != "conclude":
            (stopped,) = stops
            assert (stopped.action, stopped.phase) == (Recovery(action), phase)
            assert clause in ("-", stopped.clause)
        holds = {"withdraw-option": Hold.WITHDRAWAL, "lock-and-refer": Hold.REFERRAL}
        assert list(house.table.holds) == ([holds[action]] if action in holds else [])
        assert bool(house.events(RoundVoided)) is (action == "void")
        assert house.table.ledger.difference == 0

    attended(played, book, is_followed=False)


def test_the_table_above_has_every_rulebook() -> None:
    assert {line.split()[0] for line in STOPPED.splitlines() if line} == set(BOOKS) == {RWS, MBS, CARDS, US}


@pytest.mark.parametrize(("declared", "goes_on"), [(Declared.SEEN, True), (Declared.UNSEEN, False)])
def test_rws_5_1_after_a_stop_two_people_declare_whether_a_die_was_seen(
    declared: Declared,
    goes_on: bool,  # noqa: FBT001
) -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.at_phase(Phase.CLOSED_TUMBLED)
        await house.stop()
        await house.start()
        await house.settle()
        await house.do(said.Declare, "dan", declared=declared, second="pat")
        assert bool(house.events(RoundVoided)) is not goes_on
        await house.until(lambda table: len(table.rounds) == 1)
        past = house.table.past(1)
        assert past is not None
        assert (past.result is not None) is goes_on
        await house.played(small=1_000)

    attended(played, RWS, is_followed=False)


# Sealing


def test_the_journal_is_sealed_after_so_many_entries_or_so_many_minutes() -> None:
    async def played(house: Attended) -> None:
        house.plan = replace(house.plan, seal_every=5, seal_minutes=5)
        await house.start()
        assert house.store.checkpoints() == []
        await house.played(small=1_000)
        await house.pass_(2)
        count = len(house.store.checkpoints())
        assert count >= 1
        await house.pass_(3 * 5 * 60)
        assert len(house.store.checkpoints()) == count, "nothing has come since"
        note = NoteSignIn(at=house.clock.now(), by=FLOOR, person="dan", session="s" * 32, address="192.0.2.7")
        assert not isinstance(await house.ask(note, None), Refusal)
        await house.pass_(5 * 60 + 2)
        assert len(house.store.checkpoints()) == count + 1

    attended(played, RWS, started=False, is_followed=False, demonstration=False)


def test_checkpoints_are_copied_and_a_folder_that_is_none_stops_nobody(tmp_path: Path) -> None:
    async def played(house: Attended) -> None:
        house.plan = replace(house.plan, checkpoints=tmp_path / "copies")
        await house.start()
        await house.stop()
        copy = newest_copy(tmp_path / "copies")
        assert copy is not None
        assert copy.checkpoint.size == house.engine.journal.size
        (tmp_path / "file").touch()
        house.plan = replace(house.plan, checkpoints=tmp_path / "file" / "copies")
        with capture_logs() as logs:
            await house.start()
            await house.stop()
        assert any(one["event"] == "a checkpoint could not be copied" for one in logs)
        assert read_signed(house.store.checkpoints()[-1].text).checkpoint.size == house.engine.journal.size

    attended(played, RWS, started=False, is_followed=False, demonstration=False)


def test_a_stop_that_cannot_be_written_comes_to_its_end_and_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(house: Attended) -> None:
        def full(_rows: object) -> None:
            raise UnwritableError("disk full")

        monkeypatch.setattr(house.store, "append", full)
        with capture_logs() as logs:
            await house.stop()
        assert any(one["event"] == "the stop could not be recorded" for one in logs)
        assert house.queue._is_dead

    attended(played, RWS)


def test_after_a_stop_nothing_acts_by_itself() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.stop()
        size = house.engine.journal.size
        await house.pass_(120)
        assert house.engine.journal.size == size
        assert house.events(BetsClosed) == []

    attended(played, RWS)
