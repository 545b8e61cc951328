"""What is offered is exactly what the table would do, at every kind of table, whatever its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from taisai.game import Refusal, Table, decide
from taisai.game import commands as c
from taisai.game.events import IrregularityRuled
from taisai.game.refusals import Reason
from taisai.protocol.views import Offer
from taisai.rules import OUTCOMES
from taisai.rules.vocabulary import Act, Irregularity
from taisai.server.projections import candidates
from taisai.server.projections.final_acts import final_text
from taisai.server.projections.offers import offers
from tests.game.machine import NOON, SETUPS, Setup
from tests.server.projections.filled_offers import command_of, filled, who
from tests.server.projections.played_tables import State, every_state, seated, states


def refused_offers(state: State, offered: tuple[Offer, ...], random: Random) -> Iterator[str]:
    """The offers that the table would not do after all, though filled in sensibly."""
    table = state.table
    for offer in offered:
        by = who(table, offer, random)
        fields = filled(table, offer, by, random) if by is not None else None
        if by is None or fields is None:
            continue
        answer = decide(table, command_of(offer, fields, at=state.now, by=by))
        if isinstance(answer, Refusal):
            if offer.command == "correct-record" and answer.reason is Reason.OVER_MAXIMUM:
                continue  # what else lies on the area is not known to the form
            yield f"{state}: {offer.command} {fields} by {by}: {answer}"
        elif not answer:
            yield f"{state}: {offer.command} {fields} by {by} would change nothing"


def left_out(state: State, offered: tuple[Offer, ...]) -> Iterator[str]:
    """The acts that are not offered, though the table would do them and nothing would be wrong with it."""
    table = state.table
    ways = {(offer.preset["act"], by) for offer in offered if offer.command == "perform" for by in offer.by}
    people = {name: one.position for name, one in table.people.items()} | {"clock": "clock"}
    for act in Act:
        for name, position in people.items():
            if (str(act), position) in ways:
                continue
            for command in performed(act, name, state):
                answer = decide(table, command)
                if not isinstance(answer, Refusal) and not any(
                    isinstance(event, IrregularityRuled) for event in answer
                ):
                    yield f"{state}: {act} by {name} is not offered"


def _highest(table: Table) -> str:
    return table.ranks.ranks()[-1]


def performed(act: Act, by: str, state: State) -> Iterator[c.Perform]:
    """An act in the ways in which it could be right."""
    more: list[dict[str, Any]] = [{}]
    if act is Act.TUMBLE:
        more = [{"tumbles": 3}]
    if act is Act.ENTER_RESULT:
        more = [{"faces": tuple(outcome.faces)} for outcome in OUTCOMES[::11]]
    above = [name for name, one in state.table.people.items() if one.position == _highest(state.table)]
    seconds = [None, *[name for name in above if name != by][:1]]
    for fields in more:
        for second in seconds:
            yield c.Perform(at=state.now, by=by, act=act, second=second, **fields)


def test_whatever_is_offered_is_done_and_whatever_is_not_is_refused_or_an_irregularity() -> None:
    random, seen, wrong = Random(1), Counter[str](), list[str]()
    for state in every_state():
        found = offers(state.table, state.now)
        wrong += refused_offers(state, found, random)
        wrong += left_out(state, found)
        seen.update(offer.command for offer in found)
    assert wrong == [], "\n".join(wrong[:20])
    expected = {
        "perform", "decide-referral", "report", "shut", "reopen", "begin-day", "begin-shift", "assign",
        "leave", "set-limits", "offer-odds", "inspect", "place-item", "remove-item", "repair-item",
        "load-shoe", "shuffle-shoe", "count-cards", "settle-claim",
    }  # fmt: skip
    assert expected <= set(seen), expected - set(seen)


def test_what_cannot_be_undone_is_told_with_the_offer_and_nothing_else_is() -> None:
    told: dict[tuple[str, str], bool] = {}
    for setup in SETUPS:
        for state in states(setup, 0, 80):
            for offer in offers(state.table, state.now):
                how = offer.preset.get("treatment") or offer.preset.get("how") or ""
                told[offer.command, how] = offer.final is not None
                assert offer.final is None or offer.final.en.startswith("This cannot be undone: ")
                assert offer.final is None or offer.final.zh.startswith("此操作无法撤销：")
    final = {(command, how) for (command, how), is_final in told.items() if is_final}
    wanted = {
        ("begin-day", ""), ("close-table", ""), ("settle-claim", "waive"), ("decide-referral", "void"),
        ("decide-referral", "void-rounds"), ("decide-referral", "shut"),
    }  # fmt: skip
    assert final == wanted & set(told)
    for command, how in wanted - final:  # a table of these plays is never empty
        assert final_text(command, {"treatment": how}) is not None, (command, how)
    assert final_text("shut", {}) is None


def test_each_offer_names_exactly_the_positions_that_may_do_it() -> None:
    random, wrong, tried = Random(2), list[str](), 0
    for setup in SETUPS:
        for state in states(setup, 0, 80):
            table = state.table
            for offer in offers(table, state.now):
                if offer.by == ("clock",):
                    continue
                for name, one in list(table.people.items()):
                    fields = filled(table, offer, name, random)
                    if fields is None or (offer.command == "leave" and fields["person"] == name):
                        continue
                    answer = decide(table, command_of(offer, fields, at=state.now, by=name))
                    tried += 1
                    if isinstance(answer, Refusal) is (one.position in offer.by):
                        wrong.append(f"{state}: {offer.command} {fields} by {name}, {one.position}: {answer}")
    assert wrong == [], "\n".join(wrong[:20])
    assert tried > 5_000


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_anyone_who_only_takes_the_next_step_plays_round_after_round(setup: Setup) -> None:
    quick, random, now = seated(setup), Random(3), 1_800_000_100_000
    for step in range(60):
        table = quick.table
        main = [offer for offer in offers(table, now) if offer.main]
        assert len(main) == 1, f"step {step}, {table.phase}: {main}"
        by = who(table, main[0], random)
        assert by is not None
        fields = filled(table, main[0], by, random)
        assert fields is not None
        answer = quick.ask(command_of(main[0], fields, at=now, by=by))
        assert not isinstance(answer, Refusal), f"{main[0]}: {answer}"
        now += 1_000
    assert len([one for one in quick.table.rounds if one.settled]) >= 4


@pytest.mark.parametrize("name", ["mbs", "rws", "us-manual"])
def test_after_dice_that_failed_the_next_steps_bring_others_and_the_next_round(name: str) -> None:
    quick, random = seated(next(setup for setup in SETUPS if setup.name == name)), Random(4)
    failed = c.ReportIrregularity(at=NOON, by="dan", event=Irregularity.OTHER, item="dice")
    assert not isinstance(quick.ask(failed), Refusal)
    steps: list[str] = []
    while quick.table.round is None:
        main = next(offer for offer in offers(quick.table, NOON) if offer.main)
        by = who(quick.table, main, random)
        assert by is not None
        fields = filled(quick.table, main, by, random)
        assert fields is not None
        assert not isinstance(quick.ask(command_of(main, fields, at=NOON, by=by)), Refusal)
        steps.append(main.command)
        assert len(steps) < 10, steps
    assert [step for step in steps if step != "inspect"] == ["remove-item", "place-item", "perform"]


def test_no_state_has_two_next_steps() -> None:
    for state in every_state(30):
        assert sum(offer.main for offer in offers(state.table, state.now)) <= 1, str(state)


def test_a_table_that_nobody_opened_offers_nothing() -> None:
    assert offers(Table(seated(SETUPS[0]).book)) == ()


def test_every_offer_cites_a_clause_of_the_rulebook_or_the_house() -> None:
    from taisai.rules.clauses import HOUSE_PROCEDURES

    for state in every_state(30):
        for offer in offers(state.table, state.now):
            assert offer.clause in state.table.book.clauses or offer.clause in HOUSE_PROCEDURES, offer
            assert offer.by, offer
            assert offer.label.en, offer
            assert offer.label.zh, offer


# Sabotage


def test_sabotage_an_offer_that_the_game_was_not_asked_about_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def anything_goes(
        stage: candidates.TrialTable, _kind: object, _fields: object, **_by: object
    ) -> candidates.AcceptedTrial:
        return candidates.AcceptedTrial(stage.positions, stage.table.bet_clause, second=False, events=())

    monkeypatch.setattr(candidates.TrialTable, "tried", anything_goes)
    state = next(states(SETUPS[0], 0))
    assert list(refused_offers(state, offers(state.table, state.now), Random(1)))


def test_sabotage_a_position_that_was_read_for_unnoticed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    unnoticed = property(lambda watched: watched._position)
    monkeypatch.setattr(candidates._Watched, "position", unnoticed)
    monkeypatch.setattr(candidates._Watched, "rank", unnoticed)
    with pytest.raises(AssertionError, match="not-permitted"):
        test_each_offer_names_exactly_the_positions_that_may_do_it()


def test_sabotage_an_act_that_is_not_offered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taisai.server.projections.table_offers.acts", lambda _table: iter(()))
    assert any(list(left_out(state, offers(state.table, state.now))) for state in states(SETUPS[0], 0))


@pytest.mark.parametrize("shakes", [0, 1, 3])
def test_dice_that_become_too_old_in_a_round_are_replaced_by_marked_steps_until_they_are_shaken(
    shakes: int,
) -> None:
    quick, random = seated(next(setup for setup in SETUPS if setup.name == "us-manual")), Random(4)
    now, steps = NOON, list[str]()

    def takes_the_next_step() -> str:
        main = next(offer for offer in offers(quick.table, now) if offer.main)
        by = who(quick.table, main, random)
        assert by is not None
        fields = filled(quick.table, main, by, random)
        assert fields is not None
        assert not isinstance(quick.ask(command_of(main, fields, at=now, by=by)), Refusal)
        return str(main.preset.get("act", main.command))

    while quick.table.phase != "closed":
        takes_the_next_step()
    if shakes:
        quick.ask(c.Perform(at=now, by="dan", act=Act.TUMBLE, tumbles=shakes))
    now += 25 * 3_600_000
    while quick.table.phase not in ("revealed", "between"):
        steps.append(takes_the_next_step())
        assert len(steps) < 10, steps
    assert steps == (["uncover"] if shakes == 3 else ["remove-item", "place-item", "tumble", "uncover"])
