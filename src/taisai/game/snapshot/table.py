"""A table as plain data, and back: what is over stays where it was put away, terms are compiled anew."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.game.rounds.past_rounds import PastRounds
from taisai.game.snapshot.codec import Snapshot, SnapshotError, check
from taisai.game.snapshot.parts import (
    EquipmentSnapshot,
    LedgerSnapshot,
    PurseSnapshot,
    SeatSnapshot,
    ShoeSnapshot,
    equipment_snapshot_of,
    ledger_snapshot_of,
    purse_snapshots_of,
    restore_equipment,
    restore_seats,
    restore_shoe,
    restored_ledger,
    seat_snapshots_of,
    shoe_snapshot_of,
)
from taisai.game.snapshot.rounds import RoundSnapshot, restored_round, round_snapshot_of
from taisai.game.table import Claim, Person, Referral, RevealedSeed, SeedCommitment, Table, TableTransfer
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import Basis, digest_of
from taisai.game.vocabulary import Hold, Subject
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Irregularity


class ReferralSnapshot(NamedTuple):
    """A referral; its subject is an irregularity or one of the game's own, which share no word."""

    id: str
    subject: str
    round: int | None
    to: str
    clause: Clause
    holds: bool
    seat: str | None
    decided_by: str | None
    detail: str = ""


class TableSnapshot(Snapshot, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table without the rounds that are over. What comes in an order keeps it; what has none is sorted."""

    rulebook: str
    rulebook_digest: str
    name: str
    open: bool
    bet_clause: Clause
    settings: dict[str, str]
    offers: dict[str, str]
    limits: Limits
    layout: str
    digest: str
    in_force: tuple[tuple[str, Basis], ...]
    """(digest, what its terms are compiled from)."""
    currency: str
    day: str
    zone: str
    shift: str
    demonstration: bool
    people: tuple[tuple[str, Person], ...]
    equipment: EquipmentSnapshot
    shoe: ShoeSnapshot
    seats: tuple[SeatSnapshot, ...]
    purses: tuple[PurseSnapshot, ...]
    terminals: tuple[tuple[str, str], ...]
    latest: int
    colours: tuple[tuple[str, str], ...]
    ledger: LedgerSnapshot
    rounds: int
    """How many are over."""
    round: RoundSnapshot | None
    holds: tuple[tuple[Hold, Clause], ...]
    claims_made: int
    waived: tuple[Claim, ...]
    tolerated: dict[str, int]
    shut: str | None
    shut_after: str | None
    witnessed_by: Clause
    referrals: tuple[ReferralSnapshot, ...]
    claims: tuple[Claim, ...]
    transfers: tuple[tuple[str, TableTransfer], ...]
    commitment: SeedCommitment | None
    revealed: RevealedSeed | None


_AS_IT_IS: Final = (
    "name", "open", "bet_clause", "limits", "layout", "digest", "currency", "day", "zone", "shift",
    "demonstration", "latest", "claims_made", "shut", "shut_after", "witnessed_by", "commitment",
    "revealed",
)  # fmt: skip
"""What a table and its snapshot have alike, and nobody changes in place."""


def snapshot_of(table: Table) -> TableSnapshot:
    """A table as plain data, which shares nothing with it that changes."""
    return TableSnapshot(
        rulebook=table.book.id,
        rulebook_digest=table.book.digest,
        **{name: getattr(table, name) for name in _AS_IT_IS},
        settings=dict(table.settings),
        offers=dict(table.offers),
        in_force=tuple(table.in_force.bases.items()),
        people=tuple(table.people.items()),
        equipment=equipment_snapshot_of(table.equipment),
        shoe=shoe_snapshot_of(table.shoe),
        seats=seat_snapshots_of(table),
        purses=purse_snapshots_of(table),
        terminals=tuple(table.terminals.items()),
        colours=tuple(table.colours.items()),
        ledger=ledger_snapshot_of(table.ledger),
        rounds=len(table.rounds),
        round=None if table.round is None else round_snapshot_of(table.round),
        holds=tuple(table.holds.items()),
        waived=tuple(table.waived),
        tolerated=dict(table.tolerated),
        referrals=tuple(ReferralSnapshot(*one) for one in table.referrals.values()),
        claims=tuple(table.claims.values()),
        transfers=tuple(table.transfers.items()),
    )


def restored(book: Rulebook, snapshot: TableSnapshot, rounds: PastRounds) -> Table:
    """The table of a snapshot, with the rounds that were over; it shares nothing with it that changes."""
    check("rulebook", f"{book.id} {book.digest}", f"{snapshot.rulebook} {snapshot.rulebook_digest}")
    check("number of rounds", len(rounds), snapshot.rounds)
    try:
        return _restored(Table(book, rounds), snapshot)
    except (KeyError, ValueError, OverflowError) as error:
        raise SnapshotError(f"expected the parts of one table of {book.id}, got: {error!r}") from error


def _restored(table: Table, snapshot: TableSnapshot) -> Table:
    for name in _AS_IT_IS:
        setattr(table, name, getattr(snapshot, name))
    table.settings, table.offers = dict(snapshot.settings), dict(snapshot.offers)
    _restore_terms(table, snapshot)
    table.people = dict(snapshot.people)
    restore_equipment(table.equipment, snapshot.equipment)
    restore_shoe(table.shoe, snapshot.shoe)
    table.ledger = restored_ledger(snapshot.ledger)
    restore_seats(table, snapshot.seats, snapshot.purses)
    table.terminals, table.colours = dict(snapshot.terminals), dict(snapshot.colours)
    table.round = None if snapshot.round is None else restored_round(snapshot.round)
    table.holds = dict(snapshot.holds)
    table.waived, table.tolerated = list(snapshot.waived), dict(snapshot.tolerated)
    table.referrals = {one.id: _referral(one) for one in snapshot.referrals}
    table.claims = {one.id: one for one in snapshot.claims}
    table.transfers = dict(snapshot.transfers)
    return table


def _restore_terms(table: Table, snapshot: TableSnapshot) -> None:
    """What is in force now is compiled; what was, when a round under it is asked for."""
    for digest, basis in snapshot.in_force:
        check("digest of what was in force", digest_of(table.book, *basis), digest)
        table.in_force.add(digest, Basis(dict(basis.settings), dict(basis.offers), basis.limits))
    if not snapshot.digest:
        return  # a table that was not opened yet
    in_force = digest_of(table.book, table.settings, table.offers, table.limits)
    check("digest of what is in force", in_force, snapshot.digest)
    table.terms = table.in_force[snapshot.digest]


def _referral(one: ReferralSnapshot) -> Referral:
    own = one.subject in set(Subject)
    subject = Subject(one.subject) if own else Irregularity(one.subject)
    return Referral(one.id, subject, *one[2:])
