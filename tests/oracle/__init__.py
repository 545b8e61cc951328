"""An oracle written from the documents' prose: what each area nets on each of the 216 ordered rolls, and why.

It imports nothing of the program under test. Each document is read by itself, in its own order and words,
as a dealer reads the dice: from the roll to the areas that win, everything else being lost.
"""

from __future__ import annotations

from .dice import ROLLS, PayTable, Roll, Verdict
from .mbs import V6
from .rws import LAYOUT_A, LAYOUT_B, LAYOUT_C
from .three_card import CARDS
from .us import US

PAY_TABLES: tuple[PayTable, ...] = (V6, LAYOUT_A, LAYOUT_B, LAYOUT_C, CARDS, US)

__all__ = ["PAY_TABLES", "ROLLS", "PayTable", "Roll", "Verdict"]
