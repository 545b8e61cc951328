"""A table as terminals and displays show it."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest

from taisai.game.commands import Limits, ReportIrregularity, Shut, TakeReading
from taisai.game.vocabulary import RECOGNISER
from taisai.protocol.views import AnyView, DiceView, Stoppage, TableView, Words, changed, difference
from taisai.rules import Irregularity, Outcome, rulebook
from taisai.server.projections import texts as said
from taisai.server.projections.history import History, RoundLogs
from taisai.server.projections.table import clock_closes, countdown_view, table_view
from tests.game.playing import MBS, RWS, STAFF, THREE_CARD, US, Playing, at, opened, phases
from tests.game.seeded_tables import seed_of
from tests.game.seeded_tables import shown as demonstrated
from tests.server.projections.played_tables import every_state


def shown(playing: Playing) -> TableView:
    return table_view(playing.table, History.of(playing.table))


NOTICES = {
    "between": said.NEXT_ROUND, "open": said.PLACE_YOUR_BETS, "open-tumbled": said.PLACE_YOUR_BETS,
    "closed": said.NO_MORE_BETS, "closed-tumbled": said.NO_MORE_BETS, "deal-pressed": said.NO_MORE_BETS,
    "revealed": said.NO_MORE_BETS, "entered": said.RESULT, "settled": said.RESULT, "collected": said.RESULT,
    "paid": said.RESULT,
}  # fmt: skip


@pytest.mark.parametrize("book", STAFF)
def test_players_are_shown_what_the_phase_is_and_the_areas_light_while_the_result_is_on_view(
    book: str,
) -> None:
    for phase in phases(book):
        playing = at(rulebook(book), phase)
        view, table = shown(playing), playing.table
        assert view.round.phase == phase
        assert view.round.notice == NOTICES[phase]
        assert view.round.bets_open == (phase in ("open", "open-tumbled"))
        label = next(one for one in table.procedure.phases if one.id == phase)
        assert view.round.label == Words(label.label, label.label_zh)
        known = phase in ("entered", "settled", "collected", "paid")
        # After the round they stay lit until the next opens, but where the document has them cleared (US).
        stays = phase == "between" and book != US
        lights = {
            layout: tuple(rulebook(book).matrix(layout).illuminated(Outcome.of(1, 2, 3)))
            for layout in rulebook(book).pay_by_layout
        }
        assert view.lit == (lights if known or stays else {})
        assert view.round.collected == (phase in ("collected", "paid", "between"))
        assert view.round.paid == (phase in ("paid", "between"))
        assert view.round.void is None
        assert view.dice.faces == ((1, 2, 3) if known or phase == "between" else None)


def test_rws_3_3_the_range_of_the_limits_is_true_and_each_group_is_shown() -> None:
    groups = {"even-money": (5_00, 5_000_00), "any-triple": (1_00, 500_00)}
    limits = Limits(least=5_00, most=1_000_00, groups=groups)
    table = opened(rulebook(RWS), limits=limits).table
    view = table_view(table, History()).limits
    assert (view.least, view.most, view.lowest, view.highest) == (5_00, 1_000_00, 1_00, 5_000_00)
    assert [(one.group, one.least, one.most) for one in view.lines] == [
        ("even-money", 5_00, 5_000_00), ("any-triple", 1_00, 500_00), ("", 5_00, 1_000_00)
    ]  # fmt: skip
    assert [one.label.en for one in view.lines] == ["Big, Small, Odd, Even", "Any Triple", "All other bets"]
    assert all(one.label.zh for one in view.lines)
    alike = table_view(opened(rulebook(RWS), limits=Limits(least=5_00, most=9_00)).table, History()).limits
    assert (alike.lowest, alike.highest, alike.lines) == (5_00, 9_00, ())


def test_rws_3_5_the_clock_closes_and_elsewhere_it_prompts_the_dealer() -> None:
    assert [clock_closes(opened(rulebook(book)).table) for book in (RWS, MBS, THREE_CARD, US)] == [
        True,
        False,
        False,
        False,
    ]
    table = opened(rulebook(MBS)).table
    view = table_view(table, History(), countdown=countdown_view(table, 7))
    assert (view.countdown.closes_at, view.countdown.prompt, view.countdown.is_up) == (7, True, False)


def test_a_terminal_at_a_live_tables_book_says_that_it_stands_in() -> None:
    assert shown(opened(rulebook(RWS))).table.stand_in is None
    for book in (MBS, THREE_CARD, US):
        stand_in = shown(opened(rulebook(book))).table.stand_in
        assert stand_in is not None
        assert "demonstration" in stand_in.en


def test_the_board_says_why_a_table_does_not_go_on() -> None:
    playing = at(rulebook(THREE_CARD), "open")
    playing.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE)
    assert shown(playing).stoppage == Stoppage(
        hold="referral", says=said.HOLDS[playing.table.held.hold], clause="house:outside-the-rules"  # type: ignore[union-attr]
    )  # fmt: skip
    shut = opened(rulebook(MBS))
    shut.do(Shut, "sue", reason="a spill")
    assert shown(shut).stoppage == Stoppage(shut="a spill", clause="house:shut")
    assert shown(shut).round.notice == said.SHUT


def test_where_a_result_came_from_is_shown() -> None:
    playing = at(rulebook(RWS), "revealed")
    keyed = playing.fork()
    keyed.act("enter-result")
    assert shown(keyed).dice.source == said.KEYED
    playing.do(TakeReading, RECOGNISER, reading="r1", round=1, device="S1", faces=(1, 2, 3))
    other = playing.fork()
    playing.act("enter-result")
    assert shown(playing).dice == DiceView(kind="dice", round=1, faces=(1, 2, 3), total=6, source=said.READ)
    other.act("enter-result", faces=(1, 2, 4))
    assert shown(other).dice.source == said.KEYED_OTHERWISE


def test_the_demonstration_shaker_shows_what_it_is_bound_to_and_no_seed_before_the_close() -> None:
    playing = demonstrated(RWS)
    (committed,) = playing.commit()
    bound = table_view(playing.table, History.of(playing.table)).draw
    assert (bound.commitment, bound.round, bound.revealed) == (committed.commitment, 1, None)  # type: ignore[attr-defined]
    assert bound.commitment == sha256(seed_of(1)).hexdigest()
    playing.to("revealed")
    (read,) = playing.read()
    assert seed_of(1).hex() not in msgspec.json.encode(shown(playing)).decode()
    playing.reveal()
    playing.act("enter-result", faces=read.faces)  # type: ignore[attr-defined]
    view = shown(playing)
    assert view.draw.commitment is None
    assert view.draw.revealed is not None
    assert (view.draw.revealed.seed, view.draw.revealed.faces) == (seed_of(1).hex(), read.faces)  # type: ignore[attr-defined]
    assert view.dice.source == said.SHAKEN
    assert view.table.demonstration


def test_a_void_round_lights_nothing_and_leaves_no_result() -> None:
    playing = at(rulebook(RWS), "revealed")
    playing.act("enter-result", flat=False)
    view = shown(playing)
    assert (view.lit, view.dice.faces, view.history.results[-1].void) == ({}, None, True)


def test_rws_5_3_2_a_void_round_is_shown_with_its_clause_until_the_next_opens() -> None:
    playing = at(rulebook(RWS), "revealed")
    playing.act("enter-result", flat=False)
    assert shown(playing).round.void == str(playing.table.irregularities.void)  # where nobody remembers more
    log = RoundLogs.of(playing.log).of_round(1)
    view = table_view(playing.table, History.of(playing.table), log=log).round
    assert (view.number, view.void, view.collected, view.paid) == (1, "5.3.2", False, False)
    playing.to("open")
    assert shown(playing).round.void is None


def test_every_view_can_be_read_back_and_reached_by_its_changes() -> None:
    before: dict[str, TableView] = {}
    for state in every_state(60):
        view = table_view(
            state.table, History.of(state.table), countdown=countdown_view(state.table, state.now)
        )
        assert msgspec.json.decode(msgspec.json.encode(view), type=AnyView) == view
        if state.setup.name in before:
            changes = difference(before[state.setup.name], view)
            assert changes is not None
            assert changed(before[state.setup.name], changes) == view
        before[state.setup.name] = view


def test_the_public_view_tells_nothing_of_players_money_or_staff() -> None:
    for state in every_state(40):
        text = msgspec.json.encode(table_view(state.table, History.of(state.table))).decode()
        told = [name for name in (*state.table.people, "Ann", "t2", "t3") if f'"{name}"' in text]
        assert told == [], state
