"""A journal of demonstration tables whose rounds are drawn by seeds, as a server would play them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from taisai.game import commands as c
from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by, unseen
from taisai.game.events import BetsClosed, Event
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import HOUSE, SHAKER
from taisai.journal.codec import stream_of
from taisai.journal.engine import Engine
from taisai.journal.journal import Journal
from taisai.journal.seals.merkle import leaf_hash
from taisai.journal.stores.contract import MemoryStore, Store
from taisai.rules import OUTCOMES, Act, rulebook
from tests.journal.small_journal import AT, ID, OLD, SECRET, exported

MBS, US, CARDS = "mbs-sic-bo-v6", "us-sic-bo", "mbs-3-card-sic-bo"


class Close(NamedTuple):
    """The entry that closed bets."""

    position: int
    hash: bytes


def last_close(journal: Journal, stream: str) -> Close:
    """The last entry of a table that closed bets."""
    entries = (entry for entry in journal.entries(stream=stream) if isinstance(entry.event, BetsClosed))
    *_, last = entries
    return Close(last.position, leaf_hash(journal.codec.encode(last)))


def seed_of(table: str, number: int) -> bytes:
    """The seed of a round, which a test may know."""
    return sha256(f"{table} {number}".encode()).digest()


class Shaken:
    """One demonstration table, played through an engine."""

    def __init__(self, engine: Engine, name: str, book: str, **settings: str) -> None:
        self.engine, self.name, self.stream, self.now = engine, name, stream_of(name), AT
        book_ = rulebook(book)
        top = book_.people.ranks()[-1]
        opening = c.OpenTable(
            at=AT, by="sue", table=name, limits=c.Limits(least=100, most=5_000), currency="SGD",
            day="2026-11-15", zone="Asia/Singapore", rank=top, settings=settings, demonstration=True,
        )  # fmt: skip
        assert not isinstance(engine.open_table(book_, opening), Refusal)
        self.do(c.Assign, HOUSE, person="dan", rank="dealer", position="dealer")
        if book == US:
            self._inspected()
        if book == CARDS:
            self.do(c.LoadShoe, "dan", decks=2)
        self.do(c.TakeSeat, "t1", seat="1", terminal="t1")
        self.do(c.BuyCredits, "t1", seat="1", amount=100_000)

    def _inspected(self) -> None:
        self.do(c.Assign, HOUSE, person="flo", rank="floorperson", position="floorperson")
        self.do(c.PlaceItem, "dan", item="dice", serial="1")
        lit = tuple(map(str, self.table.terms["A"].matrix.illuminated(OUTCOMES[7])))
        entered = tuple(OUTCOMES[7].faces)
        self.do(c.Inspect, "flo", item="electrical-device", runs=1, passed=True, entered=entered, lit=lit)

    @property
    def table(self) -> Table:
        """The table as it stands."""
        return self.engine.table(self.name)

    def do(self, command: Callable[..., c.Command], by: str, **fields: Any) -> tuple[Event, ...]:
        """Asks, and is answered."""
        self.now += 1_000
        answer: Any = self.engine.answer(self.stream, command(at=self.now, by=by, **fields))
        assert not isinstance(answer, Refusal), answer
        return answer  # type: ignore[no-any-return]

    def act(self, *acts: Act, **fields: Any) -> None:
        """Acts of the Dealer."""
        for act in acts:
            self.do(c.Perform, "dan", act=act, **fields)

    def commit(self) -> None:
        """The seed of the round that comes next."""
        number = len(self.table.rounds) + 1
        commitment = sha256(seed_of(self.name, number)).hexdigest()
        self.do(c.CommitSeed, SHAKER, round=number, commitment=commitment, source="a test")

    def open(self) -> None:
        """Bets are open, and one is laid."""
        if self.table.shoe.used and not self.table.shoe.shuffled:
            self.do(c.ShuffleShoe, "dan")
        self.act(Act.OPEN_BETS)
        slip = c.Slip(f"b{len(self.table.rounds)}", "small", 200)
        self.do(c.PlaceBets, "t1", round=len(self.table.rounds) + 1, seat="1", bets=(slip,))

    def draw(self, faces: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """The dice or cards, which lie in view, drawn by seed and close and told to the Dealer."""
        round_ = self.table.round
        assert round_ is not None
        throw = Throw(
            self.name, round_.number, round_.shakes, last_close(self.engine.journal, self.stream).hash
        )
        faces = faces or drawn_by(seed_of(self.name, round_.number), throw, unseen(self.table))
        self.do(
            c.TakeReading, SHAKER, reading=f"s{round_.shakes}", round=round_.number, device="shaker",
            shake=round_.shakes, faces=faces,
        )  # fmt: skip
        return faces

    def reveal(self, **fields: Any) -> None:
        """The seed of the round that is committed, and its draw."""
        is_open = self.table.commitment
        assert is_open is not None
        asked: dict[str, Any] = {"round": is_open.round, "seed": seed_of(self.name, is_open.round).hex()}
        round_ = self.table.round or self.table.rounds[-1]
        if round_.drawn:
            close = last_close(self.engine.journal, self.stream)
            asked |= {"close": close.position, "hash": close.hash.hex(), "faces": round_.drawn.faces}
        self.do(c.RevealSeed, SHAKER, **asked | fields)


def mbs_round(table: Shaken) -> None:
    """A round in which the dice tumble before bets close."""
    table.commit()
    table.open()
    table.act(Act.TUMBLE, tumbles=3)
    table.act(Act.CLOSE_BETS, Act.PRESS_DEAL, Act.UNCOVER)
    faces = table.draw()
    table.reveal()
    table.act(Act.ENTER_RESULT, faces=faces)
    table.act(Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE)


def us_round(table: Shaken) -> None:
    """A round whose dice are shaken twice; its seed is revealed when it is over."""
    table.commit()
    table.open()
    table.act(Act.CLOSE_BETS)
    table.act(Act.TUMBLE, tumbles=3)
    table.act(Act.UNCOVER)
    table.draw()
    table.act(Act.ENTER_RESULT, flat=False)
    table.act(Act.CLOSE_BETS)
    table.act(Act.TUMBLE, tumbles=3)
    table.act(Act.UNCOVER)
    faces = table.draw()
    table.act(Act.ENTER_RESULT, faces=faces)
    table.act(Act.SETTLE, Act.COLLECT, Act.PAY, Act.CLEAR_LIGHTS)
    table.reveal()


def cards_round(table: Shaken) -> None:
    """A round of cards, out of a shoe that is dealt from again and again."""
    table.commit()
    table.open()
    table.act(Act.CLOSE_BETS, Act.DEAL_CARDS)
    faces = table.draw()
    table.reveal()
    table.act(Act.ENTER_RESULT, faces=faces)
    table.act(Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE)


def written(store: Store) -> Journal:
    """A journal with two rounds at each of three tables, one after the other in turn."""
    journal = Journal.opened(
        store, journal=ID, key=OLD.public, at=AT, by="house", program="taisai", demonstration=True,
        secret=SECRET,
    )  # fmt: skip
    engine = Engine(journal)
    dice, shaker = Shaken(engine, "D1", MBS), Shaken(engine, "D2", US)
    cards = Shaken(engine, "D3", CARDS, shuffle="penetration", penetration="50")
    for _ in range(2):
        mbs_round(dice)
        us_round(shaker)
        cards_round(cards)
    journal.seal(OLD, at=AT + 10_000_000)
    return journal


DRAWS = 8
"""Two at the first table, four at the second, two at the third."""


@cache
def export() -> tuple[bytes, ...]:
    """The lines of an export of it."""
    return tuple(exported(written(MemoryStore())))
