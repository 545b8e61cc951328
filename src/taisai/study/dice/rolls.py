"""Rolls from a file: a line each, three faces, whatever stands between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Final

from taisai.rules.errors import RulesError, printable
from taisai.study.missing import needed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rolls = npt.NDArray[np.uint8]

AT_ONCE: Final = 1 << 22  # bytes read at a time
MOST_LINE: Final = 200  # bytes; a roll needs a dozen
_BETWEEN: Final = b" \t,;|-\r"


def read_rolls(file: IO[bytes], name: str) -> Iterator[Rolls]:
    r"""Blocks of rolls, so many × 3 faces each. Empty lines and those that begin with # are passed over.

    >>> import io
    >>> [block.tolist() for block in read_rolls(io.BytesIO(b"# pit 3\n2 3 5\n666\n"), "rolls.txt")]
    [[[2, 3, 5], [6, 6, 6]]]
    """
    with needed("NumPy", "study"):
        import numpy as np  # noqa: F401  whether it is there
    done, rest = 0, b""
    while True:
        read = file.read(AT_ONCE)
        block, newline, rest = (rest + read).rpartition(b"\n") if read else (rest, b"", b"")
        if len(rest) > MOST_LINE:
            raise RulesError(_bad(rest, done + block.count(b"\n") + len(newline) + 1, name))
        if block:
            faces = _quickly(block)
            if faces is None:
                faces = _line_by_line(block, done, name)
            if faces.size:
                yield faces.reshape(-1, 3)
        done += block.count(b"\n") + len(newline)
        if not read:
            return


def _quickly(block: bytes) -> Rolls | None:
    """The faces of a block whose every line is a roll; None where one may not be."""
    import numpy

    kept = block.translate(None, _BETWEEN)
    data = numpy.frombuffer(kept + b"\n", dtype=numpy.uint8)
    if data.size % 4 or not (data[3::4] == 10).all():
        return None
    faces = data.reshape(-1, 4)[:, :3] - numpy.uint8(ord("0"))
    return faces if ((faces >= 1) & (faces <= 6)).all() else None


def _line_by_line(block: bytes, done: int, name: str) -> Rolls:
    import numpy

    found: list[bytes] = []
    for number, line in enumerate(block.split(b"\n"), done + 1):
        faces = line.translate(None, _BETWEEN)
        if not faces or line.lstrip().startswith(b"#"):
            continue
        if len(faces) != 3 or not set(faces) <= set(b"123456"):
            raise RulesError(_bad(line, number, name))
        found.append(faces)
    return numpy.frombuffer(b"".join(found), dtype=numpy.uint8) - numpy.uint8(ord("0"))


def _bad(line: bytes, number: int, name: str) -> str:
    got = printable(repr(line[:40].decode("utf-8", "replace")))
    return f"expected three faces from 1 to 6, such as '2 3 5', got {got} ({printable(name)}, line {number})"
