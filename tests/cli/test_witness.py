"""`taisai witness` and `taisai serve` together, as processes on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from taisai.cage.messages import EnrolPerson
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.seals.keys import WitnessKey
from taisai.server.runtime import setup
from tests.cli.conftest import Taisai
from tests.server.house_folder import NOW, engine_of, lotus

NAME: Final = "witness.example/w1"


@contextmanager
def witness(folder: Path) -> Iterator[str]:
    """A witness's own process; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "taisai", "witness", "serve", str(folder), "--port", "0"],
        stdout=subprocess.PIPE, text=True, env={**os.environ},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = [process.stdout.readline(), process.stdout.readline()]
        found = re.search(r"listening on (http://127\.0\.0\.1:\d+)", said[1])
        assert found, said
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == "stopped\n"
        process.stdout.close()


def test_a_witness_is_made_once(taisai: Taisai, tmp_path: Path) -> None:
    ran = taisai("witness", "init", "w", "--name", NAME, "--json")
    assert (ran.code, ran.err) == (0, "")
    key = WitnessKey.parse(json.loads(ran.out)["key"])
    assert (key.name, (tmp_path / "w" / "witness.key.pub").read_text()) == (NAME, f"{key.text}\n")
    assert (tmp_path / "w" / "witness.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "w" / "seen").stat().st_mode & 0o777 == 0o600
    again = taisai("witness", "init", "w", "--name", NAME)
    assert again.code == 2
    assert "file exists: witness.key" in again.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--host", "0.0.0.0"), "expected --tls-certificate and --tls-key for an address"),
        (("--host", "witness.example"), "expected --tls-certificate and --tls-key for an address"),
        (("--tls-certificate", "x"), "expected both --tls-certificate and --tls-key, or neither"),
        (("--port", "x"), "--port"),
    ],
)
def test_a_witness_that_strangers_reach_needs_tls(
    taisai: Taisai, arguments: tuple[str, ...], problem: str
) -> None:
    taisai("witness", "init", "w", "--name", NAME)
    ran = taisai("witness", "serve", "w", *arguments)
    assert ran.code == 2
    assert problem in ran.err


def test_a_witness_without_its_memory_does_not_start(taisai: Taisai, tmp_path: Path) -> None:
    taisai("witness", "init", "w", "--name", NAME)
    (tmp_path / "w" / "seen").unlink()
    ran = taisai("witness", "serve", "w", "--port", "0")
    assert ran.code == 2
    assert "cannot read what was seen: No such file or directory" in ran.err


def test_a_house_asks_its_witness_at_every_start(taisai: Taisai, tmp_path: Path) -> None:
    house = lotus(tmp_path / "lotus")
    made = json.loads(taisai("witness", "init", "w", "--name", NAME, "--json").out)
    with (tmp_path / "w" / "logs.txt").open("a") as logs:
        logs.write(f"taisai/{house.journal} {house.key.text}\n")
    ran = taisai("serve", "--config", "lotus/casino.toml", "--check")
    assert "! witness: no witness is configured" in ran.out
    journal = tmp_path / "lotus" / setup.JOURNAL
    shutil.copy(journal, tmp_path / "old.db")
    with witness(tmp_path / "w") as url:
        with (tmp_path / "lotus" / "casino.toml").open("a") as config:
            config.write(f'\n[[witness]]\nurl = "{url}"\nkey = "{made["key"]}"\n')
        first = taisai("serve", "--config", "lotus/casino.toml", "--check")
        assert (first.code, first.err) == (0, "")
        assert f"! witness: {NAME} had seen nothing of this journal" in first.out
        engine = engine_of(tmp_path / "lotus")
        with closing(engine.journal):
            command = EnrolPerson(at=NOW, by="Ann Tan", person="Sue", rank="dealer")
            assert engine.answer(HOUSE_STREAM, command)
        second = taisai("serve", "--config", "lotus/casino.toml", "--check")
        assert "! tail: the last stop was not clean: 1 entry of " in second.out
        assert f"✓ witness: {NAME} had seen 6 of 7 entries" in second.out, second
        shutil.copy(journal, tmp_path / "new.db")
        for beside in ("-wal", "-shm"):
            Path(f"{journal}{beside}").unlink(missing_ok=True)
        shutil.copy(tmp_path / "old.db", journal)
        cut = taisai("serve", "--config", "lotus/casino.toml", "--check")
        assert cut.code == 1
        missing = f"✗ witness: 1 entry is missing: the witness {NAME} has seen 7, the journal has 6"
        assert missing in cut.err
        shutil.copy(tmp_path / "new.db", journal)
    silent = taisai("serve", "--config", "lotus/casino.toml", "--check")
    assert silent.code == 0
    assert f"! witness: the witness {NAME} cannot be reached" in silent.out
