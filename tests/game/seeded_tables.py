"""A demonstration table whose dice or cards come out of seeds that the test knows."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from taisai.game.commands import Command, CommitSeed, OpenTable, RevealSeed, TakeReading
from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by, round_of, unseen
from taisai.game.events import Event
from taisai.game.vocabulary import SHAKER
from taisai.rules import rulebook
from tests.game.playing import Playing

CLOSE: Final = sha256(b"the entry that closed bets").digest()
ANOTHER: Final = sha256(b"another entry").digest()


def seed_of(number: int) -> bytes:
    """The seed of a round."""
    return sha256(b"seed %d" % number).digest()


def committing(number: int, **fields: Any) -> dict[str, Any]:
    """The fields of a commitment."""
    return {
        "round": number,
        "commitment": sha256(seed_of(number)).hexdigest(),
        "source": "a test",
    } | fields


class Shown(Playing):
    """A table that was opened to demonstrate."""

    def do(self, command: type[Command], by: str, **fields: Any) -> tuple[Event, ...]:
        """Does it; the table is opened to demonstrate."""
        if command is OpenTable:
            fields["demonstration"] = True
        return super().do(command, by, **fields)

    @property
    def coming(self) -> int:
        """The number of the round that comes next."""
        return len(self.table.rounds) + 1

    def commit(self) -> tuple[Event, ...]:
        """The seed of the round that comes next."""
        return self.do(CommitSeed, SHAKER, **committing(self.coming))

    def faces(self, close: bytes = CLOSE) -> tuple[int, ...]:
        """What comes out of the seed of the round in hand."""
        round_ = self.table.round
        assert round_ is not None
        throw = Throw(self.table.name, round_.number, round_.shakes, close)
        return drawn_by(seed_of(round_.number), throw, unseen(self.table))

    def reading(self, **fields: Any) -> dict[str, Any]:
        """The fields of a reading of the round in hand; by its seed, unless faces or a fault are given."""
        round_ = self.table.round
        assert round_ is not None
        faces = () if "fault" in fields or "faces" in fields else self.faces()
        name = f"s{len(round_.readings) + 1}"
        usual = {"reading": name, "round": round_.number, "device": "shaker", "shake": round_.shakes}
        return usual | {"faces": faces} | fields

    def read(self, by: str = SHAKER, **fields: Any) -> tuple[Event, ...]:
        """Takes a reading."""
        return self.do(TakeReading, by, **self.reading(**fields))

    def revealing(self, number: int | None = None, closed: bytes = CLOSE, **fields: Any) -> dict[str, Any]:
        """The fields of a seed that is revealed."""
        number = self.number if number is None else number
        round_ = round_of(self.table, number)
        drawn = round_.drawn if round_ else None
        usual: dict[str, Any] = {"round": number, "seed": seed_of(number).hex()}
        if drawn:
            usual |= {"close": 9, "hash": closed.hex(), "faces": drawn.faces}
        return usual | fields

    def reveal(self, **fields: Any) -> tuple[Event, ...]:
        """Reveals the seed of the round in hand, or of the last."""
        return self.do(RevealSeed, SHAKER, **self.revealing(**fields))


def shown(book: str, **settings: str) -> Shown:
    """A table before its first round, staffed, equipped, with a player."""
    made = Shown(rulebook(book), settings)
    made.staff().equip().seat()
    return made
