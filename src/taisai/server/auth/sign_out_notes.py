"""The notes of ended sessions in the journal: each session that has a sign-in there gets one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from taisai.cage import SignOutCause, messages
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Answer
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.auth.sessions import Session
from taisai.server.auth.verification import QueueLike

UNWRITTEN: Final = frozenset({Reason.JOURNAL_UNWRITABLE, Reason.JOURNAL_IN_DOUBT, Reason.TOO_MANY})
"""Refusals after which a note may be missing in the journal."""


class _Ended(NamedTuple):
    session: str
    person: str
    why: SignOutCause


class SignOutNotes:
    """Writes the end of each session to the journal; what cannot be written now is written later."""

    def __init__(self, queue: QueueLike) -> None:
        self._queue = queue
        self._signed_in: set[str] = set()
        """Sessions whose sign-in is in the journal."""
        self._waiting: list[_Ended] = []
        """Ended sessions whose sign-out is not in the journal yet."""

    def signed_in(self, session: Session) -> None:
        """The sign-in of a session is in the journal, so its end will be."""
        self._signed_in.add(session.id)

    def ended(self, session: Session, why: SignOutCause) -> None:
        if session.id in self._signed_in:
            self._signed_in.remove(session.id)
            self._waiting.append(_Ended(session.id, session.person, why))

    def left_open(self, sessions: Mapping[str, str]) -> None:
        """Sessions and their people that a stop ended."""
        self._waiting += [
            _Ended(session, person, SignOutCause.STOPPED) for session, person in sessions.items()
        ]

    async def write(self, now: int) -> None:
        ended, self._waiting = self._waiting, []
        notes = [
            messages.NoteSignOut(at=now, by=FLOOR, person=end.person, session=end.session, why=end.why)
            for end in ended
        ]
        later = ended  # if this is interrupted, all are noted again: a second note changes nothing
        try:
            answers = await asyncio.gather(
                *(self._queue.execute(HOUSE_STREAM, note) for note in notes), return_exceptions=True
            )
            later = [end for end, answer in zip(ended, answers, strict=True) if _is_unwritten(answer)]
        finally:
            self._waiting[:0] = later


def _is_unwritten(answer: Answer | BaseException) -> bool:
    """Whether the note may be missing in the journal. Any other refusal means that it is there already."""
    return isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason in UNWRITTEN)
