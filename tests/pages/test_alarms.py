"""The pit shows an alarm of the server itself: raised while it goes on, in both languages."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.pages.forms import in_both_languages
from tests.pages.page_checks import axe
from tests.pages.people import People, Profiles
from tests.pages.server_process import House, tables_of

pytestmark = pytest.mark.part(name="pages")

STILL = 3.6  # seconds: longer than `stall_ms`, shorter than what a page takes for a lost connection


async def test_the_pit_sees_that_the_server_stood_still(profiles: Profiles, tmp_path: Path) -> None:
    async with House(tmp_path / "house", tables_of(1)) as house:
        people = People(profiles, house)
        pit = await people.pit()
        await expect(pit.get_by_test_id("alarms")).to_be_visible()
        await expect(pit.get_by_test_id("system-alarms")).to_have_count(0)
        assert house._process is not None
        house._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(STILL)
        house._process.send_signal(signal.SIGCONT)
        await expect(pit.get_by_test_id("system-alarms")).to_contain_text("The server stood still for")
        await in_both_languages(pit, "system-alarms")
        assert await axe(pit) == []
        await people.leave()
        assert people.watch.faults == []
