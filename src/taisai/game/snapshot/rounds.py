"""A round as plain data, and back."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec import Struct

from taisai.game.betting.messages import BetRegistered
from taisai.game.money import packed_sums
from taisai.game.money.packed_sums import Column
from taisai.game.rounds.past_rounds import Load
from taisai.game.rounds.round import DeviceReading, Round, RoundSettlement, SettlementTotals
from taisai.game.snapshot.codec import Snapshot, SnapshotError, decode
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.vocabulary import Act, Phase


class BetLaid(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A bet as it was registered; which round it is of, the round says."""

    id: str
    at: int
    by: str
    clause: Clause
    seat: str
    means: Means
    layout: str
    area: str
    stake: int
    at_request: bool


class RoundSnapshot(Snapshot, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round: in hand, or over. Whatever comes in an order keeps it; what has none is sorted."""

    number: int
    opened_at: int
    phase: Phase
    day: str
    terms: str
    acts: tuple[Act, ...]
    bets: tuple[BetLaid, ...]
    gone: tuple[str, ...]
    columns: tuple[tuple[str, tuple[tuple[int, ...] | None, ...]], ...]
    """(layout, the stakes on each area by purse)."""
    totals: tuple[tuple[str, tuple[int, ...]], ...]
    """(layout, all stakes on each area together)."""
    laid_on: tuple[tuple[str, str], ...]
    stay: tuple[str, ...]
    stay_by: Clause | None
    dealt: int
    shuffle: int
    staked: int
    counted: int
    returned: tuple[int, ...]
    """What would come back on each of the 56 outcomes; empty where nothing would."""
    bound: int
    outside: tuple[tuple[str, str, int], ...]
    kept_out: tuple[tuple[str, int, int, int], ...]
    """(layout, row, index, how much)."""
    tolerated: tuple[str, ...]
    sessions: tuple[tuple[str, int], ...]
    tumbles: int
    shakes: int
    readings: tuple[DeviceReading, ...]
    seen: bool
    result: str | None
    settled: SettlementTotals | None
    by_purse: tuple[int, ...]
    """What the settlement brought to each purse; empty where there is none."""
    voided: bool
    choices: tuple[tuple[str, bool], ...]
    witness: str | None


_AS_IT_IS: Final = (
    "number", "opened_at", "phase", "day", "terms", "stay_by", "dealt", "shuffle", "staked", "counted",
    "bound", "tumbles", "shakes", "seen", "voided", "witness",
)  # fmt: skip
"""What a round and its snapshot have alike, and nobody changes in place."""
_BET: Final = attrgetter(*BetLaid.__struct_fields__)


def round_snapshot_of(round_: Round) -> RoundSnapshot:
    """A round as plain data, which shares nothing with it that changes."""
    settled = round_.settled
    return RoundSnapshot(
        **{name: getattr(round_, name) for name in _AS_IT_IS},
        acts=tuple(sorted(round_.acts)),
        bets=tuple(BetLaid(*_BET(bet)) for bet in round_.bets.values()),
        gone=tuple(sorted(round_.gone)),
        columns=tuple(
            (layout, tuple(None if column is None else tuple(column) for column in rows))
            for layout, rows in round_.columns.items()
        ),
        totals=tuple((layout, tuple(rows)) for layout, rows in round_.totals.items()),
        laid_on=tuple(round_.laid_on.items()),
        stay=tuple(sorted(round_.stay)),
        returned=tuple(packed_sums.unpacked(round_.returned, len(OUTCOMES))) if round_.returned else (),
        outside=tuple(sorted(round_.outside)),
        kept_out=tuple((*cell, amount) for cell, amount in round_.kept_out.items()),
        tolerated=tuple(sorted(round_.tolerated)),
        sessions=tuple(round_.sessions.items()),
        readings=tuple(round_.readings.values()),
        result=None if round_.result is None else str(round_.result),
        settled=None if settled is None else SettlementTotals(*settled[:4]),
        by_purse=() if settled is None else tuple(settled.by_purse),
        choices=tuple(round_.choices.items()),
    )


def restored_round(snapshot: RoundSnapshot) -> Round:
    """The round of a snapshot, which shares nothing with it that changes."""
    number = snapshot.number
    round_ = Round(number, snapshot.phase, snapshot.day, snapshot.terms, snapshot.opened_at)
    for name in _AS_IT_IS:
        setattr(round_, name, getattr(snapshot, name))
    round_.acts = set(snapshot.acts)
    round_.bets = {bet.id: _bet(bet, number) for bet in snapshot.bets}
    round_.gone, round_.stay = set(snapshot.gone), set(snapshot.stay)
    try:
        round_.columns = {layout: [_column(column) for column in rows] for layout, rows in snapshot.columns}
        round_.returned = packed_sums.packed(array("q", snapshot.returned))
        round_.result = None if snapshot.result is None else Outcome.parse(snapshot.result)
        by_purse = array("q", snapshot.by_purse)
    except (OverflowError, ValueError) as error:
        raise SnapshotError(f"expected what a round {number} can be, got: {error}") from error
    round_.settled = None if snapshot.settled is None else RoundSettlement(*snapshot.settled, by_purse)
    round_.totals = {layout: list(rows) for layout, rows in snapshot.totals}
    round_.laid_on, round_.sessions = dict(snapshot.laid_on), dict(snapshot.sessions)
    round_.outside, round_.tolerated = set(snapshot.outside), set(snapshot.tolerated)
    round_.kept_out = {(layout, row, index): amount for layout, row, index, amount in snapshot.kept_out}
    round_.choices = dict(snapshot.choices)
    round_.readings = {one.id: one for one in snapshot.readings}
    return round_


def loading(read: Callable[[int], bytes]) -> Load:
    """How past rounds are loaded, from how the bytes of one are read by its number."""
    return lambda number: restored_round(decode(read(number), RoundSnapshot))


def _bet(bet: BetLaid, number: int) -> BetRegistered:
    return BetRegistered(
        at=bet.at, by=bet.by, clause=bet.clause, round=number, id=bet.id, seat=bet.seat, means=bet.means,
        layout=bet.layout, area=bet.area, stake=bet.stake, at_request=bet.at_request,
    )  # fmt: skip


def _column(column: tuple[int, ...] | None) -> Column | None:
    return None if column is None else array("q", column)
