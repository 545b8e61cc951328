"""What views are made of."""

from __future__ import annotations

from msgspec import Struct


class Words(Struct, frozen=True):
    """A text in English and in Chinese."""

    en: str
    zh: str


class Part(Struct, frozen=True, kw_only=True):
    """A part of a view."""


class View(Struct, frozen=True, kw_only=True, tag_field="of"):
    """What a feed shows: a snapshot of it."""


class Changes(Struct, frozen=True, kw_only=True, tag_field="of"):
    """The parts of a view that are different now."""


class ColourLine(Part, frozen=True, kw_only=True):
    """A colour of colour chips."""

    colour: str
    label: Words
    paint: str
    """How it is drawn, such as '#c0392b'."""
    mark: str
    """What stands on the chips, where another seat's have the same paint."""


class ClaimLine(Part, frozen=True, kw_only=True):
    """Money owed between a player and the house."""

    id: str
    round: int
    seat: str
    session: int
    amount: int
    of_player: bool
    """Whether it is owed to the player."""
