"""One chip on one area, and what the table gives for it."""

from __future__ import annotations

from taisai.game.money.ledger import Account
from taisai.rules import Rulebook
from tests.game.playing import FILL, MBS, Playing, opened

STAKE = 100
TO_ENTRY = {True: ("tumble", "close-bets", "press-deal", "uncover"), False: ("close-bets", "deal-cards")}
"""Whether there are dice → what is done between the bets and the result."""


def table_open(book: Rulebook) -> Playing:
    """A table whose bets are open, with none on it."""
    playing = opened(book)
    playing.act("open-bets")
    return playing


def won_by(open_table: Playing, area: str, faces: str) -> int:
    """What a bet on an area wins, above its stake, when the faces show; less than nothing where collected.

    Told by the chips that left the tray when the round was over, or stayed in it.
    """
    playing = open_table.fork()
    playing.bet(**{area.replace("-", "_"): STAKE})
    for act in TO_ENTRY[playing.book.id == MBS]:
        playing.act(act)
    playing.act("enter-result", faces=tuple(int(face) for face in faces))
    for act in ("settle", "collect-and-pay", "conclude"):
        playing.act(act)
    gained = playing.balance(Account.CHIPS) - FILL
    assert gained == playing.balance(Account.HOUSE_WON) - playing.balance(Account.HOUSE_LOST)
    return -gained


def pays(book: Rulebook, odds: int, rows: str) -> None:
    """Each row is an area and the faces on which it is paid these odds (-1: on which it is collected)."""
    open_table = table_open(book)
    for row in rows.strip().splitlines():
        area, *shown = row.split()
        for faces in shown:
            assert won_by(open_table, area, faces) == odds * STAKE, f"{area} on {faces}"
