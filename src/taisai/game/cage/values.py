"""What may stand in a message of the House, and how a refusal tells what was sent instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from taisai.game.cage.messages import HouseCommand, OpenHouse
from taisai.game.day import LATEST
from taisai.game.names import MOST_ID, folded, is_name
from taisai.game.refusals import Reason, Refusal
from taisai.rules.clauses import Clause
from taisai.rules.errors import printable
from taisai.rules.settlement import GREATEST_SUM

MOST_RANKS: Final = 20  # of the ladder; the longest of the documents has four
MOST_SESSIONS: Final = 2**31 - 1  # of one seat: one a second would last for 68 years

_PEOPLE: Final = Clause("house:people")
_IDS: Final = frozenset(
    {"by", "claim", "currency", "house", "id", "person", "seat", "table", "ticket", "transfer"}
)
_LEAST: Final[Mapping[str, int]] = {"amount": 1, "declared": 0, "counted": 0}
"""A drop box may hold nothing; nothing else that moves is nothing."""


def wrong_values(command: HouseCommand, clause: Clause) -> Iterator[Refusal]:
    """What is wrong with the values of a command, whatever the state of the House."""
    for name in command.__struct_fields__:
        value = getattr(command, name)
        if name in _IDS and not is_name(value):
            wanted = f"1 to {MOST_ID} printable characters as {name}"
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {quoted(value)}")
        elif name in _LEAST and (type(value) is not int or value < _LEAST[name]):
            wanted = f"a whole number of at least {_LEAST[name]} as {name}"
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {quoted(value)}")
        elif name in _LEAST and value > GREATEST_SUM:
            yield beyond(name, value)
        elif name == "at" and (type(value) is not int or not 0 <= value <= LATEST):
            wanted = f"milliseconds from 0 to {LATEST} as at"
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {quoted(value)}")
        elif name == "session" and (type(value) is not int or not 1 <= value <= MOST_SESSIONS):
            wanted = f"a session from 1 to {MOST_SESSIONS}"
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {quoted(value)}")
    if isinstance(command, OpenHouse):
        yield from _ladder(command.ladder, command.second_rank)


def _ladder(ladder: object, second_rank: object) -> Iterator[Refusal]:
    if not isinstance(ladder, tuple) or not all(map(is_name, ladder)) or len(set(ladder)) != len(ladder):
        wanted = f"ranks of 1 to {MOST_ID} printable characters, each once"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, f"expected {wanted}, got {quoted(ladder)}")
    elif len(ladder) > MOST_RANKS:
        yield too_many("ranks", MOST_RANKS)
    elif second_rank not in ladder:
        got = f"expected a second rank of the ladder, got {quoted(second_rank)}"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, got)


def beyond(what: str, amount: int) -> Refusal:
    """The refusal of a sum that is too great."""
    got = f"expected at most 2^53 - 1 as {what}, got {quoted(amount)}"
    return Refusal(Reason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), got)


def too_many(what: str, most: int) -> Refusal:
    """The refusal of one more than there may be."""
    return Refusal(Reason.TOO_MANY, Clause("house:most"), f"expected at most {most} {what}, got one more")


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def found(kept: Mapping[_Key, _Value], key: object) -> _Value | None:
    """What is kept under a key, whatever was sent as the key."""
    try:
        return kept.get(key)  # type: ignore[arg-type]
    except TypeError:  # a list, say, has no hash and is the key of nothing
        return None


def same_person(one: object, other: object) -> bool:
    """Whether two names are one person's, whatever was sent as a name."""
    return (
        isinstance(one, str)
        and isinstance(other, str)
        and is_name(one)
        and is_name(other)
        and folded(one) == folded(other)
    )


def quoted(value: object) -> str:
    """A value as it was sent, on one line of bounded length."""
    if isinstance(value, str):
        return printable(repr(value[: MOST_ID * 2]))
    if isinstance(value, int) and not -GREATEST_SUM <= value <= 2 * GREATEST_SUM:
        return f"a number of {value.bit_length()} bits"  # Python refuses to write out the longest
    return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"


def clock(at: int) -> str:
    """A moment as people write it, in UTC."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
