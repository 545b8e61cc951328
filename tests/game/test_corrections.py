"""A wrong result, whatever it was and whatever is right: the round pays as if it had been keyed right.

All 56 × 56 pairs on every pay table go through the whole path. What should be paid is told by the oracle,
which shares no code with the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from taisai.cage import House, unfinished
from taisai.cage.messages import BringIn, CollectClaim, HouseCommand, IssueTicket, PayClaim, SendFill
from taisai.game import commands as c
from taisai.game import events as e
from taisai.game import play
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Claim, Table
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import TABLE, ClaimEnd, Means, Treatment
from taisai.rules import OUTCOMES, Outcome, rulebook
from taisai.rules.vocabulary import Act, Irregularity, Phase
from tests.game.houses import BEGINNING, BY_TWO, done
from tests.game.machine import CARDS, MBS, NAMES, NOON, ROLL, RWS, US, inspections
from tests.game.playbooks import document_of
from tests.game.snapshots import copied, snapshot, written
from tests.oracle import PAY_TABLES, PayTable, Roll
from tests.tiers import sampled

OFFERS = (
    ("triple-1", "170.5 to 1"), ("pair-12", "5.5 to 1"), ("total-9", "6.25 to 1"), ("small", "1.1 to 1"),
)  # fmt: skip


class Case(NamedTuple):
    """A pay table, and the kind of money that is played at it."""

    name: str
    book: str
    layout: str
    means: Means
    offers: tuple[tuple[str, str], ...] = ()


CASES = (
    Case("rws-a", RWS, "A", Means.CREDITS),
    Case("rws-b", RWS, "B", Means.CREDITS),
    Case("rws-c", RWS, "C", Means.CREDITS),
    Case("mbs", MBS, "A", Means.COLOUR_CHIPS),
    Case("cards", CARDS, "A", Means.COLOUR_CHIPS),
    Case("us", US, "A", Means.CREDITS),
    Case("us-offered", US, "A", Means.CREDITS, OFFERS),
)
CASH = (Case("mbs-cash", MBS, "A", Means.CASH_CHIPS), Case("us-cash", US, "A", Means.CASH_CHIPS, OFFERS))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# What should be paid


@cache
def pay_table(case: Case) -> PayTable:
    """The oracle's."""
    document = document_of(case.book)
    return next(one for one in PAY_TABLES if one.rulebook == document and case.layout in one.layouts)


def stake_on(case: Case, area: str) -> int:
    """A stake of its own for every area, a multiple of whatever odds may ask."""
    return 1_000 + 100 * pay_table(case).areas.index(area)


class Due(NamedTuple):
    """What one player with a bet on every area gets."""

    collected: int
    won: int
    returned: int
    """In all, stakes of winners included."""


@cache
def due(case: Case, faces: Roll) -> Due:
    """By the oracle."""
    collected, won, back = 0, Fraction(0), Fraction(0)
    for area in pay_table(case).areas:
        stake, verdict = stake_on(case, area), pay_table(case).verdict(area, faces)
        net = verdict.net
        if net > 0 and area in dict(case.offers):
            net = Fraction(dict(case.offers)[area].removesuffix(" to 1"))
        if net < 0:
            collected += stake
        else:
            won += stake * net
            back += stake
    assert won.denominator == 1
    return Due(collected, int(won), int(won + back))


def staked(case: Case) -> int:
    """By one player on every area."""
    return sum(stake_on(case, area) for area in pay_table(case).areas)


# Playing


def do(table: Table, command: c.Command) -> tuple[e.Event, ...]:
    """Decides and does what must not be refused; the books balance after every event."""
    decided = play.decide(table, command)
    assert not isinstance(decided, Refusal), decided
    for event in decided:
        play.evolve(table, event)
        assert table.ledger.difference == 0
        assert (
            sum(entry.amount if entry.account.held else -entry.amount for entry in table.ledger.latest) == 0
        )
    assert min(table.ledger.balances.values()) >= 0
    return decided


def opened(case: Case, seats: tuple[str, ...] = ("1",)) -> Table:
    """A table with players who have plenty."""
    book = rulebook(case.book)
    table, ranks = Table(book), book.people.ranks()
    do(
        table,
        c.OpenTable(
            at=NOON, by="sue", table="T7", limits=Limits(least=1, most=10**9), currency="SGD",
            day="2026-11-15", zone="Asia/Singapore", rank=ranks[-1], offers=dict(case.offers),
            layout=case.layout, demonstration=case.means is Means.CREDITS and case.book != RWS,
        ),
    )  # fmt: skip
    for rank in ranks[:-1]:
        do(table, c.Assign(at=NOON, by=ROLL, person=NAMES[rank], rank=rank, position=rank))
    do(table, c.Assign(at=NOON, by=ROLL, person="vic", rank=ranks[-1], position=ranks[-1]))
    for command in inspections(table, NOON):
        if getattr(command, "item", "") in table.equipment.placed or isinstance(command, c.PlaceItem):
            do(table, command)
    if table.shoe.used:
        do(table, c.LoadShoe(at=NOON, by="dan", decks=6))
    do(table, c.ReceiveFill(at=NOON, by="dan", transfer="fill", amount=10**9, second="sue"))
    for name in seats:
        _seat(table, case, name)
    return table


def _seat(table: Table, case: Case, name: str) -> None:
    terminal = f"t{name}" if case.means is Means.CREDITS else None
    do(table, c.TakeSeat(at=NOON, by=terminal or "dan", seat=name, terminal=terminal, layout=case.layout))
    if terminal:
        do(table, c.BuyCredits(at=NOON, by=terminal, seat=name, amount=10**9))
    elif case.means is Means.COLOUR_CHIPS:
        do(
            table,
            c.BuyColour(
                at=NOON, by="dan", seat=name, colour=f"red {name}", value=100, pieces=10**7,
                paid_with=Means.CASH, marker=100,
            ),
        )  # fmt: skip


def bet(table: Table, case: Case, name: str, areas: tuple[str, ...]) -> None:
    """A seat bets on areas of the round in hand."""
    assert table.round is not None
    number = table.round.number
    unit = 100 if case.means is Means.COLOUR_CHIPS else 1
    slips = tuple(c.Slip(f"{name}:{area}", area, stake_on(case, area) // unit) for area in areas)
    if case.means is Means.CREDITS:
        do(table, c.PlaceBets(at=NOON, by=f"t{name}", round=number, seat=name, bets=slips))
    else:
        do(table, c.RecordBets(at=NOON, by="dan", round=number, bets=slips, means=case.means, seat=name))


def begin(table: Table) -> None:
    """Opens a round."""
    if table.shoe.used:
        do(table, c.ShuffleShoe(at=NOON, by="dan"))
    do(table, c.Perform(at=NOON, by="dan", act=Act.OPEN_BETS))


def finish(table: Table, faces: tuple[int, ...], until: Act | None = None) -> None:
    """Plays the round in hand to its end, or up to an act."""
    while table.phase is not Phase.BETWEEN:
        step = table.procedure.steps_from(table.phase, table.settings)[-1]
        if step.act is until:
            return
        keyed = faces if step.act is Act.ENTER_RESULT else ()
        by = "clock" if step.by == "clock" else "dan"
        do(table, c.Perform(at=NOON, by=by, act=step.act, faces=keyed, tumbles=3 * (step.act is Act.TUMBLE)))


def played(case: Case, faces: tuple[int, ...], seats: tuple[str, ...] = ("1",)) -> Table:
    """Round 1 with a bet on every area and this result; then two later rounds with a few bets."""
    table = opened(case, seats)
    begin(table)
    for name in seats:
        bet(table, case, name, pay_table(case).areas)
    finish(table, faces)
    later(table, case)
    return table


def later(table: Table, case: Case) -> None:
    """Two rounds more, one of them won."""
    for number, faces in enumerate(((1, 2, 4), (6, 6, 5))):
        begin(table)
        bet(table, case, "1", ("small", "any-triple")[: number + 1])
        finish(table, faces)


def wrong_result(faces: tuple[int, ...]) -> c.ReportIrregularity:
    """Dealer and supervisor say what the dice of round 1 showed."""
    return c.ReportIrregularity(
        at=NOON, by="dan", event=Irregularity.WRONG_RESULT, round=1, faces=faces, second="sue"
    )


def position(table: Table, name: str) -> int:
    """What a player has or is owed by the table, in all."""
    has = sum(purse.credits for purse in table.seats[name].purses.values())
    claims = [one for one in table.claims.values() if one.seat == name]
    return has + sum(one.amount if one.of_player else -one.amount for one in claims)


def tour() -> Iterator[tuple[Outcome, Outcome]]:
    """Every outcome after every other, on one unbroken way (an Eulerian circuit of all 56 × 55 arrows)."""
    left = {one: [other for other in OUTCOMES if other is not one] for one in OUTCOMES}
    way, stack = [], [OUTCOMES[0]]
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            way.append(stack.pop())
    way.reverse()
    yield from pairwise(way)


def test_the_tour_goes_from_every_outcome_to_every_other_once() -> None:
    arrows = list(tour())
    assert len(arrows) == len(set(arrows)) == 56 * 55
    assert all(before[1] is after[0] for before, after in pairwise(arrows))


# The checks


def corrected_all(case: Case) -> list[str]:
    """All 3,136 pairs on one table, and what was wrong."""
    table = played(case, tuple(OUTCOMES[0].faces))
    first, after = table.rounds[0], [written(one) for one in table.rounds[1:]]
    lost_and_won = [(one.settled.won, one.settled.collected) for one in table.rounds[1:] if one.settled]
    start = position(table, "1") - due(case, OUTCOMES[0].faces).returned
    faults: list[str] = []
    pairs = 0
    for wrong, right in tour():
        expected = due(case, right.faces)
        events = do(table, wrong_result(tuple(right.faces)))
        resettled = events[-1]
        assert isinstance(resettled, e.RoundResettled)
        assert (resettled.entered, resettled.faces) == (tuple(wrong.faces), tuple(right.faces))
        told = (resettled.collected, resettled.won, resettled.won + resettled.stakes_back)
        if told != expected:
            faults.append(f"{wrong} for {right}: the record says {told}, the oracle {expected}")
        if position(table, "1") != start + expected.returned:
            faults.append(
                f"{wrong} for {right}: {position(table, '1')}, expected {start + expected.returned}"
            )
        if [written(one) for one in table.rounds[1:]] != after:
            faults.append(f"{wrong} for {right}: a later round is another")
        house = (
            table.ledger.balances[Account.HOUSE_LOST] - sum(won for won, _ in lost_and_won),
            table.ledger.balances[Account.HOUSE_WON] - sum(collected for _, collected in lost_and_won),
        )
        if house != (expected.won, expected.collected):
            faults.append(f"{wrong} for {right}: the house lost and won {house}")
        assert first.result is right
        pairs += 1
    for same in OUTCOMES:
        if first.result is not same:
            do(table, wrong_result(tuple(same.faces)))
        kept = snapshot(table)
        refused = play.decide(table, wrong_result(tuple(same.faces)))
        if (
            not isinstance(refused, Refusal)
            or refused.reason is not Reason.BAD_VALUE
            or snapshot(table) != kept
        ):
            faults.append(f"{same} for {same} is {refused}")
        pairs += 1
    assert pairs == 56 * 56
    assert not table.claims
    return faults


@pytest.mark.parametrize("case", sampled("corrections", CASES, 3), ids=lambda case: case.name)
def test_all_pairs_of_wrong_and_right_pay_as_if_it_had_been_right(case: Case) -> None:
    assert corrected_all(case) == []


@each_case
def test_a_sample_of_corrections_on_tables_of_their_own(case: Case) -> None:
    table = opened(case)
    begin(table)
    bet(table, case, "1", pay_table(case).areas)
    before_result = _until_result(table)
    for place in range(0, 56, 5):
        wrong, right = OUTCOMES[place], OUTCOMES[(place * 3 + 17) % 56]
        assert wrong is not right
        keyed_wrong, keyed_right = copied(before_result), copied(before_result)
        for one, faces in ((keyed_wrong, wrong.faces), (keyed_right, right.faces)):
            finish(one, tuple(faces))
            later(one, case)
        do(keyed_wrong, wrong_result(tuple(right.faces)))
        assert keyed_wrong.ledger.balances == keyed_right.ledger.balances
        assert [purse.credits for purse in keyed_wrong.purses] == [
            purse.credits for purse in keyed_right.purses
        ]
        assert list(map(written, keyed_wrong.rounds[1:])) == list(map(written, keyed_right.rounds[1:]))


def _until_result(table: Table) -> Table:
    finish(table, (1, 1, 1), until=Act.ENTER_RESULT)
    return table


@each_case
def test_the_void_of_a_corrected_round_restores_every_balance(case: Case) -> None:
    assert void_restores(case) == []


def void_restores(case: Case) -> list[str]:
    """What a void after corrections leaves otherwise than a void at once."""
    table = opened(case)
    begin(table)
    bet(table, case, "1", pay_table(case).areas)
    at_once = copied(_until_result(table))
    finish(table, (1, 2, 3))
    for one in (table, at_once):
        if one is at_once:
            _void(one, 1)
        later(one, case)
    for outcome in OUTCOMES[::11]:
        do(table, wrong_result(tuple(outcome.faces)))
    _void(table, 1)
    faults = [] if table.rounds[0].voided else ["the round is not void"]
    kept, expected = table.ledger.balances, at_once.ledger.balances
    faults += [
        f"{one}: {kept[one]}, expected {expected[one]}" for one in Account if kept[one] != expected[one]
    ]
    faults += ["a later round is another"] * (
        list(map(written, table.rounds[1:])) != list(map(written, at_once.rounds[1:]))
    )
    refused = play.decide(table, wrong_result((4, 4, 4)))
    # That a void round had a wrong result is recorded, and nothing follows: it has no result.
    if isinstance(refused, Refusal) or [type(event) for event in refused] != [e.IrregularityRuled]:
        faults.append(f"a void round was corrected: {refused}")
    return faults


def _void(table: Table, number: int) -> None:
    """By referral: every document can be asked for it."""
    do(table, c.ReportIrregularity(at=NOON, by="dan", event=Irregularity.OTHER, round=number))
    do(
        table,
        c.DecideReferral(
            at=NOON, by="sue", referral=next(reversed(table.referrals)), treatment=Treatment.VOID_ROUNDS,
            reason="the die was no die", round=number, second="vic",
        ),
    )  # fmt: skip


# Money that has left


def leave(table: Table, house: House, name: str) -> None:
    """A player's credits become a ticket at the cage, and he goes."""
    [dispensed] = do(table, c.DispenseCredits(at=NOON, by=f"t{name}", transfer=f"out-{name}", seat=name))
    assert isinstance(dispensed, e.CreditsDispensed)
    issue = IssueTicket(
        at=NOON, by=TABLE, transfer=f"out-{name}", table="T7", ticket=name, amount=dispensed.amount
    )
    done(house, issue)


def settled_at_the_cage(table: Table, house: House) -> None:
    """Every claim is paid or collected by the cage, on both streams."""
    for claim in list(table.claims.values()):
        name = f"claim {len(table.transfers)}"
        do(
            table,
            c.SettleClaim(at=NOON, by="sue", claim=claim.id, how=ClaimEnd.CAGE, transfer=name, second="vic"),
        )
        kind: type[PayClaim | CollectClaim] = PayClaim if claim.of_player else CollectClaim
        paid: HouseCommand = kind(transfer=name, table="T7", claim=claim.id, amount=claim.amount, **BY_TWO)
        done(house, paid)


def both_streams(table: Table, house: House) -> int:
    """What table and House hold less what they owe, their debts to each other left out."""
    assert unfinished(house, {"T7": table.in_transit()}) == []
    in_transit = sum(table.in_transit().values()) + sum(one.signed for one in house.transfers.values())
    return table.ledger.difference + house.ledger.difference + in_transit


def a_house() -> House:
    """A cage with enough in it."""
    house = House()
    done(house, *BEGINNING, BringIn(id="plenty", amount=10**10, **BY_TWO))
    done(house, SendFill(transfer="fill", table="T7", amount=10**9, **BY_TWO))
    return house


@pytest.mark.parametrize(
    "case", [one for one in CASES if one.means is Means.CREDITS], ids=lambda one: one.name
)
def test_claims_both_ways_where_the_money_has_left_as_tickets(case: Case) -> None:
    ways = claims_after_tickets(case)
    # Whoever stays is credited what he is owed; what cannot be taken from him is a claim.
    assert ways == {("dry", False), ("gone", True), ("gone", False)}


def claims_after_tickets(case: Case) -> set[tuple[str, bool]]:
    """Who had claims which way: a player who stays, one with nothing left, and one who is gone."""
    ways: set[tuple[str, bool]] = set()
    seats = ("1", "dry", "gone")
    start = opened(case, seats)
    begin(start)
    for name in seats:
        bet(start, case, name, pay_table(case).areas)
    _until_result(start)
    for place in range(0, 56, 3):
        wrong, right = OUTCOMES[place], OUTCOMES[55 - place]
        table, house = copied(start), a_house()
        finish(table, tuple(wrong.faces))
        for name in ("dry", "gone"):
            leave(table, house, name)
        do(table, c.LeaveSeat(at=NOON, by="tgone", seat="gone"))
        later(table, case)
        before = {name: position(table, name) for name in seats}
        do(table, wrong_result(tuple(right.faces)))
        change = due(case, right.faces).returned - due(case, wrong.faces).returned
        assert {name: position(table, name) - before[name] for name in seats} == dict.fromkeys(seats, change)
        ways |= {(one.seat, one.of_player) for one in table.claims.values()}
        assert {one.amount for one in table.claims.values()} <= {abs(change)}
        settled_at_the_cage(table, house)
        assert not table.claims
        assert both_streams(table, house) == 0
    return ways


@pytest.mark.parametrize("case", CASH, ids=lambda one: one.name)
def test_claims_both_ways_where_cash_chips_went_back_to_the_pocket(case: Case) -> None:
    table, house = played(case, tuple(OUTCOMES[0].faces)), a_house()
    ways = set()
    for place in range(55, 0, -7):
        was, right = table.rounds[0].result, OUTCOMES[place]
        assert was is not None
        tray = table.ledger.balances[Account.CHIPS]
        do(table, wrong_result(tuple(right.faces)))
        change = due(case, right.faces).returned - due(case, was.faces).returned
        [claim] = table.claims.values()
        assert (claim.seat, claim.amount, claim.of_player) == ("1", abs(change), change > 0)
        assert table.ledger.balances[Account.CHIPS] == tray
        ways.add(claim.of_player)
        do(table, c.SettleClaim(at=NOON, by="sue", claim=claim.id, how=ClaimEnd.TABLE, second="vic"))
        assert table.ledger.balances[Account.CHIPS] == tray - change
        assert both_streams(table, house) == 0
    assert ways == {True, False}


# Sabotage

Patch = Callable[[pytest.MonkeyPatch], None]


def _pay_the_wrong_result_again(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.rounds import corrections, effects, settlement

    was = settlement.due_again

    def due_again(table: Table, round_: Any, _outcome: Outcome) -> Any:
        return was(table, round_, round_.result)

    for module in (effects, corrections):
        patch.setattr(module, "due_again", due_again)


def _adjust_nobody(patch: pytest.MonkeyPatch) -> None:
    from taisai.game.rounds import corrections, effects

    for module in (effects, corrections):
        patch.setattr(module, "adjustments", lambda *_: [])


def _touch_later_rounds(patch: pytest.MonkeyPatch) -> None:
    evolve = play.evolve

    def evolved(table: Table, event: e.Event) -> Table:
        table = evolve(table, event)
        if isinstance(event, e.RoundResettled):
            table.rounds[-1].seen = True
        return table

    patch.setattr(play, "evolve", evolved)


@pytest.mark.parametrize("sabotage", [_pay_the_wrong_result_again, _touch_later_rounds])
def test_sabotage_of_corrections_is_seen(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    assert corrected_all(CASES[4])


def test_sabotage_a_correction_that_adjusts_nobody_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from taisai.game.money.ledger import UnbalancedError

    _adjust_nobody(monkeypatch)
    with pytest.raises((AssertionError, UnbalancedError)):
        corrected_all(CASES[4])
    with pytest.raises((AssertionError, UnbalancedError)):
        void_restores(CASES[0])


def test_sabotage_a_claim_for_too_little_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from taisai.game.rounds import corrections

    was = Claim

    def claim(*said: Any, **named: Any) -> Any:
        made = was(*said, **named)
        return made._replace(amount=made.amount - 1)

    monkeypatch.setattr(corrections, "Claim", claim)
    with pytest.raises(AssertionError):
        claims_after_tickets(CASES[0])


def test_one_person_alone_corrects_nothing() -> None:
    assert alone(RWS) == "held"
    assert alone(f"{RWS}@1") is Reason.SECOND_PERSON


def alone(book: str) -> Reason | str:
    """What becomes of a correction by the Dealer alone of a round that was paid."""
    table = played(CASES[0]._replace(book=book), (1, 2, 3))
    report = c.ReportIrregularity(
        at=NOON, by="dan", event=Irregularity.WRONG_RESULT, round=1, faces=(6, 6, 6)
    )
    decided = play.decide(table, report)
    if isinstance(decided, Refusal):
        return decided.reason
    kinds = {type(event) for event in decided}
    return "held" if kinds == {e.IrregularityRuled, e.ReportHeld} else "corrected"


@pytest.mark.parametrize("book", [RWS, f"{RWS}@1"])
def test_sabotage_a_second_person_that_is_not_asked_for_is_seen(
    book: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taisai.game.rounds import corrections

    monkeypatch.setattr(corrections, "two_people", lambda *_, **__: None)
    assert alone(book) == "corrected"
