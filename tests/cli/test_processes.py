"""The command as its own process: streams that close, hash seeds, encodings, time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Words, settling, with_json
from tests.rules.books import replaced, saved, text_of

US = "us-sic-bo"
BIG: Words = ("rules", "matrix", "mbs-sic-bo-v6", "--json")
ALL_IN_ONE = "import sys, json; from taisai.cli import main; [main(words) for words in json.load(sys.stdin)]"


def process(*words: str, **surroundings: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "taisai", *words],
        capture_output=True,
        # Output is buffered for most people, whatever the machine that runs the tests says.
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}, **surroundings},
        timeout=60,
        check=False,
    )


def test_the_module_and_its_exit_codes(tmp_path: Path) -> None:
    done = process("rules", "list")
    assert (done.returncode, done.stderr) == (0, b"")
    assert US.encode() in done.stdout
    saved(tmp_path, "x = 1")
    failed = process("rules", "check", "my.toml")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert failed.stderr.count(b"\n") == 1
    refused = process("settle", US, "--dice", "0,1,2", "--bet", "small=1")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.count(b"\n") == 1


def test_the_installed_command_is_the_module() -> None:
    script = Path(sys.executable).with_name("taisai")
    by_script = subprocess.run([script, *BIG], capture_output=True, check=True)
    assert by_script.stdout == process(*BIG).stdout


def outputs(words: list[Words], seed: str) -> bytes:
    """Everything that these commands print, in one process with its own hash seed."""
    return subprocess.run(
        [sys.executable, "-c", ALL_IN_ONE],
        input=json.dumps(words).encode(),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        timeout=120,
        check=True,
    ).stdout


def test_json_is_the_same_to_the_byte_whatever_the_hash_seed() -> None:
    first = outputs(with_json(), "0")
    assert first.count(b"\n") == len(with_json())
    assert outputs(with_json(), "4242") == first


def test_a_refusal_is_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    """A procedure that cannot settle, from wherever: one of several reasons, and always the same one."""
    steps = text_of(US).split("[[procedure.step]]\n")
    saved(
        tmp_path, "[[procedure.step]]\n".join(step for step in steps if not step.startswith('act = "settle"'))
    )
    words: list[Words] = [("rules", "check", "my.toml", "--json")]
    assert len({outputs(words, str(seed)) for seed in range(6)}) == 1


def test_people_read_the_same_page_whatever_the_hash_seed() -> None:
    words: list[Words] = [("rules", "show", US), ("rules", "irregularities", US), ("rules", "clauses", US)]
    assert outputs(words, "0") == outputs(words, "7")


@pytest.mark.parametrize(
    "words",
    [
        BIG,
        ("rules", "list"),
        ("rules", "list", "--json"),
        ("tour",),
        ("--help",),
        ("odds", "--help"),
        ("--version",),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_seen_enough_is_no_error(words: Words) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "taisai", *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_stops_in_the_middle_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "taisai", *BIG], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        assert running.stdout.read(20) == b'{"rulebook": "mbs-si'
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [BIG, ("rules", "list")], ids=" ".join)
def test_a_disk_that_is_full_is_shown_in_one_line(words: Words) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "taisai", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"taisai: ")
    assert done.stderr.count(b"\n") == 1


INTERRUPTED_AT = """
import sys
class CtrlC:
    def find_spec(name, *_):
        if name == sys.argv[1]:
            raise KeyboardInterrupt
sys.meta_path.insert(0, CtrlC)
from taisai.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    "module",
    [
        "taisai.rules",
        "argparse",
        "taisai.cli.parser",
        "taisai.cli.rules.payoffs",
        "taisai.study.odds",
        "rich",
    ],
)
def test_ctrl_c_while_the_command_is_still_loading_is_one_line(module: str) -> None:
    words = [sys.executable, "-c", INTERRUPTED_AT, module, "odds", US]
    done = subprocess.run(words, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"taisai: stopped by Ctrl-C\n")


def test_next_to_nothing_is_loaded_before_ctrl_c_is_answered() -> None:
    told = "import sys; had = set(sys.modules); import taisai.cli; print(*sorted(set(sys.modules) - had))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, timeout=60, check=True)
    assert set(done.stdout.decode().split()) <= {"__future__", "taisai", "taisai.cli"}


@pytest.mark.parametrize("closed", ["1", "2"])
@pytest.mark.parametrize(("words", "code"), [("rules list", 0), ("odds no-such-book", 2)])
def test_a_closed_stream_is_no_traceback(closed: str, words: str, code: int) -> None:
    line = f'exec "{sys.executable}" -m taisai {words} {closed}>&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb18030", "utf-8"])
def test_an_old_terminal_gets_what_it_can_show(encoding: str) -> None:
    for words in (("rules", "list"), ("rules", "show", US), settling(US, "A"), ("odds", "骰宝")):
        done = process(*words, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
        assert b"Traceback" not in done.stderr, words
        assert done.returncode == (2 if words[-1] == "骰宝" else 0)
        done.stdout.decode(encoding)


def test_json_is_ascii_whatever_the_terminal() -> None:
    plain = process("rules", "show", US, "--json", PYTHONIOENCODING="ascii")
    assert plain.stdout == process("rules", "show", US, "--json", PYTHONIOENCODING="utf-8").stdout
    assert plain.stdout.isascii()


def combinations(kind: str) -> str:
    """A book in which twenty settings of ten choices each have a say: far too many combinations."""
    names = [f"s{n}" for n in range(20)]
    choices = ", ".join(f'"{n}"' for n in range(10))
    setting = f'changes = "{kind}"\nchoices = [{choices}]\ndefault = "0"\nsays = "x"\n\n'
    settings = "".join(f'[[setting]]\nid = "{name}"\n{setting}' for name in names)
    text = replaced(text_of(US), "# Areas\n", f"{settings}# Areas\n")
    if kind == "procedure":
        step = '[[procedure.step]]\nact = "open-bets"\nby = "dealer"\nfrom = "between"\nto = "open"\n'
        more = "".join(f'{step}clause = "5(a)"\nwhen = {{ {name} = "1" }}\n\n' for name in names)
        return replaced(text, "[[procedure.recovery]]", f"{more}[[procedure.recovery]]")
    for name in names[:7]:
        instead = f'instead = {{ when = {{ {name} = "1" }}, wins = "total" }}'
        text = replaced(text, 'wins = "total"\nfloor', f'wins = "total"\n{instead}\nfloor ')
    return text


@pytest.mark.parametrize("kind", ["payoff", "procedure"])
def test_a_book_with_too_many_combinations_of_settings_is_refused_in_time(tmp_path: Path, kind: str) -> None:
    saved(tmp_path, combinations(kind))
    done = subprocess.run(
        [sys.executable, "-m", "taisai", "rules", "check", "my.toml", "--json"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["key"].startswith("setting")
