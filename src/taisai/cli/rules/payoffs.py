"""`taisai odds`, `settle`, `rules matrix` and `rules diff`: what areas pay."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from taisai.cli import values
from taisai.cli.printing import as_json, dice, line, percent, print_result, show, show_table, table, wrapped
from taisai.rules import (
    OUTCOMES,
    AreaId,
    BetRefusal,
    Chance,
    ChanceKind,
    Matrix,
    Outcome,
    Rulebook,
    RulesError,
    Settlement,
    rulebook,
)
from taisai.study.odds import AreaOdds, area_odds, chance_facts, chance_words
from taisai.study.report import Sheet, columns


def print_odds(arguments: Namespace) -> int:
    book = rulebook(arguments.book)
    matrix = values.matrix(book, arguments)
    chance = values.chance(book, arguments)
    if arguments.full or arguments.rounds is not None:
        return _full_odds(matrix, chance, arguments)
    odds = area_odds(matrix, chance)
    if arguments.json:
        areas = [
            {
                "id": area.id, "odds": [str(figure) for figure in area.odds],
                "win_probability": str(area.win_probability), "house_edge": str(area.house_edge),
                "variance": str(area.variance),
            }
            for area in odds
        ]  # fmt: skip
        facts = {"rulebook": matrix.rulebook, "layout": matrix.layout, "chance": chance_facts(chance)}
        as_json(facts | {"areas": areas})
        return 0
    title = f"{matrix.rulebook}, layout {matrix.layout}, {chance_words(chance)}{values.terms(arguments)}"
    numbers = ("wins with", "house edge", "std dev")
    rows = tuple(
        (
            area.id, row.label, ", ".join(map(str, area.odds)), percent(area.win_probability),
            percent(area.house_edge), f"{sqrt(area.variance):.3f}",
        )
        for row, area in zip(matrix.labels, odds, strict=True)
    )  # fmt: skip
    show(Sheet(title, columns("area", "", "odds", *numbers, numbers=numbers), rows).rich())
    return 0


def _full_odds(matrix: Matrix, chance: Chance, arguments: Namespace) -> int:
    from taisai.study.bands import MOST_ROUNDS, ROUNDS
    from taisai.study.measures import measures

    if arguments.rounds is None:
        return print_result(measures(matrix, chance), arguments)
    rounds = [values.count(text, "--rounds", most=MOST_ROUNDS) for text in arguments.rounds.split(",")]
    if len(rounds) > len(ROUNDS):
        raise RulesError(f"expected at most {len(ROUNDS)} numbers, got {len(rounds)} (--rounds)")
    return print_result(measures(matrix, chance, rounds), arguments)


def settle_bets(arguments: Namespace) -> int:
    book = rulebook(arguments.book)
    matrix = values.matrix(book, arguments)
    outcome = _outcome(book, arguments)
    settlement = matrix.settle(outcome, values.bets(arguments.bet))
    if isinstance(settlement, BetRefusal):
        raise RulesError(str(settlement))
    if arguments.json:
        keys = ("area", "stake", "won", "returned", "clause")
        bets = [{key: getattr(bet, key) for key in keys} for bet in settlement.bets]
        sums = {"staked": settlement.staked, "returned": settlement.returned}
        as_json({"outcome": str(outcome), **sums, "bets": bets})
        return 0
    print_settlement(matrix, settlement, values.terms(arguments))
    return 0


def print_settlement(matrix: Matrix, settlement: Settlement, terms: str = "") -> None:
    """Prints the drawn dice, and every bet with its return, its clause and the reason."""
    outcome = settlement.outcome
    line(dice(outcome))
    numbers = ("stake", "won", "returned")
    title = f"{matrix.rulebook}, layout {matrix.layout}: {outcome}, total {outcome.total}{terms}"
    filled = table(title, ("area", *numbers, "clause", "why"), right=numbers)
    for bet in settlement.bets:
        why = matrix.explain(bet.area, outcome)
        verdict = f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"
        filled.add_row(bet.area, str(bet.stake), str(bet.won), str(bet.returned), bet.clause, verdict)
    filled.add_section()
    filled.add_row("all bets", str(settlement.staked), "", str(settlement.returned), "", "")
    show(filled)


def _outcome(book: Rulebook, arguments: Namespace) -> Outcome:
    is_cards = book.chance_rule.kind is ChanceKind.CARDS
    option, other = ("--cards", "--dice") if is_cards else ("--dice", "--cards")
    given = {"--dice": arguments.dice, "--cards": arguments.cards}
    if given[other] is not None or given[option] is None:
        got = other if given[other] is not None else "nothing"
        raise RulesError(f"expected {option} such as 2,3,5 for {book.id}, got {got}")
    return Outcome.of(*values.faces(given[option], option))


def print_matrix(arguments: Namespace) -> int:
    """Prints the payoff matrix: exact as JSON, or as a picture of the winning outcomes."""
    matrix = values.matrix(rulebook(arguments.book), arguments)
    if not arguments.json:
        return _matrix_picture(matrix)
    nets_text = {net: str(Fraction(net, matrix.denominator)) for row in matrix.nets for net in row}
    areas = [
        {"id": area.id, "label": area.label, "nets": [nets_text[net] for net in nets], "clauses": clauses}
        for area, nets, clauses in zip(matrix.labels, matrix.nets, matrix.clauses, strict=True)
    ]
    facts = {"rulebook": matrix.rulebook, "layout": matrix.layout, "digest": matrix.digest}
    as_json(facts | {"outcomes": [str(outcome) for outcome in OUTCOMES], "areas": areas})
    return 0


def _matrix_picture(matrix: Matrix) -> int:
    """A column per outcome, a row per area, a dot where it wins."""
    width = max(map(len, matrix.areas))
    line(f"{matrix.rulebook}, layout {matrix.layout}, {matrix.digest}")
    for place in range(3):
        line(" " * (width + 2) + "".join(str(outcome.faces[place]) for outcome in OUTCOMES))
    for area, nets, wins in zip(matrix.areas, matrix.nets, matrix.wins, strict=True):
        cells = "".join("●" if net > 0 else "·" for net in nets)
        line(f"{area:<{width}}  {cells}  {', '.join(str(win.odds) for win in wins)}")
    return 0


class ComparedLayout(NamedTuple):
    """One of two compared layouts, with the exact odds of its areas."""

    name: str
    matrix: Matrix
    odds: dict[AreaId, AreaOdds]
    chance: str

    def nets(self, area: AreaId) -> tuple[Fraction, ...]:
        """The nets of an area, comparable across layouts with different denominators."""
        nets = self.matrix.nets[self.matrix.row(area)]
        return tuple(Fraction(net, self.matrix.denominator) for net in nets)

    def facts(self, area: AreaId) -> dict[str, object]:
        odds = self.odds[area]
        return {"odds": [str(figure) for figure in odds.odds], "house_edge": str(odds.house_edge)}

    def cells(self, area: AreaId) -> tuple[str, str]:
        odds = self.odds[area]
        return ", ".join(map(str, odds.odds)), percent(odds.house_edge)


def compare_layouts(arguments: Namespace) -> int:
    """Prints areas that only one layout has, and areas that pay differently; or what editions change."""
    if _names_editions(arguments.left, arguments.right):
        from taisai.cli.rules.editions import compare_editions

        return compare_editions(arguments)
    left, right = (_compared_layout(text) for text in (arguments.left, arguments.right))
    only_left = [area for area in left.odds if area not in right.odds]
    only_right = [area for area in right.odds if area not in left.odds]
    both = [area for area in left.odds if area in right.odds]
    changed = [area for area in both if left.nets(area) != right.nets(area)]
    same = len(both) - len(changed)
    if arguments.json:
        pairs = [{"id": area, "left": left.facts(area), "right": right.facts(area)} for area in changed]
        facts = {"left": left.name, "right": right.name, "chances": [left.chance, right.chance]}
        as_json(facts | {"only_left": only_left, "only_right": only_right, "same": same, "changed": pairs})
        return 0
    line(f"{left.name} and {right.name}: {same} areas pay the same, {len(changed)} differ")
    if left.chance != right.chance:
        line(f"{left.chance} and {right.chance}: edges differ even where odds are equal")
    for layout, areas in ((left, only_left), (right, only_right)):
        if areas:
            wrapped(f"only on {layout.name} ({len(areas)}): {', '.join(areas)}")
    if changed:
        heads = ("area", left.name, "edge", right.name, "edge ")
        rows = ((area, *left.cells(area), *right.cells(area)) for area in changed)
        show_table("", heads, rows, right=("edge", "edge "))
    return 0


def _names_editions(left: str, right: str | None) -> bool:
    """Whether two rulebooks are meant and not two layouts."""
    if right is None or "@" in left + right:
        return True
    (book, layout), (other, other_layout) = values.book_and_layout(left), values.book_and_layout(right)
    return layout is other_layout is None and book.id == other.id and book.digest != other.digest


def _compared_layout(text: str) -> ComparedLayout:
    book, layout = values.book_and_layout(text)
    matrix, chance = book.matrix(layout), book.chance()
    odds = {area.id: area for area in area_odds(matrix, chance)}
    return ComparedLayout(text if layout else f"{text}/{matrix.layout}", matrix, odds, chance_words(chance))
