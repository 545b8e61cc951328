"""Followed feeds: a current view without missing changes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

from taisai.client.connection import Disconnected
from taisai.protocol.replies import ChangeNotice, SnapshotNotice
from taisai.protocol.views import Changes, View, changed

MOST_BEHIND: Final = 10_000  # changes that wait for a reader; then the reader fails


class Change(NamedTuple):
    """A change of a feed and the view after it. A snapshot has no changes."""

    number: int
    view: View
    changes: Changes | None
    what: tuple[str, ...] = ()


class _Reader:
    """Receives every change, in order."""

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
    """A followed feed: its view and number, its readers, and those who wait for a view."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.epoch: str | None = None
        self.number: int | None = None
        self.view: View | None = None
        self.ready: asyncio.Future[View] = asyncio.get_running_loop().create_future()
        """The first view, or the error."""
        self.end: BaseException | None = None
        self._readers: dict[_Reader, None] = {}
        self._waiters: dict[asyncio.Future[View], Callable[[View], bool]] = {}

    def snapshot(self, notice: SnapshotNotice, epoch: str) -> None:
        self.epoch, self.number = epoch, notice.number
        self._show(Change(notice.number, notice.view, None))

    def change(self, notice: ChangeNotice) -> bool:
        """Takes a change; returns False if a change before it is missing."""
        if self.view is None or self.number is None:
            return True  # the server sent it before the snapshot
        if notice.number != self.number + 1:
            return False
        self.number = notice.number
        self._show(Change(notice.number, changed(self.view, notice.changes), notice.changes, notice.what))
        return True

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
        except Exception as error:  # noqa: BLE001  the condition failed
            waiter.set_exception(error)

    def stop(self, why: BaseException) -> None:
        """Ends the feed: everyone who waits gets the error."""
        self.end = why
        if not self.ready.done():
            self.ready.set_exception(why)
            self.ready.exception()  # marks the error as seen if nobody waits
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(why)
        for reader in self._readers:
            reader.wake.set()

    async def until(self, holds: Callable[[View], bool]) -> View:
        """Waits for the first view for which `holds` is true."""
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
        reader = _Reader()
        self._readers[reader] = None
        try:
            while True:
                while reader.waiting:
                    yield reader.waiting.popleft()
                if self.end is not None:
                    raise self.end
                if reader.is_behind:
                    raise Disconnected(f"the reader of {self.name} is more than {MOST_BEHIND} changes behind")
                reader.wake.clear()
                await reader.wake.wait()
        finally:
            del self._readers[reader]
