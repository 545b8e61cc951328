"""A round retold, with all that was ever said of it.

Shown as written: who wants it proved asks `verified`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from taisai.audit.retell.tables import Replay, entries_of_table, tables_of, unknown
from taisai.audit.sources import Progress, Source
from taisai.game.events import (
    BetMoved,
    BetRegistered,
    BetReturned,
    BetsClosed,
    BetTakenBack,
    ClaimSettled,
    Event,
    ReferralDecided,
    Referred,
    RoundResettled,
    RoundSettled,
    RoundVoided,
)
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import BetReturns, bet_records, note_returns
from taisai.game.table import Table
from taisai.game.terms.terms import Terms
from taisai.journal.codec import AnyCommand, Entry, stream_of
from taisai.journal.errors import DamagedError, JournalError
from taisai.rules.book import Rulebook
from taisai.rules.errors import printable
from taisai.rules.settlement import BetRecord

Bets = tuple[BetRecord[BetRegistered], ...]


class Moment(NamedTuple):
    """An entry that concerns the round, and how the bets stood right after it where that is worth telling."""

    position: int
    event: Event
    asked: AnyCommand
    """What was decided; several moments may come of one command."""
    bets: Bets = ()
    """After a close, what lies on the layout; after a settlement or a void, what each bet came to."""
    faces: tuple[int, ...] = ()
    """What the bets were settled by."""


@dataclass(slots=True)
class RoundStory:
    """A round, from its opening to the last thing that was said of it."""

    table: str
    book: Rulebook
    layout: str
    currency: str
    number: int
    terms: dict[str, Terms]
    moments: list[Moment]
    bets: Bets
    """What became of every bet in the end."""
    positions: dict[str, int]
    """Bet → the entry that registered it."""
    laid_on: dict[str, str]
    """Bet that was moved → the area where it was placed first."""
    is_over: bool


def round_story(
    source: Source, table: str, number: int, *, seat: str | None = None, progress: Progress | None = None
) -> RoundStory:
    """A round of a table retold; with a seat, only its own bets and what concerns everyone."""
    telling = _Telling(number, seat)
    replay = Replay(telling.look)
    try:
        for entry in entries_of_table(source, stream_of(table), progress):
            replay.take(entry)
        if telling.table is None:
            raise unknown("a table of this journal", table, tables_of(source))
        return telling.story()  # before the replay is closed: the round may have been put away
    except (LookupError, AssertionError, ArithmeticError) as error:  # what is no play cannot be told as one
        says = f"expected a round that can be retold, got {type(error).__name__}: {error}"
        raise DamagedError(0, f"{says}; an audit says where the journal is not by the rules") from None
    finally:
        replay.close()


class _Telling:
    """Watches a table go by, and keeps what concerns one round."""

    def __init__(self, number: int, seat: str | None) -> None:
        self.number, self.seat = number, seat
        self.table: Table | None = None
        self._moments: list[Moment] = []
        self._decision: list[Moment] = []
        self._asked: AnyCommand | None = None
        self._positions: dict[str, int] = {}
        self._returns: BetReturns = {}
        self._subjects: set[str] = set()
        """Referrals and claims that came of the round."""

    def look(self, entry: Entry, table: Table) -> None:
        """Keeps what concerns the round; a decision is kept whole, for its other events are why."""
        self.table = table
        event: Any = entry.event
        self._asked = entry.asked or self._asked
        if table.round is not None and self._is_in_hand(table):
            note_returns(self._returns, event, table.round)
        if getattr(event, "round", None) in (None, self.number):
            assert self._asked is not None
            moment = Moment(entry.position, event, self._asked, *self._standing(event, table))
            self._decision.append(moment)
        if isinstance(event, BetRegistered) and event.round == self.number:
            self._positions[event.id] = entry.position
        if not entry.more:
            decision, self._decision = self._decision, []
            if self._is_in_hand(table) or any(self._concerns(one.event) for one in decision):
                self._keep(decision, table)

    def _is_in_hand(self, table: Table) -> bool:
        return table.round is not None and table.round.number == self.number

    def _concerns(self, event: Any) -> bool:
        if isinstance(event, ReferralDecided):
            return event.referral in self._subjects
        if isinstance(event, ClaimSettled):
            return event.claim in self._subjects
        return getattr(event, "round", None) == self.number

    def _keep(self, decision: list[Moment], table: Table) -> None:
        self._moments += (one for one in decision if self._is_told(one.event, table))
        self._subjects |= {one.event.referral for one in decision if isinstance(one.event, Referred)}
        self._subjects |= {claim.id for claim in table.claims.values() if claim.round == self.number}

    def _standing(self, event: Event, table: Table) -> tuple[Bets, tuple[int, ...]]:
        """How the bets stand after an event that changes it for all of them, and what they are settled by."""
        if isinstance(event, BetsClosed) and self._is_in_hand(table):
            return tuple(bet for bet in self._bets(table) if not bet.state.left_early), ()
        if isinstance(event, RoundSettled):
            return (self._bets(table), event.faces) if self._is_in_hand(table) else ((), ())
        if isinstance(event, RoundResettled):
            return self._bets(table), event.faces
        return (self._bets(table), ()) if isinstance(event, RoundVoided) else ((), ())

    def _round(self, table: Table) -> Round:
        if table.round is not None and table.round.number == self.number:
            return table.round
        return table.rounds.glance(self.number)

    def _is_told(self, event: Any, table: Table) -> bool:
        """Whether it concerns the seat asked for, or everyone."""
        seat = getattr(event, "seat", None)
        if isinstance(event, BetTakenBack | BetMoved | BetReturned):
            # only here is the round looked up: a seed is committed for one that is not open yet
            seat = self._round(table).bets[event.id].seat
        return self.seat is None or seat in (None, self.seat)

    def _bets(self, table: Table) -> Bets:
        round_ = self._round(table)
        bets = [bet for bet in round_.bets.values() if self.seat in (None, bet.seat)]
        return tuple(bet_records(table, round_, bets, self._returns))

    def story(self) -> RoundStory:
        """All that was kept."""
        table = self.table
        assert table is not None
        newest = table.round.number if table.round is not None else len(table.rounds)
        if not (self._is_in_hand(table) or 1 <= self.number <= len(table.rounds)):
            there = f"from 1 to {newest}" if newest else "but it has none"
            raise JournalError(f"expected a round of {printable(table.name)}, {there}, got {self.number}")
        if self.seat is not None and self.seat not in table.seats:
            raise unknown(f"a seat of {printable(table.name)}", self.seat, list(table.seats))
        round_ = self._round(table)
        return RoundStory(
            table=table.name, book=table.book, layout=table.layout, currency=table.currency,
            number=self.number, terms=table.in_force[round_.terms], moments=self._moments,
            bets=self._bets(table), positions=self._positions, laid_on=dict(round_.laid_on),
            is_over=round_ is not table.round,
        )  # fmt: skip
