"""Approvals: the rulebooks that may be played for money, with dates, in a signed list.

>>> from taisai.journal.seals.keys import SigningKey
>>> from taisai.rules import rulebook
>>> regulator = SigningKey.new("regulator-2026", seed=bytes(32))
>>> book = rulebook("us-sic-bo")
>>> text = written_approvals([RulebookApproval(book.id, book.digest, date(2026, 11, 16))], regulator)
>>> print(text, end="")
taisai approvals 1
us-sic-bo, sha256:..., 2026-11-16, -
<BLANKLINE>
— regulator-2026 ...
>>> approvals = read_approvals(text, regulator.public)
>>> approvals.refusal(book, on=date(2026, 11, 16)) is None
True
>>> approvals.refusal(book, on=date(2026, 11, 15))
'expected a rulebook approved for 2026-11-15, got us-sic-bo, approved from 2026-11-16 on'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from taisai.journal.errors import JournalError
from taisai.journal.seals.checkpoints import MOST_SIGNATURES, NoteSignature, is_signed, read_signature
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.rules.book import Rulebook
from taisai.rules.errors import RulesError, printable

HEAD: Final = "taisai approvals 1"
"""The first line of the signed text; no checkpoint and no later form of the list begins like this."""
MOST_LINES: Final = 10_000  # of a list; a house has some rulebooks, each approved again now and then
MOST_BYTES: Final = 2_000_000  # which so many lines do not have
_LINE: Final = re.compile(
    r"(?P<id>[a-z0-9-]{1,409}), (?P<digest>sha256:[0-9a-f]{64}), "
    r"(?P<since>[0-9]{4}-[0-9]{2}-[0-9]{2}), (?P<until>[0-9]{4}-[0-9]{2}-[0-9]{2}|-)"
)


class ApprovalsError(RulesError):
    """An invalid list of approvals."""


class RulebookApproval(NamedTuple):
    """The approval of one rulebook, by its digest, from a first to a last day."""

    id: str
    digest: str
    since: date
    until: date | None = None
    """The last day; None for no end."""

    @property
    def line(self) -> str:
        """The line of the approval in the list."""
        return f"{self.id}, {self.digest}, {self.since}, {self.until or '-'}"

    @property
    def days(self) -> str:
        """The days of the approval, in words."""
        return f"from {self.since} on" if self.until is None else f"from {self.since} to {self.until}"


@dataclass(frozen=True, slots=True)
class RulebookApprovals:
    """A list of approvals with a valid signature."""

    listed: tuple[RulebookApproval, ...]
    key: PublicKey

    def refusal(self, book: Rulebook, on: date) -> str | None:
        """Why a rulebook may not be played for money on a day; None where it may."""
        expected = f"expected a rulebook approved for {on}"
        same = [entry for entry in self.listed if (entry.id, entry.digest) == (book.id, book.digest)]
        if any(entry.since <= on and (entry.until is None or on <= entry.until) for entry in same):
            return None
        if same:
            return f"{expected}, got {book.id}, approved {', '.join(entry.days for entry in same)}"
        has_id = any(entry.id == book.id for entry in self.listed)
        why = "whose text differs from the approved one" if has_id else "which is not on the list"
        return f"{expected}, got {book.id} {book.digest}, {why}"

    def newest(self, editions: Sequence[Rulebook], on: date) -> Rulebook | None:
        """The newest edition that may be played for money on a day; the editions are given newest first."""
        return next((book for book in editions if self.refusal(book, on) is None), None)


def written_approvals(
    listed: Iterable[RulebookApproval], key: SigningKey, *, comments: Iterable[str] = ()
) -> str:
    """The text of a list, comments included, with the key's signature."""
    lines = [HEAD, *(f"# {comment}" for comment in comments), *(approval.line for approval in listed)]
    body = "".join(f"{line}\n" for line in lines)
    signature = NoteSignature(key.name, key.public.id, key.sign(body.encode()))
    return f"{body}\n{signature.line}"


def edition_comments(listed: Iterable[RulebookApproval], known: Iterable[Rulebook]) -> list[str]:
    """A comment for each approved edition that is known, for people who read the list."""
    names = {book.digest: f"{book.id}, edition {book.edition}" for book in known}
    return [
        f"{names[approval.digest]}: {approval.digest[:19]}…, {approval.days}"
        for approval in dict.fromkeys(listed)
        if approval.digest in names
    ]


def read_approvals(text: str | bytes, key: PublicKey) -> RulebookApprovals:
    """The approvals in a text signed by this key; any other text is an error."""
    body, signatures = _parted(text)
    if not is_signed(body, signatures, key):
        by = ", ".join(f"{signature.name} {signature.id}" for signature in signatures)
        raise ApprovalsError(
            f"expected a list signed by {key.name} {key.id} and not altered, "
            f"got signatures of {printable(by)}"
        )
    return RulebookApprovals(tuple(_listed(body)), key)


def _parted(text: str | bytes) -> tuple[str, list[NoteSignature]]:
    """The signed text, and the signatures under it."""
    try:
        data = text.encode() if isinstance(text, str) else text
        if len(data) > MOST_BYTES:
            raise ApprovalsError(f"expected a list of at most {MOST_BYTES} bytes, got {len(data)}")
        decoded = data.decode()
    except UnicodeError as error:
        raise ApprovalsError(f"the list is not UTF-8: {error}") from None
    body, blank, under = decoded.rpartition("\n\n")
    *lines, rest = under.split("\n")
    if not blank or rest or not 1 <= len(lines) <= MOST_SIGNATURES:
        wanted = "a list, an empty line, and lines with signatures"
        raise ApprovalsError(f"expected {wanted}, got {printable(repr(decoded[-80:]))} at the end")
    first = body.count("\n") + 3
    try:
        signatures = [read_signature(line, number) for number, line in enumerate(lines, first)]
    except JournalError as error:
        raise ApprovalsError(str(error)) from None
    return f"{body}\n", signatures


def _listed(body: str) -> Iterator[RulebookApproval]:
    """The approvals in a text whose signature is valid."""
    head, *lines = body.removesuffix("\n").split("\n")
    if head != HEAD:
        raise ApprovalsError(f"expected {HEAD!r}, got {printable(repr(head))} (line 1)")
    if len(lines) > MOST_LINES:
        raise ApprovalsError(f"expected at most {MOST_LINES} lines, got {len(lines)}")
    for number, line in enumerate(lines, 2):
        if line.startswith("#"):
            continue
        approval = _approval(line)
        if approval is None:
            wanted = "'id, sha256:…, first day, last day or -' with days such as 2026-11-16"
            raise ApprovalsError(f"expected {wanted}, got {printable(repr(line))} (line {number})")
        yield approval


def _approval(line: str) -> RulebookApproval | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    try:
        since = date.fromisoformat(match["since"])
        until = None if match["until"] == "-" else date.fromisoformat(match["until"])
    except ValueError:  # the 31st of February
        return None
    if until is not None and until < since:
        return None
    return RulebookApproval(match["id"], match["digest"], since, until)
