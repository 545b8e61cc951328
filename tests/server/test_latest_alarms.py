"""Attacks on what the pit sees: settings that are weakened before a start, and starts that hide alarms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from taisai.cage.messages import SettingsTaken
from taisai.cli.server.serve import plan_of
from taisai.game import commands as said
from taisai.journal import SigningKey, load_public_key
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import house_feeds
from taisai.server.projections.latest_alarms import LATEST, SHOWN_FOR, StartsWatch
from taisai.server.runtime.rulebook_approvals import read_approvals, written_approvals
from tests.server.house_folder import changed, lotus
from tests.server.virtual_house import RWS, Attended, attended

SETTINGS = {"cage.sale_alone": "1000000", "floor.large_win": "1000000", "witness.1.key": "w1+abc"}
WEAKER = {"cage.sale_alone": "1000000000000", "floor.large_win": "1000000"}
CHANGED = (
    "Settings of the house have changed: cage.sale_alone: 1000000 → 1000000000000; "
    "witness.1.key: w1+abc → none. If nobody told you why, find out who did it"
)


async def _alarms(house: Attended) -> list[str]:
    return [alarm.says.en for alarm in (await house.pit()).alarms]


async def _started(house: Attended, settings: dict[str, str]) -> list[str]:
    await house.stop()
    house.plan = replace(house.plan, settings=settings)
    await house.start()
    return await _alarms(house)


async def _weakened(house: Attended) -> None:
    assert await _started(house, SETTINGS) == [], "a first start changes nothing"
    assert await _started(house, SETTINGS) == []
    assert await _started(house, WEAKER) == [CHANGED]
    assert await _started(house, WEAKER) == [CHANGED], "a second start does not hide it"
    house.clock.set_by += SHOWN_FOR
    assert CHANGED not in await _started(house, WEAKER), "a day later everybody has seen it"


def test_settings_that_were_weakened_are_told_in_the_pit() -> None:
    attended(_weakened, RWS, demonstration=False)


def test_sabotage_a_start_that_reads_no_alarms_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_feeds.HouseFeeds, "_remember_alarms", lambda _self: None)
    with pytest.raises(AssertionError):
        attended(_weakened, RWS, demonstration=False)


def test_a_start_does_not_hide_that_the_clock_was_set_or_a_record_corrected() -> None:
    async def hidden(house: Attended) -> None:
        house.clock.set_by += 60_000
        await house.pass_(3)
        await house.played((1, 2, 4), small=1_000)
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT,
            round=1, faces=(4, 5, 6), second="pat", detail="seen",
        )  # fmt: skip
        before = await _alarms(house)
        assert len([alarm for alarm in before if "clock jumped" in alarm]) == 1
        await house.crash_and_come_back()
        assert await _alarms(house) == before

    attended(hidden, RWS, demonstration=False)


def test_settings_of_before_that_are_not_known_are_not_guessed() -> None:
    watch = StartsWatch(None, has_place=False)
    event = SettingsTaken(at=1, by="floor", clause="house:settings", settings=SETTINGS)  # type: ignore[arg-type]
    alarm = watch.take(event)
    assert alarm is not None
    assert alarm.says.en.startswith("Settings of the house have changed. If nobody")
    many = {f"floor.number_{number}": "1" for number in range(20)}
    alarm = watch.take(SettingsTaken(at=1, by="floor", clause="house:settings", settings=many))  # type: ignore[arg-type]
    assert alarm is not None
    assert "; and 17 more" in alarm.says.en
    assert LATEST > 1_000


def test_another_key_for_the_approvals_is_a_setting_that_has_changed(tmp_path: Path) -> None:
    """The administrator signs a list of their own: the path stays, the key is another."""
    lotus(tmp_path / "lotus")
    config = changed(tmp_path / "lotus")

    def recorded() -> str:
        key = load_public_key(config.approvals.key)
        plan = plan_of(config, read_approvals(config.approvals.file.read_bytes(), key))
        return plan.settings["approvals.signed_by"]

    before = recorded()
    own = SigningKey.new("lotus-approvals", seed=b"e" * 32)
    config.approvals.key.write_text(f"{own.public.text}\n", encoding="utf-8")
    config.approvals.file.write_text(written_approvals([], own), encoding="utf-8")
    assert recorded() != before
