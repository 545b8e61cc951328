"""The demonstration shaker's own stream, in bulk: for tests of it, and for other people's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from taisai.game.draw import DICE_LABEL, Throw, blocks
from taisai.study.dice.mapping import faces_of
from taisai.study.dice.tally import Tally, tally_of
from taisai.study.missing import needed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ROLLS: Final = 1 << 18
"""Of one throw here: the shaker itself draws three dice of a throw, this goes on with the same stream."""
TABLE: Final = "dice-lab"
BLOCK: Final = 32  # bytes


def raw(seed: bytes, throw: int) -> Iterator[bytes]:
    """The bytes of a throw, without end, in large pieces."""
    made = blocks(DICE_LABEL, seed, Throw(TABLE, throw, 1, bytes(BLOCK)))
    while True:
        yield b"".join(islice(made, 1 << 12))


def rolls_of(seed: bytes, throw: int, rolls: int) -> npt.NDArray[np.uint8]:
    """So many rolls of a throw, as an array of faces."""
    with needed("NumPy", "study"):
        import numpy as np

    parts: list[npt.NDArray[np.uint8]] = []
    have, want = 0, 3 * rolls
    for piece in raw(seed, throw):
        faces = faces_of(np.frombuffer(piece, dtype=np.uint8))
        parts.append(faces)
        have += faces.size
        if have >= want:
            break
    return np.concatenate(parts)[:want].reshape(rolls, 3)


def tally_of_throw(seed: bytes, throw: int, rolls: int) -> Tally:
    """The tally of so many rolls of a throw; what a worker does."""
    return tally_of(rolls_of(seed, throw, rolls))
