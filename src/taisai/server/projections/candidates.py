"""Candidates of offers: commands that may be possible now. Each is tried at the table before it is offered.

Nothing here knows a rule: `decide` is pure, so a command can be tried on the table as it is, by a stand-in
for each position.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Final, NamedTuple, cast, overload

import msgspec

from taisai.game import Reason, Refusal, Table, decide
from taisai.game.commands import Command
from taisai.game.events import Event, IrregularityRuled
from taisai.game.messages import tag_of
from taisai.game.rounds.past_rounds import PastRounds
from taisai.game.rounds.round import Round, RoundSettlement
from taisai.game.table import MOST_TEXT, Person
from taisai.protocol.views import Blank, Choice, Offer, Words
from taisai.rules.clauses import Clause
from taisai.server.projections import texts
from taisai.server.projections.labels import rank_label

SECOND: Final = "second"
_BESIDE: Final = "(someone beside)"
"""The second person of every trial, of the highest position."""


class AcceptedTrial(NamedTuple):
    """A command that would be done."""

    by: tuple[str, ...]
    """The positions that may do it, lowest first."""
    clause: Clause
    second: bool
    """Whether it takes a second person."""
    irregular: bool
    """Whether the document makes an irregularity of it."""


class _Watched:
    """A stand-in who notices when someone asks for his position: where nobody does, any other will do."""

    def __init__(self, position: str) -> None:
        self._position = position
        self.was_asked = False

    @property
    def position(self) -> str:
        """Where he stands in."""
        self.was_asked = True
        return self._position

    rank = position


def stand_in(position: str) -> str:
    """The name under which a position tries things."""
    return f"(any {position})"


class TrialTable:
    """A table with someone in every position, and nobody else."""

    def __init__(self, table: Table, now: int, staged: Table | None = None) -> None:
        """Good until the table changes."""
        self.table = table
        self.now = now
        self.positions = table.ranks.ranks()
        self._actors = tuple((rank, stand_in(rank)) for rank in self.positions)
        self._staged = staged or self._with_stand_ins()
        self._lowest = cast("_Watched", self._staged.people[self._actors[0][1]])

    def _with_stand_ins(self) -> Table:
        staged = copy(self.table)
        staged.people = {stand_in(rank): Person(rank, rank) for rank in self.positions}
        staged.people[self._actors[0][1]] = cast("Person", _Watched(self.positions[0]))
        staged.people[_BESIDE] = Person(self.positions[-1], self.positions[-1])
        return staged

    def with_people(self) -> TrialTable:
        """The same with those who are really there."""
        staged = copy(self._staged)
        staged.people = self.table.people | staged.people
        return TrialTable(self.table, self.now, staged)

    def without_bets(self) -> TrialTable:
        """The same with no bets in any round: what is asked of people does not hang on them."""
        staged = copy(self._staged)
        if staged.round is not None:
            staged.round = _emptied(staged.round)
        staged.rounds = cast("PastRounds", _Emptied(staged.rounds))
        return TrialTable(self.table, self.now, staged)

    def asked(self, kind: type[Command], by: str, fields: Mapping[str, Any]) -> tuple[Event, ...] | Refusal:
        """What a command of someone would come to."""
        return decide(self._staged, kind(at=self.now, by=by, **fields))

    def tried(
        self, kind: type[Command], fields: Mapping[str, Any], *, by: tuple[str, ...] | None = None
    ) -> AcceptedTrial | Refusal:
        """Whether some position may do it now; else why the one that comes nearest may not.

        `by` names actors that are no positions, such as the betting clock.
        """
        wrong: Refusal | None = None
        accepted: list[str] = []
        found: tuple[tuple[Event, ...], bool] | None = None
        self._lowest.was_asked = False
        for name, actor in self._actors if by is None else tuple((one, one) for one in by):
            answer, needs_second = self._with_second(kind, actor, fields)
            if isinstance(answer, Refusal):
                wrong = _nearer(wrong, answer)
                if answer.reason is not Reason.NOT_PERMITTED:
                    break  # it is not about who asks
                continue
            accepted.append(name)
            found = found or (answer, needs_second)
            if by is None and wrong is None and not self._lowest.was_asked:
                accepted = list(self.positions)
                break
        if found is None or not found[0]:
            return wrong or Refusal(Reason.OUT_OF_ORDER, Clause("house:order"), "expected a change, got none")
        events, needs_second = found
        irregular = any(isinstance(event, IrregularityRuled) for event in events)
        return AcceptedTrial(tuple(accepted), events[0].clause, needs_second, irregular)

    def _with_second(
        self, kind: type[Command], actor: str, fields: Mapping[str, Any]
    ) -> tuple[tuple[Event, ...] | Refusal, bool]:
        """The answer, without a second person where that does, else with one."""
        answer = self.asked(kind, actor, fields)
        needs = isinstance(answer, Refusal) and answer.reason is Reason.SECOND_PERSON
        if needs and SECOND in kind.__struct_fields__:
            answer = self.asked(kind, actor, {**fields, SECOND: _BESIDE})
        return answer, needs


def _nearer(one: Refusal | None, other: Refusal) -> Refusal:
    return other if one is None or other.reason.rank > one.reason.rank else one


def _emptied(round_: Round) -> Round:
    """A round as it stands, but for its bets."""
    empty = copy(round_)
    empty.bets, empty.gone, empty.columns, empty.totals, empty.kept_out = {}, set(), {}, {}, {}
    empty.staked = empty.counted = empty.returned = empty.bound = 0
    empty.outside, empty.tolerated = set(), set()
    if round_.settled is not None:
        empty.settled = RoundSettlement(0, 0, 0, 0, array("q", bytes(8 * len(round_.settled.by_purse))))
    return empty


class _Emptied(Sequence[Round]):
    """Rounds that are over, without their bets."""

    def __init__(self, rounds: Sequence[Round]) -> None:
        self._rounds = rounds

    def __len__(self) -> int:
        return len(self._rounds)

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        found = self._rounds[place]
        return _emptied(found) if isinstance(found, Round) else _Emptied(found)


def faces_blank(table: Table, field: str = "faces", *, optional: bool = False) -> Blank:
    """Three faces."""
    label = texts.CARDS_SHOW if table.shoe.used else texts.DICE_SHOW
    return Blank(
        field=field, kind="faces", label=label if field == "faces" else texts.FIELDS[field], least=1, most=6,
        optional=optional,
    )  # fmt: skip


def number_blank(field: str, least: int, most: int, *, optional: bool = False) -> Blank:
    """A whole number."""
    return Blank(
        field=field, kind="whole", label=texts.FIELDS[field], least=least, most=most, optional=optional
    )


def text_blank(field: str, *, optional: bool = False, most: int = MOST_TEXT) -> Blank:
    """Some words."""
    return Blank(
        field=field, kind="text", label=texts.FIELDS[field], least=0 if optional else 1, most=most,
        optional=optional,
    )  # fmt: skip


def yes_no_blank(field: str, *, optional: bool = False) -> Blank:
    """Yes or no."""
    return Blank(field=field, kind="yes-no", label=texts.FIELDS[field], optional=optional)


def choice_blank(field: str, choices: Iterable[tuple[str, Words]], *, optional: bool = False) -> Blank:
    """One of several."""
    offered = tuple(Choice(value=value, label=label) for value, label in choices)
    return Blank(field=field, kind="choice", label=texts.FIELDS[field], choices=offered, optional=optional)


def special_blank(field: str, kind: str, *, optional: bool = False) -> Blank:
    """Something that has a form of its own."""
    return Blank(field=field, kind=kind, label=texts.FIELDS[field], optional=optional)


def second_blank(table: Table, rank: str | None = None) -> Blank:
    """A second person, who has to approve it himself: of the rank that dual control asks, unless said."""
    ladder = table.ranks.ranks()
    able = ladder[ladder.index(rank or table.ranks.second) :]
    offered = tuple(Choice(value=rank, label=rank_label(table, rank)) for rank in able)
    return Blank(field="second", kind="second", label=texts.FIELDS["second"], choices=offered)


def round_blank(table: Table, field: str = "round", *, optional: bool = False) -> Blank:
    """The number of a round."""
    newest = len(table.rounds) + (table.round is not None)
    return number_blank(field, 1, max(1, newest), optional=optional)


def past_round_blank(table: Table, suggested: Iterable[int]) -> Blank:
    """The number of a round that is over, the latest ones listed."""
    choices = tuple(Choice(value=str(one), label=Words(str(one), str(one))) for one in suggested)
    return Blank(
        field="round", kind="whole", label=texts.FIELDS["round"], least=1, most=len(table.rounds),
        choices=choices,
    )  # fmt: skip


Fields = Mapping[str, Any]
LOOK_BACK: Final = 10
"""Rounds among which one is looked for that can be corrected; any other may be named too."""
MOST_SEATS: Final = 200  # that are listed to choose from
REASON: Final = "a reason"


class Candidate(NamedTuple):
    """A command that might be done now."""

    kind: type[Command]
    preset: Fields
    label: Words
    blanks: tuple[Blank, ...] = ()
    trials: Iterable[Fields] = ({},)
    """What the blanks are tried with: it is offered where one of these would be done."""
    by: tuple[str, ...] | None = None
    """Actors that are no positions."""
    second: str | None = None
    """The rank of the second person, where it is not the usual one."""
    takes_two: bool = False
    """Whether a second person is asked for, though not every way to fill it in would need one."""
    then: Words | None = None
    """What follows from it."""
    is_report: bool = False
    """Whether it reports an irregularity; else it may not be one."""


def offered(stage: TrialTable, one: Candidate) -> Offer | None:
    """The offer, where the table would do it."""
    for trial in one.trials:
        found = stage.tried(one.kind, {**one.preset, **trial}, by=one.by)
        if isinstance(found, AcceptedTrial) and (one.is_report or not found.irregular):
            extra = (second_blank(stage.table, one.second),) if found.second or one.takes_two else ()
            return Offer(
                command=tag_of(one.kind),
                preset=msgspec.to_builtins(dict(one.preset)),
                blanks=(*one.blanks, *extra),
                by=found.by,
                clause=str(found.clause),
                label=one.label,
                then=one.then,
            )
    return None
