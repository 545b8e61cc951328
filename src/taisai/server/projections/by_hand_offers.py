"""What was done by hand while the system was down: how its entries are offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from taisai.game import Table, commands
from taisai.game.messages import tag_of
from taisai.game.vocabulary import Hold, Means
from taisai.protocol.views import Blank, Choice, Words
from taisai.rules.procedure import Declared
from taisai.server.projections import texts
from taisai.server.projections.candidates import (
    MOST_SEATS,
    REASON,
    Candidate,
    faces_blank,
    text_blank,
    yes_no_blank,
)
from taisai.server.projections.record_offers import MEANS

BY_HAND: Final = Words("Played by hand and entered afterwards", "人工进行，事后输入")
SETTLED_BY_HAND: Final = Words("Settled by hand; entered as it was made", "人工结算，按实际输入")
NOT_WITNESSED: Final = Words("Settled by hand; the supervisor was not present", "人工结算，主管不在场")
VOID_BY_HAND: Final = Words(
    "Void; what was handed back by hand is entered first", "作废；先输入人工退还的款项"
)
NOTHING_ELSE: Final[Mapping[Declared, Words]] = {
    Declared.SEEN: Words(
        "A die was seen, and nothing else happened unrecorded", "有人看见骰子，此外未记录期间并无其他事发生"
    ),
    Declared.UNSEEN: Words("Nothing happened unrecorded", "未记录期间无任何事发生"),
}
"""What a declaration at a live table says: staff also declare what happened unrecorded."""
ROUND_ALARM: Final = Words(
    "{by} and {second} entered round {round}, which was played by hand. {reason}",
    "{by} 与 {second} 补录了人工进行的第 {round} 局。{reason}",
)
SETTLEMENT_ALARM: Final = Words(
    "{by} and {second} entered the settlement of round {round}, which was made by hand. {reason}",
    "{by} 与 {second} 补录了第 {round} 局的人工结算。{reason}",
)


def entries(table: Table) -> Iterator[Candidate]:
    """The settlement that was made by hand, or a round that was played by hand."""
    trial = {"evidence": REASON, "reason": REASON}
    said = (text_blank("evidence"), text_blank("reason"))
    if Hold.SETTLEMENT in table.holds:
        witness = (yes_no_blank("witnessed"),) if table.current.witness is not None else ()
        label = texts.COMMANDS[tag_of(commands.EnterSettlement)]
        blanks = (_returned(table), *witness, *said)
        yield Candidate(commands.EnterSettlement, {}, label, blanks, (trial,))
    elif table.round is None and table.practice > 1 and table.book.record is not None:
        label = texts.COMMANDS[tag_of(commands.EnterRound)]
        void = yes_no_blank("void", optional=True)
        blanks = (_bets(table), faces_blank(table, optional=True), void, _returned(table), *said)
        yield Candidate(commands.EnterRound, {}, label, blanks, ({**trial, "void": True},), takes_two=True)


def _returned(table: Table) -> Blank:
    """What was handed back to each seat."""
    seats = [name for name, seat in table.seats.items() if seat.taken][:MOST_SEATS]
    choices = tuple(Choice(value=name, label=Words(name, name)) for name in seats)
    return Blank(
        field="returned", kind="sums", label=texts.FIELDS["returned"], choices=choices, optional=True
    )


def _bets(table: Table) -> Blank:
    """The bets as they lay; a choice is a seat and what it played with, with a slash between them."""
    choices = tuple(
        Choice(
            value=f"{seat.name}/{means}",
            label=Words(f"{seat.name}, {MEANS[means].en}", f"{seat.name}，{MEANS[means].zh}"),
        )
        for seat in [seat for seat in table.seats.values() if seat.taken][:MOST_SEATS]
        for means in map(Means, table.means)
        if means is not Means.COLOUR_CHIPS or seat.colour_value
    )
    return Blank(
        field="bets", kind="bets-by-hand", label=texts.FIELDS["by_hand"], choices=choices, optional=True
    )
