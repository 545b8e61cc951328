"""Which test holds each clause of the package's rulebooks, or why none is needed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.clauses import Clause

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook

MAP: Final = Path(__file__).with_name("held.toml")
NOT_OURS: Final = "not a rulebook of the package"


class Held(NamedTuple):
    """The tests that hold a clause; without any, why."""

    tests: tuple[str, ...]
    """Each as file::name."""
    why: str | None


def held_by(book: Rulebook) -> Mapping[Clause, Held]:
    """Clause → what holds it. A book of another text than the package's is held by no test of ours."""
    found = _map().get(book.id)
    if found is None or found["digest"] != book.digest:
        return dict.fromkeys(book.clauses, Held((), NOT_OURS))
    return {Clause(clause): _held(said) for clause, said in found["clauses"].items()}


def _held(said: str | list[str]) -> Held:
    return Held((), said) if isinstance(said, str) else Held(tuple(said), None)


@cache
def _map() -> dict[str, Any]:
    return tomllib.loads(MAP.read_text("utf-8"))
