"""Upkeep: equipment that comes, goes, fails, is repaired and inspected; the shoe loaded and shuffled."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_table, bad_name, between_rounds, listed, may_act, refused, shown, supervisor
from taisai.game.equipment import messages
from taisai.game.equipment.items import CARDS_ITEM, DEVICE, DICE_ITEM, PlacedItem
from taisai.game.irregularities import rulings
from taisai.game.messages import Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_RETIRED, Deciders, Effects, Table
from taisai.game.terms.opening import put_in_force
from taisai.rules.chance import ChanceKind
from taisai.rules.clauses import Clause
from taisai.rules.equipment import EquipmentItem, Inspection
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import FACES, Outcome
from taisai.rules.vocabulary import Act, Irregularity, Visibility

EQUIPMENT: Final = Clause("house:equipment")
SHOE: Final = Clause("house:shoe")


def place_item(table: Table, command: messages.PlaceItem) -> Events | Refusal:
    """Places an item on the table, if no other must be removed first."""
    if refusal := at_table(table, command.by):
        return refusal
    item = table.equipment.items.get(command.item)
    if item is None:
        message = f"unknown item {command.item!r}; known: {listed(table.equipment.items)}"
        return refused(Reason.BAD_VALUE, EQUIPMENT, message)
    if command.serial and (bad := bad_name("a serial number", command.serial)):
        return bad
    other = _excluded(table, item)
    if other is not None:
        ruled = table.irregularities.ruling_for(Irregularity.TWO_SHAKERS, table.phase, table.settings)
        message = f"{other} is on the table: remove it before {item.id} comes"
        return refused(Reason.RULED_OUT, ruled.clause, message)
    if refusal := refused_change(table, command.item, command.at) or _not_fresh(table, command):
        return refusal
    custodian = None
    if item.custody is not None:
        if refusal := may_act(table, command.by, item.custody, item.clause):
            return refusal
        custodian = table.dealer() or command.by
    return (
        messages.ItemPlaced(
            at=command.at, by=command.by, clause=item.clause, item=item.id, serial=command.serial,
            custodian=custodian,
        ),
    )  # fmt: skip


def refused_change(table: Table, item: str, now: int) -> Refusal | None:
    """Why an item cannot come or go now.

    Dice with limited time are replaced in a round, before the shake; in mid-shake once they are too old.
    """
    limited = table.equipment.items[item].hours_on_table is not None and table.practice > 1
    if limited and table.round is not None:
        outlived = table.equipment.outlived(max(now, table.latest), table.settings)
        is_due = outlived is not None and outlived.id == item and _in_mid_shake(table)
        if table.phase.visibility is Visibility.NONE or is_due:
            return None
    return between_rounds(table, EQUIPMENT)


def _in_mid_shake(table: Table) -> bool:
    """Whether the dice lie covered, and were not shaken often enough yet."""
    least = table.equipment.least_tumbles(table.settings)
    return table.phase.visibility is Visibility.CONCEALED and table.current.tumbles < least


def _not_fresh(table: Table, command: messages.PlaceItem) -> Refusal | None:
    """Why an item cannot be placed: one is on the table, or this one was retired."""
    if command.item in table.equipment.placed:
        return refused(
            Reason.OUT_OF_ORDER, EQUIPMENT, f"{command.item} is on the table: “Remove from the table” first"
        )
    if (command.item, command.serial) in table.equipment.retired:
        serial = f"serial number {command.serial}" if command.serial else "no serial number"
        message = f"{command.item} with {serial} was retired: place another"
        return refused(Reason.RULED_OUT, EQUIPMENT, message)
    if len(table.equipment.retired) >= MOST_RETIRED:
        message = f"{MOST_RETIRED} items of this table were retired, the greatest number: open another table"
        return refused(Reason.TOO_MANY, "house:most", message)
    return None


def _excluded(table: Table, item: EquipmentItem) -> str | None:
    """An item on the table that excludes this one."""
    for other in table.equipment.placed:
        theirs = table.equipment.items[other].excludes
        if (item.excludes and item.excludes.item == other) or (theirs and theirs.item == item.id):
            return other
    return None


def remove_item(table: Table, command: messages.RemoveItem) -> Events | Refusal:
    """An item leaves the table between rounds."""
    refusal = at_table(table, command.by) or _not_here(table, command.item)
    refusal = refusal or refused_change(table, command.item, command.at)
    if refusal:
        return refusal
    return (messages.ItemRemoved(at=command.at, by=command.by, clause=EQUIPMENT, item=command.item),)


def _not_here(table: Table, item: str) -> Refusal | None:
    if item in table.equipment.placed:
        return None
    message = f"no item {item!r} on the table; items: {listed(table.equipment.placed)}"
    return refused(Reason.BAD_VALUE, EQUIPMENT, message)


def repair_item(table: Table, command: messages.RepairItem) -> Events | Refusal:
    """A supervisor confirms that an item works again."""
    if refusal := supervisor(table, command.by, EQUIPMENT) or _not_here(table, command.item):
        return refusal
    if table.equipment.placed[command.item].working:
        return refused(Reason.OUT_OF_ORDER, EQUIPMENT, f"{command.item} is in order")
    if command.item in (CARDS_ITEM, DICE_ITEM):
        return refused(Reason.RULED_OUT, EQUIPMENT, f"{command.item} cannot be repaired: replace them")
    return (messages.ItemRepaired(at=command.at, by=command.by, clause=EQUIPMENT, item=command.item),)


def inspect(table: Table, command: messages.Inspect) -> Events | Refusal:
    """Records an inspection that the document requires, by the position that it names."""
    if refusal := at_table(table, command.by) or _not_here(table, command.item):
        return refusal
    item = table.equipment.items[command.item]
    if not table.equipment.placed[command.item].working:
        message = f"{item.id} is out of order: “Mark as repaired” or “Remove from the table” first"
        return refused(Reason.OUT_OF_ORDER, EQUIPMENT, message)
    holder = table.people[command.by].position
    if not item.inspections:
        return refused(Reason.RULED_OUT, EQUIPMENT, f"the document requires no inspection of {item.id}")
    requested = [each for each in item.inspections if command.before in (None, each.before)]
    permitted = [each for each in requested if _may_inspect(table, holder, each)]
    if not permitted:
        clause = (requested or item.inspections)[0].clause
        positions = " or ".join(each.by for each in requested or item.inspections)
        message = f"only the {positions} may inspect {item.id}, not {command.by} ({holder})"
        return refused(Reason.NOT_PERMITTED, clause, message)
    inspection = next((each for each in permitted if each.by == holder), permitted[0])
    if command.runs < inspection.runs:
        message = f"expected at least {inspection.runs} trial runs of {item.id}, got {command.runs}"
        return refused(Reason.UNMET_NEED, inspection.clause, message)
    passed = command.passed
    if command.entered:
        try:
            lights = set(table.terms[table.layout].matrix.illuminated(Outcome.of(*command.entered)))
        except RulesError as error:
            return Refusal(Reason.BAD_VALUE, inspection.clause, str(error))
        passed = passed and lights == set(command.lit)
    elif item.id == DEVICE:
        message = f"an inspection of {item.id} needs the three numbers entered and the areas lit"
        return refused(Reason.UNMET_NEED, inspection.clause, message)
    events: list[Event] = [
        messages.ItemInspected(
            at=command.at, by=command.by, clause=inspection.clause, item=item.id, runs=command.runs,
            passed=passed, position=inspection.by, before=inspection.before, entered=command.entered,
            lit=command.lit,
        )
    ]  # fmt: skip
    if not passed and table.equipment.placed[item.id].working:
        events.append(
            messages.ItemFailed(at=command.at, by=command.by, clause=inspection.clause, item=item.id)
        )
    return tuple(events)


def _may_inspect(table: Table, holder: str, inspection: Inspection) -> bool:
    return table.ranks.may_act(holder=holder, position=inspection.by, settings=table.settings)


# The shoe


def _shoe_refusal(table: Table, by: str) -> Refusal | None:
    if refusal := at_table(table, by):
        return refusal
    if not table.shoe.used:
        return refused(Reason.RULED_OUT, SHOE, "this game has dice, not a shoe of cards")
    return may_act(table, by, table.ranks.ladder[0].id, SHOE) or between_rounds(table, SHOE)


def load_shoe(table: Table, command: messages.LoadShoe) -> Events | Refusal:
    """Decks come into the shoe, as many as the document allows."""
    if refusal := _shoe_refusal(table, command.by):
        return refusal
    rule = table.shoe.rule
    if type(command.decks) is not int or not rule.least_decks <= command.decks <= rule.most_decks:
        message = f"expected {rule.least_decks} to {rule.most_decks} decks, got {command.decks}"
        return refused(Reason.BAD_VALUE, rule.clause, message)
    if refusal := _bad_backs(table, command):
        return refusal
    return (
        messages.ShoeLoaded(
            at=command.at, by=command.by, clause=rule.clause, decks=command.decks, backs=command.backs
        ),
    )


def _bad_backs(table: Table, command: messages.LoadShoe) -> Refusal | None:
    """Why the backs of the decks are not as they should be: one colour and design for each deck."""
    if table.practice == 1 or not command.backs:
        return None
    clause = table.shoe.rule.clause
    if len(command.backs) != command.decks:
        message = f"expected the backs of {command.decks} decks, got {len(command.backs)}"
        return refused(Reason.BAD_VALUE, clause, message)
    for back in command.backs:
        if bad := bad_name("the colour and design of a deck's backs", back):
            return bad
    return None


def shuffle_shoe(table: Table, command: messages.ShuffleShoe) -> Events | Refusal:
    """All cards are shuffled together; the burn follows."""
    if refusal := _shoe_refusal(table, command.by):
        return refusal
    if not table.shoe.decks or table.shoe.spoilt:
        return refused(Reason.UNMET_NEED, SHOE, "the shoe has no sound decks: “Load the shoe” first")
    burnt = int(table.settings.get("burn", "0"))
    return (messages.ShoeShuffled(at=command.at, by=command.by, clause=SHOE, burnt=burnt),)


def count_cards(table: Table, command: messages.CountCards) -> Events | Refusal:
    """The cards are counted; a wrong count is an irregularity."""
    if refusal := at_table(table, command.by):
        return refusal
    if table.shoe.rule.kind is not ChanceKind.CARDS or not table.shoe.decks:
        return refused(Reason.UNMET_NEED, SHOE, "the shoe has no decks: “Load the shoe” first")
    if len(command.found) != len(FACES) or any(count < 0 for count in command.found):
        message = f"expected {len(FACES)} counts, one for each face, got {shown(command.found)}"
        return refused(Reason.BAD_VALUE, SHOE, message)
    if command.found == table.shoe.expected():
        return (messages.CardsCounted(at=command.at, by=command.by, clause=SHOE, found=command.found),)
    detail = f"found {sum(command.found)} of {table.shoe.cards} cards"
    return rulings.found_by_check(table, command, Irregularity.CARD_COUNT_WRONG, detail=detail)


def on_placed(table: Table, event: messages.ItemPlaced) -> None:
    """An item is on the table, and the setting that belongs to it applies."""
    table.equipment.place(event.item, PlacedItem(table.latest, event.serial, event.custodian))
    when = table.equipment.items[event.item].when
    if when is not None and not when.holds(table.settings):
        table.settings[when.setting] = when.value
        put_in_force(table)


def on_removed(table: Table, event: messages.ItemRemoved) -> None:
    """An item is off the table; dice that leave in mid-shake have not been shaken."""
    is_limited = table.equipment.items[event.item].hours_on_table is not None
    table.equipment.remove(event.item)
    if is_limited and table.round is not None and table.phase.visibility is Visibility.CONCEALED:
        first = next(step for step in table.procedure.steps if step.act is Act.TUMBLE)
        table.round.tumbles, table.round.phase = 0, first.start
        table.round.acts.discard(Act.TUMBLE)
    if event.item == CARDS_ITEM:
        table.shoe.load(0)


def on_failed(table: Table, event: messages.ItemFailed) -> None:
    """An item is out of order; with the cards, the shoe is."""
    table.equipment.mark(event.item, working=False)
    if event.item == CARDS_ITEM:
        table.shoe.spoilt = True


def on_repaired(table: Table, event: messages.ItemRepaired) -> None:
    """An item works again; a device that was repaired in a round is no longer down, whatever stopped it."""
    table.equipment.mark(event.item, working=True)
    if event.item == DEVICE and table.round is not None:
        for failure in (Irregularity.EQUIPMENT_FAILURE, Irregularity.POWER_FAILURE):
            table.round.forget(failure)


def on_inspected(table: Table, event: messages.ItemInspected) -> None:
    if event.passed:
        table.equipment.inspected.add((event.item, event.before))


def on_loaded(table: Table, event: messages.ShoeLoaded) -> None:
    """Sound decks are in the shoe."""
    table.shoe.load(event.decks)
    if CARDS_ITEM in table.equipment.placed and not table.equipment.placed[CARDS_ITEM].working:
        table.equipment.mark(CARDS_ITEM, working=True)


def on_shuffled(table: Table, event: messages.ShoeShuffled) -> None:
    table.shoe.shuffle(event.burnt)


def on_counted(_table: Table, _event: messages.CardsCounted) -> None:
    """Nothing changes: the count was right."""


DECIDERS: Final[Deciders] = {
    messages.PlaceItem: place_item,
    messages.RemoveItem: remove_item,
    messages.RepairItem: repair_item,
    messages.Inspect: inspect,
    messages.LoadShoe: load_shoe,
    messages.ShuffleShoe: shuffle_shoe,
    messages.CountCards: count_cards,
}

EFFECTS: Final[Effects] = {
    messages.ItemPlaced: on_placed,
    messages.ItemRemoved: on_removed,
    messages.ItemFailed: on_failed,
    messages.ItemRepaired: on_repaired,
    messages.ItemInspected: on_inspected,
    messages.ShoeLoaded: on_loaded,
    messages.ShoeShuffled: on_shuffled,
    messages.CardsCounted: on_counted,
}
