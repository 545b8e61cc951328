"""The client against a server that the test speaks for, in virtual time; and its guards, each broken once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from taisai.client import ClientError, Device, Disconnected, Office, Staff, Visitor, at, link
from taisai.client import connection as coming
from taisai.client.feeds import MOST_BEHIND, FollowedFeed
from taisai.client.link import Link, is_repeatable
from taisai.protocol import requests
from taisai.protocol.commands import BY_TAG, command
from taisai.protocol.requests import device_text
from taisai.server.auth.credentials import device_proof
from tests.client import scenarios
from tests.client.scenarios import FEED, STORIES, change, following
from tests.client.scripted_server import NONCE, Server, play
from tests.server.sim.virtual import StuckError

S = TypeVar("S", bound=Struct)
Story = Callable[[Server], Coroutine[Any, Any, None]]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_story(story: Story) -> None:
    play(story)


# Who


def test_a_device_signs_what_the_server_checks() -> None:
    device = Device.of("P1", bytes(32))
    said = coming.hello("h", device, NONCE)
    assert device_proof(device.public, bytes.fromhex(NONCE), "P1", bytes.fromhex(said.signature or ""))
    assert not device_proof(device.public, bytes.fromhex(NONCE), "P2", bytes.fromhex(said.signature or ""))
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(device.public))
    public.verify(bytes.fromhex(said.signature or ""), device_text("P1", bytes.fromhex(NONCE)))


def test_nobody_is_shown_a_secret() -> None:
    assert "secret" not in repr(Staff("secret"))
    assert repr(Device.of("P1", bytes(32))) == "<Device 'P1'>"
    assert coming.hello("h", Staff("secret"), NONCE).token == "secret"
    visitor = coming.hello("h", Visitor(), NONCE)
    assert (visitor.token, visitor.device, visitor.signature) == (None, None, None)


# What may be repeated

ONCE = {"hello", "follow", "open-table"}
WITHIN_A_START = {"undo", "clear"}
TWICE = {
    "unfollow", "take-position", "double", "repeat", "keep-favourite", "favourites", "ticket-in",
    "ticket-out", "tickets", "felt", "rounds", "preview", "sell-ticket", "fill", "take-credit", "take-drop",
    "count-drop", "settle-claim", "books", "report", "reading", "virtual-dealer", "ping",
}  # fmt: skip
COMMANDS_TWICE = {"place-bets", "record-bets", "bring-in", "take-out"}


def _empty(kind: type[S]) -> S:
    """One of its kind, with nothing in it."""
    return kind(**dict.fromkeys(kind.__struct_fields__))


def test_every_ask_is_one_that_may_be_repeated_or_one_that_may_not() -> None:
    kinds = {
        str(kind.__struct_config__.tag): kind for kind in requests.REQUESTS if kind is not requests.DoRequest
    }
    assert set(kinds) == ONCE | WITHIN_A_START | TWICE
    for tag, kind in kinds.items():
        ask = _empty(kind)
        assert is_repeatable(ask, same_epoch=False) == (tag in TWICE), tag
        assert is_repeatable(ask, same_epoch=True) == (tag in TWICE | WITHIN_A_START), tag


def test_commands_with_ids_of_their_own_may_be_repeated_and_no_others() -> None:
    for tag, kind in BY_TAG.items():
        ask = requests.DoRequest(id="1", do=_empty(kind))
        assert is_repeatable(ask, same_epoch=True) == (tag in COMMANDS_TWICE), tag


def test_an_approval_is_good_once() -> None:
    sent = command("bring-in", id="m1", amount=5)
    assert not is_repeatable(requests.DoRequest(id="1", do=sent, approval="token"), same_epoch=True)
    assert not is_repeatable(
        requests.FillRequest(id="1", table="T1", amount=5, approval="token"), same_epoch=True
    )


# Limits


def test_a_reader_too_far_behind_is_shown() -> None:
    async def story(server: Server) -> None:
        made, line = await following(server, number=0)
        changes = made.changes(FEED)
        first = anext(changes)  # from here on it reads
        line.tell(change(1, 1))
        assert (await first).number == 1
        for start in range(2, MOST_BEHIND + 3, 1_000):
            line.tell(
                *(change(number, number) for number in range(start, min(start + 1_000, MOST_BEHIND + 3)))
            )
        await made.until(FEED, lambda seat: seat.credits == MOST_BEHIND + 2)
        for _ in range(MOST_BEHIND):
            await anext(changes)
        with pytest.raises(Disconnected, match=f"more than {MOST_BEHIND} changes behind"):
            await anext(changes)
        await made.close()

    play(story)


# Sabotage: each must turn its story red


def _accept_any_number(patch: pytest.MonkeyPatch) -> None:
    right = FollowedFeed.change

    def careless(self: FollowedFeed, tell: Any) -> bool:
        self.number = tell.number - 1
        return right(self, tell)

    patch.setattr(FollowedFeed, "change", careless)


def _repeat_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(link, "is_repeatable", lambda _ask, *, same_epoch: same_epoch or True)


def _repeat_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(link, "is_repeatable", lambda _ask, *, same_epoch: same_epoch and False)


def _forget_the_waiting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FollowedFeed, "stop", lambda _self, _why: None)


def _forget_the_place(patch: pytest.MonkeyPatch) -> None:
    right = Link._cut

    def cut(self: Link) -> None:
        right(self)
        for feed in self.feeds.values():
            feed.number = None

    patch.setattr(Link, "_cut", cut)


SABOTAGES: list[tuple[Callable[[pytest.MonkeyPatch], None], Story]] = [
    (_accept_any_number, scenarios.a_gap_is_noticed_and_mended),
    (_repeat_everything, scenarios.what_may_not_be_repeated_is_in_doubt),
    (_repeat_everything, scenarios.an_undo_is_repeated_within_a_start_alone),
    (_repeat_nothing, scenarios.bets_in_doubt_are_sent_again),
    (_forget_the_waiting, scenarios.closing_tells_everyone),
    (_forget_the_waiting, scenarios.it_gives_up_at_last),
    (_forget_the_place, scenarios.whoever_comes_back_goes_on_where_he_was),
]


@pytest.mark.parametrize(("sabotage", "story"), SABOTAGES)
def test_sabotage_shows(
    sabotage: Callable[[pytest.MonkeyPatch], None], story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    with pytest.raises((AssertionError, StuckError, ClientError, pytest.fail.Exception)):
        play(story)


@pytest.mark.parametrize(
    "url",
    ["http://floor.example", "ws://floor.example/socket", "http://10.0.0.7:8080", "ws://localhost.example/"],
)
def test_nothing_is_sent_to_another_machine_unencrypted(url: str) -> None:
    for make in (at, Office):
        with pytest.raises(ValueError, match=r"expected https:// or wss:// for another machine, got "):
            make(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://floor.example",
        "wss://floor.example/socket",
        "http://127.0.0.1:8080",
        "ws://[::1]/",
        "http://localhost",
    ],
)
def test_what_is_encrypted_or_stays_here_is_dialled(url: str) -> None:
    assert coming.encrypted(url) == url
