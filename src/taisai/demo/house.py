"""The house of a demonstration, made or opened again: its journal says in its first entry what it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from taisai import __version__
from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import BringIn, EnrolPerson, OpenHouse, SendFill
from taisai.demo import cast
from taisai.game.commands import OpenTable, ReceiveFill
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE
from taisai.journal import Engine, Journal, SigningKey, SqliteStore, make_key, stream_of
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.journal.engine import Answer
from taisai.journal.errors import JournalError
from taisai.journal.seals.keys import load_signing_key
from taisai.rules import rulebook
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.runtime.environment import Entropy
from taisai.server.runtime.house_server import HousePlan, TablePlan, day_of

JOURNAL: Final = "journal.db"
KEY: Final = "house.key"
LONG_AGO: Final = 12 * 3_600_000  # ms: a visitor's session lasts as long as anyone looks on
_SESSIONS: Final = 50  # of one person: every visitor in a rank is the same person
_DAY: Final = day_of(ZoneInfo(cast.ZONE), time(6))


class OpenedDemonstration(NamedTuple):
    """A house of play money, ready to be served."""

    engine: Engine
    key: SigningKey
    recovered: dict[str, Answer] | None
    """What the stop came to at each table; None where the house is new."""


@contextmanager
def opened(folder: Path, *, now: int, entropy: Entropy) -> Iterator[OpenedDemonstration]:
    """The house in a folder: a new one where there is none; one of play for money is refused."""
    path = folder / JOURNAL
    is_new = not path.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RulesError(f"expected a folder, got {error.strerror} ({printable(str(folder))})") from None
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
    journal = Journal(store)
    if journal.identity is None:
        return Journal.opened(
            store, journal=f"demonstration-{entropy(4).hex()}", key=key.public, at=now, by=cast.ADMINISTRATOR,
            program=f"taisai {__version__}", demonstration=True,
        )  # fmt: skip
    if not journal.identity.demonstration:
        raise JournalError(
            f"expected a journal of demonstration, got one of play for money ({printable(str(path))})"
        )
    return journal


# What a new house needs, and an old one has


def furnish(engine: Engine, *, now: int) -> None:
    """People, capital, tables and their trays; whatever is there already stays as it is."""
    by, house = cast.ADMINISTRATOR, engine.house()
    if not house.name:
        _done(
            engine,
            HOUSE,
            OpenHouse(
                at=now, by=by, house=cast.HOUSE, currency=cast.CURRENCY, ladder=FLOOR_LADDER,
                second_rank=FLOOR_SECOND,
            ),
        )  # fmt: skip
        _done(engine, HOUSE, EnrolPerson(at=now, by=by, person=by, rank="administrator"))
    people = {cast.SHIFT_MANAGER: "shift-manager", **cast.VIRTUAL}
    people |= {person: rank for rank, person in cast.GUESTS.items()}
    for person, rank in people.items():
        second = cast.SHIFT_MANAGER if cast.SHIFT_MANAGER in house.people else None
        if person not in house.people:
            _done(engine, HOUSE, EnrolPerson(at=now, by=by, person=person, rank=rank, second=second))
    capital = BringIn(at=now, by=cast.CASHIER, id="capital", amount=cast.CAPITAL, second=cast.SHIFT_MANAGER)
    if "capital" not in house.movements:
        _done(engine, HOUSE, capital)
    for spot in cast.SPOTS:
        _open(engine, spot, now=now)


def _open(engine: Engine, spot: cast.Spot, *, now: int) -> None:
    stream, transfer = stream_of(spot.name), f"first-fill-{spot.name}"
    if not engine.journal.version(stream):
        command = OpenTable(
            at=now, by=spot.head, rank=cast.VIRTUAL[spot.head], table=spot.name, limits=spot.limits,
            currency=cast.CURRENCY, day=_DAY(now), zone=cast.ZONE, layout=spot.layout, demonstration=True,
        )  # fmt: skip
        answer = engine.open_table(rulebook(spot.book), command)
        if isinstance(answer, Refusal):
            raise RulesError(str(answer))
    if transfer not in engine.house().transfers:
        send = SendFill(
            at=now, by=cast.CASHIER, transfer=transfer, table=spot.name, amount=cast.FILL, second=spot.head
        )
        _done(engine, HOUSE, send)
    if transfer not in engine.table(spot.name).transfers:
        receive = ReceiveFill(at=now, by=CAGE, transfer=transfer, amount=cast.FILL, second=spot.head)
        _done(engine, stream, receive)


def _done(engine: Engine, stream: str, command: AnyCommand) -> None:
    answer = engine.answer(stream, command)
    if isinstance(answer, Refusal):
        raise RulesError(str(answer))


# How it is run


def plan(*, window: int, origins: frozenset[str]) -> HousePlan:
    """Four tables whose bets are open for so many milliseconds."""
    return HousePlan(
        house=cast.HOUSE,
        currency=cast.CURRENCY,
        zone=cast.ZONE,
        tables=[
            TablePlan(
                name=spot.name, book=rulebook(spot.book), limits=spot.limits, layout=spot.layout,
                window=window, demonstration=True, edges=True,
            )
            for spot in cast.SPOTS
        ],
        origins=origins,
        policy=SessionPolicy(idle_ms=LONG_AGO, absolute_ms=LONG_AGO, most_per_person=_SESSIONS),
        settings={"demonstration": "yes", "betting": f"{window} ms"},
        day=_DAY,
    )  # fmt: skip
