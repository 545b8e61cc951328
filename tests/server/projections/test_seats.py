"""A seat as its player sees it, whatever happened, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from taisai.game import bet_records
from taisai.game.commands import BuyCredits, LeaveSeat, ReportIrregularity, Slip, TakeSeat
from taisai.game.events import BetRegistered, RecordCorrected
from taisai.game.rounds import effects
from taisai.game.rounds.round import Round
from taisai.game.table import Seat
from taisai.protocol.views import LastRound, SeatView, changed, difference
from taisai.rules import Irregularity, rulebook
from taisai.rules.settlement import BetState
from taisai.server.projections.seats import SeatIndex, seat_view
from tests.game.playing import MBS, RWS, SEAT, STAKES, TERMINAL, at, opened
from tests.server.projections.played_tables import State, every_state


def wrong_seats(state: State, by_seat: SeatIndex) -> Iterator[str]:
    """What a seat's view says otherwise than the table, by an index that was there all the time."""
    table = state.table
    for name, seat in table.seats.items():
        view = seat_view(table, name, by_seat)
        if view != seat_view(table, name):
            yield f"{state}: {name} alone is another than {name} among all"
        held = (view.credits, view.at_risk, view.payable)
        purses = seat.purses.values()
        if held != tuple(sum(getattr(p, kind) for p in purses) for kind in ("credits", "at_risk", "payable")):
            yield f"{state}: {name} holds {held}"
        if not seat.taken and (view.bets or view.player or view.last or view.claims):
            yield f"{state}: nobody sits at {name}, and it shows {view}"
        lie = table.round is not None and table.round.phase != "paid"
        standing = [bet for bet in table.round.live() if bet.seat == name] if table.round and lie else []
        if seat.taken and view.bets != tuple(Slip(bet.id, bet.area, bet.stake) for bet in standing):
            yield f"{state}: {name} shows {view.bets}, and {standing} stand"
        if table.round and not table.round.settled and view.at_risk != sum(bet.stake for bet in view.bets):
            yield f"{state}: {name} has {view.at_risk} at risk and shows {view.bets}"
        if view.net != (net := _net(state, seat)):
            yield f"{state}: {name} is told a net result of {view.net}, and it was {net}"
        yield from _wrong_last(state, view)


def _net(state: State, seat: Seat) -> int:
    """What the rounds of whoever sits there came to, bet by bet."""
    table = state.table
    rounds = [*table.rounds, *([table.round] if table.round else [])] if seat.taken else []
    return sum(
        one.returned - one.bet.stake
        for round_ in rounds
        if round_.sessions.get(seat.name) == seat.session
        for one in bet_records(table, round_)
        if one.bet.seat == seat.name and one.state is not BetState.OPEN
    )


def _wrong_last(state: State, view: SeatView) -> Iterator[str]:
    if view.last is None:
        return
    table, number = state.table, view.last.number
    round_ = table.round if table.round and table.round.number == number else table.past(number)
    assert round_ is not None
    mine = [one for one in bet_records(table, round_, round_.live()) if one.bet.seat == view.seat]
    expected = LastRound(
        number=number, void=round_.voided, staked=sum(one.bet.stake for one in mine),
        returned=sum(one.returned for one in mine),
    )  # fmt: skip
    if view.last != expected:
        yield f"{state}: {view.seat} shows {view.last}, and it was {expected}"


def all_wrong() -> Iterator[str]:
    """At tables of every kind, each with one index for all that is played there."""
    indexes: dict[int, SeatIndex] = {}
    for state in every_state():
        by_seat = indexes.setdefault(id(state.table), SeatIndex())
        by_seat.forget_claims()
        for event in state.latest:
            if isinstance(event, RecordCorrected):
                by_seat.forget_round(event.round)
        yield from wrong_seats(state, by_seat)


def test_a_seat_shows_what_the_table_knows_of_it() -> None:
    wrong = list(all_wrong())
    assert wrong == [], "\n".join(wrong[:20])


def test_sabotage_bets_that_still_show_though_they_were_taken_back_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def all_of(_self: SeatIndex, round_: Round, seat: str) -> list[BetRegistered]:
        return [bet for bet in round_.bets.values() if bet.seat == seat]

    monkeypatch.setattr(SeatIndex, "bets", all_of)
    assert any(all_wrong())


def test_sabotage_a_net_result_that_knows_no_corrections_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = effects._count

    def never_less(*args: Any, sign: int = 1) -> None:
        if sign == 1:
            counted(*args)

    monkeypatch.setattr(effects, "_count", never_less)
    assert any("net result" in one for one in all_wrong())


def test_changes_bring_a_seat_from_each_state_to_the_next_without_telling_a_bet_twice() -> None:
    told, before = 0, dict[tuple[str, str], SeatView]()
    for state in every_state(60):
        for name in state.table.seats:
            key, view = (state.setup.name, name), seat_view(state.table, name)
            changes = difference(before[key], view) if key in before else None
            if changes is not None:
                assert changed(before[key], changes) == view
                placed = {bet.id for bet in changes.placed}  # type: ignore[attr-defined]
                kept = {bet.id for bet in before[key].bets if bet in view.bets}
                assert changes.cleared or not placed & kept  # type: ignore[attr-defined]
                told += 1
            elif key in before:
                assert before[key] == view
            before[key] = view
    assert told > 100


def test_a_new_player_is_not_shown_what_the_one_before_had() -> None:
    playing = at(rulebook(MBS), "between")
    assert seat_view(playing.table, SEAT).last is not None
    playing.do(LeaveSeat, "dan", seat=SEAT)
    playing.do(TakeSeat, "dan", seat=SEAT, player="bob")
    view = seat_view(playing.table, SEAT)
    assert (view.net, view.since) == (0, playing.table.latest)
    assert (view.player, view.session, view.last, view.bets) == ("bob", 2, None, ())


def test_what_a_round_came_to_shows_as_soon_as_it_is_settled_and_is_corrected_with_it() -> None:
    playing = at(rulebook(RWS), "entered")
    assert seat_view(playing.table, SEAT).last is None
    playing.act("settle")
    staked = sum(STAKES.values())
    assert seat_view(playing.table, SEAT).last == LastRound(
        number=1, void=False, staked=staked, returned=2_000
    )
    playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=1, faces=(4, 5, 6), second="sue"
    )
    last = seat_view(playing.table, SEAT).last
    assert last is not None
    assert last.returned == 800
    assert seat_view(playing.table, SEAT).net == 800 - staked


def test_the_net_result_counts_corrections_of_any_round() -> None:
    playing = at(rulebook(RWS), "between").to("open")
    before = seat_view(playing.table, SEAT).net
    playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=1, faces=(4, 5, 6), second="sue"
    )
    first = playing.table.past(1)
    assert first is not None
    after = sum(one.returned - one.bet.stake for one in bet_records(playing.table, first))
    assert before == 2_000 - sum(STAKES.values())
    assert seat_view(playing.table, SEAT).net == after == 800 - sum(STAKES.values())


def test_a_void_round_returns_every_stake() -> None:
    playing = at(rulebook(RWS), "revealed")
    playing.act("enter-result", flat=False)
    staked = sum(STAKES.values())
    view = seat_view(playing.table, SEAT)
    assert view.last == LastRound(number=1, void=True, staked=staked, returned=staked)
    assert (view.bets, view.at_risk, view.credits) == ((), 0, 100_000)


def test_a_seat_that_was_never_taken_shows_nothing() -> None:
    table = opened(rulebook(RWS)).table
    view = seat_view(table, "99")
    assert (view.taken, view.session, view.layout, view.credits, view.bets) == (False, 0, "A", 0, ())


def test_credits_show_as_they_are_bought() -> None:
    playing = opened(rulebook(RWS))
    playing.do(BuyCredits, TERMINAL, seat=SEAT, amount=500)
    assert seat_view(playing.table, SEAT).credits == 100_500
