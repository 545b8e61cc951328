"""From random bytes to dice, and the proof that no face is favoured: all 256 bytes, one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from taisai.study.report import Report, Sheet, Told, columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BYTES: Final = 256
FACES: Final = 6
FAIR: Final = BYTES - BYTES % FACES
"""Bytes from here on are left out, so that each face has equally many."""


def faces_of(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The faces that bytes stand for, in their order; bytes that favour a face are left out.

    >>> import numpy as np
    >>> faces_of(np.array([0, 5, 6, 251, 252, 255], dtype=np.uint8)).tolist()
    [1, 6, 1, 6]
    """
    kept = data[data < FAIR]
    kept %= FACES
    kept += 1
    return kept


@dataclass(frozen=True)
class MappingProof(Told):
    """How many of the 256 bytes stand for each face, and how many are left out."""

    faces: tuple[int, ...]
    left_out: int

    @property
    def is_unbiased(self) -> bool:
        """Whether each face has equally many, and every byte is accounted for."""
        return len(set(self.faces)) == 1 and sum(self.faces) + self.left_out == BYTES

    def report(self) -> Report:
        """The count, and what follows from it."""
        rows = tuple((str(face), str(count)) for face, count in enumerate(self.faces, 1))
        verdict = (
            f"Each face has {self.faces[0]} of the 256 bytes; {self.left_out} are left out. Bytes that are "
            "uniform and independent therefore make dice that are."
            if self.is_unbiased
            else "The faces do not have equally many bytes: this mapping is biased."
        )
        sheet = Sheet("Bytes that stand for a face", columns("face", "bytes", numbers=("bytes",)), rows)
        return Report((sheet,), (verdict,))

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {"faces": list(self.faces), "left_out": self.left_out, "unbiased": self.is_unbiased}


def mapping_proof(face_of: Callable[[int], int | None]) -> MappingProof:
    """The proof for any mapping from a byte to a face, or to None where the byte is left out.

    >>> mapping_proof(lambda byte: byte % 6 + 1).is_unbiased
    False
    """
    found = [face_of(byte) for byte in range(BYTES)]
    faces = tuple(found.count(face) for face in range(1, FACES + 1))
    return MappingProof(faces, found.count(None))
