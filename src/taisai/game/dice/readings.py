"""Readings: what a device saw of the dice, told to the Dealer, who enters the result."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import bad_name, on_hold, refused
from taisai.game.dice.messages import ReadingTaken, TakeReading
from taisai.game.dice.seeds import DEMONSTRATION, is_committed, not_shown, round_of, unseen
from taisai.game.equipment import items
from taisai.game.messages import Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import DeviceReading, Round
from taisai.game.rounds.steps import bad_faces
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import RECOGNISER, SHAKER, DeviceFault
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Irregularity, Phase, Visibility

READINGS: Final = Clause("house:readings")
MOST_READINGS: Final = 50  # of one round: a device that tells more is out of order
_BEFORE_THE_DICE: Final = frozenset({DeviceFault.NO_SHAKE, DeviceFault.DOWN})
"""What a device may tell as soon as bets are closed."""


# What the console asks


def suggested(table: Table, fault: DeviceFault) -> Irregularity:
    """What the Dealer may report when a device tells a fault; the table of rulings says what follows."""
    match fault:
        case DeviceFault.NO_SHAKE:
            used = [item.id for item in table.equipment.in_use(table.settings)]
            automated = items.SHAKER_ITEM in used
            return Irregularity.AUTOMATED_SHAKER_FAILURE if automated else Irregularity.TOO_FEW_TUMBLES
        case DeviceFault.INVALID:
            return Irregularity.DIE_NOT_FLAT
        case DeviceFault.INVALID_AFTER_RESHAKE:
            return Irregularity.OTHER  # one shake more is all that the document orders: someone decides
        case DeviceFault.DOWN:
            return Irregularity.EQUIPMENT_FAILURE


def differs_from_reading(table: Table, faces: tuple[int, ...]) -> bool:
    """Whether faces are another outcome than the device told last; the dice prevail all the same."""
    seen = faces_read(table)
    return bool(seen) and sorted(faces) != sorted(seen)


def faces_read(table: Table) -> tuple[int, ...]:
    """What the device saw, once the dice are uncovered: before, nobody at the table knows more than another.

    Whoever knew it under the cover could still have the round void, or a bet withdrawn.
    """
    reading = table.round.reading if table.round else None
    return reading.faces if reading is not None and table.phase.visibility is Visibility.SHOWN else ()


# What the table takes


def take_reading(table: Table, command: TakeReading) -> Events | Refusal:
    """A device tells what it saw, or why it saw nothing."""
    if command.by not in (SHAKER, RECOGNISER):
        return refused(Reason.NOT_PERMITTED, READINGS, "a device that sees the dice", command.by)
    cards = unseen(table) if command.by == SHAKER and command.faces else ()
    told = _told(command, cards)
    of = round_of(table, command.round)
    known = of.readings.get(command.reading) if of else None
    if known is not None:
        if known._replace(cards=()) == told._replace(cards=()):
            return ()
        expected = f"reading {command.reading} as it was taken"
        return refused(Reason.DIFFERENT_CONTENT, READINGS, expected, "other content")
    round_ = table.round
    if round_ is None or (round_.number, round_.shakes) != (command.round, command.shake):
        expected = f"shake {round_.shakes} of round {round_.number}" if round_ else "a round in hand"
        got = f"shake {command.shake} of round {command.round}"
        return refused(Reason.WRONG_ROUND, READINGS, expected, got)
    wrong = _not_its(table, round_, command) or on_hold(table) or _not_now(round_.phase, command)
    wrong = wrong or _no_seed(table, command) or _bad_reading(table, command)
    if wrong:
        return wrong
    if len(round_.readings) >= MOST_READINGS:
        return refused(Reason.TOO_MANY, "house:most", f"at most {MOST_READINGS} readings", "one more")
    clause = DEMONSTRATION if command.by == SHAKER else READINGS
    return (
        ReadingTaken(
            at=command.at, by=command.by, clause=clause, round=command.round, reading=command.reading,
            device=command.device, shake=command.shake, faces=command.faces, fault=command.fault, cards=cards,
        ),
    )  # fmt: skip


def _told(told: TakeReading | ReadingTaken, cards: tuple[int, ...]) -> DeviceReading:
    return DeviceReading(told.reading, told.by, told.device, told.shake, told.faces, told.fault, cards)


def _not_its(table: Table, round_: Round, command: TakeReading) -> Refusal | None:
    """A round has dice or a seed, never both; and one draw to a shake."""
    if command.by == RECOGNISER and is_committed(table, command.round):
        expected = "the demonstration shaker, whose seed is committed"
        return refused(Reason.NOT_PERMITTED, DEMONSTRATION, expected, command.device)
    drawn = round_.drawn
    if command.by == SHAKER and command.faces and drawn and drawn.faces != command.faces:
        expected, got = (" ".join(map(str, faces)) for faces in (drawn.faces, command.faces))
        return refused(Reason.DIFFERENT_CONTENT, DEMONSTRATION, f"{expected}, which was drawn", got)
    return None


def _not_now(phase: Phase, command: TakeReading) -> Refusal | None:
    """From the close on, once the dice have tumbled, up to the settlement; a draw comes before the result."""
    resting = phase.visibility is not Visibility.NONE or command.fault in _BEFORE_THE_DICE
    late = command.by == SHAKER and bool(command.faces) and phase is Phase.ENTERED
    if phase.bets_open or phase.settlement_recorded or not resting or late:
        expected = "a reading after the close and the tumble, before the settlement"
        return refused(Reason.OUT_OF_ORDER, READINGS, expected, f"one when {phase}")
    return None


def _no_seed(table: Table, command: TakeReading) -> Refusal | None:
    if command.by != SHAKER:
        return None
    if not table.demonstration:
        return not_shown(command.by)
    if is_committed(table, command.round):
        return None
    expected = f"a seed committed before the bets of round {command.round} opened, not yet revealed"
    return refused(Reason.UNMET_NEED, DEMONSTRATION, expected, "none")


def _bad_reading(table: Table, command: TakeReading) -> Refusal | None:
    if command.fault is DeviceFault.INVALID_AFTER_RESHAKE:
        ruled = table.irregularities.ruling_for(Irregularity.DIE_NOT_FLAT, table.phase, table.settings)
        if ruled.ruling is not Ruling.NO_ROLL:
            return refused(Reason.RULED_OUT, ruled.clause, "a fault of a first shake", command.fault)
        if command.shake == 1:
            return refused(Reason.BAD_VALUE, ruled.clause, "a second shake before it", "the first")
    wrong = bad_name("a reading's id", command.reading) or bad_name("a device's name", command.device)
    if wrong:
        return wrong
    if bool(command.faces) is (command.fault is not None):
        got = "both" if command.faces else "neither"
        return refused(Reason.BAD_VALUE, READINGS, "either faces or a fault", got)
    wrong = bad_faces(command.faces) if command.faces else None
    if wrong is None and command.faces and table.shoe.used and _too_many(table, command.faces):
        clause, expected = table.shoe.rule.clause, "cards that the decks still hold"
        return refused(Reason.BAD_VALUE, clause, expected, " ".join(map(str, command.faces)))
    return wrong


def _too_many(table: Table, faces: tuple[int, ...]) -> bool:
    """Whether the decks have no such cards beside those seen, the result of this round left aside."""
    result = table.round.result if table.round else None
    return not table.shoe.can_hold(faces, instead_of=tuple(result.faces) if result else ())


def on_reading(table: Table, event: ReadingTaken) -> None:
    """What a device told stands beside the round; nothing follows from it."""
    assert table.round is not None
    table.round.readings[event.reading] = _told(event, event.cards)


DECIDERS: Final[Deciders] = {
    TakeReading: take_reading,
}

EFFECTS: Final[Effects] = {
    ReadingTaken: on_reading,
}
