"""The columns of exported tables: names that stay, and what each says."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

Cell = int | str | bool | None
Row = tuple[Cell, ...]


class Kind(StrEnum):
    """What a column holds."""

    WHOLE = "integer"
    TEXT = "text"
    YES_OR_NO = "boolean"


class Column(NamedTuple):
    """One column."""

    name: str
    kind: Kind
    says: str
    is_full: bool = False
    """No cell of it is ever empty; whoever reads the file then need not look."""


_WHOLE, _TEXT, _FLAG = Kind.WHOLE, Kind.TEXT, Kind.YES_OR_NO

EVENTS: Final = (
    Column("position", _WHOLE, "the entry's place in the journal"),
    Column("stream", _TEXT, "`journal`, `house`, or `table:` and the table's name"),
    Column("version", _WHOLE, "its place in its stream"),
    Column("at", _WHOLE, "when, in milliseconds since 1970"),
    Column("by", _TEXT, "who"),
    Column("clause", _TEXT, "by which clause of the table's rulebook, or `house:…`"),
    Column("command", _TEXT, "the kind of command that was decided, on the first entry of its decision"),
    Column("event", _TEXT, "the kind of event"),
    Column("round", _WHOLE, "the round that the event names; else the one that was in hand"),
    Column("seat", _TEXT, "the seat that the event names"),
    Column("player", _TEXT, "the player's name, where a seat was taken"),
    Column("id", _TEXT, "the bet's id, or the rulebook's"),
    Column("means", _TEXT, "what a bet was made with"),
    Column("layout", _TEXT, "the layout"),
    Column("area", _TEXT, "the area"),
    Column("stake", _WHOLE, "the stake of a bet, as all money in the smallest unit of the table's currency"),
    Column("amount", _WHOLE, "money that was bought, dispensed, sent, received, paid in or out"),
    Column("faces", _TEXT, "what the dice or cards show, such as `2 3 5`"),
    Column("staked", _WHOLE, "of a settlement or a void round: all stakes"),
    Column("collected", _WHOLE, "of a settlement: losing stakes"),
    Column("won", _WHOLE, "of a settlement: what winners get above their stakes"),
    Column("stakes_back", _WHOLE, "of a settlement: stakes that came back"),
    Column("owed_to_players", _WHOLE, "of a correction: what became a claim of players"),
    Column("owed_by_players", _WHOLE, "of a correction: what became a claim on players"),
    Column("irregularity", _TEXT, "what went wrong"),
    Column("ruling", _TEXT, "what the rules order"),
    Column("referral", _TEXT, "the id of a referral"),
    Column("treatment", _TEXT, "what was decided on it"),
    Column("reason", _TEXT, "why, in the words of whoever decided"),
    Column("transfer", _TEXT, "the id of a transfer between table and House"),
    Column("ticket", _TEXT, "the number of a ticket"),
    Column("second", _TEXT, "the second person, where two are needed"),
    Column("event_json", _TEXT, "the whole event as canonical JSON"),
)

BETS: Final = (
    Column("table", _TEXT, "the table", is_full=True),
    Column("round", _WHOLE, "the round", is_full=True),
    Column("position", _WHOLE, "the entry that registered the bet", is_full=True),
    Column("at", _WHOLE, "when it was registered, in milliseconds since 1970", is_full=True),
    Column("bet", _TEXT, "its id", is_full=True),
    Column("seat", _TEXT, "the seat", is_full=True),
    Column("player", _TEXT, "the player's name, where one was given"),
    Column("means", _TEXT, "what it was made with", is_full=True),
    Column("layout", _TEXT, "the layout", is_full=True),
    Column("area", _TEXT, "the area that it counts on", is_full=True),
    Column("currency", _TEXT, "the table's currency", is_full=True),
    Column("stake", _WHOLE, "the stake, as all money in the smallest unit of the currency", is_full=True),
    Column(
        "state",
        _TEXT,
        "`settled`, `void`, `back` (taken back, withdrawn or returned) or `open`",
        is_full=True,
    ),
    Column("faces", _TEXT, "what the dice or cards showed, such as `2 3 5`"),
    Column("kept_out", _WHOLE, "how much of the stake the limits kept out of the game"),
    Column("won", _WHOLE, "above the stake"),
    Column("returned", _WHOLE, "in all: stake and winnings of a winner, and whatever was kept out"),
    Column("clause", _TEXT, "by which it won, lost or went back"),
    Column("voided", _FLAG, "whether its round is void", is_full=True),
    Column(
        "corrected",
        _FLAG,
        "whether its round was settled anew, or made void after it was settled",
        is_full=True,
    ),
    Column(
        "pay_table",
        _TEXT,
        "the digest of the pay table in force; `taisai rules matrix --json` tells it",
        is_full=True,
    ),
)

COLUMNS: Final = {"events": EVENTS, "bets": BETS}
"""Kind of table → its columns."""
