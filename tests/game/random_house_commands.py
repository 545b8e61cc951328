"""Any command of the House, sensible or junk."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from taisai.cage.archive import KEPT_FOR
from taisai.cage.messages import (
    HOUSE_COMMANDS,
    ArchiveTickets,
    DeviceKind,
    EnrolDevice,
    HouseCommand,
    IssueTicket,
    LimitAmounts,
    NoteSignIn,
    NoteSignOut,
    RedeemTicket,
    SendTicket,
    SignOutCause,
)
from taisai.game.vocabulary import FLOOR, TABLE
from taisai.rules.settlement import GREATEST_SUM
from tests.game.house_access import AT_THE_DOOR, KEY, OWN_CREDENTIALS
from tests.game.houses import LADDER, NOON

FEW = st.sampled_from(["1", "2", "3"])
PEOPLE = st.sampled_from(["ann", "bob", "eve", "sue", "max"])
NAMESAKES = st.sampled_from(["Ann", "EVE", "ｓｕｅ"])
AMOUNTS = st.integers(1, 500) | st.sampled_from([GREATEST_SUM, 6_000])
SENSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "at": st.integers(NOON, NOON + 1_000_000) | st.just(NOON + 2 * KEPT_FOR),
    "by": PEOPLE | st.just("owner"),
    "second": st.sampled_from(["sue", "max", "sue", "max", "ann", None]),
    "person": PEOPLE | NAMESAKES,
    "rank": st.sampled_from(LADDER),
    "house": st.just("Lotus"),
    "currency": st.just("SGD"),
    "ladder": st.just(LADDER),
    "second_rank": st.just("supervisor"),
    "amount": AMOUNTS,
    "declared": st.integers(0, 500),
    "counted": st.integers(0, 500),
    "transfer": FEW | st.integers(0, 1_000).map(str),
    "table": st.sampled_from(["T7", "T8"]),
    "ticket": FEW | st.integers(0, 30).map(str),
    "id": FEW | st.integers(0, 1_000).map(str),
    "seat": FEW,
    "session": st.integers(1, 3),
    "claim": FEW,
    "device": st.sampled_from(["PT1", "PT2", "pt1", "board", "ann", "floor"]),
    "kind": st.sampled_from(DeviceKind),
    "key": st.just(KEY),
    "address": st.just("10.0.0.7"),
    "why": st.just("password or code"),
    "counts": st.booleans(),
    "reason": st.just("it was time"),
    "settings": st.dictionaries(FEW, FEW, max_size=2),
    "program": st.just("taisai"),
    "manifest": st.just(KEY),
    "rulebook": st.just("my-book"),
    "edition": st.integers(1, 3),
    "digest": st.sampled_from(["sha256:" + digit * 64 for digit in "ab"]),
    "asked_by": st.just("5.10"),
    "jump": st.sampled_from([-5_000, 5_000]),
    "round": st.integers(1, 3),
    "threshold": st.integers(1, 100),
    "what": st.just("result"),
    "detail": st.just("read 2 3 5"),
    "item": st.just("dice"),
    "serial": st.just("D-17"),
    "results": st.integers(1, 5_000),
    "hours": st.just(24),
    "machine": st.sampled_from(["a" * 16, "b" * 16]),
    "file": st.sampled_from(["a" * 16, "b" * 16]),
    "restored": st.booleans(),
    "e_value": st.just("1204.5"),
    "sale": st.integers(1, 600),
    "redemption": st.integers(1, 600),
    "fill": st.integers(1, 600),
    "tickets": st.lists(FEW | st.integers(0, 30).map(str), max_size=3).map(tuple),
    "transfers": st.lists(FEW | st.integers(0, 1_000).map(str), max_size=2).map(tuple),
    "ask": st.sampled_from([None] * 8 + ["a1", "a2"]),
    "code": st.sampled_from([KEY, KEY[::-1]]),
    "commitment": st.sampled_from([KEY, KEY[::-1]]),
    "activation": st.sampled_from([None, KEY, KEY[::-1]]),
    "until": st.integers(NOON, NOON + 2_000_000),
    "commitments": st.dictionaries(st.sampled_from(["ann", "sue"]), st.just(KEY), max_size=2),
}
JUNK: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just("x" * 1_000)
    | st.binary()
    | st.lists(st.text(), max_size=2)
    | st.lists(st.text(), max_size=2).map(tuple)
    | st.just({})
    | st.just(([],))
)


_DOOR = (*AT_THE_DOOR, *OWN_CREDENTIALS)
BY_FLOOR_ALONE = {type(one) for one in _DOOR if one.by == FLOOR} | {ArchiveTickets, LimitAmounts}
AT_THE_CAGE = tuple(kind for kind in HOUSE_COMMANDS if kind not in {type(one) for one in _DOOR})


def asked(
    kind: type[HouseCommand], fields: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[HouseCommand]:
    if kind in (IssueTicket, SendTicket) and fields["by"] is not JUNK:
        fields = fields | {"by": st.sampled_from([TABLE] * 9 + ["sue"])}
    if kind is RedeemTicket and fields["second"] is not JUNK:
        fields = fields | {"second": st.none()}  # a wrong one would come before what is wrong of the ticket
    if kind in BY_FLOOR_ALONE and fields["by"] is not JUNK:
        fields = fields | {"by": st.sampled_from([FLOOR] * 9 + ["sue"])}
    if kind in (NoteSignIn, NoteSignOut) and fields["session"] is not JUNK:
        fields = fields | {"session": FEW}
    if kind is NoteSignOut and fields["why"] is not JUNK:
        fields = fields | {"why": st.sampled_from(SignOutCause)}
    if kind is EnrolDevice and JUNK not in (fields["seat"], fields["kind"]):
        seated = st.sampled_from(
            [(DeviceKind.TERMINAL, "1"), (DeviceKind.TERMINAL, "2"), (DeviceKind.SHAKER, None)]
        )
        return seated.flatmap(
            lambda one: _built(kind, fields | {"kind": st.just(one[0]), "seat": st.just(one[1])})
        )
    return _built(kind, fields)


def _built(
    kind: type[HouseCommand], fields: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[HouseCommand]:
    return st.builds(kind, **{name: fields[name] for name in kind.__struct_fields__})
