"""The gaming day: which day a moment belongs to, where the casino is and when its day begins."""

from __future__ import annotations

import datetime
from typing import Final

LATEST: Final = 253_402_300_799_999  # the end of the year 9999, in milliseconds: later no date can be told


def gaming_day(at: int, zone: datetime.tzinfo, begins: datetime.time = datetime.time(6)) -> str:
    """The gaming day of a moment in milliseconds since 1970: what is played at night is still yesterday's.

    >>> singapore = datetime.timezone(datetime.timedelta(hours=8))
    >>> gaming_day(1_763_243_999_000, singapore), gaming_day(1_763_244_000_000, singapore)
    ('2025-11-15', '2025-11-16')
    """
    local = local_time(at, zone)
    day = local.date()
    return (day if local.time() >= begins else day - datetime.timedelta(days=1)).isoformat()


def local_time(at: int, zone: datetime.tzinfo) -> datetime.datetime:
    """A moment by the clock on the casino's wall."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (epoch + datetime.timedelta(milliseconds=at)).astimezone(zone)
