"""Writes the software bill of materials (SBOM) of what runs: `make sbom`, into `build/sbom.cdx.json`.

CycloneDX for Python lists the environment of development. Kept is what the server needs, directly or not, and
what `requirements/run.txt` pins; both have the same versions. The libraries that are compiled into the pages
come from npm's lock file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final

import taisai

ROOT: Final = Path(__file__).parents[1]
WRITTEN: Final = ROOT / "build" / "sbom.cdx.json"
COMPILED_IN: Final = ("svelte",)
"""Development dependencies of the pages whose code is in what browsers load."""
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def plain(name: str) -> str:
    """The name of a Python package as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed() -> set[str]:
    """The packages that `pyproject.toml` says the server needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {plain(match[0]) for line in project["dependencies"] if (match := _NAME.match(line))}


def pinned() -> set[str]:
    """The packages that are pinned to run."""
    lines = (ROOT / "requirements" / "run.txt").read_text("utf-8").splitlines()
    return {plain(line.partition("==")[0]) for line in lines if "==" in line}


def environment() -> dict[str, Any]:
    """Every package of this environment, as CycloneDX lists it."""
    words = ("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "-o", "-")
    listed = subprocess.run(  # noqa: S603  our own interpreter
        (sys.executable, "-m", "cyclonedx_py", "environment", *words, sys.executable),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        raise SystemExit(f"cannot list the environment; run make dev: {listed.stderr.strip()[-500:]}")
    bom: dict[str, Any] = json.loads(listed.stdout)
    return bom


def closure(first: Iterable[str], needs: Mapping[str, Iterable[str]]) -> set[str]:
    """What is needed by the first ones, and by what they need."""
    found: set[str] = set()
    waiting = list(first)
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            waiting += needs.get(one, ())
    return found


def page_libraries(lock: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The components of the pages, from npm's lock file."""
    packages = {
        name.removeprefix("node_modules/"): package
        for name, package in lock["packages"].items()
        if name.startswith("node_modules/") and "/node_modules/" not in name
    }
    needs = {name: tuple(package.get("dependencies", ())) for name, package in packages.items()}
    first = (*lock["packages"][""].get("dependencies", ()), *COMPILED_IN)
    for name in sorted(closure(first, needs)):
        package = packages[name]
        yield {
            "bom-ref": f"npm:{name}@{package['version']}", "type": "library", "name": name,
            "version": package["version"], "licenses": [{"license": {"id": package["license"]}}],
            "purl": f"pkg:npm/{name.replace('@', '%40')}@{package['version']}",
        }  # fmt: skip


def licensed(component: dict[str, Any]) -> dict[str, Any]:
    """The component with a licence: CycloneDX skips a package that gives the whole text, not a name."""
    if component.get("licenses"):
        return component
    about = metadata(component["name"])
    text = about["License"].strip() if "License" in about else ""
    return component | ({"licenses": [{"license": {"name": text.splitlines()[0]}}]} if text else {})


def sbom(listed: Mapping[str, Any]) -> dict[str, Any]:
    """The bill of what runs, from the list of the whole environment."""
    bom = dict(listed)
    names = {component["bom-ref"]: plain(component["name"]) for component in bom["components"]}
    runs = pinned()  # the list also has what extras would need, if it is installed
    needs = {
        entry["ref"]: [ref for ref in entry.get("dependsOn", ()) if names.get(ref) in runs]
        for entry in bom["dependencies"]
    }
    direct = sorted(ref for ref, name in names.items() if name in needed())
    if missing := needed() - {names[ref] for ref in direct}:
        raise SystemExit(f"not installed: {', '.join(sorted(missing))}; run make dev")
    kept = closure(direct, needs)
    pages = list(page_libraries(json.loads((ROOT / "frontend/package-lock.json").read_text("utf-8"))))
    root = bom["metadata"]["component"]
    root["version"] = taisai.__version__
    bom["components"] = [licensed(part) for part in bom["components"] if part["bom-ref"] in kept] + pages
    bom["dependencies"] = [
        {"ref": root["bom-ref"], "dependsOn": direct + [page["bom-ref"] for page in pages]},
        *({"ref": ref, "dependsOn": sorted(needs.get(ref, ()))} for ref in sorted(kept)),
    ]
    return bom


def main() -> None:
    bom = sbom(environment())
    WRITTEN.parent.mkdir(exist_ok=True)
    WRITTEN.write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    print(f"{WRITTEN.relative_to(ROOT)}: {len(bom['components'])} components")


if __name__ == "__main__":
    main()
