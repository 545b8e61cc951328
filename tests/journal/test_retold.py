"""A round retold: everything that was ever said of it, in order, with the entries it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import replay
from taisai.audit import retell as retold
from taisai.audit.replay import MOST_NAMED, tables_of
from taisai.audit.retell import RoundHistory, TableSummary, overview, round_history
from taisai.audit.rows import bet_rows
from taisai.audit.sources import source_of
from taisai.game.events import BetRegistered, BetsClosed, Event, RoundResettled, RoundSettled, RoundVoided
from taisai.journal import streams
from taisai.journal.codec import stream_of, table_of
from taisai.journal.errors import JournalError
from taisai.rules.settlement import BetState
from tests.game.playbooks import terms_compiled_once
from tests.journal import playbook_journal

STORIES = (
    "mbs-disputes",
    "mbs-limits",
    "mbs-void-rounds",
    "mbs-wrong-result-paid",
    "mbs-withdrawals",
    "rws-limits-found-later",
    "rws-referred-afterwards",
    "rws-wrong-result",
    "three-card-foreign-card-later",
)
TABLES = {name: f"SB{playbook_journal.NAMES.index(name) + 1}" for name in STORIES}
each_story = pytest.mark.parametrize("name", STORIES)


@pytest.fixture(scope="module", autouse=True)
def _compiled_once() -> Iterator[None]:
    with terms_compiled_once():
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("played")
    return [playbook_journal.as_file(folder), playbook_journal.as_export(folder)]


def stories(path: Path, name: str, **more: Any) -> list[RoundHistory]:
    """Every round of the table at which a playbook was played."""
    source, table = source_of(path), TABLES[name]
    (line,) = overview(source, table=table, most=1_000, progress=None)
    return [round_history(source, table, number, **more) for number in range(1, line.rounds + 1)]


# All rounds


def lines(path: Path, **more: Any) -> list[TableSummary]:
    return overview(source_of(path), **({"table": None, "most": 1_000, "progress": None} | more))


def test_every_round_is_listed_as_it_ended(files: list[Path]) -> None:
    found = {(of.name, one.number): one for of in lines(files[0]) for one in of.latest}
    for key, end in playbook_journal.ends().items():
        one = found[key]
        assert (one.staked, one.returned, "void" in one.marks) == (end.staked, end.returned, end.voided), key
    assert {
        key for key, one in found.items() if one.returned is None
    } == found.keys() - playbook_journal.ends().keys()
    assert {mark for one in found.values() for mark in one.marks} == {"void", "corrected", "referred"}


def test_journal_and_export_list_the_same(files: list[Path]) -> None:
    assert lines(files[0]) == lines(files[1])
    assert (
        lines(files[0], table="SB7")
        == lines(files[1], table="SB7")
        == [one for one in lines(files[0]) if one.name == "SB7"]
    )


def test_only_the_latest_rounds_are_kept(files: list[Path]) -> None:
    for few, all_ in zip(lines(files[0], most=1), lines(files[0]), strict=True):
        assert few.rounds == all_.rounds
        assert [one.number for one in few.latest] == [one.number for one in all_.latest][-1:]


def test_the_tables_are_named(files: list[Path]) -> None:
    for path in files:
        assert tables_of(source_of(path)) == [
            f"SB{number}" for number in range(1, len(playbook_journal.NAMES) + 1)
        ]


# One round


def missing(story: RoundHistory) -> list[str]:
    """What the journal says of a round, and the story does not."""
    told = {one.position for one in story.entries}
    return [
        f"entry {entry.position}"
        for entry in playbook_journal.entries()
        if entry.stream == stream_of(story.table)
        and getattr(entry.event, "round", None) == story.number
        and entry.position not in told
    ]


@each_story
def test_all_that_was_said_of_a_round_is_shown_in_order(files: list[Path], name: str) -> None:
    entries = {entry.position: entry for entry in playbook_journal.entries()}
    found = stories(files[0], name)
    assert found
    for story in found:
        assert missing(story) == []
        positions = [one.position for one in story.entries]
        assert positions == sorted(set(positions))
        for one in story.entries:
            assert one.event == entries[one.position].event
            assert getattr(one.event, "round", None) in (None, story.number)
            assert one.asked == next(
                entries[n].asked for n in range(one.position, 0, -1) if entries[n].asked is not None
            )


@each_story
def test_every_event_of_a_table_in_play_is_in_one_of_its_rounds_or_between(
    files: list[Path], name: str
) -> None:
    told = {one.position for story in stories(files[0], name) for one in story.entries}
    during = False
    for entry in playbook_journal.entries():
        if table_of(entry.stream) == TABLES[name]:
            tag = type(entry.event).__name__
            during = during or tag == "BetsOpened"
            assert not during or entry.position in told, entry
            during = during and tag not in ("RoundConcluded", "RoundVoided")


@each_story
def test_what_each_bet_came_to_adds_up_at_every_settlement(files: list[Path], name: str) -> None:
    for story in stories(files[0], name):
        for one in story.entries:
            assert sums_off(one.event, [record for record in one.bets if not record.state.left_early]) == []
            if isinstance(one.event, BetsClosed):
                assert all(record.state is BetState.OPEN for record in one.bets)


def sums_off(event: Event, found: list[Any]) -> list[str]:
    if isinstance(event, RoundSettled | RoundResettled):
        expected = (event.staked, event.won, event.won + event.stakes_back)
    elif isinstance(event, RoundVoided):
        expected = (event.staked, 0, event.staked)
    else:
        return []
    got = tuple(map(sum, zip(*((one.bet.stake, one.won, one.returned) for one in found), strict=True)))
    return [] if (got or (0, 0, 0)) == expected else [f"expected {expected}, got {got}"]


@each_story
def test_each_bet_has_the_entry_that_registered_it(files: list[Path], name: str) -> None:
    entries = {entry.position: entry.event for entry in playbook_journal.entries()}
    for story in stories(files[0], name):
        for one in story.bets:
            event = entries[story.positions[one.bet.id]]
            assert isinstance(event, BetRegistered)
            assert (event.id, event.seat, event.stake) == (one.bet.id, one.bet.seat, one.bet.stake)
            assert event.area == story.laid_on.get(one.bet.id, one.area)


@each_story
def test_a_seat_sees_its_own_bets_and_what_concerns_everyone(files: list[Path], name: str) -> None:
    for story in stories(files[0], name):
        seats = sorted({one.bet.seat for one in story.bets})
        mine = {
            seat: round_history(source_of(files[0]), story.table, story.number, seat=seat) for seat in seats
        }
        together = [one for seat in seats for one in mine[seat].bets]
        assert sorted(one.bet.id for one in together) == sorted(one.bet.id for one in story.bets)
        for seat, own in mine.items():
            assert {one.bet.seat for one in own.bets} <= {seat}
            for one in own.entries:
                assert getattr(one.event, "seat", None) in (None, seat)
                assert {each.bet.seat for each in one.bets} <= {seat}
        everyone = [one.position for one in story.entries if not hasattr(one.event, "seat")]
        bets = [one.position for one in story.entries if type(one.event).__name__ in _OF_A_BET]
        for own in mine.values():
            assert {*everyone} - {*bets} <= {one.position for one in own.entries}


_OF_A_BET = ("BetTakenBack", "BetMoved", "BetReturned")


@each_story
def test_journal_and_export_tell_the_same(files: list[Path], name: str) -> None:
    first, second = (
        [(one.table, one.number, one.entries, one.bets, one.is_over) for one in stories(path, name)]
        for path in files
    )
    assert first == second


def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table and round is put away as soon as it can be."""
    monkeypatch.setattr(replay, "TABLES_IN_MEMORY", 1)
    monkeypatch.setattr(replay, "BETS_IN_MEMORY", 0)
    monkeypatch.setattr(streams, "RECENT", 0)


@each_story
def test_what_was_put_away_is_shown_the_same(
    files: list[Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = [(one.entries, one.bets) for one in stories(files[0], name)]
    keep_nothing(monkeypatch)
    assert [(one.entries, one.bets) for one in stories(files[0], name)] == in_memory


def test_bets_that_were_put_away_are_exported_the_same(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = list(bet_rows(source_of(files[0])))
    keep_nothing(monkeypatch)
    assert list(bet_rows(source_of(files[0]))) == in_memory


def test_corrections_are_shown_where_they_came(files: list[Path]) -> None:
    first = stories(files[0], "rws-wrong-result")[0]
    kinds = [type(one.event).__name__ for one in first.entries]
    assert kinds[-4:] == ["RoundConcluded", "IrregularityRuled", "RoundResettled", "ClaimSettled"]
    assert [one.faces for one in first.entries if one.bets] == [(), (4, 6, 6), (5, 6, 6)]


@pytest.mark.parametrize(
    ("table", "number", "seat", "says"),
    [
        ("SB0", 1, None, r"expected a table of this journal \(SB1, SB2, .* and \d+ others\), got 'SB0'"),
        ("SB1", 99, None, "expected a round of SB1, from 1 to 1, got 99"),
        ("SB1", 0, None, "from 1 to 1, got 0"),
        ("SB1", 1, "x\n", r"expected a seat of SB1 \(1, .*\), got 'x"),
    ],
)
def test_what_is_not_there_is_refused(
    files: list[Path], table: str, number: int, seat: str | None, says: str
) -> None:
    assert len(playbook_journal.NAMES) > MOST_NAMED
    for path in files:
        with pytest.raises(JournalError, match=says):
            round_history(source_of(path), table, number, seat=seat)
        if table == "SB0":
            with pytest.raises(JournalError, match=says):
                overview(source_of(path), table=table, most=1, progress=None)


def test_sabotage_a_correction_left_out_is_noticed(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        retold._Collector, "_is_shown", lambda _self, event, _: type(event) is not RoundResettled
    )
    assert missing(stories(files[0], "rws-wrong-result")[0])


def test_sabotage_a_wrong_sum_is_noticed(files: list[Path]) -> None:
    for one in stories(files[0], "rws-wrong-result")[0].entries:
        if isinstance(one.event, RoundSettled):
            assert sums_off(one.event, [*one.bets][1:])
