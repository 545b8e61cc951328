"""Sessions of staff who signed in, and approvals that a second person gave."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from typing import Final, NamedTuple

from taisai.cage.messages import SignOutCause
from taisai.game.vocabulary import folded
from taisai.server.runtime.environment import Entropy

TOKEN: Final = 32  # random bytes: nobody guesses one
SESSION_ID: Final = 12  # random bytes; it is no secret, and names the session in the journal
MOST_REMEMBERED: Final = 1_000  # sessions that ended: whoever comes back to one hears why


class SessionPolicy(NamedTuple):
    """How long sessions last, and how many there are."""

    idle_ms: int = 15 * 60_000
    """Without a sign of the person: an empty chair is nobody's."""
    absolute_ms: int = 10 * 3_600_000
    """From the sign-in on: a shift, and what a shift runs over."""
    most_per_person: int = 5
    """A console, a desk, and some that were left without signing out."""
    most: int = 2_000
    """All people's together."""


class Session(NamedTuple):
    """One person, signed in at one place; it holds nothing secret."""

    id: str
    person: str
    rank: str
    opened: int
    seen: int
    """When the person last did something."""


class NewSession(NamedTuple):
    """A session and its token, which is told once and kept nowhere."""

    token: str
    session: Session

    def __repr__(self) -> str:
        return f"<NewSession {self.session!r}>"


class EndedSession(NamedTuple):
    """A token that opens nothing, and why, where that is still known."""

    why: SignOutCause | None

    @property
    def message(self) -> str:
        """For whoever came with it."""
        return f"expected an open session, got {f'one that ended ({self.why})' if self.why else 'none'}"


OnEnd = Callable[[Session, SignOutCause], None]


class StaffSessions:
    """Every open session. Time comes in with each question; nothing here looks at a clock."""

    def __init__(self, entropy: Entropy, policy: SessionPolicy | None = None) -> None:
        self.policy = policy or SessionPolicy()
        self._entropy = entropy
        self._open: dict[str, Session] = {}
        self._ids: dict[str, str] = {}
        """Digest of a token → the id of its session, open or remembered."""
        self._digests: dict[str, str] = {}
        """The same the other way round."""
        self._ended: OrderedDict[str, SignOutCause] = OrderedDict()
        """Sessions that ended, by their ids, the oldest first."""
        self._listeners: list[OnEnd] = []

    def on_end(self, listener: OnEnd) -> None:
        """Calls someone at once whenever a session ends, so that its sockets close with it."""
        self._listeners.append(listener)

    def opened(self, person: str, rank: str, now: int) -> NewSession | None:
        """A new session, or None where there are too many; a person's idlest gives way to his new one."""
        own = sorted(self.of_person(person), key=lambda one: one.seen)
        for surplus in own[: max(0, len(own) + 1 - self.policy.most_per_person)]:
            self.end(surplus.id, SignOutCause.REVOKED)
        if len(self._open) >= self.policy.most:
            return None
        token = urlsafe_b64encode(self._entropy(TOKEN)).rstrip(b"=").decode("ascii")
        session = Session(self._entropy(SESSION_ID).hex(), person, rank, opened=now, seen=now)
        digest = digest_of_token(token)
        self._open[session.id] = session
        self._ids[digest] = session.id
        self._digests[session.id] = digest
        return NewSession(token, session)

    def of(self, token: str, now: int) -> Session | EndedSession:
        """Whose token it is; a session that is over by now ends here and now."""
        return self.at(self._ids.get(digest_of_token(token), ""), now)

    def at(self, id_: str, now: int) -> Session | EndedSession:
        """The same by a session's id, for whoever has shown its token once."""
        session = self._open.get(id_)
        if session is None:
            return EndedSession(self._ended.get(id_))
        if over := self._over(session, now):
            self.end(session.id, over)
            return EndedSession(over)
        return session

    def get(self, id_: str) -> Session | None:
        """The open session of an id."""
        return self._open.get(id_)

    def of_person(self, person: str) -> list[Session]:
        """A person's open sessions."""
        return [session for session in self._open.values() if session.person == person]

    def touch(self, id_: str, now: int) -> None:
        """The person did something; a session that is over stays over."""
        session = self._open.get(id_)
        if session is not None and not self._over(session, now):
            self._open[id_] = session._replace(seen=max(session.seen, now))

    def end(self, id_: str, why: SignOutCause) -> Session | None:
        """Ends a session and tells every listener; None where it was over already."""
        session = self._open.pop(id_, None)
        if session is None:
            return None
        self._ended[id_] = why
        if len(self._ended) > MOST_REMEMBERED:
            forgotten, _ = self._ended.popitem(last=False)
            del self._ids[self._digests.pop(forgotten)]
        for listener in self._listeners:
            listener(session, why)
        return session

    def end_all(self, person: str | None = None, why: SignOutCause = SignOutCause.REVOKED) -> list[Session]:
        """Ends every session of a person, or of everyone."""
        ending = list(self._open.values()) if person is None else self.of_person(person)
        return [session for session in ending if self.end(session.id, why)]

    def due(self, now: int) -> list[Session]:
        """Ends the sessions whose time is up, and names them."""
        over = [(session, why) for session in self._open.values() if (why := self._over(session, now))]
        return [session for session, why in over if self.end(session.id, why)]

    def __len__(self) -> int:
        return len(self._open)

    def _over(self, session: Session, now: int) -> SignOutCause | None:
        if now - session.opened >= self.policy.absolute_ms:
            return SignOutCause.EXPIRED
        return SignOutCause.IDLE if now - session.seen >= self.policy.idle_ms else None


def digest_of_token(token: str) -> str:
    """What is kept in place of a token, so that whoever reads the memory cannot come in with it."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


GOOD_FOR: Final = 60_000  # ms: the second person stands beside the first, who has only to press a key
MOST_APPROVALS: Final = 1_000  # at a time


class Approval(NamedTuple):
    """Who agreed, to what, and in whose session it is to be done."""

    digest: str
    asker: str
    """The id of the session of whoever asks."""
    approver: str
    until: int


class NewApproval(NamedTuple):
    """An approval and its token, which is told once and kept nowhere."""

    token: str
    approval: Approval

    def __repr__(self) -> str:
        return f"<NewApproval {self.approval!r}>"


def digest_of(approved: bytes) -> str:
    """What stands for the thing approved: the digest of its canonical JSON."""
    return sha256(approved).hexdigest()


class Approvals:
    """Every approval that can still be used."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._open: dict[str, Approval] = {}
        """Digest of the token → approval, the oldest first."""

    def granted(self, digest: str, *, asker: Session, approver: str, now: int) -> NewApproval | str:
        """A new approval, or why there is none."""
        self._drop_old(now)
        if folded(approver) == folded(asker.person):
            return f"expected a second person besides {asker.person!r}, got the same"
        if len(self._open) >= MOST_APPROVALS:
            return f"expected fewer than {MOST_APPROVALS} approvals that wait to be used, got as many"
        token = urlsafe_b64encode(self._entropy(TOKEN)).rstrip(b"=").decode("ascii")
        approval = Approval(digest, asker.id, approver, now + GOOD_FOR)
        self._open[digest_of_token(token)] = approval
        return NewApproval(token, approval)

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
