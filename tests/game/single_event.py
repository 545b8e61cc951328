"""The one event of its kind among several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from taisai.game.events import Event

Kind = TypeVar("Kind", bound=Event)


def only(kind: type[Kind], events: Iterable[Event]) -> Kind:
    """The one event of a kind; an AssertionError where there is none, or another like it."""
    found = [event for event in events if isinstance(event, kind)]
    assert len(found) == 1, f"expected one {kind.__name__}, got {found}"
    return found[0]
