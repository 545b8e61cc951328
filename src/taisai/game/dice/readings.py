"""Readings: what a device saw of the dice. The Dealer sees it and enters the result."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import bad_faces, bad_name, on_hold, refused, shown
from taisai.game.dice.messages import ReadingTaken, TakeReading
from taisai.game.dice.seeds import DEMONSTRATION, is_committed, not_shown, round_of, unseen
from taisai.game.equipment import items
from taisai.game.messages import Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import DeviceReading, Round
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import RECOGNISER, SHAKER, DeviceFault
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Irregularity, Phase, Visibility

READINGS: Final = Clause("house:readings")
MOST_READINGS: Final = 50  # of one round: a device that sends more is out of order
_BEFORE_THE_DICE: Final = frozenset({DeviceFault.NO_SHAKE, DeviceFault.DOWN})
"""The faults that a device may report as soon as bets are closed."""


# For the console


def suggested(table: Table, fault: DeviceFault) -> Irregularity:
    """The irregularity that a device's fault suggests to the Dealer."""
    match fault:
        case DeviceFault.NO_SHAKE:
            used = [item.id for item in table.equipment.in_use(table.settings)]
            automated = items.SHAKER_ITEM in used
            return Irregularity.AUTOMATED_SHAKER_FAILURE if automated else Irregularity.TOO_FEW_TUMBLES
        case DeviceFault.INVALID:
            return Irregularity.DIE_NOT_FLAT
        case DeviceFault.INVALID_AFTER_RESHAKE:
            return Irregularity.OTHER  # the document orders one shake more only, so this is referred
        case DeviceFault.DOWN:
            return Irregularity.EQUIPMENT_FAILURE


def differs_from_reading(table: Table, faces: tuple[int, ...]) -> bool:
    """Whether faces differ from the latest reading of any device; the dice prevail over it.

    Of any: someone may have enrolled a second device, which reads what the Dealer is going to key.
    """
    if table.round is None or table.phase.visibility is not Visibility.SHOWN:
        return False
    current = [reading for reading in table.round.readings.values() if reading.shake == table.round.shakes]
    latest = {reading.device: reading for reading in current}
    return any(reading.faces and sorted(faces) != sorted(reading.faces) for reading in latest.values())


def faces_read(table: Table) -> tuple[int, ...]:
    """What the device saw, once the dice are uncovered.

    Before that, a person who knew it could still have the round voided or a bet withdrawn.
    """
    reading = table.round.reading if table.round else None
    return reading.faces if reading is not None and table.phase.visibility is Visibility.SHOWN else ()


# Commands of devices


def take_reading(table: Table, command: TakeReading) -> Events | Refusal:
    """A device reports what it saw, or why it saw nothing."""
    if command.by not in (SHAKER, RECOGNISER):
        message = f"only a device that sees the dice may do this, not {command.by}"
        return refused(Reason.NOT_PERMITTED, READINGS, message)
    cards = unseen(table) if command.by == SHAKER and command.faces else ()
    reading = _reading(command, cards)
    reported = round_of(table, command.round)
    known = reported.readings.get(command.reading) if reported else None
    if known is not None:
        if known._replace(cards=()) == reading._replace(cards=()):
            return ()
        message = f"reading {command.reading} was {shown(known.faces)}, got {shown(command.faces)}"
        return refused(Reason.DIFFERENT_CONTENT, READINGS, message)
    round_ = table.round
    if round_ is None or (round_.number, round_.shakes) != (command.round, command.shake):
        expected = (
            f"shake {round_.shakes} of round {round_.number}" if round_ else "no reading between rounds"
        )
        message = f"expected {expected}, got shake {command.shake} of round {command.round}"
        return refused(Reason.WRONG_ROUND, READINGS, message)
    refusal = _not_its_round(table, round_, command) or on_hold(table) or _not_now(round_.phase, command)
    refusal = refusal or _no_seed(table, command) or _bad_reading(table, command)
    if refusal:
        return refusal
    if len(round_.readings) >= MOST_READINGS:
        message = f"the round has {MOST_READINGS} readings, the greatest number"
        return refused(Reason.TOO_MANY, "house:most", message)
    clause = DEMONSTRATION if command.by == SHAKER else READINGS
    return (
        ReadingTaken(
            at=command.at, by=command.by, clause=clause, round=command.round, reading=command.reading,
            device=command.device, shake=command.shake, faces=command.faces, fault=command.fault, cards=cards,
        ),
    )  # fmt: skip


def _reading(message: TakeReading | ReadingTaken, cards: tuple[int, ...]) -> DeviceReading:
    return DeviceReading(
        message.reading, message.by, message.device, message.shake, message.faces, message.fault, cards
    )


def _not_its_round(table: Table, round_: Round, command: TakeReading) -> Refusal | None:
    """Why a device may not report: a round has dice or a seed, never both, and one draw per shake."""
    if command.by == RECOGNISER and is_committed(table, command.round):
        message = f"the demonstration shaker draws this round: {command.device} may not report"
        return refused(Reason.NOT_PERMITTED, DEMONSTRATION, message)
    drawn = round_.drawn
    if command.by == SHAKER and command.faces and drawn and drawn.faces != command.faces:
        message = f"expected {shown(drawn.faces)}, which was drawn, got {shown(command.faces)}"
        return refused(Reason.DIFFERENT_CONTENT, DEMONSTRATION, message)
    return None


def _not_now(phase: Phase, command: TakeReading) -> Refusal | None:
    """Why a reading comes too early or too late."""
    resting = phase.visibility is not Visibility.NONE or command.fault in _BEFORE_THE_DICE
    late = command.by == SHAKER and bool(command.faces) and phase is Phase.ENTERED
    if phase.bets_open or phase.settlement_recorded or not resting or late:
        message = f"a reading comes after the close and the tumble, before the settlement (phase {phase})"
        return refused(Reason.OUT_OF_ORDER, READINGS, message)
    return None


def _no_seed(table: Table, command: TakeReading) -> Refusal | None:
    if command.by != SHAKER:
        return None
    if not table.demonstration:
        return not_shown(command.by)
    if is_committed(table, command.round):
        return None
    message = f"no seed was committed before the bets of round {command.round} opened"
    return refused(Reason.UNMET_NEED, DEMONSTRATION, message)


def _bad_reading(table: Table, command: TakeReading) -> Refusal | None:
    if command.fault is DeviceFault.INVALID_AFTER_RESHAKE:
        ruled = table.irregularities.ruling_for(Irregularity.DIE_NOT_FLAT, table.phase, table.settings)
        if ruled.ruling is not Ruling.NO_ROLL:
            message = f"the rules have no second shake, got {command.fault}"
            return refused(Reason.RULED_OUT, ruled.clause, message)
        if command.shake == 1:
            message = f"{command.fault} needs a second shake, got the first"
            return refused(Reason.BAD_VALUE, ruled.clause, message)
    if refusal := bad_name("a reading's id", command.reading) or bad_name("a device's name", command.device):
        return refusal
    if bool(command.faces) is (command.fault is not None):
        got = "both" if command.faces else "neither"
        return refused(Reason.BAD_VALUE, READINGS, f"expected either faces or a fault, got {got}")
    refusal = bad_faces(command.faces) if command.faces else None
    if refusal is None and command.faces and table.shoe.used and _too_many(table, command.faces):
        message = f"the decks do not have the cards {shown(command.faces)} any more"
        return refused(Reason.BAD_VALUE, table.shoe.rule.clause, message)
    return refusal


def _too_many(table: Table, faces: tuple[int, ...]) -> bool:
    """Whether the decks have too few of these cards left after earlier rounds."""
    result = table.round.result if table.round else None
    return not table.shoe.can_hold(faces, instead_of=tuple(result.faces) if result else ())


def on_reading(table: Table, event: ReadingTaken) -> None:
    """The round keeps the reading; the Dealer enters the result."""
    table.current.readings[event.reading] = _reading(event, event.cards)


DECIDERS: Final[Deciders] = {TakeReading: take_reading}

EFFECTS: Final[Effects] = {ReadingTaken: on_reading}
