"""Commands and events: people who come to a table and leave it."""

from __future__ import annotations

from typing import ClassVar

from taisai.game.messages import Command, Event

__all__ = [
    "Assign",
    "Leave",
    "PersonAssigned",
    "PersonLeft",
]


# Commands


class Assign(Command, frozen=True, kw_only=True, tag="assign"):
    """A person is assigned to a position at the table and acts in it; a Dealer relieves the one before."""

    after_closing: ClassVar[bool] = True
    person: str
    rank: str
    """The person's own rank."""
    position: str


class Leave(Command, frozen=True, kw_only=True, tag="leave"):
    """A person leaves the table."""

    after_closing: ClassVar[bool] = True
    person: str


# Events


class PersonAssigned(Event, frozen=True, kw_only=True, tag="person-assigned"):
    """A person is assigned to a position and acts in it."""

    person: str
    rank: str
    position: str
    relieved: str | None
    """The person whose place he took, with all in that person's custody."""


class PersonLeft(Event, frozen=True, kw_only=True, tag="person-left"):
    """A person left the table."""

    person: str
