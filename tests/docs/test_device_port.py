"""The device that docs/how-to/connect-a-device.md shows is run against a server, over a real socket."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from taisai.cage.messages import DeviceKind, EnrolDevice, OverrideNoted
from taisai.game.events import ReadingTaken, ResultEntered
from taisai.game.vocabulary import DeviceFault
from taisai.rules import Act
from taisai.server.auth.permissions import Role
from tests.docs.real_server import opened
from tests.server.sim import virtual
from tests.server.virtual_server import PEOPLE, device

PAGE: Final = (Path(__file__).parents[2] / "docs" / "how-to" / "connect-a-device.md").read_text("utf-8")
SHAKER: Final = "S1"
SECRET: Final = SHAKER.encode().ljust(32, b"-")
_BLOCK: Final = re.compile(r"^```python\n(import .*?)^```$", re.DOTALL | re.MULTILINE)


def shown() -> Callable[..., dict[str, Any]]:
    """The device of the page."""
    (code,) = _BLOCK.findall(PAGE)
    assert len(code.splitlines()) <= 18
    names: dict[str, Any] = {}
    exec(code, names)
    found: Callable[..., dict[str, Any]] = names["send_reading"]
    return found


def test_the_device_of_the_page_tells_what_it_saw_and_the_dealer_enters() -> None:
    tell = shown()
    with opened() as house:
        house.perform(Act.OPEN_BETS)
        early = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5])
        assert (early["type"], early["reason"], early["clause"]) == (
            "refused",
            "out-of-order",
            "house:readings",
        )
        house.perform(Act.CLOSE_BETS)
        house.perform(Act.TUMBLE, tumbles=3)
        assert tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5]) == {"type": "done", "to": "2"}
        again = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5])
        assert again == {"type": "done", "to": "2", "again": True}
        other = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 6])
        assert other["reason"] == "different-content"
        offered = house.console().reading
        assert offered is not None
        assert (offered.device, offered.faces, offered.suggested) == (SHAKER, None, None), "while covered"
        house.perform(Act.UNCOVER)
        offered = house.console().reading
        assert offered is not None
        assert offered.faces == (2, 3, 5)
        assert len(house.events(ReadingTaken)) == 1
        assert house.events(ResultEntered) == [], "a reading is offered, never entered"


def test_a_reading_of_a_round_that_is_over_is_not_offered_in_the_next() -> None:
    tell = shown()
    with opened() as house:
        house.to_the_dice()
        reading: dict[str, Any] = {"reading": "r-1", "faces": [2, 3, 5], "round": 1}
        assert tell(house.url, SHAKER, SECRET, **reading)["type"] == "done"
        house.perform(Act.UNCOVER)
        house.perform(Act.ENTER_RESULT, faces=(2, 3, 5))
        for act in (Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE):
            house.perform(act)
        house.to_the_dice()
        assert tell(house.url, SHAKER, SECRET, **reading) == {"type": "done", "to": "2", "again": True}
        late = tell(house.url, SHAKER, SECRET, **(reading | {"reading": "r-2"}))
        assert late["reason"] == "wrong-round"
        assert house.console().reading is None
        assert house.events(OverrideNoted) == []
        del reading["round"]  # and the page says why a device should name it
        assert tell(house.url, SHAKER, SECRET, **reading) == {"type": "done", "to": "2"}
        assert house.console().reading is not None


def test_every_fault_of_the_page_is_one_and_suggests_what_the_page_says() -> None:
    told = re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([^|]*) \|$", PAGE, re.MULTILINE)
    says = {name: rest for name, rest in told if name in set(DeviceFault)}
    assert list(says) == list(DeviceFault)
    tell = shown()
    with opened() as house:
        house.to_the_dice()
        for number, fault in enumerate((DeviceFault.NO_SHAKE, DeviceFault.INVALID, DeviceFault.DOWN)):
            answer = tell(house.url, SHAKER, SECRET, reading=f"f-{number}", fault=str(fault))
            assert answer["type"] == "done", answer
            offered = house.console().reading
            assert offered is not None
            assert offered.suggested is not None
            assert (offered.fault, offered.faces) == (fault, None)
            assert f"`{offered.suggested.id}`" in says[fault]
        reshaken = tell(
            house.url, SHAKER, SECRET, reading="f-9", fault=str(DeviceFault.INVALID_AFTER_RESHAKE)
        )
        assert reshaken["reason"] == "ruled-out", "only one document has them shaken again"


@pytest.mark.parametrize(
    ("name", "secret", "reason"),
    [
        ("S1", b"another's".ljust(32, b"-"), "not-known"),
        ("S9", SECRET, "not-known"),
        ("P1", None, "not-permitted"),
    ],
    ids=["another's key", "not enrolled", "a terminal"],
)
def test_nobody_else_tells_readings(name: str, secret: bytes | None, reason: str) -> None:
    with opened() as house:
        house.to_the_dice()
        answer = shown()(
            house.url, name, secret or name.encode().ljust(32, b"-"), reading="r-1", faces=[1, 1, 1]
        )
        assert (answer["type"], answer["reason"]) == ("refused", reason)
        assert house.events(ReadingTaken) == []


def test_a_device_is_enrolled_for_one_table_with_its_public_half() -> None:
    made = device("SHK-07")
    with opened() as house:
        by: Any = {"at": virtual.START, "by": PEOPLE[Role.ADMINISTRATOR]}
        house.ask(EnrolDevice(**by, device="SHK-07", kind=DeviceKind.SHAKER, key=made.public, table="T2"))
        answer = shown()(house.url, "SHK-07", b"SHK-07".ljust(32, b"-"), reading="r-1", faces=[1, 2, 3])
        assert answer["reason"] == "wrong-round", "T2 has no round in hand"
