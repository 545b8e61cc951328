"""A stop after any event of any playbook: what follows is what the rules say, and play goes on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

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
from taisai.game.commands import (
    Assign,
    CloseWithdrawal,
    Command,
    ContestReport,
    DecideReferral,
    DeclareUnrecorded,
    Perform,
)
from taisai.game.events import Event
from taisai.game.irregularities import holds
from taisai.game.vocabulary import HOUSE, Treatment
from taisai.rules import Act
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Phase
from tests.game.playbooks import (
    book_of,
    books_faults,
    document_of,
    some_playbooks,
    terms_compiled_once,
    told,
)


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


PLACING, TUMBLED, SHOWN, SETTLED, BETWEEN = "placing", "tumbled", "shown", "settled", "between"
MBS, RWS, CARDS, US = "mbs-sic-bo-v6", "rws-sic-bo-etg-v8", "mbs-3-card-sic-bo", "us-sic-bo"
After = tuple[Recovery, str]
OUTSIDE: After = (Recovery.LOCK_AND_REFER, "house:outside-the-rules")
DECLARE: After = (Recovery.DECLARE, "house:declaration")
CONCLUDED = {MBS: "1.1.3", RWS: "1.8", CARDS: "1.1.2", US: "5(g)"}
"""Book → the clause by which a settled round is concluded."""
FIRST_EDITION: dict[str, dict[str, After]] = {
    MBS: {
        PLACING: (Recovery.WITHDRAW_OPTION, "5.13.1"),
        TUMBLED: DECLARE,
        SHOWN: (Recovery.CONTINUE, "5.13.2"),
    },
    RWS: {
        PLACING: (Recovery.VOID, "5.1.2"),
        TUMBLED: DECLARE,
        SHOWN: (Recovery.CONTINUE, "5.1.1"),
    },
    CARDS: {PLACING: OUTSIDE, SHOWN: OUTSIDE},
    US: {PLACING: OUTSIDE, TUMBLED: OUTSIDE, SHOWN: (Recovery.SETTLE_THEN_SHUT, "6(b)")},
}
"""Book → where the record ends → what is done, by which clause, under the first editions."""
DECLARED: dict[tuple[str, bool], After] = {
    (MBS, True): (Recovery.CONTINUE, "5.13.2"),
    (MBS, False): (Recovery.WITHDRAW_OPTION, "5.13.1"),
    (RWS, True): (Recovery.CONTINUE, "5.1.1"),
    (RWS, False): (Recovery.VOID, "5.1.2"),
}
"""Book and whether a die was seen once bets were closed → what is done, by which clause."""
SEEN_EARLY = {MBS: "5.2", CARDS: "5.1"}
"""Live table → the clause that voids a round of which a die or card was seen before the announcement."""


class Ends:
    """Where a record ends, read off the events as a person would."""

    def __init__(self, book: str) -> None:
        self.book = book
        self.document, _, edition = book.partition("@")
        self.is_first = edition == "1"
        self.stage, self.round, self.seen, self.closed = BETWEEN, 0, False, False
        self.was_seen = False
        """Before the latest report."""
        self.by_hand = False
        self.waiting: dict[str, bool] = {}
        """Report of one person on the round in hand → whether it says that a die was seen."""

    def see(self, event: Event) -> None:  # noqa: C901, PLR0912  one line for each thing that can happen
        match event:
            case happened.BetsOpened() | happened.BetsReopened():
                self.stage, self.round, self.seen, self.closed = PLACING, event.round, False, False
                self.waiting = {}
            case happened.BetsClosed():
                self.closed = True
            case happened.DiceTumbled() if event.tumbles < 3 and self.document != US:
                pass  # void in the same breath: the dice have not tumbled as the document has it
            case happened.DiceTumbled() | happened.DealPressed():
                self.stage = TUMBLED
            case (
                happened.ShakerActivated()
                | happened.DiceUncovered()
                | happened.CardsDealt()
                | happened.ResultEntered()
                | happened.SettlementUndone()
            ):
                self.stage = SHOWN
            case happened.RoundSettled():
                self.stage = SETTLED
            case happened.RoundConcluded() | happened.RoundVoided() if event.round == self.round:
                self.stage = BETWEEN
            case happened.SightDeclared():
                self.seen = event.declared is Declared.SEEN
            case happened.UnrecordedDeclared():
                self.seen, self.closed = self.seen or event.seen, self.closed or event.called
                if self.stage != SETTLED:
                    is_shown = event.faces and event.called
                    self.stage = SHOWN if is_shown else TUMBLED if event.tumbles else self.stage
                self.by_hand = event.settled
            case happened.SettlementEntered():
                self.by_hand = False
            case happened.IrregularityRuled() if event.seen and event.round == self.round:
                self.was_seen = self.seen
                self.seen = self.seen or not self.is_first or event.second is not None
            case happened.ReportHeld() if event.round == self.round:
                self.waiting[event.report] = event.seen
                if event.seen:  # by one person's report alone it is no fact
                    self.seen = self.was_seen
            case happened.ReportConfirmed() | happened.ReportContested() if event.report in self.waiting:
                says_seen = self.waiting.pop(event.report)
                self.seen = self.seen or (says_seen and isinstance(event, happened.ReportConfirmed))
            case _:
                pass

    def expected(self) -> After:  # noqa: PLR0911
        """What recovery should say."""
        if self.stage == BETWEEN:
            return Recovery.NOTHING, "house:recovery"
        if self.by_hand:
            return Recovery.CONCLUDE, "house:by-hand"  # its settlement is still to be entered
        if self.stage == SETTLED and (self.is_first or self.document == RWS):
            return Recovery.CONCLUDE, CONCLUDED[self.document]
        if self.is_first:
            rule = FIRST_EDITION[self.document][self.stage]
            return DECLARED[self.document, True] if rule == DECLARE and self.seen else rule
        if self.document != RWS:
            return DECLARE  # at a live table people say what happened unrecorded
        if not self.closed:
            return Recovery.VOID, "5.1.2"
        if self.seen or self.stage == SHOWN:
            return Recovery.CONTINUE, "5.1.1"
        return DECLARE

    def declared(self, said: DeclareUnrecorded) -> After:  # noqa: PLR0911
        """What follows once it is declared what happened."""
        called, seen = self.closed or said.called, self.seen or said.seen
        if self.stage == SETTLED:
            return Recovery.CONCLUDE, CONCLUDED[self.document]
        if self.is_first or self.document == RWS:
            return DECLARED[self.document, seen]
        if self.document == MBS and 0 < said.tumbles < 3:
            return Recovery.VOID, "5.1"
        if seen and (said.early or not called) and self.document in SEEN_EARLY:
            return Recovery.VOID, SEEN_EARLY[self.document]
        if self.document == MBS:
            return DECLARED[MBS, seen or self.stage == SHOWN]
        if self.document == US and self.stage == SHOWN:
            return Recovery.SETTLE_THEN_SHUT, "6(b)"
        return OUTSIDE


def prefixes(name: str) -> Iterator[tuple[list[Event], Ends, Command | None]]:
    """Every prefix of a playbook's events, where it ends, and what is asked next where a command ended."""
    of = told(name)
    ends = Ends(of.story.book)
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


def supervising(table: Table) -> list[str]:
    """Those who can be a second person."""
    least = table.ranks.second
    return [name for name, one in table.people.items() if table.ranks.at_least(one.position, least)]


def ranked(table: Table) -> tuple[str, str]:
    """The Dealer, or who acts in their place, and a second person of supervising rank."""
    others = supervising(table)
    dealer = table.dealer() or others[-1]
    return dealer, next(name for name in others if name != dealer)


def go_on(table: Table, command: Command) -> tuple[Event, ...]:
    """The command must be accepted; the books balance after each event."""
    answer = decide(table, command)
    assert not isinstance(answer, Refusal), answer
    for event in answer:
        evolve(table, event)
        assert books_faults(table) == []
    return answer


def contested(table: Table, at: int) -> None:
    """A second person contests every report that waits; where only the reporter supervises, another comes."""
    for report in tuple(table.reports.values()):
        if supervising(table) == [report.by]:
            position = table.people[report.by].position
            go_on(table, Assign(at=at, by=HOUSE, person="Una", rank=position, position=position))
        person = next(name for name in supervising(table) if name != report.by)
        go_on(table, ContestReport(at=at, by=person, report=report.id, reason="seen otherwise"))


def answered(table: Table, at: int) -> None:
    """Whatever else held the round when it stopped is let go on; reports that wait are contested."""
    contested(table, at)
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


@some_playbooks
def test_a_stop_after_any_event_is_followed_by_what_the_rules_say(name: str) -> None:
    book = book_of(told(name).story.book)
    for past, ends, asked in prefixes(name):
        at = past[-1].at if past else 0
        back = recover(past, book, at=at)
        assert (back.action, str(back.clause)) == ends.expected(), (name, len(past), past[-1:])
        assert back.refusal is None
        assert books_faults(back.table) == []
        if back.action is Recovery.DECLARE:
            dealer, second = ranked(back.table)
            for declared in Declared:
                assert_declared(past, ends, Declaration(declared, dealer, second), at)
        else:
            assert_it_goes_on(back, at, asked, past)


def assert_declared(past: list[Event], ends: Ends, declaration: Declaration, at: int) -> None:
    """A declaration whether a die was seen is followed by what the rules say."""
    again = recover(past, book_of(ends.book), declaration, at=at)
    seen = declaration.declared is Declared.SEEN
    if ends.seen and not seen and not ends.is_first:
        assert again.refusal is not None  # it is recorded that a die was seen
        return
    assert again.refusal is None
    said = DeclareUnrecorded(at=at, by=declaration.by, seen=seen)
    assert (again.action, str(again.clause)) == ends.declared(said), (len(past), past[-1:], said)
    assert books_faults(again.table) == []
    assert_it_goes_on(again, at, None, past)


def sayings(at: int, dealer: str, second: str) -> Iterator[DeclareUnrecorded]:
    """All that Dealer and supervisor can say of a round that was not uncovered."""
    for called, tumbles, seen, early in product((False, True), (0, 2, 3), (False, True), (False, True)):
        if seen or not early:
            yield DeclareUnrecorded(
                at=at, by=dealer, second=second, called=called, tumbles=tumbles, seen=seen, early=early
            )


@some_playbooks
def test_whatever_is_declared_of_a_live_table_is_followed_by_what_the_rules_say(name: str) -> None:
    book = book_of(told(name).story.book)
    known = set()
    for past, ends, _ in prefixes(name):
        stands = (ends.stage, ends.seen, ends.closed)
        if stands in known or ends.expected() != DECLARE or ends.document == RWS or ends.is_first:
            continue
        known.add(stands)
        at = past[-1].at
        for said in sayings(at, *ranked(recover(past, book, at=at).table)):
            if ends.seen and not said.seen:
                continue
            table = recover(past, book, at=at).table
            if table.settings.get("shaker") == "automated" and said.tumbles:
                continue  # it is activated, and shows its dice
            events = go_on(table, said)
            (stop,) = (event for event in events if isinstance(event, happened.Interrupted))
            assert (stop.action, str(stop.clause)) == ends.declared(said), (len(past), stands, said)
            recovered = Recovered(table, stop.action, stop.clause, events, None)
            assert_it_goes_on(recovered, at, None, past)


def assert_it_goes_on(back: Recovered, at: int, asked: Command | None, past: list[Event]) -> None:
    """What the action promises can be done, and the round is brought forward by it."""
    table = back.table
    match back.action:
        case Recovery.VOID:
            assert table.round is None
            assert table.ledger.balances[Account.AT_RISK] == 0
        case Recovery.WITHDRAW_OPTION if table.round and table.round.staked:
            assert Hold.WITHDRAWAL in table.holds
            contested(table, at)
            stay = table.practice > 1
            go_on(table, CloseWithdrawal(at=at, by=ranked(table)[0], others_stay=stay))
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
        ("edition-1/mbs-plain-round", PLACING),
        ("edition-1/rws-plain-round", TUMBLED),
        ("edition-1/three-card-plain-round", SHOWN),
    ],
)
def test_sabotage_another_table_of_recoveries_is_seen(
    monkeypatch: pytest.MonkeyPatch, name: str, stage: str
) -> None:
    rules = FIRST_EDITION[document_of(told(name).story.book)]
    monkeypatch.setitem(rules, stage, (Recovery.CONTINUE, "house:recovery"))
    with pytest.raises(AssertionError):
        test_a_stop_after_any_event_is_followed_by_what_the_rules_say(name)


@pytest.mark.parametrize(
    ("name", "table", "key", "value"),
    [
        ("mbs-plain-round", DECLARED, (MBS, False), (Recovery.CONTINUE, "5.13.2")),
        ("rws-plain-round", DECLARED, (RWS, True), (Recovery.VOID, "5.1.2")),
        ("three-card-plain-round", SEEN_EARLY, CARDS, "5.3"),
        ("us-manual-round", CONCLUDED, US, "5(f)"),
    ],
)
def test_sabotage_another_rule_for_a_declaration_is_seen(
    monkeypatch: pytest.MonkeyPatch, name: str, table: Any, key: Any, value: Any
) -> None:
    monkeypatch.setitem(table, key, value)
    with pytest.raises(AssertionError):
        test_a_stop_after_any_event_is_followed_by_what_the_rules_say(name)


def test_sabotage_a_declaration_that_forgets_when_a_die_was_seen_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holds, "_rule_at", lambda table, _said, phase, **_: table.procedure.recovery(phase))
    with pytest.raises(AssertionError):
        test_whatever_is_declared_of_a_live_table_is_followed_by_what_the_rules_say("mbs-plain-round")
