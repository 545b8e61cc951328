"""The device that docs/dice-in.md shows is run against a floor, over a real socket."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final

import pytest

from taisai.floor.access.passwords import Passwords
from taisai.floor.access.roles import Role
from taisai.floor.casino import Casino, Plan
from taisai.floor.serving import Serving, listening
from taisai.game.cage.messages import DeviceKind, EnrolDevice, OverrideNoted
from taisai.game.commands import Perform
from taisai.game.events import ReadingTaken, ResultEntered
from taisai.game.refusals import Refusal
from taisai.game.words import Fault
from taisai.house import Journal, Keeper, stream_of
from taisai.house.codec import HOUSE, AnyCommand
from taisai.rules import Act
from taisai.wire.views import ConsoleView
from tests.floor.connected import PEOPLE, TINY, device, furnished
from tests.floor.sim import virtual

PAGE: Final = (Path(__file__).parents[2] / "docs" / "dice-in.md").read_text("utf-8")
SHAKER: Final = "S1"
SECRET: Final = SHAKER.encode().ljust(32, b"-")
_BLOCK: Final = re.compile(r"^```python\n(import .*?)^```$", re.DOTALL | re.MULTILINE)


def shown() -> Callable[..., dict[str, Any]]:
    """The device of the page."""
    (code,) = _BLOCK.findall(PAGE)
    assert len(code.splitlines()) <= 17
    names: dict[str, Any] = {}
    exec(code, names)
    found: Callable[..., dict[str, Any]] = names["tell"]
    return found


class _Clock:
    """Time that stands still: whatever comes first comes first by the journal."""

    def now(self) -> int:
        return virtual.START

    def steady(self) -> int:
        return 0


class House:
    """A floor that is served in a thread, with the hands of its Dealer."""

    def __init__(self) -> None:
        self.keeper = Keeper(Journal(furnished()))
        self._at = listening("127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._at.getsockname()[1]}/socket"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        origin = self.url.replace("ws://", "http://").removesuffix("/socket")
        plan = Plan(house="Lotus", currency="SGD", zone="Asia/Singapore", origins=frozenset({origin}))
        self.casino = Casino(
            self.keeper, plan, clock=_Clock(), entropy=token_bytes, passwords=Passwords(token_bytes, TINY)
        )
        self._serving = Serving(self.casino, self._at, signals=False, on_ready=self._ready.set)
        await self._serving.run()

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._serving.stop)
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _in_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def ask(self, command: AnyCommand, stream: str = HOUSE) -> None:
        answer = self._in_loop(self.casino.host.ask(stream, command))
        assert not isinstance(answer, Refusal), answer

    def perform(self, act: Act, **fields: Any) -> None:
        by = "clock" if act is Act.CLOSE_BETS else PEOPLE[Role.DEALER]
        self.ask(Perform(at=virtual.START, by=by, act=act, **fields), stream_of("T1"))

    def to_the_dice(self) -> None:
        for act in (Act.OPEN_BETS, Act.CLOSE_BETS):
            self.perform(act)
        self.perform(Act.TUMBLE, tumbles=3)

    def console(self) -> ConsoleView:
        boards = self.casino.host.boards
        found = self._in_loop(self.casino.host.look(lambda _keeper: boards.snapshot("console:T1"))).view
        assert isinstance(found, ConsoleView)
        return found

    def events(self, kind: type[Any]) -> list[Any]:
        found: list[Any] = self._in_loop(
            self.casino.host.look(lambda keeper: [one.event for one in keeper.journal.entries()])
        )
        return [event for event in found if isinstance(event, kind)]


@contextmanager
def opened() -> Iterator[House]:
    house = House()
    house.start()
    try:
        yield house
    finally:
        house.stop()


def test_the_device_of_the_page_tells_what_it_saw_and_the_dealer_enters() -> None:
    tell = shown()
    with opened() as house:
        house.perform(Act.OPEN_BETS)
        early = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5])
        assert (early["tell"], early["reason"], early["clause"]) == (
            "refused",
            "out-of-order",
            "house:readings",
        )
        house.perform(Act.CLOSE_BETS)
        house.perform(Act.TUMBLE, tumbles=3)
        assert tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5]) == {"tell": "done", "re": "2"}
        again = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 5])
        assert again == {"tell": "done", "re": "2", "again": True}
        other = tell(house.url, SHAKER, SECRET, reading="r-1", faces=[2, 3, 6])
        assert other["reason"] == "other-content"
        offered = house.console().reading
        assert offered is not None
        assert (offered.device, offered.faces, offered.suggested) == (SHAKER, (2, 3, 5), None)
        assert len(house.events(ReadingTaken)) == 1
        assert house.events(ResultEntered) == [], "a reading is offered, never entered"


def test_a_reading_of_a_round_that_is_over_is_not_offered_in_the_next() -> None:
    tell = shown()
    with opened() as house:
        house.to_the_dice()
        reading: dict[str, Any] = {"reading": "r-1", "faces": [2, 3, 5], "round": 1}
        assert tell(house.url, SHAKER, SECRET, **reading)["tell"] == "done"
        house.perform(Act.UNCOVER)
        house.perform(Act.ENTER_RESULT, faces=(2, 3, 5))
        for act in (Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE):
            house.perform(act)
        house.to_the_dice()
        assert tell(house.url, SHAKER, SECRET, **reading) == {"tell": "done", "re": "2", "again": True}
        late = tell(house.url, SHAKER, SECRET, **(reading | {"reading": "r-2"}))
        assert late["reason"] == "wrong-round"
        assert house.console().reading is None
        assert house.events(OverrideNoted) == []


def test_every_fault_of_the_page_is_one_and_suggests_what_the_page_says() -> None:
    told = re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([^|]*) \|$", PAGE, re.MULTILINE)
    says = {name: rest for name, rest in told if name in set(Fault)}
    assert list(says) == list(Fault)
    tell = shown()
    with opened() as house:
        house.to_the_dice()
        for number, fault in enumerate((Fault.NO_SHAKE, Fault.INVALID, Fault.DOWN)):
            answer = tell(house.url, SHAKER, SECRET, reading=f"f-{number}", fault=str(fault))
            assert answer["tell"] == "done", answer
            offered = house.console().reading
            assert offered is not None
            assert offered.suggested is not None
            assert (offered.fault, offered.faces) == (fault, None)
            assert f"`{offered.suggested.id}`" in says[fault]
        reshaken = tell(house.url, SHAKER, SECRET, reading="f-9", fault=str(Fault.INVALID_AFTER_RESHAKE))
        assert reshaken["reason"] == "ruled-out", "only one document has them shaken again"


@pytest.mark.parametrize(
    ("name", "secret", "reason"),
    [
        ("S1", b"another's".ljust(32, b"-"), "not-known"),
        ("S9", SECRET, "not-known"),
        ("P1", None, "not-his-to-do"),
    ],
    ids=["another's key", "not enrolled", "a terminal"],
)
def test_nobody_else_tells_readings(name: str, secret: bytes | None, reason: str) -> None:
    with opened() as house:
        house.to_the_dice()
        answer = shown()(
            house.url, name, secret or name.encode().ljust(32, b"-"), reading="r-1", faces=[1, 1, 1]
        )
        assert (answer["tell"], answer["reason"]) == ("refused", reason)
        assert house.events(ReadingTaken) == []


def test_a_device_is_enrolled_for_one_table_with_its_public_half() -> None:
    made = device("SHK-07")
    with opened() as house:
        by: Any = {"at": virtual.START, "by": PEOPLE[Role.ADMINISTRATOR]}
        house.ask(EnrolDevice(**by, device="SHK-07", kind=DeviceKind.SHAKER, key=made.public, table="T2"))
        answer = shown()(house.url, "SHK-07", b"SHK-07".ljust(32, b"-"), reading="r-1", faces=[1, 2, 3])
        assert answer["reason"] == "wrong-round", "T2 has no round in hand"
