"""A setting as it is listed: its name, what it takes, what holds unless said, and what it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from typing import Any, NamedTuple, TypeVar, cast

from taisai.server.config.kinds import Kind

T = TypeVar("T")


class ServerSetting(NamedTuple):
    """One setting as it is listed."""

    name: str
    kind: Kind[Any]
    says: str
    default: object
    """As it would stand in the file; None where it need not be given at all."""
    example: object
    """What to show where there is no default."""
    required: bool


def _field(setting: ServerSetting) -> Any:
    return field(metadata={"setting": setting})


def with_default(kind: Kind[T], says: str, *, default: object, example: object = None) -> T:
    """A setting with a default."""
    return cast(T, _field(ServerSetting("", kind, says, default, example, required=False)))


def required(kind: Kind[T], says: str, *, example: object) -> T:
    """A setting that must be given."""
    return cast(T, _field(ServerSetting("", kind, says, None, example, required=True)))


def optional(kind: Kind[T], says: str, *, example: object) -> T | None:
    """A setting without which something is not done, or done otherwise."""
    return cast(T | None, _field(ServerSetting("", kind, says, None, example, required=False)))


def settings_of(section: type[Any]) -> Iterator[ServerSetting]:
    """The settings of a section, in order."""
    for one in fields(section):
        if "setting" in one.metadata:
            listed: ServerSetting = one.metadata["setting"]
            yield listed._replace(name=one.name)
