"""The ranks of a House whose staff works at a live floor."""

from __future__ import annotations

from typing import Final

FLOOR_LADDER: Final = (
    "auditor",
    "cashier",
    "dealer",
    "floorperson",
    "pit-supervisor",
    "pit-manager",
    "casino-supervisor",
    "shift-manager",
    "administrator",
)
"""Lowest first: the ranks of all documents on one ladder, and those who look, keep the cage, run it all."""
FLOOR_SECOND: Final = "pit-supervisor"
"""The least rank of a second person: what the documents call a supervisor, or above."""
