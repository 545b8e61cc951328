"""The API reference builds from the types, and a warning of its builder is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.project.tree import ROOT
from tests.tiers import LONG, sampled
from tools.api import packages


def test_the_api_reference_builds_without_a_warning(tmp_path: Path) -> None:
    """Of every package in the long tier; in the short one of two, and of others after every change."""
    only = [] if LONG else sampled("API reference", packages(), 2)
    build = [sys.executable, "-W", "error", "tools/api.py", str(tmp_path), *only]
    done = subprocess.run(build, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for name in only or packages():
        assert name in (tmp_path / f"{name.replace('.', '/')}.html").read_text("utf-8")
