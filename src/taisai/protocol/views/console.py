"""A table as its staff see it, and what may be done there now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taisai.protocol.views.parts import ClaimLine, ColourLine, Part, View, Words
from taisai.protocol.views.table import CountdownView


class Choice(Part, frozen=True, kw_only=True):
    """A value that a field can have."""

    value: str
    label: Words


class Blank(Part, frozen=True, kw_only=True):
    """A field of a command to fill in."""

    field: str
    kind: str
    """'faces', 'whole', 'text', 'lines', 'choice', 'yes-no', 'counts', 'areas', 'bets', 'limits', 'odds',
    'bet' (the id of a bet of the round), 'amount' (in minor units; colour chips in pieces),
    'sums' (seat → amount), 'bets-by-hand' (seat, means, area, stake) or 'second'."""
    label: Words
    least: int | None = None
    most: int | None = None
    choices: tuple[Choice, ...] = ()
    optional: bool = False
    when: dict[str, tuple[str, ...]] | None = None
    """Other field → the values of it with which this one is asked for; None if it always is."""

    def is_asked(self, values: Mapping[str, Any]) -> bool:
        """Whether it belongs to the form with these values of other fields."""
        return all(values.get(field) in allowed for field, allowed in (self.when or {}).items())


class Offer(Part, frozen=True, kw_only=True):
    """A command that is possible now."""

    command: str
    """The command's tag."""
    preset: dict[str, Any]
    """The fields that are already filled in."""
    blanks: tuple[Blank, ...] = ()
    by: tuple[str, ...] = ()
    """The positions that may give the command, lowest first."""
    clause: str
    label: Words
    then: Words | None = None
    """What follows from the command, if that is known before."""
    final: Words | None = None
    """What cannot be undone of it: to be shown before it is confirmed."""
    main: bool = False
    """Whether it is the next step of the round."""


class SeenRuling(Part, frozen=True, kw_only=True):
    """The ruling on a report that says that a concealed die or card was seen."""

    ruling: str
    says: Words
    clause: str


class IrregularityLine(Part, frozen=True, kw_only=True):
    """An irregularity that can be reported now, and its ruling."""

    id: str
    label: Words
    ruling: str
    says: Words
    """The ruling in words."""
    clause: str
    to: str | None
    """The rank that decides, if the ruling is a referral."""
    foreseen: bool
    """Whether the rulebook has a rule for it in this phase."""
    blanks: tuple[Blank, ...]
    by: tuple[str, ...]
    instead: Words | None
    """The act to take instead, if the report is not possible now and such an act is known."""
    if_seen: SeenRuling | None = None
    """The ruling if the report says that a concealed die was seen, if that is another one."""


class PersonLine(Part, frozen=True, kw_only=True):
    """A member of staff at the table."""

    name: str
    rank: str
    position: str
    label: Words
    """The name of the position."""


class InspectionDue(Part, frozen=True, kw_only=True):
    """An inspection that is due."""

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
    """The shoe and its cards."""

    decks: int
    cards: int
    left: int
    burnt: int
    rounds: int
    """Rounds dealt from these decks."""
    seen: tuple[int, ...]
    """Cards of each face dealt since the shuffle."""
    shuffled: bool
    spoilt: bool
    unready: str | None
    """Why no round can be dealt from it; None if one can."""


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
    """The colour of its colour chips; None if it has none."""
    colour_value: int
    """The value of one colour chip."""


class SeatsView(Part, frozen=True, kw_only=True):
    """The taken seats: the number of all, and the first ones."""

    taken: int
    shown: tuple[SeatLine, ...]
    colours: tuple[ColourLine, ...]
    """The colours of colour chips, free ones too; empty if the table does not use them."""


class Extreme(Part, frozen=True, kw_only=True):
    """An outcome, and what the house would lose on it; negative if it would win."""

    faces: tuple[int, int, int]
    loses: int


class RiskView(Part, frozen=True, kw_only=True):
    """What the house would win or lose in the current round."""

    staked: int
    bets: int
    worst: Extreme
    best: Extreme
    exposures: tuple[int, ...]
    """What it would lose on each of the 56 outcomes, in the order 111, 112, … 666."""


class ReferralLine(Part, frozen=True, kw_only=True):
    """A question that waits for a decision."""

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
    """The details that were recorded."""


class SeatReturn(Part, frozen=True, kw_only=True):
    """What a seat gets from a round: as it stands, and after a change."""

    seat: str
    now: int
    then: int


class ReportLine(Part, frozen=True, kw_only=True):
    """A report that waits for a second person, and what follows if they confirm it."""

    id: str
    label: Words
    clause: str
    by: str
    """Who reported it."""
    round: int | None
    through: int | None
    seen: bool
    """Whether it says that a die was seen."""
    item: Words | None
    """The equipment that it names."""
    detail: str
    faces: tuple[int, int, int] | None
    """The result of the round as it stands."""
    shown: tuple[int, int, int] | None
    """What the dice or cards showed, by the report."""
    then: Words
    """What is ordered if it is confirmed."""
    paid: bool
    """Whether players have what the round returned."""
    returns: tuple[SeatReturn, ...]
    """The seats for which the round returns another amount; the first ones."""
    sums: SeatReturn | None
    """The same for all seats together; None where no money changes."""


class UnaskedSeat(Part, frozen=True, kw_only=True):
    """A seat whose player has not chosen yet whether to withdraw."""

    seat: str
    player: str
    at_risk: int


class WithdrawalView(Part, frozen=True, kw_only=True):
    """The players' option to withdraw their bets, while it is open."""

    clause: str
    chosen: dict[str, bool]
    """Seat → whether it withdrew."""
    waiting: int
    """Seats with bets that have not chosen."""
    unasked: tuple[UnaskedSeat, ...]
    """These seats; the first ones."""


class ReadingView(Part, frozen=True, kw_only=True):
    """The latest reading of a device, or its fault and the irregularity to report."""

    id: str
    device: str
    shake: int
    faces: tuple[int, int, int] | None
    fault: str | None
    label: Words
    suggested: IrregularityLine | None


class TransferInTransit(Part, frozen=True, kw_only=True):
    """A transfer between a table and the cage that only one side has booked."""

    id: str
    table: str
    kind: str
    amount: int
    booked_by: str
    """'table', 'house', or 'both' if the amounts differ."""
    subject: str
    """The seat, claim or ticket that it concerns."""


class WatchView(Part, frozen=True, kw_only=True):
    """The statistical test of the dice in use."""

    results: int
    e_value: str
    alarm: bool
    says: Words | None = None


class ConsoleView(View, frozen=True, kw_only=True, tag="console"):
    """A table as its staff see it."""

    table: str
    day: str
    shift: str
    offers: tuple[Offer, ...]
    irregularities: tuple[IrregularityLine, ...]
    countdown: CountdownView
    people: tuple[PersonLine, ...]
    equipment: tuple[ItemLine, ...]
    shoe: ShoeView | None
    seats: SeatsView
    risk: RiskView | None
    """None between rounds."""
    referrals: tuple[ReferralLine, ...]
    reports: tuple[ReportLine, ...]
    """Reports that wait for a second person."""
    withdrawal: WithdrawalView | None
    claims: tuple[ClaimLine, ...]
    reading: ReadingView | None
    transfers: tuple[TransferInTransit, ...]
    watch: WatchView | None
    exposure: int | None
    """The most that the house may lose on one outcome; None without a limit."""
    odds: dict[str, str]
    """Area → odds that the house offers, above those of the rulebook."""


class PreviewView(Part, frozen=True, kw_only=True):
    """What a result would do, before it is entered."""

    faces: tuple[int, int, int]
    total: int
    lit: dict[str, tuple[str, ...]]
    """Layout → the winning areas."""
    staked: int
    won: int
    """Winnings without the stakes."""
    returned: int
    """Stakes and winnings of the winning bets, and what the limits keep out."""
    collected: int
    """The stakes of the losing bets."""
    house: Extreme
    differs: bool
    """Whether the latest reading of a device differs from these faces."""
