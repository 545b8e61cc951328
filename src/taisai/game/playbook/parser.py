"""Parses a playbook: its header, its commands, and the answers pinned under each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from taisai.game.playbook.answers import Fact, fact
from taisai.game.playbook.command_lines import (
    CommandLine,
    PlaybookError,
    PlaybookSyntaxError,
    UnknownWordError,
    limits_of,
    parsed_command,
    pieces,
    value_of,
    whole,
)
from taisai.game.refusals import OLD_REASONS
from taisai.game.terms.messages import OpenTable
from taisai.game.vocabulary import HOUSE

START: Final = 1_794_715_200_000  # 2026-11-15, noon in Singapore
NEEDED: Final = ("book", "opened by", "limits")
DEFAULTS: Final[dict[str, Any]] = {
    "table": "SB1",
    "currency": "SGD",
    "day": "2026-11-15",
    "zone": "Asia/Singapore",
    "settings": {},
    "offers": {},
    "layout": None,
    "demonstration": False,
}
"""Keys that a header may leave out, and their values then; each is a field of `OpenTable`."""


def _text(text: str) -> str:
    if not text:
        raise PlaybookSyntaxError("a value", "nothing")
    return text


def _name_and_rank(text: str) -> tuple[str, str]:
    name, _, rank = text.rpartition(" ")
    if not name.strip():
        raise PlaybookSyntaxError("a name and a rank, such as 'Dan dealer'", text)
    return name.strip(), rank


def _people(text: str) -> list[tuple[str, str]]:
    return [_name_and_rank(" ".join(words)) for words in pieces(text)]


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for name, *words in pieces(text):
        if not words or name in pairs:
            raise PlaybookSyntaxError("a name and a value, such as 'no_roll void', each name once", name)
        pairs[name] = " ".join(words)
    return pairs


_READ: Final[dict[str, Callable[[str], Any]]] = {
    "book": _text,
    "table": _text,
    "opened by": _name_and_rank,
    "people": _people,
    "limits": lambda text: limits_of(pieces(text)),
    "settings": _pairs,
    "offers": _pairs,
    "layout": _text,
    "demonstration": lambda text: value_of(bool, [text], "demonstration"),
    "currency": _text,
    "day": _text,
    "zone": _text,
}


class Header:
    """The lines of a header, as they are read."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}

    def read(self, number: int, text: str) -> None:
        """One line such as `limits: 100 to 5000`."""
        key, colon, value = text.partition(":")
        key = key.strip()
        if not colon or key not in _READ:
            raise UnknownWordError(key, _READ, of=" and a colon, or '> who: command'" if not colon else "")
        if key in self.values:
            raise PlaybookSyntaxError(f"'{key}:' once", text)
        self.values[key] = _READ[key](value.strip())
        self.lines[key] = number

    def missing(self) -> str | None:
        """A required key that is missing."""
        return next((key for key in NEEDED if key not in self.values), None)

    def opening(self) -> OpenTable:
        """The command that opens the table."""
        by, rank = self.values["opened by"]
        values = {key: self.values.get(key, value) for key, value in DEFAULTS.items()}
        return OpenTable(at=START, by=by, rank=rank, limits=self.values["limits"], **values)

    def people(self) -> tuple[tuple[int, CommandLine], ...]:
        """Line and assignment of each person whom the House signs in before play."""
        people = self.values.get("people", ())
        values = [{"person": person, "rank": rank, "position": rank} for person, rank in people]
        return tuple((self.lines["people"], CommandLine(HOUSE, "assign", each)) for each in values)


MOST_LINES: Final = 5_000  # of one playbook; a round takes about fifty
MOST_LINE: Final = 2_000  # characters
STEP: Final = 1_000
"""Milliseconds from one command to the next by default."""
MOST_AFTER: Final = 366 * 86_400_000
_OPEN_FIGURE: Final = re.compile(r"(?<!\S)\?(?![^\s,])")
_UNITS: Final = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


class Pin(NamedTuple):
    """A pinned line of the answer."""

    line: int
    text: str

    @property
    def is_open(self) -> bool:
        """Whether a figure is left open, as in `= seat 7: credits ?`."""
        return self.text.startswith("=") and _OPEN_FIGURE.search(self.text.partition(":")[2]) is not None


class PlaybookStep(NamedTuple):
    """A command, its time since the one before, and the pinned lines of its answer."""

    line: int
    comments: tuple[str, ...]
    """The comments before it."""
    after: int
    """Milliseconds since the command before."""
    words: str
    """The command as it is written."""
    command_line: CommandLine
    pins: tuple[Pin, ...]
    facts: tuple[tuple[Pin, Fact], ...]
    among: tuple[Pin, ...] = ()
    """Lines that begin with `~`: what the answer must contain among its lines, or must not."""

    @property
    def pinned(self) -> int:
        """How many lines it pins."""
        return len(self.pins) + len(self.among) + sum(not pin.is_open for pin, _ in self.facts)


class Playbook(NamedTuple):
    """A story of rounds at one table."""

    name: str
    story: tuple[str, ...]
    """The comments above the header."""
    book: str
    opening: OpenTable
    people: tuple[tuple[int, CommandLine], ...]
    """Line and assignment of each person at the table from the start."""
    lines: dict[str, int]
    """Key of the header → its line."""
    steps: tuple[PlaybookStep, ...]

    @property
    def line(self) -> int:
        """The line of the header's `book:`."""
        return self.lines["book"]


def playbook(text: str, name: str = "playbook") -> Playbook:
    """Parses a playbook; an error names the line."""
    lines = lines_of(text)
    if len(lines) > MOST_LINES:
        raise PlaybookError(name, MOST_LINES + 1, f"expected at most {MOST_LINES} lines, got {len(lines)}")
    reader = _Reader(name)
    for number, line in enumerate(lines, 1):
        try:
            reader.read(number, line)
        except PlaybookSyntaxError as error:
            raise PlaybookError(name, number, str(error)) from None
    return reader.done(len(lines))


def lines_of(text: str) -> list[str]:
    """The lines of a text; only line feeds separate them."""
    return text.removesuffix("\n").split("\n")


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.story: tuple[str, ...] = ()
        self.comments: list[str] = []
        self.header = Header()
        self.steps: list[PlaybookStep] = []
        self.after = STEP
        self.bets = 0

    def read(self, number: int, line: str) -> None:
        text = line.strip()
        if len(line) > MOST_LINE:
            raise PlaybookSyntaxError(f"a line of at most {MOST_LINE} characters", f"{len(line)} characters")
        if not text.isprintable():
            raise PlaybookSyntaxError("printable characters", text)
        match text[:1]:
            case "":
                pass
            case "#":
                self._comment(text[1:].strip())
            case ">":
                self._command(number, text[1:].strip())
            case "+" | "*" | "=" | "~":
                self._pinned(Pin(number, text))
            case "!":
                self._pinned(Pin(number, _current_reason(text)))
            case _ if self.steps or text.startswith("after "):
                self._pause(text)
            case _:
                self.header.read(number, text)

    def _comment(self, text: str) -> None:
        if self.header.values:
            self.comments.append(text)
        else:
            self.story = (*self.story, text)

    def _pause(self, text: str) -> None:
        match text.split():
            case ["after", amount, unit] if unit.rstrip("s") in _UNITS:
                self.after = whole(amount, f"a number of {unit}") * _UNITS[unit.rstrip("s")]
                if not 0 <= self.after <= MOST_AFTER:
                    raise PlaybookSyntaxError("a time from 0 to 366 days", text)
            case _:
                raise PlaybookSyntaxError(
                    "'> who: command', '+', '!', '*', '~', '=', '#', or 'after 25 hours'", text
                )

    def _command(self, number: int, text: str) -> None:
        by, colon, rest = text.partition(":")
        if not colon or not by.strip() or not rest.strip():
            raise PlaybookSyntaxError("'> who: command'", text)
        line = parsed_command(by.strip(), rest, self.bets)
        self.bets += line.bets
        self.steps.append(PlaybookStep(number, tuple(self.comments), self.after, rest.strip(), line, (), ()))
        self.comments, self.after = [], STEP

    def _pinned(self, pin: Pin) -> None:
        if not self.steps:
            raise PlaybookSyntaxError("a command before its answers", pin.text)
        step = self.steps[-1]
        if pin.text.startswith("="):
            self.steps[-1] = step._replace(facts=(*step.facts, (pin, fact(pin.text))))
        elif pin.text.startswith("~"):
            if pin.text.split()[1:] in ([], ["no"]):
                raise PlaybookSyntaxError(
                    "a line such as '~ round-voided [5.2]' or '~ no bet-moved'", pin.text
                )
            self.steps[-1] = step._replace(among=(*step.among, pin))
        elif step.facts:
            raise PlaybookSyntaxError("the answer before the lines that begin with '='", pin.text)
        else:
            self.steps[-1] = step._replace(pins=(*step.pins, pin))

    def done(self, last: int) -> Playbook:
        header = self.header
        key = header.missing()
        if key is not None:
            line = self.steps[0].line if self.steps else last
            raise PlaybookError(self.name, line, f"missing '{key}:' in the header")
        if not self.steps:
            raise PlaybookError(self.name, last, "expected at least one command, got 0")
        return Playbook(
            self.name, self.story, header.values["book"], header.opening(), header.people(),
            header.lines, tuple(self.steps),
        )  # fmt: skip


def _current_reason(text: str) -> str:
    """A pinned refusal in which a reason of release 0.1 is replaced by its current word."""
    mark, _, rest = text.partition(" ")
    reason, space, clause = rest.partition(" ")
    return f"{mark} {OLD_REASONS[reason]}{space}{clause}" if reason in OLD_REASONS else text
