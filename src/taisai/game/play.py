"""Playing: `decide` what a command comes to, `evolve` the table by what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from taisai.game import commands, events
from taisai.game.betting import moving, placing, stakes
from taisai.game.commands import Command
from taisai.game.day import LATEST
from taisai.game.dice import readings, seeds
from taisai.game.equipment import maintenance
from taisai.game.events import Event
from taisai.game.irregularities import interruptions, referrals, rulings, withdrawals
from taisai.game.money import cashier, claims
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import settlement, steps
from taisai.game.seating import sessions
from taisai.game.staffing import assignments
from taisai.game.table import Table
from taisai.game.terms import opening
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause

_DECIDE: Final[dict[type[Command], Callable[[Table, Any], tuple[Event, ...] | Refusal]]] = {
    commands.OpenTable: opening.open_table,
    commands.CloseTable: opening.close_table,
    commands.BeginDay: opening.begin_day,
    commands.BeginShift: opening.begin_shift,
    commands.SetLimits: opening.set_limits,
    commands.OfferOdds: opening.offer_odds,
    commands.Shut: opening.shut,
    commands.Reopen: opening.reopen,
    commands.Assign: assignments.assign,
    commands.Leave: assignments.leave,
    commands.PlaceItem: maintenance.place_item,
    commands.RemoveItem: maintenance.remove_item,
    commands.RepairItem: maintenance.repair_item,
    commands.Inspect: maintenance.inspect,
    commands.LoadShoe: maintenance.load_shoe,
    commands.ShuffleShoe: maintenance.shuffle_shoe,
    commands.CountCards: maintenance.count_cards,
    commands.TakeSeat: sessions.take_seat,
    commands.LeaveSeat: sessions.leave_seat,
    commands.ShowLayout: sessions.show_layout,
    commands.BuyCredits: cashier.buy_credits,
    commands.BuyColour: cashier.buy_colour,
    commands.CashColour: cashier.cash_colour,
    commands.ReceiveTicket: cashier.receive_ticket,
    commands.DispenseCredits: cashier.dispense_credits,
    commands.ReceiveFill: cashier.receive_fill,
    commands.SendCredit: cashier.send_credit,
    commands.SendDrop: cashier.send_drop,
    commands.SettleClaim: claims.settle_claim,
    commands.PlaceBets: placing.place,
    commands.RecordBets: placing.record,
    commands.TakeBack: moving.take_back,
    commands.MoveBet: moving.move,
    commands.Perform: steps.perform,
    commands.Report: rulings.report,
    commands.CallAttendant: referrals.call,
    commands.DecideReferral: referrals.decide_referral,
    commands.ChooseWithdrawal: withdrawals.choose,
    commands.CloseWithdrawal: withdrawals.close_withdrawal,
    commands.Recover: interruptions.recover_now,
    commands.Declare: interruptions.declare,
    commands.TakeReading: readings.take_reading,
    commands.CommitSeed: seeds.commit_seed,
    commands.RevealSeed: seeds.reveal_seed,
}

_EVOLVE: Final[dict[type[Event], Callable[[Table, Any], None]]] = {
    events.TableOpened: opening.on_table_opened,
    events.TableClosed: opening.on_table_closed,
    events.DayBegun: opening.on_day,
    events.ShiftBegun: opening.on_shift,
    events.LimitsSet: opening.on_limits,
    events.OddsOffered: opening.on_odds,
    events.TableShut: opening.on_shut,
    events.TableReopened: opening.on_table_reopened,
    events.PersonAssigned: assignments.on_assigned,
    events.PersonLeft: assignments.on_left,
    events.ItemPlaced: maintenance.on_placed,
    events.ItemRemoved: maintenance.on_removed,
    events.ItemFailed: maintenance.on_failed,
    events.ItemRepaired: maintenance.on_repaired,
    events.ItemInspected: maintenance.on_inspected,
    events.ShoeLoaded: maintenance.on_loaded,
    events.ShoeShuffled: maintenance.on_shuffled,
    events.CardsCounted: maintenance.on_counted,
    events.SeatTaken: sessions.on_seat_taken,
    events.SeatLeft: sessions.on_seat_left,
    events.LayoutShown: sessions.on_layout_shown,
    events.CreditsBought: cashier.on_credits_bought,
    events.ColourBought: cashier.on_colour_bought,
    events.ColourCashed: cashier.on_colour_cashed,
    events.TicketReceived: cashier.on_ticket_received,
    events.CreditsDispensed: cashier.on_dispensed,
    events.FillReceived: cashier.on_filled,
    events.CreditSent: cashier.on_credit_sent,
    events.DropSent: cashier.on_drop_sent,
    events.ClaimSettled: claims.on_claim_settled,
    events.BetRegistered: stakes.on_registered,
    events.BetTakenBack: stakes.on_taken_back,
    events.BetMoved: stakes.on_moved,
    events.BetReturned: referrals.on_returned,
    events.BetsOpened: steps.on_opened,
    events.BetsReopened: steps.on_reopened,
    events.BetsClosed: steps.on_act,
    events.DiceTumbled: steps.on_tumbled,
    events.ShakerActivated: steps.on_act,
    events.DealPressed: steps.on_act,
    events.DiceUncovered: steps.on_act,
    events.CardsDealt: steps.on_dealt,
    events.ResultEntered: steps.on_entered,
    events.ResultCorrected: steps.on_corrected,
    events.RoundSettled: settlement.on_settled,
    events.LosersCollected: steps.on_act,
    events.WinnersPaid: settlement.on_paid,
    events.LightsCleared: steps.on_lights_cleared,
    events.RoundConcluded: steps.on_concluded,
    events.RoundVoided: settlement.on_voided,
    events.SettlementUndone: settlement.on_undone,
    events.RoundResettled: settlement.on_resettled,
    events.IrregularityRuled: rulings.on_ruled,
    events.WithdrawalOffered: withdrawals.on_offered,
    events.WithdrawalChosen: withdrawals.on_chosen,
    events.WithdrawalClosed: withdrawals.on_withdrawal_closed,
    events.Referred: referrals.on_referred,
    events.ReferralDecided: referrals.on_decided,
    events.Interrupted: interruptions.on_interrupted,
    events.SightDeclared: interruptions.on_declared,
    events.SettlementWitnessed: rulings.on_witnessed,
    events.ReadingTaken: readings.on_reading,
    events.SeedCommitted: seeds.on_committed,
    events.SeedRevealed: seeds.on_revealed,
}

_WITHOUT_TABLE: Final = frozenset({commands.OpenTable, commands.Recover})
_AFTER_THE_CLOSE: Final = frozenset(
    {
        commands.Assign,
        commands.Leave,
        commands.Report,
        commands.DecideReferral,
        commands.SettleClaim,
        commands.ReceiveTicket,
        commands.DispenseCredits,
        commands.ReceiveFill,
        commands.SendCredit,
        commands.SendDrop,
        commands.RevealSeed,
    }
)
"""What a table that is closed for good still answers: a wrong result is corrected whenever it is found."""


def decide(table: Table, command: Command) -> tuple[Event, ...] | Refusal:
    """What a command comes to: events, none where it is a retry, or a refusal with its clause."""
    kind = type(command)
    at = command.at
    if type(at) is not int or not 0 <= at <= LATEST:
        return Refusal(
            Reason.BAD_VALUE, Clause("house:most"), f"expected milliseconds from 0 to {LATEST}, got others"
        )
    if not table.open and kind not in _WITHOUT_TABLE and not (table.name and kind in _AFTER_THE_CLOSE):
        return Refusal(
            Reason.TABLE_NOT_OPEN, Clause("house:table"), "expected an open table, got one that is not"
        )
    return _DECIDE[kind](table, command)


def evolve(table: Table, event: Event) -> Table:
    """The table after an event: the same object, changed."""
    table.ledger.latest = []
    table.latest = max(table.latest, event.at)
    _EVOLVE[type(event)](table, event)
    return table


def replayed(book: Rulebook, past: Iterable[Event]) -> Table:
    """The table that a stream of events makes."""
    table = Table(book)
    for event in past:
        evolve(table, event)
    return table
