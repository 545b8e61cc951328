"""How an offer is made: a candidate is tried at the table, and its form has the fields that are left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from taisai.game import Table
from taisai.game.commands import Command
from taisai.game.messages import tag_of
from taisai.game.table import MOST_TEXT
from taisai.protocol.views import Blank, Choice, Offer, Words
from taisai.server.projections import texts
from taisai.server.projections.labels import rank_label
from taisai.server.projections.trial import AcceptedTrial, TrialTable


def faces(table: Table, field: str = "faces", *, optional: bool = False) -> Blank:
    """Three faces."""
    label = texts.CARDS_SHOW if table.shoe.used else texts.DICE_SHOW
    return Blank(
        field=field, kind="faces", label=label if field == "faces" else texts.FIELDS[field], least=1, most=6,
        optional=optional,
    )  # fmt: skip


def whole(field: str, least: int, most: int, *, optional: bool = False) -> Blank:
    """A whole number."""
    return Blank(
        field=field, kind="whole", label=texts.FIELDS[field], least=least, most=most, optional=optional
    )


def text(field: str, *, optional: bool = False, most: int = MOST_TEXT) -> Blank:
    """Some words."""
    return Blank(
        field=field, kind="text", label=texts.FIELDS[field], least=0 if optional else 1, most=most,
        optional=optional,
    )  # fmt: skip


def yes_no(field: str, *, optional: bool = False) -> Blank:
    """Yes or no."""
    return Blank(field=field, kind="yes-no", label=texts.FIELDS[field], optional=optional)


def choice(field: str, choices: Iterable[tuple[str, Words]], *, optional: bool = False) -> Blank:
    """One of several."""
    offered = tuple(Choice(value=value, label=label) for value, label in choices)
    return Blank(field=field, kind="choice", label=texts.FIELDS[field], choices=offered, optional=optional)


def other(field: str, kind: str, *, optional: bool = False) -> Blank:
    """Something that has a form of its own."""
    return Blank(field=field, kind=kind, label=texts.FIELDS[field], optional=optional)


def second(table: Table, rank: str | None = None) -> Blank:
    """A second person, who has to approve it himself: of the rank that dual control asks, unless said."""
    ladder = table.ranks.ranks()
    able = ladder[ladder.index(rank or table.ranks.second) :]
    offered = tuple(Choice(value=rank, label=rank_label(table, rank)) for rank in able)
    return Blank(field="second", kind="second", label=texts.FIELDS["second"], choices=offered)


def round_number(table: Table, field: str = "round", *, optional: bool = False) -> Blank:
    """The number of a round."""
    newest = len(table.rounds) + (table.round is not None)
    return whole(field, 1, max(1, newest), optional=optional)


def rounds(table: Table, suggested: Iterable[int]) -> Blank:
    """The number of a round that is over, the latest ones listed."""
    choices = tuple(Choice(value=str(one), label=Words(str(one), str(one))) for one in suggested)
    return Blank(
        field="round", kind="whole", label=texts.FIELDS["round"], least=1, most=len(table.rounds),
        choices=choices,
    )  # fmt: skip


Fields = Mapping[str, Any]
LOOK_BACK: Final = 10
"""Rounds among which one is looked for that can be corrected; any other may be named too."""
MOST_SEATS: Final = 200  # that are listed to choose from
REASON: Final = "a reason"


class Candidate(NamedTuple):
    """A command that might be done now."""

    kind: type[Command]
    preset: Fields
    label: Words
    blanks: tuple[Blank, ...] = ()
    trials: Iterable[Fields] = ({},)
    """What the blanks are tried with: it is offered where one of these would be done."""
    by: tuple[str, ...] | None = None
    """Actors that are no positions."""
    second: str | None = None
    """The rank of the second person, where it is not the usual one."""
    takes_two: bool = False
    """Whether a second person is asked for, though not every way to fill it in would need one."""
    then: Words | None = None
    """What follows from it."""
    is_report: bool = False
    """Whether it reports an irregularity; else it may not be one."""


def offered(stage: TrialTable, one: Candidate) -> Offer | None:
    """The offer, where the table would do it."""
    for trial in one.trials:
        found = stage.tried(one.kind, {**one.preset, **trial}, by=one.by)
        if isinstance(found, AcceptedTrial) and (one.is_report or not found.irregular):
            extra = (second(stage.table, one.second),) if found.second or one.takes_two else ()
            return Offer(
                command=tag_of(one.kind),
                preset=msgspec.to_builtins(dict(one.preset)),
                blanks=(*one.blanks, *extra),
                by=found.by,
                clause=str(found.clause),
                label=one.label,
                then=one.then,
            )
    return None
