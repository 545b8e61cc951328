"""Reads rolls from a file, and counts what the tests of fairness need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import IO, TYPE_CHECKING, Final

from taisai.rules.errors import RulesError, printable
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.study import needed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rolls = npt.NDArray[np.uint8]


AT_ONCE: Final = 1 << 22  # bytes read at a time
MOST_LINE: Final = 200  # bytes; a roll needs a dozen
_BETWEEN: Final = b" \t,;|-\r"


def read_rolls(file: IO[bytes], name: str) -> Iterator[Rolls]:
    r"""Blocks of rolls, arrays with three faces per row. Skips empty lines and lines that begin with #.

    >>> import io
    >>> [block.tolist() for block in read_rolls(io.BytesIO(b"# pit 3\n2 3 5\n666\n"), "rolls.txt")]
    [[[2, 3, 5], [6, 6, 6]]]
    """
    with needed("NumPy", "study"):
        import numpy as np  # noqa: F401
    done, rest = 0, b""
    while True:
        read = file.read(AT_ONCE)
        block, newline, rest = (rest + read).rpartition(b"\n") if read else (rest, b"", b"")
        if len(rest) > MOST_LINE:
            raise RulesError(_invalid_line(rest, done + block.count(b"\n") + len(newline) + 1, name))
        if block:
            faces = _read_block(block)
            if faces is None:
                faces = _line_by_line(block, done, name)
            if faces.size:
                yield faces.reshape(-1, 3)
        done += block.count(b"\n") + len(newline)
        if not read:
            return


def _read_block(block: bytes) -> Rolls | None:
    """The faces of a block if every line is a roll, else None."""
    import numpy

    kept = block.translate(None, _BETWEEN)
    data = numpy.frombuffer(kept + b"\n", dtype=numpy.uint8)
    if data.size % 4 or not (data[3::4] == 10).all():
        return None
    faces = data.reshape(-1, 4)[:, :3] - numpy.uint8(ord("0"))
    return faces if ((faces >= 1) & (faces <= 6)).all() else None


def _line_by_line(block: bytes, done: int, name: str) -> Rolls:
    import numpy

    rolls: list[bytes] = []
    for number, line in enumerate(block.split(b"\n"), done + 1):
        faces = line.translate(None, _BETWEEN)
        if not faces or line.lstrip().startswith(b"#"):
            continue
        if len(faces) != 3 or not set(faces) <= set(b"123456"):
            raise RulesError(_invalid_line(line, number, name))
        rolls.append(faces)
    return numpy.frombuffer(b"".join(rolls), dtype=numpy.uint8) - numpy.uint8(ord("0"))


def _invalid_line(line: bytes, number: int, name: str) -> str:
    got = printable(repr(line[:40].decode("utf-8", "replace")))
    return f"expected three faces from 1 to 6, such as '2 3 5', got {got} ({printable(name)}, line {number})"


LAGS: Final = (1, 2, 3, 4, 5)
MIDDLE: Final = 21  # twice the mean of a total, to keep all figures whole


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a sequence of rolls."""

    rolls: int = 0
    triples: tuple[int, ...] = (0,) * 216
    """How often each ordered triple came; the index of a-b-c is 36a + 6b + c, with faces from 0."""
    runs: int = 0
    """The number of runs of totals above or below 10.5."""
    above: int = 0
    """Totals of 11 and more."""
    products: tuple[int, ...] = (0,) * len(LAGS)
    """[lag] the sum of (2·total − 21) of a roll times that of the roll so many later."""
    is_sorted: bool = True
    """Whether the faces of every roll are ascending. Then it is unknown which die showed which face."""
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    """The totals at both ends, up to the greatest lag, so that blocks can be joined."""

    @property
    def faces(self) -> tuple[int, ...]:
        """How often each face came, on all three dice."""
        return tuple(sum(self.by_die(die)[face] for die in range(3)) for face in range(6))

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How often each of the 56 outcomes came."""
        counts = [0] * len(OUTCOMES)
        for place, count in enumerate(self.triples):
            counts[_OUTCOME_OF[place]] += count
        return tuple(counts)

    def by_die(self, die: int) -> tuple[int, ...]:
        """How often each face came on one die, by the order of the faces in the rolls."""
        unit = 6 ** (2 - die)
        counts = [0] * 6
        for place, count in enumerate(self.triples):
            counts[place // unit % 6] += count
        return tuple(counts)

    def __add__(self, other: Tally) -> Tally:
        """The tally of these rolls followed by the others."""
        joined = bool(self.last and other.first) and (self.last[-1] > 10) == (other.first[0] > 10)
        reach = max(LAGS)
        across = tuple(
            sum(
                (2 * self.last[-back] - MIDDLE) * (2 * other.first[lag - back] - MIDDLE)
                for back in range(1, lag + 1)
                if back <= len(self.last) and lag - back < len(other.first)
            )
            for lag in LAGS
        )
        return Tally(
            rolls=self.rolls + other.rolls,
            triples=tuple(map(int.__add__, self.triples, other.triples)),
            runs=self.runs + other.runs - joined,
            above=self.above + other.above,
            products=tuple(map(sum, zip(self.products, other.products, across, strict=True))),
            is_sorted=self.is_sorted and other.is_sorted,
            first=(self.first + other.first)[:reach],
            last=(self.last + other.last)[-reach:],
        )


def tallied(blocks: Iterable[Rolls]) -> Tally:
    return sum(map(tally_of, blocks), start=Tally())


def tally_of(rolls: Rolls) -> Tally:
    import numpy as np

    if not rolls.size:
        return Tally()
    places = (rolls[:, 0] - np.uint8(1)) * np.uint8(36) + (rolls[:, 1] - np.uint8(1)) * np.uint8(6)
    places += rolls[:, 2] - np.uint8(1)
    totals = rolls.sum(axis=1, dtype=np.uint8)
    above = totals > 10
    centred = totals.astype(np.int16) * 2 - MIDDLE
    return Tally(
        rolls=len(rolls),
        triples=tuple(np.bincount(places, minlength=216).tolist()),
        runs=1 + int(np.count_nonzero(above[1:] != above[:-1])),
        above=int(np.count_nonzero(above)),
        products=tuple(
            int((centred[lag:] * centred[:-lag]).sum(dtype=np.int64)) if len(rolls) > lag else 0
            for lag in LAGS
        ),
        is_sorted=bool(((rolls[:, 0] <= rolls[:, 1]) & (rolls[:, 1] <= rolls[:, 2])).all()),
        first=tuple(totals[: max(LAGS)].tolist()),
        last=tuple(totals[-max(LAGS) :].tolist()),
    )


_OUTCOME_OF: Final = tuple(Outcome.of(a, b, c).index for a, b, c in product(range(1, 7), repeat=3))
