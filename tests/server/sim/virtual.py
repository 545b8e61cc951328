"""An event loop in virtual time: nothing waits, the clock jumps to the next timer, there is one order."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

T = TypeVar("T")
START: Final = 1_794_715_200_000
"""Milliseconds since 1970 at which every virtual evening begins."""


class StuckError(AssertionError):
    """Nothing can happen any more, or too much time has gone by, and somebody still waits."""


class _Jump(selectors.BaseSelector):
    """Instead of waiting for files it moves the loop's time to its next timer."""

    def __init__(self) -> None:
        self.loop: VirtualLoop | None = None
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """The loop's own pipe, which nobody writes to."""
        key = self._keys[fileobj] = selectors.SelectorKey(fileobj, 0, events, data)
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Forgets it."""
        return self._keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Nothing is ever ready; time goes by at once."""
        assert self.loop is not None
        if timeout is None:
            raise StuckError(f"expected something to happen, got nothing for ever: {self.loop.waiting()}")
        if timeout > 0:
            self.loop.jump(timeout)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """What was registered."""
        return self._keys


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time is a number. Jobs for threads are done at once, in the loop."""

    def __init__(self, *, most: float = 3_600.0) -> None:
        """`most`: virtual seconds after which whoever still waits is stuck."""
        self._now = 0.0
        self._most = most
        jump = _Jump()
        super().__init__(jump)
        jump.loop = self

    def time(self) -> float:
        """Virtual seconds since the start."""
        return self._now

    def jump(self, seconds: float) -> None:
        """Time goes by, until the next timer."""
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        due = scheduled[0].when() if scheduled else 0.0
        self._now = max(self._now + seconds, min(due, self._now + seconds * 1.001))
        if self._now > self._most:
            raise StuckError(f"expected an end within {self._most:g} seconds, got none: {self.waiting()}")

    def waiting(self) -> str:
        """Who waits, and where, for whoever reads the failure."""
        tasks = [task for task in asyncio.all_tasks(self) if not task.done()]
        return "; ".join(sorted(_place(task) for task in tasks)) or "nobody waits"

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002
        func: Callable[..., Any],
        *args: Any,
    ) -> asyncio.Future[Any]:
        """Done at once: no thread may have a say in the order of things."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  it belongs to whoever waits for it
            future.set_exception(error)
        return future

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """There are no threads."""
        return self.call_soon(callback, *args, context=context)


def _place(task: asyncio.Task[Any]) -> str:
    frames = task.get_stack(limit=1)
    where = f"{frames[-1].f_code.co_name}:{frames[-1].f_lineno}" if frames else "nowhere"
    return f"{task.get_name()} at {where}"


class VirtualClock:
    """The server's clock, in the loop's time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> int:
        """Milliseconds since 1970."""
        return START + int(self._loop.time() * 1000)

    def steady(self) -> int:
        """Milliseconds since the start."""
        return int(self._loop.time() * 1000)


def run(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]], *, most: float = 3_600.0) -> T:
    """Runs something in virtual time, to its end; whatever is left over is cancelled."""
    loop = VirtualLoop(most=most)
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main(loop))
    finally:
        try:
            _cancel_all(loop)
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def _cancel_all(loop: VirtualLoop) -> None:
    left = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
