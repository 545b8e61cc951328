"""What a playbook writes down of an answer: events, refusals and settlements, a line each."""

from __future__ import annotations

from typing import Final

from msgspec import NODEFAULT

from taisai.game.commands import Limits, tag_of
from taisai.game.events import BetRegistered, Event
from taisai.game.playbook.shares import Limited, Share
from taisai.game.playbook.values import fields_of, keyword, written
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import Means

NOTHING: Final = "+ nothing"
"""The answer to a harmless retry."""
_UNTOLD: Final = frozenset({"at", "by", "clause", "terms", "digest", "day"})
"""Fields that tell nothing of the story; digests change with every word of a rulebook."""


def event_line(event: Event) -> str:
    """An event: its name, its clause, its telling fields."""
    return f"+ {tag_of(type(event))} [{event.clause}] {', '.join(_told(event))}".rstrip()


def _told(event: Event) -> list[str]:
    if isinstance(event, BetRegistered):
        asked = ["at-request yes"] if event.at_request else []
        bet = f"{written(event.area)} {event.stake}"
        return [event.id, f"seat {event.seat}", bet, event.means, f"layout {event.layout}", *asked]
    told = []
    for field in fields_of(type(event)):
        value = getattr(event, field.name)
        default = field.default is not NODEFAULT and value == field.default
        if field.name in _UNTOLD or default or value is None or value in ("", (), {}):
            continue
        if isinstance(value, Limits):
            told += limits_told(value)
        else:
            told.append(f"{keyword(field.name)} {written(value)}")
    return told


def limits_told(limits: Limits) -> list[str]:
    """Limits as a header gives them."""
    told = [f"{limits.least} to {limits.most}"]
    told += [f"{name} {least} to {most}" for name, (least, most) in limits.groups.items()]
    return told + ([f"exposure {limits.exposure}"] if limits.exposure is not None else [])


def refusal_line(refusal: Refusal) -> str:
    """A refusal: why, by which clause, and which bet it concerns."""
    bet = f" bet {written(refusal.bet)}" if refusal.bet is not None else ""
    return f"! {refusal.reason} [{refusal.clause}]{bet}"


def share_line(share: Share) -> str:
    """What a stake came to."""
    means = "" if share.means is Means.CREDITS else f" {share.means}"
    head = f"* seat {share.seat}{means}, {share.area} {share.stake}"
    got = f"returned {share.returned}" if share.returned else "lost"
    match share.limited:
        case Limited.NOT:
            return f"{head}: {got} [{share.clause}]"
        case Limited.UNDER_ONCE:
            return f"{head}: {got} [{share.clause}], {share.limited} [{share.limits_clause}]"
        case _:
            return f"{head}: {share.limited}, {got} [{share.limits_clause}]"
