"""The House is opened, and who is on its staff roll."""

from __future__ import annotations

from taisai.cage.messages.message import HouseCommand, HouseEvent


class OpenHouse(HouseCommand, frozen=True, kw_only=True, tag="open-house"):
    """The first command of the House's stream; who gives it enrols the first people alone."""

    house: str
    currency: str
    ladder: tuple[str, ...]
    """The ranks, lowest first."""
    second_rank: str
    """The least rank of the second person under dual control."""


class HouseOpened(HouseEvent, frozen=True, kw_only=True, tag="house-opened"):
    """The first event: the House, its currency and its ranks."""

    house: str
    currency: str
    ladder: tuple[str, ...]
    second_rank: str


class EnrolPerson(HouseCommand, frozen=True, kw_only=True, tag="enrol-person"):
    """A person comes onto the staff roll, or has another rank from now on."""

    person: str
    rank: str
    second: str | None = None
    """Who agrees, where the rank is one that can be a second person itself."""


class PersonEnrolled(HouseEvent, frozen=True, kw_only=True, tag="person-enrolled"):
    """A person is on the staff roll with this rank."""

    person: str
    rank: str
    second: str | None = None


class DismissPerson(HouseCommand, frozen=True, kw_only=True, tag="dismiss-person"):
    """A person leaves the staff roll."""

    person: str


class PersonDismissed(HouseEvent, frozen=True, kw_only=True, tag="person-dismissed"):
    """A person is off the staff roll."""

    person: str
