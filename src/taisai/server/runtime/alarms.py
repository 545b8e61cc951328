"""Alarms of the house: conditions that are looked at all the time, each an alarm for as long as it holds.

To add one, call `Alarms.add` with its name and a function that says what is wrong now. The name is then a
line in the pit, a sample of the metric `taisai_alarm`, which `deploy/prometheus/alerts.yml` has a rule for,
and an item of `GET /health`. Say in `docs/how-to/alarms.md`, under a heading of that name, what it means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import structlog
from msgspec import Struct

from taisai.protocol.views import AlarmsView, SystemAlarm, Words
from taisai.server.projections.feed_writer import FeedSnapshot, FeedWriter, Frame
from taisai.server.runtime.environment import Clock

ALARMS: Final = "alarms"
"""The feed. The event loop makes it, so that it works while the journal's writer stands still."""
MOST_ENDED: Final = 50  # alarms that are over, in the view
_log = structlog.get_logger(__name__)


class AlarmCondition(NamedTuple):
    """Something that must not be, and how it is found out."""

    name: str
    """Such as 'disk-low'."""
    look: Callable[[], Words | None]
    """Says what is wrong now; None if nothing is. It never waits."""
    is_grave: bool
    """Whether play or money is in danger now. Otherwise it is a warning."""
    stays: int
    """Milliseconds that the alarm stays after the last moment of trouble: people must have time to see it."""


class _Standing(Struct):
    """An alarm that goes on."""

    since: int
    says: Words
    seen: int
    """The last look that found trouble, by the steady clock."""


class Alarms:
    """All conditions, and the alarms that go on now. It belongs to the event loop."""

    def __init__(self, clock: Clock, publish: Callable[[list[Frame]], None]) -> None:
        self._clock = clock
        self._publish = publish
        self._conditions: dict[str, AlarmCondition] = {}
        self._standing: dict[str, _Standing] = {}
        self._ended: deque[SystemAlarm] = deque(maxlen=MOST_ENDED)
        self._writer = FeedWriter()

    def add(self, name: str, look: Callable[[], Words | None], *, is_grave: bool, stays: int = 0) -> None:
        """Adds a condition; a name is used once."""
        if name in self._conditions:
            raise ValueError(f"expected a new name of an alarm, got {name!r}, which is used already")
        self._conditions[name] = AlarmCondition(name, look, is_grave, stays)

    def look(self) -> None:
        """Looks at every condition: raises what is new, ends what is over."""
        is_changed = [self._look_at(condition) for condition in self._conditions.values()]
        if any(is_changed) and ALARMS in self._writer:
            self._writer.show(ALARMS, self._view())
            self._publish(self._writer.take_frames())

    def _look_at(self, condition: AlarmCondition) -> bool:
        """Whether the alarm of a condition has changed."""
        name, steady, standing = condition.name, self._clock.steady(), self._standing.get(condition.name)
        try:
            says = condition.look()
        except Exception as error:  # noqa: BLE001  the other conditions are looked at all the same
            _log.exception("a condition could not be looked at", alarm=name)
            what = str(error) or type(error).__name__
            says = Words(f"The condition {name} cannot be checked: {what}", f"无法检查 {name}：{what}")
        if says is not None:
            if standing is None:
                self._standing[name] = _Standing(self._clock.now(), says, steady)
                _log.warning("alarm raised", alarm=name, text=says.en)
                return True
            standing.seen, is_other, standing.says = steady, standing.says != says, says
            return is_other
        if standing is None or steady - standing.seen < condition.stays:
            return False
        del self._standing[name]
        self._ended.appendleft(self._alarm(condition, standing, until=self._clock.now()))
        _log.info("alarm ended", alarm=name)
        return True

    @staticmethod
    def _alarm(condition: AlarmCondition, standing: _Standing, *, until: int | None) -> SystemAlarm:
        return SystemAlarm(
            name=condition.name, at=standing.since, until=until, grave=condition.is_grave, says=standing.says
        )

    # What there is

    def standing(self) -> tuple[SystemAlarm, ...]:
        """The alarms that go on, grave ones first."""
        alarms = (
            self._alarm(self._conditions[name], standing, until=None)
            for name, standing in self._standing.items()
        )
        return tuple(sorted(alarms, key=lambda alarm: not alarm.grave))

    def states(self) -> Iterator[tuple[AlarmCondition, bool]]:
        """Every condition, and whether its alarm goes on."""
        for name, condition in self._conditions.items():
            yield condition, name in self._standing

    def snapshot(self) -> FeedSnapshot:
        """The feed as its followers have it."""
        return self._writer.snapshot(ALARMS, self._view)

    def _view(self) -> AlarmsView:
        return AlarmsView(standing=self.standing(), ended=tuple(self._ended))
