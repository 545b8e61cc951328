"""A stop after any event of any playbook: what follows is what the rules say, and play goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.game import (
    Account,
    Declaration,
    Hold,
    Recovered,
    Refusal,
    Table,
    decide,
    evolve,
    recover,
    replayed,
)
from taisai.game import events as happened
from taisai.game.commands import CloseWithdrawal, Command, DecideReferral, Perform
from taisai.game.events import Event
from taisai.game.vocabulary import Treatment
from taisai.rules import Act
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Phase
from tests.game.playbooks import book_of, books_faults, each_playbook, terms_compiled_once, told


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


PLACING, TUMBLED, SHOWN, SETTLED, BETWEEN = "placing", "tumbled", "shown", "settled", "between"
AFTER_A_STOP: dict[str, dict[str, tuple[Recovery, str]]] = {
    "mbs-sic-bo-v6": {
        PLACING: (Recovery.WITHDRAW_OPTION, "5.13.1"),
        TUMBLED: (Recovery.DECLARE, "house:declaration"),
        SHOWN: (Recovery.CONTINUE, "5.13.2"),
        SETTLED: (Recovery.CONCLUDE, "1.1.3"),
    },
    "rws-sic-bo-etg-v8": {
        PLACING: (Recovery.VOID, "5.1.2"),
        TUMBLED: (Recovery.DECLARE, "house:declaration"),
        SHOWN: (Recovery.CONTINUE, "5.1.1"),
        SETTLED: (Recovery.CONCLUDE, "1.8"),
    },
    "mbs-3-card-sic-bo": {
        PLACING: (Recovery.LOCK_AND_REFER, "house:outside-the-rules"),
        SHOWN: (Recovery.LOCK_AND_REFER, "house:outside-the-rules"),
        SETTLED: (Recovery.CONCLUDE, "1.1.2"),
    },
    "us-sic-bo": {
        PLACING: (Recovery.LOCK_AND_REFER, "house:outside-the-rules"),
        TUMBLED: (Recovery.LOCK_AND_REFER, "house:outside-the-rules"),
        SHOWN: (Recovery.SETTLE_THEN_SHUT, "6(b)"),
        SETTLED: (Recovery.CONCLUDE, "5(g)"),
    },
}
"""Book → where the record ends → what is done, by which clause."""
DECLARED = {
    ("mbs-sic-bo-v6", Declared.SEEN): (Recovery.CONTINUE, "5.13.2"),
    ("mbs-sic-bo-v6", Declared.UNSEEN): (Recovery.WITHDRAW_OPTION, "5.13.1"),
    ("rws-sic-bo-etg-v8", Declared.SEEN): (Recovery.CONTINUE, "5.1.1"),
    ("rws-sic-bo-etg-v8", Declared.UNSEEN): (Recovery.VOID, "5.1.2"),
}


class Ends:
    """Where a record ends, read off the events as a person would."""

    def __init__(self) -> None:
        self.stage, self.round, self.seen = BETWEEN, 0, False
        self.covers_until_three = False

    def see(self, event: Event) -> None:
        match event:
            case happened.BetsOpened() | happened.BetsReopened():
                self.stage, self.round, self.seen = PLACING, event.round, False
            case happened.TableOpened():
                self.covers_until_three = event.rulebook == "us-sic-bo"
            case happened.DiceTumbled() if event.tumbles < 3 and not self.covers_until_three:
                pass  # void in the same breath: the dice have not tumbled as the document has it
            case happened.DiceTumbled() | happened.DealPressed():
                self.stage = TUMBLED
            case (
                happened.ShakerActivated()
                | happened.DiceUncovered()
                | happened.CardsDealt()
                | happened.SettlementUndone()
            ):
                self.stage = SHOWN
            case happened.RoundSettled():
                self.stage = SETTLED
            case happened.RoundConcluded() | happened.RoundVoided() if event.round == self.round:
                self.stage = BETWEEN
            case happened.SightDeclared():
                self.seen = event.declared is Declared.SEEN
            case happened.IrregularityRuled() if event.seen and event.second and event.round == self.round:
                self.seen = True  # reported by two, it is declared
            case _:
                pass

    def expected(self, book: str) -> tuple[Recovery, str]:
        """What recovery should say."""
        if self.stage == BETWEEN:
            return Recovery.NOTHING, "house:recovery"
        rule = AFTER_A_STOP[book][self.stage]
        if rule[0] is Recovery.DECLARE and self.seen:
            rule = DECLARED[book, Declared.SEEN]
        return rule


def prefixes(name: str) -> Iterator[tuple[list[Event], Ends, Command | None]]:
    """Every prefix of a playbook's events, where it ends, and what is asked next where a command ended."""
    of = told(name)
    ends = Ends()
    past: list[Event] = []
    for event in of.opened:
        yield past, ends, None
        past.append(event)
        ends.see(event)
    for step in of.played:
        yield past, ends, step.command
        for event in step.events:
            past.append(event)
            ends.see(event)
            yield past, ends, None
    yield past, ends, None


def ranked(table: Table) -> tuple[str, str]:
    """The Dealer, and a second person of supervising rank."""
    dealer = table.dealer()
    others = [
        name for name, one in table.people.items() if table.ranks.at_least(one.position, table.ranks.second)
    ]
    assert dealer is not None
    return dealer, others[0]


def go_on(table: Table, command: Command) -> tuple[Event, ...]:
    """The command must be accepted; the books balance after each event."""
    answer = decide(table, command)
    assert not isinstance(answer, Refusal), answer
    for event in answer:
        evolve(table, event)
        assert books_faults(table) == []
    return answer


def answered(table: Table, at: int) -> None:
    """Whatever else held the round when it stopped is let go on."""
    for referral in [one for one in table.referrals.values() if one.holds and one.decided_by is None]:
        assert isinstance(decide(table, Perform(at=at, by=ranked(table)[0], act=Act.SETTLE)), Refusal)
        person = next(
            name for name, one in table.people.items() if table.ranks.at_least(one.position, referral.to)
        )
        go_on(
            table,
            DecideReferral(
                at=at, by=person, referral=referral.id, treatment=Treatment.CONTINUE, reason="goes on"
            ),
        )


@each_playbook
def test_a_stop_after_any_event_is_followed_by_what_the_rules_say(name: str) -> None:
    book = book_of(told(name).story.book)
    for past, ends, asked in prefixes(name):
        at = past[-1].at if past else 0
        back = recover(past, book, at=at)
        assert (back.action, str(back.clause)) == ends.expected(book.id), (name, len(past), past[-1:])
        assert back.refusal is None
        assert books_faults(back.table) == []
        assert_it_goes_on(back, at, asked, past)


def assert_it_goes_on(back: Recovered, at: int, asked: Command | None, past: list[Event]) -> None:
    """What the action promises can be done, and the round is brought forward by it."""
    table = back.table
    match back.action:
        case Recovery.VOID:
            assert table.round is None
            assert table.ledger.balances[Account.AT_RISK] == 0
        case Recovery.DECLARE:
            dealer, second = ranked(table)
            for declared in Declared:
                again = recover(past, table.book, Declaration(declared, dealer, second), at=at)
                assert (again.action, str(again.clause)) == DECLARED[table.book.id, declared]
                assert books_faults(again.table) == []
        case Recovery.WITHDRAW_OPTION if table.round and table.round.staked:
            assert Hold.WITHDRAWAL in table.holds
            go_on(table, CloseWithdrawal(at=at, by=ranked(table)[0]))
            assert Hold.WITHDRAWAL not in table.holds
        case Recovery.LOCK_AND_REFER:
            assert Hold.REFERRAL in table.holds
            referral = next(one for one in table.referrals.values() if one.holds and not one.decided_by)
            person = next(
                name for name, one in table.people.items() if table.ranks.at_least(one.position, referral.to)
            )
            supervisors = [
                name
                for name, one in table.people.items()
                if name != person and table.ranks.at_least(one.position, table.ranks.second)
            ]
            beside = supervisors[0] if supervisors else None
            decision = DecideReferral(
                at=at, by=person, referral=referral.id, treatment=Treatment.VOID, reason="after a stop",
                second=beside,
            )  # fmt: skip
            go_on(table, decision)
            assert table.round is None
        case Recovery.SETTLE_THEN_SHUT:
            dealer, second = ranked(table)
            answered(table, at)
            if table.phase is Phase.ENTERED:
                assert isinstance(decide(table, Perform(at=at, by=dealer, act=Act.SETTLE)), Refusal)
                go_on(table, Perform(at=at, by=dealer, act=Act.SETTLE, second=second))
            assert table.shut_after is not None
        case _:
            if asked is not None:
                assert decide(table, asked) == decide(replayed(table.book, past), asked)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("mbs-plain-round", PLACING),
        ("rws-plain-round", TUMBLED),
        ("three-card-plain-round", SHOWN),
        ("us-manual-round", SETTLED),
    ],
)
def test_sabotage_another_table_of_recoveries_is_seen(
    monkeypatch: pytest.MonkeyPatch, name: str, stage: str
) -> None:
    rules = AFTER_A_STOP[told(name).story.book]
    monkeypatch.setitem(rules, stage, (Recovery.CONTINUE, "house:recovery"))
    with pytest.raises(AssertionError):
        test_a_stop_after_any_event_is_followed_by_what_the_rules_say(name)
