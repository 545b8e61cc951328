"""Whatever is asked of a table, in whatever order: nothing is lost, nothing raises, everything replays."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taisai.game import commands as c
from taisai.game import events as e
from taisai.game import play
from taisai.game.betting import stakes
from taisai.game.money.ledger import Account, Ledger
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import effects
from taisai.game.table import Table
from taisai.game.vocabulary import Means, Treatment
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Act, Irregularity, Phase
from tests.game import machine, playbooks
from tests.game.machine import NOON, SETUPS, Setup, Watched, newly_opened, opened
from tests.game.seeded_player import STEPS, Hand
from tests.tiers import count

EXAMPLES = count(25, 400)
RUNS = count(3, 10)
"""Of the corpus, at every setup."""
STEP = st.tuples(st.sampled_from((*STEPS, "leave")), st.integers(0, 2**32 - 1))


def played(under: Watched, steps: list[tuple[str, int]]) -> Watched:
    """A table after a hand has played at it, up to the first fault."""
    hand = Hand(under)
    for kind, seed in steps:
        hand.step(kind, seed)
        if under.faults:
            return under
    under.replay()
    return under


def told(under: Watched) -> str:
    """What went wrong, and the commands that led to it."""
    return (
        "\n".join([under.setup.name, *under.faults, "after", *map(repr, under.asked)]) if under.faults else ""
    )


@given(setup=st.sampled_from(SETUPS), steps=st.lists(STEP, min_size=40, max_size=120))
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_nothing_asked_of_a_table_is_ever_wrong(setup: Setup, steps: list[tuple[str, int]]) -> None:
    assert told(played(opened(setup), steps)) == ""


@given(steps=st.lists(STEP, max_size=20))
@settings(max_examples=20)
def test_nothing_asked_before_a_table_is_open_is_ever_wrong(steps: list[tuple[str, int]]) -> None:
    assert told(played(Watched(SETUPS[0]), steps)) == ""


def corpus(runs: int = RUNS) -> Iterator[Watched]:
    """Tables of every kind, played at by fixed seeds and closed in the end."""
    for setup in SETUPS:
        for run in range(runs):
            random = Random(f"{setup.name} {run}")
            steps = [(random.choice(STEPS), random.getrandbits(32)) for _ in range(150)]
            yield played(newly_opened(setup) if run == 0 else opened(setup), steps + [("leave", 0)] * 40)


RARE = {"VoidDeferred": "mbs-by-hand", "ReferralEnded": "us-6-b-a-dead-device-then-a-no-roll"}
"""Event that chance seldom reaches → the playbook in which it happens."""


def test_every_command_is_done_and_refused_and_every_event_happens() -> None:
    counts: Counter[tuple[type[c.Command], str]] = Counter()
    happened: set[type[e.Event]] = set()
    rounds: Counter[str] = Counter()
    for under in corpus():
        assert told(under) == ""
        counts += under.counts
        happened |= {type(event) for event in under.events}
        rounds[under.setup.name] += sum(1 for one in under.table.rounds if one.settled and one.staked)
    assert [kind.__name__ for kind in c.COMMANDS if not counts[kind, "done"]] == []
    assert [kind.__name__ for kind in c.COMMANDS if not counts[kind, "refused"]] == []
    assert {kind for kind, _ in counts} == set(c.COMMANDS)
    assert {kind.__name__ for kind in e.EVENTS} - {kind.__name__ for kind in happened} <= RARE.keys()
    assert min(rounds[setup.name] for setup in SETUPS) >= RUNS, rounds


@pytest.mark.parametrize(("kind", "name"), RARE.items())
def test_what_chance_seldom_reaches_happens_in_a_playbook(kind: str, name: str) -> None:
    assert kind in {type(event).__name__ for event in playbooks.told(name).events()}


def test_every_event_can_be_read_back_by_one_reader() -> None:
    msgspec.json.Decoder(reduce(operator.or_, e.EVENTS))


# What such runs have found before, each in its shortest form


def asked(name: str, *commands: c.Command) -> tuple[Watched, list[tuple[e.Event, ...] | Refusal]]:
    """A table of a kind after commands, and what it said to them."""
    under = opened(next(setup for setup in SETUPS if setup.name == name))
    return under, [under.ask(command) for command in commands]


def act(what: Act, **more: Any) -> c.Perform:
    """An act by the Dealer."""
    return c.Perform(at=NOON, by="dan", act=what, **more)


DAN: dict[str, Any] = {"at": NOON, "by": "dan"}
CASH: dict[str, Any] = {"round": 1, "seat": "1", "means": Means.CASH_CHIPS, **DAN}
FILL = 30_000


def reason(answer: tuple[e.Event, ...] | Refusal) -> Reason | None:
    """Why it was refused, if it was."""
    return answer.reason if isinstance(answer, Refusal) else None


def test_chips_that_lie_on_the_layout_are_not_paid_out_for_colour_chips() -> None:
    under, answers = asked(
        "mbs",
        c.SendCredit(transfer="x", amount=FILL, second="sue", **DAN),
        act(Act.OPEN_BETS),
        c.RecordBets(bets=(c.Slip("a", "small", 500),), **CASH),
        c.CashColour(seat="2", pieces=5, **DAN),
        c.TakeBack(round=1, seat="1", ids=("a",), **DAN),
    )
    assert told(under) == ""
    assert [reason(answer) for answer in answers] == [None, None, None, Reason.FLOAT_SHORT, None]


def test_chips_of_a_settlement_that_can_still_be_undone_do_not_leave_the_tray() -> None:
    under, answers = asked(
        "mbs",
        c.SendCredit(transfer="x", amount=FILL, second="sue", **DAN),
        act(Act.OPEN_BETS),
        c.RecordBets(bets=(c.Slip("a", "small", 500),), **CASH),
        act(Act.TUMBLE, tumbles=3),
        act(Act.CLOSE_BETS),
        act(Act.PRESS_DEAL),
        act(Act.UNCOVER),
        act(Act.ENTER_RESULT, faces=(5, 6, 6)),
        act(Act.SETTLE),
        c.SendCredit(transfer="y", amount=500, second="sue", **DAN),
        c.ReportIrregularity(event=Irregularity.EXPOSED_EARLY, second="sue", **DAN),
    )
    assert told(under) == ""
    assert reason(answers[-2]) is Reason.FLOAT_SHORT
    assert under.table.rounds[0].voided


def test_tumbles_told_with_the_uncovering_do_not_count() -> None:
    _, answers = asked(
        "us-manual",
        act(Act.OPEN_BETS),
        act(Act.CLOSE_BETS),
        act(Act.TUMBLE),
        act(Act.UNCOVER, tumbles=3),
    )
    assert reason(answers[-1]) is Reason.UNMET_NEED


def test_cards_that_do_not_lie_flat_are_no_result_without_faces() -> None:
    under, answers = asked(
        "cards",
        act(Act.OPEN_BETS),
        act(Act.CLOSE_BETS),
        act(Act.DEAL_CARDS),
        act(Act.ENTER_RESULT, flat=False),
    )
    assert told(under) == ""
    assert reason(answers[-1]) is Reason.BAD_VALUE


def test_stakes_over_the_maximum_are_recorded_only_as_far_as_sums_are_exact() -> None:
    slips = tuple(c.Slip(f"{place}", "small", 2**52 - 1) for place in range(3))
    under, answers = asked("mbs", act(Act.OPEN_BETS), c.RecordBets(bets=slips, **CASH))
    assert told(under) == ""
    assert reason(answers[-1]) is Reason.BEYOND_GREATEST_SUM


def test_a_referral_of_a_void_round_does_not_hold_the_next() -> None:
    other = c.ReportIrregularity(event=Irregularity.OTHER, **DAN)
    under, _ = asked(
        "rws",
        act(Act.OPEN_BETS),
        other,
        c.ReportIrregularity(event=Irregularity.DIE_DAMAGED, **DAN),
        c.RemoveItem(item="dice", **DAN),
        c.PlaceItem(item="dice", serial="2", **DAN),
        act(Act.OPEN_BETS),
        other,
        c.DecideReferral(at=NOON, by="sue", referral="r2", treatment=Treatment.CONTINUE, reason="so be it"),
    )
    assert told(under) == ""
    assert under.table.phase is Phase.OPEN
    assert under.table.held is None


# Sabotage: each bends the engine in memory, and the same runs must show it

Patch = Callable[[pytest.MonkeyPatch], None]
Decider = Callable[[Table, Any], tuple[e.Event, ...] | Refusal]


def _decider(patch: pytest.MonkeyPatch, kind: type[c.Command], bent: Callable[[Decider], Decider]) -> None:
    patch.setitem(play._DECIDERS, kind, bent(play._DECIDERS[kind]))


def _evolver(patch: pytest.MonkeyPatch, kind: type[e.Event], after: Callable[[Table, Any], None]) -> None:
    was = play._EFFECTS[kind]

    def evolved(table: Table, event: Any) -> None:
        was(table, event)
        after(table, event)

    patch.setitem(play._EFFECTS, kind, evolved)


def _change_while_deciding(patch: pytest.MonkeyPatch) -> None:
    def bent(was: Decider) -> Decider:
        def decide(table: Table, command: Any) -> Any:
            if table.seats:
                next(iter(table.seats.values())).session += 1
            return was(table, command)

        return decide

    _decider(patch, c.CallAttendant, bent)


def _raise(patch: pytest.MonkeyPatch) -> None:
    def bent(was: Decider) -> Decider:
        def decide(table: Table, command: Any) -> Any:
            if command.round not in (None, 1):
                raise KeyError(command.round)
            return was(table, command)

        return decide

    _decider(patch, c.ReportIrregularity, bent)


def _invent_a_clause(patch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(Reason.LATE, Clause("house" + ":invented"), "expected this, got that")
    _decider(patch, c.TakeBack, lambda _was: lambda _table, _command: refusal)


def _say_nothing(patch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(Reason.LATE, Clause("house:order"), "no")
    _decider(patch, c.MoveBet, lambda _was: lambda _table, _command: refusal)


def _book_an_unknown_clause(patch: pytest.MonkeyPatch) -> None:
    def bent(was: Decider) -> Decider:
        def decide(table: Table, command: Any) -> Any:
            made = was(table, command)
            if isinstance(made, Refusal):
                return made
            return tuple(msgspec.structs.replace(one, clause=Clause("99.9")) for one in made)

        return decide

    for kind in (c.BuyCredits, c.RecordBets):
        _decider(patch, kind, bent)


def _book_one_side(patch: pytest.MonkeyPatch) -> None:
    def move(self: Ledger, _source: Account, target: Account, amount: int, _clause: Clause) -> None:
        self.balances[target] += amount

    patch.setattr(Ledger, "move", move)


def _take_late_bets(patch: pytest.MonkeyPatch) -> None:
    """A bet after the close goes back into the open round it was meant for."""

    def bent(was: Decider) -> Decider:
        def decide(table: Table, command: Any) -> Any:
            made = was(table, command)
            if table.round is None or not isinstance(made, Refusal) or made.reason is not Reason.LATE:
                return made
            phase, table.round.phase = table.round.phase, machine_open(table)
            made = was(table, command)
            table.round.phase = phase
            return made

        return decide

    for kind in (c.PlaceBets, c.RecordBets):
        _decider(patch, kind, bent)


def machine_open(table: Table) -> Any:
    """The phase in which bets are open."""
    return next(phase.id for phase in table.procedure.phases if phase.id.bets_open)


def _lose_a_bet(patch: pytest.MonkeyPatch) -> None:
    def forget(table: Table, event: e.BetRegistered) -> None:
        assert table.round is not None
        if event.area == "big":
            del table.round.bets[event.id]

    _evolver(patch, e.BetRegistered, forget)


def _keep_the_stakes_of_a_void_round(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(effects, "stakes_by_purse", lambda *_: {})


def _credit_twice(patch: pytest.MonkeyPatch) -> None:
    was = stakes.hand_back

    def hand_back(table: Table, purse: Any, *rest: Any) -> None:
        was(table, purse, *rest)
        purse.credits += 1

    patch.setattr(effects, "hand_back", hand_back)


def _remember_between_streams(patch: pytest.MonkeyPatch) -> None:
    seen: list[e.Event] = []

    def note(table: Table, event: e.Event) -> None:
        seen.append(event)
        table.zone = str(len(seen))

    _evolver(patch, e.BetsClosed, note)


def _know_no_retry(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.betting import placing

    late = Refusal(Reason.LATE, Clause("house:retries"), "expected something new, got a retry")
    patch.setattr(placing, "_again", lambda *_: late)


def _book_transfers_twice(patch: pytest.MonkeyPatch) -> None:
    def bent(was: Decider) -> Decider:
        def decide(table: Table, command: Any) -> Any:
            if command.transfer not in table.transfers:
                return was(table, command)
            return was(table, msgspec.structs.replace(command, transfer=command.transfer + "'"))

        return decide

    _decider(patch, c.ReceiveFill, bent)
    _decider(patch, c.ReceiveTicket, bent)


def _write_a_stake_wrongly(patch: pytest.MonkeyPatch) -> None:
    """What is written down is not what happened."""
    read = machine.read_back

    def read_back(event: e.Event) -> e.Event:
        event = read(event)
        return (
            msgspec.structs.replace(event, stake=event.stake - 1)
            if isinstance(event, e.BetRegistered)
            else event
        )

    patch.setattr(machine, "read_back", read_back)


SABOTAGES = {
    _change_while_deciding: "changed the table",
    _raise: "raised KeyError",
    _invent_a_clause: "cites no clause",
    _say_nothing: "does not name the problem",
    _book_an_unknown_clause: "which is no clause",
    _book_one_side: "differ by",
    _take_late_bets: "after the close",
    _lose_a_bet: "its parts are",
    _keep_the_stakes_of_a_void_round: "its parts are",
    _credit_twice: "its parts are",
    _remember_between_streams: "makes another table",
    _know_no_retry: "a retry of",
    _book_transfers_twice: "a retry of",
    _write_a_stake_wrongly: "is another when it is read back",
}


@pytest.mark.parametrize(("sabotage", "fault"), SABOTAGES.items(), ids=[one.__name__ for one in SABOTAGES])
def test_sabotage_is_seen_by_the_corpus(sabotage: Patch, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_OPENED", {})  # no table made before the sabotage
    sabotage(monkeypatch)
    assert fault in next((told(under) for under in corpus(2) if under.faults), "nothing")
