"""What runs and has a newer version is listed, and nothing else."""

from __future__ import annotations

from tools.outdated import Behind, pages_behind, python_behind
from tools.sbom import pinned


def test_what_runs_is_listed_and_what_only_tests_is_not() -> None:
    listed = [
        {"name": "Litestar", "version": "2.25.0", "latest_version": "2.26.0"},
        {"name": "ruff", "version": "0.17.4", "latest_version": "0.17.5"},
    ]
    assert list(python_behind(listed, pinned())) == [Behind("Litestar", "2.25.0", "2.26.0")]


def test_of_the_pages_what_is_compiled_in_is_listed() -> None:
    listed = {
        "svelte": {"current": "5.57.3", "latest": "5.58.0"},
        "vite": {"current": "8.3.4", "latest": "8.3.8"},
    }
    assert list(pages_behind(listed)) == [Behind("svelte", "5.57.3", "5.58.0")]
