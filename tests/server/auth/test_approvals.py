"""Approvals: for exactly one thing, in one session, once, for a minute."""

from __future__ import annotations

import pytest

from taisai.server.auth import sessions as module
from taisai.server.auth.sessions import MOST_APPROVALS, VALID_FOR, Approvals, NewApproval, Session, digest_of
from tests.server.auth.staffed_house import NOON, counted

ASKER = Session("session-1", "Sue Lim", "pit-supervisor", NOON, NOON)
VOID = digest_of(b'{"command":"void-rounds","first":3,"last":5}')
OTHER = digest_of(b'{"command":"void-rounds","first":3,"last":6}')


def granted(
    approvals: Approvals, digest: str = VOID, approver: str = "Max Ong", now: int = NOON
) -> NewApproval:
    """An approval that must be granted."""
    made = approvals.granted(digest, asker=ASKER, approver=approver, now=now)
    assert isinstance(made, NewApproval), made
    return made


def test_who_agreed_is_known_from_the_token() -> None:
    approvals = Approvals(counted())
    token = granted(approvals).token
    assert approvals.used(token, VOID, asker="session-1", now=NOON + VALID_FOR - 1) == "Max Ong"


def test_an_approval_is_used_once() -> None:
    approvals = Approvals(counted())
    token = granted(approvals).token
    assert approvals.used(token, VOID, asker="session-1", now=NOON) == "Max Ong"
    assert approvals.used(token, VOID, asker="session-1", now=NOON) is None


@pytest.mark.parametrize(
    ("digest", "asker", "later"),
    [
        (OTHER, "session-1", 0),
        (VOID, "session-2", 0),
        (VOID, "session-1", VALID_FOR),
        ("\ud7ff", "session-1", 0),
    ],
    ids=["something else", "another session", "too late", "no digest"],
)
def test_for_anything_else_it_is_nobodys_and_spent(digest: str, asker: str, later: int) -> None:
    approvals = Approvals(counted())
    token = granted(approvals).token
    assert approvals.used(token, digest, asker=asker, now=NOON + later) is None
    assert approvals.used(token, VOID, asker="session-1", now=NOON) is None
    assert len(approvals) == 0


@pytest.mark.parametrize("token", ["", "x", "session-1", VOID])
def test_what_is_no_token_approves_nothing(token: str) -> None:
    approvals = Approvals(counted())
    granted(approvals)
    assert approvals.used(token, VOID, asker="session-1", now=NOON) is None
    assert len(approvals) == 1


@pytest.mark.parametrize("approver", ["Sue Lim", "sue lim", "SUE LIM", "Ｓue Lim"])
def test_nobody_agrees_with_themselves(approver: str) -> None:
    made = Approvals(counted()).granted(VOID, asker=ASKER, approver=approver, now=NOON)
    assert made == "the second person must not be 'Sue Lim', who makes the request"


def test_it_goes_with_the_session_and_with_the_person() -> None:
    approvals = Approvals(counted())
    token = granted(approvals).token
    approvals.withdrawn(session="session-2")
    approvals.withdrawn(person="Sue Lim")
    assert len(approvals) == 1
    approvals.withdrawn(person="Max Ong")
    assert approvals.used(token, VOID, asker="session-1", now=NOON) is None
    granted(approvals)
    approvals.withdrawn(session="session-1")
    assert len(approvals) == 0


def test_one_more_than_there_may_be_is_refused_until_old_ones_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert MOST_APPROVALS == 1_000
    monkeypatch.setattr(module, "MOST_APPROVALS", 2)
    approvals = Approvals(counted())
    granted(approvals)
    granted(approvals, now=NOON + 1)
    more = approvals.granted(VOID, asker=ASKER, approver="Max Ong", now=NOON + VALID_FOR - 1)
    assert more == "too many unused approvals: the limit is 2; try again in a minute"
    granted(approvals, now=NOON + VALID_FOR)
    assert len(approvals) == 2


def test_the_token_is_kept_and_shown_nowhere() -> None:
    approvals = Approvals(counted())
    made = granted(approvals)
    assert made.token not in repr(vars(approvals))
    assert made.token not in repr(made)
    assert len(made.token) == 43
