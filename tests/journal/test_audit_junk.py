"""Whatever became of a file, reading it says so in a sentence, and nothing is thrown but that."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from taisai.audit.export import COLUMNS, lines, write_csv, write_parquet
from taisai.audit.prove import (
    check_entry,
    check_growth,
    checkpoints_of,
    encoded_proof,
    prove_entry,
    prove_growth,
    read_proof,
)
from taisai.audit.retell import overview, round_history
from taisai.audit.rows import bet_rows, event_rows
from taisai.audit.sources import source_of
from taisai.journal.errors import JournalError
from tests.game.playbooks import terms_compiled_once
from tests.journal.small_journal import forged, small_export, text_of
from tests.tiers import count

pytestmark = pytest.mark.part(name="tampering")

SEEDS = range(count(40, 500))
PLAYED = ("rws-wrong-result", "mbs-void-rounds")
FIGURES = (b"0", b"-1", b"99", b"null", b'"x"', b"[]", b"{}", b"true", b"9223372036854775808", b"1e9")


@pytest.fixture(scope="module", autouse=True)
def _compiled_once() -> Iterator[None]:
    with terms_compiled_once():
        yield


def junk(seed: int, whole: list[bytes]) -> list[bytes]:
    """The lines with one to three things wrong."""
    chance, made = Random(seed), list(whole)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(made))
        line = bytearray(made[place] or b"x")
        match chance.randrange(6):
            case 0:
                line[chance.randrange(len(line))] = chance.randrange(256)
                made[place] = bytes(line)
            case 1 if len(made) > 1:
                del made[place]
            case 2:
                made.insert(chance.randrange(len(made)), made[place])
            case 3:
                made[place] = bytes(line[: chance.randrange(len(line))])
            case 4:  # another figure in the place of one
                parts = made[place].split(b":")
                where = chance.randrange(len(parts))
                _, comma, after = parts[where].partition(b",")
                parts[where] = chance.choice(FIGURES) + comma + after
                made[place] = b":".join(parts)
            case _:
                other = chance.randrange(len(made))
                made[place], made[other] = made[other], made[place]
    return made


def told(seed: int, path: Path) -> list[str]:
    """What was said of the file by everything that reads it."""
    said = []
    old = next(checkpoints_of(source_of(WHOLE[0])))
    readings: dict[str, Callable[[Any], object]] = {
        "lines": lambda source: list(lines(source)),
        "csv": lambda source: write_csv(COLUMNS["events"], event_rows(source), io.BytesIO()),
        "parquet": lambda source: write_parquet(COLUMNS["events"], event_rows(source), io.BytesIO()),
        "bets": lambda source: list(bet_rows(source)),
        "overview": lambda source: overview(source, table=None, most=5, progress=None),
        "round": lambda source: round_history(source, f"SB{1 + seed % 2}", 1 + seed % 3),
        "seat": lambda source: round_history(source, "SB1", 1, seat="2"),
        "entry": lambda source: check_entry(prove_entry(source, 1 + seed % 60)),
        "growth": lambda source: check_growth(prove_growth(source, old)),
    }
    for name, read in readings.items():
        try:
            read(source_of(path))
        except JournalError as error:
            said.append(f"{name}: {error}")
        except Exception as error:  # noqa: BLE001  whatever it is, it has to name the seed
            pytest.fail(f"seed {seed}, {name}: {type(error).__name__}: {error}")
    assert all(text.partition(": ")[2] for text in said), seed
    return said


WHOLE: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def _whole(tmp_path_factory: pytest.TempPathFactory) -> None:
    WHOLE[:] = [tmp_path_factory.mktemp("whole") / "whole.jsonl"]
    WHOLE[0].write_bytes(text_of(small_export(*PLAYED)))


def test_a_whole_export_is_read_by_all() -> None:
    assert told(0, WHOLE[0]) == []


def test_junk_is_shown_and_not_thrown(tmp_path: Path) -> None:
    path, said = tmp_path / "junk.jsonl", 0
    for seed in SEEDS:
        path.write_bytes(text_of(junk(seed, list(small_export(*PLAYED)))))
        said += bool(told(seed, path))
    assert said > len(SEEDS) // 2


def cheated(seed: int) -> list[bytes]:
    """The work of a forger with the key: what he changes is numbered, chained and signed again."""
    chance = Random(seed)

    def change(entries: list[dict[str, Any]]) -> None:
        for _ in range(chance.randint(1, 4)):
            place, other = chance.randrange(1, len(entries)), chance.randrange(1, len(entries))
            event = entries[place]["event"]
            match chance.randrange(5):
                case 0:
                    entries.insert(other, copy.deepcopy(entries[place]))
                case 1:
                    entries.insert(other, entries.pop(place))
                case 2:
                    del entries[place]
                case 3:  # one entry's value in another's place
                    key = chance.choice(sorted(event.keys() - {"event"}))
                    event[key] = chance.choice([one["event"].get(key, event[key]) for one in entries])
                case _:
                    key = chance.choice(sorted(event.keys() - {"event"}))
                    event[key] = chance.choice([0, -1, 2, 7, 10**18, "", "x", "1", None, [], [6, 6, 6], True])

    return forged(small_export(*PLAYED), change)


def test_forgeries_are_shown_or_shown_and_not_thrown(tmp_path: Path) -> None:
    path, said = tmp_path / "forged.jsonl", 0
    for seed in SEEDS:
        path.write_bytes(text_of(cheated(seed)))
        said += bool(told(seed, path))
    assert said > len(SEEDS) // 2


def test_a_proof_of_junk_is_shown_and_not_thrown() -> None:
    source = source_of(WHOLE[0])
    old = next(checkpoints_of(source))
    for proof in (prove_entry(source, 7), prove_growth(source, old)):
        for seed in SEEDS:
            data = junk(seed, [encoded_proof(proof)])[0]
            with contextlib.suppress(JournalError):  # anything else names itself
                read: Any = read_proof(data, f"proof of seed {seed}")
                check_entry(read) if hasattr(read, "entry") else check_growth(read)
