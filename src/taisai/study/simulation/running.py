"""Running parts of a simulation side by side; whoever runs them, they stand in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar


class Part(Protocol):
    """What a task came to."""

    @property
    def rounds(self) -> int:
        """Played so far."""

    @property
    def further(self) -> Any:
        """A task that plays on where this part ends, if something is left to play."""


P = TypeVar("P", bound=Part)
P_co = TypeVar("P_co", bound=Part, covariant=True)


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
