"""The audit of an evening: its time beside decoding and hashing alone, and the memory that it takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Final

from bench import journals
from bench.harness import Bench, Line, Target, in_turns
from bench.journals import KEY, evening
from taisai.audit import Report, verified
from taisai.journal.codec import Codec
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.sqlite_reader import SqliteReader


def run(*, quick: bool) -> Iterator[Line]:
    """Against decoding and hashing each entry singly; then a long journal against a short one."""
    _, short, middle, long = evening(snapshots=journals.SNAPSHOTS, tail=journals.TAIL)
    report = _verified(middle)
    assert report.root == _root(middle)
    assert report.sealed == report.entries
    assert report.voids
    assert report.settlements

    ways = {"ours": lambda: _verified(middle), "singly": lambda: _decoded_and_hashed(middle)}
    times = in_turns(ways, turns=3 if quick else 5)
    bench = Bench(f"the audit of {report.entries:,} entries", times)
    most = Target(8, at_most=True)
    yield bench.line("ours / decoding and hashing each singly", of="ours", over="singly", target=most)

    sizes = [_last(path) for path in (short, long)]
    name = f"the memory of an audit, of {sizes[0]:,} and {sizes[1]:,} entries"
    less, more = (memory(path) for path in (short, long))
    ratio = more / less
    what = f"the long journal's {more >> 20} MB / the short one's {less >> 20} MB"
    yield Line(name, what, ratio, ratio, ratio, Target(1.1, at_most=True))


def memory(path: Path) -> int:
    """By how many bytes an audit makes a process larger than it was before, at its largest."""
    here = Path(__file__).parents[1]
    told = subprocess.run(
        [sys.executable, "-c", _AUDITED, path], cwd=here, check=True, capture_output=True, text=True
    )
    return int(told.stdout)


_AUDITED: Final = """
import sys
from bench.auditing import largest
from taisai.audit import verified
before = largest()
verified(sys.argv[1])
print(largest() - before)
"""


def largest() -> int:
    """How many bytes of memory this process had when it had most."""
    try:  # getrusage also counts what the parent had when it started us
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _verified(path: Path) -> Report:
    return verified(path, key=KEY.public)


def _decoded_and_hashed(path: Path) -> None:
    reader, decode = SqliteReader(path), Codec().decode
    for row in reader.rows():
        decode(row.body, row.position)
        leaf_hash(row.body)
    reader.close()


def _root(path: Path) -> str:
    reader, tree = SqliteReader(path), Frontier()
    for row in reader.rows():
        tree.append(leaf_hash(row.body))
    reader.close()
    return tree.root().hex()


def _last(path: Path) -> int:
    reader = SqliteReader(path)
    last = reader.last()
    reader.close()
    assert last is not None
    return last.position
