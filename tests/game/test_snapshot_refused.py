"""A snapshot of another rulebook, of other rounds, or one that was tampered with makes no table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random
from typing import Any

import pytest

from taisai.cage.house import read_house, write_house
from taisai.game.snapshot import read_round, read_table, write_table
from taisai.game.snapshot_codec import VERSION, SnapshotError
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
    return write_table(told(name).table)


def taken_up(name: str, data: bytes, *, book: str | None = None) -> None:
    table = told(name).table
    shelf = SnapshotStore()
    shelf.save(table)
    read_table(book_of(book) if book else table.book, data, shelf.load)


def state_of(name: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(data_of(name))["state"]
    return state


def changed(name: str, **changes: Any) -> bytes:
    return json.dumps(json.loads(data_of(name)) | changes).encode()


def changed_state(name: str, **changes: Any) -> bytes:
    return changed(name, state=state_of(name) | changes)


def test_another_rulebook_is_not_taken() -> None:
    with pytest.raises(SnapshotError, match=r"expected the rulebook us-sic-bo sha256:.*, got mbs-sic-bo-v6"):
        taken_up("mbs-claims", data_of("mbs-claims"), book="us-sic-bo")
    digest = changed("mbs-claims", rulebook_digest="sha256:0")
    with pytest.raises(SnapshotError, match=r"expected the rulebook .*, got mbs-sic-bo-v6 sha256:0 in the"):
        taken_up("mbs-claims", digest)


def test_terms_that_are_not_those_of_their_digest_are_not_taken() -> None:
    told_ = state_of("mbs-terms")
    assert len(told_["in_force"]["bases"]) > 1
    for _, basis in told_["in_force"]["bases"]:
        basis[2]["most"] += 1000
        with pytest.raises(
            SnapshotError, match=r"expected the digest of what was in force sha256:.*, got sha"
        ):
            taken_up("mbs-terms", changed_state("mbs-terms", in_force=told_["in_force"]))
        basis[2]["most"] -= 1000
    other = told_["limits"] | {"least": told_["limits"]["least"] + 1}
    with pytest.raises(SnapshotError, match="expected the digest of what is in force"):
        taken_up("mbs-terms", changed_state("mbs-terms", limits=other))


@pytest.mark.parametrize("purses", [0, 1, -1])
def test_another_number_of_purses_is_not_taken(purses: int) -> None:
    kept = json.loads(data_of("mbs-claims"))["purses"]
    assert len(kept) > 1
    with pytest.raises(SnapshotError, match=f"expected the number of purses .*, got {len(kept)} in|KeyError"):
        taken_up("mbs-claims", changed("mbs-claims", purses=kept[:purses]))


def test_rounds_that_cannot_be_loaded_are_not_taken() -> None:
    table = told("mbs-claims").table
    with pytest.raises(SnapshotError, match=r"expected `load` for the \d+ stored rounds, got None"):
        read_table(table.book, data_of("mbs-claims"))


def test_books_that_do_not_balance_are_not_taken() -> None:
    ledger = state_of("mbs-claims")["ledger"]
    balances = dict(ledger["balances"])
    balances["chips"] += 1
    for more, match in (
        ({}, "expected a ledger that balances, got a difference of 1"),
        ({"credits": balances["credits"] + 1}, "expected the credits of all purses together"),
        ({"x": 0}, "Invalid enum value 'x'"),
    ):
        ledger["balances"] = list((balances | more).items())
        with pytest.raises(SnapshotError, match=match):
            taken_up("mbs-claims", changed_state("mbs-claims", ledger=ledger))
    ledger["balances"] = ledger["balances"][1:-1]
    with pytest.raises(SnapshotError, match=r"expected the accounts credits, .*, got"):
        taken_up("mbs-claims", changed_state("mbs-claims", ledger=ledger))


@pytest.mark.parametrize(
    ("data", "kind", "got"),
    [
        (b"", "Table", "Input data was truncated"),
        (b"\xff", "Table", "malformed"),
        (b'"\xff"', "House", "utf-8|Expected"),
        (b"[]", "Round", "Expected `object`, got `array`"),
        (b"{}", "Round", "missing required field"),
        (b'{"more":1}', "House", "unknown field"),
    ],
)
def test_what_is_no_snapshot_is_not_read(data: bytes, kind: str, got: str) -> None:
    readers: dict[str, Callable[[bytes], object]] = {
        "Table": partial(taken_up, "mbs-claims"),
        "House": read_house,
        "Round": read_round,
    }
    with pytest.raises(SnapshotError, match=f"not a {kind} snapshot of version {VERSION}: .*({got})"):
        readers[kind](data)


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
        assert not refusals[-1] or "snapshot" in refusals[-1], f"seed {SEED} {name}, run {run}"
    assert sum(map(bool, refusals)) > 200


def test_whatever_is_wrong_with_a_round_is_said_as_one() -> None:
    random = Random(SEED)
    for name in sorted(PLAYBOOKS):
        shelf = SnapshotStore()
        shelf.save(told(name).table)
        for data in shelf.rounds.values():
            shelf.rounds[1] = json.dumps(spoilt(json.loads(data), random)).encode()
            refusal = refusal_of(partial(shelf.load, 1))
            assert not refusal or "snapshot" in refusal, f"seed {SEED}, {name}"


def test_a_house_whose_books_do_not_balance_is_not_taken() -> None:
    told_ = json.loads(write_house(begun()))
    balances = told_["state"]["ledger"]["balances"]
    next(pair for pair in balances if pair[0] == "cage")[1] += 5
    with pytest.raises(SnapshotError, match="expected a ledger that balances, got a difference of 5"):
        read_house(json.dumps(told_).encode())
