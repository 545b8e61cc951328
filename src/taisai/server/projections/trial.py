"""Trying: would the table do it? Asked of the game itself, with a stand-in for every position of the ladder.

Nothing here knows a rule: `decide` is pure, so a command can be tried on the table as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final, NamedTuple, cast, overload

from taisai.game import Reason, Refusal, Table, decide
from taisai.game.commands import Command
from taisai.game.events import Event, IrregularityRuled
from taisai.game.rounds.past_rounds import PastRounds
from taisai.game.rounds.round import Round, RoundSettlement
from taisai.game.table import Person
from taisai.rules.clauses import Clause

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
