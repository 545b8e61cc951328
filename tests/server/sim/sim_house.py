"""The house of a simulation as it is when the evening begins: people, money, devices, one table."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import BringIn, DeviceKind, EnrolDevice, EnrolPerson, OpenHouse, SendFill
from taisai.client import Device
from taisai.game.commands import Limits, OpenTable, ReceiveFill
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE
from taisai.journal import Engine, Journal, MemoryStore, SigningKey, Store, stream_of
from taisai.journal.codec import FORMAT, HOUSE_STREAM, AnyCommand, Codec
from taisai.journal.seals.secret import StorageSecret
from taisai.rules import Rulebook, rulebook
from tests.server.sim.virtual import START

KEY: Final = SigningKey.new("simulation", seed=bytes(range(32)))
SECRET: Final = StorageSecret(bytes(range(32)))
PROGRAM: Final = "taisai 0.1.0"
"""What every start records, whatever version runs: a new version number changes no byte of a journal."""
TABLE: Final = "T1"
SEATS: Final = 6
DISPLAY: Final = "D1"
CREDITS: Final = 200_000
IN_THE_CAGE: Final = 100_000_000
FILL: Final = 10_000_000
BOOKS: Final = ("rws-sic-bo-etg-v8", "mbs-sic-bo-v6", "us-sic-bo", "mbs-3-card-sic-bo")
LIMITS: Final = Limits(least=100, most=20_000)


class Crew(NamedTuple):
    """Who runs the table, lowest first, and their ranks; the last one opened it."""

    ranks: dict[str, str]

    @property
    def head(self) -> str:
        """Who opened the table."""
        return list(self.ranks)[-1]

    @property
    def second(self) -> str:
        """Who stands beside whoever needs a second person."""
        return list(self.ranks)[-2]


ASIAN: Final = Crew({"dan": "dealer", "pat": "pit-supervisor", "mia": "pit-manager", "sue": "shift-manager"})
AMERICAN: Final = Crew(
    {"dan": "dealer", "flo": "floorperson", "cal": "casino-supervisor", "sue": "casino-supervisor"}
)
CASHIER: Final = "cat"


def crew_of(book: str) -> Crew:
    """Who runs a table of this book."""
    return AMERICAN if book.startswith("us-") else ASIAN


@cache
def book_of(name: str) -> Rulebook:
    """A rulebook, read once."""
    return rulebook(name)


def codec_of(book: str) -> Codec:
    """The format of a journal of this book: edition 1 was played in format 1."""
    return Codec(1 if book.endswith("@1") else FORMAT)


@cache
def device(name: str) -> Device:
    """A device with a key of its own."""
    return Device.of(name, name.encode().ljust(32, b"-"))


def terminal_name(seat: str) -> str:
    """The terminal at a seat."""
    return f"P{seat}"


def furnish(store: Store, book: str) -> None:
    """Everything that is there before anyone comes."""
    at, crew = START - 60_000, crew_of(book)
    journal = Journal.opened(
        store, journal="simulation", key=KEY.public, at=at, by="ada", program="taisai", demonstration=True,
        codec=codec_of(book), secret=SECRET,
    )  # fmt: skip
    engine = Engine(journal)

    def done(command: AnyCommand, stream: str = HOUSE_STREAM) -> None:
        answer = engine.answer(stream, command)
        assert not isinstance(answer, Refusal), f"{command}: {answer}"

    done(
        OpenHouse(
            at=at, by="ada", house="Sim", currency="PLAY", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND
        )
    )
    done(EnrolPerson(at=at, by="ada", person="ada", rank="administrator"))
    for person, rank in {"sue": crew.ranks["sue"], **crew.ranks, CASHIER: "cashier"}.items():
        second = None if person == "sue" else "sue"
        if person not in engine.house().people:
            done(EnrolPerson(at=at, by="ada", person=person, rank=rank, second=second))
    done(BringIn(at=at, by=CASHIER, id="capital", amount=IN_THE_CAGE, second="sue"))
    for number in range(1, SEATS + 1):
        name = terminal_name(str(number))
        done(
            EnrolDevice(
                at=at, by="ada", device=name, kind=DeviceKind.TERMINAL, key=device(name).public, table=TABLE,
                seat=str(number),
            )
        )  # fmt: skip
    done(
        EnrolDevice(
            at=at, by="ada", device=DISPLAY, kind=DeviceKind.DISPLAY, key=device(DISPLAY).public, table=TABLE
        )
    )
    opening = OpenTable(
        at=at, by=crew.head, rank=crew.ranks[crew.head], table=TABLE, limits=LIMITS, currency="PLAY",
        day="2026-11-15", zone="Asia/Singapore", demonstration=True,
    )  # fmt: skip
    opened = engine.open_table(book_of(book), opening)
    assert not isinstance(opened, Refusal), opened
    done(SendFill(at=at, by=CASHIER, transfer="fill-1", table=TABLE, amount=FILL, second="sue"))
    done(ReceiveFill(at=at, by=CAGE, transfer="fill-1", amount=FILL, second="sue"), stream_of(TABLE))


@cache
def _furnished(book: str) -> MemoryStore:
    store = MemoryStore()
    furnish(store, book)
    return store


def furnished(book: str) -> MemoryStore:
    """A store with all of it, made once and copied."""
    store, made = MemoryStore(), _furnished(book)
    store.append(list(made.rows()), made.head())
    return store
