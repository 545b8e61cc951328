"""Whatever is asked at the House's door: nobody comes in who may not, and no lock is undone alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from taisai.cage import House, access, people
from taisai.cage import decide as cage
from taisai.cage import house as cage_state
from taisai.cage.messages import (
    HOUSE_COMMANDS,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    NoteFailure,
    NoteSignIn,
    SetCredentials,
)
from taisai.game.vocabulary import FLOOR
from tests.game.house_access import BY_FLOOR, EACH_TIME, NOON
from tests.game.houses import BEGINNING, SCRIPT, Watched, replayed, watched
from tests.game.random_house_commands import AT_THE_CAGE, JUNK, SENSIBLE, asked

DOOR = [kind for kind in HOUSE_COMMANDS if kind not in AT_THE_CAGE]
BY_FEW = SENSIBLE | {
    "by": st.sampled_from(["max", "max", "sue", "owner", "ann"]),
    "second": st.sampled_from(["sue", "max", "ann", None]),
    "person": st.sampled_from(["ann", "sue", "ANN", "eve"]),
}
COMMANDS = st.one_of([asked(kind, BY_FEW) for kind in DOOR])
STAFFING = asked(EnrolPerson, BY_FEW) | asked(DismissPerson, BY_FEW)
JUNK_COMMANDS = st.one_of(
    [asked(kind, SENSIBLE | {name: JUNK}) for kind in DOOR for name in kind.__struct_fields__]
)


class DoorMachine(RuleBasedStateMachine):
    """A House whose door is asked anything."""

    def __init__(self) -> None:
        super().__init__()
        self.under = Watched()
        self.asked: list[HouseCommand] = []

    @initialize()
    def begin(self) -> None:
        known = [SetCredentials(at=NOON, by=one, person=one) for one in ("ann", "sue")]
        for command in (*BEGINNING, *known):
            self.under.ask(command)

    @rule(commands=st.lists(COMMANDS, min_size=1, max_size=8))
    def ask(self, commands: list[HouseCommand]) -> None:
        for command in commands:
            self.under.ask(command)
            # A failure counts as often as it is told, and every restored copy of a journal is noted.
            if not isinstance(command, EACH_TIME) and not getattr(command, "restored", False):
                self.asked.append(command)

    @rule(commands=st.lists(STAFFING, min_size=1, max_size=3))
    def change_the_roll(self, commands: list[HouseCommand]) -> None:
        for command in commands:
            self.under.ask(command)

    @rule(
        person=st.sampled_from(["ann", "ANN", "sue"]),
        failures=st.integers(1, 4),
        then=st.lists(COMMANDS | STAFFING, max_size=3),
    )
    def fail_and_come_in(self, person: str, failures: int, then: list[HouseCommand]) -> None:
        failed = NoteFailure(person=person, address="10.0.0.7", why="code", **BY_FLOOR)
        entering = NoteSignIn(person=person.lower(), session="4", address="10.0.0.7", **BY_FLOOR)
        for command in (entering, *[failed] * failures, *then, entering):
            self.under.ask(command)

    @rule(command=JUNK_COMMANDS)
    def ask_junk(self, command: HouseCommand) -> None:
        self.under.ask(command)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def retry_at_once(self, data: st.DataObject) -> None:
        command = data.draw(st.sampled_from(self.asked))
        self.under.ask(command)
        before = len(self.under.events)
        again = self.under.ask(command)
        assert len(self.under.events) == before, f"a retry of {command} gave {again}"

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.under.faults == []

    def teardown(self) -> None:
        if not self.under.faults:
            assert replayed(self.under.events) == self.under.house


TestDoor = DoorMachine.TestCase
TestDoor.settings = settings(stateful_step_count=25)  # most of which ask for several things


@given(st.lists(COMMANDS | JUNK_COMMANDS, max_size=40))
def test_before_the_opening_and_after_nothing_asked_is_ever_wrong(commands: list[HouseCommand]) -> None:
    assert watched(commands).faults == []


Patch = Callable[[pytest.MonkeyPatch], None]


def _never_lock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "consequences", lambda *_: ())


def _lock_a_failure_later(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(access, "MOST_FAILURES", 4)


def _let_the_locked_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(access, "_unknown_or_locked", lambda *_: ())


def _take_letters_for_strangers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(House, "called", lambda house, name: name if name in house.people else None)


def _unlock_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "_unlocking", lambda *_: ())


def _replace_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "_replacing", lambda *_, **__: ())


def _keep_who_left(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage_state, "forget_person", lambda *_: None)


def _share_seats_and_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(access, "_enrollable", lambda *_: ())


def _anyone_is_the_server(patch: pytest.MonkeyPatch) -> None:
    actors = {who: actor for who, actor in cage._ACTORS.items() if actor[0] != FLOOR}
    patch.setattr(cage, "_ACTORS", actors)


def _know_no_retry(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cage, "access_retry", lambda *_: False)


SABOTAGES = [
    _never_lock, _lock_a_failure_later, _let_the_locked_in, _take_letters_for_strangers, _unlock_alone,
    _replace_alone, _keep_who_left, _share_seats_and_names, _anyone_is_the_server, _know_no_retry,
]  # fmt: skip


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.__name__.strip("_"))
def test_sabotage_is_seen_by_the_script(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    assert watched(SCRIPT).faults


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.__name__.strip("_"))
def test_sabotage_is_found_by_the_machine(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    search = settings(
        max_examples=300, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(DoorMachine, settings=search)


def test_sabotage_access_that_raises_on_junk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cage, access):
        monkeypatch.setattr(module, "lookup", lambda kept, key: kept.get(key))

    @settings(max_examples=1_000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(JUNK_COMMANDS)
    def search(command: HouseCommand) -> None:
        assert watched([*BEGINNING, command]).faults == []

    with pytest.raises(AssertionError):
        search()
