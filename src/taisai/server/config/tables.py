"""The tables of casino.toml: what each is called, its rulebook, and the terms that it is opened under."""
# ruff: noqa: RUF009  a setting is a field of a dataclass, made by a function

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import family, fault_of, terms_of
from taisai.rules.book import Rulebook, rulebook
from taisai.rules.errors import RulesError
from taisai.server.config import kinds
from taisai.server.config.settings import AMOUNT, optional, required, with_default

TABLE: Final = "table"
MOST_TABLES: Final = 100  # of one house; the largest floors have some dozen of this game


class DiceIn(StrEnum):
    """How a result comes in: the Dealer keys it, or a device reads it and the Dealer commits it."""

    KEYS = "keys"
    DEVICE = "device"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableConfig:
    """A table; what it says of limits, settings and odds counts when the table is first opened."""

    name: str = required(
        kinds.TABLE_NAME, "What the table is called; each name once, also over the years.", example="SB1"
    )
    rulebook: str = required(
        kinds.RulebookKind(),
        "The rulebook's id (`taisai rules list`), or a TOML file of your own.",
        example="rws-sic-bo-etg-v8",
    )
    layout: str | None = optional(
        kinds.LAYOUT,
        "The layout of a live table, and of a terminal that asks for no other; the book's first unless said.",
        example="A",
    )
    betting_seconds: int = with_default(
        kinds.WholeKind(5, 600, "seconds"), "How long bets are open by the betting clock.", default=30
    )
    least: int = required(AMOUNT, "The least on one area, per player.", example=500)
    most: int = required(AMOUNT, "The most on one area, per player.", example=100_000)
    groups: dict[str, tuple[int, int]] = with_default(
        kinds.PairsKind(),
        "Other limits for a family of areas, or for one area, as [least, most].",
        default={},
        example={"triple": [500, 20_000], "even-money": [1_000, 200_000]},
    )
    exposure: int | None = optional(
        AMOUNT,
        "The most that the house may lose on one outcome of one round.",
        example=5_000_000,
    )
    settings: dict[str, str] = with_default(
        kinds.WordsKind("a table of the rulebook's settings, such as { tumble = 'after_close' }"),
        "Settings of the rulebook (`taisai rules show`).",
        default={},
        example={"tumble": "after_close"},
    )
    offers: dict[str, str] = with_default(
        kinds.WordsKind("a table of odds, such as { triple-1 = '160 to 1' }"),
        "Odds offered above the document's floors, where it has floors.",
        default={},
        example={"triple-1": "160 to 1"},
    )
    dice: DiceIn = with_default(
        kinds.ChoiceKind(DiceIn),
        "How results come in: keyed by the Dealer, or read by a device and committed by the Dealer.",
        default="keys",
    )
    edges: bool = with_default(
        kinds.FlagKind(), "Whether players may look up the exact house edge of every area.", default=False
    )
    book: Rulebook
    """The rulebook itself, read and checked."""

    @property
    def limits(self) -> Limits:
        """The limits as the table takes them."""
        return Limits(least=self.least, most=self.most, groups=self.groups, exposure=self.exposure)


def book_of(given: Mapping[str, Any], books: dict[str, Rulebook]) -> Rulebook:
    """The rulebook of a table, read once for all that have it."""
    name = given["rulebook"]
    if name not in books:
        books[name] = rulebook(name).check()
    return books[name]


def faults_of(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a table by its rulebook: which setting, and what was expected and got.

    `given` has those settings of the table that could be read.
    """
    found = [*_of_layout(book, given), *_of_settings(book, given), *_of_limits(book, given)]
    if not found:
        found = [*_of_offers(book, given)]
    if not found and {"least", "most", "groups", "exposure", "settings", "offers"} <= given.keys():
        limits = Limits(**{name: given[name] for name in ("least", "most", "groups", "exposure")})
        try:
            terms_of(book, book.chosen(given["settings"]), given["offers"], limits)
        except RulesError as error:
            found = [("offers" if given["offers"] else "most", str(error))]
    yield from found


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
            yield f"settings.{name}", f"{error}{perhaps(name, book.settings)}"


def _of_limits(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if {"least", "most"} <= given.keys():
        fault = fault_of(Limits(least=given["least"], most=given["most"]), book)
        if fault:
            yield "most", fault
    families = {family(area) for area in book.areas} | set(book.areas)
    for name, pair in given.get("groups", {}).items():
        fault = fault_of(Limits(least=1, most=1, groups={name: pair}), book)
        if fault:
            yield f"groups.{name}", f"{fault}{perhaps(name, families)}"


def _of_offers(book: Rulebook, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each offer alone, so that every wrong one is told."""
    for area, odds in given.get("offers", {}).items():
        try:
            for layout in book.pay_by_layout:
                book.matrix(layout, settings=given.get("settings"), offered={area: odds})
        except RulesError as error:
            yield f"offers.{area}", f"{error}{perhaps(area, book.areas)}"


def perhaps(name: str, known: Iterable[str]) -> str:
    """What was probably meant by a name that is not known."""
    names = sorted(known)
    meant = [] if name in names else get_close_matches(name, names, n=1)
    return f"; perhaps {meant[0]!r}" if meant else ""
