"""Workers that run simulation tasks: threads of this process, or a Dask cluster."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from taisai.rules.errors import RulesError
from taisai.study import needed

MOST_WORKERS: Final = 1024


class Workers(NamedTuple):
    """Who plays: an executor, how many tasks it can take at once, and whether it is on this machine."""

    executor: Executor
    side_by_side: int
    is_local: bool = True


@contextmanager
def local_workers(count: int | None = None) -> Iterator[Workers]:
    """Threads of this process, to be entered by `with`; by default one for each core.

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
    from taisai.study.simulation.workers import on_cluster

    with on_cluster(address) as (executor, threads):
        yield Workers(executor, 2 * threads, is_local=False)


_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls)://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>[0-9]{1,5})")
PATIENCE: Final = 5
"""Seconds until an address that does not answer is given up."""


@contextmanager
def on_cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster at this address, and how many threads it has."""
    import logging
    import warnings

    _reached(address)
    with needed("distributed", "cluster"):
        from distributed import Client
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said here, in one line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other versions at the other end: the digits are checked, not these
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError, TypeError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RulesError(
                f"expected a Dask scheduler at {address!r}, such as tcp://host:8786, got {said}"
            ) from error
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise RulesError(f"expected a Dask cluster with at least 1 worker at {address!r}, got 0")
        with client.get_executor(pure=False) as executor:
            yield executor, threads
    finally:
        client.close()


def _reached(address: str) -> None:
    """Refuses an address that is none, or where nobody listens, before Dask would try it for long."""
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match["port"]) > 65_535:
        raise RulesError(f"expected a Dask scheduler's address, such as tcp://host:8786, got {address!r}")
    try:
        with socket.create_connection((match["host"].strip("[]"), int(match["port"])), PATIENCE) as line:
            # A scheduler speaks first; over TLS the caller does, and Dask itself finds out.
            if not address.startswith("tls:") and not line.recv(1):
                raise ConnectionError("it hung up")
    except OSError as error:
        said = error.strerror or str(error)
        raise RulesError(f"expected a Dask scheduler at {address!r}, got no answer: {said}") from error


class WorkPart(Protocol):
    """What a task came to."""

    @property
    def rounds(self) -> int:
        """Played so far."""

    @property
    def further(self) -> Any:
        """A task that plays on where this part ends, if something is left to play."""


P = TypeVar("P", bound=WorkPart)
P_co = TypeVar("P_co", bound=WorkPart, covariant=True)


class Task(Protocol[P_co]):
    """Something to run anywhere: it can be pickled, and brings the same wherever it runs."""

    def run(self) -> P_co:
        """Runs it."""


class _Order(Generic[P]):
    """Parts that arrive in any order, and stand first to last."""

    def __init__(self, tick: Callable[[int], None]) -> None:
        self._tick = tick
        self._latest: dict[int, P] = {}
        self.parts: list[P] = []
        """The whole ones up to the first that is not."""

    def came(self, number: int, part: P) -> None:
        """A part, which may be the later state of one that came before."""
        before = self._latest.get(number)
        self._latest[number] = part
        while (first := self._latest.get(len(self.parts))) is not None and first.further is None:
            self.parts.append(first)  # before it goes there: Ctrl-C may come between any two steps
            del self._latest[len(self.parts) - 1]
        self._tick(part.rounds - (before.rounds if before else 0))

    def begun(self) -> list[P]:
        """The whole ones, and what is done of the first that is not."""
        first = self._latest.get(len(self.parts))
        return self.parts if first is None else [*self.parts, first]


def run_in_order(
    tasks: Iterator[Task[P]], executor: Executor, *, side_by_side: int, tick: Callable[[int], None]
) -> tuple[list[P], bool]:
    """All tasks run: what each came to, first to last; and True, or False where Ctrl-C cut it short.

    After Ctrl-C it is a whole beginning: every task up to one, and of that one what was done. Tasks that run
    in this process cannot be stopped: they are waited for, and count, unless Ctrl-C comes again.
    """
    order: _Order[P] = _Order(tick)
    running: dict[Future[P], int] = {}
    submitted = 0
    try:
        while True:
            while len(running) < side_by_side and submitted - len(order.parts) < 4 * side_by_side:
                task = next(tasks, None)
                if task is None:
                    break
                running[executor.submit(_run, task)] = submitted
                submitted += 1
            if not running:
                return order.parts, True
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(done)
                part = done.result()
                order.came(number, part)
                if part.further is not None:
                    running[executor.submit(_run, part.further)] = number
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            begun = [future for future in running if not future.cancel()]
            for done in wait(begun).done:
                order.came(running[done], done.result())
        return order.begun(), False


def _run(task: Task[P]) -> P:
    return task.run()
