"""Attacks on sign-ins that somebody else prepared: by whoever gives codes, and by whoever has the file."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from taisai.cage.credentials import LONGEST_ACTIVATION, MOST_TRIES
from taisai.cage.messages import (
    ActivationIssued,
    CredentialsAdopted,
    CredentialsCommitted,
    PersonLocked,
    SetCredentials,
    SignInFailed,
)
from taisai.game.refusals import Refusal
from taisai.journal import Engine, Journal
from taisai.server.auth import credentials as vault
from taisai.server.auth import enrolment
from taisai.server.auth.attempts import FIRST_DELAY
from taisai.server.auth.credentials import Credentials, OtpSecret, base32, step_of
from taisai.server.auth.enrolment import ACTIVATION_AS_PASSWORD, EXPIRED_SETUP, SETUP_LASTS, NewSetup
from taisai.server.auth.sessions import NewSession
from taisai.server.auth.sign_in_refusals import (
    UNRECORDED,
    WRONG_CODE,
    WRONG_CREDENTIALS,
    SignInRefused,
    too_often,
)
from taisai.server.auth.verification import Verifier
from tests.server.auth.staffed_house import CAT, DAN, DESK, MAX, NOON, PAM, PASSWORDS, SUE, Staffed, running
from tests.server.enrolling import code_at, issued, secret_of

NEW = "a quite other sentence 9"
OF_EVE = "eve was here all along"


def code_for(staffed: Staffed, person: str = DAN) -> str:
    """A code that two people gave out."""
    return running(issued(staffed.door, person, by=MAX, second=SUE, now=staffed.now))


def begins(staffed: Staffed, code: str, person: str = DAN) -> NewSetup | SignInRefused:
    """Someone types a code."""
    return running(staffed.door.begin_setup(person, code, address=DESK, now=staffed.now))


def finishes(staffed: Staffed, setup: NewSetup, password: str = NEW) -> str | Refusal | SignInRefused:
    """They set a password and confirm their authenticator."""
    shown = code_at(secret_of(setup.uri), step_of(staffed.now))
    finishing = staffed.door.finish_setup(setup.token, password=password, code=shown, now=staffed.now)
    return running(finishing)


def why(staffed: Staffed) -> list[str]:
    """Why sign-ins failed, as the journal has it."""
    return [event.why for event in staffed.told(SignInFailed)]


# Activation codes


def test_a_person_sets_what_nobody_else_saw() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    assert staffed.tries(DAN) == WRONG_CREDENTIALS, "the old ones ended when the code was given out"
    for typed in (code.lower(), code.replace("-", "")):
        assert isinstance(begins(staffed, typed), NewSetup), typed
    setup = begins(staffed, f" {code} ")
    assert isinstance(setup, NewSetup)
    assert finishes(staffed, setup) == DAN
    staffed.now += 30_000
    staffed.secrets[DAN] = secret_of(setup.uri)
    assert isinstance(staffed.tries(DAN, NEW), NewSession)
    (event,) = staffed.told(CredentialsCommitted)[-1:]
    assert (event.by, event.person) == (DAN, DAN)


def test_a_code_is_good_once() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    mine, eves = begins(staffed, code), begins(staffed, code)
    assert isinstance(mine, NewSetup)
    assert isinstance(eves, NewSetup)
    assert finishes(staffed, mine) == DAN
    late = finishes(staffed, eves, OF_EVE)
    assert isinstance(late, Refusal), "whoever began with the same code comes too late"
    assert "is wrong, used, or was replaced" in late.message
    assert begins(staffed, code) == WRONG_CODE


def test_a_code_does_not_become_the_password() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    setup = begins(staffed, code)
    assert isinstance(setup, NewSetup)
    for password in (code, code.lower(), code.replace("-", "")):
        assert finishes(staffed, setup, password) == ACTIVATION_AS_PASSWORD
    assert finishes(staffed, setup) == DAN


def test_a_code_that_was_replaced_is_none() -> None:
    staffed = Staffed()
    old, new = code_for(staffed), code_for(staffed)
    assert begins(staffed, old) == WRONG_CODE
    assert isinstance(begins(staffed, new), NewSetup)


@pytest.mark.parametrize("late", [LONGEST_ACTIVATION, LONGEST_ACTIVATION + 1])
def test_a_code_ends(late: int) -> None:
    staffed = Staffed()
    code = code_for(staffed)
    staffed.now += LONGEST_ACTIVATION - 1
    setup = begins(staffed, code)
    assert isinstance(setup, NewSetup)
    staffed.now += late - LONGEST_ACTIVATION + 1
    assert begins(staffed, code) == WRONG_CODE
    refused = finishes(staffed, setup)
    assert isinstance(refused, Refusal)
    assert "ended at" in refused.message


def test_a_code_that_was_given_under_a_clock_that_was_ahead_is_none() -> None:
    """It would have been good for as long as the clock was ahead."""
    staffed = Staffed()
    right = staffed.now
    staffed.now += 365 * LONGEST_ACTIVATION
    code = code_for(staffed)
    setup = begins(staffed, code)
    assert isinstance(setup, NewSetup)
    staffed.now = right
    elsewhere = running(staffed.door.begin_setup(DAN, code, address="192.0.2.9", now=right))
    assert elsewhere == WRONG_CODE
    assert isinstance(finishes(staffed, setup), Refusal)


def test_a_code_cannot_be_guessed() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    for number in range(MOST_TRIES):
        assert begins(staffed, f"{code[:4]}-0000-000{number}") == WRONG_CODE
    assert begins(staffed, code) == too_often(FIRST_DELAY), "guesses are slowed down, as at the sign-in"
    staffed.now += FIRST_DELAY
    assert begins(staffed, code) == WRONG_CODE, "the right one comes too late"
    assert staffed.told(PersonLocked) == [], "and nobody is locked by a stranger's guesses"
    assert why(staffed) == ["activation"] * MOST_TRIES + ["guess"]


def test_one_try_less_leaves_the_code_good() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    for _ in range(MOST_TRIES - 1):
        assert begins(staffed, f"{code[:4]}-0000-0000") == WRONG_CODE
    assert isinstance(begins(staffed, code), NewSetup)


def test_a_stranger_who_knows_a_name_does_not_end_the_code() -> None:
    """Else nobody is enrolled, and no access recovered, while somebody sends wrong codes now and then."""
    staffed = Staffed()
    code = code_for(staffed)
    for number in range(10 * MOST_TRIES):
        begun = staffed.door.begin_setup(
            DAN, f"{number:04}-{code[5:]}", address=f"198.51.100.{number // 4}", now=staffed.now
        )
        assert running(begun) == WRONG_CODE
    assert set(why(staffed)) == {"guess"}
    assert isinstance(begins(staffed, code), NewSetup)


def test_the_beginning_of_a_code_is_as_secret_as_the_rest() -> None:
    """It differs by person and time, and nobody finds it without the storage secret."""
    staffed = Staffed()
    codes = {code_for(staffed, person) for person in (DAN, CAT, PAM)}
    staffed.now += 1
    codes |= {code_for(staffed), code_for(Staffed())}
    assert len({code[:4] for code in codes}) == len(codes)


def test_nobody_learns_who_has_a_code() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    said = {begins(staffed, code, person) for person in (SUE, "Eve Koh", "", "x" * 300, "\ud800")}
    assert said == {WRONG_CODE}


def test_a_code_is_nowhere_but_on_its_slip() -> None:
    staffed = Staffed()
    code = code_for(staffed)
    stored = staffed.kept() + repr(vars(staffed.store)["_vault"]).encode()
    for form in (code, code.replace("-", "")):
        assert form.encode() not in stored
    assert staffed.told(ActivationIssued)[-1].code.encode() in stored


def test_a_setup_ends_with_its_ten_minutes() -> None:
    staffed = Staffed()
    setup = begins(staffed, code_for(staffed))
    assert isinstance(setup, NewSetup)
    staffed.now += SETUP_LASTS
    assert finishes(staffed, setup) == EXPIRED_SETUP
    assert finishes(staffed, setup._replace(token="no such token")) == EXPIRED_SETUP


def test_the_oldest_setup_is_dropped_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrolment, "MOST_SETUPS", 2)
    staffed = Staffed()
    code = code_for(staffed)
    setups = [begins(staffed, code) for _ in range(3)]
    assert isinstance(setups[0], NewSetup)
    assert isinstance(setups[1], NewSetup)
    assert finishes(staffed, setups[0]) == EXPIRED_SETUP
    assert finishes(staffed, setups[1]) == DAN


def test_a_change_that_somebody_began_with_stolen_credentials_ends_when_the_person_sets_new_ones() -> None:
    """Eve knew password and code for a moment, and waited until Dan had changed both."""
    staffed = Staffed()

    def begins_again() -> NewSetup:
        session = staffed.tries(DAN)
        assert isinstance(session, NewSession)
        code = staffed.code(DAN)
        beginning = staffed.door.begin_setup_again(
            session.session, PASSWORDS[DAN], code, address=DESK, now=staffed.now
        )
        setup = running(beginning)
        assert isinstance(setup, NewSetup), setup
        return setup

    eves, dans = begins_again(), begins_again()
    assert finishes(staffed, dans) == DAN
    assert finishes(staffed, eves, OF_EVE) == EXPIRED_SETUP
    staffed.secrets[DAN] = secret_of(dans.uri)
    staffed.now += 30_000
    assert isinstance(staffed.tries(DAN, NEW), NewSession)


# The file


def test_credentials_that_were_replaced_in_the_file_count_for_nothing() -> None:
    staffed = Staffed()
    forged = Credentials(staffed.passwords.hashed(OF_EVE), OtpSecret(staffed.secrets[DAN]).text)
    vault.keep(staffed.store, DAN, forged)
    assert staffed.tries(DAN, OF_EVE) == WRONG_CREDENTIALS
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert why(staffed)[:2] == ["altered", "altered"]
    assert vault.altered(staffed.queue.engine) == [DAN]


@pytest.mark.parametrize("field", ["hash", "totp"])
def test_each_part_of_them_is_committed_to(field: str) -> None:
    staffed = Staffed()
    of_sue, of_dan = vault.stored(staffed.store, SUE), vault.stored(staffed.store, DAN)
    assert of_sue is not None
    assert of_dan is not None
    vault.keep(staffed.store, DAN, replace(of_dan, **{field: getattr(of_sue, field)}))
    assert vault.kept(staffed.queue.engine, DAN) is None
    vault.keep(staffed.store, DAN, of_sue)  # nor are another person's
    assert vault.kept(staffed.queue.engine, DAN) is None
    vault.keep(staffed.store, DAN, replace(of_dan, last_step=7))
    assert vault.kept(staffed.queue.engine, DAN) == replace(of_dan, last_step=7)


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", b'{"hash": 1}'])
def test_credentials_that_cannot_be_read_are_none(body: bytes) -> None:
    staffed = Staffed()
    staffed.store.keep_secret(f"staff/{DAN}", body)
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert why(staffed) == ["altered"]


def test_older_credentials_put_back_into_the_file_count_for_nothing() -> None:
    staffed = Staffed()
    old, secret = vault.stored(staffed.store, DAN), staffed.secrets[DAN]
    staffed.reset(DAN, NEW)
    vault.keep(staffed.store, DAN, old)
    staffed.secrets[DAN] = secret
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert why(staffed) == ["altered"]


@pytest.mark.parametrize("is_after", [False, True])
def test_a_crash_between_journal_and_file_locks_nobody_out(*, is_after: bool) -> None:
    """Before the commitment the old credentials count, after it the new ones."""
    staffed = Staffed()
    of_dan = vault.stored(staffed.store, DAN)
    assert of_dan is not None
    new = replace(of_dan, hash=staffed.passwords.hashed(NEW))
    vault.keep(staffed.store, DAN, new, vault.NEXT)
    if is_after:
        running(staffed.door._verifier.commit(DAN, new, now=staffed.now))
        vault.keep(staffed.store, DAN, new, vault.NEXT)
        vault.keep(staffed.store, DAN, of_dan)
    staffed.door = staffed.new_door()
    running(staffed.door.begin(staffed.now))
    assert isinstance(staffed.tries(DAN, NEW if is_after else None), NewSession)


def test_a_full_disk_changes_nothing() -> None:
    staffed = Staffed()
    setup = begins(staffed, code_for(staffed))
    assert isinstance(setup, NewSetup)
    with staffed.full_disk():
        assert finishes(staffed, setup) == UNRECORDED
    assert finishes(staffed, setup) == DAN, "and it can be tried again"


# Journals of before


def of_before(staffed: Staffed) -> Staffed:
    """The same people in a journal without commitments."""
    store = type(staffed.store)()
    journal = Journal.opened(
        store,
        journal="before",
        key=staffed.key.public,
        at=NOON,
        by="olga",
        program="test",
        demonstration=True,
    )
    engine = Engine(journal)
    entries = [one.asked for one in staffed.queue.engine.journal.entries() if one.asked is not None]
    for command in (*entries[:6], *(SetCredentials(at=NOON, by=one, person=one) for one in PASSWORDS)):
        answer = engine.answer("house", command)
        assert not isinstance(answer, Refusal), answer
    for person in PASSWORDS:
        vault.keep(store, person, vault.stored(staffed.store, person))
    staffed.store, staffed.queue.engine = store, engine
    return staffed


def test_credentials_of_before_are_adopted_once_at_the_first_start() -> None:
    staffed = of_before(Staffed())
    staffed.store.keep_secret(f"staff/{SUE}", None)  # whose credentials were lost
    running(staffed.door.begin(staffed.now))
    (adopted,) = staffed.told(CredentialsAdopted)
    assert set(adopted.commitments) == PASSWORDS.keys() - {SUE}
    assert isinstance(staffed.tries(DAN), NewSession)
    house = staffed.queue.engine.house()
    assert (house.guarded, SUE in house.credentials) == (True, False)
    vault.keep(staffed.store, SUE, Credentials(staffed.passwords.hashed(OF_EVE), base32(bytes(20))))
    running(staffed.new_door().begin(staffed.now))
    assert len(staffed.told(CredentialsAdopted)) == 1
    assert staffed.tries(SUE, OF_EVE) == WRONG_CREDENTIALS


def test_a_house_without_credentials_has_none_to_adopt() -> None:
    staffed = of_before(Staffed())
    for person in PASSWORDS:
        staffed.store.keep_secret(f"staff/{person}", None)
    running(staffed.door.begin(staffed.now))
    assert staffed.told(CredentialsAdopted) == []


# Sabotage


def _code_not_counted(patch: pytest.MonkeyPatch) -> None:
    failed = Verifier._failed

    async def silent(self: Verifier, known: object, why: object, **more: object) -> SignInRefused:
        if why == "activation":
            return WRONG_CREDENTIALS
        return await failed(self, known, why, **more)  # type: ignore[arg-type]

    patch.setattr(Verifier, "_failed", silent)


def _committed_to_the_person_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        vault, "commitment",
        lambda journal, person, _credentials: vault.storage_secret(journal).mac("credential", person).hex(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("breaks", "check"),
    [
        (_code_not_counted, test_a_code_cannot_be_guessed),
        (
            _committed_to_the_person_alone,
            test_credentials_that_were_replaced_in_the_file_count_for_nothing,
        ),
        (_committed_to_the_person_alone, test_older_credentials_put_back_into_the_file_count_for_nothing),
    ],
)
def test_sabotage_is_seen(breaks: object, check: object, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)  # type: ignore[operator]
    with pytest.raises(AssertionError):
        check()  # type: ignore[operator]
