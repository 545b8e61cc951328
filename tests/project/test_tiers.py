"""The two tiers: what is sampled, what `make prove` runs and remembers, and what `make test` counts."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tiers
from tests.project.tree import ROOT
from tools import prove, stages

EVERY = list(range(1_000))
TEST_FILES = sorted((ROOT / "tests").rglob("test_*.py"))
PART = re.compile(r'^pytestmark = pytest\.mark\.part\(name="(.*)"\)$', re.MULTILINE)


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "LONG", False)


# Samples


@pytest.mark.usefixtures("_short")
def test_the_same_sources_give_the_same_sample_and_others_another(monkeypatch: pytest.MonkeyPatch) -> None:
    first = tiers.sampled("bets", EVERY, 20)
    assert first == tiers.sampled("bets", EVERY, 20) == sorted(first)
    assert first != tiers.sampled("rounds", EVERY, 20)
    monkeypatch.setattr(tiers, "source_digest", lambda: 1)
    assert first != tiers.sampled("bets", EVERY, 20)


@pytest.mark.usefixtures("_short")
def test_by_and_by_every_case_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[int] = set()
    for digest in range(100):
        monkeypatch.setattr(tiers, "source_digest", lambda digest=digest: digest)
        some = tiers.one_in("bets", EVERY, 4)
        assert len(some) == 250
        taken.update(some)
    assert taken == set(EVERY)


def test_a_long_search_takes_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "LONG", True)
    monkeypatch.setattr(tiers, "LENGTH", 2.5)
    assert tiers.sampled("bets", EVERY, 20) == tiers.one_in("bets", EVERY, 4) == EVERY
    assert tiers.count(10, 100) == 250
    assert tiers.count(10, 100, most=120) == 120
    assert tiers.count(10, 1) == 10  # never less than the short tier


# Processes that tests start


def test_a_child_hears_ctrl_c_though_the_tests_run_in_the_background() -> None:
    told = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    ignoring = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import tests.conftest, subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {told!r}], check=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", ignoring], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "True"
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


# The long tier


def test_every_part_that_a_test_names_is_known_and_every_known_part_is_named() -> None:
    named = {name for path in TEST_FILES for name in PART.findall(path.read_text("utf-8"))}
    assert named == prove.MARKED.keys()


def test_every_test_is_in_some_part() -> None:
    given = {word for words in prove.parts().values() for word in words}
    for path in TEST_FILES:
        own = path.relative_to(ROOT)
        assert given & {own.as_posix(), "/".join(own.parts[:2])}, path


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The parts that are run, by a prover that writes into a folder of its own and runs nothing."""
    parts: list[str] = []

    def run(command: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        if command[0] == "git":
            return subprocess.CompletedProcess(command, 0, "abc123" if "rev-parse" in command else "", "")
        parts.append(command[-1])
        listed = next(word for word in command if word.startswith("--junitxml="))
        xml = '<testsuites><testsuite tests="3" failures="0" errors="0" skipped="1"/></testsuites>'
        Path(listed.partition("=")[2]).write_text(xml, "utf-8")
        return subprocess.CompletedProcess(command, int("kills" in command[-1]), "", "")

    monkeypatch.setattr(prove, "FOLDER", tmp_path)
    monkeypatch.setattr(prove, "ROOT", tmp_path)
    monkeypatch.setattr(prove, "parts", lambda: {name: (name,) for name in prove.MARKED})
    monkeypatch.setattr(subprocess, "run", run)
    return parts


def test_what_has_passed_is_not_run_again_unless_that_is_asked_for(ran: list[str], tmp_path: Path) -> None:
    assert prove.main(["simulation", "kills"]) == 1
    assert prove.main(["simulation", "kills", "pages"]) == 1
    assert ran == ["simulation", "kills", "kills", "pages"]
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "| simulation | passed | 3 | 0 | 1 |" in report
    assert "| kills | **failed** |" in report
    ran.clear()
    assert prove.main(["simulation", "--again"]) == 0
    assert prove.main(["simulation", "--length", "2"]) == 0
    assert prove.main(["simulation", "--length", "2", "--seed", "7"]) == 0
    assert prove.main(["simulation", "--length", "2", "--seed", "7"]) == 0
    assert ran == ["simulation"] * 3


@pytest.mark.parametrize("words", [["nothing"], ["--length", "0"], ["--seed", "x"]])
def test_what_cannot_be_proved_is_refused(ran: list[str], words: list[str]) -> None:
    with pytest.raises(SystemExit):
        prove.main(words)
    assert ran == []


# The short tier


def test_the_stages_count_their_processor_time_and_warn_above_the_budget(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    monkeypatch.setattr(stages, "STAGES", {"tests": ("pytest", (sys.executable, "-c", busy))})
    monkeypatch.setattr(stages, "adopt_orphans", lambda: None)
    monkeypatch.setattr(stages, "orphans_time", lambda: 0.0)
    assert stages.main([]) == 0
    printed = capfd.readouterr().out
    figure = re.search(r"^ +([\d.]+)  in all; the budget is 910$", printed, re.MULTILINE)
    assert figure
    assert 0.3 <= float(figure[1]) < 30
    assert "WARNING" not in printed
    monkeypatch.setattr(stages, "BUDGET", 0)
    assert stages.main([]) == 0
    assert "WARNING: " in capfd.readouterr().out


def test_a_stage_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = {"types": ("mypy", (sys.executable, "-c", "print('no'); raise SystemExit(1)"))}
    monkeypatch.setattr(stages, "STAGES", failing)
    monkeypatch.setattr(stages, "adopt_orphans", lambda: None)
    monkeypatch.setattr(stages, "orphans_time", lambda: 0.0)
    assert stages.main(["types"]) == 1
    printed = capfd.readouterr().out
    assert "── mypy\nno\n" in printed
    assert "── failed: mypy\n" in printed
    assert stages.main(["nothing"]) == 2


def test_the_budget_stays_below_the_ceiling() -> None:
    assert stages.BUDGET <= 1_200
