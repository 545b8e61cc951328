"""The project as files: where it lies and what belongs to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "taisai"

MADE = {".git", ".venv", ".venv.lock", "build", "built", "dist", "node_modules", "__pycache__", ".hypothesis"}


def project_files(*suffixes: str) -> list[Path]:
    """Every file that is committed or would be; only those with the given suffixes, if any are given."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        found = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # unpacked from an archive, without git
        found = [path for path in ROOT.rglob("*") if not _is_made(path.relative_to(ROOT))]
    return sorted(path for path in found if path.is_file() and (not suffixes or path.suffix in suffixes))


def _is_made(path: Path) -> bool:
    return any(part in MADE or part.endswith("_cache") for part in path.parts)
