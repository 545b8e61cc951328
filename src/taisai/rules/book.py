"""A rulebook: one approved document as data. It compiles to tables."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.areas import AreaId, read_areas
from taisai.rules.chance import Chance, ChanceKind, read_chance
from taisai.rules.errors import BookError, RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.pay import Odds, check_pay, read_pay_by_layout, read_pay_tables
from taisai.rules.settings import RulesPart, choose_settings, every_choice, read_settings
from taisai.rules.toml_reader import Section, quoted_value

if TYPE_CHECKING:  # imported on first use, because odds do not need the procedure
    import datetime

    from taisai.rules.clauses import Adoption, EditionChange, Erratum, Interpretation, SourceDocument
    from taisai.rules.equipment import EquipmentItem, LimitRules
    from taisai.rules.irregularities import Irregularities
    from taisai.rules.layout import Layout
    from taisai.rules.people import People, RecordRules
    from taisai.rules.procedure import Procedure

BOOKS: Final = os.path.join(os.path.dirname(__file__), "books")
_ID: Final = re.compile(r"[a-z0-9]{1,40}(-[a-z0-9]{1,40}){0,9}")
MAX_BYTES: Final = 1 << 18  # the rulebooks of the package are under 64 KiB
PRACTICE: Final = 2
"""The latest version of what the program does at a table. Older versions stay, for older rulebooks."""
EARLIER: Final = "earlier"
"""The folder of earlier editions, each as id@edition.toml."""
MAX_LINE_CHARACTERS: Final = 4_000  # the parser takes quadratic time over a long dotted key


class Rulebook:
    """One approved document as data.

    The pay tables are read at once, the other parts on first use. `check` reads and checks everything.
    """

    def __init__(self, data: Mapping[str, Any], file: str, text: str = "") -> None:
        self._data = data
        self.text = text
        self._section = section = Section(data, file)
        self.file = file
        self.id = section.text("id")
        if not _ID.fullmatch(self.id):
            expected = "lower-case letters, digits and hyphens, such as 'my-game-v2'"
            raise section.error("id", expected, repr(self.id))
        self.operator = section.text("operator")
        self.version = section.text("version") if section.has("version") else None
        self.edition = section.whole("edition", 1, 1_000) if section.has("edition") else 1
        """Our edition of the document: a corrected reading makes a new one."""
        self.practice = section.whole("practice", 1, PRACTICE) if section.has("practice") else 1
        """The version of what the program does at a table; a rulebook of release 0.1 keeps version 1."""
        self.title, self.title_zh = section.table("title").text("en"), section.table("title").text("zh")
        self.clauses = section.read_clauses()
        self.settings = read_settings(section, with_clauses=self.practice > 1)
        self.chance_rule = read_chance(section)
        self.areas = read_areas(section)
        self.pay_tables = read_pay_tables(section, self.areas, self.settings)
        self.pay_by_layout = read_pay_by_layout(section, self.pay_tables)

    def __repr__(self) -> str:
        return (
            f"rulebook({self.file.removesuffix('.toml')!r})" if "@" in self.file else f"rulebook({self.id!r})"
        )

    @property
    def name(self) -> str:
        """Its id and edition, such as 'us-sic-bo@2'."""
        return f"{self.id}@{self.edition}"

    @property
    def data(self) -> Mapping[str, Any]:
        """Its parsed text; not to be changed."""
        return self._data

    @cached_property
    def effective(self) -> datetime.date | datetime.datetime | None:
        """When the document takes effect; None if it does not say."""
        import datetime

        value = self._section.value("effective")
        if value is not None and not isinstance(value, datetime.date):
            raise self._section.error("effective", "a date, or a date and time", quoted_value(value))
        return value

    @cached_property
    def sources(self) -> tuple[SourceDocument, ...]:
        """The documents that the rulebook is taken from, the governing one first."""
        from taisai.rules.clauses import read_sources

        return read_sources(self._section)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts by id: which area is where."""
        from taisai.rules.layout import read_layouts

        return read_layouts(self._section, self.pay_by_layout)

    @cached_property
    def interpretations(self) -> tuple[Interpretation, ...]:
        """How we understand passages of the document that are unclear."""
        from taisai.rules.clauses import read_interpretations

        return read_interpretations(self._section, self.settings)

    @cached_property
    def adoption(self) -> Adoption | None:
        """Who adopts the interpretations when a house takes the book into use; None if nobody must."""
        from taisai.rules.clauses import read_adoption

        return read_adoption(self._section, self.people)

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """Misprints of the document, and the text we use instead."""
        from taisai.rules.clauses import read_errata

        return read_errata(self._section)

    @cached_property
    def people(self) -> People:
        """The ranks of the staff, lowest first, and what each may do."""
        from taisai.rules.people import read_people

        return read_people(self._section, self.settings)

    @cached_property
    def procedure(self) -> Procedure:
        """The phases of a round and the steps between them."""
        from taisai.rules.procedure import read_procedure

        return read_procedure(self._section, self.settings, self.people)

    @cached_property
    def irregularities(self) -> Irregularities:
        """The ruling for each irregularity in each phase."""
        from taisai.rules.irregularities import read_irregularities

        return read_irregularities(self._section, self.settings, self.people, self.procedure)

    @cached_property
    def limits(self) -> LimitRules:
        """What happens to a bet under the minimum or over the maximum."""
        from taisai.rules.equipment import read_limits

        return read_limits(self._section, self.settings)

    @cached_property
    def equipment(self) -> tuple[EquipmentItem, ...]:
        from taisai.rules.equipment import read_equipment

        return read_equipment(self._section, self.settings, self.people)

    @cached_property
    def changes(self) -> tuple[EditionChange, ...]:
        """What this edition reads in another way than the one before, and why."""
        from taisai.rules.clauses import read_changes

        return read_changes(self._section)

    @cached_property
    def record(self) -> RecordRules | None:
        """Who corrects the record of the chips; None if the terminals are the record."""
        from taisai.rules.people import read_record

        return read_record(self._section, self.people)

    def layout_id(self, name: str | None = None) -> str:
        """Checks the id of a layout; the default is the first layout."""
        if name is None:
            return next(iter(self.pay_by_layout))
        if name not in self.pay_by_layout:
            known = ", ".join(self.pay_by_layout)
            raise RulesError(f"expected a layout of {self.id} ({known}), got {name!r}")
        return name

    def layout(self, name: str | None = None) -> Layout:
        """A layout by id; the default is the first layout."""
        return self.layouts[self.layout_id(name)]

    def chosen(self, settings: Mapping[str, str] | None = None) -> dict[str, str]:
        """The value of every setting: the given value, or else the default."""
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
        """The payoff matrix of a layout with these settings and offered odds."""
        name, chosen = self.layout_id(layout), self.chosen(settings)
        offers = {
            AreaId(area): odds if isinstance(odds, Odds) else Odds.parse(odds)
            for area, odds in (offered or {}).items()
        }
        return Matrix(
            rulebook=self.id,
            layout=name,
            pay=self.pay_by_layout[name],
            areas=self.areas,
            texts=self.clauses,
            settings={setting: chosen[setting] for setting in self._payoff_settings()},
            offered=offers,
        )

    def _payoff_settings(self) -> list[str]:
        return [name for name, setting in self.settings.items() if setting.changes is RulesPart.PAYOFF]

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the rulebook in canonical form. Any changed word changes it."""
        import json
        from hashlib import sha256

        text = json.dumps(self._data, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=str)
        return "sha256:" + sha256(text.encode("ascii")).hexdigest()

    def check(self) -> Rulebook:
        """Reads and checks every part; raises `BookError` at the first fault."""
        from taisai.rules.cross_checks import cross_check

        check_pay(self._section, self.pay_tables, self.areas, self.settings)
        for part in _PARTS:
            getattr(self, part)
        self._section.reject_unknown_keys()
        cross_check(self, self._section)
        return self

    def warnings(self) -> Iterator[str]:
        """Rules that are valid but unusual: a house edge of 0 or less, an area without its mirror image."""
        from taisai.rules.cross_checks import pay_warnings

        if self.id in rulebook_ids() and self.digest not in {book.digest for book in editions(self.id)}:
            yield f"the id {self.id} is the id of a different rulebook in the package; choose another id"
        rule = self.chance_rule
        if rule.kind is ChanceKind.DICE:
            chances: tuple[Chance, ...] = (self.chance(),)
        else:
            chances = tuple(self.chance(decks=n) for n in range(rule.least_decks, rule.most_decks + 1))
        for layout in self.layouts:
            yielded: set[str] = set()
            for settings in every_choice(self._payoff_settings(), self.settings):
                for line in pay_warnings(self.matrix(layout, settings=settings), chances):
                    if line not in yielded:
                        yielded.add(line)
                        yield line

    advice = warnings
    """The old name of `warnings`."""


_PARTS: Final = (
    "effective", "sources", "layouts", "interpretations", "errata", "people", "procedure", "irregularities",
    "limits", "equipment", "changes", "record", "adoption",
)  # fmt: skip


def rulebook_ids() -> tuple[str, ...]:
    return tuple(sorted(file.removesuffix(".toml") for file in os.listdir(BOOKS) if file.endswith(".toml")))


def earlier_editions() -> tuple[str, ...]:
    """The earlier editions of the rulebooks of the package, such as 'us-sic-bo@1'."""
    folder = os.path.join(BOOKS, EARLIER)
    return tuple(sorted(file.removesuffix(".toml") for file in os.listdir(folder) if file.endswith(".toml")))


def editions(name: str) -> tuple[Rulebook, ...]:
    """All editions of a rulebook of the package, the newest first; `id@1` or a file is one.

    >>> [book.name for book in editions("us-sic-bo")]
    ['us-sic-bo@2', 'us-sic-bo@1']
    """
    if name not in rulebook_ids():
        return (rulebook(name),)
    earlier = (rulebook(other) for other in earlier_editions() if other.partition("@")[0] == name)
    return (rulebook(name), *sorted(earlier, key=lambda book: -book.edition))


def rulebook(name: str | os.PathLike[str]) -> Rulebook:
    """A rulebook of the package by its id: its newest edition, or the one that follows `@`; or a TOML file.

    >>> from taisai.rules import Outcome
    >>> rulebook("rws-sic-bo-etg-v8").matrix("A").net("total-8", Outcome.of(2, 3, 3))
    Fraction(17, 2)
    """
    text = os.fspath(name)
    if text in rulebook_ids():
        return _packaged(text)
    if text in earlier_editions():
        return _packaged(os.path.join(EARLIER, text))
    newest = text.rpartition("@")[0]
    if newest in rulebook_ids():
        if text == _packaged(newest).name:
            return _packaged(newest)
        known = ", ".join(book.name for book in editions(newest))
        raise RulesError(f"expected an edition of {newest} ({known}), got {text!r}")
    if not os.path.isfile(text):
        got = f"no file {text!r}" if text.endswith(".toml") or os.sep in text else repr(text)
        raise RulesError(f"expected a rulebook id ({', '.join(rulebook_ids())}) or a TOML file, got {got}")
    return _read(text).check()


def rulebook_from(text: str, name: str) -> Rulebook:
    """A rulebook from its TOML text, as a journal stores it. Error messages use `name` as the file name."""
    return _stored(text, name)


@lru_cache(maxsize=16)  # many journals contain the same few rulebooks
def _stored(text: str, name: str) -> Rulebook:
    return _parsed(text.encode(), name).check()


@cache
def _packaged(book: str) -> Rulebook:
    """A rulebook of the package, read once. Rulebooks are immutable."""
    return _read(os.path.join(BOOKS, f"{book}.toml"))


def _read(path: str) -> Rulebook:
    file = os.path.basename(path)
    try:
        with open(path, "rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise _file_error(file, "a readable file", str(error.strerror)) from None
    return _parsed(content, file)


def _file_error(file: str, expected: str, got: str) -> BookError:
    return BookError(file=file, key="the whole file", expected=expected, got=got)


def _parsed(content: bytes, file: str) -> Rulebook:
    if len(content) > MAX_BYTES:
        raise _file_error(file, f"a file of at most {MAX_BYTES} bytes", f"at least {len(content)} bytes")
    try:
        text = content.decode("utf-8-sig")  # Windows editors write a byte order mark
        longest = max(map(len, text.splitlines()), default=0)
        if longest > MAX_LINE_CHARACTERS:
            raise _file_error(file, f"lines of at most {MAX_LINE_CHARACTERS} characters", str(longest))
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        got = f"byte 0x{content[error.start]:02x} at offset {error.start}"
        raise _file_error(file, "UTF-8 text", got) from None
    except RecursionError:
        raise _file_error(file, "TOML", "lists nested too deeply") from None
    except BookError:
        raise
    except ValueError as error:  # also a number with thousands of digits, which is no TOMLDecodeError
        raise _file_error(file, "TOML", str(error)) from None
    return Rulebook(data, file, text)
