"""Alarms: what happened at the House that the pit should look at."""

from __future__ import annotations

from taisai.cage.messages import ClockJumped, DiceAlarmNoted, OverrideNoted, PersonLocked
from taisai.protocol.views import Alarm, Words


def alarm_of(event: object) -> Alarm | None:
    """What the pit is told of an event, if it is told anything."""
    match event:
        case DiceAlarmNoted():
            says = Words(
                en=f"Dice {event.serial} look unfair: {event.results} results counted, e = {event.e_value}",
                zh=f"骰子 {event.serial} 疑似不公平：已计 {event.results} 次，e = {event.e_value}",
            )
            return Alarm(at=event.at, about=event.table, says=says)
        case ClockJumped():
            says = Words(en=f"The clock was set by {event.jump} ms", zh=f"时钟被调整 {event.jump} 毫秒")
            return Alarm(at=event.at, about="floor", says=says)
        case OverrideNoted():
            says = Words(en=f"{event.person}: {event.detail}", zh=f"{event.person}：{event.detail}")
            return Alarm(at=event.at, about=event.table, says=says)
        case PersonLocked():
            says = Words(en=f"{event.person} is locked", zh=f"{event.person} 已被锁定")
            return Alarm(at=event.at, about="floor", says=says)
        case _:
            return None
