"""Records of the rules as plain values that JSON can hold."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
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
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"expected a record of the rules, got {type(value).__name__}")
