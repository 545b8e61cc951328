"""What chances are of, in words and for machines: dice, or a shoe from which cards may have gone."""

from __future__ import annotations

from typing import Any

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.matrix import Matrix
from taisai.study.report import counted


def chance_facts(chance: Chance) -> dict[str, Any]:
    """What the chances are of, for machines."""
    if chance.kind is ChanceKind.DICE:
        return {"kind": "dice", "dice": 3, "rolls": chance.total}
    seen = dict(zip("123456", chance.seen, strict=True)) if chance.seen else None
    return {"kind": "cards", "decks": chance.decks, "seen": seen, "draws": chance.total}


def chance_words(chance: Chance) -> str:
    """What the chances are of, for people."""
    if chance.kind is ChanceKind.DICE:
        return "three dice"
    if chance.decks is None:  # nobody says what it was when it was full
        return f"a shoe with {chance.total:,} ways to draw three cards"
    seen = f", {counted(sum(chance.seen), 'card')} seen" if any(chance.seen) else ""
    return f"a shoe of {counted(chance.decks, 'deck')}{seen}"


def game_words(matrix: Matrix, chance: Chance) -> str:
    """Rulebook and layout, and the shoe where there is one: how a title begins."""
    shoe = "" if chance.kind is ChanceKind.DICE else f", {chance_words(chance)}"
    return f"{matrix.rulebook}, layout {matrix.layout}{shoe}"


def fresh_shoe(chance: Chance) -> str | None:
    """What figures of many rounds suppose of cards, whose rounds out of one shoe are not independent."""
    if chance.kind is ChanceKind.DICE:
        return None
    return f"Every round is dealt from {chance_words(chance)}, freshly shuffled."
