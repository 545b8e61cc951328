"""What the live server notes about itself: starts and stops, its clock, where its journal is."""

from __future__ import annotations

from typing import ClassVar

from taisai.cage.messages.people import HouseCommand, HouseEvent


class NoteStart(HouseCommand, frozen=True, kw_only=True, tag="note-start"):
    """The system starts."""

    program: str
    manifest: str
    """A digest over all files of the program."""


class SystemStarted(HouseEvent, frozen=True, kw_only=True, tag="system-started"):
    """The system started, and which program it is."""

    program: str
    manifest: str


class NoteStop(HouseCommand, frozen=True, kw_only=True, tag="note-stop"):
    """The system stops normally; a start without a stop before it followed a failure."""


class SystemStopped(HouseEvent, frozen=True, kw_only=True, tag="system-stopped"):
    """The system stopped normally."""


class NoteClock(HouseCommand, frozen=True, kw_only=True, tag="note-clock"):
    """The machine's clock was set while the system ran."""

    jump: int
    """Milliseconds, forward or, where negative, back."""


class ClockJumped(HouseEvent, frozen=True, kw_only=True, tag="clock-jumped"):
    """The machine's clock was set."""

    jump: int


class NotePlace(HouseCommand, frozen=True, kw_only=True, tag="note-place"):
    """Where the journal's file is, at a start."""

    since: ClassVar[int] = 2
    machine: str
    """A digest of the machine's id and the journal's id."""
    file: str
    """A digest of the file's path and number on its disk, and the journal's id."""
    restored: bool
    """Whether `taisai restore` made the file."""


class PlaceNoted(HouseEvent, frozen=True, kw_only=True, tag="place-noted"):
    """The journal's file is on another machine, or is another file, than at the start before."""

    since: ClassVar[int] = 2
    machine: str
    file: str
    restored: bool
