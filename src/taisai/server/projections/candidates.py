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
from taisai.game.rounds.round import PastRounds, Round, RoundSettlement
from taisai.game.table import MOST_TEXT, Person
from taisai.protocol.views import Blank, Choice, Offer, Words
from taisai.rules.clauses import Clause
from taisai.server.projections import texts
from taisai.server.projections.final_acts import final_text

SECOND: Final = "second"
_BESIDE: Final = "(someone beside)"
"""The second person of every trial, in the highest position."""


class AcceptedTrial(NamedTuple):
    """A command that the table would accept."""

    by: tuple[str, ...]
    """The positions that may give it, lowest first."""
    clause: Clause
    second: bool
    """Whether it needs a second person."""
    events: tuple[Event, ...]
    """What would happen."""

    @property
    def irregular(self) -> bool:
        """Whether it would be ruled as an irregularity."""
        return any(isinstance(event, IrregularityRuled) for event in self.events)


class _Watched:
    """A stand-in that records whether the decision reads its position. If not, every position may act."""

    def __init__(self, position: str) -> None:
        self._position = position
        self.was_read = False

    @property
    def position(self) -> str:
        self.was_read = True
        return self._position

    rank = position


def stand_in(position: str) -> str:
    return f"(any {position})"


class TrialTable:
    """A copy of a table with one stand-in in every position."""

    def __init__(self, table: Table, now: int, staged: Table | None = None) -> None:
        """Valid until the table changes."""
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
        """The same with the people who are really there."""
        staged = copy(self._staged)
        staged.people = self.table.people | staged.people
        return TrialTable(self.table, self.now, staged)

    def without_bets(self) -> TrialTable:
        """The same without bets, which makes trials faster: offers to staff do not depend on bets."""
        staged = copy(self._staged)
        if staged.round is not None:
            staged.round = _emptied(staged.round)
        staged.rounds = cast("PastRounds", _Emptied(staged.rounds))
        return TrialTable(self.table, self.now, staged)

    def decided(self, kind: type[Command], by: str, fields: Mapping[str, Any]) -> tuple[Event, ...] | Refusal:
        return decide(self._staged, kind(at=self.now, by=by, **fields))

    def tried(
        self, kind: type[Command], fields: Mapping[str, Any], *, by: tuple[str, ...] | None = None
    ) -> AcceptedTrial | Refusal:
        """The positions that may give the command now; else the refusal of highest rank.

        `by` names actors that are not positions, such as the betting clock.
        """
        refusal: Refusal | None = None
        accepted: list[str] = []
        first: tuple[tuple[Event, ...], bool] | None = None
        self._lowest.was_read = False
        for name, actor in self._actors if by is None else tuple(zip(by, by, strict=True)):
            answer, needs_second = self._with_second(kind, actor, fields)
            if isinstance(answer, Refusal):
                if refusal is None or answer.reason.rank > refusal.reason.rank:
                    refusal = answer
                if answer.reason not in (Reason.NOT_PERMITTED, Reason.SECOND_PERSON):
                    break  # the refusal does not depend on the actor
                continue
            accepted.append(name)
            first = first or (answer, needs_second)
            if by is None and refusal is None and not self._lowest.was_read:
                accepted = list(self.positions)
                break
        if first is None or not first[0]:
            return refusal or Refusal(Reason.OUT_OF_ORDER, Clause("house:order"), "nothing would change")
        events, needs_second = first
        return AcceptedTrial(tuple(accepted), events[0].clause, needs_second, events)

    def _with_second(
        self, kind: type[Command], actor: str, fields: Mapping[str, Any]
    ) -> tuple[tuple[Event, ...] | Refusal, bool]:
        """The answer, with a second person if the command needs one."""
        answer = self.decided(kind, actor, fields)
        needs = isinstance(answer, Refusal) and answer.reason is Reason.SECOND_PERSON
        if needs and SECOND in kind.__struct_fields__:
            answer = self.decided(kind, actor, {**fields, SECOND: _BESIDE})
        return answer, needs


def _emptied(round_: Round) -> Round:
    empty = copy(round_)
    empty.bets, empty.gone, empty.columns, empty.totals, empty.kept_out = {}, set(), {}, {}, {}
    empty.staked = empty.counted = empty.returned = empty.bound = 0
    empty.outside, empty.tolerated = set(), set()
    if round_.settled is not None:
        empty.settled = RoundSettlement(0, 0, 0, 0, array("q", bytes(8 * len(round_.settled.by_purse))))
    return empty


class _Emptied(Sequence[Round]):
    def __init__(self, rounds: Sequence[Round]) -> None:
        self._rounds = rounds

    def __len__(self) -> int:
        return len(self._rounds)

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        rounds = self._rounds[place]
        return _emptied(rounds) if isinstance(rounds, Round) else _Emptied(rounds)

    def glance(self, number: int) -> Round:
        """A round by its number, without its bets."""
        return _emptied(cast("PastRounds", self._rounds).glance(number))


def faces_blank(table: Table, field: str = "faces", *, optional: bool = False) -> Blank:
    label = texts.CARDS_SHOW if table.shoe.used else texts.DICE_SHOW
    return Blank(
        field=field, kind="faces", label=label if field == "faces" else texts.FIELDS[field], least=1, most=6,
        optional=optional,
    )  # fmt: skip


def number_blank(field: str, least: int, most: int, *, optional: bool = False) -> Blank:
    return Blank(
        field=field, kind="whole", label=texts.FIELDS[field], least=least, most=most, optional=optional
    )


def text_blank(field: str, *, optional: bool = False, most: int = MOST_TEXT) -> Blank:
    return Blank(
        field=field, kind="text", label=texts.FIELDS[field], least=0 if optional else 1, most=most,
        optional=optional,
    )  # fmt: skip


def yes_no_blank(field: str, *, optional: bool = False) -> Blank:
    return Blank(field=field, kind="yes-no", label=texts.FIELDS[field], optional=optional)


def choice_blank(field: str, choices: Iterable[tuple[str, Words]], *, optional: bool = False) -> Blank:
    offered = tuple(Choice(value=value, label=label) for value, label in choices)
    return Blank(field=field, kind="choice", label=texts.FIELDS[field], choices=offered, optional=optional)


def special_blank(field: str, kind: str, *, optional: bool = False) -> Blank:
    """A value with a form of its own, such as limits."""
    return Blank(field=field, kind=kind, label=texts.FIELDS[field], optional=optional)


def second_blank(table: Table, rank: str | None = None) -> Blank:
    """A second person who must approve. Default of `rank`: the lowest rank of second persons."""
    ladder = table.ranks.ranks()
    able = ladder[ladder.index(rank or table.ranks.second) :]
    offered = tuple(Choice(value=rank, label=texts.rank_label(table, rank)) for rank in able)
    return Blank(field="second", kind="second", label=texts.FIELDS["second"], choices=offered)


def round_blank(table: Table, field: str = "round", *, optional: bool = False) -> Blank:
    newest = len(table.rounds) + (table.round is not None)
    return number_blank(field, 1, max(1, newest), optional=optional)


def past_round_blank(table: Table, suggested: Iterable[int]) -> Blank:
    """The number of an earlier round, with the latest ones as choices."""
    choices = tuple(Choice(value=str(number), label=Words(str(number), str(number))) for number in suggested)
    return Blank(
        field="round", kind="whole", label=texts.FIELDS["round"], least=1, most=len(table.rounds),
        choices=choices,
    )  # fmt: skip


Fields = Mapping[str, Any]
LOOK_BACK: Final = 10
"""The number of latest rounds that are tried and listed. Other rounds can be named too."""
MOST_SEATS: Final = 200  # listed to choose from
REASON: Final = "a reason"


class Candidate(NamedTuple):
    """A command that may be possible now."""

    kind: type[Command]
    preset: Fields
    label: Words
    blanks: tuple[Blank, ...] = ()
    trials: Iterable[Fields] = ({},)
    """Values for the blanks. The command is offered if the table would accept one of them."""
    by: tuple[str, ...] | None = None
    """Actors that are not positions."""
    second: str | None = None
    """The rank of the second person, if it is not the usual one."""
    takes_two: bool = False
    """Whether the form has a second person although not all values need one."""
    then: Words | None = None
    """What follows from it."""
    is_report: bool = False
    """Whether it reports an irregularity. Other commands are not offered if they would be one."""


def offered(stage: TrialTable, candidate: Candidate) -> Offer | None:
    """The offer of a candidate; None if the table would refuse it."""
    for trial in candidate.trials:
        accepted = stage.tried(candidate.kind, {**candidate.preset, **trial}, by=candidate.by)
        if isinstance(accepted, AcceptedTrial) and (candidate.is_report or not accepted.irregular):
            needs_second = accepted.second or candidate.takes_two
            extra = (second_blank(stage.table, candidate.second),) if needs_second else ()
            tag = tag_of(candidate.kind)
            return Offer(
                command=tag, preset=msgspec.to_builtins(dict(candidate.preset)),
                blanks=(*candidate.blanks, *extra), by=accepted.by, clause=str(accepted.clause),
                label=candidate.label, then=candidate.then, final=final_text(tag, candidate.preset),
            )  # fmt: skip
    return None
