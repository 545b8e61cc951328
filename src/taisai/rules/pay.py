"""The six winning conditions; odds, pay lines and pay tables. Another condition needs new code here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

from taisai.rules.areas import Area, AreaId
from taisai.rules.clauses import Clause
from taisai.rules.errors import OfferError, RulesError
from taisai.rules.outcomes import FACES, OUTCOMES
from taisai.rules.settings import RulesPart, Setting, SettingIs, every_choice, read_setting_is
from taisai.rules.toml_reader import Section

# Winning conditions


class Condition(StrEnum):
    """When an area with certain numbers wins."""

    TOTAL = "total"
    """The three faces add up to one of the numbers."""
    TOTAL_NOT_TRIPLE = "total-not-triple"
    """As `total`, but a triple does not win."""
    ANY_TRIPLE = "any-triple"
    """All three faces are equal; the area has no numbers."""
    SHOWS = "shows"
    """Each number shows at least as often as the area lists it."""
    EXACTLY = "exactly"
    """The number shows on exactly this many dice."""
    THREE_DIFFERENT = "three-different"
    """The three faces differ, and all are among the numbers."""


# Set algebra over outcome indexes: faster than testing each of the 56 outcomes.
OutcomeIndices = frozenset[int]
_EVERY: Final[OutcomeIndices] = frozenset(outcome.index for outcome in OUTCOMES)
_OF_TOTAL: Final = {t: frozenset(o.index for o in OUTCOMES if o.total == t) for t in range(3, 19)}
_SHOWING: Final = {
    face: tuple(frozenset(o.index for o in OUTCOMES if o.faces.count(face) >= times) for times in range(5))
    for face in FACES
}
"""[face][times] → outcomes where the face shows at least this often; none for four times."""
_TRIPLES: Final = frozenset(o.index for o in OUTCOMES if len(set(o.faces)) == 1)
_ALL_DIFFERENT: Final = frozenset(o.index for o in OUTCOMES if len(set(o.faces)) == 3)


def _shows(numbers: Sequence[int]) -> OutcomeIndices:
    won = _EVERY
    for face in set(numbers):
        won &= _SHOWING[face][numbers.count(face)]  # type: ignore[index]
    return won


def _total(numbers: Sequence[int]) -> OutcomeIndices:
    return frozenset().union(*(_OF_TOTAL[number] for number in numbers))


def _among(numbers: Sequence[int]) -> OutcomeIndices:
    return _EVERY.difference(*(_SHOWING[face][1] for face in FACES if face not in numbers))


def winning_places(condition: Condition, numbers: Sequence[int], dice: int | None = None) -> tuple[int, ...]:
    """The indexes of the outcomes that meet a condition. The condition must fit its numbers.

    >>> [str(OUTCOMES[place]) for place in winning_places(Condition.SHOWS, (1, 1, 3))]
    ['113']
    """
    return tuple(sorted(_places(condition, numbers, dice)))


def _places(condition: Condition, numbers: Sequence[int], dice: int | None) -> OutcomeIndices:
    match condition:
        case Condition.SHOWS:
            return _shows(numbers)
        case Condition.TOTAL:
            return _total(numbers)
        case Condition.TOTAL_NOT_TRIPLE:
            return _total(numbers) - _TRIPLES
        case Condition.ANY_TRIPLE:
            return _TRIPLES
        case Condition.EXACTLY:
            showing = _SHOWING[numbers[0]]  # type: ignore[index]
            return showing[dice or 0] - showing[(dice or 0) + 1]
        case Condition.THREE_DIFFERENT:
            return _ALL_DIFFERENT & _among(numbers)


_FACES_NEEDED: Final = {Condition.SHOWS: (1, 3), Condition.EXACTLY: (1, 3), Condition.THREE_DIFFERENT: (3, 6)}


def condition_fault(condition: Condition, numbers: Sequence[int], dice: int | None) -> tuple[str, str] | None:
    """What was expected and given if a condition does not fit its numbers, else None."""
    got = str(list(numbers))
    if condition is Condition.ANY_TRIPLE:
        return ("no numbers with 'any-triple'", got) if numbers else None
    if condition in _FACES_NEEDED:
        least, most = _FACES_NEEDED[condition]
        if not (least <= len(numbers) <= most and all(1 <= n <= 6 for n in numbers)):
            return f"{least} to {most} faces from 1 to 6 with '{condition}'", got
        if condition is Condition.EXACTLY and len(set(numbers)) != 1:
            return "one face with 'exactly'", got
    elif not numbers or not all(3 <= n <= 18 for n in numbers):
        return f"totals from 3 to 18 with '{condition}'", got
    is_met = winning_places(condition, numbers, dice)
    return None if is_met else ("a condition that at least one outcome meets", got)


# Odds and pay tables

_LAYOUT: Final = re.compile("[A-Za-z0-9-]{1,20}")  # people type it as BOOK/LAYOUT


_ODDS: Final = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})? to ([1-9][0-9]{0,5})", re.ASCII)
ODDS_EXPECTED: Final = "odds like '8.5 to 1' or '6 to 5'"


class Odds(NamedTuple):
    """What a winning bet wins in addition to its stake.

    >>> Odds.parse("8.5 to 1").net
    Fraction(17, 2)
    >>> Odds.parse("8:1")
    Traceback (most recent call last):
    taisai.rules.errors.RulesError: expected odds like '8.5 to 1' or '6 to 5', got '8:1'
    """

    net: Fraction
    """Won per unit staked. It is the first field, so that odds sort by it."""
    text: str

    @staticmethod
    def parse(text: str) -> Odds:
        """Odds from a text of the form "x to y"."""
        match = _ODDS.fullmatch(text)
        if match is None:
            raise RulesError(f"expected {ODDS_EXPECTED}, got {text!r}")
        whole, decimals, per = match.groups()
        thousandths = int(whole) * 1000 + (int(decimals[1:].ljust(3, "0")) if decimals else 0)
        if thousandths == 0:
            raise RulesError(f"expected {ODDS_EXPECTED}, above 0, got {text!r}")
        return Odds(Fraction(thousandths, 1000 * int(per)), text)

    def __str__(self) -> str:
        return self.text


class WinningCondition(NamedTuple):
    """A winning condition; `exactly` also has a number of dice."""

    condition: Condition
    dice: int | None


class PayLine(NamedTuple):
    """A line of a pay table: some areas, when they win, their odds and the clause."""

    areas: tuple[AreaId, ...]
    wins: WinningCondition
    instead: tuple[SettingIs, WinningCondition] | None
    """The winning condition if a setting has a certain value."""
    odds: Odds
    floor: Odds | None
    """The lowest odds that the house may offer; None if the odds are fixed."""
    clause: Clause

    def winning(self, settings: Mapping[str, str]) -> WinningCondition:
        """The winning condition under these settings."""
        return self.instead[1] if self.instead and self.instead[0].holds(settings) else self.wins

    def offered(self, odds: Odds) -> Odds:
        """Returns the odds. Raises an error if the house may not offer them."""
        if self.floor is None:
            if odds.net != self.odds.net:
                message = f"expected {self.odds}, fixed by {self.clause}, got an offer of {odds}"
                raise OfferError(message, self.clause)
        elif odds.net < self.floor.net:
            message = f"expected an offer of at least {self.floor} ({self.clause}), got {odds}"
            raise OfferError(message, self.clause)
        return odds


class PayTable(NamedTuple):
    """The pay lines of one or more layouts."""

    id: str
    clause: Clause
    lines: tuple[PayLine, ...]

    def areas(self) -> frozenset[AreaId]:
        return frozenset(area for line in self.lines for area in line.areas)


class LayoutPay(NamedTuple):
    """The pay table of a layout, and the clause that defines the layout."""

    table: PayTable
    clause: Clause


def read_pay_by_layout(book: Section, tables: Mapping[str, PayTable]) -> dict[str, LayoutPay]:
    read: dict[str, LayoutPay] = {}
    for entry in book.tables("layout"):
        name = entry.text("id")
        if not _LAYOUT.fullmatch(name):
            raise entry.error("id", "1 to 20 letters, digits or hyphens, such as 'A'", repr(name))
        if name in read:
            raise entry.error("id", "an id that no other layout has", repr(name))
        table = entry.text("pay_table")
        if table not in tables:
            raise entry.error("pay_table", f"one of {', '.join(tables)}", repr(table))
        read[name] = LayoutPay(tables[table], entry.clause("clause"))
    return read


def read_pay_tables(
    book: Section, areas: Mapping[AreaId, Area], settings: Mapping[str, Setting]
) -> dict[str, PayTable]:
    """Reads the pay tables of a rulebook, by id. Every declared area must have odds."""
    read: dict[str, PayTable] = {}
    for entry in book.tables("pay_table"):
        name = entry.text("id")
        if name in read:
            raise entry.error("id", "an id that no other pay table has", repr(name))
        lines = tuple(_line(line, areas, settings) for line in entry.tables("pay"))
        read[name] = PayTable(name, entry.clause("clause"), lines)
    priced = frozenset[AreaId]().union(*(table.areas() for table in read.values()))
    for n, entry in enumerate(book.tables("area"), 1):
        for text in entry.texts("ids"):
            if text not in priced:
                expected = "areas that have odds in a pay table"
                raise book.error(f"area {n}, ids", expected, f"{text!r} without odds")
    return read


def _line(entry: Section, areas: Mapping[AreaId, Area], settings: Mapping[str, Setting]) -> PayLine:
    names = entry.texts("areas")
    if not names:
        raise entry.error("areas", "at least one area", "an empty list")
    entry.no_repeat("areas", names)
    for name in names:
        if name not in areas:
            raise entry.error("areas", "an area that this rulebook declares", repr(name))
    wins = _wins(entry)
    instead = _instead(entry, settings)
    odds, floor = _odds(entry)
    return PayLine(tuple(map(AreaId, names)), wins, instead, odds, floor, entry.clause("clause"))


def _wins(entry: Section) -> WinningCondition:
    condition = entry.choice("wins", Condition)
    if condition is Condition.EXACTLY:
        return WinningCondition(condition, entry.whole("dice", 1, 3))
    if entry.has("dice"):
        raise entry.error("dice", f"no 'dice' with wins = '{condition}'", entry.quoted("dice"))
    return WinningCondition(condition, None)


def _instead(entry: Section, settings: Mapping[str, Setting]) -> tuple[SettingIs, WinningCondition] | None:
    if not entry.has("instead"):
        return None
    section = entry.table("instead")
    when = read_setting_is(section, "when", settings)
    if when is None or settings[when.setting].changes is not RulesPart.PAYOFF:
        got = repr(when.setting) if when else section.quoted("when")
        raise section.error("when", "a setting with changes = 'payoff'", got)
    return when, _wins(section)


def _odds(entry: Section) -> tuple[Odds, Odds | None]:
    if entry.has("odds"):
        for key in ("floor", "offered"):
            if entry.has(key):
                raise entry.error(key, "either odds, or floor and offered", f"odds and {key}")
        return _odds_at(entry, "odds"), None
    if not entry.has("floor") and not entry.has("offered"):
        raise entry.error("odds", "odds, or floor and offered", entry.quoted("odds"))
    floor = _odds_at(entry, "floor")
    offered = _odds_at(entry, "offered")
    if offered.net < floor.net:
        raise entry.error("offered", f"odds of at least {floor}, the floor", repr(str(offered)))
    return offered, floor


def _odds_at(entry: Section, key: str) -> Odds:
    text = entry.text(key)
    try:
        return Odds.parse(text)
    except RulesError as error:
        expected = str(error).removeprefix("expected ").rpartition(", got ")[0]
        raise entry.error(key, expected, repr(text)) from None


def check_pay(
    book: Section,
    tables: Mapping[str, PayTable],
    areas: Mapping[AreaId, Area],
    settings: Mapping[str, Setting],
) -> None:
    """Raises an error if a condition does not fit its area, or if two lines pay an area on one outcome.

    Reading does not include this check: it takes as long as reading, and the package tests its own rulebooks.
    """
    for table, entry in zip(tables.values(), book.tables("pay_table"), strict=True):
        for line, section in zip(table.lines, entry.tables("pay"), strict=True):
            _fits(section, line.wins, line.areas, areas)
            if line.instead:
                _fits(section.table("instead"), line.instead[1], line.areas, areas)
        names = (line.instead[0].setting for line in table.lines if line.instead)
        for chosen in every_choice(names, settings):
            _no_outcome_twice(entry, table, areas, chosen)


def _fits(
    section: Section, wins: WinningCondition, names: tuple[AreaId, ...], areas: Mapping[AreaId, Area]
) -> None:
    for name in names:
        fault = condition_fault(wins.condition, areas[name].numbers, wins.dice)
        if fault:
            expected, got = fault
            raise section.error("wins", expected, f"{got} ({name})")


def _no_outcome_twice(
    entry: Section, table: PayTable, areas: Mapping[AreaId, Area], chosen: Mapping[str, str]
) -> None:
    """Raises an error if two lines of an area win on the same outcome."""
    won: dict[AreaId, set[int]] = {}
    for n, line in enumerate(table.lines, 1):
        wins = line.winning(chosen)
        for area in line.areas:
            places = winning_places(wins.condition, areas[area].numbers, wins.dice)
            if not won.setdefault(area, set()).isdisjoint(places):
                got = f"{area!r} twice on {OUTCOMES[min(won[area] & set(places))]}"
                raise entry.error(f"pay {n}, areas", "one line per area and outcome", got)
            won[area].update(places)
