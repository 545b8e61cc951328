"""What may stand in a message of the House, and how a refusal tells what was sent instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from taisai.cage.messages import (
    DeviceKind,
    EnrolDevice,
    HouseCommand,
    NoteClock,
    NoteSignIn,
    NoteSignOut,
    NoteWin,
    OpenHouse,
    RedeemTicket,
    SignOutCause,
    TakeSettings,
)
from taisai.game.messages import LATEST
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import MOST_ID, folded, is_name
from taisai.rules.clauses import Clause
from taisai.rules.errors import printable
from taisai.rules.settlement import GREATEST_SUM

MOST_RANKS: Final = 20  # of the ladder; the longest of the documents has four
MOST_SESSIONS: Final = 2**31 - 1  # of one seat: one a second would last for 68 years

MOST_ROUND: Final = 2**31 - 1  # of one table, likewise
MOST_TEXT: Final = 500  # characters of a reason or detail
MOST_SETTINGS: Final = 1_000  # at once: some dozens of the system's own, and ten for each of a hundred tables
MOST_SETTING: Final = 1_000  # characters of one

_PEOPLE: Final = Clause("house:people")
_IDS: Final = frozenset(
    {"by", "claim", "currency", "device", "house", "id", "item", "person", "seat", "table", "ticket"}
    | {"transfer"}
)
_LEAST: Final[Mapping[str, int]] = {"amount": 1, "declared": 0, "counted": 0, "threshold": 1}
"""A drop box may hold nothing; nothing else that moves is nothing."""
_TEXTS: Final = frozenset(
    {"address", "detail", "e_value", "manifest", "program", "reason", "serial", "what", "why"}
)
_NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "at": (0, LATEST),
    "results": (1, GREATEST_SUM),
    "round": (1, MOST_ROUND),
    "session": (1, MOST_SESSIONS),
}
_KEY: Final = re.compile("[0-9a-f]{64}")


def wrong_values(command: HouseCommand, clause: Clause) -> Iterator[Refusal]:
    """What is wrong with the values of a command, whatever the state of the House."""
    for name in command.__struct_fields__:
        value = getattr(command, name)
        if name in _LEAST and type(value) is int and value > GREATEST_SUM:
            yield beyond(name, value)
        elif wanted := _wanted(command, name, value):
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {quoted(value)}")
    match command:
        case OpenHouse():
            yield from _ladder(command.ladder, command.second_rank)
        case TakeSettings():
            yield from _settings(command.settings, clause)
        case NoteWin() if type(command.amount) is type(command.threshold) is int:
            if command.amount < command.threshold:
                got = f"{quoted(command.amount)} under {quoted(command.threshold)}"
                yield Refusal(Reason.BAD_VALUE, clause, f"expected a win of the threshold or more, got {got}")
        case _:
            pass


def _wanted(command: HouseCommand, name: str, value: object) -> str | None:
    """What a field must hold, where it does not."""
    wanted, right = _of_command(command, name, value)
    if wanted:
        return None if right else wanted
    if name in _IDS:
        return None if is_name(value) else f"1 to {MOST_ID} printable characters as {name}"
    if name in _TEXTS:
        return None if _is_text(value, MOST_TEXT, 1) else f"1 to {MOST_TEXT} printable characters as {name}"
    if name in _LEAST:
        if type(value) is int and value >= _LEAST[name]:
            return None
        return f"a whole number of at least {_LEAST[name]} as {name}"
    if name in _NUMBERS:
        least, most = _NUMBERS[name]
        right = type(value) is int and least <= value <= most
        return None if right else f"{_CALLED.get(name, 'a whole number')} from {least} to {most} as {name}"
    return None


_CALLED: Final[Mapping[str, str]] = {"at": "milliseconds", "session": "a session"}


def _of_command(command: HouseCommand, name: str, value: object) -> tuple[str, bool]:
    """What a field of one kind of command alone must hold, and whether it does."""
    match command, name:
        case (NoteSignIn() | NoteSignOut(), "session"):
            return f"1 to {MOST_ID} printable characters as session", is_name(value)
        case RedeemTicket(), "ask":
            return f"1 to {MOST_ID} printable characters as ask", value is None or is_name(value)
        case NoteSignOut(), "why":
            return f"one of {', '.join(SignOutCause)} as why", isinstance(value, SignOutCause)
        case EnrolDevice(), "kind":
            return f"one of {', '.join(DeviceKind)} as kind", isinstance(value, DeviceKind)
        case EnrolDevice(), "key":
            right = type(value) is str and _KEY.fullmatch(value) is not None
            return "an Ed25519 public key of 64 hexadecimal characters (0-9, a-f) as key", right
        case EnrolDevice(), "seat" if command.kind is not DeviceKind.TERMINAL:
            return "no seat, which only a terminal has", value is None
        case NoteClock(), "jump":
            right = type(value) is int and value != 0 and -LATEST <= value <= LATEST
            return f"milliseconds from -{LATEST} to {LATEST} and not 0 as jump", right
        case _:
            return "", True


def _is_text(value: object, most: int, least: int = 0) -> bool:
    return type(value) is str and least <= len(value) <= most and value.isprintable()


def _settings(settings: object, clause: Clause) -> Iterator[Refusal]:
    if type(settings) is not dict:
        got = f"expected settings by their names, got {quoted(settings)}"
        yield Refusal(Reason.BAD_VALUE, clause, got)
    elif len(settings) > MOST_SETTINGS:
        yield too_many("settings", MOST_SETTINGS)
    else:
        for name, value in settings.items():
            if not is_name(name) or not _is_text(value, MOST_SETTING):
                wanted = f"a name of 1 to {MOST_ID} printable characters and a text of at most {MOST_SETTING}"
                got = f"{quoted(name)}: {quoted(value)}"
                yield Refusal(Reason.BAD_VALUE, clause, f"expected {wanted}, got {got}")


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
