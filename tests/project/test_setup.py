"""The set-up script, with stand-ins for uv, Python and apt-get that only write down what they were asked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.project.tree import ROOT

COREUTILS = ("cat", "cksum", "dirname", "head", "ln", "mkdir", "rm", "sh", "sleep")
UV = f"""#!/bin/sh
echo "uv $1 $2" >>calls
[ "$1" != venv ] || {{ mkdir -p .venv/bin && ln -s '{sys.executable}' .venv/bin/python; }}
case "$*" in *node.txt) ln -sf "$PWD"/stock/* "${{0%/*}}" ;; esac
[ ! -e interrupted ] || kill $PPID
"""
PAGES = 'import pathlib, runpy; print(runpy.run_path("../tools/pages.py")["digest"](pathlib.Path(".")))'
NODE = '#!/bin/sh\necho "v${NODE_VERSION:-20.19.0}"\n'
NPM = f"""#!/bin/sh
echo "npm $1" >>../npm-calls
[ ! -e ../unreachable ] || {{ printf 'npm error %s\\n' 'code ENOTFOUND' 'network no way there'; exit 1; }}
[ "$1" != ci ] || mkdir -p node_modules
[ "$1" = run ] || exit 0
mkdir -p "$TAISAI_BUILT" && '{sys.executable}' -c '{PAGES}' >"$TAISAI_BUILT/pages.txt"
"""
PYTHON_WITHOUT_VENV = f"""#!/bin/sh
case "$2" in *ensurepip*) exit 1 ;; *executable*) echo "$0" ;; *) exec '{sys.executable}' "$@" ;; esac
"""


class Machine:
    """A clone in a folder with a space in its name, on a machine that has only the commands given to it."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.clone = folder / "a clone"
        self.bin.mkdir()
        (self.clone / "tools").mkdir(parents=True)
        shutil.copytree(ROOT / "requirements", self.clone / "requirements")
        shutil.copy(ROOT / "pyproject.toml", self.clone)
        for name in ("setup", "pages.py"):
            shutil.copy(ROOT / "tools" / name, self.clone / "tools")
        (self.clone / "frontend").mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "frontend" / name, self.clone / "frontend")
        (self.clone / "frontend" / "index.html").write_text("a page")
        (self.clone / "src" / "taisai" / "server" / "http").mkdir(parents=True)
        for name in COREUTILS:
            (self.bin / name).symlink_to(shutil.which(name) or name)

    def gets(self, name: str, script: str) -> None:
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)

    def setup(self, which: str = "dev", **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin)} | environment
        command: list[str | Path] = [self.clone / "tools" / "setup", which]
        return subprocess.run(command, env=environment, check=False, capture_output=True, text=True)

    def calls(self, log: str = "calls") -> list[str]:
        return self._read(self.clone / log)

    def _read(self, log: Path) -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def with_uv(machine: Machine) -> Machine:
    machine.gets("uv", UV)
    machine.gets("node", NODE)
    machine.gets("npm", NPM)
    machine.gets("chromium", "#!/bin/sh\n")
    (machine.bin / "python3").symlink_to(sys.executable)
    return machine


def test_the_first_run_installs_and_the_second_does_nothing(with_uv: Machine) -> None:
    done = with_uv.setup()
    assert done.returncode == 0, done.stderr
    assert with_uv.calls() == ["uv venv --quiet", *["uv pip install"] * 3]
    assert with_uv.setup().stdout == ""
    assert with_uv.calls() == []


def test_the_pages_are_built_once_and_again_when_one_has_changed(with_uv: Machine) -> None:
    with_uv.setup()
    assert with_uv.calls("npm-calls") == ["npm ci", "npm run"]
    with_uv.setup()
    assert with_uv.calls("npm-calls") == []
    with_uv.calls()
    (with_uv.clone / "frontend" / "index.html").write_text("a better page")
    assert with_uv.setup("run").returncode == 0
    assert with_uv.calls("npm-calls") == ["npm run"]
    assert with_uv.calls() == []


def test_what_checks_the_pages_is_installed_to_develop_alone(with_uv: Machine) -> None:
    with_uv.setup("run")
    shutil.rmtree(with_uv.clone / "frontend" / "node_modules")
    with_uv.calls("npm-calls")
    with_uv.setup("run")
    assert with_uv.calls("npm-calls") == []
    with_uv.setup("dev")
    assert with_uv.calls("npm-calls") == ["npm ci"]


def test_where_npm_reaches_nothing_it_says_so_and_nothing_is_ready(with_uv: Machine) -> None:
    (with_uv.clone / "unreachable").touch()
    done = with_uv.setup()
    assert done.returncode == 1
    assert "got 'network no way there': is a registry reachable" in done.stderr
    assert "Traceback" not in done.stderr
    (with_uv.clone / "unreachable").unlink()
    assert with_uv.setup().returncode == 0


@pytest.mark.parametrize("version", [None, "18.20.4", "20.18.9", "21.7.3", "22.11.0"])
def test_without_a_node_that_will_do_a_package_brings_one(with_uv: Machine, version: str | None) -> None:
    stock = with_uv.clone / "stock"
    stock.mkdir()
    for name in ("node", "npm"):
        (with_uv.bin / name).rename(stock / name)
    if version:
        with_uv.gets("node", f"#!/bin/sh\necho v{version}\n")
        with_uv.gets("npm", "#!/bin/sh\n")
    done = with_uv.setup()
    assert "installing Node from requirements/node.txt" in done.stdout
    assert with_uv.calls() == ["uv venv --quiet", *["uv pip install"] * 4]


@pytest.mark.parametrize("user", ["0", "1000"])
def test_without_a_browser_root_installs_it_others_are_shown_how(with_uv: Machine, user: str) -> None:
    (with_uv.bin / "chromium").unlink()
    with_uv.gets("id", f"#!/bin/sh\necho {user}\n")
    with_uv.gets("apt-get", '#!/bin/sh\necho "apt-get $*" >>apt-calls\n')
    assert with_uv.setup("run").returncode == 0
    assert with_uv.calls("apt-calls") == []
    done = with_uv.setup("dev")
    assert done.returncode == 0  # only tests need it
    if user == "0":
        assert " chromium " in with_uv.calls("apt-calls")[-1]
    else:
        assert "sudo apt-get install -y chromium" in done.stdout
        assert with_uv.calls("apt-calls") == []


@pytest.mark.parametrize(("less", "more"), [("run", "study"), ("study", "dev"), ("run", "dev")])
def test_what_installs_more_serves_less_but_not_the_other_way_round(
    with_uv: Machine, less: str, more: str
) -> None:
    with_uv.setup(less)
    with_uv.calls()
    with_uv.setup(more)
    assert with_uv.calls() == ["uv pip install"] * (3 if more == "dev" else 2)
    with_uv.setup(less)
    assert with_uv.calls() == []


def test_a_changed_pin_is_installed_without_starting_afresh(with_uv: Machine) -> None:
    with_uv.setup()
    with_uv.calls()
    with (with_uv.clone / "requirements" / "dev.txt").open("a") as pins:
        pins.write("\n")
    with_uv.setup()
    assert with_uv.calls() == ["uv pip install"] * 3


def test_without_the_other_witness_it_says_which_test_is_skipped(with_uv: Machine) -> None:
    with_uv.gets("uv", UV + 'case "$*" in *witness.txt) exit 1 ;; esac\n')
    done = with_uv.setup()
    assert done.returncode == 0
    assert "tests/witness/test_witness_outside.py will be skipped" in done.stdout
    with_uv.calls()
    assert with_uv.setup().stdout == ""
    assert with_uv.calls() == []


def test_a_moved_clone_starts_afresh(with_uv: Machine) -> None:
    with_uv.setup()
    with_uv.clone = with_uv.clone.rename(with_uv.clone.with_name("elsewhere"))
    with_uv.calls()
    with_uv.setup()
    assert with_uv.calls() == ["uv venv --quiet", *["uv pip install"] * 3]


def test_an_interrupted_run_is_made_good_by_the_next(with_uv: Machine) -> None:
    (with_uv.clone / "interrupted").touch()
    assert with_uv.setup().returncode != 0
    (with_uv.clone / "interrupted").unlink()
    with_uv.calls()
    assert with_uv.setup().returncode == 0
    assert with_uv.calls() == ["uv venv --quiet", *["uv pip install"] * 3]


def test_a_lock_left_by_a_dead_run_does_not_bar_the_next(with_uv: Machine) -> None:
    lock = with_uv.clone / ".venv.lock"
    lock.mkdir()
    (lock / "pid").write_text("999999999")
    assert with_uv.setup().returncode == 0
    assert not lock.exists()


def test_two_runs_at_once_install_once(with_uv: Machine) -> None:
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(with_uv.setup, ["dev", "dev"]))
    assert [run.returncode for run in both] == [0, 0]
    assert with_uv.calls() == ["uv venv --quiet", *["uv pip install"] * 3]


def test_without_python_it_says_what_is_missing(machine: Machine) -> None:
    done = machine.setup()
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr


def test_a_python_that_is_too_old_is_refused_by_name(with_uv: Machine) -> None:
    with_uv.gets("python3.9", "#!/bin/sh\nexit 1\n")
    done = with_uv.setup(PYTHON="python3.9")
    assert done.returncode == 1
    assert "PYTHON=python3.9 is no Python 3.11 or newer" in done.stderr


@pytest.mark.parametrize("user", ["0", "1000"])
def test_without_the_venv_module_root_installs_it_others_are_shown_how(machine: Machine, user: str) -> None:
    machine.gets("python3", PYTHON_WITHOUT_VENV)
    machine.gets("id", f"#!/bin/sh\necho {user}\n")
    machine.gets("apt-get", '#!/bin/sh\necho "apt-get $*" >>calls\n[ "$1" = update ]\n')
    done = machine.setup()
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    assert done.returncode != 0  # the stand-in for apt-get installs nothing
    if user == "0":
        assert machine.calls()[-1].endswith(package)
    else:
        assert f"sudo apt-get install -y {package}" in done.stderr
        assert machine.calls() == []


def test_an_unknown_set_is_refused(machine: Machine) -> None:
    assert "expected 'run', 'study' or 'dev', got 'all'" in machine.setup("all").stderr
