"""The record follows the chips (MBS 3.11): a round whose record was put right gives what it should have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taisai.game import play
from taisai.game.betting import record, rewriting
from taisai.game.commands import (
    BuyColour,
    CashColour,
    CorrectRecord,
    LeaveSeat,
    Limits,
    RecordBets,
    Slip,
    TakeSeat,
)
from taisai.game.events import RecordCorrected, RoundResettled, WinnersPaid
from taisai.game.money.ledger import Account, UnbalancedError
from taisai.game.rounds import corrections, effects
from taisai.game.rounds.settlement import bet_records, stakes_by_purse
from taisai.game.snapshot import loading, read_table, write_round, write_table
from taisai.game.vocabulary import Means, RecordChange
from taisai.rules import Act, rulebook
from taisai.rules.settlement import BetState
from tests.game.playing import MBS, THREE_CARD, US, Playing, course
from tests.tiers import count

RANK: Final = {MBS: "pat", THREE_CARD: "sue", US: "sal"}
"""Book → who corrects the record there."""
SECOND: Final = {MBS: "sue", THREE_CARD: "pat", US: "sue"}
WRONG: Final = ("", "missing", "extra", "stake", "seat", "area", "split")
MOMENTS: Final = ("open", "closed", "revealed", "entered", "settled", "collected", "paid", "next", "gone")
CASH: Final = ("1", "2")
COLOUR: Final = "3"
VALUE: Final = 100
LIMITS: Final = {MBS: Limits(least=600, most=2_000), THREE_CARD: Limits(least=100, most=90_000)}
LIMITS[US] = LIMITS[THREE_CARD]
AREAS: Final = ("small", "big", "total-9", "any-triple")


class Chip(NamedTuple):
    """A chip, and what was wrong in the record of it until a moment."""

    seat: str
    area: str
    pieces: int
    wrong: str
    other_area: str
    other_pieces: int
    moment: str


chips = st.builds(
    Chip, st.sampled_from((*CASH, COLOUR)), st.sampled_from(AREAS), st.integers(1, 25),
    st.sampled_from(WRONG), st.sampled_from(AREAS), st.integers(1, 25), st.sampled_from(MOMENTS),
)  # fmt: skip


class Case(NamedTuple):
    """A round: its book, its chips and its result."""

    book: str
    chips: tuple[Chip, ...]
    faces: tuple[int, ...]


cases = st.builds(
    Case, st.sampled_from((MBS, US, THREE_CARD)), st.lists(chips, min_size=1, max_size=6).map(tuple),
    st.sampled_from([(1, 2, 3), (4, 5, 6), (2, 3, 4), (5, 5, 5), (1, 4, 4)]),
)  # fmt: skip


def means_of(seat: str) -> Means:
    return Means.COLOUR_CHIPS if seat == COLOUR else Means.CASH_CHIPS


class Round:
    """A round that is played with a record, which is put right on the way."""

    def __init__(self, case: Case, *, right: bool, pause: Callable[[Playing], None] | None = None) -> None:
        self.case, self.right, self.pause = case, right, pause
        self.playing = Playing(rulebook(case.book), {}, limits=LIMITS[case.book]).staff().equip()
        self.is_paid = False
        self.given: dict[str, int] = {}
        """Seat → what the payment and the cashing of colour chips brought, less the cash chips it laid."""
        for seat in (*CASH, COLOUR):
            self.playing.do(TakeSeat, "dan", seat=seat, player=f"player {seat}")
        self.has_colour = Means.COLOUR_CHIPS in self.playing.table.means
        if self.has_colour:
            bought = {"seat": COLOUR, "colour": "red", "value": VALUE, "pieces": 500, "paid_with": Means.CASH}
            self.playing.do(BuyColour, "dan", **bought)

    def means(self, seat: str) -> Means:
        return means_of(seat) if self.has_colour else Means.CASH_CHIPS

    def money(self, seat: str, pieces: int) -> int:
        """A stake in the unit of the command: pieces of colour chips, or cash."""
        return pieces if self.means(seat) is Means.COLOUR_CHIPS else pieces * VALUE

    def lay(self, name: str, chip: Chip) -> None:
        seat, area, pieces = chip.seat, chip.area, chip.pieces
        if not self.right:
            if chip.wrong == "missing":
                return
            if chip.wrong == "stake":
                pieces = chip.other_pieces
            if chip.wrong == "seat":
                seat = self.other(seat)
            if chip.wrong == "area":
                area = chip.other_area
            if chip.wrong == "split":
                pieces += chip.other_pieces
            if chip.wrong == "extra":
                self.record(f"{name}-extra", seat, chip.other_area, chip.other_pieces)
        elif chip.wrong == "split":
            self.record(f"{name}-part", seat, self.elsewhere(chip), chip.other_pieces)
        self.record(name, seat, area, pieces)

    def record(self, name: str, seat: str, area: str, pieces: int) -> None:
        slip = Slip(name, area, self.money(seat, pieces))
        self.playing.do(RecordBets, "dan", round=1, seat=seat, means=self.means(seat), bets=(slip,))

    def other(self, seat: str) -> str:
        return CASH[1 - CASH.index(seat)] if seat in CASH else seat

    def elsewhere(self, chip: Chip) -> str:
        """The area of the part of a split, which is never the same."""
        return next(area for area in (chip.other_area, *AREAS) if area != chip.area)

    def correct(self, moment: str) -> None:
        """Puts right what is found at this moment."""
        if self.right:
            return
        for place, chip in enumerate(self.case.chips):
            if chip.wrong and chip.moment == moment:
                counted = self.collected(chip)
                self.put_right(f"b{place}", chip)
                if self.is_paid and self.means(chip.seat) is Means.CASH_CHIPS:
                    self.add(chip.seat, counted - self.collected(chip))
                self.check()

    def collected(self, chip: Chip) -> int:
        """What is collected of a player by the record, where a mistake in it is of what was laid.

        The chips were collected as they lay, so that a mistake which is found later takes and gives nothing.
        """
        if chip.wrong not in ("missing", "extra", "stake") or not self.is_paid:
            return 0
        table = self.playing.table
        round_ = table.rounds[0] if table.rounds else table.current
        return sum(
            one.stake - one.returned
            for one in bet_records(self.playing.table, round_, round_.live())
            if one.bet.seat == chip.seat and one.state is BetState.LOST
        )

    def put_right(self, name: str, chip: Chip) -> None:
        fields: dict[str, Any] = {"id": name}
        stake = self.money(chip.seat, chip.pieces)
        match chip.wrong:
            case "missing":
                fields |= {
                    "change": RecordChange.ADD, "seat": chip.seat, "means": self.means(chip.seat),
                    "area": chip.area, "stake": stake,
                }  # fmt: skip
            case "extra":
                fields |= {"change": RecordChange.REMOVE, "id": f"{name}-extra"}
            case "split":
                fields |= {
                    "change": RecordChange.SPLIT, "new_id": f"{name}-part", "area": self.elsewhere(chip),
                    "stake": self.money(chip.seat, chip.other_pieces),
                }  # fmt: skip
            case "stake":
                fields |= {"change": RecordChange.STAKE, "stake": stake}
            case "seat":
                fields |= {"change": RecordChange.SEAT, "seat": chip.seat}
            case _:
                fields |= {"change": RecordChange.AREA, "area": chip.area}
        book = self.case.book
        self.playing.do(
            CorrectRecord, RANK[book], round=1, reason="as it lay", evidence="camera 4, 21:03:10",
            second=SECOND[book], **fields,
        )  # fmt: skip

    def check(self) -> None:
        """The table and its accounts agree, and nothing is lost in a snapshot or a replay."""
        table = self.playing.table
        balances = table.ledger.balances
        assert balances[Account.CREDITS] == sum(table.credits)
        assert balances[Account.AT_RISK] == sum(table.at_risk)
        assert balances[Account.PAYABLE] == sum(table.payable)
        claims = table.claims.values()
        assert balances[Account.CLAIMS_OF_PLAYERS] == sum(claim.amount for claim in claims if claim.of_player)
        assert min(table.credits, default=0) >= 0
        if self.pause is not None:
            self.pause(self.playing)

    def play(self) -> Round:
        playing, case = self.playing, self.case
        for act, phase in course(case.book, {}):
            faces = {"faces": case.faces} if act == Act.ENTER_RESULT else {}
            staked = stakes_by_purse(playing.table, playing.table.round) if playing.table.round else {}
            payable = list(playing.table.payable)
            events = playing.act(act, **faces)
            if any(isinstance(event, WinnersPaid) for event in events):
                for purse in playing.table.purses:
                    if purse.means is Means.CASH_CHIPS:
                        got = payable[purse.index] - staked.get(purse.index, 0)
                        self.add(purse.seat.name, got)
                self.lay_as_it_was()
                self.is_paid = True
            if act == Act.OPEN_BETS:
                for place, chip in enumerate(case.chips):
                    self.lay(f"b{place}", chip)
            self.correct("closed" if act == Act.CLOSE_BETS else phase)
        playing.make_ready()
        playing.act("open-bets")
        self.correct("next")
        for seat in (*CASH, COLOUR):
            pieces = sum(purse.credits for purse in playing.table.seats[seat].purses.values()) // VALUE
            if pieces:
                playing.do(CashColour, "dan", seat=seat, pieces=pieces)
                self.add(seat, pieces * VALUE)
            playing.do(LeaveSeat, "dan", seat=seat)
        self.correct("gone")
        return self

    def lay_as_it_was(self) -> None:
        """A chip that the record gives to another seat when it is paid was laid by its owner all the same."""
        round_ = self.playing.table.current
        for place, chip in enumerate(self.case.chips):
            bet = round_.bets.get(f"b{place}")
            if chip.wrong == "seat" and bet is not None and bet.seat != chip.seat:
                self.add(bet.seat, bet.stake)
                self.add(chip.seat, -bet.stake)

    def add(self, seat: str, amount: int) -> None:
        self.given[seat] = self.given.get(seat, 0) + amount

    def result(self) -> dict[str, int]:
        """What each player has in the end, claims included, and what the house won and lost."""
        table = self.playing.table
        has = {seat: self.given.get(seat, 0) for seat in (*CASH, COLOUR)}
        for claim in table.claims.values():
            has[claim.seat] += claim.amount if claim.of_player else -claim.amount
        balances = table.ledger.balances
        won, lost = balances[Account.HOUSE_WON], balances[Account.HOUSE_LOST]
        return has | {"house won": won, "house lost": lost}

    def records(self) -> list[tuple[object, ...]]:
        """What became of each bet that lay there, by the limits and by the result."""
        table = self.playing.table
        round_ = table.rounds[0]
        return sorted(
            (one.bet.seat, str(one.area), one.stake, one.returned, one.kept_out)
            for one in bet_records(table, round_, round_.live())
        )


def fits(case: Case) -> Case:
    """The case with a moment for each mistake that its course comes to."""
    return case._replace(chips=tuple(fitting(chip, case.book) for chip in case.chips))


def fitting(chip: Chip, book: str) -> Chip:
    wrong, moment = chip.wrong, chip.moment
    if moment == "collected" and book != US:
        moment = "settled"
    if wrong == "seat" and chip.seat == COLOUR:
        wrong = "stake"
    is_same = {"stake": chip.other_pieces == chip.pieces, "area": chip.other_area == chip.area}
    return chip._replace(wrong="" if is_same.get(wrong) else wrong, moment=moment)


def agrees(case: Case, pause: Callable[[Playing], None] | None = None) -> None:
    case = fits(case)
    right, wrong = Round(case, right=True).play(), Round(case, right=False, pause=pause).play()
    assert wrong.result() == right.result()
    assert wrong.playing.table.rounds[0].staked == right.playing.table.rounds[0].staked
    assert wrong.playing.table.tolerated.keys() == right.playing.table.tolerated.keys()
    by_seat = [record[:2] for record in wrong.records()]
    assert by_seat == [record[:2] for record in right.records()]


UNDER_MINIMUM_AT_A_WRONG_SEAT: Final = (
    Chip("1", "small", 1, "seat", "small", 1, "settled"),
    Chip("2", "small", 1, "missing", "small", 1, "settled"),
)
"""A player whose tolerated bet was another's has the tolerance for a bet of their own."""


@settings(max_examples=count(40, 2_000), deadline=None)
@given(cases)
@example(Case(MBS, (Chip("1", "small", 4, "missing", "big", 1, "gone"),), (1, 2, 3)))
@example(Case(MBS, (Chip("3", "small", 4, "stake", "big", 25, "gone"),), (4, 5, 6)))
@example(Case(US, (Chip("2", "big", 4, "seat", "small", 1, "collected"),), (4, 5, 6)))
@example(Case(MBS, UNDER_MINIMUM_AT_A_WRONG_SEAT, (1, 2, 3)))
def test_a_round_with_a_corrected_record_gives_what_a_round_that_was_recorded_right_gives(case: Case) -> None:
    agrees(case)


def as_it_was(playing: Playing) -> None:
    """The table continues from a snapshot, and from its events alone, as it is."""
    table = playing.table
    data = write_table(table)
    past = {round_.number: write_round(round_) for round_ in table.rounds}
    again = read_table(playing.book, data, loading(past.__getitem__))
    assert write_table(again) == data
    replayed = play.replayed(playing.book, playing.log)
    assert write_table(replayed) == data
    assert [write_round(round_) for round_ in replayed.rounds] == list(past.values())
    playing.table = again


@settings(max_examples=count(8, 300), deadline=None)
@given(cases)
def test_after_every_correction_a_snapshot_and_a_replay_are_the_table(case: Case) -> None:
    agrees(case, as_it_was)


# Who and when


def standing_at(phase: str, book: str = MBS) -> Playing:
    """A table in a phase, with a bet of seat 1."""
    playing = Playing(rulebook(book), {}).staff().equip()
    for seat in CASH:
        playing.do(TakeSeat, "dan", seat=seat)
    for act, reached in course(book, {}):
        playing.act(act)
        if act == Act.OPEN_BETS:
            slips = (Slip("b1", "small", 1_000),)
            playing.do(RecordBets, "dan", round=1, seat="1", means=Means.CASH_CHIPS, bets=slips)
        if reached == phase:
            return playing
    raise AssertionError(f"a round does not come to {phase}")


CHANGES: Final[dict[RecordChange, dict[str, Any]]] = {
    RecordChange.ADD: {"seat": "2", "means": Means.CASH_CHIPS, "area": "big", "stake": 500},
    RecordChange.REMOVE: {"id": "b1"},
    RecordChange.STAKE: {"id": "b1", "stake": 2_000},
    RecordChange.SEAT: {"id": "b1", "seat": "2"},
    RecordChange.AREA: {"id": "b1", "area": "big"},
    RecordChange.SPLIT: {"id": "b1", "stake": 400, "area": "big"},
}
WHY: Final = {"reason": "as it lay", "evidence": "camera 4, 21:03:10"}
UNSEEN: Final = ("open", "open-tumbled", "closed-tumbled", "deal-pressed")
SEEN: Final = ("revealed", "entered")
SETTLED: Final = ("settled", "paid", "between")


@pytest.mark.parametrize("change", RecordChange)
def test_mbs_3_11_once_a_die_is_seen_what_may_give_a_player_more_takes_two(change: RecordChange) -> None:
    fields = CHANGES[change] | WHY
    for phase in UNSEEN:
        assert standing_at(phase).tried(CorrectRecord, "dan", change=change, **fields) == "not-permitted 3.11"
        assert standing_at(phase).tried(CorrectRecord, "pat", change=change, **fields) == "done"
    takes_two = "second-person house:dual-control"
    for phase in SEEN:
        alone = standing_at(phase).tried(CorrectRecord, "pat", change=change, **fields)
        assert alone == ("done" if change is RecordChange.REMOVE else takes_two)
    for phase in SETTLED:
        assert standing_at(phase).tried(CorrectRecord, "pat", change=change, **fields) == takes_two
        standing_at(phase).do(CorrectRecord, "pat", change=change, second="sue", **fields)


def test_mbs_3_11_a_lower_stake_is_recorded_by_one_and_a_higher_one_by_two() -> None:
    lower = {"change": RecordChange.STAKE, "id": "b1", **WHY}
    playing = standing_at("revealed")
    playing.do(CorrectRecord, "pat", stake=500, **lower)
    assert playing.refused(CorrectRecord, "pat", stake=600, **lower) == "second-person house:dual-control"


def test_mbs_3_11_a_die_seen_under_the_cover_counts_as_seen() -> None:
    playing = standing_at("closed-tumbled")
    assert playing.table.round is not None
    playing.table.round.seen = True
    tried = playing.tried(CorrectRecord, "pat", change=RecordChange.AREA, id="b1", area="big", **WHY)
    assert tried == "second-person house:dual-control"


def test_the_event_has_the_bet_before_and_after_and_the_settlement_follows() -> None:
    playing = standing_at("between")
    corrected, again = playing.do(
        CorrectRecord, "pat", change=RecordChange.STAKE, id="b1", stake=2_000, second="sue", **WHY
    )
    assert isinstance(corrected, RecordCorrected)
    assert isinstance(again, RoundResettled)
    assert corrected.before is not None
    assert corrected.after is not None
    assert (corrected.before.stake, corrected.after.stake, again.staked) == (1_000, 2_000, 2_000)
    assert [(claim.seat, claim.amount, claim.of_player) for claim in playing.table.claims.values()] == [
        ("1", 1_000, True)
    ]


# Sabotage


def rewrites_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rewriting, "_rewrite", lambda *_: None)


def forgets_the_stake(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corrections, "after_restaking", lambda _round, due: due)
    patch.setattr(effects, "after_restaking", lambda _round, due: due)


def forgets_who_laid_a_chip(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rewriting, "passed_on_by_purse", lambda *_: {})


def forgets_the_limits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rewriting, "_limit_again", lambda *_: None)


SABOTAGES: Final = [
    (rewrites_nothing, Case(MBS, (Chip("1", "small", 10, "stake", "big", 20, "closed"),), (1, 2, 3))),
    (forgets_the_stake, Case(MBS, (Chip("1", "small", 10, "missing", "big", 1, "gone"),), (1, 2, 3))),
    (forgets_who_laid_a_chip, Case(MBS, (Chip("1", "big", 10, "seat", "big", 1, "gone"),), (1, 2, 3))),
    (forgets_the_limits, Case(MBS, (Chip("1", "small", 25, "stake", "big", 10, "gone"),), (1, 2, 3))),
]


@pytest.mark.parametrize(("sabotage", "case"), SABOTAGES, ids=lambda one: getattr(one, "__name__", ""))
def test_sabotage_a_wrong_correction_is_seen(
    sabotage: Callable[[pytest.MonkeyPatch], None], case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    agrees(case)
    sabotage(monkeypatch)
    with pytest.raises((AssertionError, UnbalancedError)):
        agrees(case)


def test_sabotage_a_second_person_that_is_not_asked_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_takes_two", lambda *_: False)
    with pytest.raises(AssertionError):
        test_mbs_3_11_once_a_die_is_seen_what_may_give_a_player_more_takes_two(RecordChange.ADD)
