"""Names and ids: what may be one, at a table and at the House alike."""

from __future__ import annotations

import unicodedata
from typing import Final

MOST_ID: Final = 64  # characters of a name or an id


def folded(name: str) -> str:
    """A name as it is compared with others, so that 'Sue' and 'sue' are not two people."""
    return unicodedata.normalize("NFKC", name).casefold()


def is_name(value: object) -> bool:
    """Whether a value can name something: printable, of bounded length, no blank at either end."""
    return type(value) is str and 0 < len(value) <= MOST_ID and value.isprintable() and value.strip() == value
