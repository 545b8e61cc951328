"""Strangers at the sign-in: they slow themselves down, they lock nobody, and the pit hears of them."""

from __future__ import annotations

import pytest

from taisai.cage.messages import PersonLocked, SignInFailed
from taisai.journal.stores.contract import MOST_SECRET
from taisai.server.auth.attempts import (
    FIRST_DELAY,
    FREE_FAILURES,
    FREE_OF_NETWORK,
    KNOWN_FOR,
    LONGEST_DELAY,
    MOST_OF_ONE,
    MOST_STORED,
    STORED_AGAIN,
    STORED_EVERY,
    GrowingDelays,
    KnownNetworks,
)
from taisai.server.auth.authentication import SIGN_INS
from taisai.server.auth.passkeys import PasskeyOrigin
from taisai.server.auth.sessions import NewSession
from taisai.server.auth.sign_in_refusals import (
    WRONG_CREDENTIALS,
    WRONG_SIGNATURE,
    SignInRefusalReason,
    SignInRefused,
)
from taisai.server.auth.verification import RECORDED
from tests.server.auth.staffed_house import CAT, DAN, DESK, MAX, NOON, PASSWORDS, SUE, Staffed, running

AWAY = "198.51.100.7"


def reason_of(came: NewSession | SignInRefused) -> SignInRefusalReason | None:
    """Why a try was refused; None if it was not."""
    return came.reason if isinstance(came, SignInRefused) else None


def test_a_stranger_locks_no_supervisor() -> None:
    """Nine requests in ten seconds, three for each."""
    staffed = Staffed()
    for person in (MAX, SUE, CAT):
        for guess in range(3):
            staffed.now += 1_000
            assert staffed.tries(person, f"guess {guess}", "123456", AWAY) == WRONG_CREDENTIALS
    assert staffed.told(PersonLocked) == []
    for person in (MAX, SUE, CAT):
        staffed.signs_in(person)


def test_a_stolen_password_alone_locks_after_three_codes() -> None:
    staffed = Staffed()
    for _ in range(3):
        assert staffed.tries(SUE, code=staffed.wrong_code(SUE), address=AWAY) == WRONG_CREDENTIALS
    assert [event.person for event in staffed.told(PersonLocked)] == [SUE]


def test_the_journal_says_which_failures_count() -> None:
    staffed = Staffed()
    staffed.tries(SUE, "a guess", "123456", AWAY)
    staffed.tries(SUE, code=staffed.wrong_code(SUE), address=AWAY)
    staffed.tries("Eve Koh", "a guess", "123456", AWAY)
    assert [event.counts for event in staffed.told(SignInFailed)] == [False, True, False]


def test_whoever_guesses_one_name_waits_longer_and_longer() -> None:
    staffed = Staffed()
    waits = []
    for _ in range(FREE_FAILURES + 4):
        came = staffed.tries(DAN, "a guess", "123456", AWAY)
        if isinstance(came, SignInRefused) and came.wait_ms:
            waits.append(came.wait_ms)
            staffed.now += came.wait_ms
            assert staffed.tries(DAN, "a guess", "123456", AWAY) == WRONG_CREDENTIALS
        else:
            assert came == WRONG_CREDENTIALS
    assert waits == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY, 8 * FIRST_DELAY]


def test_strangers_from_everywhere_fill_no_journal_and_hide_no_stolen_password() -> None:
    staffed = Staffed()
    for number in range(2 * RECORDED.burst):
        away = f"2001:db8:{number:x}::1"
        junk = staffed.door.sign_in_by_passkey(
            f"Eve {number}", {}, "", at=PasskeyOrigin("a.example", "https://a.example"), address=away,
            now=staffed.now,
        )  # fmt: skip
        assert running(junk) == WRONG_SIGNATURE
    assert len(staffed.told(SignInFailed)) == RECORDED.burst
    assert staffed.tries(DAN, "a guess", "123456", AWAY) == WRONG_CREDENTIALS
    assert len(staffed.told(SignInFailed)) == RECORDED.burst
    for _ in range(3):
        assert staffed.tries(SUE, code=staffed.wrong_code(SUE), address=AWAY) == WRONG_CREDENTIALS
    assert [event.person for event in staffed.told(PersonLocked)] == [SUE]


TERMINAL, OFFICE = "2001:db8::77", "2001:db8::5"
"""A terminal and a desk of one floor: with IPv6 they are one network."""


def test_a_terminal_in_the_network_of_a_desk_keeps_nobody_from_signing_in_there() -> None:
    staffed = Staffed(rule=SIGN_INS)
    assert isinstance(staffed.tries(DAN, address=OFFICE), NewSession)
    code = staffed.code(DAN)
    guesses = [staffed.tries(DAN, "a guess", "123456", TERMINAL) for _ in range(FREE_FAILURES + 1)]
    guesses += [staffed.tries("Eve Koh", "a guess", "123456", TERMINAL) for _ in range(SIGN_INS.burst)]
    assert reason_of(guesses[FREE_FAILURES]) is SignInRefusalReason.TOO_OFTEN, "the name waits there"
    assert reason_of(guesses[-1]) is SignInRefusalReason.TOO_OFTEN, "and everybody else"
    assert reason_of(staffed.tries(DAN, code=code, address=TERMINAL)) is SignInRefusalReason.TOO_OFTEN
    assert isinstance(staffed.tries(DAN, code=code, address=OFFICE), NewSession)
    staffed.now += KNOWN_FOR
    staffed.tries(DAN, "a guess", "123456", TERMINAL)
    assert staffed.door.known.counted_as(OFFICE, staffed.now) == "2001:db8::/64", "a desk nobody uses is none"


def test_one_key_makes_few_networks_known_and_pushes_out_no_other() -> None:
    known = KnownNetworks(most=100)
    known.add_desk(DESK, NOON, by=SUE)
    known.add("10.0.0.1", NOON, by="T1")
    for number in range(1_000):
        known.add(f"10.1.{number // 250}.{number % 250}", NOON, by="stolen")
    assert len(known) == 2 + MOST_OF_ONE
    assert known.has(DESK, NOON)
    assert known.has("10.0.0.1", NOON)
    for number in range(MOST_OF_ONE):
        known.add("10.0.0.1", NOON, by="T2")
        known.add(f"10.2.0.{number}", NOON, by="T1")
    assert known.has("10.0.0.1", NOON), "another terminal is there too"


def test_whoever_guesses_many_names_from_one_network_waits_too_and_the_known_do_not() -> None:
    staffed = Staffed()
    for number in range(FREE_OF_NETWORK):
        assert staffed.tries(f"Eve {number}", "a guess", "123456", AWAY) == WRONG_CREDENTIALS
    one_more = staffed.tries("Eve 99", "a guess", "123456", AWAY)
    assert isinstance(one_more, SignInRefused)
    assert (one_more.reason, one_more.wait_ms) == (SignInRefusalReason.TOO_OFTEN, FIRST_DELAY)
    assert reason_of(staffed.tries(DAN, address=AWAY)) is SignInRefusalReason.TOO_OFTEN
    staffed.door.known.add(AWAY, staffed.now)
    assert isinstance(staffed.tries(DAN, address=AWAY), NewSession)


def test_the_owner_of_the_name_does_not_wait_elsewhere_and_others_do_not_wait_there() -> None:
    staffed = Staffed()
    for _ in range(FREE_FAILURES):
        staffed.tries(DAN, "a guess", "123456", AWAY)
    assert reason_of(staffed.tries(DAN, address=AWAY)) is SignInRefusalReason.TOO_OFTEN
    assert isinstance(staffed.tries(SUE, address=AWAY), NewSession)
    staffed.signs_in(DAN)


@pytest.mark.parametrize("what", ["name", "password", "code", "both"])
def test_no_reply_shows_what_was_wrong_however_often_it_is_tried(what: str) -> None:
    """The replies of ten tries in a row, with their waits, are the same whatever is wrong."""

    def replies(what: str) -> list[tuple[SignInRefusalReason | None, str, int]]:
        staffed = Staffed()
        heard: list[tuple[SignInRefusalReason | None, str, int]] = []
        for _ in range(10):
            came = staffed.tries(
                "Eve Koh" if what == "name" else DAN,
                PASSWORDS[DAN] if what == "code" else "a guess",
                staffed.code(DAN) if what == "password" else staffed.wrong_code(DAN),
                AWAY,
            )
            assert isinstance(came, SignInRefused)
            heard.append((came.reason, came.message, came.wait_ms))
            staffed.now = NOON + 60_000 * len(heard)
        return heard

    assert replies(what) == replies("both")


def test_a_right_try_ends_the_waiting() -> None:
    staffed = Staffed()
    for _ in range(FREE_FAILURES - 1):
        staffed.tries(DAN, "a guess", "123456")
    staffed.signs_in(DAN)
    for _ in range(FREE_FAILURES):
        assert staffed.tries(DAN, "a guess", "123456") == WRONG_CREDENTIALS


# The delays themselves


def test_a_delay_doubles_up_to_the_longest() -> None:
    delays = GrowingDelays()
    for _ in range(FREE_FAILURES - 1):
        delays.failed("a", 0)
    assert delays.wait("a", 0) == 0
    waits = []
    for _ in range(12):
        delays.failed("a", 0)
        waits.append(delays.wait("a", 0))
    assert waits == [min(FIRST_DELAY << n, LONGEST_DELAY) for n in range(12)]
    assert waits[-1] == LONGEST_DELAY
    assert delays.wait("a", LONGEST_DELAY - 1) == 1
    assert delays.wait("a", LONGEST_DELAY) == 0
    assert delays.wait("b", 0) == 0


def test_a_clock_that_was_set_back_lengthens_no_delay() -> None:
    delays = GrowingDelays()
    for _ in range(FREE_FAILURES):
        delays.failed("a", 10_000_000)
    assert delays.wait("a", 0) == FIRST_DELAY


def test_after_a_long_pause_the_count_begins_again() -> None:
    delays = GrowingDelays()
    for _ in range(FREE_FAILURES + 9):
        delays.failed("a", 0)
    delays.failed("a", 2 * LONGEST_DELAY)
    assert delays.wait("a", 2 * LONGEST_DELAY) == 0


def test_the_key_that_failed_longest_ago_is_forgotten_first() -> None:
    delays = GrowingDelays(most=2)
    for key in "ab":
        for _ in range(FREE_FAILURES):
            delays.failed(key, 0)
    delays.failed("a", 0)
    delays.failed("c", 0)
    assert len(delays) == 2
    assert delays.wait("a", 0) == 2 * FIRST_DELAY
    assert delays.wait("b", 0) == 0


# Known networks


def test_a_network_is_known_for_a_week() -> None:
    known = KnownNetworks()
    assert not known.has(DESK, NOON)
    known.add(DESK, NOON)
    assert known.has(DESK, NOON + KNOWN_FOR - 1)
    assert not known.has(DESK, NOON + KNOWN_FOR)


def test_so_many_networks_are_known_and_no_more() -> None:
    known = KnownNetworks(most=2)
    for network in "abac":
        known.add(network, NOON)
    assert len(known) == 2
    assert [known.has(network, NOON) for network in "abc"] == [True, False, True]


def test_only_a_sign_in_that_succeeds_makes_a_network_known() -> None:
    staffed = Staffed()
    staffed.tries(DAN, "a guess", address=AWAY)
    assert not staffed.door.known.has(AWAY, staffed.now)
    staffed.tries(DAN, address=AWAY)
    assert staffed.door.known.has(AWAY, staffed.now)


def looks(staffed: Staffed, later: int = 0) -> None:
    """The server looks after what it stores."""
    staffed.now += later
    staffed.door.keep_networks(staffed.door.known.to_store(staffed.now), staffed.queue.engine)


def known_after(staffed: Staffed, address: str) -> bool:
    """Whether the next start knows a network."""
    door = staffed.new_door()
    running(door.begin(staffed.now))
    return door.known.has(address, staffed.now)


def test_a_start_knows_the_networks_of_before() -> None:
    """The attack: a restart, by a power cut for example, made everybody a stranger among the strangers."""
    staffed = Staffed()
    staffed.tries(DAN, address=AWAY)
    assert not known_after(staffed, AWAY)
    looks(staffed)
    assert known_after(staffed, AWAY)
    assert not known_after(staffed, DESK)
    staffed.tries(SUE, address=DESK)
    looks(staffed, STORED_EVERY - 1)
    assert not known_after(staffed, DESK), "so soon nothing is written again"
    looks(staffed, 1)
    assert known_after(staffed, DESK)
    staffed.now += KNOWN_FOR
    assert not known_after(staffed, DESK)


def test_networks_are_stored_later_where_the_disk_is_full() -> None:
    staffed = Staffed()
    staffed.tries(DAN, address=AWAY)
    with staffed.full_disk():
        looks(staffed)
    looks(staffed, STORED_EVERY)
    assert known_after(staffed, AWAY)


def test_what_is_stored_of_networks_is_bounded_and_changes_rarely() -> None:
    known = KnownNetworks()
    for number in range(MOST_STORED + 5):
        known.add(f"10.{number // 256}.{number % 256}.1/longest/2001:db8:1111:2222::/64"[:30], NOON)
    stored = known.to_store(NOON)
    assert stored is not None
    assert len(stored) <= MOST_SECRET
    again = KnownNetworks()
    again.restore(stored, NOON)
    assert len(again) == MOST_STORED
    assert known.to_store(NOON + STORED_EVERY) is None
    known.add(DESK, NOON)
    assert known.to_store(NOON + STORED_EVERY - 1) is None
    assert known.to_store(NOON + STORED_EVERY) is not None
    known.add(DESK, NOON + STORED_AGAIN - 1)
    assert known.to_store(NOON + 2 * STORED_AGAIN) is None, "it is known for a week anyway"


def test_a_network_that_is_always_in_use_is_stored_again() -> None:
    """Else the start after a week would know nobody of a desk that was never idle for an hour."""
    known, stored, now = KnownNetworks(), None, NOON
    while now < NOON + KNOWN_FOR + 2 * STORED_AGAIN:
        known.add(DESK, now, by=DAN)
        stored = known.to_store(now) or stored
        now += STORED_AGAIN // 4
    again = KnownNetworks()
    again.restore(stored, now)
    assert again.has(DESK, now)


@pytest.mark.parametrize("stored", [b"", b"no JSON", b'{"10.0.0.7": 1}', b'[["10.0.0.7", "now"]]'])
def test_what_cannot_be_read_makes_nobody_known(stored: bytes) -> None:
    known = KnownNetworks()
    known.restore(stored, NOON)
    assert len(known) == 0


def test_a_stored_time_of_the_future_makes_no_network_known_longer() -> None:
    known = KnownNetworks()
    known.restore(b'[["10.0.0.7", 9000000000000000]]', NOON)
    assert known.has("10.0.0.7", NOON)
    assert not known.has("10.0.0.7", NOON + KNOWN_FOR)
