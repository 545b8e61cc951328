"""Many failed sign-ins are an attack: the pit has one alarm of it, not one of each."""

from __future__ import annotations

from taisai.cage.messages import SignInFailed
from taisai.protocol.views import Alarm
from taisai.rules.clauses import Clause
from taisai.server.projections.sign_in_watch import MANY_FAILURES, WATCHED_FOR, SignInWatch

NOON = 1_794_715_200_000


def failure(at: int, number: int = 0, *, person: str = "Dan Teo", counts: bool = False) -> SignInFailed:
    known, why = not person.startswith("unknown"), "code" if counts else "password"
    return SignInFailed(
        at=at, by="floor", clause=Clause("house:access"), person=person, known=known,
        address=f"198.51.100.{number}", why=why, counts=counts,
    )  # fmt: skip


def alarms(failures: list[SignInFailed]) -> list[Alarm]:
    watch = SignInWatch()
    return [alarm for one in failures if (alarm := watch.take(one)) is not None]


def test_fewer_failures_are_no_attack() -> None:
    assert alarms([failure(NOON + n) for n in range(MANY_FAILURES - 1)]) == []


def test_many_failures_are_told_once_with_addresses_and_names() -> None:
    tries = [
        failure(NOON + n, n % 4, person="Dan Teo" if n % 2 else "unknown-1f", counts=n < 3)
        for n in range(3 * MANY_FAILURES)
    ]
    (alarm,) = alarms(tries)
    assert alarm.about == "house"
    assert alarm.says.en == (
        "Sign-ins are attacked: 20 failures, the last 20 from 4 address(es) as Dan Teo; "
        "3 with the right password"
    )
    assert "20" in alarm.says.zh


def test_an_attack_that_goes_on_is_told_again_with_the_failures_since() -> None:
    every = WATCHED_FOR // 40
    found = alarms([failure(NOON + n * every) for n in range(100)])
    assert len(found) == 3
    assert f"{40} failures" in found[1].says.en


def test_the_same_failures_over_a_night_are_no_attack() -> None:
    assert alarms([failure(NOON + n * WATCHED_FOR // 10) for n in range(500)]) == []
