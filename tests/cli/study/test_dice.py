"""`taisai dice`, as typed."""

import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.cli.study.dice import ROLLS, rolls_of, tally_of_throw
from taisai.game.dice.draw import DICE_LABEL, Throw, draw, stream
from taisai.study.dice import Tally

SEED = bytes(range(32))


def typed(*words: str) -> int:
    return main(list(words))


def saved(folder: Path, faces: str, rolls: int) -> str:
    drawn = random.Random(11)
    path = folder / "rolls.txt"
    path.write_text("".join(" ".join(drawn.choices(faces, k=3)) + "\n" for _ in range(rolls)))
    return str(path)


def test_fair_rolls_pass_and_loaded_ones_are_shown_with_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("dice", "test", saved(tmp_path, "123456", 3000)) == 0
    assert "No evidence against fair dice" in capsys.readouterr().out
    assert typed("dice", "test", saved(tmp_path, "1234566", 3000), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["fair"]
    assert told["tests"][0]["name"] == "faces"
    assert told["tests"][0]["corrected_p"] < 1e-6
    assert told["log_e_value"] > 7


def test_the_shaker_is_tested_on_its_own_stream(capsys: pytest.CaptureFixture[str]) -> None:
    for rolls in ("2000", "6e5"):  # one throw, and three that are joined
        assert typed("dice", "test", "--shaker", rolls, "--seed", SEED.hex(), "--json") == 0
    one, three = map(json.loads, capsys.readouterr().out.splitlines())
    assert one["rolls"] == 2000
    joined = Tally()
    for throw, part in ((1, ROLLS), (2, ROLLS), (3, 600_000 - 2 * ROLLS)):
        joined += tally_of_throw(SEED, throw, part)
    assert three["faces"] == list(joined.faces)


def test_the_labs_stream_begins_with_what_the_shaker_draws() -> None:
    throw = Throw("dice-lab", 7, 1, bytes(32))
    assert tuple(rolls_of(SEED, 7, 1000)[0].tolist()) == draw(SEED, throw)
    numbers = (byte for byte in stream(DICE_LABEL, SEED, throw) if byte < 252)
    slowly = [[1 + next(numbers) % 6 for _ in range(3)] for _ in range(1000)]
    assert rolls_of(SEED, 7, 1000).tolist() == slowly


def test_raw_bytes_are_the_streams(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert typed("dice", "export", "--bytes", "200000", "--seed", SEED.hex()) == 0
    piped = capfdbinary.readouterr().out
    path = tmp_path / "stream.bin"
    assert typed("dice", "export", "--bytes", "2e5", "--seed", SEED.hex(), "-o", str(path)) == 0
    capfdbinary.readouterr()
    numbers = stream(DICE_LABEL, SEED, Throw("dice-lab", 1, 1, bytes(32)))
    assert piped == path.read_bytes() == bytes(next(numbers) for _ in range(200_000))
    assert (
        typed("dice", "export", "--bytes", "10", "-o", str(path)) == 2
    )  # what is there is never overwritten
    assert path.stat().st_size == 200_000


def test_the_mapping_is_proven(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("dice", "mapping", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"faces": [42] * 6, "left_out": 4, "unbiased": True}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("test",), "expected a file of rolls or --shaker ROLLS, got neither"),
        (("test", "rolls.txt", "--shaker", "5"), "got both"),
        (("test", "/no/such/rolls.txt"), "cannot read the file of rolls '/no/such/rolls.txt'"),
        (("test", "--shaker", "1e30"), "expected a whole number"),
        (("test", "--shaker", "10"), "expected at least 20 rolls to test, got 10"),
        (("test", "--shaker", "100", "--seed", "xyz"), "64 hexadecimal digits"),
        (("test", "rolls.txt", "--seed", "00"), "--seed needs --shaker"),
        (("export", "--bytes", "-5"), "expected a whole number"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("dice", *words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.3, 1.5])
def test_ctrl_c_ends_all_its_processes_with_one_line(after: float) -> None:
    """A terminal sends it to the whole group, so that every worker gets it, also one that just starts."""
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "taisai", "dice", "test", "--shaker", "1e11"]
    shown = b""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave, start_new_session=True) as process:
        os.close(slave)
        try:
            while b"rolls/s" not in shown:  # the workers are about to start
                shown += os.read(master, 4096)
            time.sleep(after)
            os.killpg(process.pid, signal.SIGINT)
            assert process.communicate(timeout=60)[0] == b""
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:  # the other end is closed, by all of them
                break
            shown += more
            if not more:
                break
    os.close(master)
    assert process.returncode == 130
    assert shown.endswith(b"taisai: stopped by Ctrl-C\r\n")
    assert b"Traceback" not in shown


@pytest.mark.parametrize("after", [0.0, 0.3, 1.0])
def test_a_worker_that_is_ended_from_outside_is_shown_in_one_line(after: float) -> None:
    words = [sys.executable, "-m", "taisai", "dice", "test", "--shaker", "1e10"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not (workers := _spawned(process.pid)):
                time.sleep(0.05)
            time.sleep(after)
            os.kill(workers[0], signal.SIGKILL)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (2, "")
    assert err == "taisai: a worker process was ended from outside: run the command again\n"


def _spawned(parent: int) -> list[int]:
    """The workers of a process: its children that were spawned to work."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    return [int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
