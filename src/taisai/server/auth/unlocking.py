"""Unlocking beside the journal: by whoever holds the machine and the house's key, while nothing runs."""

from __future__ import annotations

from typing import NamedTuple

from taisai.cage import House
from taisai.cage.messages import UnlockPerson
from taisai.game.names import folded
from taisai.game.refusals import Refusal
from taisai.game.words import FLOOR
from taisai.journal.codec import HOUSE
from taisai.rules.errors import RulesError
from taisai.server.config import Config
from taisai.server.runtime.environment import copy_checkpoint
from taisai.server.runtime.startup_checks import Opened


class Unlocked(NamedTuple):
    """Someone who may sign in again."""

    person: str
    was_locked: bool
    entries: int
    """Of the journal, all of them sealed where he was locked."""


def unlocked(config: Config, found: Opened, person: str, *, reason: str, now: int) -> Unlocked:
    """Unlocks someone in a journal that was opened as a start opens it, and seals what was written."""
    keeper, journal = found.keeper, found.journal
    name = _called(keeper.house(), person)
    answer = keeper.answer(HOUSE, UnlockPerson(at=now, by=FLOOR, person=name, reason=reason))
    if isinstance(answer, Refusal):
        raise RulesError(str(answer))
    if answer:
        text = journal.seal(found.key, at=now)
        if config.journal.checkpoints is not None:
            copy_checkpoint(config.journal.checkpoints, text)
    return Unlocked(name, bool(answer), journal.size)


def _called(house: House, person: str) -> str:
    """The name as it was locked, or as the roll has it, in whatever letters it was typed."""
    known = {folded(one): one for one in (*house.people, *house.locked)}
    return known.get(folded(person), person)
