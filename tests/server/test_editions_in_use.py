"""A house takes an edition into use: by its signed list, from a gaming day on, when a table opens."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from taisai.audit import verified
from taisai.cage.messages import AdoptInterpretations, EnrolPerson, HouseCommand
from taisai.cli.server.serve import plan_of
from taisai.game.commands import CloseTable
from taisai.game.refusals import Reason, Refusal
from taisai.journal import load_signing_key, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.replies import DoneReply, RefusedReply
from taisai.protocol.requests import OpenTableRequest
from taisai.rules import Rulebook, rulebook
from taisai.server.config import Config, read_config
from taisai.server.handlers import commands as handlers
from taisai.server.runtime.rulebook_approvals import (
    RulebookApproval,
    RulebookApprovals,
    read_approvals,
    written_approvals,
)
from taisai.server.runtime.startup_checks import (
    LEAST_FREE,
    opened,
    proven,
)
from taisai.server.runtime.table_checks import gaming_date, in_force
from tests.server.house_folder import NOW, data_of, engine_of, faults, lotus

MBS, RWS = "mbs-sic-bo-v6", "rws-sic-bo-etg-v8"
FROM = date(2026, 11, 18)
"""The gaming day from which edition 2 is approved: two days after NOW."""
SIX = 1_794_952_800_000  # on that day in Singapore


@pytest.fixture(scope="module")
def founded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("house") / "lotus"
    lotus(made)
    return made


@pytest.fixture
def folder(founded_once: Path, tmp_path: Path) -> Path:
    """A house as release 0.2 left it: its list approves edition 1 alone."""
    copy = Path(shutil.copytree(founded_once, tmp_path / "lotus"))
    approve(copy, (rulebook(f"{MBS}@1"), date(2026, 1, 1)), (rulebook(f"{RWS}@1"), date(2026, 1, 1)))
    return copy


def approve(folder: Path, *books: tuple[Rulebook, date]) -> None:
    key = load_signing_key(folder / "approvals.key")
    listed = [RulebookApproval(book.id, book.digest, since) for book, since in books]
    (folder / "approvals.txt").write_text(written_approvals(listed, key), encoding="utf-8")


def both_editions(folder: Path, name: str = MBS) -> None:
    approve(folder, (rulebook(f"{name}@1"), date(2026, 1, 1)), (rulebook(name), FROM))


def config(folder: Path, *names: str, book: str = MBS, **more: Any) -> Config:
    """Its configuration with these tables."""
    data = data_of(folder)
    table = data["table"][0] | {"rulebook": book} | more
    data["table"] = [table | {"name": name} for name in names]
    return read_config(data, folder / "casino.toml")


def lines(config: Config, now: int) -> list[str]:
    """What the checks of a start say of the tables."""
    start, found = opened(config, now=lambda: now, free=lambda _path: LEAST_FREE)
    assert found is not None, start.lines()
    try:
        report = proven(config, found, now=now, program=lambda: "sha256:" + "1" * 64)
        return [line for line in report.lines() if " table: " in line]
    finally:
        found.journal.close()


class House:
    """A house in play: what the server's handler does with `open-table`, without a network."""

    def __init__(self, folder: Path, config: Config, *, now: int) -> None:
        key = load_signing_key(folder / "approvals.key").public
        approvals = read_approvals((folder / "approvals.txt").read_text("utf-8"), key)
        self.now = now
        self.engine = engine_of(folder)
        self.plan = plan_of(in_force(config, approvals, now), approvals)

    async def execute(self, stream: str, command: Any, book: Rulebook | None = None) -> Any:
        asked = command(self.engine) if callable(command) else command
        if isinstance(asked, Refusal):
            return asked
        return self.engine.open_table(book, asked) if book else self.engine.answer(stream, asked)

    def do(self, command: HouseCommand) -> Any:
        return self.engine.answer(HOUSE_STREAM, command)

    def open_table(self, name: str, by: str = "Ann Tan") -> Any:
        context: Any = SimpleNamespace(
            plan=self.plan, clock=SimpleNamespace(now=lambda: self.now), queue=self
        )
        principal: Any = SimpleNamespace(name=by)
        return asyncio.run(handlers.open_table(context, principal, OpenTableRequest(id="1", table=name)))

    def edition(self, name: str) -> int:
        return self.engine.table(name).book.edition

    def close_table(self, name: str) -> None:
        answer = self.engine.answer(stream_of(name), CloseTable(at=self.now, by="Sue Lim"))
        assert not isinstance(answer, Refusal), answer


@pytest.fixture
def houses() -> Iterator[list[House]]:
    made: list[House] = []
    yield made
    for house in made:
        house.engine.journal.close()


def begun(houses: list[House], folder: Path, config: Config, *, now: int) -> House:
    for earlier in houses:
        earlier.engine.journal.close()
    houses[:] = [house := House(folder, config, now=now)]
    if "Sue Lim" not in house.engine.house().people:
        enrol = EnrolPerson(at=now, by="Ann Tan", person="Sue Lim", rank="shift-manager")
        assert not isinstance(house.do(enrol), Refusal)
    return house


def test_a_house_takes_an_edition_into_use_at_each_tables_next_opening(
    folder: Path, houses: list[House]
) -> None:
    one, two = config(folder, "SB1"), config(folder, "SB1", "SB2")
    # After the upgrade, before the list names the new edition: as before.
    assert lines(one, NOW) == [f"✓ table: SB1 by {MBS}, edition 1, new"]
    house = begun(houses, folder, one, now=NOW)
    assert isinstance(house.open_table("SB1", "Sue Lim"), DoneReply)
    assert (house.edition("SB1"), house.engine.table("SB1").practice) == (1, 1)
    house.engine.journal.close()
    # The list names both; the day has not come, and the open table goes on.
    both_editions(folder)
    assert lines(two, SIX - 1) == [
        f"✓ table: SB1 by {MBS}, edition 1", f"✓ table: SB2 by {MBS}, edition 1, new"
    ]  # fmt: skip
    assert lines(two, SIX) == [
        f"✓ table: SB1 by {MBS}, edition 1 until it is closed; the next table opens by edition 2",
        f"✓ table: SB2 by {MBS}, edition 2, new",
    ]
    # The table that is open finishes on its old digest; the next one plays the new edition.
    house = begun(houses, folder, two, now=SIX)
    house.close_table("SB1")
    assert isinstance(house.open_table("SB2", "Sue Lim"), DoneReply)
    assert (house.edition("SB1"), house.edition("SB2")) == (1, 2)
    assert house.engine.table("SB2").practice == 2


def test_the_day_may_come_while_the_server_runs(folder: Path, houses: list[House]) -> None:
    both_editions(folder)
    house = begun(houses, folder, config(folder, "SB1", "SB2"), now=SIX - 1)
    house.open_table("SB1", "Sue Lim")
    house.now = SIX
    house.open_table("SB2", "Sue Lim")
    assert (house.edition("SB1"), house.edition("SB2")) == (1, 2)


def test_an_edition_can_be_pinned(folder: Path, houses: list[House]) -> None:
    both_editions(folder)
    house = begun(houses, folder, config(folder, "SB1", book=f"{MBS}@1"), now=SIX)
    house.open_table("SB1", "Sue Lim")
    assert house.edition("SB1") == 1


def test_a_pinned_edition_is_not_played_before_its_day(folder: Path) -> None:
    both_editions(folder)
    (line,) = lines(config(folder, "SB1", book=f"{MBS}@2"), NOW)
    assert line.startswith(
        f"✗ table: SB1: expected a rulebook approved for 2026-11-16, got {MBS}, approved from"
    )


def test_settings_of_edition_1_are_kept_until_edition_2_is_in_use(folder: Path) -> None:
    """A number of tolerated rounds was a setting of edition 1; MBS 5.10 leaves no choice of it."""
    both_editions(folder)
    old = config(folder, "SB1", settings={"under_minimum_memory": "3"})
    assert lines(old, NOW) == [f"✓ table: SB1 by {MBS}, edition 1, new"]
    (line,) = lines(old, SIX)
    assert line.startswith(f"✗ table: SB1: its settings do not fit {MBS}@2: settings.under_minimum_memory: ")


def test_settings_that_fit_no_edition_are_faults_of_the_file(folder: Path) -> None:
    data = data_of(folder)
    data["table"] = [data["table"][0] | {"rulebook": MBS, "settings": {"tumble": "never"}}]
    (fault,) = faults(data, folder)
    assert "expected tumble to be one of before_close, after_close, got 'never'" in fault


@pytest.mark.parametrize("name", ["mbs-sic-bo-v6@3", "mbs-sic-bo-v6@", "nothing@1", "mbs-sic-bo-v6@1@1"])
def test_an_edition_that_does_not_exist_is_a_fault_of_the_file(folder: Path, name: str) -> None:
    data = data_of(folder)
    data["table"] = [data["table"][0] | {"rulebook": name}]
    (fault,) = faults(data, folder)
    assert fault.startswith("expected ")
    assert "table[1].rulebook" in fault


def test_a_table_of_a_later_edition_does_not_go_back(folder: Path, houses: list[House]) -> None:
    both_editions(folder)
    begun(houses, folder, config(folder, "SB1"), now=SIX).open_table("SB1", "Sue Lim")
    houses[0].engine.journal.close()
    (line,) = lines(config(folder, "SB1", book=f"{MBS}@1"), SIX)
    assert line.startswith("✗ table: SB1: expected the rulebook that the table was opened with")


def test_sabotage_an_edition_without_approval_is_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RulebookApprovals, "newest", lambda _self, editions, _on: editions[0])
    assert lines(config(folder, "SB1"), NOW) != [f"✓ table: SB1 by {MBS}, edition 1, new"]


# RWS 5.10: the interpretations are adopted by name before a table opens for money


def adoption(book: Rulebook, **more: Any) -> AdoptInterpretations:
    assert book.adoption is not None
    given: dict[str, Any] = {
        "at": SIX, "by": "Sue Lim", "rulebook": book.id, "edition": book.edition, "digest": book.digest,
        "rank": book.adoption.by, "asked_by": book.adoption.clause,
    }  # fmt: skip
    return AdoptInterpretations(**(given | more))


def test_rws_5_10_no_table_opens_for_money_before_the_shift_manager_adopted_the_readings(
    folder: Path, houses: list[House]
) -> None:
    both_editions(folder, RWS)
    house = begun(houses, folder, config(folder, "SB1", "SB2", book=RWS), now=SIX)
    reply = house.open_table("SB1", "Sue Lim")
    assert isinstance(reply, RefusedReply)
    assert (reply.reason, reply.clause) == ("unmet-need", "5.10")
    assert "SB1" not in house.engine.tables()
    assert not isinstance(house.do(adoption(rulebook(RWS))), Refusal)
    assert isinstance(house.open_table("SB1", "Sue Lim"), DoneReply)
    assert isinstance(house.open_table("SB2", "Sue Lim"), DoneReply)
    adopted = house.engine.house().adopted[rulebook(RWS).digest]
    assert (adopted.by, adopted.at, adopted.edition) == ("Sue Lim", SIX, 2)


def test_rws_5_10_edition_1_asks_for_no_adoption(folder: Path, houses: list[House]) -> None:
    house = begun(houses, folder, config(folder, "SB1", book=RWS), now=NOW)
    assert isinstance(house.open_table("SB1", "Sue Lim"), DoneReply)


def test_rws_5_10_a_rank_below_the_shift_manager_adopts_nothing_and_neither_does_the_administrator(
    folder: Path, houses: list[House]
) -> None:
    house = begun(houses, folder, config(folder, "SB1", book=RWS), now=SIX)
    enrol = EnrolPerson(at=SIX, by="Ann Tan", person="Pat Lee", rank="pit-manager", second="Sue Lim")
    assert not isinstance(house.do(enrol), Refusal)
    for by, reason in (
        ("Pat Lee", Reason.NOT_PERMITTED), ("Ann Tan", Reason.NOT_PERMITTED),
        ("Nobody", Reason.UNKNOWN_PERSON),
    ):  # fmt: skip
        answer = house.do(adoption(rulebook(RWS), by=by))
        assert isinstance(answer, Refusal)
        assert answer.reason is reason
    assert not house.engine.house().adopted


def test_an_adoption_is_repeated_without_effect_and_not_by_somebody_else(
    folder: Path, houses: list[House]
) -> None:
    house = begun(houses, folder, config(folder, "SB1", book=RWS), now=SIX)
    assert len(house.do(adoption(rulebook(RWS)))) == 1
    assert house.do(adoption(rulebook(RWS), at=SIX + 5)) == ()
    enrol = EnrolPerson(at=SIX, by="Sue Lim", person="Max Oh", rank="shift-manager", second="Ann Tan")
    assert not isinstance(house.do(enrol), Refusal)
    answer = house.do(adoption(rulebook(RWS), by="Max Oh"))
    assert isinstance(answer, Refusal)
    assert "'Sue Lim' adopted" in answer.message


@pytest.mark.parametrize(
    "wrong",
    [
        {"digest": "sha256:0"},
        {"digest": ""},
        {"edition": 0},
        {"rank": "king"},
        {"rulebook": ""},
        {"asked_by": " "},
    ],
    ids=str,
)
def test_junk_is_not_adopted(folder: Path, houses: list[House], wrong: dict[str, Any]) -> None:
    house = begun(houses, folder, config(folder, "SB1", book=RWS), now=SIX)
    answer = house.do(adoption(rulebook(RWS), **wrong))
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.BAD_VALUE


def test_sabotage_a_handler_that_asks_for_no_adoption_is_noticed(
    folder: Path, houses: list[House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "_not_adopted", lambda *_: None)
    with pytest.raises(AssertionError):
        test_rws_5_10_no_table_opens_for_money_before_the_shift_manager_adopted_the_readings(folder, houses)


def test_the_gaming_day_begins_at_six(folder: Path) -> None:
    settings = config(folder, "SB1")
    assert (gaming_date(settings, SIX - 1), gaming_date(settings, SIX)) == (date(2026, 11, 17), FROM)


# The audit


def test_the_audit_names_who_adopted_the_readings_and_tables_that_did_not_wait(
    folder: Path, houses: list[House], monkeypatch: pytest.MonkeyPatch
) -> None:
    both_editions(folder, RWS)
    house = begun(houses, folder, config(folder, "SB1", "SB2", book=RWS), now=SIX)
    monkeypatch.setattr(handlers, "_not_adopted", lambda *_: None)
    house.open_table("SB1", "Sue Lim")
    house.do(adoption(rulebook(RWS)))
    house.open_table("SB2", "Sue Lim")
    house.engine.journal.close()
    report = verified(folder / "journal.db")
    assert report.not_adopted == ("SB1",)
    assert report.adoptions == (f"{RWS}, edition 2: Sue Lim, 2026-11-17T22:00:00.000Z",)
