"""Mathematics of the compiled rules: exact where possible, simulation elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taisai.rules.errors import RulesError


class MissingError(RulesError):
    """A library is missing, or cannot be loaded."""


@contextmanager
def needed(library: str, extra: str) -> Iterator[None]:
    """Turns a failed import into an error of one line that says what to install."""
    try:
        yield
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError)
        problem = "is not installed" if is_missing else f"cannot be loaded ({error})"
        raise MissingError(
            f"{library} {problem}: run pip install 'taisai[{extra}]', or make study in a clone"
        ) from error
