"""Claims between players and the house: paid or collected at the table, by the cage, or given up."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_least, bad_name, bad_text, refused, two_people
from taisai.game.messages import Events
from taisai.game.money.cashier import FLOAT, free_in_tray, known_transfer
from taisai.game.money.ledger import Account
from taisai.game.money.messages import ClaimSettled, SettleClaim
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Deciders, Effects, Table, TableTransfer
from taisai.game.vocabulary import CAGE, ClaimEnd, TransferKind
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Irregularity

CLAIMS: Final = Clause("house:claims")


def settle_claim(table: Table, command: SettleClaim) -> Events | Refusal:
    """A claim is paid or collected at the table or by the cage, or given up."""
    rank = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings).to
    rank = rank or table.ranks.second
    if command.by == CAGE and command.how is ClaimEnd.CAGE:
        # Two have signed at the House; whoever else would have settled it here is the second of them.
        wrong = two_people(table, command.by, command.second, rank=rank, clause=CLAIMS)
    else:
        wrong = at_least(table, command.by, rank, CLAIMS)
        wrong = wrong or two_people(table, command.by, command.second, clause=CLAIMS)
    wrong = wrong or bad_text("a reason", command.reason, least=1 if command.how is ClaimEnd.WAIVE else 0)
    wrong = wrong or _bad_claim_transfer(command)
    if wrong:
        return wrong
    if command.transfer is not None and command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.CLAIM, None, command.claim)
    claim = table.claims.get(command.claim)
    if claim is None:
        known = ", ".join(table.claims) or "none"
        return refused(Reason.BAD_VALUE, CLAIMS, f"an open claim ({known})", command.claim)
    if command.how is ClaimEnd.WAIVE and claim.of_player:
        expected = "a claim on a player: what is owed to one is not the house's to give up"
        return refused(Reason.RULED_OUT, CLAIMS, expected, claim.id)
    free = free_in_tray(table)
    if command.how is ClaimEnd.TABLE and claim.of_player and free < claim.amount:
        expected = f"{claim.amount} free in the tray to pay from"
        return refused(Reason.FLOAT_SHORT, FLOAT, expected, free, sums=(claim.amount, free))
    assert command.second is not None
    return (
        ClaimSettled(
            at=command.at, by=command.by, clause=CLAIMS, claim=claim.id, how=command.how,
            transfer=command.transfer, reason=command.reason, second=command.second,
        ),
    )  # fmt: skip


def _bad_claim_transfer(command: SettleClaim) -> Refusal | None:
    if (command.how is ClaimEnd.CAGE) != (command.transfer is not None):
        got = command.transfer or "none"
        return refused(Reason.BAD_VALUE, CLAIMS, "a transfer with the cage and with nothing else", got)
    return bad_name("a transfer", command.transfer) if command.transfer is not None else None


# Evolving


def on_claim_settled(table: Table, event: ClaimSettled) -> None:
    """A claim is no longer open."""
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


DECIDERS: Final[Deciders] = {
    SettleClaim: settle_claim,
}

EFFECTS: Final[Effects] = {
    ClaimSettled: on_claim_settled,
}
