"""What recovery did at a start, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from taisai.game.events import Interrupted
from taisai.rules.errors import printable
from taisai.rules.vocabulary import Phase


def recovery_lines(answers: Mapping[str, object]) -> Iterator[str]:
    """A line for each table where a stop cut off a round: the phase, and what was ruled by which clause."""
    for table, answer in answers.items():
        for event in answer if isinstance(answer, tuple) else ():
            if isinstance(event, Interrupted) and event.phase != Phase.BETWEEN:
                was = f"{printable(table)} was stopped in the phase {event.phase}"
                yield f"{was}: {event.action} ({event.clause})"
