"""Alarms that the journal tells: of changed settings, and of the last day, so that no restart hides one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from taisai.cage.messages import PlaceNoted, SettingsTaken
from taisai.journal import Engine
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.views import Alarm, Words
from taisai.rules.errors import printable
from taisai.server.projections.house_views import alarm_of, table_alarm

SHOWN_FOR: Final = 24 * 3_600_000  # ms for which an alarm is shown again: each shift sees it once
LATEST: Final = 10_000  # entries of the House that a start reads for them: a tenth of a second or so
MOST_CHANGES: Final = 6  # that one alarm names
MOST_VALUE: Final = 60  # characters of a value in it
BEGAN: Final = "began"  # the last part of the setting that says where a witness began


class StartsWatch:
    """Says what one start has otherwise than the start before: its settings, or where its journal is."""

    def __init__(self, settings: Mapping[str, str] | None, *, has_place: bool) -> None:
        """`settings`: the latest; None where they are not known. A house without any has never started."""
        self._before = settings
        self._has_place = has_place

    def take(self, event: object) -> Alarm | None:
        """The alarm of an event of a start; None for what a first start tells, and for any other event."""
        if isinstance(event, SettingsTaken):
            return self._settings(event)
        return self._place(event) if isinstance(event, PlaceNoted) else None

    def _place(self, event: PlaceNoted) -> Alarm | None:
        had_place, self._has_place = self._has_place, True
        if not had_place and not event.restored:
            return None
        en, zh = "The journal started in another place than before", "日志在与上次不同的位置启动"
        if event.restored:
            en, zh = "The journal was restored from a backup", "日志由备份恢复"
        en, zh = (
            f"{en}: make sure that no other server runs on a copy",
            f"{zh}：请确认没有其他服务器在使用副本",
        )
        return Alarm(at=event.at, about="house", says=Words(en, zh))

    def _settings(self, event: SettingsTaken) -> Alarm | None:
        before, self._before = self._before, event.settings
        if before is not None and not before:
            return None
        en, zh = ("Settings of the house have changed", "本场设置已更改")
        changed = [] if before is None else sorted(_changed(before, event.settings))
        if changed:
            told = "; ".join(changed[:MOST_CHANGES])
            more = len(changed) - MOST_CHANGES
            en, zh = f"{en}: {told}", f"{zh}：{told}"
            if more > 0:
                en, zh = f"{en}; and {more} more", f"{zh}；另有 {more} 项"
        en, zh = f"{en}. If nobody told you why, find out who did it", f"{zh}。若无人说明原因，请查明是谁所为"
        return Alarm(at=event.at, about="house", says=Words(en, zh))


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name.endswith(f".{BEGAN}") and old is not None and new is not None:
            yield f"{name.removesuffix(f'.{BEGAN}')} had forgotten the journal, or is another one"
        else:
            yield f"{name}: {_shown(old)} → {_shown(new)}"


def _shown(value: str | None) -> str:
    return "none" if value is None else printable(value, MOST_VALUE)


def alarms_of_house(engine: Engine, *, now: int) -> list[Alarm]:
    """The alarms of the House's events of the last day, oldest first."""
    after = max(0, engine.journal.version(HOUSE_STREAM) - LATEST)
    watch = StartsWatch(None if after else {}, has_place=after > 0)
    alarms = []
    for _, event in engine.journal.events(HOUSE_STREAM, after=after):
        alarm = watch.take(event) or alarm_of(event)
        if alarm is not None and is_shown(alarm, now):
            alarms.append(alarm)
    return alarms


def noting_alarms(table: str, events: Iterable[object], alarms: list[Alarm]) -> Iterator[object]:
    """The events of a table as they come; their alarms are added to a list."""
    for event in events:
        if (alarm := table_alarm(table, event)) is not None:
            alarms.append(alarm)
        yield event


def is_shown(alarm: Alarm, now: int) -> bool:
    """Whether an alarm is of the last day."""
    return now - alarm.at < SHOWN_FOR
