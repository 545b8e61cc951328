"""The kinds of values that commands of the House take, and common refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeVar

from taisai.cage.messages import (
    AdoptCredentials,
    AdoptInterpretations,
    CommitCredentials,
    DeviceKind,
    EnrolDevice,
    HouseCommand,
    NoteClock,
    NoteFailure,
    NoteSignIn,
    NoteSignOut,
    NoteWin,
    OpenHouse,
    OverrideWitness,
    RedeemTicket,
    SignOutCause,
    TakeSettings,
)
from taisai.game.checks import MOST_AT_ONCE
from taisai.game.messages import LATEST
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import MOST_ID, folded, is_name
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from taisai.validation import ValueKind, flag, passing, printable_text, quoted, text, whole

MOST_RANKS: Final = 20  # of the ladder; the longest of the documents has four
MOST_EDITION: Final = 1_000  # of one rulebook: one a month for eighty years
MOST_SESSIONS: Final = 2**31 - 1  # of one seat: one a second would last for 68 years

MOST_ROUND: Final = 2**31 - 1  # of one table, likewise
MOST_OVERRIDE: Final = 8  # hours that money may leave without a witness: a shift, then people decide again
MOST_TEXT: Final = 500  # characters of a reason or detail
MOST_SETTINGS: Final = 1_000  # at once: some dozens of the system's own, and ten for each of a hundred tables
MOST_SETTING: Final = 1_000  # characters of one

_PEOPLE: Final = Clause("house:people")
NAME: Final[ValueKind[str]] = passing(
    f"a name of 1 to {MOST_ID} printable characters, no blank at either end", is_name
)
KEYED_HASH: Final = text("a keyed hash of 64 hexadecimal digits (0-9, a-f)", "[0-9a-f]{64}")
_TEXT: Final = printable_text(1, MOST_TEXT)
_SETTING: Final = printable_text(0, MOST_SETTING)


def _kinds(kind: ValueKind[Any], names: str) -> dict[str, ValueKind[Any]]:
    return dict.fromkeys(names.split(), kind)


AMOUNTS: Final[Mapping[str, ValueKind[int]]] = {
    **_kinds(whole(1, GREATEST_SUM), "amount threshold"),
    **_kinds(whole(0, GREATEST_SUM), "declared counted"),  # a drop box may be empty
}
_KINDS: Final[Mapping[str, ValueKind[Any]]] = {
    **_kinds(NAME, "by claim currency device house id item person seat table ticket transfer"),
    **_kinds(_TEXT, "address detail e_value manifest program reason serial what why"),
    **_kinds(text("16 hexadecimal digits (0-9, a-f)", "[0-9a-f]{16}"), "file machine"),
    **_kinds(KEYED_HASH, "code commitment"),
    **AMOUNTS,
    **_kinds(whole(1, MOST_AT_ONCE, "minor units"), "sale redemption fill"),
    **_kinds(whole(0, LATEST, "milliseconds"), "at until"),
    "hours": whole(1, GREATEST_SUM),
    "restored": flag(),
    "results": whole(1, GREATEST_SUM),
    "round": whole(1, MOST_ROUND),
    "session": whole(1, MOST_SESSIONS),
}
"""Field → its kind in every command that has no kind of its own below."""


def _member(words: type[StrEnum]) -> ValueKind[Any]:
    return passing(f"one of {', '.join(words)}", lambda value: isinstance(value, words))


_KINDS_OF: Final[Mapping[tuple[type[HouseCommand], str], ValueKind[Any]]] = {
    **{(AdoptInterpretations, name): NAME for name in ("rulebook", "rank", "asked_by")},
    (AdoptInterpretations, "edition"): whole(1, MOST_EDITION),
    (AdoptInterpretations, "digest"): text(
        "a digest 'sha256:' and 64 hexadecimal digits", "sha256:[0-9a-f]{64}"
    ),
    (OverrideWitness, "hours"): whole(1, MOST_OVERRIDE, "hours"),
    (CommitCredentials, "activation"): passing(
        KEYED_HASH.expected, lambda value: value is None or KEYED_HASH.accepts(value)
    ),
    (NoteSignIn, "session"): NAME,
    (NoteFailure, "counts"): passing("true or false", lambda value: type(value) is bool),
    (NoteSignOut, "session"): NAME,
    (NoteSignOut, "why"): _member(SignOutCause),
    (RedeemTicket, "ask"): passing(NAME.expected, lambda value: value is None or is_name(value)),
    (EnrolDevice, "kind"): _member(DeviceKind),
    (EnrolDevice, "key"): text("an Ed25519 public key of 64 hexadecimal digits (0-9, a-f)", "[0-9a-f]{64}"),
    (NoteClock, "jump"): passing(
        f"milliseconds from -{LATEST} to {LATEST}, but not 0",
        lambda value: type(value) is int and value != 0 and -LATEST <= value <= LATEST,
    ),
}
_NO_SEAT: Final = passing("no seat, because only a terminal has one", lambda value: value is None)


def value_refusals(command: HouseCommand, clause: Clause) -> Iterator[Refusal]:
    """The refusals of a command's values that do not depend on the state of the House."""
    for name in command.__struct_fields__:
        value = getattr(command, name)
        kind = _KINDS_OF.get((type(command), name)) or _KINDS.get(name)
        if name == "seat" and isinstance(command, EnrolDevice) and command.kind is not DeviceKind.TERMINAL:
            kind = _NO_SEAT
        if name in AMOUNTS and type(value) is int and value > GREATEST_SUM:
            yield beyond(name, value)
        elif kind is not None and not kind.accepts(value):
            yield Refusal(Reason.BAD_VALUE, clause, f"expected {kind.expected}, got {quoted(value)} ({name})")
    match command:
        case OpenHouse():
            yield from _ladder(command.ladder, command.second_rank)
        case TakeSettings():
            yield from _settings(command.settings, clause)
        case AdoptCredentials():
            yield from _commitments(command.commitments, clause)
        case NoteWin() if type(command.amount) is type(command.threshold) is int:
            if command.amount < command.threshold:
                expected = f"a win of the threshold {quoted(command.threshold)} or more"
                got = f"expected {expected}, got {quoted(command.amount)}"
                yield Refusal(Reason.BAD_VALUE, clause, got)
        case _:
            pass


def _settings(settings: object, clause: Clause) -> Iterator[Refusal]:
    if type(settings) is not dict:
        message = f"expected settings by their names, got {quoted(settings)}"
        yield Refusal(Reason.BAD_VALUE, clause, message)
    elif len(settings) > MOST_SETTINGS:
        yield too_many("settings", MOST_SETTINGS)
    else:
        for name, value in settings.items():
            if not (NAME.accepts(name) and _SETTING.accepts(value)):
                expected = f"{NAME.expected}, and a value of {_SETTING.expected}"
                got = f"{quoted(name)}: {quoted(value)}"
                yield Refusal(Reason.BAD_VALUE, clause, f"expected {expected}, got {got}")


def _commitments(commitments: object, clause: Clause) -> Iterator[Refusal]:
    if type(commitments) is not dict:
        yield Refusal(Reason.BAD_VALUE, clause, f"expected people and hashes, got {quoted(commitments)}")
        return
    for person, commitment in commitments.items():
        if not (NAME.accepts(person) and KEYED_HASH.accepts(commitment)):
            expected = f"expected {NAME.expected}, and {KEYED_HASH.expected}"
            got = f"got {quoted(person)}: {quoted(commitment)}"
            yield Refusal(Reason.BAD_VALUE, clause, f"{expected}, {got}")


def _ladder(ladder: object, second_rank: object) -> Iterator[Refusal]:
    if not isinstance(ladder, tuple) or not all(map(is_name, ladder)) or len(set(ladder)) != len(ladder):
        expected = f"ranks of 1 to {MOST_ID} printable characters, each once"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, f"expected {expected}, got {quoted(ladder)}")
    elif len(ladder) > MOST_RANKS:
        yield too_many("ranks", MOST_RANKS)
    elif second_rank not in ladder:
        message = f"expected a second rank of the ladder, got {quoted(second_rank)}"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, message)


def beyond(what: str, amount: int) -> Refusal:
    """The refusal of a sum that is too great."""
    message = f"expected at most 2^53 - 1, got {quoted(amount)} ({what})"
    return Refusal(Reason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), message)


def too_many(what: str, most: int) -> Refusal:
    """The refusal of an addition beyond a greatest number."""
    return Refusal(Reason.TOO_MANY, Clause("house:most"), f"expected at most {most} {what}, got {most + 1}")


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def lookup(mapping: Mapping[_Key, _Value], key: object) -> _Value | None:
    """The value under a key; None for an unknown key, or for a value that cannot be a key."""
    try:
        return mapping.get(key)  # type: ignore[arg-type]
    except TypeError:  # a list, for example, has no hash
        return None


def same_person(name: object, other: object) -> bool:
    """Whether two values are names of the same person."""
    return is_name(name) and is_name(other) and folded(name) == folded(other)


def clock(at: int) -> str:
    """A time in UTC, such as 2026-11-16T12:00:00.000Z."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
