"""Candidates: what might be done, and how it is tried; whether it may be is the game's to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from taisai.game import Table
from taisai.game import commands as ask
from taisai.game.acts import MOST_TUMBLES, WITNESSED
from taisai.game.commands import Command, tag_of
from taisai.game.words import Hold
from taisai.protocol.views import Blank, Offer, Words
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.procedure import CLOCK, Declared, Step
from taisai.rules.vocabulary import Act, Irregularity, Need
from taisai.server.projections import form_fields, texts
from taisai.server.projections.trial import Accepted, Stage

Fields = Mapping[str, Any]
LOOK_BACK: Final = 10
"""Rounds among which one is looked for that can be corrected; any other may be named too."""
MOST_SEATS: Final = 200  # that are listed to choose from
REASON: Final = "a reason"


class Candidate(NamedTuple):
    """A command that might be done now."""

    kind: type[Command]
    preset: Fields
    label: Words
    blanks: tuple[Blank, ...] = ()
    trials: Iterable[Fields] = ({},)
    """What the blanks are tried with: it is offered where one of these would be done."""
    by: tuple[str, ...] | None = None
    """Actors that are no positions."""
    second: str | None = None
    """The rank of the second person, where it is not the usual one."""
    takes_two: bool = False
    """Whether a second person is asked for, though not every way to fill it in would need one."""
    then: Words | None = None
    """What follows from it."""
    is_report: bool = False
    """Whether it reports an irregularity; else it may not be one."""


def offered(stage: Stage, one: Candidate) -> Offer | None:
    """The offer, where the table would do it."""
    for trial in one.trials:
        found = stage.tried(one.kind, {**one.preset, **trial}, by=one.by)
        if isinstance(found, Accepted) and (one.is_report or not found.irregular):
            extra = (form_fields.second(stage.table, one.second),) if found.second or one.takes_two else ()
            return Offer(
                command=tag_of(one.kind),
                preset=msgspec.to_builtins(dict(one.preset)),
                blanks=(*one.blanks, *extra),
                by=found.by,
                clause=str(found.clause),
                label=one.label,
                then=one.then,
            )
    return None


# The course of a round


def acts(table: Table) -> Iterator[Candidate]:
    """The steps from here, in the order of the procedure."""
    for step in table.procedure.steps_from(table.phase, table.settings):
        witness = table.round.witness if table.round and step.act in WITNESSED else None
        yield Candidate(
            ask.Perform,
            {"act": step.act},
            texts.ACTS[step.act],
            tuple(_act_blanks(table, step)),
            tuple(_act_trials(table, step)),
            by=(CLOCK,) if step.by == CLOCK else None,
            second=witness,
        )


def _tumbles(table: Table) -> int:
    done = table.round.tumbles if table.round else 0
    return max(1, table.equipment.least_tumbles(table.settings) - done)


def _act_blanks(table: Table, step: Step) -> Iterator[Blank]:
    if step.act is Act.TUMBLE:
        yield form_fields.whole("tumbles", _tumbles(table), MOST_TUMBLES)
    if step.act is Act.ENTER_RESULT:
        yield form_fields.faces(table)
        if any(need.need is Need.DICE_FLAT for need in step.needs):
            yield form_fields.yes_no("flat", optional=True)


def _act_trials(table: Table, step: Step) -> Iterator[Fields]:
    if step.act is Act.TUMBLE:
        yield {"tumbles": _tumbles(table)}
    elif step.act is Act.ENTER_RESULT:
        yield from ({"faces": tuple(outcome.faces)} for outcome in OUTCOMES)
    else:
        yield {}


# What holds it up


def releases(table: Table) -> Iterator[Candidate]:
    """What ends a declaration or an option that the round waits for."""
    if Hold.DECLARATION in table.holds:
        for declared in Declared:
            yield Candidate(
                ask.Declare,
                {"declared": declared},
                texts.joined(texts.COMMANDS["declare"], texts.DECLARED[declared]),
                then=texts.RECOVERIES[table.procedure.recovery(table.phase, declared).action],
            )
    if Hold.WITHDRAWAL in table.holds and table.round is not None:
        yield Candidate(ask.CloseWithdrawal, {}, texts.COMMANDS["close-withdrawal"])
        seats = [seat for seat in table.round.seats() if seat not in table.round.choices][:MOST_SEATS]
        if seats:
            yield Candidate(
                ask.ChooseWithdrawal,
                {},
                texts.COMMANDS["choose-withdrawal"],
                (
                    form_fields.choice("seat", ((seat, Words(seat, seat)) for seat in seats)),
                    form_fields.yes_no("withdraw"),
                ),
                ({"seat": seats[0], "withdraw": True},),
            )


# Corrections


def corrections(table: Table) -> Iterator[Candidate]:
    """A wrong result gives way to the dice or cards, in the round in hand or whenever it is found."""
    round_, event = table.round, Irregularity.WRONG_RESULT
    show = (form_fields.faces(table), form_fields.text("detail", optional=True))
    if round_ is not None and round_.result is not None:
        yield Candidate(
            ask.Report,
            {"event": event, "round": round_.number},
            texts.CORRECT,
            show,
            tuple(_faces()),
            is_report=True,
        )
    if len(table.rounds):
        past = range(len(table.rounds), max(0, len(table.rounds) - LOOK_BACK), -1)
        found = [number for number in past if (one := table.past(number)) and one.result is not None]
        yield Candidate(
            ask.Report,
            {"event": event},
            texts.CORRECT_EARLIER,
            (form_fields.rounds(table, found), *show),
            tuple({"round": number, **trial} for number in found[:1] for trial in _faces()),
            is_report=True,
        )


def _faces() -> Iterator[Fields]:
    """Outcomes to try: one of the first few is another than what was keyed, and in the decks."""
    return ({"faces": tuple(outcome.faces)} for outcome in OUTCOMES)
