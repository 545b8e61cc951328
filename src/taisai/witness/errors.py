"""What a witness or a client of one can say is wrong."""

from __future__ import annotations

from taisai.journal.errors import JournalError


class WitnessError(JournalError):
    """A witness cannot do what it was asked, or its files cannot be used."""


class SilentWitnessError(WitnessError):
    """A witness cannot be reached, or gives no valid answer: what it has seen is unknown."""


class WitnessedSizeError(WitnessError):
    """A witness has seen another size than the one that the request began with."""

    def __init__(self, size: int, message: str) -> None:
        super().__init__(message)
        self.size = size


class SecondHistoryError(WitnessError):
    """A witness has seen other entries: the checkpoint does not continue what it cosigned."""
