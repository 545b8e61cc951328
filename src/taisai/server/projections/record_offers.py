"""Corrections of the record of the chips: how they are offered, and their texts in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from taisai.game import Table, commands
from taisai.game.rounds.round import Round
from taisai.game.vocabulary import Means, RecordChange
from taisai.protocol.views import Blank, Words
from taisai.server.projections import texts
from taisai.server.projections.candidates import (
    LOOK_BACK,
    MOST_SEATS,
    REASON,
    Candidate,
    Fields,
    choice_blank,
    past_round_blank,
    special_blank,
    text_blank,
)

CORRECT_RECORD_EARLIER: Final = Words("Correct the record of an earlier round", "更正先前一局的筹码记录")
RECORD_CHANGES: Final[Mapping[RecordChange, Words]] = {
    RecordChange.ADD: Words("a chip was not recorded", "有筹码未被记录"),
    RecordChange.REMOVE: Words("a recorded chip was not there", "记录的筹码并不存在"),
    RecordChange.STAKE: Words("the stake was another", "注额有误"),
    RecordChange.SEAT: Words("the chip was another player's", "筹码属于另一玩家"),
    RecordChange.AREA: Words("the chip lay on another area", "筹码在另一投注区"),
    RecordChange.SPLIT: Words(
        "a part lay elsewhere, or was another player's", "部分筹码在别处或属于另一玩家"
    ),
}
PART_STAKE: Final = Words("Stake of the part. Colour chips in pieces", "该部分的注额；彩色筹码按枚")
PART_AREA: Final = Words("Area on which the part lay, if another", "该部分所在的投注区（如不同）")
PART_SEAT: Final = Words("Seat of the part's player, if another", "该部分玩家的座位（如不同）")
RECORD_ALARM: Final = Words(
    "{by} corrected the record of round {round}: {change}. {reason}",
    "{by} 更正了第 {round} 局的记录：{change}。{reason}",
)
MEANS: Final[Mapping[Means, Words]] = {
    Means.CREDITS: Words("credits", "点数"),
    Means.CASH_CHIPS: Words("cash chips", "现金筹码"),
    Means.PLAQUES: Words("plaques", "筹码牌"),
    Means.COLOUR_CHIPS: Words("colour chips", "彩色筹码"),
    Means.CASH: Words("cash", "现金"),
}


def records(table: Table) -> Iterator[Candidate]:
    """Corrections of the record of the chips, in the current round or an earlier one."""
    if table.book.record is None:
        return
    rounds = [table.round] if table.round is not None else []
    for round_ in rounds:
        yield Candidate(
            commands.CorrectRecord,
            {"round": round_.number},
            texts.COMMANDS["correct-record"],
            tuple(_record_blanks(table, round_)),
            tuple(_record_trials(table, round_)),
        )
    past = range(len(table.rounds), max(0, len(table.rounds) - LOOK_BACK), -1)
    rounds_over = [over for number in past if (over := table.past(number))]
    played = [over for over in rounds_over if over.settled is not None and not over.voided]
    if played:
        yield Candidate(
            commands.CorrectRecord,
            {},
            CORRECT_RECORD_EARLIER,
            (past_round_blank(table, [over.number for over in played]), *_record_blanks(table, played[0])),
            tuple(
                {"round": over.number, **trial} for over in played for trial in _record_trials(table, over)
            ),
        )


def _record_blanks(table: Table, round_: Round) -> Iterator[Blank]:
    """What was wrong, and what the chosen change needs."""
    yield choice_blank("change", ((str(change), RECORD_CHANGES[change]) for change in RecordChange))
    seats = [(seat, Words(seat, seat)) for seat in list(round_.seated)[:MOST_SEATS]]
    chips = [(str(means), MEANS[Means(means)]) for means in table.means]
    matrix = table.terms[table.layout].matrix
    areas = [(str(area), texts.label_of(matrix.labels[matrix.row(area)])) for area in matrix.areas]
    recorded = [change for change in RecordChange if change is not RecordChange.ADD]
    yield _only(special_blank("id", "bet"), *recorded)
    yield _only(choice_blank("seat", seats), RecordChange.ADD, RecordChange.SEAT)
    yield _only(choice_blank("means", chips), RecordChange.ADD)
    yield _only(choice_blank("area", areas), RecordChange.ADD, RecordChange.AREA)
    yield _only(special_blank("stake", "amount"), RecordChange.ADD, RecordChange.STAKE)
    part = special_blank("stake", "amount")
    yield _only(replace(part, label=PART_STAKE), RecordChange.SPLIT)
    yield _only(replace(choice_blank("area", areas, optional=True), label=PART_AREA), RecordChange.SPLIT)
    yield _only(replace(choice_blank("seat", seats, optional=True), label=PART_SEAT), RecordChange.SPLIT)
    yield text_blank("reason")
    yield text_blank("evidence")


def _only(blank: Blank, *changes: RecordChange) -> Blank:
    """A blank that is asked for with these changes only."""
    return replace(blank, when={"change": tuple(map(str, changes))})


def _record_trials(table: Table, round_: Round) -> Iterator[Fields]:
    """A chip of each player on the first area, the least that may lie there."""
    terms = table.in_force[round_.terms][table.layout]
    step = terms.steps[0]
    stake = -(-terms.least[0] // step) * step
    for seat in list(round_.seated)[:MOST_SEATS]:
        yield {
            "change": RecordChange.ADD, "seat": seat, "means": Means.CASH_CHIPS,
            "area": str(terms.matrix.areas[0]), "stake": stake, "reason": REASON, "evidence": REASON,
        }  # fmt: skip
