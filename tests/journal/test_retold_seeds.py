"""A round whose seed is committed before it is open can be retold, at a table of every rulebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import replay
from taisai.audit import retell as retold
from taisai.audit.retell import RoundHistory, round_history
from taisai.audit.sources import source_of
from taisai.game.commands import Perform
from taisai.game.events import ReadingTaken, RoundConcluded, SeedCommitted, SeedRevealed
from taisai.game.table import Table
from taisai.journal import streams
from taisai.journal.engine import Engine
from taisai.journal.errors import JournalError
from taisai.journal.journal import Journal
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import Act
from tests.game.playbooks import terms_compiled_once
from tests.journal.seeded_journal import CARDS, MBS, US, Shaken, cards_round, mbs_round, us_round
from tests.journal.small_journal import AT, ID, OLD, exported, text_of

RWS = "rws-sic-bo-etg-v8"
ROUNDS = 2


def rws_round(table: Shaken) -> None:
    """A round of the electronic table game."""
    table.commit()
    table.open()
    table.do(Perform, "clock", act=Act.CLOSE_BETS)
    table.act(Act.TUMBLE, tumbles=3)
    table.act(Act.UNCOVER)
    faces = table.draw()
    table.reveal()
    table.act(Act.ENTER_RESULT, faces=faces)
    table.act(Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE)


PLAYED: dict[str, tuple[str, Callable[[Shaken], None], dict[str, str]]] = {
    "D1": (MBS, mbs_round, {}),
    "D2": (US, us_round, {}),
    "D3": (CARDS, cards_round, {"shuffle": "penetration", "penetration": "50"}),
    "D4": (RWS, rws_round, {}),
}
each_table = pytest.mark.parametrize("table", PLAYED)


@pytest.fixture(scope="module", autouse=True)
def _compiled_once() -> Iterator[None]:
    with terms_compiled_once():
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The rounds of all tables in turn, as a journal and as an export; a seed is committed for one more."""
    folder = tmp_path_factory.mktemp("shaken")
    journal = Journal.opened(
        SqliteStore(folder / "journal.db"), journal=ID, key=OLD.public, at=AT, by="house", program="taisai",
        demonstration=True,
    )  # fmt: skip
    engine = Engine(journal)
    tables = {name: Shaken(engine, name, book, **given) for name, (book, _, given) in PLAYED.items()}
    for _ in range(ROUNDS):
        for name, (_, play, _) in PLAYED.items():
            play(tables[name])
    for table in tables.values():
        table.commit()
    journal.seal(OLD, at=AT + 10_000_000)
    (folder / "export.jsonl").write_bytes(text_of(exported(journal)))
    journal.close()
    return [folder / "journal.db", folder / "export.jsonl"]


def told(path: Path, table: str, **more: Any) -> list[RoundHistory]:
    """Every round of a table."""
    return [round_history(source_of(path), table, number, **more) for number in range(1, ROUNDS + 1)]


@each_table
def test_a_round_is_shown_from_its_commitment_to_its_seed(files: list[Path], table: str) -> None:
    for path in files:
        for number, story in enumerate(told(path, table), 1):
            kinds = [type(one.event) for one in story.entries]
            assert kinds[0] is SeedCommitted
            assert kinds.count(SeedCommitted) == kinds.count(SeedRevealed) == 1
            assert kinds.count(ReadingTaken) == (2 if PLAYED[table][0] == US else 1)
            assert RoundConcluded in kinds
            assert {getattr(one.event, "round", number) for one in story.entries} == {number}
            assert [one.state.is_settled for one in story.bets] == [True]


@each_table
def test_a_seat_is_shown_of_the_seed_too(files: list[Path], table: str) -> None:
    for whole, own in zip(told(files[0], table), told(files[0], table, seat="1"), strict=True):
        assert own.entries == whole.entries


@each_table
def test_what_was_put_away_is_shown_the_same(
    files: list[Path], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = [(one.entries, one.bets) for one in told(files[0], table)]
    monkeypatch.setattr(replay, "TABLES_IN_MEMORY", 1)
    monkeypatch.setattr(replay, "BETS_IN_MEMORY", 0)
    monkeypatch.setattr(streams, "RECENT", 0)
    assert [(one.entries, one.bets) for one in told(files[0], table)] == in_memory


@each_table
def test_a_round_that_has_a_seed_and_never_opened_is_none(files: list[Path], table: str) -> None:
    for path in files:
        with pytest.raises(JournalError, match=rf"expected a round of {table}, from 1 to {ROUNDS}, got 3"):
            round_history(source_of(path), table, ROUNDS + 1)


@each_table
def test_sabotage_a_round_looked_up_before_it_is_there_is_seen(
    files: list[Path], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = retold._Collector._keep

    def hasty(self: Any, decision: list[Any], at: Table) -> None:
        self._round(at)
        right(self, decision, at)

    monkeypatch.setattr(retold._Collector, "_keep", hasty)
    with pytest.raises(JournalError):
        told(files[0], table)
