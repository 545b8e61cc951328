"""Exact mathematics on the compiled rules, and simulation where state makes that impossible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taisai.rules.errors import RulesError


class MissingError(RulesError):
    """A library is not installed."""


@contextmanager
def needed(library: str, extra: str) -> Iterator[None]:
    """Imports within that fail are told as one line with the remedy."""
    try:
        yield
    except ImportError as error:
        why = "none" if isinstance(error, ModuleNotFoundError) else f"one that cannot be loaded ({error})"
        raise MissingError(
            f"expected {library} to be installed, got {why}: "
            f"pip install 'taisai[{extra}]', in a clone make study"
        ) from error
