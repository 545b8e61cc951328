"""`taisai simulate`, as a person and a machine use it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Taisai
from tests.cli.test_misuse import one_clear_line

RWS = "simulate rws-sic-bo-etg-v8 --layout A --bet small=100"
CARDS = "simulate mbs-3-card-sic-bo --bet total-8=100"
KEYS = [
    "rounds", "staked", "returned", "net", "house_edge_observed", "standard_error", "max_drawdown",
    "rounds_per_second",
]  # fmt: skip


def facts(taisai: Taisai, line: str) -> dict[str, Any]:
    ran = taisai(*line.split(), "--json")
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def steady(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != "rounds_per_second"}


def test_the_same_seed_the_same_figures_on_one_worker_or_two(taisai: Taisai) -> None:
    one = facts(taisai, f"{RWS} --rounds 3e6 --seed 7 --workers 1")
    assert list(one) == KEYS
    assert steady(one) == {
        "rounds": 3_000_000,
        "staked": 300_000_000,
        "returned": 291_783_200,
        "net": -8_216_800,
        "house_edge_observed": 8_216_800 / 300_000_000,
        "standard_error": pytest.approx((1295 / 1296 / 3e6) ** 0.5, rel=1e-12),
        "max_drawdown": 8_217_000,
    }
    assert one["rounds_per_second"] > 0
    assert steady(facts(taisai, f"{RWS} --rounds 3_000_000 --seed 7 --workers 2")) == steady(one)
    assert steady(facts(taisai, f"{RWS} --rounds 3e6 --seed 8")) != steady(one)


def test_totals_of_any_length(taisai: Taisai) -> None:
    found = facts(taisai, f"{RWS} --rounds 1e15 --seed 7 --totals")
    assert list(found) == KEYS
    assert found["rounds"] == 10**15
    assert found["net"] == found["returned"] - found["staked"]
    assert (found["max_drawdown"], found["rounds_per_second"]) == (None, None)
    assert abs(found["house_edge_observed"] - 1 / 36) < 5 * found["standard_error"]


def test_players_and_sessions_of_a_system(taisai: Taisai, tmp_path: Path) -> None:
    line = f"{RWS} --rounds 200 --strategy martingale --bankroll 3000 --maximum 1600 --target 6000"
    found = facts(taisai, f"{line} --sessions 50 --players 4 -o ends.parquet --plot ends.svg")
    assert list(found) == [*KEYS, "sessions"]
    assert found["sessions"]["played"] == 200
    assert sum(found["sessions"]["ended"].values()) == 200
    table = pq.read_table(tmp_path / "ends.parquet")
    assert table.num_rows == 200
    assert sum(table["net"].to_pylist()) == found["net"]
    assert sum(table["staked"].to_pylist()) == found["staked"]
    assert max(table["max_drawdown"].to_pylist()) == found["max_drawdown"]
    assert set(table["ended"].to_pylist()) == set(found["sessions"]["ended"])
    assert (tmp_path / "ends.svg").read_text("utf-8").startswith("<?xml")


def test_a_shoe_and_counting(taisai: Taisai, tmp_path: Path) -> None:
    flat = facts(taisai, f"{CARDS} --decks 6 --penetration 3/4 --rounds 20000")
    assert flat["staked"] == 2_000_000
    ran = taisai(
        *f"{CARDS} --penetration 0.75 --strategy count:5 --rounds 5000 -o c.json --plot c.png".split()
    )
    assert ran.code == 0
    assert "count:5, 72 rounds a shoe" in ran.out
    assert json.loads((tmp_path / "c.json").read_text("utf-8"))["rounds"] == 5_000
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_the_figures_in_parquet_and_a_picture_that_never_changes(taisai: Taisai, tmp_path: Path) -> None:
    found = facts(taisai, f"{RWS} --rounds 1e6 -o one.parquet --plot one.svg")
    row = pq.read_table(tmp_path / "one.parquet").to_pylist()
    assert [{key: int(row[0][key]) for key in KEYS[:4]}] == [{key: found[key] for key in KEYS[:4]}]
    facts(taisai, f"{RWS} --rounds 1e6 --plot two.svg --workers 1")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_people_read_a_table(taisai: Taisai) -> None:
    ran = taisai(*f"{RWS} --rounds 1000 --strategy paroli --sessions 20 --bankroll 900 --seed 3".split())
    assert ran.code == 0
    for words in ("house edge observed", "standard error", "20 sessions", "ruined", "Seed 3:"):
        assert words in ran.out


MISUSES = {
    "simulate rws-sic-bo-etg-v8 --bet nothing=100": "unknown area 'nothing'",
    f"{RWS} --rounds 1e30": "expected a whole number from 1 to 1e15",
    f"{RWS} --rounds 1000000000000001": "from 1 to 1e15",
    f"{RWS} --rounds 0": "(--rounds)",
    f"{RWS} --rounds 1.5": "(--rounds)",
    f"{RWS} --bankroll -5": "(--bankroll)",
    f"{RWS} --bankroll 50": "expected a bankroll of at least 100, the first stake, got 50",
    f"{RWS} --seed -1": "(--seed)",
    f"{RWS} --workers 0": "(--workers)",
    f"{RWS} --workers 1025": "(--workers)",
    f"{RWS} --sessions 10000001": "(--sessions)",
    f"{RWS} --sessions 1e6 --players 1e6": "sessions, got",
    f"{RWS} --strategy kelly": "expected one of flat, martingale",
    f"{RWS} --strategy count": "the strategy count needs a shoe with a penetration",
    f"{RWS} --maximum 50": "no multiple of the bets is within the table limits",
    f"{RWS} --penetration 0.5": "--penetration is for card games; this game has dice",
    f"{RWS} --decks 6": "expected no decks",
    f"{RWS} --totals --strategy martingale": "totals need fixed bets",
    f"{RWS} --strategy martingale --rounds 1e15 --plot a.svg": "nothing to plot: give --sessions",
    f"{RWS} --totals --plot a.svg": "--totals cannot be used with --plot",
    f"{RWS} --dask tcp://127.0.0.1:1": "no Dask scheduler answers at 'tcp://127.0.0.1:1'",
    f"{RWS} --dask nonsense": "such as tcp://host:8786, got 'nonsense'",
    f"{RWS} --dask 127.0.0.1:1 --workers 2": "not allowed with argument",
    f"{RWS} -o figures.csv": "expected a file name that ends in .json or .parquet",
    f"{RWS} --plot picture.gif": "expected a picture",
    f"{RWS} --rounds 10 -o no/such/folder.json": "cannot write",
    f"{CARDS} --penetration 2": "expected a share above 0 and at most 1",
    f"{CARDS} --penetration 1e99999999": "expected a share above 0 and at most 1",
    f"{CARDS} --penetration half": "expected a share above 0 and at most 1",
    f"{CARDS} --penetration 1/0": "expected a share above 0 and at most 1",
    f"{CARDS} --penetration 0.5 --strategy martingale": "flat or count, got martingale",
    f"{CARDS} --decks 7": "expected 2 to 6 decks",
}


@pytest.mark.parametrize("line", MISUSES)
def test_misuse_is_refused_in_one_line(taisai: Taisai, line: str) -> None:
    ran = taisai(*line.split())
    assert one_clear_line(ran), ran
    assert MISUSES[line] in ran.err


def test_ctrl_c_shows_a_bar_until_then_and_tells_what_is_done() -> None:
    master, slave = pty.openpty()
    words = f"{RWS} --rounds 1e15 --json".split()
    with subprocess.Popen(
        [sys.executable, "-m", "taisai", *words], stdout=subprocess.PIPE, stderr=slave, env={**os.environ}
    ) as process:
        os.close(slave)
        shown = b""
        while not re.search(rb"[1-9][0-9.e]* rounds/s", shown):
            shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        found = json.loads(process.stdout.read())
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            shown += more
        assert process.wait() == 130
    os.close(master)
    assert list(found) == KEYS
    assert 0 < found["rounds"] < 10**15
    assert f"stopped after {found['rounds']:,} of 1,000,000,000,000,000 rounds".encode() in shown
