"""Approvals: for exactly one thing, in one session, once, for a while; and who may give one."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.protocol.views import ApprovalField, ApprovalsView, Words
from taisai.server.auth import approvals as module
from taisai.server.auth.approvals import (
    MOST_KEPT,
    MOST_OF_SESSION,
    MOST_SHOWN,
    MOST_WAITING,
    PENDING_FOR,
    SHOWN_FOR,
    USE_WITHIN,
    Approval,
    Approvals,
    ApprovalState,
    RequestToApprove,
    digest_of,
)
from taisai.server.auth.permissions import SECOND_PERSONS, Role
from taisai.server.auth.sessions import Session
from tests.server.auth.staffed_house import NOON, counted

ASKER = Session("session-1", "Sue Lim", "pit-supervisor", NOON, NOON)
VOID = digest_of(b'{"command":"void-rounds","first":3,"last":5}')
OTHER = digest_of(b'{"command":"void-rounds","first":3,"last":6}')
MAX: dict[str, Any] = {"person": "Max Ong", "role": Role.SHIFT_MANAGER}
NOTHING_WAITS = "nothing waits for this approval: it was decided or withdrawn, or it has expired"


def asked(
    approvals: Approvals, digest: str = VOID, *, asker: Session = ASKER, now: int = NOON, **more: Any
) -> Approval:
    """A request that must be let wait."""
    request = RequestToApprove(digest, SECOND_PERSONS, Words("Void rounds", "作废"), **more)
    made = approvals.asked(request, asker=asker, now=now)
    assert isinstance(made, Approval), made
    return made


def granted(approvals: Approvals, digest: str = VOID, now: int = NOON) -> str:
    """The id of an approval that Max has given."""
    made = approvals.approved(asked(approvals, digest, now=now).id, now=now, **MAX)
    assert isinstance(made, Approval), made
    return made.id


def used(
    approvals: Approvals, id_: str, *, digest: str = VOID, asker: str = "session-1", now: int = NOON
) -> str | None:
    return approvals.used(id_, digest, asker=asker, now=now)


def seen(approvals: Approvals, person: str, role: Role, session: str = "another") -> ApprovalsView:
    return approvals.view(person, role, session=session, watching={})


# Used


def test_who_approved_is_known_from_the_id() -> None:
    approvals = Approvals(counted())
    assert used(approvals, granted(approvals), now=NOON + USE_WITHIN - 1) == "Max Ong"


def test_an_approval_is_used_once() -> None:
    approvals = Approvals(counted())
    id_ = granted(approvals)
    assert used(approvals, id_) == "Max Ong"
    assert used(approvals, id_) is None


@pytest.mark.parametrize(
    ("digest", "later"),
    [(OTHER, 0), (VOID, USE_WITHIN), ("\ud7ff", 0)],
    ids=["something else", "too late", "no digest"],
)
def test_for_anything_else_it_is_nobodys_and_spent(digest: str, later: int) -> None:
    approvals = Approvals(counted())
    id_ = granted(approvals)
    assert used(approvals, id_, digest=digest, now=NOON + later) is None
    assert used(approvals, id_) is None
    assert len(approvals) == 0


def test_another_session_can_neither_use_nor_spend_it() -> None:
    approvals = Approvals(counted())
    id_ = granted(approvals)
    assert used(approvals, id_, asker="session-2") is None
    assert approvals.cancelled(id_, asker="session-2") is False
    assert used(approvals, id_) == "Max Ong"


def test_what_waits_or_was_declined_is_no_approval() -> None:
    approvals = Approvals(counted())
    id_ = asked(approvals).id
    assert used(approvals, id_) is None
    assert isinstance(approvals.declined(id_, reason="no", now=NOON, **MAX), Approval)
    assert used(approvals, id_) is None
    assert approvals.approved(id_, now=NOON, **MAX) == NOTHING_WAITS


@pytest.mark.parametrize("id_", ["", "x", "session-1", VOID])
def test_what_is_no_id_approves_nothing(id_: str) -> None:
    approvals = Approvals(counted())
    granted(approvals)
    assert used(approvals, id_) is None
    assert approvals.approved(id_, now=NOON, **MAX) == NOTHING_WAITS
    assert len(approvals) == 1


# Decided


@pytest.mark.parametrize("person", ["Sue Lim", "sue lim", "SUE LIM", "Ｓue Lim"])
def test_nobody_approves_or_declines_their_own_request(person: str) -> None:
    approvals = Approvals(counted())
    id_ = asked(approvals).id
    says = "the second person must not be 'Sue Lim', who makes the request"
    assert approvals.approved(id_, person=person, role=Role.SHIFT_MANAGER, now=NOON) == says
    assert approvals.declined(id_, person=person, role=Role.SHIFT_MANAGER, reason="no", now=NOON) == says
    assert seen(approvals, person, Role.SHIFT_MANAGER).waiting == ()


@pytest.mark.parametrize("role", [role for role in Role if role not in SECOND_PERSONS])
def test_a_role_without_the_right_sees_nothing_and_decides_nothing(role: Role) -> None:
    approvals = Approvals(counted())
    id_ = asked(approvals).id
    assert seen(approvals, "Dan Teo", role) == ApprovalsView()
    for answer in (
        approvals.approved(id_, person="Dan Teo", role=role, now=NOON),
        approvals.declined(id_, person="Dan Teo", role=role, reason="no", now=NOON),
    ):
        assert isinstance(answer, str)
        assert answer.endswith(f"got {role}")
    assert [line.id for line in seen(approvals, "Max Ong", Role.SHIFT_MANAGER).waiting] == [id_]


def test_it_is_decided_once_and_in_time() -> None:
    approvals = Approvals(counted())
    id_ = asked(approvals).id
    assert approvals.approved(id_, now=NOON + PENDING_FOR, **MAX) == NOTHING_WAITS
    assert isinstance(approvals.approved(id_, now=NOON + PENDING_FOR - 1, **MAX), Approval)
    assert approvals.approved(id_, now=NOON, **MAX) == NOTHING_WAITS


# Ends


def test_it_goes_with_the_session_and_with_the_person() -> None:
    approvals = Approvals(counted())
    id_ = granted(approvals)
    approvals.withdrawn(session="session-2")
    approvals.withdrawn(person="Sue Lim")
    assert len(approvals) == 1
    approvals.withdrawn(person="Max Ong")
    assert used(approvals, id_) is None
    for _ in (granted(approvals), asked(approvals)):
        approvals.withdrawn(session="session-1")
        assert len(approvals) == 0


def test_what_nobody_decides_or_uses_expires_and_is_forgotten_after_a_minute() -> None:
    for make, lasts in ((lambda all_: asked(all_).id, PENDING_FOR), (granted, USE_WITHIN)):
        approvals = Approvals(counted())
        id_ = make(approvals)
        approvals.due(NOON + lasts - 1)
        assert seen(approvals, "Sue Lim", Role.PIT_SUPERVISOR, "session-1").own[0].state != "expired"
        approvals.due(NOON + lasts)
        own = seen(approvals, "Sue Lim", Role.PIT_SUPERVISOR, "session-1").own
        assert [(line.id, line.state) for line in own] == [(id_, ApprovalState.EXPIRED)]
        assert seen(approvals, "Max Ong", Role.SHIFT_MANAGER).waiting == ()
        approvals.due(NOON + lasts + SHOWN_FOR)
        assert len(approvals) == 0


# Limits


def test_one_more_than_a_session_may_let_wait_is_refused() -> None:
    assert MOST_OF_SESSION == 3
    approvals = Approvals(counted())
    for _ in range(MOST_OF_SESSION):
        asked(approvals)
    request = RequestToApprove(VOID, SECOND_PERSONS, Words("", ""))
    more = approvals.asked(request, asker=ASKER, now=NOON)
    assert more == "3 requests of this session wait already: withdraw one, or wait"
    asked(approvals, asker=Session("session-9", "Dan Teo", "dealer", NOON, NOON))
    asked(approvals, now=NOON + PENDING_FOR)


def test_one_more_than_may_wait_in_all_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_WAITING == 200
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    approvals = Approvals(counted())
    for number in range(2):
        asked(approvals, asker=Session(f"s{number}", f"Person {number}", "dealer", NOON, NOON))
    request = RequestToApprove(VOID, SECOND_PERSONS, Words("", ""))
    more = approvals.asked(request, asker=ASKER, now=NOON + 1)
    assert more == "too many requests wait for approval: the limit is 2; try again in a minute"
    asked(approvals, now=NOON + PENDING_FOR)


def test_what_waits_may_not_be_longer_than_may_be_sent() -> None:
    approvals = Approvals(counted())
    long = ApprovalField(label=Words("", ""), value=Words("x" * (MOST_SHOWN // 2), ""))
    asked(approvals, fields=(long,))
    request = RequestToApprove(VOID, SECOND_PERSONS, Words("", ""), fields=(long,))
    more = approvals.asked(request, asker=ASKER, now=NOON)
    assert more == f"what waits for approval is too long: the limit is {MOST_SHOWN} bytes in all; try later"


def test_those_that_are_declined_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_KEPT == 1_000
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    approvals = Approvals(counted())
    for _ in range(5):
        approvals.declined(asked(approvals).id, reason="no", now=NOON, **MAX)
    waiting = asked(approvals)
    assert len(approvals) == 3
    assert [line.id for line in seen(approvals, "Max Ong", Role.SHIFT_MANAGER).waiting] == [waiting.id]


# Seen


def test_the_asker_sees_what_became_of_it_and_who_can_see_it() -> None:
    approvals = Approvals(counted())
    changes: list[int] = []
    approvals.on_change(lambda: changes.append(len(approvals)))
    id_ = asked(approvals).id
    watching = {"Max Ong": Role.SHIFT_MANAGER, "Dan Teo": Role.DEALER, "Sue Lim": Role.PIT_SUPERVISOR}
    view = approvals.view("Sue Lim", Role.PIT_SUPERVISOR, session="session-1", watching=watching)
    assert view.waiting == ()
    (own,) = view.own
    assert (own.state, own.people) == ("waiting", ("Max Ong",))
    assert own.ranks == ("pit-supervisor", "pit-manager", "casino-supervisor", "shift-manager")
    approvals.declined(id_, reason="not now", now=NOON, **MAX)
    (own,) = seen(approvals, "Sue Lim", Role.PIT_SUPERVISOR, "session-1").own
    assert (own.state, own.by, own.reason) == ("declined", "Max Ong", "not now")
    assert seen(approvals, "Sue Lim", Role.PIT_SUPERVISOR, "session-2").own == ()
    assert changes == [1, 1]
