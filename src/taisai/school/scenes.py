"""What can go wrong where, to be asked about: the cells of a rulebook's own table that make sense at it."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.rules.book import Rulebook, rulebook_ids
from taisai.rules.chance import ChanceKind
from taisai.rules.irregularities import RulingCell
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.school.course import book_of

_WITH_DICE: Final = frozenset({
    Irregularity.TOO_FEW_TUMBLES, Irregularity.DIE_NOT_FLAT, Irregularity.DIE_DAMAGED,
    Irregularity.DOME_OR_DICE_BROKEN,
})  # fmt: skip
"""What cannot happen to cards."""
_WITH_THINGS: Final = frozenset({
    Irregularity.CHIPS_UNCLEAR, Irregularity.AUTOMATED_SHAKER_FAILURE, Irregularity.DEAL_NOT_PRESSED,
    Irregularity.TERMINALS_DOWN, Irregularity.FOREIGN_CARD, Irregularity.CARD_COUNT_WRONG,
    Irregularity.SHOE_SHORT, Irregularity.TWO_SHAKERS,
})  # fmt: skip
"""What takes a thing that only some tables have: asked about where the rulebook itself speaks of it."""


class Scene(NamedTuple):
    """Something that goes wrong in a phase, and what the rules order then."""

    event: Irregularity
    phase: Phase
    seen: bool
    """While the dice lie concealed, whether one of them was seen."""
    ruled: RulingCell

    @property
    def in_hand(self) -> bool:
        """Whether it is about a round that is being played, and is not settled."""
        return self.phase is not Phase.BETWEEN and not self.phase.settlement_recorded


class Scenes(NamedTuple):
    """What may be asked at each level."""

    first: tuple[Scene, ...]
    """What the document foresees of a round in hand."""
    foreseen: tuple[Scene, ...]
    """All that the document or the house has a ruling on."""
    traps: tuple[Scene, ...]
    """What another document rules on, and this one leaves to someone who decides."""


@cache
def scenes_of(name: str) -> Scenes:
    """The scenes of a rulebook of the package."""
    book = book_of(name)
    every = _every(book)
    own = {scene.event for scene in every if scene.ruled.foreseen}
    apt = tuple(scene for scene in every if _is_apt(book, scene.event, own))
    foreseen = tuple(scene for scene in apt if not scene.ruled.caught)
    elsewhere = _elsewhere()
    return Scenes(
        first=tuple(one for one in foreseen if one.ruled.foreseen and one.in_hand and not one.seen),
        foreseen=foreseen,
        traps=tuple(scene for scene in apt if scene.ruled.caught and (scene.event, scene.phase) in elsewhere),
    )


def _every(book: Rulebook) -> tuple[Scene, ...]:
    table, settings = book.irregularities, book.chosen()
    return tuple(
        Scene(event, phase, seen, table.ruling_for(event, phase, settings, seen=seen))
        for event in Irregularity
        for phase in table.phases
        for seen in ((False, True) if (event, phase) in table.seen else (False,))
    )


def _is_apt(book: Rulebook, event: Irregularity, own: set[Irregularity]) -> bool:
    if event in _WITH_THINGS:
        return event in own
    return event not in _WITH_DICE or book.chance_rule.kind is ChanceKind.DICE


@cache
def _elsewhere() -> frozenset[tuple[Irregularity, Phase]]:
    """What some document of the package foresees, and when."""
    return frozenset(
        (scene.event, scene.phase)
        for name in rulebook_ids()
        for scene in _every(book_of(name))
        if scene.ruled.foreseen
    )
