"""Approvals: a second person's agreement to exactly one thing, good once and for a minute."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest
from typing import Final, NamedTuple

from taisai.game.names import folded
from taisai.server.auth.sessions import TOKEN, Session, digest_of_token
from taisai.server.runtime.clock import Entropy

GOOD_FOR: Final = 60_000  # ms: the second person stands beside the first, who has only to press a key
MOST_APPROVALS: Final = 1_000  # at a time


class Approval(NamedTuple):
    """Who agreed, to what, and in whose session it is to be done."""

    digest: str
    asker: str
    """The id of the session of whoever asks."""
    approver: str
    until: int


class Granted(NamedTuple):
    """An approval and its token, which is told once and kept nowhere."""

    token: str
    approval: Approval

    def __repr__(self) -> str:
        return f"<Granted {self.approval!r}>"


def digest_of(approved: bytes) -> str:
    """What stands for the thing approved: the digest of its canonical JSON."""
    return sha256(approved).hexdigest()


class Approvals:
    """Every approval that can still be used."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._open: dict[str, Approval] = {}
        """Digest of the token → approval, the oldest first."""

    def granted(self, digest: str, *, asker: Session, approver: str, now: int) -> Granted | str:
        """A new approval, or why there is none."""
        self._drop_old(now)
        if folded(approver) == folded(asker.person):
            return f"expected a second person besides {asker.person!r}, got the same"
        if len(self._open) >= MOST_APPROVALS:
            return f"expected fewer than {MOST_APPROVALS} approvals that wait to be used, got as many"
        token = urlsafe_b64encode(self._entropy(TOKEN)).rstrip(b"=").decode("ascii")
        approval = Approval(digest, asker.id, approver, now + GOOD_FOR)
        self._open[digest_of_token(token)] = approval
        return Granted(token, approval)

    def used(self, token: str, digest: str, *, asker: str, now: int) -> str | None:
        """Who agreed to it; nobody, if it was for something else. Whatever comes of it, it is spent."""
        approval = self._open.pop(digest_of_token(token), None)
        if approval is None or now >= approval.until or approval.asker != asker:
            return None
        return approval.approver if compare_digest(approval.digest.encode(), digest.encode()) else None

    def withdrawn(self, *, session: str | None = None, person: str | None = None) -> None:
        """Takes back what was for a session that ended, or by someone who lost his say."""
        self._open = {
            token: one for token, one in self._open.items() if one.asker != session and one.approver != person
        }

    def __len__(self) -> int:
        return len(self._open)

    def _drop_old(self, now: int) -> None:
        self._open = {token: one for token, one in self._open.items() if now < one.until}
