"""The software bill of materials: everything that runs, with version and licence, and nothing else."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest

import taisai
from tests.project.test_form import pinned
from tools import sbom

BUILDING = {"editables", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
"""Pinned to build the package, and not there when it runs."""
OTHER_SYSTEMS = {"colorama"}
"""Pinned for another system than that of most tests."""


@cache
def listed() -> dict[str, Any]:
    """The environment, listed once: it takes some seconds."""
    return sbom.environment()


@pytest.fixture
def bom() -> dict[str, Any]:
    return sbom.sbom(copy.deepcopy(listed()))


def pins() -> dict[str, str]:
    """Package → the version that runs."""
    parts = (line.split(" ")[0].partition("==") for line in pinned("run"))
    return {sbom.plain(name): version for name, _, version in parts}


def faults(bom: dict[str, Any]) -> list[str]:
    """What a bill lacks."""
    python = {sbom.plain(part["name"]): part for part in bom["components"] if "pypi" in part["purl"]}
    found = [f"{name} is missing" for name in sorted(sbom.needed() - python.keys())]
    found += [f"{name} is missing" for name in pins().keys() - BUILDING - OTHER_SYSTEMS if name not in python]
    found += [f"{name} does not run" for name in python.keys() - pins().keys()]
    found += [
        f"{name}: {part['version']}" for name, part in python.items() if pins().get(name) != part["version"]
    ]
    return found + [
        f"{part['name']} has no licence" for part in bom["components"] if not part.get("licenses")
    ]


def test_the_bill_lists_every_runtime_dependency_with_version_and_licence(bom: dict[str, Any]) -> None:
    assert faults(bom) == []
    root = bom["metadata"]["component"]
    assert (root["name"], root["version"]) == ("taisai", taisai.__version__)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")


def test_the_bill_lists_what_is_compiled_into_the_pages(bom: dict[str, Any]) -> None:
    lock = json.loads((sbom.ROOT / "frontend" / "package-lock.json").read_text("utf-8"))["packages"]
    pages = {part["name"]: part for part in bom["components"] if part["purl"].startswith("pkg:npm/")}
    assert {"svelte", "uqr", "esm-env"} <= pages.keys()
    assert "vite" not in pages
    assert all(part["version"] == lock[f"node_modules/{name}"]["version"] for name, part in pages.items())


def test_every_dependency_of_a_component_is_a_component(bom: dict[str, Any]) -> None:
    refs = {part["bom-ref"] for part in bom["components"]}
    assert len(refs) == len(bom["components"])
    for entry in bom["dependencies"]:
        assert set(entry["dependsOn"]) <= refs, entry
    assert refs == {entry["ref"] for entry in bom["dependencies"] if not entry["ref"].startswith("root")} | {
        ref for ref in refs if ref.startswith("npm:")
    }


@pytest.mark.parametrize("name", ["apsw", "svelte"])
def test_sabotage_a_component_without_a_licence_is_found(name: str, bom: dict[str, Any]) -> None:
    del next(part for part in bom["components"] if part["name"] == name)["licenses"]
    assert faults(bom) == [f"{name} has no licence"]


def test_sabotage_a_component_that_is_left_out_is_found(bom: dict[str, Any]) -> None:
    bom["components"] = [part for part in bom["components"] if part["name"] != "msgspec"]
    assert "msgspec is missing" in faults(bom)
