"""Feeds as a client follows them: a view that is always current, and no number missing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

from taisai.client.connection import Disconnected
from taisai.protocol.replies import ChangeNotice, SnapshotNotice
from taisai.protocol.views import Changes, View, changed

MOST_BEHIND: Final = 10_000  # changes that wait for a reader; one more, and it has to start again


class Change(NamedTuple):
    """One step of a feed: the view after it, and what was different; a snapshot has no changes."""

    number: int
    view: View
    changes: Changes | None
    what: tuple[str, ...] = ()


class _Reader:
    """Someone who wants every change, in order."""

    def __init__(self) -> None:
        self.waiting: deque[Change] = deque()
        self.wake = asyncio.Event()
        self.is_behind = False

    def take(self, change: Change) -> None:
        if len(self.waiting) >= MOST_BEHIND:
            self.is_behind = True
        else:
            self.waiting.append(change)
        self.wake.set()


class FollowedFeed:
    """One feed: its view, where it stands, and who waits for what comes next."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.epoch: str | None = None
        self.number: int | None = None
        self.view: View | None = None
        self.ready: asyncio.Future[View] = asyncio.get_running_loop().create_future()
        """The first view, or why there is none."""
        self.end: BaseException | None = None
        self._readers: dict[_Reader, None] = {}
        self._waiters: dict[asyncio.Future[View], Callable[[View], bool]] = {}

    def snapshot(self, tell: SnapshotNotice, epoch: str) -> None:
        """The feed as it stands."""
        self.epoch, self.number = epoch, tell.number
        self._show(Change(tell.number, tell.view, None))

    def change(self, tell: ChangeNotice) -> bool:
        """The next change; says whether it is the next indeed."""
        if self.view is None or self.number is None:
            return True  # on its way since before the snapshot was asked for
        if tell.number != self.number + 1:
            return False
        self.number = tell.number
        self._show(Change(tell.number, changed(self.view, tell.changes), tell.changes, tell.what))
        return True

    def forget_place(self) -> None:
        """The next answer has to be a snapshot."""
        self.number = None

    def _show(self, change: Change) -> None:
        self.view = change.view
        if not self.ready.done():
            self.ready.set_result(change.view)
        for reader in self._readers:
            reader.take(change)
        for waiter, holds in list(self._waiters.items()):
            if not waiter.done():
                self._try(waiter, holds, change.view)

    @staticmethod
    def _try(waiter: asyncio.Future[View], holds: Callable[[View], bool], view: View) -> None:
        try:
            if holds(view):
                waiter.set_result(view)
        except Exception as error:  # noqa: BLE001  it belongs to whoever asked it
            waiter.set_exception(error)

    def over(self, why: BaseException) -> None:
        """Nothing more comes."""
        self.end = why
        if not self.ready.done():
            self.ready.set_exception(why)
            self.ready.exception()  # nobody may be waiting
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(why)
        for reader in self._readers:
            reader.wake.set()

    async def until(self, holds: Callable[[View], bool]) -> View:
        """The first view, from now on, of which something holds."""
        if self.end is not None:
            raise self.end
        waiter: asyncio.Future[View] = asyncio.get_running_loop().create_future()
        if self.view is not None:
            self._try(waiter, holds, self.view)
        self._waiters[waiter] = holds
        try:
            return await waiter
        finally:
            del self._waiters[waiter]

    async def changes(self) -> AsyncIterator[Change]:
        """Every change from now on."""
        reader = _Reader()
        self._readers[reader] = None
        try:
            while True:
                while reader.waiting:
                    yield reader.waiting.popleft()
                if self.end is not None:
                    raise self.end
                if reader.is_behind:
                    raise Disconnected(f"expected at most {MOST_BEHIND} changes to wait, got one more")
                reader.wake.clear()
                await reader.wake.wait()
        finally:
            del self._readers[reader]
