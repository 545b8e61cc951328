"""The house of the demonstration: its tables and people, and its journal, which is marked as one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from taisai import __version__
from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import AdoptInterpretations, BringIn, EnrolPerson, OpenHouse, SendFill
from taisai.game.commands import OpenTable, ReceiveFill
from taisai.game.refusals import Refusal
from taisai.game.terms.messages import Limits
from taisai.game.terms.opening import gaming_day
from taisai.game.vocabulary import CAGE
from taisai.journal import Engine, Journal, SigningKey, SqliteStore, make_key, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.engine import Answer
from taisai.journal.errors import JournalError
from taisai.journal.seals.keys import load_signing_key
from taisai.rules import Rulebook, rulebook
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.runtime.environment import Entropy
from taisai.server.runtime.plan import HousePlan, TablePlan

HOUSE_NAME: Final = "The Taisai demonstration"
CURRENCY: Final = "PLAY"
ZONE: Final = "Asia/Singapore"
CAPITAL: Final = 100_000_000_00  # minor units of play money in the cage at the start
FILL: Final = 1_000_000_00  # in each tray at the start
SEATS: Final = 40  # at a table: the first few for virtual players, the others for visitors


class TableSetup(NamedTuple):
    name: str
    book: str
    limits: Limits
    dealer: str
    """The virtual dealer."""
    head: str
    """The virtual person of the highest rank in its rulebook, who opens the table and decides referrals."""
    players: tuple[str, ...]
    """The virtual players, seat by seat."""
    layout: str | None = None
    floor: str | None = None
    """The virtual floorperson, where the rulebook gives them duties that nobody else may do."""


SHIFT_MANAGER: Final = "Virtual Sato"
CASINO_SUPERVISOR: Final = "Virtual Quinn"
FLOORPERSON: Final = "Virtual Uma"
_LIMITS: Final = Limits(
    least=5_00, most=1_000_00, groups={"even-money": (5_00, 5_000_00), "any-triple": (5_00, 500_00)}
)

_SETUPS: Final = (
    TableSetup("MBS1", "mbs-sic-bo-v6", _LIMITS, "Virtual Lin", SHIFT_MANAGER, ("Bo", "Dolores", "Teng")),
    TableSetup(
        "RWS1", "rws-sic-bo-etg-v8", _LIMITS, "Virtual Omar", SHIFT_MANAGER, ("Marta", "Ingrid", "Wei")
    ),
    TableSetup(
        "CARD1", "mbs-3-card-sic-bo", _LIMITS, "Virtual Rosa", SHIFT_MANAGER, ("Kofi", "Yuki", "Paolo")
    ),
    TableSetup(
        "US1", "us-sic-bo", _LIMITS, "Virtual Nils", CASINO_SUPERVISOR, ("Earl", "June", "Hank"),
        floor=FLOORPERSON,
    ),
)  # fmt: skip
TABLES: Final = {setup.name: setup for setup in _SETUPS}
"""The four tables, one of each rulebook."""

VIRTUAL: Final[dict[str, str]] = {
    **{setup.dealer: "dealer" for setup in TABLES.values()},
    SHIFT_MANAGER: "shift-manager",
    CASINO_SUPERVISOR: "casino-supervisor",
    FLOORPERSON: "floorperson",
    "Virtual Cora": "cashier",
}
"""Virtual person → rank."""
CASHIER: Final = "Virtual Cora"
GUESTS: Final[dict[str, str]] = {
    "dealer": "Dev Patel",
    "floorperson": "Fay Lund",
    "pit-supervisor": "Pia Costa",
    "pit-manager": "Max Berg",
    "casino-supervisor": "Cleo Grant",
    "shift-manager": "Sam Rivers",
    "cashier": "Kim Park",
    "auditor": "Alma Ortiz",
    "administrator": "Ada Stone",
}
"""Rank → the person as whom a visitor signs in."""
ADMINISTRATOR: Final = GUESTS["administrator"]


def terminal_of(table: str, seat: str) -> str:
    return f"{table}-{seat}"


JOURNAL: Final = "journal.db"
KEY: Final = "house.key"
SESSION_LASTS: Final = 12 * 3_600_000  # ms
_SESSIONS: Final = 50  # of one person: all visitors of a rank share one
_DAY: Final = partial(gaming_day, zone=ZoneInfo(ZONE), begins=time(6))


class OpenedDemonstration(NamedTuple):
    """The house of the demonstration, ready to be served."""

    engine: Engine
    key: SigningKey
    recovered: dict[str, Answer] | None
    """Table → the answer to its recovery; None if the house is new."""


@contextmanager
def opened(folder: Path, *, now: int, entropy: Entropy) -> Iterator[OpenedDemonstration]:
    """Opens the house in a folder, or makes a new one. A journal of play for money is refused."""
    path = folder / JOURNAL
    is_new = not path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RulesError(f"cannot make the folder {printable(str(folder))}: {error.strerror}") from None
    if is_new:
        key = make_key(folder / KEY, "demonstration", passphrase=None, seed=entropy(32))
    else:
        key = load_signing_key(folder / KEY)
    store = SqliteStore(path)
    try:
        engine = Engine(_journal(store, key, now=now, entropy=entropy, path=path))
        recovered = None if is_new else engine.recover(at=now)
        furnish(engine, now=now)
        yield OpenedDemonstration(engine, key, recovered)
    finally:
        store.close()


def _journal(store: SqliteStore, key: SigningKey, *, now: int, entropy: Entropy, path: Path) -> Journal:
    journal = Journal(store, key=key)
    if journal.identity is None:
        return Journal.opened(
            store, journal=f"demonstration-{entropy(4).hex()}", key=key, at=now, by=ADMINISTRATOR,
            program=f"taisai {__version__}", demonstration=True, random=entropy,
        )  # fmt: skip
    if not journal.identity.demonstration:
        raise JournalError(f"{printable(str(path))} is a journal of play for money, not of a demonstration")
    return journal


# People, capital and tables


def furnish(engine: Engine, *, now: int) -> None:
    """Adds the people, capital, tables and trays that the house does not have yet."""
    by, house = ADMINISTRATOR, engine.house()
    if not house.name:
        _carry_out(
            engine,
            HOUSE_STREAM,
            OpenHouse(
                at=now, by=by, house=HOUSE_NAME, currency=CURRENCY, ladder=FLOOR_LADDER,
                second_rank=FLOOR_SECOND,
            ),
        )  # fmt: skip
        _carry_out(engine, HOUSE_STREAM, EnrolPerson(at=now, by=by, person=by, rank="administrator"))
    people = {SHIFT_MANAGER: "shift-manager", **VIRTUAL}
    people |= {person: rank for rank, person in GUESTS.items()}
    for person, rank in people.items():
        second = SHIFT_MANAGER if SHIFT_MANAGER in house.people else None
        if person not in house.people:
            _carry_out(
                engine, HOUSE_STREAM, EnrolPerson(at=now, by=by, person=person, rank=rank, second=second)
            )
    capital = BringIn(at=now, by=CASHIER, id="capital", amount=CAPITAL, second=SHIFT_MANAGER)
    if "capital" not in house.movements:
        _carry_out(engine, HOUSE_STREAM, capital)
    for setup in TABLES.values():
        _adopt(engine, rulebook(setup.book), now=now)
        _open(engine, setup, now=now)


def _adopt(engine: Engine, book: Rulebook, *, now: int) -> None:
    """The virtual shift manager adopts the interpretations of a rulebook whose document asks for it."""
    if book.adoption is None or book.digest in engine.house().adopted:
        return
    rank, clause = book.adoption
    command = AdoptInterpretations(
        at=now, by=SHIFT_MANAGER, rulebook=book.id, edition=book.edition, digest=book.digest, rank=rank,
        asked_by=clause,
    )  # fmt: skip
    _carry_out(engine, HOUSE_STREAM, command)


def _open(engine: Engine, setup: TableSetup, *, now: int) -> None:
    stream, transfer = stream_of(setup.name), f"first-fill-{setup.name}"
    if not engine.journal.version(stream):
        command = OpenTable(
            at=now, by=setup.head, rank=VIRTUAL[setup.head], table=setup.name, limits=setup.limits,
            currency=CURRENCY, day=_DAY(now), zone=ZONE, layout=setup.layout, demonstration=True,
        )  # fmt: skip
        answer = engine.open_table(rulebook(setup.book), command)
        if isinstance(answer, Refusal):
            raise RulesError(str(answer))
    if transfer not in engine.house().transfers:
        send = SendFill(
            at=now, by=CASHIER, transfer=transfer, table=setup.name, amount=FILL, second=setup.head
        )
        _carry_out(engine, HOUSE_STREAM, send)
    if transfer not in engine.table(setup.name).transfers:
        receive = ReceiveFill(at=now, by=CAGE, transfer=transfer, amount=FILL, second=setup.head)
        _carry_out(engine, stream, receive)


def _carry_out(engine: Engine, stream: str, command: AnyCommand) -> None:
    answer = engine.answer(stream, command)
    if isinstance(answer, Refusal):
        raise RulesError(str(answer))


# How the house is served


def plan(*, window: int, origins: frozenset[str]) -> HousePlan:
    """The plan of the house; `window` is the time for bets in milliseconds."""
    return HousePlan(
        house=HOUSE_NAME,
        currency=CURRENCY,
        zone=ZONE,
        tables=[
            TablePlan(
                name=setup.name, book=rulebook(setup.book), limits=setup.limits, layout=setup.layout,
                window=window, demonstration=True, edges=True,
            )
            for setup in TABLES.values()
        ],
        origins=origins,
        policy=SessionPolicy(idle_ms=SESSION_LASTS, absolute_ms=SESSION_LASTS, most_per_person=_SESSIONS),
        settings={"demonstration": "yes", "betting": f"{window} ms"},
        day=_DAY,
    )  # fmt: skip
