"""The first round of docs/tutorials/first-house.md is played, in a house that was set up for it."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from taisai.audit import verified
from taisai.cage.messages import PersonEnrolled
from taisai.client import Office, Refused
from taisai.game.events import RoundConcluded, RoundSettled
from taisai.journal import Journal, SqliteStore
from taisai.protocol.bodies import SignInBody
from taisai.server.auth.credentials import otpauth, step_of
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.setup import set_up
from tests.cli.server_process import Authenticator, changed, serving
from tests.server.enrolling import code_at
from tests.server.house_folder import PASSWORD, entropy, plan, signed_up

PAGE: Final = (Path(__file__).parents[2] / "docs" / "tutorials" / "first-house.md").read_text("utf-8")
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_BODY: Final = re.compile(r"^  -d '(\{.*\})'$", re.MULTILINE)


def walk() -> dict[str, Any]:
    """What the page's Python defines."""
    making, playing = _BLOCK.findall(PAGE)
    assert len(making.split("\n\n")[1].splitlines()) <= 6, "expected few lines for a code"
    names: dict[str, Any] = {}
    exec(making + playing, names)
    return names


def house(folder: Path) -> tuple[Path, dict[str, str]]:
    """A house's casino.toml, and the activation codes of its first people."""
    made = set_up(plan(folder), now=WallClock().now(), entropy=entropy())
    changed(made.config, betting_seconds=5)
    return made.config, dict(made.activations)


def test_the_walk_leads_from_serve_to_a_round_that_is_over(tmp_path: Path) -> None:
    config, codes = house(tmp_path / "lotus")

    async def walked() -> int:
        async with serving(config) as served:
            left: int = await walk()["first_round"](served.url, codes)
            code, _, err, _ = await served.stopped()
            assert code == 0, err
            return left

    assert asyncio.run(walked()) == 100_500
    assert verified(config.parent / "journal.db").settlements == 1
    store = SqliteStore(config.parent / "journal.db")
    try:
        events = [entry.event for entry in Journal(store).entries()]
    finally:
        store.close()
    kinds = [type(event) for event in events]
    assert (kinds.count(RoundSettled), kinds.count(RoundConcluded)) == (1, 1)
    enrolled = {event.person: event.second for event in events if isinstance(event, PersonEnrolled)}
    assert enrolled == {"Ann Tan": None, "Sue Lim": None, "Dan Ho": "Sue Lim"}


def test_who_needs_a_second_person_is_as_the_page_says(tmp_path: Path) -> None:
    config, codes = house(tmp_path / "lotus")

    uris = signed_up(config.parent, codes, now=WallClock().now())

    async def walked() -> None:
        async with serving(config) as served, Office(served.url) as office:
            await office.sign_in("Ann Tan", PASSWORD, Authenticator(uris["Ann Tan"]).code())
            for name, rank in (("Pat Koh", "pit-supervisor"), ("Cat Goh", "cashier")):
                with pytest.raises(Refused) as no:
                    await office.enrol(name, rank)
                assert no.value.reason == "second-person", rank
            for name, rank in (("Dan Ho", "dealer"), ("Flo Ong", "floorperson"), ("Aud Yeo", "auditor")):
                await office.enrol(name, rank)
                with pytest.raises(Refused) as no:
                    await office.enrol(name, rank, activate=True)
                assert no.value.reason == "second-person", rank
            await served.stopped()

    asyncio.run(walked())


def test_the_code_of_the_page_is_the_ports_own(monkeypatch: pytest.MonkeyPatch) -> None:
    code, secret = walk()["code"], bytes(range(20))
    uri = otpauth(secret, person="Ann Tan", issuer="Lotus")
    for moment in range(1_794_800_000, 1_794_800_000 + 30 * 200, 30):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment + 0.5)
        assert code(uri) == code_at(secret, step_of(moment * 1_000)), moment


def test_the_body_for_curl_is_one_that_the_port_reads() -> None:
    (body,) = _BODY.findall(PAGE)
    assert msgspec.json.decode(body, type=SignInBody).person == "Ann Tan"


def test_sabotage_a_walk_without_the_second_person_is_refused(tmp_path: Path) -> None:
    config, codes = house(tmp_path / "lotus")
    code = "\n".join(_BLOCK.findall(PAGE)).replace(", approval=asked)", ")")
    assert code.count("approval=asked") == 0
    names: dict[str, Any] = {}
    exec(code, names)

    async def walked() -> None:
        async with serving(config) as served:
            await names["first_round"](served.url, codes)

    with pytest.raises(Refused, match="second person"):
        asyncio.run(walked())
