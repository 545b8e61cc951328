"""Why people cannot sign in, set their credentials, or approve: the refusals of their proofs."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class SignInRefusalReason(StrEnum):
    """Why a person cannot sign in or approve."""

    WRONG = "wrong"
    """Name, password and code do not match. Which of them is wrong is not said."""
    LOCKED = "locked"
    """Name, password and code match, but the person is locked."""
    TOO_OFTEN = "too-often"
    BUSY = "busy"
    """Too many sign-ins are being checked."""
    UNRECORDED = "unrecorded"
    """The journal cannot be written, so the sign-in cannot be recorded."""
    STOPPING = "stopping"
    """The server stops, so no session can begin."""
    NOT_SECOND = "not-second"
    """The person cannot decide about the request, or it does not wait any more."""
    CODE_NEEDED = "code-needed"
    """The person's last proof is too old to approve something: they give another code, or use a passkey."""
    WRONG_PASSKEY = "wrong-passkey"
    """No passkey of the person signed the challenge."""
    NO_PASSKEYS = "no-passkeys"
    """Browsers allow no passkeys at this address."""
    WRONG_ACTIVATION = "wrong-activation"
    """Name and activation code do not match, or the code has ended."""
    EXPIRED_SETUP = "expired-setup"
    """Setting one's own credentials took too long, or is done already."""
    WRONG_CONFIRMATION = "wrong-confirmation"
    """The code is not that of the new authenticator."""
    NO_SUCH_SESSION = "not-known"
    """The person has no such session."""
    UNFIT = "unfit"
    """The name or the password is not allowed."""


class SignInRefused(NamedTuple):
    reason: SignInRefusalReason
    message: str
    wait_ms: int = 0
    """Milliseconds until the next try makes sense, if known."""


WRONG_CREDENTIALS: Final = SignInRefused(SignInRefusalReason.WRONG, "name, password and code do not match")
WRONG_CODE: Final = SignInRefused(
    SignInRefusalReason.WRONG_ACTIVATION,
    "name and activation code do not match, or the code is used or too old; ask for a new one",
)
WRONG_SIGNATURE: Final = SignInRefused(
    SignInRefusalReason.WRONG_PASSKEY, "no passkey of this person was used, or it took too long; try again"
)
NO_PASSKEYS: Final = SignInRefused(
    SignInRefusalReason.NO_PASSKEYS, "passkeys need a host name and TLS; use your password and a code here"
)
LOCKED: Final = SignInRefused(
    SignInRefusalReason.LOCKED, "this person is locked; a supervisor can unlock them"
)
BUSY: Final = SignInRefused(
    SignInRefusalReason.BUSY, "too many people are signing in at once; try again in a moment", wait_ms=1_000
)
UNRECORDED: Final = SignInRefused(
    SignInRefusalReason.UNRECORDED, "the journal cannot be written, so the sign-in cannot be recorded"
)
STOPPING: Final = SignInRefused(
    SignInRefusalReason.STOPPING, "the server stops; sign in again when it is back"
)
SESSION_ENDED: Final = SignInRefused(SignInRefusalReason.NOT_SECOND, "the session has ended")
NO_SUCH_SESSION: Final = SignInRefused(
    SignInRefusalReason.NO_SUCH_SESSION, "you have no such session; it may have ended: look at the list again"
)
CODE_NEEDED: Final = SignInRefused(
    SignInRefusalReason.CODE_NEEDED,
    "your last code is some minutes old: give the code of your authenticator, or use a passkey",
)


def too_often(wait_ms: int) -> SignInRefused:
    """The refusal of too many tries, with the time of the next."""
    seconds = -(-wait_ms // 1_000)
    message = f"too many tries; try again in {seconds} s"
    return SignInRefused(SignInRefusalReason.TOO_OFTEN, message, wait_ms)
