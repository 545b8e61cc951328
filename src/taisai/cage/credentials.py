"""Credentials of the House's people: activation codes, commitments, and the supervisors who always remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.cage import messages
from taisai.cage.messages import HouseCommand, HouseEvent
from taisai.cage.values import clock, lookup, same_person
from taisai.game.refusals import Reason, Refusal
from taisai.rules.clauses import Clause
from taisai.validation import quoted

if TYPE_CHECKING:
    from taisai.cage.house import House

LEAST_REMAINING: Final = 2  # supervisors who can sign in: a code for a third one takes two people
LONGEST_ACTIVATION: Final = 24 * 3_600_000  # ms: until the person's next shift begins
SLOW_CLOCK: Final = 60_000  # ms that a clock may be set back after a code was given
MOST_TRIES: Final = 5  # wrong codes of one activation: typing errors, but no search
WRONG_ACTIVATION: Final = "activation"
"""Why a sign-in failed, in the journal: somebody typed a wrong activation code."""
ALTERED: Final = "altered"
"""Likewise: the stored credentials are not those that the person set."""
WRONG_PASSKEY: Final = "passkey"
"""Likewise: no passkey of the person signed the challenge. Anyone can send that, so it locks nobody."""

_ADMINISTRATOR: Final = "administrator"
_ACCESS: Final = Clause("house:access")
_PEOPLE: Final = Clause("house:people")


class Activation(NamedTuple):
    """A code for a first sign-in that is not used yet."""

    code: str
    """The keyed hash of the code."""
    until: int
    failures: int = 0


def is_valid_at(activation: Activation, now: int) -> bool:
    """Whether a code can be used: one that was given under a clock that was ahead ends with that clock."""
    return 0 < activation.until - now <= LONGEST_ACTIVATION + SLOW_CLOCK


class RecoveredAccess(NamedTuple):
    """When and why access was recovered for a person at the command line."""

    at: int
    reason: str


def can_sign_in(house: House) -> list[str]:
    """People of supervising rank who have credentials and are not locked."""
    return [
        person
        for person in (house.commitments if house.guarded else sorted(house.credentials))
        if house.supervising(house.people.get(person)) and person not in house.locked
    ]


def would_leave_too_few(house: House, person: str) -> bool:
    """Whether too few supervisors could sign in without this one."""
    remaining = can_sign_in(house)
    return house.guarded and person in remaining and len(remaining) - 1 < LEAST_REMAINING


# What events change


def forget_credentials(house: House, person: str) -> None:
    """Ends a person's credentials, and a code for their first sign-in."""
    house.credentials.discard(person)
    house.commitments.pop(person, None)
    house.activations.pop(person, None)


def _issue(house: House, event: messages.ActivationIssued | messages.AccessRecovered) -> None:
    forget_credentials(house, event.person)
    house.sessions = {name: other for name, other in house.sessions.items() if other != event.person}
    house.activations[event.person] = Activation(event.code, event.until)


def _commit(house: House, event: messages.CredentialsCommitted) -> None:
    house.activations.pop(event.person, None)
    house.credentials.add(event.person)
    house.commitments[event.person] = event.commitment
    house.guarded = True


def _adopt(house: House, event: messages.CredentialsAdopted) -> None:
    house.commitments = dict(event.commitments)
    house.credentials = set(event.commitments)
    house.guarded = True


def _recover(house: House, event: messages.AccessRecovered) -> None:
    _issue(house, event)
    house.locked.discard(event.person)
    house.failures.pop(event.person, None)
    house.recovered[event.person] = RecoveredAccess(event.at, event.reason)
    house.guarded = True


def _acknowledge(house: House, event: messages.RecoveryAcknowledged) -> None:
    house.recovered.pop(event.person, None)


CHANGES: Final[Mapping[type[HouseEvent], Callable[[House, Any], None]]] = {
    messages.ActivationIssued: _issue,
    messages.CredentialsCommitted: _commit,
    messages.CredentialsAdopted: _adopt,
    messages.AccessRecovered: _recover,
    messages.RecoveryAcknowledged: _acknowledge,
}


def count_wrong_activation(house: House, event: messages.SignInFailed) -> None:
    """Counts a wrong code; after too many the activation has ended."""
    activation = house.activations.get(event.person)
    if event.why != WRONG_ACTIVATION or activation is None:
        return
    if activation.failures + 1 >= MOST_TRIES:
        del house.activations[event.person]
    else:
        house.activations[event.person] = activation._replace(failures=activation.failures + 1)


# What is refused


def is_credential_retry(house: House, event: HouseEvent) -> bool:
    """Whether the event is there already: the same code, not used, or the same commitment."""
    match event:
        case messages.ActivationIssued() | messages.AccessRecovered():
            activation = lookup(house.activations, event.person)
            return activation is not None and activation[:2] == (event.code, event.until)
        case messages.CredentialsCommitted():
            is_open = lookup(house.activations, event.person) is not None
            return not is_open and lookup(house.commitments, event.person) == event.commitment
        case _:
            return False


def credential_refusals(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why the state of the House does not allow the command."""
    match command:
        case messages.DismissPerson():
            yield from _too_few_remain(house, command.person)
        case messages.EnrolPerson() if not house.supervising(command.rank):
            yield from _too_few_remain(house, command.person)
        case messages.IssueActivation():
            yield from _on_staff_list(house, command.person)
            yield from _issuable(command)
            yield from _too_few_remain(house, command.person)
        case messages.CommitCredentials():
            yield from _on_staff_list(house, command.person)
            yield from _committable(house, command)
        case messages.AdoptCredentials():
            yield from _adoptable(house, command)
        case messages.RecoverAccess():
            yield from _issuable(command)
            if command.rank in house.ladder and not house.supervising(command.rank):
                message = f"expected the rank {house.second_rank} or above, got {quoted(command.rank)}"
                yield Refusal(Reason.BAD_VALUE, _ACCESS, message)
        case messages.AcknowledgeRecovery():
            yield from _acknowledgeable(house, command)
        case messages.SetCredentials() if house.guarded:
            message = "people set their own credentials, the first time with an activation code"
            yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
        case _:
            pass


def _too_few_remain(house: House, person: object) -> Iterator[Refusal]:
    """Why a supervisor must stay as they are: too few others could sign in."""
    if isinstance(person, str) and would_leave_too_few(house, person):
        others = ", ".join(other for other in can_sign_in(house) if other != person) or "nobody"
        expected = f"at least {LEAST_REMAINING} people of the rank {house.second_rank} or above"
        message = f"{expected} must be able to sign in; without {person!r}: {others}. Enrol another one first"
        yield Refusal(Reason.RULED_OUT, _PEOPLE, message)


def _on_staff_list(house: House, person: object) -> Iterator[Refusal]:
    if lookup(house.people, person) is None:
        message = f"expected a person on the staff list, got {quoted(person)}"
        yield Refusal(Reason.UNKNOWN_PERSON, _ACCESS, message)


def _issuable(command: messages.IssueActivation | messages.RecoverAccess) -> Iterator[Refusal]:
    if not type(command.until) is type(command.at) is int:
        return  # and its value is refused
    if not 0 < command.until - command.at <= LONGEST_ACTIVATION:
        expected = f"a code that ends within {LONGEST_ACTIVATION:,} ms"
        got = f"one that ends after {command.until - command.at:,} ms"
        yield Refusal(Reason.BAD_VALUE, _ACCESS, f"expected {expected}, got {got}")


def _committable(house: House, command: messages.CommitCredentials) -> Iterator[Refusal]:
    """Why credentials may not be set: no valid code, or none of one's own to replace."""
    person = command.person
    if command.activation is None:
        if lookup(house.commitments, person) is None:
            message = f"{quoted(person)} has no credentials to change: an activation code is needed"
            yield Refusal(Reason.RULED_OUT, _ACCESS, message)
        return
    activation = lookup(house.activations, person)
    if activation is None or activation.code != command.activation:
        message = (
            f"the activation code of {quoted(person)} is wrong, used, or was replaced; ask for a new one"
        )
        yield Refusal(Reason.RULED_OUT, _ACCESS, message)
    elif type(command.at) is int and not is_valid_at(activation, command.at):
        ended = f"the activation code of {quoted(person)} ended at {clock(activation.until)}"
        yield Refusal(Reason.RULED_OUT, _ACCESS, f"{ended}; ask for a new one")


def _adoptable(house: House, command: messages.AdoptCredentials) -> Iterator[Refusal]:
    if house.guarded:
        message = "credentials of before are adopted once, before any other commitment"
        yield Refusal(Reason.RULED_OUT, _ACCESS, message)
    if isinstance(command.commitments, dict):
        for person in sorted(command.commitments.keys() - house.credentials):
            message = f"{quoted(person)} has no credentials that could be adopted"
            yield Refusal(Reason.UNKNOWN_PERSON, _ACCESS, message)


def _acknowledgeable(house: House, command: messages.AcknowledgeRecovery) -> Iterator[Refusal]:
    rank = lookup(house.people, command.by)
    if rank is not None and not house.supervising(rank):
        message = f"only the {house.second_rank} or a higher rank may do this, not {command.by!r} ({rank})"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
    if rank == _ADMINISTRATOR:
        message = f"an administrator may have the house's key and recover access themselves: {command.by!r}"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, f"{message} cannot do this; another supervisor can")
    if same_person(command.by, command.person):
        message = f"{command.person!r} cannot do this for themselves"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
    elif lookup(house.recovered, command.by) is not None:
        # With the key one person could recover two accounts, and acknowledge each with the other.
        message = f"access was recovered for {command.by!r} too: another supervisor acknowledges both"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, message)
    if lookup(house.recovered, command.person) is None:
        message = f"no recovered access of {quoted(command.person)} waits to be acknowledged"
        yield Refusal(Reason.RULED_OUT, _ACCESS, message)
