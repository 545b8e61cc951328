"""A rulebook: one document as data, and the tables it compiles to."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.areas import AreaId, read_areas
from taisai.rules.chance import Chance, ChanceKind, read_chance
from taisai.rules.clauses import read_clauses
from taisai.rules.compiler import compile_matrix
from taisai.rules.errors import BookError, RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.pay import Odds, check_pay, read_pay_by_layout, read_pay_tables
from taisai.rules.settings import RulesPart, choose_settings, every_choice, read_settings
from taisai.rules.toml_reader import Section, quoted_value

if TYPE_CHECKING:  # read only when asked for, so that a question about odds does not load the procedure
    import datetime

    from taisai.rules.equipment import EquipmentItem
    from taisai.rules.interpretations import Erratum, Interpretation, SourceDocument
    from taisai.rules.irregularities import Irregularities
    from taisai.rules.layout import Layout
    from taisai.rules.limits import LimitRules
    from taisai.rules.people import People
    from taisai.rules.procedure import Procedure

BOOKS: Final = os.path.join(os.path.dirname(__file__), "books")
_ID: Final = re.compile(r"[a-z0-9]{1,40}(-[a-z0-9]{1,40}){0,9}")
MAX_BYTES: Final = 1 << 18  # ours are under 64 KiB
MAX_LINE_CHARACTERS: Final = (
    4_000  # characters of a line: the parser takes quadratic time over a long dotted key
)


class Rulebook:
    """One approved document as data.

    What concerns pay is read at once, the rest when it is first asked for; `check` reads everything.
    """

    def __init__(self, data: Mapping[str, Any], file: str, text: str = "") -> None:
        self._data = data
        self.text = text
        self._section = section = Section(data, file)
        self.file = file
        self.id = section.text("id")
        if not _ID.fullmatch(self.id):
            raise section.error(
                "id", "small letters, digits and hyphens, such as 'my-game-v2'", repr(self.id)
            )
        self.operator = section.text("operator")
        self.version = section.text("version") if section.has("version") else None
        title = section.table("title")
        self.title, self.title_zh = title.text("en"), title.text("zh")
        title.reject_unknown_keys()
        self.clauses = read_clauses(section.table("clauses"))
        self.settings = read_settings(section)
        self.chance_rule = read_chance(section, self.clauses)
        self.areas = read_areas(section, self.clauses)
        self.pay_tables = read_pay_tables(section, self.areas, self.settings, self.clauses)
        self.pay_by_layout = read_pay_by_layout(section, self.pay_tables, self.clauses)

    def __repr__(self) -> str:
        return f"rulebook({self.id!r})"

    @cached_property
    def effective(self) -> datetime.date | datetime.datetime | None:
        """From when the document holds, where it says so."""
        import datetime

        value = self._section.value("effective")
        if value is not None and not isinstance(value, datetime.date):
            raise self._section.error("effective", "a date, or a date and time", quoted_value(value))
        return value

    @cached_property
    def sources(self) -> tuple[SourceDocument, ...]:
        """The documents it was read from, the governing one first."""
        from taisai.rules.interpretations import read_sources

        return read_sources(self._section)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts by id, with their geometry."""
        from taisai.rules.layout import read_layouts

        return read_layouts(self._section, self.pay_by_layout)

    @cached_property
    def interpretations(self) -> tuple[Interpretation, ...]:
        """Our readings where the document leaves doubt."""
        from taisai.rules.interpretations import read_interpretations

        return read_interpretations(self._section, self.settings, self.clauses)

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """Misprints, and what we read instead."""
        from taisai.rules.interpretations import read_errata

        return read_errata(self._section, self.clauses)

    @cached_property
    def people(self) -> People:
        """The ladder of ranks."""
        from taisai.rules.people import read_people

        return read_people(self._section, self.settings, self.clauses)

    @cached_property
    def procedure(self) -> Procedure:
        """The order of a round."""
        from taisai.rules.procedure import read_procedure

        return read_procedure(self._section, self.settings, self.people, self.clauses)

    @cached_property
    def irregularities(self) -> Irregularities:
        """What is ruled when something goes wrong."""
        from taisai.rules.irregularities import read_irregularities

        return read_irregularities(self._section, self.settings, self.people, self.procedure, self.clauses)

    @cached_property
    def limits(self) -> LimitRules:
        """What becomes of a bet outside the limits."""
        from taisai.rules.limits import read_limits

        return read_limits(self._section, self.settings, self.clauses)

    @cached_property
    def equipment(self) -> tuple[EquipmentItem, ...]:
        """What the table is played with."""
        from taisai.rules.equipment import read_equipment

        return read_equipment(self._section, self.settings, self.people, self.clauses)

    def layout_id(self, name: str | None = None) -> str:
        """The id of a layout that the book has; the first unless said."""
        if name is None:
            return next(iter(self.pay_by_layout))
        if name not in self.pay_by_layout:
            raise RulesError(
                f"expected a layout of {self.id} ({', '.join(self.pay_by_layout)}), got {name!r}"
            )
        return name

    def layout(self, name: str | None = None) -> Layout:
        """A layout with its geometry; the first unless said."""
        return self.layouts[self.layout_id(name)]

    def chosen(self, settings: Mapping[str, str] | None = None) -> dict[str, str]:
        """Every setting of the book with its value: the given ones, else the defaults."""
        return choose_settings(self.settings, settings or {})

    def chance(self, *, decks: int | None = None, seen: Sequence[int] = ()) -> Chance:
        """The exact chances of the 56 outcomes."""
        return self.chance_rule.chance(decks, seen)

    def matrix(
        self,
        layout: str | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        offered: Mapping[str, str | Odds] | None = None,
    ) -> Matrix:
        """The payoff matrix of a layout, under these settings and with these odds offered."""
        name = self.layout_id(layout)
        on = self.pay_by_layout[name]
        offers = {
            AreaId(area): odds if isinstance(odds, Odds) else Odds.parse(odds)
            for area, odds in (offered or {}).items()
        }
        return compile_matrix(
            rulebook=self.id,
            layout=name,
            layout_clause=on.clause,
            areas=self.areas,
            table=on.table,
            texts=self.clauses,
            settings=self.chosen(settings),
            payoff_settings=[name for name, one in self.settings.items() if one.changes is RulesPart.PAYOFF],
            offered=offers,
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole book in canonical form: any changed word changes it."""
        import json
        from hashlib import sha256

        text = json.dumps(self._data, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=str)
        return "sha256:" + sha256(text.encode("ascii")).hexdigest()

    def check(self) -> Rulebook:
        """Reads every part, so that whatever is wrong is found now."""
        from taisai.rules.cross_checks import cross_check

        check_pay(self._section, self.pay_tables, self.areas, self.settings)
        for part in _PARTS:
            getattr(self, part)
        cross_check(self, self._section)
        self._section.reject_unknown_keys()
        return self

    def warnings(self) -> Iterator[str]:
        """What is allowed but hardly meant: edges at or under zero, missing mirrors."""
        from taisai.rules.cross_checks import pay_warnings

        if self.id in rulebook_ids() and rulebook(self.id).digest != self.digest:
            yield f"the id {self.id} belongs to a rulebook of the package, and this is another text"
        rule = self.chance_rule
        if rule.kind is ChanceKind.DICE:
            chances: tuple[Chance, ...] = (self.chance(),)
        else:
            chances = tuple(self.chance(decks=n) for n in range(rule.least_decks, rule.most_decks + 1))
        payoff = [name for name, setting in self.settings.items() if setting.changes is RulesPart.PAYOFF]
        for layout in self.layouts:
            told: set[str] = set()
            for settings in every_choice(payoff, self.settings):
                for line in pay_warnings(self.matrix(layout, settings=settings), chances):
                    if line not in told:
                        told.add(line)
                        yield line

    advice = warnings
    """The old name of `warnings`."""


_PARTS: Final = (
    "effective",
    "sources",
    "layouts",
    "interpretations",
    "errata",
    "people",
    "procedure",
    "irregularities",
    "limits",
    "equipment",
)


def rulebook_ids() -> tuple[str, ...]:
    """The ids of the rulebooks that come with the package."""
    return tuple(sorted(file.removesuffix(".toml") for file in os.listdir(BOOKS) if file.endswith(".toml")))


def rulebook(name: str | os.PathLike[str]) -> Rulebook:
    """A rulebook by its id, or from a TOML file of your own.

    >>> from taisai.rules import Outcome
    >>> rulebook("rws-sic-bo-etg-v8").matrix("A").net("total-8", Outcome.of(2, 3, 3))
    Fraction(17, 2)
    """
    text = os.fspath(name)
    if text in rulebook_ids():
        return _ours(text)
    if not os.path.isfile(text):
        got = f"no file {text!r}" if text.endswith(".toml") or os.sep in text else repr(text)
        raise RulesError(f"expected a rulebook id ({', '.join(rulebook_ids())}) or a TOML file, got {got}")
    return _read(text).check()


def rulebook_from(text: str, name: str) -> Rulebook:
    """A rulebook from its text, as a journal stores it; `name` is what errors call it."""
    return _stored(text, name)


@lru_cache(maxsize=16)
def _stored(text: str, name: str) -> Rulebook:
    """Read once: whoever opens or checks many journals meets the same few again and again."""
    return _parsed(text.encode(), name).check()


@cache
def _ours(book: str) -> Rulebook:
    """One that comes with the package: it is read once, and nothing ever changes it."""
    return _read(os.path.join(BOOKS, f"{book}.toml"))


def _read(path: str) -> Rulebook:
    file = os.path.basename(path)
    try:
        with open(path, "rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise BookError(
            file=file, key="the whole file", expected="a file that can be read", got=str(error.strerror)
        ) from None
    return _parsed(content, file)


def _parsed(content: bytes, file: str) -> Rulebook:
    def refused(expected: str, got: str) -> BookError:
        return BookError(file=file, key="the whole file", expected=expected, got=got)

    if len(content) > MAX_BYTES:
        raise refused(f"at most {MAX_BYTES} bytes", "more")
    try:
        text = content.decode("utf-8-sig")  # Windows marks the beginning of a file
        longest = max(map(len, text.splitlines()), default=0)
        if longest > MAX_LINE_CHARACTERS:
            raise refused(f"lines of at most {MAX_LINE_CHARACTERS} characters", str(longest))
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise refused("UTF-8", f"something else at byte {error.start}") from None
    except RecursionError:
        raise refused("TOML", "lists nested too deeply") from None
    except BookError:
        raise
    except ValueError as error:  # a number of thousands of digits is no TOMLDecodeError, but as wrong
        raise refused("TOML", str(error)) from None
    return Rulebook(data, file, text)
