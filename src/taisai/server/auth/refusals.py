"""Why someone does not come in, in words that tell a stranger nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class NotIn(StrEnum):
    """Why someone does not come in."""

    WRONG = "wrong"
    """Name, password and code do not belong together; never which of them."""
    LOCKED = "locked"
    """He is who he says, but locked."""
    TOO_OFTEN = "too-often"
    BUSY = "busy"
    """So many are being checked that one more would wait too long."""
    UNRECORDED = "unrecorded"
    """The journal cannot be written, and nobody comes in unrecorded."""
    NOT_SECOND = "not-second"
    """A second person who is none, or an approval for nobody."""
    UNFIT = "unfit"
    """No credentials for this name, or not with this password."""


class SignInRefused(NamedTuple):
    """Someone does not come in."""

    reason: NotIn
    message: str
    wait_ms: int = 0
    """How long until it is worth trying again, where that is known."""


WRONG: Final = SignInRefused(
    NotIn.WRONG, "expected a name, a password and a code that belong together, got others"
)
LOCKED: Final = SignInRefused(
    NotIn.LOCKED, "expected someone who may sign in, got one who is locked: a supervisor can unlock him"
)
BUSY: Final = SignInRefused(
    NotIn.BUSY, "expected fewer to sign in at once, got more: try again in a moment", wait_ms=1_000
)
UNRECORDED: Final = SignInRefused(
    NotIn.UNRECORDED, "expected a journal that can be written, got none: nobody signs in unrecorded"
)


def too_often(wait_ms: int) -> SignInRefused:
    """A refusal that says when to try again."""
    seconds = -(-wait_ms // 1_000)
    says = f"expected fewer tries from this address, got too many: try again in {seconds} s"
    return SignInRefused(NotIn.TOO_OFTEN, says, wait_ms)
