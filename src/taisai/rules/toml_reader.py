"""Strict reading of TOML tables: each key is read by name and type, and unknown keys are errors."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from taisai.rules.clauses import HOUSE_PROCEDURES, Clause, ClauseSubject, ClauseText
from taisai.rules.errors import BookError

Choice = TypeVar("Choice", bound=StrEnum)

MAX_CHARACTERS: Final = 1_000  # of a text; labels and paraphrases are shorter
MAX_DIGITS: Final = 20  # of a number that an error message quotes
MAX_ENTRIES: Final = 1_000  # of one list; the longest list of the package has a few dozen
MAX_CLAUSE_CHARACTERS: Final = 40  # 'Appendix A' has 10
# People type these spaces, but Python calls them not printable.
_SPACES: Final = str.maketrans("\u00a0\u3000", "  ")
_TOML_NAMES: Final = {str: "text", int: "a whole number", list: "a list", dict: "a table"}


def quoted_value(value: object) -> str:
    """A value as an error message quotes it; tables, lists and very long numbers by their type."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an empty list" if not value else "a list"
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return f"a number of more than {MAX_DIGITS} digits"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


class Section:
    """One TOML table of a rulebook, with its place in the file for error messages."""

    def __init__(
        self,
        data: Mapping[str, Any],
        file: str,
        place: tuple[str, ...] = (),
        clauses: Mapping[Clause, object] | None = None,
    ) -> None:
        self._data = data
        self._file = file
        self._place = place
        self._clauses = clauses or {}
        self._read_keys: set[str] = set()
        self._parts: dict[str, Section] = {}

    def _part(self, data: Mapping[str, Any], place: str) -> Section:
        """A table inside this table, the same for every reader, so that it knows all keys that were read."""
        part = self._parts.get(place)
        if part is None:
            part = self._parts[place] = Section(data, self._file, (*self._place, place), self._clauses)
        return part

    def error(self, key: str, expected: str, got: str) -> BookError:
        """The error about a key of this table, for the caller to raise."""
        place = ", ".join((*self._place, key) if key else self._place) or "the whole file"
        return BookError(file=self._file, key=place, expected=expected, got=got)

    def keys(self) -> tuple[str, ...]:
        """All keys of a table whose keys are data, such as clause numbers."""
        self._read_keys.update(self._data)
        return tuple(self._data)

    def has(self, key: str) -> bool:
        self._read_keys.add(key)
        return key in self._data

    def _get(self, key: str, kind: type) -> Any:
        self._read_keys.add(key)
        value = self._data.get(key)
        if type(value) is not kind:
            raise self.error(key, _TOML_NAMES[kind], self.quoted(key))
        return value

    def quoted(self, key: str) -> str:
        """The value of a key as an error message quotes it."""
        return quoted_value(self._data[key]) if key in self._data else self._missing(key)

    def _missing(self, key: str) -> str:
        """Says that the key is missing, and names a likely misspelling of it."""
        from difflib import get_close_matches

        unread_keys = [other for other in self._data if other not in self._read_keys]
        similar = get_close_matches(key, unread_keys, n=1)
        return f"no such key; is the unknown key {similar[0]!r} meant?" if similar else "no such key"

    def text(self, key: str) -> str:
        """A text, not empty and of bounded length."""
        return self._checked(key, self._get(key, str))

    def _checked(self, key: str, value: object) -> str:
        if type(value) is str and value.isprintable() and value.strip() and len(value) <= MAX_CHARACTERS:
            return value  # the fast path: a rulebook has thousands of texts
        if isinstance(value, str) and not value.translate(_SPACES).isprintable():
            raise self.error(key, "printable characters", repr(value))
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_CHARACTERS:
            is_long = isinstance(value, str) and len(value) > MAX_CHARACTERS
            got = f"{len(str(value))} characters" if is_long else quoted_value(value)
            raise self.error(key, f"a text of 1 to {MAX_CHARACTERS} characters", got)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text alone counts as a list of one."""
        if isinstance(self._data.get(key), str):
            return (self.text(key),)
        return tuple(self._checked(f"{key} {n}", item) for n, item in enumerate(self._list(key, least=0), 1))

    def whole(self, key: str, least: int, most: int) -> int:
        value = int(self._get(key, int))
        if not least <= value <= most:
            expected = f"a whole number from {least} to {most}" if least < most else str(least)
            raise self.error(key, expected, quoted_value(value))
        return value

    def wholes(self, key: str, least: int, most: int) -> tuple[int, ...]:
        for n, item in enumerate(self._list(key, least=1), 1):
            if type(item) is not int or not least <= item <= most:
                raise self.error(f"{key} {n}", f"a whole number from {least} to {most}", quoted_value(item))
        return tuple(self._data[key])

    def value(self, key: str) -> object:
        """The raw value of a key that takes more than one type."""
        self._read_keys.add(key)
        return self._data.get(key)

    def choice(self, key: str, choices: type[Choice]) -> Choice:
        """One word of a fixed list."""
        return self.member(key, self.text(key), choices)

    def member(self, key: str, word: str, choices: type[Choice]) -> Choice:
        try:
            return choices(word)
        except ValueError:
            listed = ", ".join(sorted(choices))
            raise self.error(key, f"one of {listed}", repr(word)) from None

    def each_choice(self, key: str, choices: type[Choice]) -> tuple[Choice, ...]:
        """One or more words of a fixed list, each at most once."""
        words = self.texts(key)
        if not words:
            raise self.error(key, f"at least one of {', '.join(sorted(choices))}", "an empty list")
        self.no_repeat(key, words)
        return tuple(self.member(key, word, choices) for word in words)

    def no_repeat(self, key: str, words: tuple[str, ...]) -> None:
        """Raises an error if a word is in the list twice."""
        for word in words:
            if words.count(word) > 1:
                raise self.error(key, "each name once", f"{word!r} {words.count(word)} times")

    def table(self, key: str) -> Section:
        return self._part(self._get(key, dict), key)

    def tables(self, key: str, least: int = 1) -> tuple[Section, ...]:
        """A list of tables; error messages number them from 1."""
        if least == 0 and not self.has(key):
            return ()
        sections = []
        for n, item in enumerate(self._list(key, least), 1):
            if not isinstance(item, dict):
                raise self.error(f"{key} {n}", "a table", quoted_value(item))
            sections.append(self._part(item, f"{key} {n}"))
        return tuple(sections)

    def _list(self, key: str, least: int) -> list[Any]:
        items: list[Any] = self._get(key, list)
        if not least <= len(items) <= MAX_ENTRIES:
            got = "an empty list" if not items else f"{len(items)} entries"
            raise self.error(key, f"a list of {least} to {MAX_ENTRIES} entries", got)
        return items

    def rows(self, key: str) -> tuple[tuple[Section | str, ...], ...]:
        """A list of rows; the cells of a row are texts or tables."""
        rows = []
        for n, row in enumerate(self._list(key, least=1), 1):
            if not isinstance(row, list) or not 1 <= len(row) <= MAX_ENTRIES:
                got = quoted_value(row) if not row or not isinstance(row, list) else f"{len(row)} cells"
                raise self.error(f"{key} {n}", f"a list of 1 to {MAX_ENTRIES} cells", got)
            rows.append(tuple(self._cell(f"{key} {n}", m, item) for m, item in enumerate(row, 1)))
        return tuple(rows)

    def _cell(self, row: str, m: int, item: object) -> Section | str:
        if isinstance(item, dict):
            return self._part(item, f"{row}, cell {m}")
        if not isinstance(item, str):
            raise self.error(f"{row}, cell {m}", "an area, '' or a table", quoted_value(item))
        return item

    def reject_unknown_keys(self) -> None:
        """Raises an error for the first key, of this table or one inside it, that no code has read."""
        for key in self._data:
            if key not in self._read_keys:
                known_keys = ", ".join(sorted(self._read_keys))
                raise self.error(key, f"one of the keys {known_keys}", f"the unknown key {key!r}")
        for part in self._parts.values():
            part.reject_unknown_keys()

    # Clauses

    def clause(self, key: str) -> Clause:
        """A clause number; it must be a clause of the document or a house procedure."""
        return self._known_clause(key, self.text(key))

    def clauses(self, key: str) -> tuple[Clause, ...]:
        return tuple(self._known_clause(key, text) for text in self.texts(key))

    def _known_clause(self, key: str, text: str) -> Clause:
        clause = Clause(text)
        if clause not in self._clauses and clause not in HOUSE_PROCEDURES:
            expected = "a clause under [clauses], or a house procedure such as 'house:limits'"
            raise self.error(key, expected, repr(text))
        return clause

    def read_clauses(self) -> dict[Clause, ClauseText]:
        """Reads the clauses of the document, in its order. From then on, `clause` accepts them."""
        section = self.table("clauses")
        clauses: dict[Clause, ClauseText] = {}
        for number in section.keys():  # noqa: SIM118  a Section is not a mapping
            entry = section.table(number)
            if not number.strip() or not number.isprintable() or len(number) > MAX_CLAUSE_CHARACTERS:
                expected = f"a clause number of at most {MAX_CLAUSE_CHARACTERS} characters"
                raise section.error(number, expected, repr(number))
            if number.startswith("house:"):
                got = f"the house procedure {number!r}"
                raise section.error(number, "a clause number of the document", got)
            clause, about = Clause(number), entry.choice("about", ClauseSubject)
            clauses[clause] = ClauseText(clause, about, entry.text("says"))
        if not clauses:
            raise section.error("", "at least one clause", "an empty table")
        self._clauses = clauses
        return clauses
