"""Whatever is asked of the House, in whatever order: its books balance and no ticket is worth money twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from taisai.cage import House, access, people
from taisai.cage import decide as cage
from taisai.cage import house as cage_state
from taisai.cage import values as cage_values
from taisai.cage.messages import (
    HOUSE_COMMANDS,
    HOUSE_EVENTS,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    HouseEvent,
    OpenHouse,
    RedeemTicket,
    SendTicket,
    TicketRedeemed,
)
from taisai.game.money.ledger import Account, Ledger
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import TABLE
from taisai.rules.clauses import Clause
from tests.game.houses import BEGINNING, LADDER, SCRIPT, Watched, replayed, watched
from tests.game.random_house_commands import AT_THE_CAGE, JUNK, SENSIBLE, asked

SENSIBLE_COMMANDS = st.one_of([asked(kind, SENSIBLE) for kind in AT_THE_CAGE])
JUNK_COMMANDS = st.one_of(
    [asked(kind, SENSIBLE | {name: JUNK}) for kind in AT_THE_CAGE for name in kind.__struct_fields__]
)
PROPER = SENSIBLE | {
    "by": st.just("sue"),
    "second": st.just("max"),
    "person": st.sampled_from(["ann", "bob", "eve"]),
    "rank": st.sampled_from(LADDER[:2]),
    "amount": st.integers(1, 500),
    "claim": st.integers(0, 1_000).map(str),
}
PROPER_COMMANDS = st.one_of([asked(kind, PROPER) for kind in AT_THE_CAGE if kind is not OpenHouse])
"""What is mostly done: by two people that stay, unless another rule dismisses them."""
COMMANDS = st.lists(SENSIBLE_COMMANDS | JUNK_COMMANDS, max_size=40)
SUPERVISORS = SENSIBLE | {
    "by": st.sampled_from(["owner", "owner", "sue", "max"]),
    "second": st.sampled_from([None, None, "sue", "max"]),
}
STAFFING = asked(EnrolPerson, SUPERVISORS) | asked(DismissPerson, SUPERVISORS)


class CageMachine(RuleBasedStateMachine):
    """A House that is asked anything."""

    def __init__(self) -> None:
        super().__init__()
        self.under = Watched()
        self.asked: list[HouseCommand] = []

    @initialize()
    def begin(self) -> None:
        for command in BEGINNING:
            self.under.ask(command)

    @rule(command=SENSIBLE_COMMANDS)
    def ask(self, command: HouseCommand) -> None:
        if self.under.ask(command):
            self.asked.append(command)

    @rule(commands=st.lists(PROPER_COMMANDS, min_size=1, max_size=5))
    def ask_properly(self, commands: list[HouseCommand]) -> None:
        for command in commands:
            self.ask(command)

    @rule(commands=st.lists(STAFFING, min_size=1, max_size=5))
    def change_the_roll(self, commands: list[HouseCommand]) -> None:
        for command in commands:
            self.ask(command)

    @rule(command=JUNK_COMMANDS)
    def ask_junk(self, command: HouseCommand) -> None:
        self.under.ask(command)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def retry_at_once(self, data: st.DataObject) -> None:
        command = data.draw(st.sampled_from(self.asked))
        self.under.ask(command)
        before = len(self.under.events)
        again = self.under.ask(command)
        assert len(self.under.events) == before, f"a retry of {command} gave {again}"

    @precondition(lambda self: self.under.house.tickets)
    @rule(data=st.data(), kind=st.sampled_from([RedeemTicket, SendTicket]))
    def redeem(self, data: st.DataObject, kind: type[HouseCommand]) -> None:
        house = self.under.house
        ticket = house.tickets[data.draw(st.sampled_from(sorted(house.tickets)))]
        known, before = set(house.transfers), ticket.redeemed
        command = data.draw(asked(kind, PROPER | {"ticket": st.just(ticket.id)}))
        decided = self.under.ask(command)
        if before is not None and isinstance(command, RedeemTicket) and command.ask is not None:
            is_retry = (before.by, before.ask) == (command.by, command.ask)
        else:
            is_retry = False
        staffed = command.by == TABLE if kind is SendTicket else command.by in house.people
        if is_retry:  # the same ask of the same person again, and nothing happens; who has left is refused
            assert decided == () if staffed else isinstance(decided, Refusal)
            return
        if ticket.redeemed and staffed and getattr(command, "transfer", None) not in known:
            assert isinstance(decided, Refusal)
            assert decided.reason is Reason.RULED_OUT

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.under.faults == []

    def teardown(self) -> None:
        if not self.under.faults:
            assert replayed(self.under.events) == self.under.house


TestCage = CageMachine.TestCase


@given(COMMANDS)
def test_before_and_after_the_opening_nothing_asked_is_ever_wrong(commands: list[HouseCommand]) -> None:
    assert watched(commands).faults == []


def test_the_script_asks_for_everything_and_nothing_is_wrong() -> None:
    under = watched(SCRIPT)
    assert under.faults == []
    assert {type(command) for command in SCRIPT} == set(HOUSE_COMMANDS)
    assert {type(event) for event in under.events} == set(HOUSE_EVENTS)


Patch = Callable[[pytest.MonkeyPatch], None]


def _forget_redemptions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage_state, "_redeem", lambda *_: None)
    patch.setattr(cage, "_redeemable", lambda *_: ())


def _redeem_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "_redeemable", lambda *_: ())


def _pay_tickets_from_capital(patch: pytest.MonkeyPatch) -> None:
    changes = ((Account.CAGE, -1), (Account.CAPITAL, -1))
    patch.setattr(cage_state, "_CHANGES", dict(cage_state._CHANGES) | {TicketRedeemed: changes})


def _book_one_side(patch: pytest.MonkeyPatch) -> None:
    changes = ((Account.CAGE, -1), (Account.TICKETS, 0))
    patch.setattr(cage_state, "_CHANGES", dict(cage_state._CHANGES) | {TicketRedeemed: changes})


def _book_one_side_unseen(patch: pytest.MonkeyPatch) -> None:
    def post(ledger: Ledger, *entries: Any) -> None:
        for entry in entries[:1]:
            ledger.balances[entry.account] += entry.amount

    patch.setattr(Ledger, "post", post)


def _know_no_retry(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "_again", lambda *_: False)


def _need_no_second(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "second_person", lambda *_: ())


def _enrol_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "_enrolling", lambda *_: ())


def _begin_again(patch: pytest.MonkeyPatch) -> None:
    now = property(lambda house: sum(map(house.supervising, house.people.values())) > 1, lambda *_: None)
    patch.setattr(House, "staffed", now)


def _second_himself(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "same_person", lambda *_: False)


def _take_namesakes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "_enrollable", lambda *_: ())
    patch.setattr(cage_state, "folded", lambda name: name)


def _forget_movements(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "movement_of", lambda _: None)
    patch.setattr(cage_state, "_move", lambda *_: None)


def _change_while_deciding(patch: pytest.MonkeyPatch) -> None:
    draft = cage._draft

    def drafted(house: House, command: HouseCommand, act: Any) -> HouseEvent:
        house.people.setdefault("ghost", "manager")
        return draft(house, command, act)

    patch.setattr(cage, "_draft", drafted)


def _invent_a_clause(patch: pytest.MonkeyPatch) -> None:
    act = cage._ACTS[RedeemTicket]._replace(clause=Clause("house" + ":invented"))
    patch.setattr(cage, "_ACTS", dict(cage._ACTS) | {RedeemTicket: act})


def _forget_claims(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "_state", lambda *_: ())


def _remember_between_streams(patch: pytest.MonkeyPatch) -> None:
    evolve, seen = cage_state.evolve_house, []

    def evolved(house: House, event: HouseEvent) -> House:
        seen.append(event)
        house = evolve(house, event)
        house.currency = str(len(seen))
        return house

    patch.setattr(cage_state, "evolve_house", evolved)


SABOTAGES = [
    _forget_redemptions, _redeem_twice, _pay_tickets_from_capital, _book_one_side, _book_one_side_unseen,
    _know_no_retry, _need_no_second, _enrol_alone, _begin_again, _second_himself, _take_namesakes,
    _forget_movements, _change_while_deciding, _invent_a_clause, _forget_claims, _remember_between_streams,
]  # fmt: skip


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.__name__.strip("_"))
def test_sabotage_is_seen_by_the_script(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    assert watched(SCRIPT).faults


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.__name__.strip("_"))
def test_sabotage_is_found_by_the_machine(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    search = settings(
        max_examples=300, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(CageMachine, settings=search)


def _trust_keys(patch: pytest.MonkeyPatch) -> None:
    for module in (cage, access, cage_values):
        patch.setattr(module, "lookup", lambda kept, key: kept.get(key))


def test_sabotage_a_decision_that_raises_on_junk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _trust_keys(monkeypatch)

    @settings(max_examples=1_000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(JUNK_COMMANDS)
    def search(command: HouseCommand) -> None:
        assert watched([*BEGINNING, command]).faults == []

    with pytest.raises(AssertionError):
        search()
