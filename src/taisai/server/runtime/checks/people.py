"""Whether enough people can sign in for nobody to be locked out for good."""

from __future__ import annotations

from typing import Final

from taisai.cage import House

LEAST_SUPERVISING: Final = 3
"""With credentials: the one who is locked, and the two who unlock him."""


def too_few(house: House) -> str | None:
    """What to do while fewer people of supervising rank can sign in than it takes to unlock one of them."""
    there = [person for person in house.credentials if house.supervising(house.people.get(person))]
    if len(there) >= LEAST_SUPERVISING:
        return None
    return (
        f"expected {LEAST_SUPERVISING} people of the rank {house.second_rank} or above who can sign in, got "
        f"{len(there)}: enrol more, or whoever is locked is unlocked only by a stop and `taisai unlock`"
    )
