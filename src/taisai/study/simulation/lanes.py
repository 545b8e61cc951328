"""How rounds are laid out: chunks of lanes, every lane a stream and a walk of its own, joined in order."""

from __future__ import annotations

from typing import Final

LANES: Final = 256
"""Side by side, so that a processor works on eight at once."""
STEPS: Final = 4096
"""Rounds of a lane."""
CHUNK: Final = LANES * STEPS
"""Rounds of a chunk: the same whoever draws it."""
SHORT_NET: Final = (2**31 - 1) // STEPS
"""The greatest net of a round for which a whole lane fits 32 bits."""
