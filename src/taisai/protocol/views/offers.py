"""Offers: what may be done now, what has to be filled in, who may do it, and by which clause."""

from __future__ import annotations

from typing import Any

from taisai.protocol.views.texts import Part, Words


class Choice(Part, frozen=True, kw_only=True):
    """One of several values of a field."""

    value: str
    label: Words


class Blank(Part, frozen=True, kw_only=True):
    """A field of the command that has to be filled in."""

    field: str
    kind: str
    """'faces', 'whole', 'text', 'choice', 'yes-no', 'counts', 'areas', 'bets', 'limits' or 'second'."""
    label: Words
    least: int | None = None
    most: int | None = None
    choices: tuple[Choice, ...] = ()
    optional: bool = False


class Offer(Part, frozen=True, kw_only=True):
    """A command that is legal now."""

    command: str
    """Its tag."""
    preset: dict[str, Any]
    """The fields that are filled in already."""
    blanks: tuple[Blank, ...] = ()
    by: tuple[str, ...] = ()
    """The positions that may do it, lowest first."""
    clause: str
    label: Words
    then: Words | None = None
    """What follows from it, where that is known before it is done."""
    main: bool = False
    """Whether it is the next step of the round."""
