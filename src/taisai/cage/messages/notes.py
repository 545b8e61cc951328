"""What the live server itself notes: its settings, its starts and stops, and what people should look at."""

from __future__ import annotations

from taisai.cage.messages.people import HouseCommand, HouseEvent


class TakeSettings(HouseCommand, frozen=True, kw_only=True, tag="take-settings"):
    """The settings under which the system runs from now on, all of them; none is secret."""

    settings: dict[str, str]


class SettingsTaken(HouseEvent, frozen=True, kw_only=True, tag="settings-taken"):
    """The system runs under these settings, which differ from those before."""

    settings: dict[str, str]


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
    """The system stops in order; a start without a stop before it followed a failure."""


class SystemStopped(HouseEvent, frozen=True, kw_only=True, tag="system-stopped"):
    """The system stopped as it should."""


class NoteClock(HouseCommand, frozen=True, kw_only=True, tag="note-clock"):
    """The machine's clock was set while the system ran."""

    jump: int
    """Milliseconds, forward or, where negative, back."""


class ClockJumped(HouseEvent, frozen=True, kw_only=True, tag="clock-jumped"):
    """The machine's clock was set."""

    jump: int


class NoteWin(HouseCommand, frozen=True, kw_only=True, tag="note-win"):
    """A seat won as much as someone has to look at."""

    table: str
    round: int
    seat: str
    amount: int
    threshold: int


class LargeWinNoted(HouseEvent, frozen=True, kw_only=True, tag="large-win-noted"):
    """A seat won at least the threshold in a round."""

    table: str
    round: int
    seat: str
    amount: int
    threshold: int


class NoteOverride(HouseCommand, frozen=True, kw_only=True, tag="note-override"):
    """A person did something else than a device read or the system proposed."""

    table: str
    person: str
    what: str
    detail: str


class OverrideNoted(HouseEvent, frozen=True, kw_only=True, tag="override-noted"):
    """A person decided against a device or a proposal."""

    table: str
    person: str
    what: str
    detail: str


class NoteAlarm(HouseCommand, frozen=True, kw_only=True, tag="note-alarm"):
    """The results of a set of dice are unlike those of fair dice."""

    table: str
    item: str
    serial: str
    results: int
    """How many results of a single die were counted."""
    e_value: str
    """The evidence as it is written for people; no figure is computed from it."""


class DiceAlarmNoted(HouseEvent, frozen=True, kw_only=True, tag="dice-alarm-noted"):
    """A set of dice gave an alarm."""

    table: str
    item: str
    serial: str
    results: int
    e_value: str
