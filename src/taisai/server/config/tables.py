"""The tables of casino.toml: name, rulebook, and the terms that a table is opened with."""
# ruff: noqa: RUF009  a setting is a field of a dataclass, made by a function

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import family, fault_of, terms_of
from taisai.rules.book import Rulebook, editions
from taisai.rules.errors import RulesError
from taisai.server.config import kinds
from taisai.server.config.settings import AMOUNT, optional, required, with_default
from taisai.validation import choice, flag, whole

TABLE: Final = "table"
MOST_TABLES: Final = 100  # of one house; the largest casinos have some dozen of this game


class DiceIn(StrEnum):
    """Who enters a result: the Dealer with keys, or a device, confirmed by the Dealer."""

    KEYS = "keys"
    DEVICE = "device"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableConfig:
    """A table; its limits, settings and odds apply when the table is first opened."""

    # fmt: off
    name: str = required(kinds.TABLE_NAME,
        "The name of the table; a name is never used again for another table.", example="SB1")
    rulebook: str = required(kinds.RulebookKind(),
        "The rulebook's id (`taisai rules list`): the table opens by its newest edition that is approved for "
        "the gaming day; `id@1` is always that edition. Or a TOML file of your own.",
        example="rws-sic-bo-etg-v8")
    layout: str | None = optional(kinds.LAYOUT,
        "The layout of the table, and of terminals that choose no other (default: the rulebook's first).",
        example="A")
    betting_seconds: int = with_default(whole(5, 600, "seconds"), "How long bets are open.", default=30)
    least: int = required(AMOUNT, "The least on one area, per player.", example=500)
    most: int = required(AMOUNT, "The most on one area, per player.", example=100_000)
    groups: dict[str, tuple[int, int]] = with_default(kinds.PAIRS,
        "Other limits for a family of areas, or for one area, as [least, most].", default={},
        example={"triple": [500, 20_000], "even-money": [1_000, 200_000]})
    exposure: int | None = optional(
        AMOUNT, "The most that the house may lose on one outcome of one round.", example=5_000_000)
    settings: dict[str, str] = with_default(
        kinds.words_table("a table of the rulebook's settings, such as { tumble = 'after_close' }"),
        "Settings of the rulebook (`taisai rules show`).", default={}, example={"tumble": "after_close"})
    offers: dict[str, str] = with_default(
        kinds.words_table("a table of odds, such as { triple-1 = '160 to 1' }"),
        "Odds offered above the document's minimum odds, if it has minimum odds.", default={},
        example={"triple-1": "160 to 1"})
    dice: DiceIn = with_default(choice(DiceIn),
        "Who enters results: the Dealer with keys, or a device, confirmed by the Dealer.", default="keys")
    edges: bool = with_default(
        flag(), "Whether players may look up the exact house edge of every area.", default=False)
    # fmt: on
    book: Rulebook
    """The newest edition that the settings fit; with the list of approvals, the one of the gaming day."""
    editions: tuple[Rulebook, ...] = ()
    """All editions that the table may be opened by, the newest first."""

    @property
    def limits(self) -> Limits:
        return Limits(least=self.least, most=self.most, groups=self.groups, exposure=self.exposure)


def editions_of(given: Mapping[str, Any], books: dict[str, tuple[Rulebook, ...]]) -> tuple[Rulebook, ...]:
    """The editions that a table may be opened by, the newest first; read once for all tables."""
    name = given["rulebook"]
    if name not in books:
        books[name] = tuple(book.check() for book in editions(name))
    return books[name]


def fitting(found: Sequence[Rulebook], given: Mapping[str, Any]) -> Rulebook:
    """The newest edition under which the table has no fault; the newest of all where every one has some.

    An older edition may take settings that a newer one no longer has.
    """
    return next((book for book in found if not any(faults_of(book, given))), found[0])


def faults_of(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The faults of a table under its rulebook: setting and message.

    `given` has the settings of the table that could be read.
    """
    faults = [*_of_layout(book, given), *_of_settings(book, given), *_of_limits(book, given)]
    if not faults:
        faults = [*_of_offers(book, given)]
    if not faults and {"least", "most", "groups", "exposure", "settings", "offers"} <= given.keys():
        limits = Limits(**{name: given[name] for name in ("least", "most", "groups", "exposure")})
        try:
            terms_of(book, book.chosen(given["settings"]), given["offers"], limits)
        except RulesError as error:
            faults = [("offers" if given["offers"] else "most", str(error))]
    yield from faults


def _of_layout(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    try:
        book.layout_id(given.get("layout"))
    except RulesError as error:
        yield "layout", str(error)


def _of_settings(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in given.get("settings", {}).items():
        try:
            book.chosen({name: value})
        except RulesError as error:
            yield f"settings.{name}", f"{error}{suggestion(name, book.settings)}"


def _of_limits(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if {"least", "most"} <= given.keys():
        fault = fault_of(Limits(least=given["least"], most=given["most"]), book)
        if fault:
            yield "most", fault
    families = {family(area) for area in book.areas} | set(book.areas)
    for name, pair in given.get("groups", {}).items():
        fault = fault_of(Limits(least=1, most=1, groups={name: pair}), book)
        if fault:
            yield f"groups.{name}", f"{fault}{suggestion(name, families)}"


def _of_offers(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Checks each offer alone, so that every wrong offer is reported."""
    for area, odds in given.get("offers", {}).items():
        try:
            for layout in book.pay_by_layout:
                book.matrix(layout, settings=given.get("settings"), offered={area: odds})
        except RulesError as error:
            yield f"offers.{area}", f"{error}{suggestion(area, book.areas)}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """A similar known name, for an error about an unknown name."""
    names = sorted(known)
    similar = [] if name in names else get_close_matches(name, names, n=1)
    return f"; perhaps {similar[0]!r}" if similar else ""
