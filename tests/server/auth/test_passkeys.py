"""Passkeys: who has the device and unlocks it comes in, once for each challenge, and nobody else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from fido2.server import Fido2Server
from msgspec.structs import asdict, replace
from structlog.testing import capture_logs

from taisai.cage.messages import PersonLocked, SignInFailed
from taisai.protocol.bodies import ApproveBody, EndSessionsBody, PasskeyBody, ProofBody, RequestBody
from taisai.protocol.views import Words
from taisai.server.auth import credentials as vault
from taisai.server.auth import passkeys, verification
from taisai.server.auth.approvals import Approval, ApprovalState, Approved, RequestToApprove, digest_of
from taisai.server.auth.attempts import FIRST_DELAY
from taisai.server.auth.authentication import PROVED_FOR, PasskeyProof
from taisai.server.auth.enrolment import BAD_PASSKEY, NewSetup
from taisai.server.auth.passkeys import (
    CHALLENGE_LASTS,
    MOST_CHALLENGES,
    MOST_PASSKEYS,
    Challenges,
    Passkey,
    PasskeyOrigin,
    is_accepted,
    passkey_origin,
)
from taisai.server.auth.permissions import SECOND_PERSONS
from taisai.server.auth.sessions import NewSession, Session
from taisai.server.auth.sign_in_refusals import LOCKED, WRONG_SIGNATURE, SignInRefused, too_often
from taisai.server.auth.verification import VerifiedPerson
from tests.server.auth.staffed_house import DAN, DESK, MAX, NOON, PASSWORDS, SUE, Staffed, counted, running
from tests.server.enrolling import issued
from tests.server.passkey_device import PRESENT, PasskeyDevice, RsaPasskeyDevice, plain, text

AT = PasskeyOrigin("casino.example", "https://casino.example")
NEW = "a quite other sentence 9"


def device(number: int = 1, at: PasskeyOrigin = AT) -> PasskeyDevice:
    return PasskeyDevice(at.origin, at.host, number=number)


def setup_of(staffed: Staffed, person: str = DAN) -> NewSetup:
    """The person is about to change their credentials."""
    session = staffed.door.sessions.opened(person, "dealer", staffed.now)
    assert session is not None
    begun = running(
        staffed.door.begin_setup_again(
            session.session, PASSWORDS[person], staffed.code(person), at=AT, address=DESK, now=staffed.now
        )
    )
    assert isinstance(begun, NewSetup), begun
    return begun


def adds(staffed: Staffed, made: PasskeyDevice, person: str = DAN) -> Any:
    """The person adds a passkey to what they have."""
    setup = setup_of(staffed, person)
    assert setup.passkey is not None
    finishing = staffed.door.finish_setup(setup.token, passkey=made.registers(setup.passkey), now=staffed.now)
    return running(finishing)


def comes(
    staffed: Staffed, own: PasskeyDevice, person: str = DAN, *, challenge: str | None = None, at: Any = AT
) -> NewSession | SignInRefused:
    """Someone signs in with a device."""
    challenge = challenge or staffed.door.challenges.new(staffed.now)
    return running(
        staffed.door.sign_in_by_passkey(
            person, own.signs(challenge), challenge, at=at, address=DESK, now=staffed.now
        )
    )


def with_passkey() -> tuple[Staffed, PasskeyDevice]:
    staffed, own = Staffed(), device()
    assert adds(staffed, own) == DAN
    return staffed, own


def test_a_person_adds_a_passkey_and_signs_in_with_it() -> None:
    staffed, own = with_passkey()
    came = comes(staffed, own, DAN.upper())
    assert isinstance(came, NewSession)
    assert came.session.person == DAN
    assert isinstance(staffed.tries(DAN), NewSession), "password and code stay"


def test_a_sign_in_is_in_the_log_with_its_factors_and_so_is_a_failed_one() -> None:
    staffed, own = with_passkey()
    with capture_logs() as logs:
        assert isinstance(comes(staffed, own), NewSession)
        assert isinstance(staffed.tries(DAN), NewSession)
        assert isinstance(staffed.tries(DAN, "another one, wrong"), SignInRefused)
    told = [
        (line["event"], line["person"], line.get("by"), line.get("why"), line["address"]) for line in logs
    ]
    assert told == [
        ("signed in", DAN, "passkey", None, DESK),
        ("signed in", DAN, "password and code", None, DESK),
        ("sign-in failed", DAN, None, "password", DESK),
    ]


def test_a_first_sign_in_may_have_a_passkey_instead_of_an_authenticator() -> None:
    staffed, own = Staffed(), device()
    code = running(issued(staffed.door, DAN, by=MAX, second=SUE, now=staffed.now))
    setup = running(staffed.door.begin_setup(DAN, code, at=AT, address=DESK, now=staffed.now))
    assert isinstance(setup, NewSetup)
    assert setup.passkey is not None
    finishing = staffed.door.finish_setup(
        setup.token, password=NEW, passkey=own.registers(setup.passkey), now=staffed.now
    )
    assert running(finishing) == DAN
    came = comes(staffed, own)
    assert isinstance(came, NewSession)
    for typed in ("000000", ""):
        assert isinstance(staffed.tries(DAN, NEW, typed), SignInRefused), "no code is right without a secret"
    challenge = staffed.door.challenges.new(staffed.now)
    again = running(
        staffed.door.begin_setup_by_passkey(
            came.session, own.signs(challenge), challenge, at=AT, address=DESK, now=staffed.now
        )
    )
    assert isinstance(again, NewSetup)


def test_a_passkey_is_the_proof_of_a_person_for_an_approval() -> None:
    staffed, own = with_passkey()
    challenge = staffed.door.challenges.new(staffed.now)
    proving = staffed.door.verify_passkey(
        DAN, own.signs(challenge), challenge, at=AT, address=DESK, now=staffed.now
    )
    assert running(proving) == VerifiedPerson(DAN, "dealer")


def test_a_passkey_approves_where_the_last_proof_is_old() -> None:
    staffed, own = Staffed(), device()
    assert adds(staffed, own, MAX) == MAX
    assert adds(staffed, device(2), SUE) == SUE
    asker, second = staffed.signs_in(SUE), comes(staffed, own, MAX)
    assert isinstance(second, NewSession)
    staffed.now += PROVED_FOR
    request = RequestToApprove(digest_of(b"{}"), SECOND_PERSONS, Words("Nothing", "无"))
    asked = staffed.door.approvals.asked(request, asker=asker.session, now=staffed.now)
    assert isinstance(asked, Approval)

    def approves(by: PasskeyDevice, challenge: str) -> object:
        proof = PasskeyProof(by.signs(challenge), challenge, AT)
        return running(
            staffed.door.approve(
                asked.id, session=second.session, passkey=proof, address=DESK, now=staffed.now
            )
        )

    first = staffed.door.challenges.new(staffed.now)
    assert approves(device(2), first) == WRONG_SIGNATURE, "the passkey of another person"
    assert approves(own, first) == WRONG_SIGNATURE, "a challenge is good once"
    assert isinstance(approves(own, staffed.door.challenges.new(staffed.now)), Approved)
    proved = staffed.door.sessions.get(second.session.id)
    assert proved is not None
    assert proved.proved == staffed.now


class AtTheFirstOnesPage:
    """Sue asks; Max and Dan, who have passkeys, come to her page. Dan has no supervising rank."""

    def __init__(self) -> None:
        self.staffed = Staffed()
        for number, person in enumerate((MAX, SUE, DAN), 1):
            assert adds(self.staffed, device(number), person) == person
        self.asker = self.staffed.signs_in(SUE).session
        self.asked = self.ask("{}")

    def ask(self, text: str) -> Approval:
        request = RequestToApprove(digest_of(text.encode()), SECOND_PERSONS, Words("Nothing", "无"))
        asked = self.staffed.door.approvals.asked(request, asker=self.asker, now=self.staffed.now)
        assert isinstance(asked, Approval)
        return asked

    def challenge(self, purpose: str | None = None) -> str:
        purpose = self.asked.id if purpose is None else purpose
        return self.staffed.door.challenges.new(self.staffed.now, purpose)

    def approves(
        self, own: PasskeyDevice, person: str = MAX, challenge: str | None = None, *,
        asker: Session | None = None, id_: str | None = None,
    ) -> Any:  # fmt: skip
        challenge = challenge or self.challenge()
        return running(
            self.staffed.door.approve_here(
                id_ or self.asked.id, asker=asker or self.asker, person=person,
                passkey=PasskeyProof(own.signs(challenge), challenge, AT), address=DESK, now=self.staffed.now,
            )
        )  # fmt: skip


def test_a_second_person_approves_at_the_first_ones_page_with_their_own_passkey() -> None:
    page = AtTheFirstOnesPage()
    sessions = len(page.staffed.door.sessions)
    approved = page.approves(device(1))
    assert (approved.state, approved.by) == (ApprovalState.APPROVED, MAX)
    assert len(page.staffed.door.sessions) == sessions, "it opens no session"
    used = partial(page.staffed.door.approvals.used, page.asked.id, asker=page.asker.id, now=page.staffed.now)
    assert used(digest_of(b"{}")) == MAX
    assert used(digest_of(b"{}")) is None


def refused_at_the_first_ones_page() -> list[str]:
    """What the first person must not come by with a passkey at their own page."""
    page = AtTheFirstOnesPage()
    door, other = page.staffed.door, page.ask("another request")
    stranger = page.staffed.signs_in(MAX).session
    unlocked = device(1)
    unlocked.flags = PRESENT
    used = page.challenge()
    page.approves(device(2), SUE, used)
    tries: dict[str, Callable[[], object]] = {
        "the asker's own passkey": lambda: page.approves(device(2), SUE),
        "the asker's own passkey under another name": lambda: page.approves(device(2), MAX),
        "a passkey of too low a rank": lambda: page.approves(device(3), DAN),
        "a challenge of a sign-in": lambda: page.approves(device(1), challenge=page.challenge("")),
        "a challenge of another request": lambda: page.approves(
            device(1), challenge=page.challenge(other.id)
        ),
        "a challenge used before": lambda: page.approves(device(1), challenge=used),
        "a challenge that the page made up": lambda: page.approves(device(1), challenge="AAAA"),
        "a device that was not unlocked": lambda: page.approves(unlocked),
        "a request of another session": lambda: page.approves(device(1), asker=stranger),
        "a request that is none": lambda: page.approves(device(1), id_="none"),
        "a session of the second person": lambda: comes(
            page.staffed, device(1), MAX, challenge=page.challenge()
        ),
    }  # fmt: skip
    found = []
    for what, attack in tries.items():
        if not isinstance(attack(), SignInRefused):
            found.append(what)
        for number, person in enumerate((MAX, SUE, DAN), 1):  # who comes in ends the delays after failures
            comes(page.staffed, device(number), person)
        page.staffed.now += 60_000
        if door.approvals.of_session(page.asked.id, asker=page.asker.id) is None:
            page.asked = page.ask("{}")
    late = page.challenge()
    page.staffed.now += CHALLENGE_LASTS
    if not isinstance(page.approves(device(1), challenge=late), SignInRefused):
        found.append("a late answer")
    return found


def test_nobody_approves_for_another_at_their_own_page() -> None:
    assert refused_at_the_first_ones_page() == []


def test_a_locked_person_approves_nowhere() -> None:
    page = AtTheFirstOnesPage()
    page.staffed.fails(MAX, 3)
    assert page.approves(device(1)) == LOCKED


def test_sabotage_a_challenge_that_is_good_for_everything_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    new, used = Challenges.new, Challenges.used
    monkeypatch.setattr(Challenges, "new", lambda self, now, _purpose="": new(self, now))
    monkeypatch.setattr(Challenges, "used", lambda self, text, now, _purpose="": used(self, text, now))
    assert "a session of the second person" in refused_at_the_first_ones_page()


def refused_signatures() -> list[str]:
    """What a passkey must not do."""
    staffed, own = with_passkey()
    assert adds(staffed, device(2), SUE) == SUE
    used, late = staffed.door.challenges.new(staffed.now), staffed.door.challenges.new(staffed.now)
    comes(staffed, own, challenge=used)
    unlocked = device()
    unlocked.flags = PRESENT
    elsewhere = PasskeyOrigin("evil.example", "https://evil.example")
    tries: dict[str, Callable[[], object]] = {
        "a challenge used before": lambda: comes(staffed, own, challenge=used),
        "a challenge nobody gave": lambda: comes(staffed, own, challenge="AAAA"),
        "another person's passkey": lambda: comes(staffed, device(2)),
        "a passkey under another name": lambda: comes(staffed, own, SUE),
        "an unknown passkey": lambda: comes(staffed, device(3)),
        "a name nobody has": lambda: comes(staffed, own, "Eve Koh"),
        "a device that was not unlocked": lambda: comes(staffed, unlocked),
        "a page of another site": lambda: comes(staffed, device(1, elsewhere)),
        "another port of the host": lambda: comes(
            staffed, device(1, AT._replace(origin="https://casino.example:1"))
        ),
        "a passkey for another host": lambda: comes(staffed, device(1, elsewhere), at=elsewhere),
    }
    found = []
    for what, attack in tries.items():
        if not isinstance(attack(), SignInRefused):
            found.append(what)
        comes(staffed, own)  # a person who comes in ends the delays after failures
    staffed.now += CHALLENGE_LASTS
    if not isinstance(comes(staffed, own, challenge=late), SignInRefused):
        found.append("a late answer")
    return found


def test_nobody_else_comes_in() -> None:
    assert refused_signatures() == []


@pytest.mark.parametrize(
    "junk", [{}, {"id": 1}, {"response": None}, {"id": "AA", "rawId": "AA", "response": {}}]
)
def test_junk_is_refused_and_slowed_down_and_locks_nobody(junk: dict[str, Any]) -> None:
    staffed, own = with_passkey()
    for _ in range(5):
        challenge = staffed.door.challenges.new(staffed.now)
        proving = staffed.door.sign_in_by_passkey(DAN, junk, challenge, at=AT, address=DESK, now=staffed.now)
        assert running(proving) == WRONG_SIGNATURE
    assert comes(staffed, own) == too_often(FIRST_DELAY)
    staffed.now += FIRST_DELAY
    assert isinstance(comes(staffed, own), NewSession)
    assert staffed.told(PersonLocked) == []
    assert {event.why for event in staffed.told(SignInFailed)} == {"passkey"}
    setup = setup_of(staffed)
    assert running(staffed.door.finish_setup(setup.token, passkey=junk, now=staffed.now)) == BAD_PASSKEY


def test_someone_who_is_locked_stays_out() -> None:
    staffed, own = with_passkey()
    staffed.fails(DAN, 3)
    assert comes(staffed, own) == LOCKED


def test_a_passkey_that_was_put_into_the_file_counts_for_nothing() -> None:
    staffed, own = with_passkey()
    mine = vault.stored(staffed.store, DAN)
    other = Staffed()
    assert adds(other, device(7)) == DAN
    eves = vault.stored(other.store, DAN)
    assert mine is not None
    assert eves is not None
    vault.keep(staffed.store, DAN, replace(mine, passkeys=(*mine.passkeys, *eves.passkeys)))
    assert isinstance(comes(staffed, device(7)), SignInRefused)
    assert isinstance(comes(staffed, own), SignInRefused)
    assert vault.altered(staffed.queue.engine) == [DAN]


def test_a_passkey_is_made_for_this_challenge_and_there_are_not_too_many() -> None:
    staffed = Staffed()
    setup, other = setup_of(staffed), setup_of(staffed)
    assert other.passkey is not None
    wrong = device().registers(other.passkey)
    assert running(staffed.door.finish_setup(setup.token, passkey=wrong, now=staffed.now)) == BAD_PASSKEY
    for number in range(MOST_PASSKEYS):
        assert adds(staffed, device(number)) == DAN
    assert adds(staffed, device(MOST_PASSKEYS)) == BAD_PASSKEY
    excluded = setup_of(staffed).passkey
    assert excluded is not None
    assert plain(excluded["excludeCredentials"][0]["id"]) == device(0).id


def test_a_passkey_with_a_weak_key_is_not_taken_and_does_not_count_where_it_is_stored() -> None:
    staffed, weak, challenge = Staffed(), RsaPasskeyDevice(AT.origin, AT.host), b"c" * 32
    assert adds(staffed, weak) == BAD_PASSKEY
    stored = Passkey(AT.host, text(weak.attested()))
    assert not is_accepted([stored], AT, challenge, weak.signs(text(challenge)))
    strong = Passkey(AT.host, text(device(2).attested()))
    assert is_accepted([stored, strong], AT, challenge, device(2).signs(text(challenge)))


def test_strangers_who_ask_for_challenges_end_no_challenge_of_others() -> None:
    challenges = Challenges(counted())
    own = challenges.new(NOON)
    for _ in range(MOST_CHALLENGES + 1):
        challenges.new(NOON)
    assert challenges.used(own, NOON) == plain(own)
    assert challenges.used(own, NOON) is None


def test_a_challenge_ends_and_nobody_makes_one() -> None:
    challenges = Challenges(counted())
    own = challenges.new(NOON)
    assert challenges.used(own, NOON + CHALLENGE_LASTS) is None
    raw = bytearray(plain(own))
    for place in range(len(raw)):
        raw[place] ^= 1
        assert challenges.used(passkeys._text(bytes(raw)), NOON) is None, place
        raw[place] ^= 1
    elsewhere = Challenges(lambda size: b"1" * size).new(NOON)
    for junk in ("", "A", "é", own + "=", own[:-1], own + "AAAA", elsewhere):
        assert challenges.used(junk, NOON) is None, junk
    assert challenges.used(own, NOON) == plain(own)


def test_a_page_may_send_back_the_challenge_that_it_was_given() -> None:
    own = Challenges(counted()).new(NOON, purpose="any approval")
    sent = {"person": "Sue Lim", "challenge": own, "assertion": {}}
    assert msgspec.convert(sent, PasskeyBody).challenge == own
    for body in (ProofBody, ApproveBody, EndSessionsBody):
        taken: RequestBody = msgspec.convert({"challenge": own, "assertion": {}}, body)
        assert asdict(taken)["challenge"] == own
    with pytest.raises(msgspec.ValidationError, match="length"):
        msgspec.convert(sent | {"challenge": own + "A"}, PasskeyBody)


def test_only_so_many_used_challenges_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "MOST_CHALLENGES", 2)
    challenges = Challenges(counted())
    for number in range(5):
        assert challenges.used(challenges.new(NOON), NOON)
        assert len(challenges._used) == min(number + 1, 2)
    assert challenges.used(challenges.new(NOON + CHALLENGE_LASTS), NOON + CHALLENGE_LASTS)
    assert len(challenges._used) == 1


@pytest.mark.parametrize(
    ("origin", "host", "expected"),
    [
        ("https://casino.example", "casino.example", "casino.example"),
        ("https://casino.example:8443", "casino.example:8443", "casino.example"),
        ("http://localhost:8080", "localhost:8080", "localhost"),
        ("http://casino.example", "casino.example", None),
        ("https://192.0.2.1", "192.0.2.1", None),
        ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443", None),
        ("https://casino.example", "evil.example", None),
    ],
)
def test_where_browsers_allow_passkeys(origin: str, host: str, expected: str | None) -> None:
    found = passkey_origin({origin}, host)
    assert (found and found.host) == expected


# Sabotage


def _any_signature(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(verification, "is_accepted", lambda *_: True)


def _challenges_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Challenges, "used", lambda _self, challenge, *_: plain(challenge))


def _any_origin(patch: pytest.MonkeyPatch) -> None:
    made = Fido2Server
    patch.setattr(passkeys, "Fido2Server", lambda party, **_: made(party, verify_origin=lambda _origin: True))


def _locked_device(patch: pytest.MonkeyPatch) -> None:
    state = passkeys._state
    patch.setattr(passkeys, "_state", lambda challenge: state(challenge) | {"user_verification": None})


@pytest.mark.parametrize("breaks", [_any_signature, _challenges_for_ever, _any_origin, _locked_device])
def test_sabotage_is_seen(breaks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    assert refused_signatures() != []
