"""Lists what runs and has a newer version: `make outdated`. SECURITY.md says how soon it is taken."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tools.pages import PagesError, find_node
from tools.sbom import pinned, plain

ROOT: Final = Path(__file__).parents[1]


class Behind(NamedTuple):
    """A library with a newer version."""

    name: str
    version: str
    newest: str


def python_behind(listed: Iterable[Mapping[str, Any]], runs: set[str]) -> Iterator[Behind]:
    """Of the packages that pip lists as outdated, those that run."""
    for package in listed:
        if plain(package["name"]) in runs:
            yield Behind(package["name"], package["version"], package["latest_version"])


def pages_behind(listed: Mapping[str, Mapping[str, Any]]) -> Iterator[Behind]:
    """Of the packages that npm lists as outdated, those whose code is in the pages."""
    lock = json.loads((ROOT / "frontend/package-lock.json").read_text("utf-8"))["packages"]
    compiled = {*lock[""].get("dependencies", ()), "svelte"}
    for name, package in listed.items():
        if name in compiled:
            yield Behind(name, package.get("current", "none"), package["latest"])


def listed_by(command: tuple[str, ...], folder: Path) -> Any:
    """What a package manager prints as JSON; npm exits with 1 if something is outdated."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  our own
    try:
        return json.loads(done.stdout or "{}")
    except ValueError:
        raise SystemExit(f"cannot list versions: {done.stderr.strip()[-500:]}") from None


def main() -> int:
    pip = (sys.executable, "-m", "pip", "list", "--outdated", "--format", "json")
    behind = list(python_behind(listed_by(pip, ROOT), pinned()))
    node = find_node()
    if node is None:
        raise PagesError("Node with npm is missing: make dev installs it")
    behind += pages_behind(listed_by((*node.npm, "outdated", "--json"), ROOT / "frontend"))
    for one in behind:
        print(f"{one.name} {one.version}: {one.newest} is newer")
    print(f"{len(behind)} of what runs have a newer version")
    return 0


if __name__ == "__main__":
    sys.exit(main())
