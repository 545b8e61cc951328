"""A table as everyone may see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taisai.game import Table
from taisai.game.rounds.round import Round
from taisai.game.seating.sessions import live_table
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import family, limits_of
from taisai.game.vocabulary import SHAKER
from taisai.protocol.views import (
    CountdownView,
    DiceView,
    DrawView,
    LimitLine,
    LimitsView,
    Revealed,
    RoundStand,
    TableFacts,
    TableView,
    Words,
)
from taisai.rules.areas import AreaId
from taisai.rules.vocabulary import Act, Phase, Visibility
from taisai.server.projections import texts
from taisai.server.projections.betting_time import countdown_view
from taisai.server.projections.history import History
from taisai.server.projections.labels import board_of, faces_of, phase_label, title_of
from taisai.server.projections.round_log import RoundLog

_SWEPT: Final = frozenset({Phase.COLLECTED, Phase.PAID})
"""When losing bets are off the layout."""


def table_view(
    table: Table,
    history: History,
    *,
    countdown: CountdownView | None = None,
    since: int | None = None,
    log: RoundLog | None = None,
) -> TableView:
    """A table; the betting clock's word comes from outside, as does the log of its latest round."""
    return TableView(
        table=_facts(table),
        limits=limits_view(table),
        round=_stand(table, since, log),
        countdown=countdown or countdown_view(table),
        dice=_dice(table, history),
        lit=lit(table),
        history=history.view(),
        board=board_of(table),
        draw=_draw(table),
    )


def limits_view(table: Table) -> LimitsView:
    """The limits, with the least and the most that any area takes."""
    limits = table.limits
    lowest, highest = limits_range(table)
    return LimitsView(
        least=limits.least, most=limits.most, groups=dict(limits.groups), lowest=lowest, highest=highest,
        lines=tuple(_limit_lines(table, limits)),
    )  # fmt: skip


def limits_range(table: Table) -> tuple[int, int]:
    """The least minimum and the greatest maximum of any area."""
    pairs = [limits_of(table.limits, str(area)) for area in table.book.areas]
    return min(least for least, _ in pairs), max(most for _, most in pairs)


def _limit_lines(table: Table, limits: Limits) -> Iterator[LimitLine]:
    """Each group that has limits of its own, by its name, then all others; none where they are all alike."""
    areas = table.book.areas
    for name, (least, most) in limits.groups.items():
        area = areas.get(AreaId(name))
        label = Words(area.label, area.label_zh) if area else texts.FAMILIES.get(name, Words(name, name))
        yield LimitLine(group=name, label=label, least=least, most=most)
    others = [area for area in areas if area not in limits.groups and family(area) not in limits.groups]
    if limits.groups and others:
        yield LimitLine(group="", label=texts.OTHERS, least=limits.least, most=limits.most)


def _facts(table: Table) -> TableFacts:
    return TableFacts(
        name=table.name,
        rulebook=table.book.id,
        title=title_of(table),
        digest=table.book.digest,
        currency=table.currency,
        layouts=tuple(table.terms),
        layout=table.layout,
        kind=kind_of(table),
        demonstration=table.demonstration,
        stand_in=texts.STAND_IN if live_table(table) else None,
        means=tuple(table.means),
    )


def kind_of(table: Table) -> str:
    """'dice' or 'cards'."""
    return "cards" if table.shoe.used else "dice"


def _stand(table: Table, since: int | None, log: RoundLog | None) -> RoundStand:
    round_, phase = table.round, table.phase
    last = table.past(len(table.rounds)) if round_ is None else None
    is_over = last is not None and not last.voided
    if since is None and round_ is not None:
        since = round_.opened_at
    return RoundStand(
        number=round_.number if round_ else len(table.rounds),
        phase=str(phase),
        label=phase_label(table),
        bets_open=phase.bets_open,
        notice=_notice(table),
        since=since,
        collected=is_over or phase in _SWEPT,
        paid=is_over or phase is Phase.PAID,
        void=void_by(table, log) if last is not None and last.voided else None,
    )


def void_by(table: Table, log: RoundLog | None) -> str:
    """The clause by which a round is void; where nobody remembers it, that of every void round."""
    return (log.void if log else None) or str(table.irregularities.void)


def _notice(table: Table) -> Words:
    """What players are told: why they have to wait, if they have, comes first."""
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


def _dice(table: Table, history: History) -> DiceView:
    """Of the round in hand; between rounds, of the last one."""
    kind, round_ = kind_of(table), table.round
    if round_ is None and history.last is not None:
        last = history.last
        past = table.past(last.number)
        source = source_of(past) if past and last.faces else None
        return DiceView(kind=kind, round=last.number, faces=last.faces, total=last.total, source=source)
    if round_ is None or round_.result is None:
        return DiceView(kind=kind, round=round_.number if round_ else None)
    return DiceView(
        kind=kind, round=round_.number, faces=faces_of(round_.result), total=round_.result.total,
        source=source_of(round_),
    )  # fmt: skip


def source_of(round_: Round) -> Words:
    """Where a result came from: the Dealer's keys, or a device that he confirmed."""
    reading = round_.reading
    if reading is None or not reading.faces or round_.result is None:
        return texts.KEYED
    if sorted(reading.faces) != sorted(round_.result.faces):
        return texts.KEYED_OTHERWISE
    return texts.SHAKEN if reading.by == SHAKER else texts.READ


def lit(table: Table) -> dict[str, tuple[str, ...]]:
    """Layout → the winning areas, from the result until the next round opens, or the lights are cleared."""
    round_ = table.round
    if round_ is None:
        round_ = None if _clears_lights(table) else table.past(len(table.rounds))
        if round_ is None or round_.result is None or round_.voided:
            return {}
    elif round_.result is None or round_.phase.visibility is not Visibility.SHOWN:
        return {}
    terms = table.in_force[round_.terms]
    return {layout: tuple(map(str, one.matrix.illuminated(round_.result))) for layout, one in terms.items()}


def _clears_lights(table: Table) -> bool:
    """Whether the document has the lights cleared before the next round."""
    return any(step.act is Act.CLEAR_LIGHTS for step in table.procedure.steps)


def _draw(table: Table) -> DrawView:
    open_, told = table.commitment, table.revealed
    return DrawView(
        commitment=open_.commitment if open_ else None,
        round=open_.round if open_ else None,
        revealed=Revealed(
            round=told.round, seed=told.seed, shake=told.shake, close=told.close, hash=told.hash,
            faces=told.faces,
        )
        if told
        else None,
    )  # fmt: skip
