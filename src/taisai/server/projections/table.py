"""A table as everyone may see it, and its layouts with everything that a page needs to draw them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

import msgspec
from msgspec import Raw

from taisai.game import Table
from taisai.game.rounds.round import Round
from taisai.game.seating import live_table
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import Terms, family, limits_of
from taisai.game.vocabulary import SHAKER
from taisai.protocol import views
from taisai.protocol.views import Words
from taisai.rules.areas import Area, AreaId
from taisai.rules.layout import Block, Cell, Drawing
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import Outcome
from taisai.rules.pay import Condition, PayLine
from taisai.rules.procedure import CLOCK
from taisai.rules.vocabulary import Act, Phase, Visibility
from taisai.server.projections import texts
from taisai.server.projections.history import History, RoundLog
from taisai.study.odds import area_odds

_SWEPT: Final = frozenset({Phase.COLLECTED, Phase.PAID})
"""Phases in which losing bets are collected."""


def table_view(
    table: Table,
    history: History,
    *,
    countdown: views.CountdownView | None = None,
    since: int | None = None,
    log: RoundLog | None = None,
) -> views.TableView:
    """A table as everyone may see it. The caller gives the betting clock and the log of the latest round."""
    return views.TableView(
        table=_facts(table), limits=limits_view(table), round=_stand(table, since, log),
        countdown=countdown or countdown_view(table), dice=_dice(table, history), lit=lit(table),
        history=history.view(), stoppage=texts.stoppage_of(table), draw=_draw(table),
    )  # fmt: skip


def countdown_view(
    table: Table, closes_at: int | None = None, *, window: int = 0, is_up: bool = False
) -> views.CountdownView:
    """The view of the betting clock. The rulebook determines whether it closes bets."""
    since = None if closes_at is None else closes_at - window
    return views.CountdownView(closes_at=closes_at, since=since, prompt=not clock_closes(table), is_up=is_up)


def clock_closes(table: Table) -> bool:
    """Whether the betting clock closes bets. Otherwise it prompts the Dealer."""
    return any(
        step.act is Act.CLOSE_BETS and step.by == CLOCK
        for step in table.procedure.steps
        if step.when is None or step.when.holds(table.settings)
    )


def limits_view(table: Table) -> views.LimitsView:
    limits = table.limits
    lowest, highest = limits_range(table)
    return views.LimitsView(
        least=limits.least, most=limits.most, groups=dict(limits.groups), lowest=lowest, highest=highest,
        lines=tuple(_limit_lines(table, limits)),
    )  # fmt: skip


def limits_range(table: Table) -> tuple[int, int]:
    """The least minimum and the greatest maximum of any area."""
    pairs = [limits_of(table.limits, str(area)) for area in table.book.areas]
    return min(least for least, _ in pairs), max(most for _, most in pairs)


def _limit_lines(table: Table, limits: Limits) -> Iterator[views.LimitLine]:
    """A line for each group with limits of its own, then one for all others; none if all are the same."""
    areas = table.book.areas
    for name, (least, most) in limits.groups.items():
        area = areas.get(AreaId(name))
        label = texts.label_of(area) if area else texts.FAMILIES.get(name, Words(name, name))
        yield views.LimitLine(group=name, label=label, least=least, most=most)
    others = [area for area in areas if area not in limits.groups and family(area) not in limits.groups]
    if limits.groups and others:
        yield views.LimitLine(group="", label=texts.OTHERS, least=limits.least, most=limits.most)


def _facts(table: Table) -> views.TableFacts:
    return views.TableFacts(
        name=table.name, rulebook=table.book.id, title=texts.title_of(table.book),
        digest=table.book.digest, currency=table.currency, layouts=tuple(table.terms), layout=table.layout,
        kind=kind_of(table), demonstration=table.demonstration,
        stand_in=texts.STAND_IN if live_table(table) else None, means=tuple(table.means),
    )  # fmt: skip


def kind_of(table: Table) -> str:
    """'dice' or 'cards'."""
    return "cards" if table.shoe.used else "dice"


def _stand(table: Table, since: int | None, log: RoundLog | None) -> views.RoundStand:
    round_, phase = table.round, table.phase
    last = table.past(len(table.rounds)) if round_ is None else None
    is_over = last is not None and not last.voided
    if since is None and round_ is not None:
        since = round_.opened_at
    return views.RoundStand(
        number=round_.number if round_ else len(table.rounds),
        phase=str(phase),
        label=texts.phase_label(table, table.phase),
        bets_open=phase.bets_open,
        notice=_notice(table),
        since=since,
        collected=is_over or phase in _SWEPT,
        paid=is_over or phase is Phase.PAID,
        void=void_by(table, log) if last is not None and last.voided else None,
    )


def void_by(table: Table, log: RoundLog | None) -> str:
    """The clause by which a round is void; by default the rulebook's clause on void rounds."""
    return (log.void if log else None) or str(table.irregularities.void)


def _notice(table: Table) -> Words:
    """The message for players: first why they have to wait, if so."""
    if not table.open:
        return texts.CLOSED
    if table.held is not None:
        return texts.HOLDS[table.held.hold]
    phase = table.phase
    if phase.bets_open:
        return texts.PLACE_YOUR_BETS
    if phase is Phase.BETWEEN:
        return texts.SHUT if table.shut is not None else texts.NEXT_ROUND
    return texts.RESULT if table.round and table.round.result else texts.NO_MORE_BETS


def _dice(table: Table, history: History) -> views.DiceView:
    """The dice of the current round; between rounds of the last one."""
    kind, round_ = kind_of(table), table.round
    if round_ is None and history.last is not None:
        last = history.last
        past = table.past(last.number)
        source = source_of(past) if past and last.faces else None
        return views.DiceView(kind=kind, round=last.number, faces=last.faces, total=last.total, source=source)
    if round_ is None or round_.result is None:
        return views.DiceView(kind=kind, round=round_.number if round_ else None)
    return views.DiceView(
        kind=kind, round=round_.number, faces=texts.faces_of(round_.result), total=round_.result.total,
        source=source_of(round_),
    )  # fmt: skip


def source_of(round_: Round) -> Words:
    """The source of a result: the Dealer's entry, or a device whose reading the Dealer confirmed."""
    reading = round_.reading
    if reading is None or not reading.faces or round_.result is None:
        return texts.KEYED
    if sorted(reading.faces) != sorted(round_.result.faces):
        return texts.KEYED_OTHERWISE
    return texts.SHAKEN if reading.by == SHAKER else texts.READ


def lit(table: Table) -> dict[str, tuple[str, ...]]:
    """Layout → the winning areas, from the result until the next round opens or the lights are cleared."""
    round_ = table.round
    if round_ is None:
        is_cleared = any(step.act is Act.CLEAR_LIGHTS for step in table.procedure.steps)
        round_ = None if is_cleared else table.past(len(table.rounds))
        if round_ is None or round_.voided:
            return {}
    elif round_.phase.visibility is not Visibility.SHOWN:
        return {}
    return lit_areas(table.in_force[round_.terms], round_.result)


def lit_areas(terms: Mapping[str, Terms], outcome: Outcome | None) -> dict[str, tuple[str, ...]]:
    """Layout → the areas that an outcome illuminates; empty without an outcome."""
    if outcome is None:
        return {}
    return {layout: tuple(map(str, own.matrix.illuminated(outcome))) for layout, own in terms.items()}


def _draw(table: Table) -> views.DrawView:
    commitment, revealed = table.commitment, table.revealed
    return views.DrawView(
        commitment=commitment.commitment if commitment else None,
        round=commitment.round if commitment else None,
        revealed=views.Revealed(**revealed._asdict()) if revealed else None,
    )


MOST_DENOMINATIONS: Final = 7  # more would not fit on a terminal
MOST_FELTS: Final = 200  # encoded: the layouts of a large house, some 60 kB each
LONGEST_DENOMINATOR: Final = 10_000  # greater fractions are not shown
_BOTH: Final = "both"
_TOTALS: Final = frozenset({Condition.TOTAL, Condition.TOTAL_NOT_TRIPLE})


def felt_view(table: Table, layout: str | None = None, *, with_edges: bool = False) -> views.FeltView:
    """A layout of the table under the settings, odds and limits in force; by default the table's own."""
    name = table.book.layout_id(layout or table.layout)
    drawn, terms = table.book.layout(name), table.terms[name]
    edges = _edges(table, terms) if with_edges else {}
    drawings = {str(block.drawing) for block in drawn.blocks}
    return views.FeltView(
        table=table.name, rulebook=table.book.id, layout=name, clause=str(drawn.clause),
        terms=table.digest, wide=drawn.columns, tall=drawn.rows,
        drawn=drawings.pop() if len(drawings) == 1 else _BOTH,
        cells=tuple(cell for block in drawn.blocks for cell in _cells(block, terms.matrix)),
        areas=tuple(_area(table, terms, area, edges.get(area.id)) for area in terms.matrix.labels),
        denominations=denominations(table.limits.least, table.limits.most),
    )  # fmt: skip


_FELTS: Final[OrderedDict[tuple[str, str, str, int, bool], Raw]] = OrderedDict()
"""The layouts that were shown last, encoded: table, layout, digest of what is in force, decks, edges."""


def encoded_felt(table: Table, layout: str | None = None, *, with_edges: bool = False) -> Raw:
    """The same, encoded: once for everyone who asks while the same terms are in force."""
    name = table.book.layout_id(layout or table.layout)
    key = (table.name, name, table.digest, table.shoe.decks or 0, with_edges)
    felt = _FELTS.get(key)
    if felt is None:
        felt = _FELTS[key] = Raw(msgspec.json.encode(felt_view(table, name, with_edges=with_edges)))
        if len(_FELTS) > MOST_FELTS:
            _FELTS.popitem(last=False)
    return felt


def _cells(block: Block, matrix: Matrix) -> Iterator[views.FeltCell]:
    """Rows share a block's height; cells share their row's width."""
    tall = block.tall / len(block.rows)
    for n, row in enumerate(block.rows):
        share = block.wide / sum(cell.wide for cell in row)
        x, y = float(block.column - 1), block.row - 1 + n * tall
        for cell in row:
            yield views.FeltCell(
                x=round(x, 4), y=round(y, 4), wide=round(share * cell.wide, 4), tall=round(tall, 4),
                block=block.id, drawing=str(Drawing(block.drawing)), area=cell.area, odds_of=cell.odds_of,
                odds=_odds_text(matrix, cell.odds_of, cell.dice) if cell.odds_of else None,
                figures=cell.figures, note=_note(cell),
            )  # fmt: skip
            x += share * cell.wide


def _note(cell: Cell) -> Words | None:
    if cell.note is not None:
        return Words(cell.note.en, cell.note.zh)
    return texts.ON_DICE.get(cell.dice) if cell.dice is not None else None


def _odds_text(matrix: Matrix, area: str, dice: int | None) -> Words:
    odds = [texts.odds(win.odds) for win in matrix.wins[matrix.row(area)] if dice in (None, win.dice)]
    return Words(", ".join(text.en for text in odds), "、".join(text.zh for text in odds))


def _edges(table: Table, terms: Terms) -> dict[str, str]:
    """Area → the house edge over dice, or over a whole shoe."""
    areas = area_odds(terms.matrix, table.book.chance(decks=table.shoe.decks or None))
    return {area.id: _edge_text(area.house_edge) for area in areas}


def _edge_text(edge: Fraction) -> str:
    percent = f"{100 * float(edge):.2f} %"
    return f"{percent} ({edge})" if edge.denominator < LONGEST_DENOMINATOR else percent


def _area(table: Table, terms: Terms, area: Area, edge: str | None) -> views.FeltArea:
    matrix = terms.matrix
    row = matrix.row(area.id)
    lines = [line for line in table.book.pay_by_layout[terms.layout].table.lines if area.id in line.areas]
    return views.FeltArea(
        id=area.id,
        label=texts.label_of(area),
        family=family(area.id),
        numbers=area.numbers,
        odds=tuple(views.OddsLine(text=texts.odds(win.odds), dice=win.dice) for win in matrix.wins[row]),
        wins=_wins(table, area, lines),
        clause=str(lines[0].clause),
        says=matrix.texts[lines[0].clause].says if lines[0].clause in matrix.texts else "",
        least=terms.least[row],
        most=terms.most[row],
        step=terms.steps[row],
        edge=edge,
    )


def _wins(table: Table, area: Area, lines: list[PayLine]) -> Words:
    condition = lines[0].winning(table.settings).condition
    sentence = texts.CONDITIONS[condition]
    numbers, totals = list(area.numbers), condition in _TOTALS
    if totals and len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        listed = texts.filled(texts.RANGE, a=numbers[0], b=numbers[-1])
    else:
        joint = texts.OR if totals else texts.AND
        listed = Words(joint.en.join(map(str, numbers)), joint.zh.join(map(str, numbers)))
    return texts.filled(sentence, n=listed)


def denominations(least: int, most: int) -> tuple[int, ...]:
    """Chips of 1, 2 and 5 times powers of ten, from the minimum to the maximum."""
    chips: list[int] = []
    power = 1
    while power <= most and len(chips) < MOST_DENOMINATIONS:
        for figure in texts.DENOMINATIONS:
            if least <= figure * power <= most and len(chips) < MOST_DENOMINATIONS:
                chips.append(figure * power)
        power *= 10
    return tuple(chips) or (least,)
