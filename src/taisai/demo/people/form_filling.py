"""Filling in: what a virtual person writes into the blanks of an offer, by its console and nothing else."""

from __future__ import annotations

from typing import Any, Final

from taisai.client import Console
from taisai.protocol.views import Blank, Offer

SECOND: Final = "second"
_TRIED: Final = (1, 2, 4)
"""What is keyed into a device that lights areas, to see whether the right ones light."""
_REASON: Final = "decided by a virtual supervisor"


def needs_second(offer: Offer) -> bool:
    """Whether somebody else has to agree."""
    return any(blank.kind == SECOND for blank in offer.blanks)


async def filled(console: Console, offer: Offer, *, serial: str, day: str) -> dict[str, Any] | None:
    """The blanks filled in; None where something is missing that only the dice, or someone else, can tell."""
    found: dict[str, Any] = {}
    fields = {blank.field for blank in offer.blanks}
    for blank in offer.blanks:
        if blank.kind == SECOND:
            continue
        if blank.field in ("entered", "lit"):
            if fields >= {"entered", "lit"}:
                preview = await console.preview(_TRIED)
                found |= {"entered": _TRIED, "lit": preview.lit[console.table.table.layout]}
            continue
        if blank.optional and blank.field != "serial":
            continue
        value = _value(console, blank, serial=serial, day=day)
        if value is None:
            return None
        found[blank.field] = value
    return found


def _value(console: Console, blank: Blank, *, serial: str, day: str) -> Any:
    reading = console.console.reading
    match blank.kind:
        case "faces":
            return reading.faces if reading is not None else None
        case "whole":
            return blank.least
        case "yes-no":
            return True
        case "choice":
            return blank.choices[0].value if blank.choices else None
        case "text":
            return {"serial": serial, "day": day, "shift": "next"}.get(blank.field, _REASON)
        case _:
            return None
