"""The API reference builds from the types, and a warning of its builder is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.project.tree import ROOT


def test_the_api_reference_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-W", "error", "tools/api.py", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "rulebook" in (tmp_path / "taisai" / "rules.html").read_text("utf-8")
