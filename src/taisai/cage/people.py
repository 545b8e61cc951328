"""What takes two people at the House, and what nobody does to themselves: why a command is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taisai.cage import messages
from taisai.cage.house import House
from taisai.cage.messages import HouseCommand
from taisai.cage.values import lookup, same_person
from taisai.game.refusals import Reason, Refusal
from taisai.rules.clauses import Clause
from taisai.validation import quoted

_ACCESS: Final = Clause("house:access")
_PEOPLE: Final = Clause("house:people")


def by_two(house: House, command: HouseCommand, *, is_self: bool, opener: bool) -> Iterator[Refusal]:
    """Why one person may not do this to another, or to themselves."""
    match command:
        case messages.EnrolPerson():
            yield from _enrolling(house, command)
        case messages.UnlockPerson():
            yield from _unlocking(house, command)
        case messages.SetCredentials():
            yield from _replacing(house, command, is_self=is_self)
        case messages.DismissPerson():
            yield from _dismissing(house, command)
        case messages.IssueActivation() if command.second is not None or not opener:
            yield from second_person(house, command.second, command.by, command.person)
        case messages.CommitCredentials() if not is_self:
            message = f"only {quoted(command.person)} may set these credentials, not {quoted(command.by)}"
            yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
        case _:
            pass


def supervising(house: House, command: HouseCommand, rank: str) -> Iterator[Refusal]:
    """Why a person may not change a rank: it is their own, or above it."""
    person = getattr(command, "person", None)
    ranks = (house.second_rank, lookup(house.people, person), getattr(command, "rank", None))
    least = max((each for each in ranks if each in house.ladder), key=house.ladder.index)
    if house.ladder.index(rank) < house.ladder.index(least):
        message = f"only the {least} or a higher rank may do this, not {command.by!r} ({rank})"
        yield Refusal(Reason.NOT_PERMITTED, _PEOPLE, message)
    elif person == command.by:
        yield Refusal(Reason.NOT_PERMITTED, _PEOPLE, f"{person!r} cannot do this for themselves")


def _enrolling(house: House, command: messages.EnrolPerson) -> Iterator[Refusal]:
    """Why two people are needed to enrol a supervisor; the opener of the House enrols the first two alone."""
    alone = command.by == house.opened_by and not house.staffed and not house.guarded
    before = lookup(house.people, command.person)
    changed = before != command.rank  # a retry needs no consent
    supervises = house.supervising(command.rank) or (house.guarded and house.supervising(before))
    # A second person who is named without need is checked too: the event records them.
    if command.second is not None or (supervises and changed and not alone):
        yield from second_person(house, command.second, command.by, command.person)


def _dismissing(house: House, command: messages.DismissPerson) -> Iterator[Refusal]:
    """Why two people are needed to dismiss a supervisor."""
    supervises = house.guarded and house.supervising(lookup(house.people, command.person))
    if command.second is not None or supervises:
        yield from second_person(house, command.second, command.by, command.person)


def _unlocking(house: House, command: messages.UnlockPerson) -> Iterator[Refusal]:
    """Why a person may not unlock themselves, neither as the first nor as the second of two."""
    if same_person(command.by, command.person):
        message = f"{command.person!r} cannot do this for themselves"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
    yield from second_person(house, command.second, command.by, command.person)


def _replacing(house: House, command: messages.SetCredentials, *, is_self: bool) -> Iterator[Refusal]:
    """Why two people are needed to replace the credentials of a possible second person."""
    rank = lookup(house.people, command.person)
    replaced = rank is not None and command.person in house.credentials
    if command.second is not None or (replaced and house.supervising(rank) and not is_self):
        yield from second_person(house, command.second, command.by, command.person)


def second_person(house: House, second: str | None, *others: str) -> Iterator[Refusal]:
    """Why the second person is not accepted: not on the staff list, below the rank, or one of the others."""
    rank = lookup(house.people, second)
    if not house.supervising(rank) or any(same_person(second, other) for other in others):
        who = f"{quoted(second)}, {rank or 'not on the staff list'}" if second is not None else "no one"
        besides = " and ".join(quoted(other) for other in others)
        wanted = f"a second person besides {besides}, of the rank {house.second_rank} or above"
        yield Refusal(Reason.SECOND_PERSON, Clause("house:dual-control"), f"expected {wanted}, got {who}")
