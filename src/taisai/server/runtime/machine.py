"""The machine under the server: stalls, free disk, an unwritable journal, a set clock, a moved journal.

`Machine` measures, and says from which measure on there is an alarm. Whatever may wait for the disk is
measured in the writer's thread; the event loop only reads the measures, and sees how old they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from taisai.journal import Engine
from taisai.protocol.views import Words
from taisai.server.runtime.alarms import Alarms
from taisai.server.runtime.environment import Clock
from taisai.server.runtime.metrics import Metrics
from taisai.server.runtime.plan import Thresholds

STAYS: Final = 60_000  # ms that the alarm of a stall stays: while it lasts, nobody may be able to see it
CLOCK_STAYS: Final = 3_600_000  # ms that the alarm of a clock step stays: nothing says that it was put right
SLEW: Final = 1  # ms a second by which a time service may slow or speed the clock; it is no step


class Measured(NamedTuple):
    """What the writer's thread found out at one look."""

    free: int | None = None
    """Free bytes of the journal's disk; None if unknown."""
    disk_error: str | None = None
    """Why they are unknown."""
    unwritable: str | None = None
    """Why the journal cannot be written."""


class Machine:
    """What was measured. It belongs to the event loop, except `measure`."""

    def __init__(
        self, *, clock: Clock, thresholds: Thresholds, free: Callable[[], int] | None = None
    ) -> None:
        """`free`: the free bytes of the journal's file system; None for a journal without a file."""
        self._clock = clock
        self._thresholds = thresholds
        self._free = free
        self.measured = Measured()
        """The latest answer of the writer's thread."""
        self._beat_at: int | None = None
        self.late = 0
        """Milliseconds by which the event loop's latest turn came too late."""
        self.stalls = 0
        """How often the event loop came later than the threshold."""
        self._asked: deque[int] = deque()
        """When the looks were submitted that the writer's thread has not answered."""
        self._apart = clock.now() - clock.steady()
        self._apart_at = clock.steady()
        self.steps = 0
        """How often the clock was set."""
        self._step: tuple[int, int] | None = None
        """The latest step in milliseconds, and when it was seen by the steady clock."""
        self.moved: Words | None = None
        """What a start found out about the place of the journal, if somebody must know."""
        self.restored: Words | None = None
        """That the journal was restored, if it was."""

    # The event loop

    def beat(self, every: int) -> None:
        """Measures the loop: to be called every so many milliseconds."""
        now = self._clock.steady()
        if self._beat_at is not None:
            self.late = max(0, now - self._beat_at - every)
            self.stalls += self.late >= self._thresholds.stall
        self._beat_at = now

    def asked(self) -> None:
        """A look at the machine was submitted to the writer's thread."""
        self._asked.append(self._clock.steady())

    def answered(self, measured: Measured | None) -> None:
        """The writer's thread did the oldest look; None if it failed."""
        self._asked.popleft()
        self.measured = measured or self.measured

    @property
    def waits(self) -> int:
        """Milliseconds that the oldest look waits for the writer's thread."""
        return self._clock.steady() - self._asked[0] if self._asked else 0

    # The writer's thread

    def measure(self, engine: Engine) -> Measured:
        """Measures what may wait for the disk; in the writer's thread."""
        if engine.trouble is not None:
            engine.try_to_write()
        free, disk_error = None, None
        if self._free is not None:
            try:
                free = self._free()
            except OSError as error:
                disk_error = error.strerror or type(error).__name__
        return Measured(free, disk_error, engine.trouble)

    # The clock

    def clock_step(self) -> int | None:
        """By how much the machine's clock was set since the last call; None if it was not.

        Steps below the threshold add up, except for what a time service may correct in the meantime.
        """
        steady = self._clock.steady()
        step = self._clock.now() - steady - self._apart
        if abs(step) >= self._thresholds.clock_jump:
            self._apart, self._apart_at = self._apart + step, steady
            self.steps += 1
            self._step = (step, steady)
            return step
        seconds = (steady - self._apart_at) // 1_000
        self._apart += max(-seconds * SLEW, min(seconds * SLEW, step))
        self._apart_at += seconds * 1_000
        return None

    # Metrics and alarms

    def count(self, metrics: Metrics) -> None:
        """Adds the measures to the metrics."""
        metrics.counter("taisai_loop_stalls", "Stalls of the event loop", lambda: self.stalls)
        metrics.counter("taisai_clock_steps", "How often the machine's clock was set", lambda: self.steps)
        metrics.gauge(
            "taisai_writer_wait_seconds",
            "How long the oldest look waits for the journal's writer",
            lambda: self.waits / 1_000,
        )
        metrics.gauge(
            "taisai_disk_free_bytes", "Free bytes of the journal's disk", lambda: self.measured.free
        )

    def watch(self, alarms: Alarms) -> None:
        """Adds the conditions of the machine."""
        alarms.add("loop-stalled", self._loop_stalled, is_grave=True, stays=STAYS)
        alarms.add("writer-stalled", self._writer_stalled, is_grave=True, stays=STAYS)
        alarms.add("journal-unwritable", self._journal_unwritable, is_grave=True)
        alarms.add("disk-full", self._disk_full, is_grave=True)
        alarms.add("disk-low", self._disk_low, is_grave=False)
        alarms.add("clock-stepped", self._clock_stepped, is_grave=False)
        alarms.add("journal-moved", lambda: self.moved, is_grave=True)
        alarms.add("journal-restored", lambda: self.restored, is_grave=False)

    def _loop_stalled(self) -> Words | None:
        if self.late < self._thresholds.stall:
            return None
        seconds = _seconds(self.late)
        return Words(f"The server stood still for {seconds} s", f"服务器停顿了 {seconds} 秒")

    def _writer_stalled(self) -> Words | None:
        if self.waits < self._thresholds.stall:
            return None
        return Words(
            "The journal's writer stands still: no bet is registered until it goes on",
            "日志写入停顿：恢复之前不登记任何投注",
        )

    def _journal_unwritable(self) -> Words | None:
        problem = self.measured.unwritable
        if problem is None:
            return None
        return Words(
            f"The journal cannot be written, and nothing counts: {problem}",
            f"日志无法写入，任何操作均不生效：{problem}",
        )

    def _disk_full(self) -> Words | None:
        free, problem, _ = self.measured
        if problem is not None:
            return Words(
                f"The free space of the journal's disk cannot be read: {problem}",
                f"无法读取日志磁盘的剩余空间：{problem}",
            )
        if free is None or free >= self._thresholds.disk_full:
            return None
        left = _tenths(free)
        return Words(
            f"The journal's disk is almost full: {left} GB free. Free space now, or end play",
            f"日志磁盘即将写满：剩余 {left} GB。请立即清理空间，或停止游戏",
        )

    def _disk_low(self) -> Words | None:
        free = self.measured.free
        if free is None or not self._thresholds.disk_full <= free < self._thresholds.disk_low:
            return None
        left = _tenths(free)
        return Words(f"The journal's disk gets full: {left} GB free", f"日志磁盘空间不足：剩余 {left} GB")

    def _clock_stepped(self) -> Words | None:
        if self._step is None or self._clock.steady() - self._step[1] >= CLOCK_STAYS:
            return None
        step = self._step[0]
        return Words(
            f"The machine's clock was set by {step} ms: check its time service",
            f"机器时钟被调整了 {step} 毫秒：请检查对时服务",
        )


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1_000:.1f}"


def _tenths(size: int) -> str:
    """Gigabytes, rounded down to a tenth, so that the text does not change all the time."""
    return f"{size // 100_000_000 / 10:.1f}"


RESTORED_WORDS: Final = (
    "the journal was restored from a backup: make sure that no other server runs on the original or on a copy"
)


RESTORED_ALARM: Final = Words(
    f"T{RESTORED_WORDS[1:]}. If nobody of you restored it, someone moved it and left the note of a restore",
    "日志由备份恢复：请确认没有其他服务器在使用原件或其副本。若无人做过恢复，则有人移动了日志并留下恢复的记号",
)


def moved_words(*, machine: bool, has_id: bool = True) -> Words:
    """What a start says whose journal is not where it was at the start before.

    `has_id`: whether this machine has an id; without one, its network name stands for it.
    """
    where, zh = ("on another machine", "在另一台机器上") if machine else ("in another file", "是另一个文件")
    moved = _moved_words(where, zh)
    if has_id or not machine:
        return moved
    return Words(
        f"{moved.en}. This machine has no id: in a container, mount the host's /etc/machine-id, or every new "
        "one is taken for another machine",
        f"{moved.zh}。本机没有标识：在容器中请挂载宿主机的 /etc/machine-id，"
        "否则每个新容器都会被视为另一台机器",
    )


def _moved_words(where: str, zh: str) -> Words:
    return Words(
        f"The journal is {where} than at its last start, and `taisai restore` did not put it there: "
        "make sure that no other server runs on a copy of it",
        f"日志{zh}，与上次启动时不同，且并非由 `taisai restore` 恢复：请确认没有其他服务器在使用其副本",
    )
