"""Watches failed sign-ins of the whole House: many of them are an attack, and the pit has an alarm."""

from __future__ import annotations

from collections import deque
from typing import Final

from taisai.cage.messages import SignInFailed
from taisai.protocol.views import Alarm, Words

MANY_FAILURES: Final = 20  # within the time below: a whole shift that types badly makes fewer
WATCHED_FOR: Final = 10 * 60_000  # ms; also the least time between two alarms
MOST_NAMED: Final = 5  # people in the text of an alarm


class SignInWatch:
    """The failures of the last minutes, from every address."""

    def __init__(self) -> None:
        self._latest: deque[SignInFailed] = deque(maxlen=MANY_FAILURES)
        self._count = 0
        """Failures since the last alarm."""
        self._alarmed_at: int | None = None

    def take(self, failure: SignInFailed) -> Alarm | None:
        """Counts a failure; returns the alarm if there are many."""
        now, latest = failure.at, self._latest
        latest.append(failure)
        self._count += 1
        if len(latest) < MANY_FAILURES or abs(now - latest[0].at) >= WATCHED_FOR:
            return None
        if self._alarmed_at is not None and abs(now - self._alarmed_at) < WATCHED_FOR:
            return None
        count, self._count, self._alarmed_at = self._count, 0, now
        addresses = len({one.address for one in latest})
        people = sorted({one.person for one in latest if one.known})
        right = sum(one.counts for one in latest)
        named = ", ".join(people[:MOST_NAMED]) + (", …" if len(people) > MOST_NAMED else "")
        en = (
            f"Sign-ins are attacked: {count} failures, the last {len(latest)} from {addresses} address(es)"
            f"{f' as {named}' if named else ''}; {right} with the right password"
        )
        zh = (
            f"有人攻击登录：失败 {count} 次，最近 {len(latest)} 次来自 {addresses} 个地址"
            f"{f'，使用姓名 {named}' if named else ''}；其中 {right} 次密码正确"
        )
        return Alarm(at=now, about="house", says=Words(en, zh))
