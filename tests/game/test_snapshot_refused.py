"""A snapshot of another rulebook, of other rounds, or one that was tampered with makes no table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random
from typing import Any

import pytest

from taisai.cage.snapshot import HouseSnapshot, house_snapshot_of, restored_house
from taisai.game.rounds.past_rounds import PastRounds
from taisai.game.snapshot import (
    VERSION,
    RoundSnapshot,
    SnapshotError,
    TableSnapshot,
    decode,
    encode,
    restored,
    snapshot_of,
)
from tests.game.houses import begun
from tests.game.past_rounds import SnapshotStore, compiled_once
from tests.game.playbooks import PLAYBOOKS, book_of, told

SEED = 20261115
NAMES = ("mbs-claims", "rws-referred-in-hand", "three-card-chips", "us-offered-odds")


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


@cache
def data_of(name: str) -> bytes:
    return encode(snapshot_of(told(name).table))


def taken_up(name: str, data: bytes, *, book: str | None = None, rounds: int | None = None) -> None:
    table = told(name).table
    shelf = SnapshotStore()
    shelf.save(table)
    past = PastRounds(len(table.rounds) if rounds is None else rounds, shelf.load)
    restored(book_of(book) if book else table.book, decode(data, TableSnapshot), past)


def changed(name: str, **changes: Any) -> bytes:
    return json.dumps(json.loads(data_of(name)) | changes).encode()


def test_another_rulebook_is_not_taken() -> None:
    with pytest.raises(SnapshotError, match=r"expected the rulebook us-sic-bo sha256:.*, got mbs-sic-bo-v6"):
        taken_up("mbs-claims", data_of("mbs-claims"), book="us-sic-bo")
    digest = changed("mbs-claims", rulebook_digest="sha256:0")
    with pytest.raises(SnapshotError, match=r"expected the rulebook .*, got mbs-sic-bo-v6 sha256:0 in the"):
        taken_up("mbs-claims", digest)


def test_terms_that_are_not_those_of_their_digest_are_not_taken() -> None:
    told_ = json.loads(data_of("mbs-terms"))
    assert len(told_["in_force"]) > 1
    for _, basis in told_["in_force"]:
        basis[2]["most"] += 1000
        with pytest.raises(
            SnapshotError, match=r"expected the digest of what was in force sha256:.*, got sha"
        ):
            taken_up("mbs-terms", changed("mbs-terms", in_force=told_["in_force"]))
        basis[2]["most"] -= 1000
    other = told_["limits"] | {"least": told_["limits"]["least"] + 1}
    with pytest.raises(SnapshotError, match="expected the digest of what is in force"):
        taken_up("mbs-terms", changed("mbs-terms", limits=other))


def test_another_number_of_rounds_is_not_taken() -> None:
    table = told("mbs-claims").table
    with pytest.raises(SnapshotError, match=f"expected the number of rounds 9, got {len(table.rounds)} in"):
        taken_up("mbs-claims", data_of("mbs-claims"), rounds=9)


def test_books_that_do_not_balance_are_not_taken() -> None:
    ledger = json.loads(data_of("mbs-claims"))["ledger"]
    ledger["balances"]["chips"] += 1
    with pytest.raises(SnapshotError, match="expected the difference between held and owed 0, got 1"):
        taken_up("mbs-claims", changed("mbs-claims", ledger=ledger))
    ledger["balances"]["credits"] += 1
    with pytest.raises(SnapshotError, match="expected the credits of all purses together"):
        taken_up("mbs-claims", changed("mbs-claims", ledger=ledger))


@pytest.mark.parametrize(
    ("data", "kind", "got"),
    [
        (b"", TableSnapshot, "Input data was truncated"),
        (b"\xff", TableSnapshot, "malformed"),
        (b'"\xff"', HouseSnapshot, "utf-8|Expected"),
        (b"[]", RoundSnapshot, "Expected `object`, got `array`"),
        (b"{}", RoundSnapshot, "missing required field"),
        (b'{"more":1}', HouseSnapshot, "unknown field"),
    ],
)
def test_what_is_no_snapshot_is_not_read(data: bytes, kind: type[Any], got: str) -> None:
    with pytest.raises(
        SnapshotError, match=f"expected a {kind.__name__} of version {VERSION}, got .*({got})"
    ):
        decode(data, kind)


def test_another_version_is_not_read() -> None:
    other = VERSION - 1
    with pytest.raises(SnapshotError, match=f"expected the version {VERSION}, got {other} in the snapshot"):
        taken_up("mbs-claims", changed("mbs-claims", version=other))


def spoilt(thing: Any, random: Random) -> Any:
    """The same with one value somewhere left out, doubled, or another."""
    if isinstance(thing, dict) and thing:
        key = random.choice(sorted(thing))
        if random.random() < 0.1:
            return {one: value for one, value in thing.items() if one != key}
        return thing | {key: spoilt(thing[key], random)}
    if isinstance(thing, list) and thing:
        place = random.randrange(len(thing))
        if random.random() < 0.2:
            return thing[:place] + thing[place + random.choice((0, 1)) * 2 :]
        return [*thing[:place], spoilt(thing[place], random), *thing[place + 1 :]]
    return random.choice((None, -1, 0, 1, 2**64, "", "x", True, [], {}, 10**400))


def refusal_of(taking_up: Callable[[], object]) -> str:
    """How a snapshot is refused, if it is; no other error comes through."""
    try:
        taking_up()
    except SnapshotError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_wrong_with_a_snapshot_is_said_as_one(name: str) -> None:
    random = Random(f"{SEED} {name}")
    refusals = []
    for run in range(400):
        wrong = json.dumps(spoilt(json.loads(data_of(name)), random)).encode()
        refusals.append(refusal_of(partial(taken_up, name, wrong)))
        assert not refusals[-1] or "expected" in refusals[-1], f"seed {SEED} {name}, run {run}"
    assert sum(map(bool, refusals)) > 200


def test_whatever_is_wrong_with_a_round_is_said_as_one() -> None:
    random = Random(SEED)
    for name in sorted(PLAYBOOKS):
        shelf = SnapshotStore()
        shelf.save(told(name).table)
        for data in shelf.rounds.values():
            shelf.rounds[1] = json.dumps(spoilt(json.loads(data), random)).encode()
            refusal = refusal_of(partial(shelf.load, 1))
            assert not refusal or "expected" in refusal, f"seed {SEED}, {name}"


def test_a_house_whose_books_do_not_balance_is_not_taken() -> None:
    told_ = json.loads(encode(house_snapshot_of(begun())))
    told_["ledger"]["balances"]["cage"] += 5
    with pytest.raises(SnapshotError, match="expected the difference between held and owed 0, got 5"):
        restored_house(decode(json.dumps(told_).encode(), HouseSnapshot))
