"""Transfers between the House and a table, and the numbers of tickets.

The House and a table book a transfer one after the other, under one id. The second side can be booked again
and counts once. So a retry, or the next start (`reconciliation.finish`), completes a transfer that a stop
has interrupted. A retry also finds the same id and the same ticket number again.

A ticket's number is as good as its money. So the number exists on the ticket alone: it is derived again
for a retry, and the journal knows the ticket by an id, a keyed hash that leads nobody to the number.
"""

from __future__ import annotations

import hmac
from collections.abc import Container, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from taisai.cage import House, HouseTransfer, HouseTransferKind, Ticket
from taisai.cage.messages import IssueTicket
from taisai.game.commands import Command, ReceiveFill, ReceiveTicket, SettleClaim
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import CAGE, TABLE, ClaimEnd
from taisai.journal import Answer, Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.seals.secret import SECRET_BYTES, StorageSecret
from taisai.rules.clauses import Clause

if TYPE_CHECKING:
    from taisai.game.table import Table

KEY: Final = "tickets/key"
"""The name in the vault of the key that makes the numbers of tickets."""
KEY_BYTES: Final = SECRET_BYTES
RETRIED_WITHIN: Final = 3_600_000  # ms: an id that comes back later is no retry, and its ticket another's
ID_DIGITS: Final = 40  # hexadecimal: two tickets never have the same id
SIGNS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and letters without I, L, O and U, which look like others."""
NUMBER_BITS: Final = 130  # of a number: as hard to guess as any other secret of the server
OLD_NUMBER_BITS: Final = 95  # of the numbers that earlier releases made, which stay good
_LENGTHS: Final = (NUMBER_BITS // 5 + 1, OLD_NUMBER_BITS // 5 + 1)
"""Signs of a number, the last of which checks the others."""
_GROUP: Final = 4
_MISREAD: Final = str.maketrans("ILO", "110", " -")
_SIGNED: Final = frozenset(
    {HouseTransferKind.FILL, HouseTransferKind.CLAIM_PAID, HouseTransferKind.CLAIM_COLLECTED}
)
"""What a second person signed for at the House, who has to be at the table too."""


def table_at(engine: Engine, name: str) -> Table | Refusal:
    """A table, or why there is none."""
    if not engine.journal.version(stream_of(name)):
        problem = f"the journal has no table {name!r}: open it first"
        return Refusal(Reason.TABLE_NOT_OPEN, Clause("house:table"), problem)
    return engine.table(name)


def issuing(transfer: str, table: str, amount: int, *, at: int, numbers: TicketNumbers) -> IssueTicket:
    """The House's side of credits that a terminal dispensed: a ticket."""
    ticket = numbers.id_of(numbers.issued(transfer))
    return IssueTicket(at=at, by=TABLE, transfer=transfer, table=table, ticket=ticket, amount=amount)


def arriving(moved: HouseTransfer, *, at: int, second: str | None = None) -> Command | None:
    """The table's side of what the House has booked; none where the table has to be first."""
    match moved.kind:
        case HouseTransferKind.TICKET_ACCEPTED if moved.seat is not None and moved.session is not None:
            return ReceiveTicket(
                at=at, by=CAGE, transfer=moved.id, seat=moved.seat, amount=moved.amount,
                session=moved.session,
            )  # fmt: skip
        case HouseTransferKind.FILL:
            return ReceiveFill(at=at, by=CAGE, transfer=moved.id, amount=moved.amount, second=second)
        case HouseTransferKind.CLAIM_PAID | HouseTransferKind.CLAIM_COLLECTED if moved.claim is not None:
            return SettleClaim(
                at=at, by=CAGE, claim=moved.claim, how=ClaimEnd.CAGE, transfer=moved.id, second=second
            )
        case _:
            return None


def second_of(engine: Engine, moved: HouseTransfer) -> str | None:
    """The second person who signed for a transfer at the House, as the journal has it."""
    if moved.kind not in _SIGNED:
        return None
    for _version, event in engine.journal.events(HOUSE_STREAM):
        if getattr(event, "transfer", None) == moved.id:
            second: str | None = getattr(event, "second", None)
            return second
    return None


def arrival(
    engine: Engine, transfer: HouseTransfer | None, *, at: int, second: str | None = None
) -> Command | Answer:
    """The table's side of a transfer that the House has booked; no command if the table has booked it."""
    if transfer is None:
        return ()
    table = table_at(engine, transfer.table)
    if not isinstance(table, Refusal) and transfer.id in table.transfers:
        return ()
    command = arriving(transfer, at=at, second=second or second_of(engine, transfer))
    return () if command is None else command


def kept(engine: Engine, transfer: str) -> HouseTransfer | None:
    """What the House has booked under a transfer."""
    return engine.house().transfers.get(transfer)


# Numbers


def tickets_key(engine: Engine, fresh: bytes) -> bytes:
    """The key of this journal; `fresh` becomes it where there is none. In the writer's thread."""
    store = engine.journal.store
    known = store.secret(KEY)
    if known is not None:
        return known
    if len(fresh) < KEY_BYTES:
        raise ValueError(f"expected {KEY_BYTES} random bytes, got {len(fresh)}")
    store.keep_secret(KEY, fresh)
    return fresh


class TicketNumbers(NamedTuple):
    """Makes the numbers of one journal's tickets, and the ids under which the journal knows them."""

    key: bytes
    secret: StorageSecret

    def __repr__(self) -> str:
        return "<TicketNumbers>"

    def issued(self, transfer: str) -> str:
        """The number of the ticket for what a terminal dispensed."""
        return ticket_number(self.key, "issued", transfer)

    def sold(self, house: House, cashier: str, request: str, at: int) -> str:
        """The number for a sale: of the ticket that the same request bought lately, else a new one."""
        hours = lately(at)
        numbers = [
            ticket_number(self.key, "sold", cashier, request, *hour, bits=bits)
            for bits in (NUMBER_BITS, OLD_NUMBER_BITS)
            for hour in hours
        ]
        known = (number for number in numbers if self.held(house, number) in house.tickets)
        return next(known, numbers[0])

    def id_of(self, number: str) -> str:
        """The id of the ticket with a number."""
        return f"t-{self.secret.mac('ticket', number).hex()[:ID_DIGITS]}"

    def held(self, house: House, typed: str) -> str:
        """The id of a ticket by its number as it was typed; in old journals, the number itself."""
        number = as_printed(typed)
        ticket = self.id_of(number)
        is_old = ticket not in house.tickets and _is_number(number) and number in house.tickets
        return number if is_old else ticket

    def of(self, ticket: Ticket) -> str:
        """The number of an issued ticket, from what the House knows; in old journals that is the number."""
        for bits in (NUMBER_BITS, OLD_NUMBER_BITS):
            number = ticket_number(self.key, "issued", ticket.transfer or "", bits=bits)
            if ticket.id == self.id_of(number):
                return number
        return ticket.id


def ticket_numbers(engine: Engine, fresh: bytes) -> TicketNumbers:
    """What makes the numbers of this journal. In the writer's thread."""
    key = tickets_key(engine, fresh)
    return TicketNumbers(key, engine.journal.secret or StorageSecret(key))


def ticket_number(key: bytes, *parts: str, bits: int = NUMBER_BITS) -> str:
    """The number of the ticket that is made for something; the same thing has the same number."""
    digest = hmac.digest(key, _joined(parts), "sha256")
    value = int.from_bytes(digest) >> (len(digest) * 8 - bits)
    places = [value >> shift & 31 for shift in range(0, bits, 5)]
    return _grouped([*places, _check(places)])


def as_printed(text: str) -> str:
    """A ticket's number as it was printed, from any way of typing it; any other text as it came."""
    plain = text.upper().translate(_MISREAD)
    if len(plain) not in _LENGTHS or not set(plain) <= set(SIGNS):
        return text
    places = [SIGNS.index(sign) for sign in plain]
    return _grouped(places) if places[-1] == _check(places[:-1]) else text


def _is_number(printed: str) -> bool:
    """Whether a text has the form of a number: an id never has."""
    lengths = {length + (length - 1) // _GROUP for length in _LENGTHS}
    return len(printed) in lengths and printed == as_printed(printed.lower())


def lately(at: int) -> tuple[tuple[str, ...], ...]:
    """What tells a request apart from one of the same id: this hour, the one before; none in old releases.

    So a retry is known, and no number and no transfer comes back after its ticket has left the state.
    """
    hour = at // RETRIED_WITHIN
    return (str(hour),), (str(hour - 1),), ()


def short_id(kind: str, *parts: str) -> str:
    """An id for something, the same for the same parts, which it does not reveal."""
    return f"{kind}-{sha256(_joined((kind, *parts))).hexdigest()[:24]}"


def asked_id(known: Container[str], kind: str, *parts: str, at: int) -> str:
    """The id of a transfer: of the one that the same request booked lately, else a new one."""
    ids = [short_id(kind, *parts, *hour) for hour in lately(at)]
    return next((id_ for id_ in ids if id_ in known), ids[0])


def _joined(parts: Iterable[str]) -> bytes:
    return msgspec.json.encode(list(parts))  # 'a', 'bc' and 'ab', 'c' are two things


def _grouped(places: list[int]) -> str:
    plain = "".join(SIGNS[place] for place in places)
    return "-".join(plain[start : start + _GROUP] for start in range(0, len(plain), _GROUP))


def _check(places: list[int]) -> int:
    """Luhn's check with 32 signs: it shows one wrong sign, and nearly every two that change places."""
    total = 0
    for distance, place in enumerate(reversed(places)):
        doubled = place * (2 - distance % 2)
        total += doubled // 32 + doubled % 32
    return -total % 32
