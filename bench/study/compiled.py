"""Limits in C, compiled for this machine."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def library(name: str) -> ctypes.CDLL | None:
    """What a C file beside this one compiles to; None, and a line on the way, without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        print(f"no C compiler: the limit by {name} is left out", file=sys.stderr)
        return None
    source = Path(__file__).with_name(name)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{source.stem}.so"
        flags = ("-O3", "-march=native", "-shared", "-fPIC")
        subprocess.run([compiler, *flags, "-o", str(made), str(source)], check=True, timeout=120)
        return ctypes.CDLL(str(made))
