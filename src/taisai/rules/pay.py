"""Areas and pay tables as a rulebook writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from taisai.rules.areas import CATALOGUE, AreaId, is_area_id
from taisai.rules.clauses import Clause, cited
from taisai.rules.conditions import Condition, fault, winners
from taisai.rules.errors import RulesError
from taisai.rules.odds import Odds
from taisai.rules.reading import Section
from taisai.rules.settings import Changes, Setting, SettingIs, every_choice, read_setting_is

_LAYOUT: Final = re.compile("[A-Za-z0-9-]{1,20}")  # it is typed as BOOK/LAYOUT


class Area(NamedTuple):
    """One place on the layout that takes bets, as a rulebook calls it."""

    id: AreaId
    label: str
    label_zh: str
    numbers: tuple[int, ...]
    """The faces or totals that it is about."""
    loses: Clause
    loses_on_triple: Clause
    wins_on_triple: Clause | None
    """The clause that a winner on a triple goes by, where it is not the pay line's."""


class Wins(NamedTuple):
    """A winning condition, with the number of dice where the condition needs one."""

    condition: Condition
    dice: int | None


class PayLine(NamedTuple):
    """These areas, when they win so, win at these odds, by this clause."""

    areas: tuple[AreaId, ...]
    wins: Wins
    instead: tuple[SettingIs, Wins] | None
    """What wins where a setting says otherwise."""
    odds: Odds
    """What is paid unless the house offers more."""
    floor: Odds | None
    """The least that may be offered; None where the odds are fixed."""
    clause: Clause

    def winning(self, settings: Mapping[str, str]) -> Wins:
        """The condition under these settings."""
        return self.instead[1] if self.instead and self.instead[0].holds(settings) else self.wins

    def offered(self, odds: Odds) -> Odds:
        """The odds, if the line allows to offer them."""
        if self.floor is None:
            if odds.net != self.odds.net:
                raise RulesError(f"expected {self.odds}, fixed by {self.clause}, got an offer of {odds}")
        elif odds.net < self.floor.net:
            raise RulesError(f"expected an offer of at least {self.floor} ({self.clause}), got {odds}")
        return odds


class PayTable(NamedTuple):
    """The pay lines that hold for a layout."""

    id: str
    clause: Clause
    lines: tuple[PayLine, ...]

    def areas(self) -> frozenset[AreaId]:
        """The areas that the table prices."""
        return frozenset(area for line in self.lines for area in line.areas)


class PayOn(NamedTuple):
    """The pay table that holds on a layout, and the clause that gives the layout."""

    table: PayTable
    clause: Clause


def read_pay_by_layout(
    book: Section, tables: Mapping[str, PayTable], known: Mapping[Clause, object]
) -> dict[str, PayOn]:
    """Layout id → its pay, in the book's order."""
    read: dict[str, PayOn] = {}
    for entry in book.tables("layout"):
        name = entry.text("id")
        if not _LAYOUT.fullmatch(name):
            raise entry.refused("id", "letters and digits, such as 'A', at most 20", repr(name))
        if name in read:
            raise entry.refused("id", "a layout not yet given", repr(name))
        table = entry.text("pay_table")
        if table not in tables:
            raise entry.refused("pay_table", f"one of {', '.join(tables)}", repr(table))
        read[name] = PayOn(tables[table], cited(entry, "clause", known))
    return read


def read_areas(book: Section, known: Mapping[Clause, object]) -> dict[AreaId, Area]:
    """The book's areas by id, in its order."""
    read: dict[AreaId, Area] = {}
    for entry in book.tables("area"):
        ids = entry.texts("ids")
        own = _own_numbers(entry, ids)
        loses = cited(entry, "loses", known)
        on_triple = cited(entry, "loses_on_triple", known) if entry.has("loses_on_triple") else loses
        wins_on_triple = cited(entry, "wins_on_triple", known) if entry.has("wins_on_triple") else None
        for n, text in enumerate(ids):
            if text in read or text in ids[:n]:
                raise entry.refused("ids", "an area not yet declared", f"{text!r} twice")
        english, chinese = _label(entry, "en", ids), _label(entry, "zh", ids)
        for area in map(AreaId, ids):
            numbers = own or CATALOGUE[area]
            words = " ".join(map(str, numbers))
            read[area] = Area(
                area,
                english.replace("{n}", words),
                chinese.replace("{n}", words),
                numbers,
                loses,
                on_triple,
                wins_on_triple,
            )
        entry.done()
    return read


def _label(entry: Section, language: str, ids: tuple[str, ...]) -> str:
    """A label; over several areas it says with {n} which is which."""
    label = entry.text(language)
    rest = label.replace("{n}", "")
    if "{" in rest or "}" in rest or (len(ids) > 1 and rest == label):
        expected = "a label with {n} where the numbers stand" if len(ids) > 1 else "no braces but {n}"
        raise entry.refused(language, expected, repr(label))
    return label


def _own_numbers(entry: Section, ids: tuple[str, ...]) -> tuple[int, ...] | None:
    if not ids:
        raise entry.refused("ids", "at least one area", "an empty list")
    if not entry.has("numbers"):
        for text in ids:
            if text not in CATALOGUE:
                raise entry.refused(
                    "ids", "areas of the catalogue, or one area with numbers of its own", repr(text)
                )
        return None
    if len(ids) != 1 or ids[0] in CATALOGUE or not is_area_id(ids[0]):
        raise entry.refused(
            "ids", "one id of your own, like 'low-odd', where numbers are given", repr(ids[0])
        )
    return entry.wholes("numbers", 1, 18)


def read_pay_tables(
    book: Section,
    areas: Mapping[AreaId, Area],
    settings: Mapping[str, Setting],
    known: Mapping[Clause, object],
) -> dict[str, PayTable]:
    """The book's pay tables by id; every declared area is priced by one of them."""
    read: dict[str, PayTable] = {}
    for entry in book.tables("pay_table"):
        name = entry.text("id")
        if name in read:
            raise entry.refused("id", "a pay table not yet given", repr(name))
        lines = tuple(_line(line, areas, settings, known) for line in entry.tables("pay"))
        read[name] = PayTable(name, cited(entry, "clause", known), lines)
        entry.done()
    priced = frozenset[AreaId]().union(*(table.areas() for table in read.values()))
    for n, entry in enumerate(book.tables("area"), 1):
        for text in entry.texts("ids"):
            if text not in priced:
                raise book.refused(
                    f"area {n}, ids", "areas that a pay table prices", f"{text!r} without odds"
                )
    return read


def _line(
    entry: Section,
    areas: Mapping[AreaId, Area],
    settings: Mapping[str, Setting],
    known: Mapping[Clause, object],
) -> PayLine:
    names = entry.texts("areas")
    if not names:
        raise entry.refused("areas", "at least one area", "an empty list")
    entry.no_repeat("areas", names)
    for name in names:
        if name not in areas:
            raise entry.refused("areas", "an area that the book declares", repr(name))
    wins = _wins(entry)
    instead = _instead(entry, settings)
    odds, floor = _odds(entry)
    line = PayLine(tuple(map(AreaId, names)), wins, instead, odds, floor, cited(entry, "clause", known))
    entry.done()
    return line


def _wins(entry: Section) -> Wins:
    condition = entry.choice("wins", Condition)
    if condition is Condition.EXACTLY:
        return Wins(condition, entry.whole("dice", 1, 3))
    if entry.has("dice"):
        raise entry.refused("dice", "dice with wins = 'exactly' alone", f"dice with '{condition}'")
    return Wins(condition, None)


def _instead(entry: Section, settings: Mapping[str, Setting]) -> tuple[SettingIs, Wins] | None:
    if not entry.has("instead"):
        return None
    section = entry.table("instead")
    when = read_setting_is(section, "when", settings)
    if when is None or settings[when.setting].changes is not Changes.PAYOFF:
        got = repr(when.setting) if when else "nothing"
        raise section.refused("when", "a setting that changes a payoff", got)
    wins = _wins(section)
    section.done()
    return when, wins


def _odds(entry: Section) -> tuple[Odds, Odds | None]:
    if entry.has("odds"):
        for key in ("floor", "offered"):
            if entry.has(key):
                raise entry.refused(key, "either odds, or floor and offered", "both")
        return _odds_at(entry, "odds"), None
    if not entry.has("floor") and not entry.has("offered"):
        raise entry.refused("odds", "odds, or floor and offered", "nothing")
    floor = _odds_at(entry, "floor")
    offered = _odds_at(entry, "offered")
    if offered.net < floor.net:
        raise entry.refused("offered", f"odds at or above the floor of {floor}", repr(str(offered)))
    return offered, floor


def _odds_at(entry: Section, key: str) -> Odds:
    text = entry.text(key)
    try:
        return Odds.parse(text)
    except RulesError as error:
        expected = str(error).removeprefix("expected ").rpartition(", got ")[0]
        raise entry.refused(key, expected, repr(text)) from None


def check_pay(
    book: Section,
    tables: Mapping[str, PayTable],
    areas: Mapping[AreaId, Area],
    settings: Mapping[str, Setting],
) -> None:
    """Refuses a condition that does not fit its area, and an area that two lines pay on one outcome.

    Apart from reading, since it costs as much and the books that come with the package are known to pass.
    """
    for table, entry in zip(tables.values(), book.tables("pay_table"), strict=True):
        for line, section in zip(table.lines, entry.tables("pay"), strict=True):
            _fits(section, line.wins, line.areas, areas)
            if line.instead:
                _fits(section.table("instead"), line.instead[1], line.areas, areas)
        for chosen in every_choice(
            (line.instead[0].setting for line in table.lines if line.instead), settings
        ):
            _no_outcome_twice(entry, table, areas, chosen)


def _fits(section: Section, wins: Wins, names: tuple[AreaId, ...], areas: Mapping[AreaId, Area]) -> None:
    for name in names:
        wrong = fault(wins.condition, areas[name].numbers, wins.dice)
        if wrong:
            raise section.refused("wins", wrong[0], f"{wrong[1]} ({name})")


def _no_outcome_twice(
    entry: Section, table: PayTable, areas: Mapping[AreaId, Area], chosen: Mapping[str, str]
) -> None:
    """An area may have several lines (one, two, three dice), but never two on one outcome."""
    won: dict[AreaId, set[int]] = {}
    for n, line in enumerate(table.lines, 1):
        wins = line.winning(chosen)
        for area in line.areas:
            places = winners(wins.condition, areas[area].numbers, wins.dice)
            if not won.setdefault(area, set()).isdisjoint(places):
                raise entry.refused(f"pay {n}, areas", "each area paid once on an outcome", f"{area!r} twice")
            won[area].update(places)
