"""Sessions of staff."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

from taisai.cage.messages import SignOutCause
from taisai.server.runtime.environment import Entropy

TOKEN: Final = 32  # random bytes
SESSION_ID: Final = 12  # random bytes; the id is public and stands in the journal
MOST_REMEMBERED: Final = 1_000  # ended sessions whose cause a client can still learn


class SessionPolicy(NamedTuple):
    """How long sessions last, and how many may be open."""

    idle_ms: int = 15 * 60_000
    """Without an action of the person."""
    absolute_ms: int = 10 * 3_600_000
    """From the sign-in on: a shift and some overtime."""
    most_per_person: int = 5
    """A console, a desk, and some without a sign-out."""
    most: int = 2_000
    """For all people together."""


class Session(NamedTuple):
    """A session of a person. It holds no secret."""

    id: str
    person: str
    rank: str
    opened: int
    seen: int
    """The time of the person's last action."""
    proved: int = 0
    """When the person last gave a code or used a passkey, at the sign-in or later."""
    address: str = ""
    """Where the sign-in came from."""


class NewSession(NamedTuple):
    """A session and its token. The token is sent once and stored nowhere."""

    token: str
    session: Session

    def __repr__(self) -> str:
        return f"<NewSession {self.session!r}>"


class EndedSession(NamedTuple):
    """The result for a token without an open session, with the cause if it is still known."""

    why: SignOutCause | None

    @property
    def message(self) -> str:
        return f"the session has ended ({self.why})" if self.why else "no open session has this token"


OnEnd = Callable[[Session, SignOutCause], None]


class StaffSessions:
    """Every open session. Callers pass the time; nothing here reads a clock."""

    def __init__(self, entropy: Entropy, policy: SessionPolicy | None = None) -> None:
        self.policy = policy or SessionPolicy()
        self._entropy = entropy
        self._open: dict[str, Session] = {}
        self._ids: dict[str, str] = {}
        """Digest of a token → the id of its session, open or remembered."""
        self._digests: dict[str, str] = {}
        """Session id → digest of its token."""
        self._ended: OrderedDict[str, SignOutCause] = OrderedDict()
        """Ended session → cause, oldest first."""
        self._listeners: list[OnEnd] = []

    def on_end(self, listener: OnEnd) -> None:
        """Adds a listener that is called whenever a session ends, so that its sockets close."""
        self._listeners.append(listener)

    def opened(self, person: str, rank: str, now: int, *, address: str = "") -> NewSession | None:
        """A new session; None if there are too many. It replaces the person's least active one if needed."""
        own = sorted(self.of_person(person), key=lambda session: session.seen)
        for surplus in own[: max(0, len(own) + 1 - self.policy.most_per_person)]:
            self.end(surplus.id, SignOutCause.REVOKED)
        if len(self._open) >= self.policy.most:
            return None
        token, id_ = self._drawn(), self._entropy(SESSION_ID).hex()
        session = Session(id_, person, rank, opened=now, seen=now, proved=now, address=address)
        self._open[id_] = session
        return NewSession(self._known_by(token, id_), session)

    def of(self, token: str, now: int) -> Session | EndedSession:
        """The session of a token. An expired session ends here."""
        return self.at(self._ids.get(digest_of_token(token), ""), now)

    def at(self, id_: str, now: int) -> Session | EndedSession:
        """The session of an id. An expired session ends here."""
        session = self._open.get(id_)
        if session is None:
            return EndedSession(self._ended.get(id_))
        if cause := self._expiry(session, now):
            self.end(session.id, cause)
            return EndedSession(cause)
        return session

    def get(self, id_: str) -> Session | None:
        """The open session of an id; None if it is not open."""
        return self._open.get(id_)

    def of_person(self, person: str) -> list[Session]:
        return [session for session in self._open.values() if session.person == person]

    def touch(self, id_: str, now: int) -> None:
        """Records an action of the person. An expired session stays expired."""
        session = self._open.get(id_)
        if session is not None and not self._expiry(session, now):
            self._open[id_] = session._replace(seen=max(session.seen, now))

    def prove(self, id_: str, now: int) -> str | None:
        """Records that the person has just proved who they are; returns the session's new token.

        The token of before ends: somebody who has it must not have what was proved now.
        """
        session = self._open.get(id_)
        if session is None:
            return None
        self._open[id_] = session._replace(proved=max(session.proved, now))
        del self._ids[self._digests[id_]]
        return self._known_by(self._drawn(), id_)

    def _drawn(self) -> str:
        return urlsafe_b64encode(self._entropy(TOKEN)).rstrip(b"=").decode("ascii")

    def _known_by(self, token: str, id_: str) -> str:
        """Makes a token that of a session, and returns it."""
        digest = digest_of_token(token)
        self._ids[digest], self._digests[id_] = id_, digest
        return token

    def end(self, id_: str, why: SignOutCause) -> Session | None:
        """Ends a session and calls every listener; None if it was not open."""
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
        expired = [(session, why) for session in self._open.values() if (why := self._expiry(session, now))]
        return [session for session, why in expired if self.end(session.id, why)]

    def __len__(self) -> int:
        return len(self._open)

    def _expiry(self, session: Session, now: int) -> SignOutCause | None:
        if now - session.opened >= self.policy.absolute_ms:
            return SignOutCause.EXPIRED
        return SignOutCause.IDLE if now - session.seen >= self.policy.idle_ms else None


def digest_of_token(token: str) -> str:
    """The digest of a token. Only digests are stored, so that nobody can read tokens from memory."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()
