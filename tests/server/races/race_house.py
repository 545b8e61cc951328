"""The house that is raced at: people, money, one table of any rulebook, and rich players at terminals."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import BringIn, DeviceKind, EnrolDevice, EnrolPerson, OpenHouse, SendFill
from taisai.client import Device
from taisai.game.commands import Assign, BuyCredits, Limits, OpenTable, ReceiveFill, TakeSeat
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import Engine, Journal, SigningKey, Submission, open_store, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.rules import rulebook

FILE: Final = "journal.db"
WAITS: Final = 30.0  # seconds for a journal in a database whose last writer was killed
IN_DATABASE: Final = "database"
"""A file with the URL of a database and the name of a journal in it."""
KEY: Final = SigningKey.new("races", seed=bytes(range(32)))
TABLE: Final = "T1"
STREAM: Final = stream_of(TABLE)
CURRENCY, ZONE = "PLAY", "Asia/Singapore"
CREDITS: Final = 10**9
CAPITAL, FILL = 10**13, 10**12
LIMITS: Final = Limits(least=100, most=10**8, exposure=10**12)
"""So high that no bet of a race is refused for its stake."""
RWS, MBS, US, CARDS = "rws-sic-bo-etg-v8", "mbs-sic-bo-v6", "us-sic-bo", "mbs-3-card-sic-bo"
CASHIERS: Final = ("cat", "cem", "cho", "cyd")
_ASIAN: Final = {"dan": "dealer", "pat": "pit-supervisor", "mia": "pit-manager", "sue": "shift-manager"}
_AMERICAN: Final = {
    "dan": "dealer",
    "flo": "floorperson",
    "cal": "casino-supervisor",
    "sue": "casino-supervisor",
}
_AT: Final = 1_763_200_800_000


def crew_of(book: str) -> dict[str, str]:
    """Who runs a table of this book, and their ranks; the last one opened it."""
    return _AMERICAN if book == US else _ASIAN


def journal_in(folder: Path) -> str | Path:
    """Where the journal of a house is: in its folder, or in the database that a file there names."""
    named = folder / IN_DATABASE
    return named.read_text() if named.exists() else folder / FILE


@cache
def terminal(seat: str) -> Device:
    """The terminal at a seat."""
    name = f"P{seat}"
    return Device.of(name, name.encode().ljust(32, b"-"))


def furnish(folder: Path, book: str, seats: int) -> None:
    """A journal of demonstration in which seats 0, 1, … are taken, each by its own terminal."""
    at, crew = _AT, crew_of(book)
    head, rank = list(crew.items())[-1]
    store = open_store(journal_in(folder))
    journal = Journal.opened(
        store, journal="races", key=KEY.public, at=at, by="ada", program="taisai", demonstration=True
    )
    opening_house = OpenHouse(
        at=at, by="ada", house="Races", currency=CURRENCY, ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND
    )
    asks = [
        Submission(HOUSE_STREAM, opening_house),
        Submission(HOUSE_STREAM, EnrolPerson(at=at, by="ada", person="ada", rank="administrator")),
        Submission(HOUSE_STREAM, EnrolPerson(at=at, by="ada", person=head, rank=rank)),
    ]  # fmt: skip
    others = {name: rank for name, rank in crew.items() if name != head} | dict.fromkeys(CASHIERS, "cashier")
    asks += [
        Submission(HOUSE_STREAM, EnrolPerson(at=at, by="ada", person=name, rank=rank, second=head))
        for name, rank in others.items()
    ]
    opening = OpenTable(
        at=at, by=head, rank=rank, table=TABLE, limits=LIMITS, currency=CURRENCY, day="2026-11-15", zone=ZONE,
        demonstration=True,
    )  # fmt: skip
    asks += [
        Submission(HOUSE_STREAM, BringIn(at=at, by=CASHIERS[0], id="capital", amount=CAPITAL, second=head)),
        Submission(STREAM, opening, rulebook(book)),
        Submission(
            HOUSE_STREAM,
            SendFill(at=at, by=CASHIERS[0], transfer="fill", table=TABLE, amount=FILL, second=head),
        ),
        Submission(STREAM, ReceiveFill(at=at, by=CAGE, transfer="fill", amount=FILL, second=head)),
    ]
    asks += [
        Submission(STREAM, Assign(at=at, by=BY_THE_HOUSE, person=name, rank=rank, position=rank))
        for name, rank in crew.items()
        if name != head
    ]
    for number in range(seats):
        seat = str(number)
        device = terminal(seat)
        enrolling = EnrolDevice(
            at=at, by="ada", device=device.name, kind=DeviceKind.TERMINAL, key=device.public, table=TABLE,
            seat=seat,
        )  # fmt: skip
        asks += [
            Submission(HOUSE_STREAM, enrolling),
            Submission(STREAM, TakeSeat(at=at, by=device.name, seat=seat, terminal=device.name)),
            Submission(STREAM, BuyCredits(at=at, by=device.name, seat=seat, amount=CREDITS)),
        ]  # fmt: skip
    for answer in Engine(journal).answer_all(asks):
        assert not isinstance(answer, Refusal), answer
    store.close()
