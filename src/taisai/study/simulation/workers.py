"""Workers that run simulation tasks: threads of this process or a Dask cluster."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from taisai.rules.errors import RulesError
from taisai.study import needed

MOST_WORKERS: Final = 1024


class Workers(NamedTuple):
    """An executor, how many tasks to submit to it at once, and whether it is on this machine."""

    executor: Executor
    side_by_side: int
    is_local: bool = True


@contextmanager
def local_workers(count: int | None = None) -> Iterator[Workers]:
    """Threads of this process, by default one per core, as a context manager.

    The compiled loops release Python's global lock.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = cores if count is None else count
    if not 1 <= threads <= MOST_WORKERS:
        raise RulesError(f"expected 1 to {MOST_WORKERS:,} workers, got {threads}")
    with ThreadPoolExecutor(threads, thread_name_prefix="simulate") as executor:
        yield Workers(executor, 2 * threads)


_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls)://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>[0-9]{1,5})")
PATIENCE: Final = 5  # seconds to wait for an answer


@contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """The workers of the Dask cluster whose scheduler has this address, as a context manager."""
    import logging
    import warnings

    _check_address(address)
    with needed("distributed", "cluster"):
        from distributed import Client
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported below, in one line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about different versions; tests compare the digits instead
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError, TypeError) as error:
            problem = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RulesError(f"cannot connect to a Dask scheduler at {address!r}: {problem}") from error
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise RulesError(f"the Dask cluster at {address!r} has no workers")
        with client.get_executor(pure=False) as executor:
            yield Workers(executor, 2 * threads, is_local=False)
    finally:
        client.close()


def _check_address(address: str) -> None:
    """Raises an error if the address is invalid or no scheduler answers; Dask would retry for long."""
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match["port"]) > 65_535:
        raise RulesError(f"expected a Dask scheduler's address, such as tcp://host:8786, got {address!r}")
    try:
        with socket.create_connection(
            (match["host"].strip("[]"), int(match["port"])), PATIENCE
        ) as connection:
            # A scheduler sends first. With TLS the client does, and Dask itself checks it.
            if not address.startswith("tls:") and not connection.recv(1):
                raise ConnectionError("the connection was closed")
    except OSError as error:
        problem = error.strerror or str(error)
        raise RulesError(f"no Dask scheduler answers at {address!r}: {problem}") from error


T = TypeVar("T")


class TaskResult(NamedTuple, Generic[T]):
    """The result of a task, or of the rounds that it has played so far."""

    rounds: int
    result: T
    further: Task[T] | None = None
    """The task that continues this part; None if it is complete."""


class Task(Protocol[T]):
    """Work that can be pickled and gives the same result on every worker."""

    def run(self) -> TaskResult[T]: ...


class _Order(Generic[T]):
    """Collects parts, which arrive in any order, in the order of their tasks."""

    def __init__(self, tick: Callable[[int], None]) -> None:
        self._tick = tick
        self._latest: dict[int, TaskResult[T]] = {}
        self.parts: list[TaskResult[T]] = []
        """The complete parts before the first incomplete one."""

    def add(self, number: int, part: TaskResult[T]) -> None:
        """Adds a part, which may replace an earlier state of it."""
        before = self._latest.get(number)
        self._latest[number] = part
        while (first := self._latest.get(len(self.parts))) is not None and first.further is None:
            self.parts.append(first)  # first append, then delete: Ctrl-C can interrupt between them
            del self._latest[len(self.parts) - 1]
        self._tick(part.rounds - (before.rounds if before else 0))

    def available(self) -> list[TaskResult[T]]:
        """The complete parts, and the first incomplete one if it has begun."""
        first = self._latest.get(len(self.parts))
        return self.parts if first is None else [*self.parts, first]


def run_in_order(
    tasks: Iterator[Task[T]], executor: Executor, *, side_by_side: int, tick: Callable[[int], None]
) -> tuple[list[TaskResult[T]], bool]:
    """Runs all tasks. Returns their parts in order, and False if Ctrl-C interrupted it, else True.

    After Ctrl-C the parts have no gap: all tasks up to one, and the finished rounds of that one. Threads of
    this process cannot be stopped; they are waited for and counted, unless Ctrl-C comes again.
    """
    order: _Order[T] = _Order(tick)
    running: dict[Future[TaskResult[T]], int] = {}
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
                order.add(number, part)
                if part.further is not None:
                    running[executor.submit(_run, part.further)] = number
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            begun = [future for future in running if not future.cancel()]
            for done in wait(begun).done:
                order.add(running[done], done.result())
        return order.available(), False


def _run(task: Task[T]) -> TaskResult[T]:
    return task.run()
