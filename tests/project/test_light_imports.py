"""Game, cage, journal and projections also run where there is no web server and no library of signatures."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = ("argon2", "cryptography", "httpx", "litestar", "starlette", "uvicorn", "uvloop", "websockets")
IMPORT_ALL = f"""
import importlib, pkgutil, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ImportError(f"blocked: {{name}}")

sys.meta_path.insert(0, Block())
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
    print(module.name)
"""


def import_all(package: str) -> subprocess.CompletedProcess[str]:
    """Imports a package and every module in it, in a process where the blocked libraries are missing."""
    command = [sys.executable, "-c", IMPORT_ALL, package]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "package", ["taisai.game", "taisai.cage", "taisai.journal", "taisai.server.projections"]
)
def test_a_package_imports_without_web_server_and_signatures(package: str) -> None:
    done = import_all(package)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) > 5


@pytest.mark.parametrize("package", ["taisai.server.http", "taisai.server.auth"])
def test_the_block_is_felt(package: str) -> None:
    done = import_all(package)
    assert "ImportError: blocked: " in done.stderr
