"""`taisai settle`: what each bet gets on an outcome."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
from taisai.cli.printing import as_json, dice, line, show, table
from taisai.rules import BetRefusal, ChanceKind, Matrix, Outcome, Rulebook, RulesError, Settlement, rulebook


def run(arguments: Namespace) -> int:
    """Prints the settlement of the bets given."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    outcome = _outcome(book, arguments)
    settled = matrix.settle(outcome, asked.bets(arguments.bet))
    if isinstance(settled, BetRefusal):
        raise RulesError(str(settled))
    if arguments.json:
        as_json(
            {
                "outcome": str(outcome),
                "staked": settled.staked,
                "returned": settled.returned,
                "bets": [
                    {
                        "area": bet.area,
                        "stake": bet.stake,
                        "won": bet.won,
                        "returned": bet.returned,
                        "clause": bet.clause,
                    }
                    for bet in settled.bets
                ],
            }
        )
        return 0
    retell(matrix, settled, asked.terms(arguments))
    return 0


def retell(matrix: Matrix, settled: Settlement, terms: str = "") -> None:
    """The dice drawn, and every bet with what it got and why."""
    line(dice(settled.outcome))
    numbers = ("stake", "won", "returned")
    title = (
        f"{matrix.rulebook}, layout {matrix.layout}: {settled.outcome}, total {settled.outcome.total}{terms}"
    )
    made = table(title, ("area", *numbers, "clause", "why"), right=numbers)
    for bet in settled.bets:
        why = matrix.explain(bet.area, settled.outcome)
        verdict = f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"
        made.add_row(bet.area, str(bet.stake), str(bet.won), str(bet.returned), bet.clause, verdict)
    made.add_section()
    made.add_row("all bets", str(settled.staked), "", str(settled.returned), "", "")
    show(made)


def _outcome(book: Rulebook, arguments: Namespace) -> Outcome:
    cards = book.chance_rule.kind is ChanceKind.CARDS
    wanted, other = ("--cards", "--dice") if cards else ("--dice", "--cards")
    given = {"--dice": arguments.dice, "--cards": arguments.cards}
    if given[other] is not None or given[wanted] is None:
        got = other if given[other] is not None else "nothing"
        raise RulesError(f"expected {wanted} such as 2,3,5 for {book.id}, got {got}")
    return Outcome.of(*asked.faces(given[wanted], wanted))
