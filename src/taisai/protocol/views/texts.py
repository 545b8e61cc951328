"""What every view is made of: a text in both languages, and the struct that views are."""

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
