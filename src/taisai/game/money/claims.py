"""Claims between players and the house: paid or collected at the table or by the cage, or waived."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_least, bad_name, bad_text, listed, refused, two_people
from taisai.game.messages import Events
from taisai.game.money.cashier import free_in_tray, known_transfer, tray_short
from taisai.game.money.ledger import Account
from taisai.game.money.messages import ClaimSettled, SettleClaim
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_WAIVED, Deciders, Effects, Table, TableTransfer
from taisai.game.vocabulary import CAGE, ClaimEnd, TransferKind
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Irregularity

CLAIMS: Final = Clause("house:claims")


def settle_claim(table: Table, command: SettleClaim) -> Events | Refusal:
    """A claim is paid or collected at the table or by the cage, or waived."""
    rank = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings).to
    rank = rank or table.ranks.second
    if command.by == CAGE and command.how is ClaimEnd.CAGE:
        # Two people have signed at the House; a person of the rank here is the second.
        refusal = two_people(table, command.by, command.second, rank=rank, clause=CLAIMS)
    else:
        refusal = at_least(table, command.by, rank, CLAIMS)
        refusal = refusal or two_people(table, command.by, command.second, clause=CLAIMS)
    refusal = refusal or bad_text("a reason", command.reason, least=1 if command.how is ClaimEnd.WAIVE else 0)
    refusal = refusal or _bad_claim_transfer(command)
    if refusal:
        return refusal
    if command.transfer is not None and command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.CLAIM, None, command.claim)
    claim = table.claims.get(command.claim)
    if claim is None:
        message = f"no open claim {command.claim!r}; open claims: {listed(table.claims)}"
        return refused(Reason.BAD_VALUE, CLAIMS, message)
    if command.how is ClaimEnd.WAIVE and claim.of_player:
        message = f"claim {claim.id} is owed to a player: the house can waive only claims on players"
        return refused(Reason.RULED_OUT, CLAIMS, message)
    if command.how is ClaimEnd.WAIVE and len(table.waived) >= MOST_WAIVED:
        message = f"the table has {MOST_WAIVED} waived claims, the greatest number: collect claim {claim.id}"
        return refused(Reason.TOO_MANY, "house:most", message)
    free = free_in_tray(table)
    if command.how is ClaimEnd.TABLE and claim.of_player and free < claim.amount:
        return tray_short(claim.amount, free)
    assert command.second is not None
    return (
        ClaimSettled(
            at=command.at, by=command.by, clause=CLAIMS, claim=claim.id, how=command.how,
            transfer=command.transfer, reason=command.reason, second=command.second,
        ),
    )  # fmt: skip


def _bad_claim_transfer(command: SettleClaim) -> Refusal | None:
    if (command.how is ClaimEnd.CAGE) != (command.transfer is not None):
        with_it = "without a transfer" if command.transfer is None else f"with transfer {command.transfer!r}"
        message = f"only a claim that the cage settles has a transfer, got {command.how} {with_it}"
        return refused(Reason.BAD_VALUE, CLAIMS, message)
    return bad_name("a transfer", command.transfer) if command.transfer is not None else None


def on_claim_settled(table: Table, event: ClaimSettled) -> None:
    claim = table.claims.pop(event.claim)
    amount, clause, ledger = claim.amount, event.clause, table.ledger
    account = Account.CLAIMS_OF_PLAYERS if claim.of_player else Account.CLAIMS_ON_PLAYERS
    if event.how is ClaimEnd.WAIVE:
        table.waived.append(claim)
        ledger.move(account, Account.HOUSE_LOST, amount, clause)
    elif event.transfer is not None:
        signed = -amount if claim.of_player else amount
        table.transfers[event.transfer] = TableTransfer(TransferKind.CLAIM, signed, claim.id)
        target = Account.TRANSIT_OWED if claim.of_player else Account.TRANSIT_DUE
        ledger.move(account, target, amount, clause)
    elif claim.of_player:
        ledger.withdraw(Account.CHIPS, account, amount, clause)
    else:
        ledger.move(account, Account.CHIPS, amount, clause)


DECIDERS: Final[Deciders] = {SettleClaim: settle_claim}

EFFECTS: Final[Effects] = {ClaimSettled: on_claim_settled}
