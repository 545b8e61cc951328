"""A table in play: `decide` turns a command into events, `evolve` applies an event to the table.

Pure: no clock, no randomness, no disk, no network.

>>> from taisai.game import Table, decide, evolve
>>> from taisai.game.commands import Limits, OpenTable, Perform
>>> from taisai.rules import Act, rulebook
>>> table = Table(rulebook("mbs-sic-bo-v6"))
>>> opening = OpenTable(
...     at=0,
...     by="Sue",
...     rank="shift-manager",
...     table="SB1",
...     currency="SGD",
...     day="2026-11-15",
...     zone="Asia/Singapore",
...     limits=Limits(least=1000, most=500_000),
... )
>>> for event in decide(table, opening):
...     table = evolve(table, event)
>>> print(decide(table, Perform(at=1, by="Sue", act=Act.UNCOVER)))
expected open-bets in phase between, got uncover (out-of-order, 3.10)
"""

from taisai.game import commands, events
from taisai.game.betting.placing import exposures
from taisai.game.money.ledger import Account, Ledger, LedgerEntry
from taisai.game.play import Declaration, Recovered, decide, evolve, recover, replayed
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.settlement import bet_records
from taisai.game.table import Table
from taisai.game.terms.opening import gaming_day
from taisai.game.vocabulary import Hold, Means, Subject, Treatment

__all__ = [
    "Account",
    "Declaration",
    "Hold",
    "Ledger",
    "LedgerEntry",
    "Means",
    "Reason",
    "Recovered",
    "Refusal",
    "Subject",
    "Table",
    "Treatment",
    "bet_records",
    "commands",
    "decide",
    "events",
    "evolve",
    "exposures",
    "gaming_day",
    "recover",
    "replayed",
]
