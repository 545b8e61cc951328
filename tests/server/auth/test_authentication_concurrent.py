"""Many at the door at once: few are checked, each name once, and whoever hangs up has still failed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Event
from threading import enumerate as enumerate_threads
from typing import Any, TypeVar

import pytest

from taisai.cage import SignOutCause
from taisai.cage.messages import SignedOut, SignInFailed
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.sessions import NewSession
from taisai.server.auth.sign_in_refusals import BUSY, STOPPING, WRONG_CREDENTIALS, SignInRefused
from taisai.server.auth.verification import MOST_CHECKED, MOST_STRANGERS, STRANGERS_AT_WORK, WORKERS
from tests.server.auth.staffed_house import DAN, DESK, MAX, PASSWORDS, SUE, Staffed, running

T = TypeVar("T")
Came = NewSession | SignInRefused


class Held(Executor):
    """Does its work when it is told to."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []
        self.holding = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Keeps it, or does it."""
        future: Future[T] = Future()

        def job() -> None:
            if future.set_running_or_notify_cancel():
                future.set_result(fn(*args, **kwargs))

        if self.holding:
            self.jobs.append(job)
        else:
            job()
        return future

    def let_go(self) -> None:
        """Does what was kept."""
        self.holding = False
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            job()


async def until(happened: Callable[[], bool]) -> None:
    """Lets others have their turns; a hundred are more than any way here takes."""
    for _ in range(100):
        if happened():
            return
        await asyncio.sleep(0)
    raise AssertionError("expected something to happen, got nothing")


def tried(staffed: Staffed, person: str, password: str, code: str, address: str = DESK) -> asyncio.Task[Came]:
    """Someone who has begun to sign in."""
    door = staffed.door
    return asyncio.ensure_future(door.sign_in(person, password, code, address=address, now=staffed.now))


def test_guesses_at_one_name_do_not_run_side_by_side() -> None:
    staffed = Staffed()
    code = staffed.code(DAN)

    async def guessing() -> list[Came]:
        guesses = [f"guess number {number}" for number in range(9)] + [PASSWORDS[DAN]]
        return list(await asyncio.gather(*(tried(staffed, DAN, guess, code) for guess in guesses)))

    came = running(guessing())
    assert came == [WRONG_CREDENTIALS] + [BUSY] * 9
    assert len(staffed.told(SignInFailed)) == 1


def test_one_more_than_can_be_checked_is_shown() -> None:
    held = Held()
    staffed = Staffed(executor=held)
    staffed.door.known.add(DESK, staffed.now)
    code = staffed.code(DAN)

    async def crowd() -> tuple[list[Came], Came, Came]:
        held.holding = True
        inside = [tried(staffed, f"Eve {number}", "whatever", "123456") for number in range(MOST_CHECKED)]
        await until(lambda: len(held.jobs) == MOST_CHECKED)
        one_more = tried(staffed, DAN, PASSWORDS[DAN], code)
        await until(one_more.done)
        held.let_go()
        waited = list(await asyncio.gather(*inside))
        return waited, one_more.result(), await tried(staffed, DAN, PASSWORDS[DAN], code)

    waited, one_more, later = running(crowd())
    assert waited == [WRONG_CREDENTIALS] * MOST_CHECKED
    assert one_more == BUSY
    assert isinstance(later, NewSession), "what was not checked has cost nothing"


def test_strangers_from_many_addresses_keep_nobody_waiting_at_a_known_one() -> None:
    """Forty-eight tries from twenty-four addresses, while the Dealer signs in at the usual desk."""
    held = Held()
    staffed = Staffed(executor=held)
    staffed.signs_in(SUE)  # at the same desk, earlier: the House knows it
    code = staffed.code(DAN)

    async def attack() -> tuple[int, Came, list[Came]]:
        held.holding = True
        strangers = [
            tried(
                staffed,
                DAN if number % 3 else f"Eve {number}",
                "whatever",
                "123456",
                f"198.51.100.{number // 2}",
            )
            for number in range(48)
        ]
        await until(lambda: len(held.jobs) == STRANGERS_AT_WORK)
        dan = tried(staffed, DAN, PASSWORDS[DAN], code)
        await until(lambda: len(held.jobs) == STRANGERS_AT_WORK + 1)
        ahead = len(held.jobs) - 1
        held.jobs.pop()()  # one of the two workers is free, and takes it at once
        came = await dan
        held.let_go()
        return ahead, came, list(await asyncio.gather(*strangers))

    ahead, came, strangers = running(attack())
    assert ahead == STRANGERS_AT_WORK < WORKERS
    assert isinstance(came, NewSession)
    assert {one.reason for one in strangers if isinstance(one, SignInRefused)} == {"wrong", "busy"}


def test_one_stranger_more_than_can_be_checked_waits_and_the_known_do_not() -> None:
    held = Held()
    staffed = Staffed(executor=held)
    staffed.door.known.add(DESK, staffed.now)
    code = staffed.code(DAN)
    away = "198.51.100.7"

    async def crowd() -> tuple[Came, Came]:
        held.holding = True
        inside = [
            tried(staffed, f"Eve {number}", "whatever", "123456", away) for number in range(MOST_STRANGERS)
        ]
        await until(lambda: bool(held.jobs))
        one_more = await tried(staffed, "Eve 99", "whatever", "123456", away)
        dan = tried(staffed, DAN, PASSWORDS[DAN], code)
        await until(lambda: len(held.jobs) == STRANGERS_AT_WORK + 1)
        held.let_go()
        await asyncio.gather(*inside)
        return one_more, await dan

    one_more, came = running(crowd())
    assert one_more == BUSY
    assert isinstance(came, NewSession)


def test_so_many_hashes_are_made_at_once_and_no_more() -> None:
    staffed = Staffed()
    gate = Event()

    def verified(_hash: str | None, _password: str) -> bool:
        return not gate.wait(60)

    staffed.passwords.verified = verified  # type: ignore[assignment, method-assign]
    staffed.door = Authentication(
        staffed.queue, entropy=staffed.entropy, issuer="Lotus", passwords=staffed.passwords
    )
    staffed.door.known.add(DESK, staffed.now)

    async def crowd() -> tuple[int, list[Came]]:
        looks, names = staffed.queue.looks, [f"Eve {number}" for number in range(WORKERS * 3)]
        try:
            trying = [tried(staffed, name, "whatever", "123456") for name in names]
            await until(lambda: staffed.queue.looks == looks + len(names))
            at_work = sum(thread.name.startswith("passwords") for thread in enumerate_threads())
        finally:
            gate.set()
        came = list(await asyncio.gather(*trying))
        await staffed.door.finish(staffed.now)
        return at_work, came

    assert running(crowd()) == (WORKERS, [WRONG_CREDENTIALS] * WORKERS * 3)


def test_anyone_who_hangs_up_has_still_failed() -> None:
    held = Held()
    staffed = Staffed(executor=held)

    async def hanging_up() -> None:
        held.holding = True
        trying = tried(staffed, DAN, "not this password", "123456")
        await until(lambda: bool(held.jobs))
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        held.let_go()
        await staffed.door.finish(staffed.now)

    running(hanging_up())
    assert [event.why for event in staffed.told(SignInFailed)] == ["password"]


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_sign_in_during_a_stop_is_told_that_the_server_stops(moment: str) -> None:
    """Not that name, password or code were wrong: they were right."""
    staffed = Staffed()

    async def stopping() -> Came:
        if moment == "before":
            await staffed.door.finish(staffed.now)
        else:  # the session is open, and its sign-in on its way to the journal
            staffed.queue.between = lambda _command: staffed.door.finish(staffed.now)
        opened = staffed.door._open_session(DAN, "dealer", address=DESK, now=staffed.now)
        return await opened

    assert running(stopping()) == STOPPING
    assert [event.why for event in staffed.told(SignedOut)] == (
        [SignOutCause.STOPPED] if moment == "between" else []
    )


def test_two_at_the_same_desk_come_in_together() -> None:
    staffed = Staffed()
    codes = {person: staffed.code(person) for person in (DAN, SUE, MAX)}

    async def shift() -> list[Came]:
        trying = (tried(staffed, person, PASSWORDS[person], code) for person, code in codes.items())
        return list(await asyncio.gather(*trying))

    assert all(isinstance(came, NewSession) for came in running(shift()))


def test_an_error_holds_nobody_out() -> None:
    staffed = Staffed()
    verified = staffed.passwords.verified

    def failing(_hash: str | None, _password: str) -> bool:
        raise MemoryError

    staffed.passwords.verified = failing  # type: ignore[assignment, method-assign]
    with pytest.raises(MemoryError):
        staffed.tries(DAN)
    staffed.passwords.verified = verified  # type: ignore[method-assign]
    assert staffed.signs_in(DAN)
