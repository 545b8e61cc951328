"""Workers: threads of this process, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError

MOST_WORKERS: Final = 1024


class Workers(NamedTuple):
    """Who plays: an executor, how many tasks it can take at once, and whether it is on this machine."""

    executor: Executor
    side_by_side: int
    is_local: bool = True


@contextmanager
def local_workers(count: int | None = None) -> Iterator[Workers]:
    """Threads of this process, to be entered by `with`; as many as it has cores unless said.

    The kernels let go of Python's lock.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = cores if count is None else count
    if not 1 <= threads <= MOST_WORKERS:
        raise RulesError(f"expected 1 to {MOST_WORKERS:,} workers, got {threads}")
    with ThreadPoolExecutor(threads, thread_name_prefix="simulate") as executor:
        yield Workers(executor, 2 * threads)


@contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """The workers of the Dask cluster whose scheduler has this address, to be entered by `with`."""
    from taisai.study.simulation.cluster import on_cluster

    with on_cluster(address) as (executor, threads):
        yield Workers(executor, 2 * threads, is_local=False)
