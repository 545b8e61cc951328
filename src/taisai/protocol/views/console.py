"""A table as its staff see it, and what may be done there now."""

from __future__ import annotations

from typing import Any

from taisai.protocol.views.parts import ClaimLine, ColourLine, Part, View, Words
from taisai.protocol.views.table import CountdownView


class Choice(Part, frozen=True, kw_only=True):
    """One of several values of a field."""

    value: str
    label: Words


class Blank(Part, frozen=True, kw_only=True):
    """A field of the command that has to be filled in."""

    field: str
    kind: str
    """'faces', 'whole', 'text', 'choice', 'yes-no', 'counts', 'areas', 'bets', 'limits' or 'second'."""
    label: Words
    least: int | None = None
    most: int | None = None
    choices: tuple[Choice, ...] = ()
    optional: bool = False


class Offer(Part, frozen=True, kw_only=True):
    """A command that is legal now."""

    command: str
    """Its tag."""
    preset: dict[str, Any]
    """The fields that are filled in already."""
    blanks: tuple[Blank, ...] = ()
    by: tuple[str, ...] = ()
    """The positions that may do it, lowest first."""
    clause: str
    label: Words
    then: Words | None = None
    """What follows from it, where that is known before it is done."""
    main: bool = False
    """Whether it is the next step of the round."""


class IrregularityLine(Part, frozen=True, kw_only=True):
    """What can be reported now, and what the rules order then."""

    id: str
    label: Words
    ruling: str
    says: Words
    """The ruling in words."""
    clause: str
    to: str | None
    """The rank that decides, where it is referred."""
    foreseen: bool
    """Whether the document speaks of it."""
    blanks: tuple[Blank, ...]
    by: tuple[str, ...]


class PersonLine(Part, frozen=True, kw_only=True):
    """Someone at the table."""

    name: str
    rank: str
    position: str
    label: Words
    """The position, as people call it."""


class InspectionDue(Part, frozen=True, kw_only=True):
    """An inspection still to be made."""

    before: str
    by: str
    runs: int
    clause: str


class ItemLine(Part, frozen=True, kw_only=True):
    """A piece of equipment."""

    item: str
    label: Words
    clause: str
    placed: bool
    failed: bool
    serial: str
    custodian: str | None
    until: int | None
    """When it has to leave the table, in milliseconds since 1970."""
    due: tuple[InspectionDue, ...]


class ShoeView(Part, frozen=True, kw_only=True):
    """The cards."""

    decks: int
    cards: int
    left: int
    burnt: int
    rounds: int
    """Dealt from these decks."""
    seen: tuple[int, ...]
    """Cards of each face since the shuffle."""
    shuffled: bool
    spoilt: bool
    unready: str | None
    """Why no round can be dealt from it."""


class SeatLine(Part, frozen=True, kw_only=True):
    """A seat that is taken."""

    seat: str
    player: str
    terminal: str | None
    session: int
    layout: str
    credits: int
    at_risk: int
    colour: str | None
    """Of the colour chips that it bought, where it did."""
    colour_value: int
    """Of one of them."""


class SeatsView(Part, frozen=True, kw_only=True):
    """The seats that are taken: all are counted, so many are shown."""

    taken: int
    shown: tuple[SeatLine, ...]
    colours: tuple[ColourLine, ...]
    """The colours of colour chips, more than there are seats; none where nobody bets with them."""


class Extreme(Part, frozen=True, kw_only=True):
    """An outcome, and what the house would lose on it; negative where it would win."""

    faces: tuple[int, int, int]
    loses: int


class RiskView(Part, frozen=True, kw_only=True):
    """What the house stands to lose in the round in hand."""

    staked: int
    bets: int
    worst: Extreme
    best: Extreme
    exposures: tuple[int, ...]
    """What it would lose on each of the 56 outcomes, in the order 111, 112, … 666."""


class ReferralLine(Part, frozen=True, kw_only=True):
    """A question that waits for someone."""

    id: str
    subject: str
    label: Words
    clause: str
    to: str
    holds: bool
    """Whether the round waits for it."""
    seat: str | None
    round: int | None
    detail: str
    """What was written down with it."""


class WithdrawalView(Part, frozen=True, kw_only=True):
    """The option to withdraw, while it is open."""

    clause: str
    chosen: dict[str, bool]
    """Seat → whether it withdrew."""
    waiting: int
    """Seats with bets that have not chosen."""


class ReadingView(Part, frozen=True, kw_only=True):
    """What a device saw last, or why it saw nothing, and what may be reported then."""

    id: str
    device: str
    shake: int
    faces: tuple[int, int, int] | None
    fault: str | None
    label: Words
    suggested: IrregularityLine | None


class Flight(Part, frozen=True, kw_only=True):
    """A transfer that one side has booked and the other has not."""

    id: str
    table: str
    kind: str
    amount: int
    booked_by: str
    """'table', 'house', or 'both' where they booked it differently."""
    subject: str
    """The seat, claim or ticket that it concerns."""


class WatchView(Part, frozen=True, kw_only=True):
    """The watch on the dice."""

    results: int
    e_value: str
    alarm: bool
    says: Words | None = None


class ConsoleView(View, frozen=True, kw_only=True, tag="console"):
    """A table, to its staff."""

    table: str
    day: str
    shift: str
    acts: tuple[Offer, ...]
    irregularities: tuple[IrregularityLine, ...]
    countdown: CountdownView
    people: tuple[PersonLine, ...]
    equipment: tuple[ItemLine, ...]
    shoe: ShoeView | None
    seats: SeatsView
    risk: RiskView | None
    """None between rounds."""
    referrals: tuple[ReferralLine, ...]
    withdrawal: WithdrawalView | None
    claims: tuple[ClaimLine, ...]
    reading: ReadingView | None
    transfers: tuple[Flight, ...]
    watch: WatchView | None
    exposure: int | None
    """The most that the house may lose on one outcome; None where nothing limits it."""
    offers: dict[str, str]
    """Area → odds that the house offers above the document's."""
