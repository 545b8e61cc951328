"""A stop after any event of a plain round, and each declaration of what happened meanwhile: what follows.

What should follow is written down here by hand, for each document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from taisai.game import Account, Hold, Refusal, Table, decide, evolve, recover
from taisai.game import events as happened
from taisai.game.commands import DeclareUnrecorded, EnterSettlement
from taisai.game.events import Event
from taisai.game.irregularities import holds
from taisai.rules import Rulebook
from taisai.rules.procedure import Recovery, RecoveryRule
from taisai.rules.vocabulary import Phase
from tests.game.playbooks import book_of, books_faults, told
from tests.game.snapshots import snapshot

MBS, THREE_CARD, US = "mbs-sic-bo-v6", "mbs-3-card-sic-bo", "us-sic-bo"
ROUNDS: Final = (
    "mbs-plain-round",  "mbs-claims", "three-card-plain-round", "us-manual-round",
    "us-automated-round",
)  # fmt: skip
OUTSIDE: Final = "house:outside-the-rules"

CASES: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "called": {"called": True},
    "called, tumbled": {"called": True, "tumbles": 3},
    "called, seen": {"called": True, "seen": True},
    "seen before the call": {"called": True, "early": True},
    "seen": {"seen": True},
    "tumbled twice": {"called": True, "tumbles": 2},
    "uncovered": {"called": True, "tumbles": 3, "faces": (1, 2, 4)},
    "uncovered before the call": {"called": True, "tumbles": 3, "early": True, "faces": (1, 2, 4)},
    "settled by hand": {"called": True, "tumbles": 3, "faces": (1, 2, 4), "settled": True},
}
Answer = tuple[Recovery, str] | None
"""What follows, and by which clause; None where the declaration contradicts the record."""


class Record(NamedTuple):
    """Where a record ends, as a person reads it off the events."""

    phase: Phase
    closed: bool
    shown: bool
    settled: bool
    paid: bool
    faces: tuple[int, ...]
    automated: bool


def expected(book: str, record: Record, case: str) -> Answer:  # noqa: PLR0911  each document in turn
    """What the document orders."""
    declared = CASES[case]
    shown = record.shown or bool(declared.get("faces"))
    closed = record.closed or bool(declared.get("called"))
    settled = bool(declared.get("settled"))
    if record.settled:
        other = bool(declared.get("faces")) and declared["faces"] != record.faces
        if other or (settled and record.paid):
            return None
        return Recovery.CONCLUDE, {MBS: "1.1.3", THREE_CARD: "1.1.2", US: "5(g)"}[book]
    if settled:
        if book == US:
            return Recovery.SETTLE_THEN_SHUT, "6(b)"
        return Recovery.CONCLUDE, {MBS: "1.1.3", THREE_CARD: "1.1.2"}[book]
    early = case in ("seen before the call", "uncovered before the call") or (case == "seen" and not closed)
    if book == MBS:
        if case == "tumbled twice":
            return None if record.shown else (Recovery.VOID, "5.1")
        if early:
            return Recovery.VOID, "5.2"
        seen = shown or case in ("called, seen", "seen")
        return (Recovery.CONTINUE, "5.13.2") if seen else (Recovery.WITHDRAW_OPTION, "5.13.1")
    if book == THREE_CARD:
        return (Recovery.VOID, "5.1") if early else (Recovery.LOCK_AND_REFER, OUTSIDE)
    in_view = shown or (record.automated and bool(declared.get("tumbles")))
    if in_view and closed:
        return Recovery.SETTLE_THEN_SHUT, "6(b)"
    return Recovery.LOCK_AND_REFER, OUTSIDE


def prefixes(name: str) -> Iterator[tuple[list[Event], Record]]:
    """Every prefix of a playbook that ends in a round, and where it ends."""
    book, of = book_of(told(name).story.book), told(name)
    events = of.events()
    for count in range(1, len(events) + 1):
        past = events[:count]
        table = recover(past, book, at=past[-1].at).table
        round_ = table.round
        if round_ is None:
            continue
        own = past[max(place for place, event in enumerate(past) if isinstance(event, happened.BetsOpened)) :]
        kinds = {type(event) for event in own}
        faces = [event.faces for event in own if isinstance(event, happened.ResultEntered)]
        yield (
            past,
            Record(
                round_.phase, happened.BetsClosed in kinds,
                bool(kinds & {happened.DiceUncovered, happened.CardsDealt, happened.ShakerActivated}),
                happened.RoundSettled in kinds, happened.WinnersPaid in kinds, faces[-1] if faces else (),
                name.startswith("us-automated"),
            ),
        )  # fmt: skip


def declared(past: list[Event], book: Rulebook, case: str) -> tuple[Table, tuple[Event, ...] | Refusal]:
    """A table after a stop and a declaration, and the answer."""
    back = recover(past, book, at=past[-1].at)
    assert (back.action, str(back.clause)) == (Recovery.DECLARE, "house:declaration")
    table = back.table
    answer = decide(
        table, DeclareUnrecorded(at=past[-1].at, by=dealer(table), second=beside(table), **CASES[case])
    )
    for event in answer if not isinstance(answer, Refusal) else ():
        evolve(table, event)
        assert books_faults(table) == []
    return table, answer


def dealer(table: Table) -> str:
    name = table.dealer()
    assert name is not None
    return name


def beside(table: Table) -> str:
    """A second person of supervising rank."""
    ranks = table.ranks
    names = (name for name, person in table.people.items() if ranks.at_least(person.position, ranks.second))
    return next(name for name in names if name != dealer(table))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ROUNDS)
def test_what_follows_from_record_and_declaration(name: str, case: str) -> None:
    book, asked = book_of(told(name).story.book), 0
    for past, record in prefixes(name):
        table, answer = declared(past, book, case)
        right = expected(book.id, record, case)
        if isinstance(answer, Refusal):
            assert right is None or record.shown, (record, answer)
            continue
        asked += 1
        (stopped,) = (event for event in answer if isinstance(event, happened.Interrupted))
        if right is not None:
            assert (stopped.action, str(stopped.clause)) == right, (record, case)
        assert snapshot(declared(past, book, case)[0]) == snapshot(table)  # a pure function of all three
        _is_carried_out(table, stopped.action, settled=bool(CASES[case].get("settled")))
    assert asked


def _is_carried_out(table: Table, action: Recovery, *, settled: bool) -> None:
    """What was ordered is what the round then waits for."""
    if settled:
        assert list(table.holds) == [Hold.SETTLEMENT]
        entered = EnterSettlement(
            at=table.latest, by=dealer(table), evidence="camera 4", reason="stopped", second=beside(table)
        )
        answer = decide(table, entered)
        assert not isinstance(answer, Refusal), answer
        for event in answer:
            evolve(table, event)
            assert books_faults(table) == []
        assert table.round is None
        assert (table.shut is not None) is (action is Recovery.SETTLE_THEN_SHUT)
    elif action is Recovery.VOID:
        assert table.round is None
        assert table.ledger.balances[Account.AT_RISK] == 0
    elif action is Recovery.LOCK_AND_REFER:
        assert list(table.holds) == [Hold.REFERRAL]
    elif action is Recovery.WITHDRAW_OPTION:
        assert table.current.staked == 0 or list(table.holds) == [Hold.WITHDRAWAL]
    else:
        assert table.holds == {}
        assert (table.shut_after is not None) is (action is Recovery.SETTLE_THEN_SHUT)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("mbs-plain-round", "seen before the call"),
        ("three-card-plain-round", "seen"),
        ("us-manual-round", "uncovered"),
    ],
)
def test_sabotage_a_declaration_that_is_not_asked_for_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, case: str
) -> None:
    def by_record_alone(table: Table, *_: object, **__: object) -> RecoveryRule:
        return RecoveryRule(Recovery.CONTINUE, table.irregularities.void)

    monkeypatch.setattr(holds, "_rule_at", by_record_alone)
    with pytest.raises(AssertionError):
        test_what_follows_from_record_and_declaration(name, case)
