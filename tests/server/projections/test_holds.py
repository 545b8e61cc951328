"""What is offered while a round waits, and what a report has to tell."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from taisai.game import Refusal, decide
from taisai.game.commands import ChooseWithdrawal, Recover, ReportIrregularity
from taisai.game.events import IrregularityRuled
from taisai.game.vocabulary import RECOVERY
from taisai.protocol.views import IrregularityLine, Offer
from taisai.rules import Irregularity, rulebook
from taisai.server.projections.console import console_view
from taisai.server.projections.history import History
from taisai.server.projections.offers import irregularities, offers
from taisai.server.projections.seats import seat_view
from taisai.server.projections.table import table_view
from tests.game.playing import MBS, RWS, SEAT, STAFF, US, Playing, at, phases
from tests.server.projections.filled_offers import command_of, filled
from tests.server.projections.played_tables import State, every_state


def named(playing: Playing, command: str) -> list[Offer]:
    return [offer for offer in offers(playing.table, playing.now) if offer.command == command]


def test_rws_after_a_stop_over_covered_dice_both_declarations_are_offered_and_nothing_of_the_round() -> None:
    playing = at(rulebook(RWS), "closed-tumbled")
    playing.do(Recover, RECOVERY)
    declare = named(playing, "declare")
    assert [offer.preset for offer in declare] == [{"declared": "seen"}, {"declared": "unseen"}]
    assert [offer.clause for offer in declare] == ["5.1.1", "5.1.2"]
    assert [offer.main for offer in declare] == [True, False]
    assert named(playing, "perform") == []
    assert [blank.field for blank in declare[0].blanks] == ["second"]
    view = table_view(playing.table, History.of(playing.table))
    assert view.stoppage.hold == "declaration"
    assert view.round.notice == view.stoppage.says


def test_mbs_5_13_1_the_option_to_withdraw_is_offered_to_seats_and_the_dealer_closes_it() -> None:
    playing = at(rulebook(MBS), "open")
    playing.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE)
    assert seat_view(playing.table, SEAT).withdrawal
    (choose,) = named(playing, "choose-withdrawal")
    assert [choice.value for choice in choose.blanks[0].choices] == [SEAT]
    (close,) = named(playing, "close-withdrawal")
    assert close.main
    assert close.clause == "5.13.1"
    console = console_view(playing.table).withdrawal
    assert console is not None
    assert (console.clause, console.chosen, console.waiting) == ("5.13.1", {}, 1)
    playing.do(ChooseWithdrawal, "dan", seat=SEAT, withdraw=True)
    assert named(playing, "choose-withdrawal") == []
    after = seat_view(playing.table, SEAT)
    assert (after.withdrawal, after.withdrew, after.bets, after.at_risk) == (False, True, (), 0)


def test_us_6_b_a_settlement_that_needs_a_witness_asks_for_a_second_person() -> None:
    playing = at(rulebook(US), "entered")
    playing.do(ReportIrregularity, "dan", event=Irregularity.EQUIPMENT_FAILURE)
    (settle,) = named(playing, "perform")
    assert [blank.field for blank in settle.blanks] == ["second"]
    assert [choice.value for choice in settle.blanks[0].choices] == ["casino-supervisor"]


def test_a_report_that_waits_is_confirmed_or_contested_by_a_supervisor_or_above() -> None:
    playing = at(rulebook(RWS), "paid")
    playing.do(ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, faces=(6, 6, 6))
    for command in ("confirm-report", "contest-report"):
        (offer,) = named(playing, command)
        assert offer.preset == {"report": "h1"}
        assert offer.by == ("pit-supervisor", "pit-manager", "shift-manager")
        assert offer.main is (command == "confirm-report")


# Irregularities


def rejected(state: State, random: Random) -> Iterator[str]:
    """Reports that the table would not take, though filled in as the console says."""
    table = state.table
    for line in irregularities(table, state.now):
        able = [name for name, one in table.people.items() if one.position in line.by]
        offer = as_offer(line)
        fields = filled(table, offer, able[0], random) if able else None
        if fields is not None:
            answer = decide(table, command_of(offer, fields, at=state.now, by=able[0]))
            if isinstance(answer, Refusal):
                yield f"{state}: {fields}: {answer}"


def as_offer(line: IrregularityLine) -> Offer:
    """The report that a line of the console is for."""
    return Offer(
        command="report", preset={"event": line.id}, blanks=line.blanks, by=line.by, clause=line.clause,
        label=line.label,
    )  # fmt: skip


def test_every_report_that_the_console_lists_is_taken() -> None:
    random = Random(5)
    wrong = [says for state in every_state(60) for says in rejected(state, random)]
    assert wrong == [], "\n".join(wrong[:20])


@pytest.mark.parametrize("book", STAFF)
def test_every_irregularity_is_listed_in_every_phase_with_the_ruling_of_the_rulebook(book: str) -> None:
    for phase in phases(book):
        table = at(rulebook(book), phase).table
        lines = irregularities(table)
        assert [line.id for line in lines] == list(Irregularity)
        rules = table.irregularities
        for line in lines:
            event = Irregularity(line.id)
            ruled = rules.ruling_for(event, table.phase, table.settings)
            if line.by and table.round is not None:  # the report may itself be the sight of a die
                seen = rules.sees(event, table.phase, seen=False)
                ruled = rules.ruled(event, table.phase, table.settings, seen=seen)
            assert (line.ruling, line.clause, line.to) == (ruled.ruling, ruled.clause, ruled.to)
            assert line.label.en
            assert line.says.zh


def test_a_wrong_result_needs_the_faces_and_exposed_dice_only_a_word() -> None:
    """Edition 1 asked for a second person at once; since then a report by one waits for them."""
    first = {line.id: line for line in irregularities(at(rulebook(f"{RWS}@1"), "entered").table)}
    assert [one.field for one in first["wrong-result"].blanks if not one.optional] == ["faces", "second"]
    playing = at(rulebook(RWS), "entered")
    lines = {line.id: line for line in irregularities(playing.table)}
    assert [one.field for one in lines["wrong-result"].blanks if not one.optional] == ["faces"]
    opened = {line.id: line for line in irregularities(at(rulebook(RWS), "open").table)}
    assert [one.field for one in opened["exposed-early"].blanks if not one.optional] == []
    damaged = lines["die-damaged"]
    assert [one.field for one in damaged.blanks] == ["round", "through", "detail"]
    assert (damaged.ruling, damaged.clause) == ("void-affected", "5.4")


@pytest.mark.parametrize(
    ("book", "ends", "phase", "happens", "clause"),
    [
        (US, "clear-lights", "closed-tumbled", Irregularity.DIE_NOT_FLAT, "5(e)"),
        (MBS, "conclude", "open", Irregularity.POWER_FAILURE, "6.3"),
    ],
)
def test_an_earlier_wrong_result_is_reported_also_while_a_no_roll_or_the_option_to_withdraw_stands(
    book: str, ends: str, phase: str, happens: Irregularity, clause: str
) -> None:
    playing = at(rulebook(book), "paid")
    playing.act(ends)
    playing.make_ready()
    playing.to(phase)
    playing.do(ReportIrregularity, "dan", event=happens)
    (line,) = irregularities(playing.table, events=(Irregularity.WRONG_RESULT,))
    assert (line.ruling, line.clause) == ("settle-by-outcome", clause)
    assert [one.field for one in line.blanks if not one.optional] == ["faces", "round"]
    earlier = len(playing.table.rounds)
    reported = playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=earlier, faces=(6, 6, 6)
    )
    ruled = next(event for event in reported if isinstance(event, IrregularityRuled))
    assert (ruled.round, ruled.ruling, ruled.clause) == (earlier, line.ruling, line.clause)
