"""Running parts of a simulation side by side; whoever runs them, they are taken in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
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
    """Parts that arrive in any order, and are taken first to last."""

    def __init__(self, take: Callable[[P], None], tick: Callable[[int], None]) -> None:
        self._take = take
        self._tick = tick
        self._latest: dict[int, P] = {}
        self.taken = 0

    def came(self, number: int, part: P) -> None:
        """A part, which may be the later state of one that came before."""
        before = self._latest.get(number)
        self._latest[number] = part
        self._tick(part.rounds - (before.rounds if before else 0))
        while self.taken in self._latest and self._latest[self.taken].further is None:
            self._take(self._latest.pop(self.taken))
            self.taken += 1

    def cut_short(self) -> None:
        """Takes what is done of the first part that is not whole."""
        if self.taken in self._latest:
            self._take(self._latest[self.taken])


def taken_in_order(
    tasks: Iterator[Task[P]],
    executor: Executor,
    *,
    side_by_side: int,
    take: Callable[[P], None],
    tick: Callable[[int], None],
) -> bool:
    """Runs all tasks and takes what each came to, first to last; False where Ctrl-C cut it short.

    After Ctrl-C what was taken is a whole beginning: every task up to one, and of that one what was done.
    """
    order = _Order(take, tick)
    running: dict[Future[P], int] = {}
    submitted = 0
    try:
        while True:
            while len(running) < side_by_side and submitted - order.taken < 4 * side_by_side:
                task = next(tasks, None)
                if task is None:
                    break
                running[executor.submit(_run, task)] = submitted
                submitted += 1
            if not running:
                return True
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(done)
                part = done.result()
                order.came(number, part)
                if part.further is not None:
                    running[executor.submit(_run, part.further)] = number
    except KeyboardInterrupt:
        for future in running:
            future.cancel()
        order.cut_short()
        return False


def _run(task: Task[P]) -> P:
    return task.run()
