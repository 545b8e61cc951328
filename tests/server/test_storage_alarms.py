"""What the pit and the health of the server show of stored bytes that someone has changed."""

from __future__ import annotations

import pytest

from taisai.journal import Distrusted
from taisai.server.auth.credentials import STAFF
from taisai.server.projections.house_views import CREDENTIALS, audit_alarm, storage_alarm
from tests.server.virtual_house import RWS, Attended, attended

AT = 1_794_715_200_000
FOUND = {
    Distrusted("snapshot", "table:SB1"): (
        "The stored snapshot table:SB1 has no valid code",
        "snapshot table:SB1",
    ),
    Distrusted("part", "table:SB1/7"): ("The stored part table:SB1/7 has no valid code", "part table:SB1/7"),
    Distrusted("tree", "tree"): ("The stored tree tree has no valid code", "tree"),
    Distrusted("vault", "takings/SB1"): ("The stored secret takings/SB1 has no valid code", "takings/SB1"),
    Distrusted("vault", "staff/Ann Tan"): ("The stored password of Ann Tan has no valid code", "Ann Tan"),
}


@pytest.mark.parametrize("found", FOUND)
def test_an_alarm_says_what_had_no_valid_code(found: Distrusted) -> None:
    en, zh = FOUND[found]
    alarm = storage_alarm(found, AT)
    assert alarm.says.en.startswith(en)
    assert zh in alarm.says.zh
    assert (alarm.at, alarm.about) == (AT, "house")


def test_credentials_are_recognised_by_their_names() -> None:
    assert CREDENTIALS == STAFF


def test_the_pit_and_the_health_of_the_server_show_it() -> None:
    async def shown(house: Attended) -> None:
        alarms = [storage_alarm(Distrusted("tree", "tree"), AT), audit_alarm("entry 6: x", AT)]
        projections = house.casino.queue.projections
        await house.casino.queue.run(lambda _engine: projections.warn(alarms))
        assert (await house.pit()).alarms[-2:] == tuple(alarms)
        assert projections.warnings == [alarm.says.en for alarm in alarms]
        assert "entry 6: x" in alarms[1].says.zh

    attended(shown, RWS, demonstration=False)


def test_after_a_crash_the_networks_of_before_are_known() -> None:
    async def crashes(house: Attended) -> None:
        known = house.dispatcher.authentication.known
        known.add("192.0.2.7", house.clock.now())
        await house.pass_(3)
        await house.crash_and_come_back()
        again = house.dispatcher.authentication.known
        assert again is not known
        assert again.has("192.0.2.7", house.clock.now())
        assert not again.has("192.0.2.8", house.clock.now())

    attended(crashes, RWS)
