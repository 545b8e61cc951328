"""Settlements and rounds that were made by hand: entered as they were, and what differs is owed."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taisai.game import Account, Refusal, Table, decide, evolve, replayed
from taisai.game import events as happened
from taisai.game.by_hand import entering, handed_over
from taisai.game.by_hand.messages import BetByHand
from taisai.game.commands import (
    BuyColour,
    Command,
    DeclareUnrecorded,
    EnterRound,
    EnterSettlement,
    Perform,
    RecordBets,
    Recover,
    Slip,
    TakeSeat,
)
from taisai.game.events import Event
from taisai.game.snapshot import read_round, read_table, write_round, write_table
from taisai.game.vocabulary import RECOVERY, Means
from taisai.rules import Act
from taisai.rules.outcomes import OUTCOMES
from tests.game.playbooks import books_faults, play
from tests.game.snapshots import snapshot

HEAD: Final = """book: {book}
opened by: Sue {top}
people: Dan dealer, Pat {second}
limits: 100 to 50000

> Dan: receive-fill 9000000, transfer f1, with Pat
"""
OPENED: Final = {
    "mbs-sic-bo-v6": HEAD.format(book="mbs-sic-bo-v6", top="shift-manager", second="pit-supervisor"),
    "mbs-3-card-sic-bo": HEAD.format(book="mbs-3-card-sic-bo", top="shift-manager", second="pit-supervisor")
    + "> Dan: load-shoe 6\n> Dan: shuffle-shoe\n",
    "us-sic-bo": HEAD.format(book="us-sic-bo", top="casino-supervisor", second="casino-supervisor")
    + "> Dan: place-item dice, serial D-1\n"
    + "> Pat: assign Flo, position floorperson\n"
    + "> Flo: inspect electrical-device, entered 1 1 2, "
    + "lit small total-4 double-1 pair-12 single-1 single-2\n",
}
AREAS: Final = ("small", "big", "total-10", "any-triple")
SEATS: Final = ("1", "2")


class Hand:
    """A table of two players, and everything that happened at it."""

    def __init__(self, book: str) -> None:
        told = play(OPENED[book])
        self.table, self.events = told.table, told.events()
        assert self.table.name
        self.do(TakeSeat, "Dan", seat="1", player="Ann")
        self.do(TakeSeat, "Dan", seat="2", player="Bo")
        if Means.COLOUR_CHIPS in self.table.means:
            self.do(
                BuyColour, "Dan", seat="2", colour="red", value=100, pieces=5_000, paid_with=Means.CASH,
                marker=100,
            )  # fmt: skip

    def asked(self, kind: type[Command], by: str, **fields: Any) -> tuple[Event, ...] | Refusal:
        return decide(self.table, kind(at=self.table.latest + 1, by=by, **fields))

    def do(self, kind: type[Command], by: str, **fields: Any) -> tuple[Event, ...]:
        """Does it; the books balance after each event."""
        before = snapshot(self.table)
        answer = self.asked(kind, by, **fields)
        assert not isinstance(answer, Refusal), answer
        assert snapshot(self.table) == before  # a decision changes nothing
        for event in answer:
            evolve(self.table, event)
            assert books_faults(self.table) == []
            assert self.table.ledger.difference == 0
        self.events += answer
        return answer

    @property
    def claims(self) -> dict[str, int]:
        """Seat → what is owed to its player; negative where the player owes it."""
        owed: dict[str, int] = {}
        for claim in self.table.claims.values():
            owed[claim.seat] = owed.get(claim.seat, 0) + (claim.amount if claim.of_player else -claim.amount)
        return owed


def means(hand: Hand, seat: str) -> Means:
    """Seat 2 plays with colour chips where the game has them."""
    has_colour = seat == "2" and Means.COLOUR_CHIPS in hand.table.means
    return Means.COLOUR_CHIPS if has_colour else Means.CASH_CHIPS


bets_of = st.lists(
    st.tuples(st.sampled_from(SEATS), st.sampled_from(AREAS), st.integers(1, 40)), min_size=1, max_size=6
)
outcomes = st.sampled_from(OUTCOMES)
errors = st.dictionaries(st.sampled_from(SEATS), st.integers(-3_000, 3_000), max_size=2)
Bets = list[tuple[str, str, int]]
each_book = pytest.mark.parametrize("book", sorted(OPENED))
often = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def by_hand(hand: Hand, bets: Bets) -> tuple[BetByHand, ...]:
    return tuple(BetByHand(seat, means(hand, seat), area, 100 * count) for seat, area, count in bets)


def recorded(hand: Hand, bets: Bets) -> None:
    """The same bets, recorded live in a round that is opened for them."""
    hand.do(Perform, "Dan", act=Act.OPEN_BETS)
    for number, (seat, area, count) in enumerate(bets):
        kind = means(hand, seat)
        slip = Slip(f"b{number}", area, count if kind is Means.COLOUR_CHIPS else 100 * count)
        hand.do(RecordBets, "Dan", round=len(hand.table.rounds) + 1, bets=(slip,), means=kind, seat=seat)


def declared_settled(hand: Hand, faces: tuple[int, ...]) -> None:
    """The system stops with bets open; the round was played to its end by hand."""
    hand.do(Recover, RECOVERY)
    hand.do(
        DeclareUnrecorded, "Dan", called=True, tumbles=0 if hand.table.shoe.used else 3, faces=faces,
        settled=True, second="Pat",
    )  # fmt: skip


EVIDENCE: Final[dict[str, Any]] = {
    "evidence": "camera 4, 21:04",
    "reason": "the server was down",
    "second": "Pat",
}


def dues(hand: Hand, events: tuple[Event, ...]) -> dict[str, int]:
    """Seat → what was due, by the purses of the settlement."""
    (settled,) = (event for event in events if isinstance(event, happened.RoundSettled))
    round_ = hand.table.rounds[-1]
    assert round_.settled is not None
    due = dict.fromkeys(SEATS, 0)
    for index, amount in enumerate(round_.settled.by_purse):
        due[hand.table.purses[index].seat.name] += amount
    assert sum(due.values()) == settled.won + settled.stakes_back
    return due


def live(hand: Hand, bets: Bets, faces: tuple[int, ...]) -> dict[str, int]:
    """What the same round gives back when it is recorded live, to its end."""
    recorded(hand, bets)
    table = hand.table
    events: tuple[Event, ...] = ()
    acts: list[tuple[Act, dict[str, Any]]] = [
        (Act.CLOSE_BETS, {}), (Act.TUMBLE, {"tumbles": 3}), (Act.PRESS_DEAL, {}), (Act.UNCOVER, {}),
        (Act.DEAL_CARDS, {}), (Act.ENTER_RESULT, {"faces": faces}), (Act.SETTLE, {}),
        (Act.COLLECT_AND_PAY, {}), (Act.COLLECT, {}), (Act.PAY, {}), (Act.CONCLUDE, {}),
        (Act.CLEAR_LIGHTS, {}),
    ]  # fmt: skip
    for act, fields in acts:
        if any(step.act is act for step in table.procedure.steps_from(table.phase, table.settings)):
            events += hand.do(Perform, "Dan", act=act, **fields)
    return dues(hand, events)


def figures(table: Table) -> tuple[object, ...]:
    """What a round leaves in the books."""
    purses = [(purse.seat.name, purse.credits, purse.net) for purse in table.purses]
    return dict(table.ledger.balances), purses, list(table.shoe.seen), table.shoe.left


@each_book
@often
@given(bets=bets_of, outcome=outcomes, wrong=errors)
def test_a_round_entered_pays_what_the_same_round_pays_live(
    book: str, bets: Bets, outcome: Any, wrong: dict[str, int]
) -> None:
    faces = tuple(outcome.faces)
    played, entered = Hand(book), Hand(book)
    due = live(played, bets, faces)
    entered.do(EnterRound, "Dan", bets=by_hand(entered, bets), faces=faces, returned=due, **EVIDENCE)
    assert entered.claims == {}
    assert figures(entered.table) == figures(played.table)
    assert entered.table.rounds[0].by_hand
    assert not played.table.rounds[0].by_hand
    # The same with mistakes: they are owed exactly, and the tray has what was left in it.
    other = Hand(book)
    returned = {seat: max(0, due[seat] + wrong.get(seat, 0)) for seat in SEATS}
    other.do(EnterRound, "Dan", bets=by_hand(other, bets), faces=faces, returned=returned, **EVIDENCE)
    assert other.claims == {seat: due[seat] - returned[seat] for seat in SEATS if due[seat] != returned[seat]}
    assert other.table.purses[-1].net == played.table.purses[-1].net
    _is_replayed(other)


@each_book
@often
@given(bets=bets_of, outcome=outcomes, wrong=errors)
def test_a_settlement_is_entered_as_it_was_made(
    book: str, bets: Bets, outcome: Any, wrong: dict[str, int]
) -> None:
    faces = tuple(outcome.faces)
    played, stopped = Hand(book), Hand(book)
    due = live(played, bets, faces)
    recorded(stopped, bets)
    declared_settled(stopped, faces)
    chips = stopped.table.ledger.balances[Account.CHIPS]
    returned = {seat: max(0, due[seat] + wrong.get(seat, 0)) for seat in SEATS}
    stopped.do(EnterSettlement, "Dan", returned=returned, **EVIDENCE)
    assert stopped.table.round is None
    assert stopped.claims == {
        seat: due[seat] - returned[seat] for seat in SEATS if due[seat] != returned[seat]
    }
    left = chips - stopped.table.ledger.balances[Account.CHIPS]
    if means(stopped, "2") is Means.CASH_CHIPS:
        assert left == sum(returned.values())  # as they were handed over, and not a second time
    _is_replayed(stopped)


def _is_replayed(hand: Hand) -> None:
    """Events and snapshots lead to the same table."""
    table = hand.table
    again = replayed(table.book, hand.events)
    assert snapshot(again) == snapshot(table)
    written = {round_.number: write_round(round_) for round_ in table.rounds}
    copy = read_table(table.book, write_table(table), lambda number: read_round(written[number]))
    assert write_table(copy) == write_table(table)
    assert [snapshot_of.by_hand for snapshot_of in copy.rounds] == [one.by_hand for one in table.rounds]


@each_book
def test_a_round_void_by_hand_gives_every_stake_back(book: str) -> None:
    hand = Hand(book)
    before = figures(hand.table)
    bets = by_hand(hand, [("1", "small", 10), ("2", "big", 20)])
    hand.do(EnterRound, "Dan", bets=bets, void=True, returned={"1": 1_000, "2": 2_000}, **EVIDENCE)
    after = figures(hand.table)
    assert (after[0], after[2:]) == (before[0], before[2:])
    assert hand.table.rounds[0].voided
    assert hand.claims == {}
    hand.do(EnterRound, "Dan", bets=bets, void=True, returned={"1": 1_500}, **EVIDENCE)
    assert hand.claims == {"1": -500, "2": 2_000}


REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "one person": ({"second": None}, "second-person"),
    "oneself": ({"second": "Dan"}, "second-person"),
    "no evidence": ({"evidence": " "}, "bad-value"),
    "no reason": ({"reason": ""}, "bad-value"),
    "no faces": ({"faces": ()}, "bad-value"),
    "two faces": ({"faces": (1, 2)}, "bad-value"),
    "no such seat": ({"returned": {"9": 100}}, "unknown-seat"),
    "less than nothing": ({"returned": {"1": -1}}, "bad-value"),
    "no such area": ({"bets": (BetByHand("1", Means.CASH_CHIPS, "triple-7", 100),)}, "not-on-layout"),
    "no stake": ({"bets": (BetByHand("1", Means.CASH_CHIPS, "small", 0),)}, "stake-not-positive"),
    "no such player": ({"bets": (BetByHand("9", Means.CASH_CHIPS, "small", 100),)}, "unknown-seat"),
    "money in the hand": ({"bets": (BetByHand("1", Means.CASH, "small", 100),)}, "wrong-means"),
    "more than the tray": ({"returned": {"1": 90_000_000}}, "float-short"),
    "501 bets": ({"bets": (BetByHand("1", Means.CASH_CHIPS, "small", 100),) * 501}, "too-many"),
}


@each_book
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_have_been_played_is_refused(book: str, case: str) -> None:
    fields, reason = REFUSED[case]
    hand = Hand(book)
    answer = hand.asked(EnterRound, "Dan", **{"faces": (1, 2, 4), **EVIDENCE, **fields})
    assert isinstance(answer, Refusal)
    assert answer.reason == reason


def test_no_round_is_entered_over_a_round_in_hand_nor_at_an_electronic_table() -> None:
    hand = Hand("mbs-sic-bo-v6")
    hand.do(Perform, "Dan", act=Act.OPEN_BETS)
    answer = hand.asked(EnterRound, "Dan", faces=(1, 2, 4), **EVIDENCE)
    assert isinstance(answer, Refusal)
    assert (answer.reason, answer.clause) == ("under-live-bets", "house:by-hand")
    for book, top in (("rws-sic-bo-etg-v8", "shift-manager"), ("mbs-sic-bo-v6@1", "shift-manager")):
        told = play(
            f"book: {book}\nopened by: Sue {top}\npeople: Dan dealer, Pat pit-supervisor\n"
            "limits: 100 to 50000\n\n> Sue: begin-shift night\n"
        )
        command = EnterRound(at=told.table.latest, by="Dan", faces=(1, 2, 4), **EVIDENCE)
        answer = decide(told.table, command)
        assert isinstance(answer, Refusal)
        assert (answer.reason, answer.clause) == ("ruled-out", "house:by-hand")


def test_the_cards_of_a_round_by_hand_leave_the_shoe() -> None:
    hand = Hand("mbs-3-card-sic-bo")
    left = hand.table.shoe.left
    hand.do(EnterRound, "Dan", faces=(2, 2, 2), **EVIDENCE)
    assert (hand.table.shoe.left, hand.table.shoe.seen[1]) == (left - 3, 3)
    hand.table.shoe.seen[1] = 48
    answer = hand.asked(EnterRound, "Dan", faces=(2, 3, 4), **EVIDENCE)
    assert isinstance(answer, Refusal)
    assert answer.reason == "bad-value"


def _fails(monkeypatch: pytest.MonkeyPatch, name: str, broken: object) -> None:
    monkeypatch.setattr(entering, name, broken)
    hand = Hand("mbs-sic-bo-v6")
    bets = by_hand(hand, [("1", "small", 10)])
    hand.do(EnterRound, "Dan", bets=bets, faces=(1, 2, 4), returned={"1": 1_500}, **EVIDENCE)
    assert hand.claims == {"1": 500}
    assert hand.table.rounds[0].by_hand


def test_sabotage_a_difference_that_is_not_owed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_over, "changes", lambda *_: [])
    with pytest.raises(AssertionError):
        _fails(monkeypatch, "changes", lambda *_: [])


def test_sabotage_a_decision_on_the_table_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        _fails(monkeypatch, "copied", lambda table: table)
