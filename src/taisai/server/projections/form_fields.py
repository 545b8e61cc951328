"""Blanks: the fields of a command that whoever gives it has to fill in."""

from __future__ import annotations

from collections.abc import Iterable

from taisai.game import Table
from taisai.game.table import MOST_TEXT
from taisai.protocol.views import Blank, Choice, Words
from taisai.server.projections import texts
from taisai.server.projections.labels import rank_label


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
