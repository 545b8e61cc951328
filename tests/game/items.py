"""An item of the equipment at a table: without it no round opens, and anyone may put it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taisai.game.commands import PlaceItem, RecordBets, RemoveItem, Slip
from taisai.game.events import ItemPlaced
from taisai.game.vocabulary import Means
from taisai.rules import Rulebook
from tests.game.playing import SEAT, at
from tests.game.single_event import only

Choices = Sequence[Mapping[str, str]]


def is_needed(book: Rulebook, item: str, clause: str, *, means: str, under: Choices = ({},)) -> None:
    """A table has the item, whatever the settings, by this clause, in nobody's custody, beside all others.

    What bets are made with is told by the clause `means`, and that is no plaque.
    """
    for settings in under:
        playing = at(book, "between", **settings)
        playing.do(RemoveItem, "dan", item=item)
        assert playing.act_refused("open-bets") == "unmet-need house:equipment"
        placed = only(ItemPlaced, playing.do(PlaceItem, "dan", item=item, serial="2"))
        assert (placed.clause, placed.custodian) == (clause, None)
        assert playing.refused(PlaceItem, "dan", item=item, serial="3") == "out-of-order house:equipment"
        playing.act("open-bets")
        bets = {"round": playing.number, "seat": SEAT, "bets": (Slip("x", "odd", 100),)}
        assert playing.refused(RecordBets, "dan", means=Means.PLAQUES, **bets) == f"wrong-means {means}"
