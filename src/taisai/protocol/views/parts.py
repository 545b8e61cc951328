"""Parts that several views share, and the bases of views and changes."""

from __future__ import annotations

from msgspec import Struct


class Words(Struct, frozen=True):
    """A text in English and in Chinese."""

    en: str
    zh: str


class Part(Struct, frozen=True, kw_only=True):
    """A part of a view."""


class View(Struct, frozen=True, kw_only=True, tag_field="of"):
    """The view that a feed shows."""


class Changes(Struct, frozen=True, kw_only=True, tag_field="of"):
    """The changed fields of a view."""


class ColourLine(Part, frozen=True, kw_only=True):
    """A colour of colour chips."""

    colour: str
    label: Words
    paint: str
    """How it is drawn, such as '#c0392b'."""
    mark: str
    """The mark on the chips, if another colour has the same paint; else empty."""


class ClaimLine(Part, frozen=True, kw_only=True):
    """Money that the house owes a player, or a player the house."""

    id: str
    round: int
    seat: str
    session: int
    amount: int
    of_player: bool
    """Whether the player is owed the money."""
