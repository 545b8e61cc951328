"""Records of the rules as plain values that JSON can hold."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from enum import Enum
from typing import Any

from taisai.rules import Odds


def plain(value: object) -> Any:
    """Records as objects by field name, odds as printed, the rest as it is."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Odds | datetime.date):
        return str(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"expected a record of the rules, got {type(value).__name__}")
