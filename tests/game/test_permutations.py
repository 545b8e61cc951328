"""Every order in which the acts of a round can be tried: only the documents' own come to their end.

The model is written from the order of a round as the documents give it, and knows nothing of a procedure's
table. Equal states of play are walked once and counted for every sequence that leads to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import factorial
from random import Random
from typing import Any, NamedTuple

import pytest

from taisai.game import events as e
from taisai.game import play
from taisai.game.commands import Perform, PlaceBets, RecordBets, Slip
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import Means
from taisai.rules.vocabulary import Act, Phase
from tests.game.machine import CARDS, MBS, NOON, RWS, US, Setup, opened
from tests.game.snapshots import copied, snapshot
from tests.tiers import LONG

LENGTH = 8 if LONG else 6


class Letter(NamedTuple):
    """An act as it is tried."""

    act: Act
    tumbles: int = 0
    flat: bool = True


OPEN, CLOSE, PRESS, UNCOVER = map(Letter, (Act.OPEN_BETS, Act.CLOSE_BETS, Act.PRESS_DEAL, Act.UNCOVER))
DEAL, ENTER, SETTLE, BOTH = map(Letter, (Act.DEAL_CARDS, Act.ENTER_RESULT, Act.SETTLE, Act.COLLECT_AND_PAY))
COLLECT, PAY, CLEAR, CONCLUDE = map(Letter, (Act.COLLECT, Act.PAY, Act.CLEAR_LIGHTS, Act.CONCLUDE))
TUMBLE, ACTIVATE = Letter(Act.TUMBLE, tumbles=3), Letter(Act.ACTIVATE_SHAKER)
TWICE, NOT_FLAT = Letter(Act.TUMBLE, tumbles=2), Letter(Act.ENTER_RESULT, flat=False)


class Order(NamedTuple):
    """The order of a round: each act with its clause, and what the document makes of mistakes."""

    name: str
    book: str
    settings: dict[str, str]
    acts: tuple[tuple[Letter, str], ...]
    elsewhere: dict[Letter, str]
    """Acts of the game that this round has not, with the clause that refuses them."""
    few_tumbles: str | None = None
    """The clause that voids a round whose dice tumbled too little."""
    not_flat: tuple[str, str] | None = None
    """What a die that is not flat comes to: 'void' or 'no-roll', and the clause."""
    seen_early: str | None = None
    """The clause that voids a round whose dice or cards were seen under open bets."""
    no_deal: str | None = None
    """The clause by which the equipment is reset where the deal button was not pressed."""


END_MBS = ((ENTER, "1.1.3"), (SETTLE, "3.11"), (BOTH, "1.1.3"), (CONCLUDE, "1.1.3"))
END_RWS = ((UNCOVER, "3.7"), (ENTER, "1.3"), (SETTLE, "3.8"), (BOTH, "3.8"), (CONCLUDE, "1.8"))
END_US = ((ENTER, "5(e)"), (SETTLE, "3(c)"), (COLLECT, "5(f)"), (PAY, "5(f)"), (CLEAR, "5(g)"))
MBS_RULES: dict[str, Any] = {"few_tumbles": "5.1", "not_flat": ("void", "5.3"), "no_deal": "5.9"}
RWS_RULES: dict[str, Any] = {"few_tumbles": "5.3.1", "not_flat": ("void", "5.3.2")}
NO_ROLL = {"reroll": ("no-roll", "house:no-roll"), "void": ("void", "6(a)")}
"""6(a) orders the call alone: that bets open again is a procedure of the house."""
ORDERS = (
    Order(
        "mbs-before", MBS, {"tumble": "before_close"},
        ((OPEN, "3.1"), (TUMBLE, "3.8"), (CLOSE, "3.9"), (PRESS, "3.9"), (UNCOVER, "3.10"), *END_MBS),
        {}, seen_early="5.2", **MBS_RULES,
    ),
    Order(
        "mbs-after", MBS, {"tumble": "after_close"},
        ((OPEN, "3.1"), (CLOSE, "3.9"), (TUMBLE, "3.8"), (PRESS, "3.9"), (UNCOVER, "3.10"), *END_MBS),
        {}, seen_early="5.2", **MBS_RULES,
    ),
    Order(
        "rws-after", RWS, {"tumble": "after_close"},
        ((OPEN, "3.2"), (CLOSE, "3.5"), (TUMBLE, "3.6"), *END_RWS), {}, seen_early="5.3.3", **RWS_RULES,
    ),
    Order(
        "rws-before", RWS, {"tumble": "before_close"},
        ((OPEN, "3.2"), (TUMBLE, "3.6"), (CLOSE, "3.5"), *END_RWS), {}, seen_early="5.3.3", **RWS_RULES,
    ),
    Order(
        "cards", CARDS, {"shuffle": "penetration", "penetration": "100"},
        (
            (OPEN, "3.1"), (CLOSE, "3.7"), (DEAL, "3.8"), (ENTER, "1.1.2"), (SETTLE, "3.9"), (BOTH, "1.1.2"),
            (CONCLUDE, "1.1.2"),
        ),
        {}, seen_early="5.1",
    ),
    *(
        Order(
            f"us-manual-{no_roll}", US, {"shaker": "manual", "no_roll": no_roll},
            ((OPEN, "5(a)"), (CLOSE, "5(c)"), (TUMBLE, "5(d)(1)"), (UNCOVER, "5(e)"), *END_US),
            {ACTIVATE: "5(d)(2)"}, not_flat=NO_ROLL[no_roll],
        )
        for no_roll in ("reroll", "void")
    ),
    *(
        Order(
            f"us-automated-{no_roll}", US, {"shaker": "automated", "no_roll": no_roll},
            ((OPEN, "5(a)"), (CLOSE, "5(c)"), (ACTIVATE, "5(d)(2)"), *END_US),
            {TUMBLE: "5(d)(1)", UNCOVER: "5(e)"},
            not_flat=NO_ROLL[no_roll],
        )
        for no_roll in ("reroll", "void")
    ),
)  # fmt: skip
each_order = pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)


# The model


class Model(NamedTuple):
    """Where a round stands: which of its acts are done, and how often the dice tumbled."""

    done: frozenset[Act] = frozenset()
    tumbles: int = 0

    def then(self, *acts: Act) -> Model:
        return Model(self.done | {*acts}, self.tumbles)


class Verdict(NamedTuple):
    """What an act comes to, by which clause."""

    what: str
    """'done', 'refused', 'void', 'no-roll', 'reset', or 'ruled' if it is recorded and changes nothing."""
    clause: str


def tried(order: Order, model: Model, letter: Letter) -> tuple[Verdict, Model]:  # noqa: PLR0911
    """What the document says to an act, and where the round stands after it."""
    clauses = {one.act: clause for one, clause in order.acts} | {
        one.act: clause for one, clause in order.elsewhere.items()
    }
    acts = [one.act for one, _ in order.acts]
    act, done = letter.act, model.done
    is_open = Act.OPEN_BETS in done and Act.CLOSE_BETS not in done
    refused = Verdict("refused", clauses[act])
    if order.book == US and is_open and act in (Act.TUMBLE, Act.ACTIVATE_SHAKER):
        return Verdict("refused", "5(c)"), model  # the call comes before every shake
    if act in (Act.UNCOVER, Act.DEAL_CARDS) and is_open and order.seen_early:
        if Act.TUMBLE in done or act is Act.DEAL_CARDS:
            return Verdict("void", order.seen_early), Model()
        return Verdict("ruled", "house:untumbled"), model  # dice of an earlier round may be seen by anybody
    missing = [other for other in acts[: acts.index(act)] if other not in done] if act in acts else None
    if act is Act.UNCOVER and missing == [Act.PRESS_DEAL] and order.no_deal and act not in done:
        return Verdict("reset", order.no_deal), model.then(Act.PRESS_DEAL, act)
    if not may(order, model, act, missing):
        return refused, model
    if act is Act.TUMBLE and letter.tumbles < 3 and order.few_tumbles:
        return Verdict("void", order.few_tumbles), Model()
    if act is Act.UNCOVER and model.tumbles < 3:
        return Verdict("refused", "5(d)(1)"), model
    if act is Act.ENTER_RESULT and not letter.flat and order.not_flat:
        what, clause = order.not_flat
        return Verdict(what, clause), Model() if what == "void" else Model().then(Act.OPEN_BETS)
    after = Model(done | {act}, model.tumbles + letter.tumbles)
    return Verdict("done", refused.clause), after if after.done != {*acts} else Model()


def may(order: Order, model: Model, act: Act, missing: list[Act] | None) -> bool:
    """Whether an act has its place here: what comes before it is done, and it is not.

    No document fixes whether the dice tumble before or after the close, and the close is a fact that can
    always be recorded. Dice may tumble again until they are uncovered.
    """
    if missing is None:
        return False
    if act is Act.TUMBLE:
        before = Act.CLOSE_BETS if order.book == US else Act.OPEN_BETS
        return before in model.done and Act.UNCOVER not in model.done
    if act is Act.CLOSE_BETS:
        return Act.OPEN_BETS in model.done and act not in model.done
    return not missing and act not in model.done


# The table


class Walk:
    """All sequences at a table, equal states once."""

    def __init__(self, order: Order) -> None:
        self.order = order
        setup = Setup(order.name, order.book, order.settings)
        under = opened(setup)
        assert under.faults == []
        self.tables: dict[tuple[Letter, ...], Table] = {(): under.table}
        self.balances = dict(under.table.ledger.balances)
        self.decided: dict[tuple[tuple[Letter, ...], Letter], Verdict] = {}

    def asked(self, path: tuple[Letter, ...], letter: Letter) -> Verdict:
        """What the table says to an act, once for each state."""
        if (path, letter) not in self.decided:
            table = self.tables[path]
            kept = snapshot(table)
            decided = play.decide(table, performed(self.order, letter))
            assert snapshot(table) == kept, "deciding changed the table"
            if not isinstance(decided, Refusal):
                self.tables[*path, letter] = after(self.order, copied(table), decided)
            self.decided[path, letter] = verdict_of(decided)
        return self.decided[path, letter]


def performed(order: Order, letter: Letter) -> Perform:
    """The command for an act, by whoever it is for."""
    by = "clock" if letter.act is Act.CLOSE_BETS and order.book == RWS else "dan"
    faces = (2, 3, 5) if letter.act is Act.ENTER_RESULT and letter.flat else ()
    return Perform(at=NOON, by=by, act=letter.act, tumbles=letter.tumbles, flat=letter.flat, faces=faces)


def after(order: Order, table: Table, decided: tuple[e.Event, ...]) -> Table:
    """The table after an act; a player bets as soon as bets open."""
    for event in decided:
        play.evolve(table, event)
    if isinstance(decided[-1], e.BetsOpened):
        number, slips = decided[-1].round, (Slip(f"b{decided[-1].round}", "small", 200),)
        bet: PlaceBets | RecordBets = RecordBets(
            at=NOON, by="dan", round=number, bets=slips, means=Means.CASH_CHIPS, seat="1"
        )
        if order.book == RWS:
            bet = PlaceBets(at=NOON, by="t2", round=number, seat="2", bets=slips)
        registered = play.decide(table, bet)
        assert not isinstance(registered, Refusal), registered
        for event in registered:
            play.evolve(table, event)
    return table


def verdict_of(decided: tuple[e.Event, ...] | Refusal) -> Verdict:
    """An answer of the table in the model's words."""
    if isinstance(decided, Refusal):
        return Verdict("refused", decided.clause)
    kinds = {type(event): event for event in decided}
    for kind, what in ((e.RoundVoided, "void"), (e.BetsReopened, "no-roll")):
        if kind in kinds:
            return Verdict(what, kinds[kind].clause)
    if e.IrregularityRuled in kinds:
        return Verdict("reset" if e.DiceUncovered in kinds else "ruled", decided[-1].clause)
    return Verdict("done", decided[-1].clause)


class Found(NamedTuple):
    """What a walk came across."""

    sequences: int
    ended: int
    """Those that brought a round to its end."""
    as_written: int
    """Those that did it with nothing ruled on the way."""


def walked(
    order: Order, letters: tuple[Letter, ...], length: int, *, repeat: bool
) -> tuple[Found, list[str]]:
    """Every sequence of letters, compared with the model act by act."""
    walk, faults = Walk(order), set[str]()

    @cache
    def below(
        path: tuple[Letter, ...], model: Model, left: frozenset[Letter], depth: int, plain: int
    ) -> Found:
        if not depth:
            return Found(1, 0, 0)
        total = Found(0, 0, 0)
        for letter in letters:
            if not repeat and letter not in left:
                continue
            got = walk.asked(path, letter)
            expected, then = tried(order, model, letter)
            if got != expected:
                faults.add(f"{letter} after {path}: expected {expected}, got {got}")
                continue
            on = (*path, letter) if got.what != "refused" else path
            faults.update(wrong_money(walk.tables[on], walk.balances, then))
            still = int(bool(plain) and got.what in ("done", "refused"))
            rest = below(on, then, left if repeat else left - {letter}, depth - 1, still)
            ends = got.what == "done" and not then.done
            # A sequence that ends a round twice is counted once, where it does so first.
            ended = rest.sequences if ends else rest.ended
            total = Found(
                total.sequences + rest.sequences,
                total.ended + ended,
                total.as_written + (rest.sequences if ends and still else 0 if ends else rest.as_written),
            )
        return total

    found = below((), Model(), frozenset() if repeat else frozenset(letters), length, 1)
    return found, sorted(faults)


def wrong_money(table: Table, balances: dict[Account, int], model: Model) -> list[str]:
    """Where table and model stand elsewhere, or money does."""
    faults = []
    if (table.phase is Phase.BETWEEN) is not (not model.done):
        faults.append(f"the table is {table.phase}, the model {model}")
    kept = table.ledger.balances
    if not model.done and (kept[Account.AT_RISK] or kept[Account.PAYABLE] or table.held):
        faults.append(f"round {len(table.rounds)} is over and something is at risk")
    if all(one.voided for one in table.rounds) and table.round is None:
        faults += [f"a void changed {account}" for account in kept if kept[account] != balances[account]]
    return faults


def letters_of(order: Order) -> tuple[Letter, ...]:
    """Every act of the game under the order's book, and the mistakes that can be made in it."""
    acts = [letter for letter, _ in order.acts] + list(order.elsewhere)
    mistakes = [TWICE] if TUMBLE in acts else []
    mistakes += [NOT_FLAT] if order.not_flat else []
    return (*acts, *mistakes)


@each_order
def test_of_all_permutations_of_the_acts_only_the_documents_order_is_played(order: Order) -> None:
    acts = tuple(letter for letter, _ in order.acts)
    found, faults = walked(order, acts, len(acts), repeat=False)
    assert faults == []
    assert found.sequences == factorial(len(acts))
    # With dice under a cover that others lift, the tumble comes before the close or after it.
    orders = 2 if order.book in (MBS, RWS) else 1
    assert found.as_written == orders
    # Where the deal button was forgotten the outcome stands (5.9): pressed too early or too late, in any of
    # the eight other places, it is refused and the round goes on to its end.
    assert found.ended == orders * (1 + 8 if order.no_deal else 1)


@each_order
def test_every_sequence_of_so_many_acts_with_mistakes_and_repetitions_is_ruled_as_written(
    order: Order,
) -> None:
    letters = letters_of(order)
    found, faults = walked(order, letters, LENGTH, repeat=True)
    assert faults == []
    assert found.sequences == len(letters) ** LENGTH
    shortest = len(order.acts) - (1 if order.no_deal else 0)
    assert bool(found.ended) is (shortest <= LENGTH)


@each_order
def test_a_sample_of_sequences_on_one_table_each_is_what_the_walk_says(order: Order) -> None:
    """The walk takes equal states for one: here a table really goes through whole sequences."""
    random, letters, walk = Random(order.name), letters_of(order), Walk(order)
    for _ in range(40):
        table, model = copied(walk.tables[()]), Model()
        for _ in range(3 * LENGTH):
            due = next(one for one, _ in order.acts if one.act not in model.done)
            letter = due if random.random() < 0.6 else random.choice(letters)
            decided = play.decide(table, performed(order, letter))
            expected, model = tried(order, model, letter)
            assert verdict_of(decided) == expected, (letter, table.phase)
            if not isinstance(decided, Refusal):
                after(order, table, decided)
            assert not wrong_money(table, walk.balances, model)


# Sabotage

Patch = Callable[[pytest.MonkeyPatch], None]


def _skip_the_close(patch: pytest.MonkeyPatch) -> None:
    """The close may be left out: what follows it is taken under open bets."""
    from taisai.rules.procedure import Procedure

    honest = Procedure.resolve

    def loose(self: Procedure, act: Act, phase: Phase, settings: dict[str, str]) -> Any:
        shut = {Phase.OPEN: Phase.CLOSED, Phase.OPEN_TUMBLED: Phase.CLOSED_TUMBLED}.get(phase, phase)
        return honest(self, act, phase if act in (Act.CLOSE_BETS, Act.TUMBLE) else shut, settings)

    patch.setattr(Procedure, "resolve", loose)


def _cite_another_clause(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.checks import refused
    from taisai.game.rounds import steps

    patch.setattr(steps, "refused", lambda reason, _clause, *said: refused(reason, "house:order", *said))


def _forgive_few_tumbles(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.equipment.items import Equipment

    patch.setattr(Equipment, "least_tumbles", lambda *_: 0)


def _keep_the_stakes_of_a_void_round(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.rounds import effects

    patch.setattr(effects, "stakes_by_purse", lambda *_: {})


@pytest.mark.parametrize(
    ("sabotage", "order"),
    [
        (_skip_the_close, ORDERS[0]),
        (_skip_the_close, ORDERS[4]),
        (_cite_another_clause, ORDERS[2]),
        (_forgive_few_tumbles, ORDERS[1]),
        (_forgive_few_tumbles, ORDERS[5]),
        (_keep_the_stakes_of_a_void_round, ORDERS[3]),
    ],
    ids=lambda one: getattr(one, "__name__", None) or one.name,
)
def test_sabotage_of_the_order_is_seen(
    sabotage: Patch, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    _, faults = walked(order, letters_of(order), 6, repeat=True)
    assert faults
