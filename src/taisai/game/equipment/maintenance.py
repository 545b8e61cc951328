"""Upkeep: equipment that comes, goes, fails, is repaired and inspected; the shoe loaded and shuffled."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_table, bad_name, between_rounds, may_act, refused, supervisor
from taisai.game.equipment.items import CARDS_ITEM, DEVICE, DICE_ITEM, PlacedItem
from taisai.game.equipment.messages import (
    CardsCounted,
    CountCards,
    Inspect,
    ItemFailed,
    ItemInspected,
    ItemPlaced,
    ItemRemoved,
    ItemRepaired,
    LoadShoe,
    PlaceItem,
    RemoveItem,
    RepairItem,
    ShoeLoaded,
    ShoeShuffled,
    ShuffleShoe,
)
from taisai.game.irregularities import rulings
from taisai.game.messages import Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Deciders, Effects, Table
from taisai.game.terms.opening import put_in_force
from taisai.rules.chance import ChanceKind
from taisai.rules.clauses import Clause
from taisai.rules.equipment import EquipmentItem, Inspection
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import FACES, Outcome
from taisai.rules.vocabulary import Irregularity

EQUIPMENT: Final = Clause("house:equipment")
SHOE: Final = Clause("house:shoe")


def place_item(table: Table, command: PlaceItem) -> Events | Refusal:
    """An item comes to the table, unless another must leave first."""
    wrong = at_table(table, command.by)
    if wrong:
        return wrong
    item = table.equipment.items.get(command.item)
    if item is None:
        expected = f"one of {', '.join(table.equipment.items)}"
        return refused(Reason.BAD_VALUE, EQUIPMENT, expected, command.item)
    if command.serial and (bad := bad_name("a serial number", command.serial)):
        return bad
    other = _excluded(table, item)
    if other is not None:
        ruled = table.irregularities.ruling_for(Irregularity.TWO_SHAKERS, table.phase, table.settings)
        return refused(Reason.RULED_OUT, ruled.clause, f"{other} off the table first", "it is on it")
    wrong = between_rounds(table, EQUIPMENT) or _not_fresh(table, command)
    if wrong:
        return wrong
    custodian = None
    if item.custody is not None:
        wrong = may_act(table, command.by, item.custody, item.clause)
        if wrong:
            return wrong
        custodian = table.dealer() or command.by
    return (
        ItemPlaced(
            at=command.at, by=command.by, clause=item.clause, item=item.id, serial=command.serial,
            custodian=custodian,
        ),
    )  # fmt: skip


def _not_fresh(table: Table, command: PlaceItem) -> Refusal | None:
    """Why an item is not a new one: it lies there, or left because it failed or had its time."""
    if command.item in table.equipment.placed:
        return refused(Reason.OUT_OF_ORDER, EQUIPMENT, f"{command.item} removed first", "it is on the table")
    if (command.item, command.serial) in table.equipment.retired:
        expected = f"another {command.item}, by its serial number"
        return refused(Reason.RULED_OUT, EQUIPMENT, expected, command.serial or "none given")
    return None


def _excluded(table: Table, item: EquipmentItem) -> str | None:
    """An item on the table that must not lie beside this one."""
    for other in table.equipment.placed:
        theirs = table.equipment.items[other].excludes
        if (item.excludes and item.excludes.item == other) or (theirs and theirs.item == item.id):
            return other
    return None


def remove_item(table: Table, command: RemoveItem) -> Events | Refusal:
    """An item leaves the table between rounds."""
    wrong = at_table(table, command.by) or _not_here(table, command.item)
    wrong = wrong or between_rounds(table, EQUIPMENT)
    if wrong:
        return wrong
    return (ItemRemoved(at=command.at, by=command.by, clause=EQUIPMENT, item=command.item),)


def _not_here(table: Table, item: str) -> Refusal | None:
    if item in table.equipment.placed:
        return None
    expected = f"an item on the table ({', '.join(table.equipment.placed)})"
    return refused(Reason.BAD_VALUE, EQUIPMENT, expected, item)


def repair_item(table: Table, command: RepairItem) -> Events | Refusal:
    """A supervisor finds that an item works again."""
    wrong = supervisor(table, command.by, EQUIPMENT) or _not_here(table, command.item)
    if wrong:
        return wrong
    if table.equipment.placed[command.item].working:
        return refused(Reason.OUT_OF_ORDER, EQUIPMENT, "an item that failed", f"{command.item}, in order")
    if command.item in (CARDS_ITEM, DICE_ITEM):
        return refused(Reason.RULED_OUT, EQUIPMENT, f"other {command.item} instead of them", "the same ones")
    return (ItemRepaired(at=command.at, by=command.by, clause=EQUIPMENT, item=command.item),)


def inspect(table: Table, command: Inspect) -> Events | Refusal:
    """An inspection that the document asks, by the position that it names."""
    wrong = at_table(table, command.by) or _not_here(table, command.item)
    if wrong:
        return wrong
    item = table.equipment.items[command.item]
    if not table.equipment.placed[command.item].working:
        expected = f"{item.id} repaired or replaced first"
        return refused(Reason.OUT_OF_ORDER, EQUIPMENT, expected, "it is out of order")
    holder = table.people[command.by].position
    if not item.inspections:
        return refused(Reason.RULED_OUT, EQUIPMENT, "an item that is inspected", item.id)
    asked = [one for one in item.inspections if command.before in (None, one.before)]
    his = [one for one in asked if _his(table, holder, one)]
    if not his:
        clause = (asked or item.inspections)[0].clause
        positions = " or ".join(one.by for one in asked or item.inspections)
        return refused(Reason.NOT_PERMITTED, clause, f"the {positions} to do it", f"{command.by}, {holder}")
    inspection = next((one for one in his if one.by == holder), his[0])
    if command.runs < inspection.runs:
        expected = f"at least {inspection.runs} run(s) of {item.id}"
        return refused(Reason.UNMET_NEED, inspection.clause, expected, command.runs)
    passed = command.passed
    if command.entered:
        try:
            lights = set(table.terms[table.layout].matrix.illuminated(Outcome.of(*command.entered)))
        except RulesError as error:
            return Refusal(Reason.BAD_VALUE, inspection.clause, str(error))
        passed = passed and lights == set(command.lit)
    elif item.id == DEVICE:
        return refused(
            Reason.UNMET_NEED, inspection.clause, "three numbers entered and the areas lit", "none"
        )
    made: list[Event] = [
        ItemInspected(
            at=command.at, by=command.by, clause=inspection.clause, item=item.id, runs=command.runs,
            passed=passed, position=inspection.by, before=inspection.before, entered=command.entered,
            lit=command.lit,
        )
    ]  # fmt: skip
    if not passed and table.equipment.placed[item.id].working:
        made.append(ItemFailed(at=command.at, by=command.by, clause=inspection.clause, item=item.id))
    return tuple(made)


def _his(table: Table, holder: str, inspection: Inspection) -> bool:
    return table.ranks.may_act(holder=holder, position=inspection.by, settings=table.settings)


# The shoe


def _shoe_wrong(table: Table, by: str) -> Refusal | None:
    wrong = at_table(table, by)
    if wrong:
        return wrong
    if not table.shoe.used:
        return refused(Reason.RULED_OUT, SHOE, "a game of cards", "dice")
    return may_act(table, by, table.ranks.ladder[0].id, SHOE) or between_rounds(table, SHOE)


def load_shoe(table: Table, command: LoadShoe) -> Events | Refusal:
    """Decks come into the shoe, as many as the document allows."""
    wrong = _shoe_wrong(table, command.by)
    if wrong:
        return wrong
    rule = table.shoe.rule
    if type(command.decks) is not int or not rule.least_decks <= command.decks <= rule.most_decks:
        expected = f"{rule.least_decks} to {rule.most_decks} decks"
        return refused(Reason.BAD_VALUE, rule.clause, expected, command.decks)
    return (ShoeLoaded(at=command.at, by=command.by, clause=rule.clause, decks=command.decks),)


def shuffle_shoe(table: Table, command: ShuffleShoe) -> Events | Refusal:
    """All cards together again, and the burn."""
    wrong = _shoe_wrong(table, command.by)
    if wrong:
        return wrong
    if not table.shoe.decks or table.shoe.spoilt:
        return refused(Reason.UNMET_NEED, SHOE, "a shoe loaded with sound decks", "none")
    burnt = int(table.settings.get("burn", "0"))
    return (ShoeShuffled(at=command.at, by=command.by, clause=SHOE, burnt=burnt),)


def count_cards(table: Table, command: CountCards) -> Events | Refusal:
    """The cards are counted; where they are not as many as they should be, the rules speak."""
    wrong = at_table(table, command.by)
    if wrong:
        return wrong
    if table.shoe.rule.kind is not ChanceKind.CARDS or not table.shoe.decks:
        return refused(Reason.UNMET_NEED, SHOE, "a shoe loaded with decks", "none")
    if len(command.found) != len(FACES) or any(count < 0 for count in command.found):
        return refused(Reason.BAD_VALUE, SHOE, "six counts, one for each face", command.found)
    if command.found == table.shoe.expected():
        return (CardsCounted(at=command.at, by=command.by, clause=SHOE, found=command.found),)
    detail = f"found {sum(command.found)} of {table.shoe.cards} cards"
    return rulings.found_by_check(table, command, Irregularity.CARD_COUNT_WRONG, detail=detail)


# Evolving


def on_placed(table: Table, event: ItemPlaced) -> None:
    """An item lies on the table, and the setting that goes with it holds."""
    table.equipment.place(event.item, PlacedItem(table.latest, event.serial, event.custodian))
    when = table.equipment.items[event.item].when
    if when is not None and not when.holds(table.settings):
        table.settings[when.setting] = when.value
        put_in_force(table)


def on_removed(table: Table, event: ItemRemoved) -> None:
    """An item is gone."""
    table.equipment.remove(event.item)
    if event.item == CARDS_ITEM:
        table.shoe.load(0)


def on_failed(table: Table, event: ItemFailed) -> None:
    """An item is out of order; with the cards, the shoe is."""
    table.equipment.mark(event.item, working=False)
    if event.item == CARDS_ITEM:
        table.shoe.spoilt = True


def on_repaired(table: Table, event: ItemRepaired) -> None:
    """An item works again."""
    table.equipment.mark(event.item, working=True)


def on_inspected(table: Table, event: ItemInspected) -> None:
    """The inspection holds, where it was passed."""
    if event.passed:
        table.equipment.inspected.add((event.item, event.before))


def on_loaded(table: Table, event: ShoeLoaded) -> None:
    """Sound decks lie in the shoe."""
    table.shoe.load(event.decks)
    if CARDS_ITEM in table.equipment.placed and not table.equipment.placed[CARDS_ITEM].working:
        table.equipment.mark(CARDS_ITEM, working=True)


def on_shuffled(table: Table, event: ShoeShuffled) -> None:
    """The shoe is whole again."""
    table.shoe.shuffle(event.burnt)


def on_counted(_table: Table, _event: CardsCounted) -> None:
    """Nothing changes: the count was right."""


DECIDERS: Final[Deciders] = {
    PlaceItem: place_item,
    RemoveItem: remove_item,
    RepairItem: repair_item,
    Inspect: inspect,
    LoadShoe: load_shoe,
    ShuffleShoe: shuffle_shoe,
    CountCards: count_cards,
}

EFFECTS: Final[Effects] = {
    ItemPlaced: on_placed,
    ItemRemoved: on_removed,
    ItemFailed: on_failed,
    ItemRepaired: on_repaired,
    ItemInspected: on_inspected,
    ShoeLoaded: on_loaded,
    ShoeShuffled: on_shuffled,
    CardsCounted: on_counted,
}
