"""The source documents of a rulebook, our interpretations of unclear passages, and misprints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from taisai.rules.clauses import Clause, read_clause, read_clause_list
from taisai.rules.toml_reader import Section


class SourceDocument(NamedTuple):
    """A document that a rulebook is taken from."""

    title: str
    note: str


class Interpretation(NamedTuple):
    """How we understand an unclear passage, and why."""

    clauses: tuple[Clause, ...]
    reading: str
    reason: str
    setting: str | None


class Erratum(NamedTuple):
    """A misprint of the document, the text we use instead, and why."""

    clause: Clause
    printed: str
    read: str
    reason: str
    source: str | None


def read_sources(book: Section) -> tuple[SourceDocument, ...]:
    """Reads the source documents, the governing one first."""
    read = []
    for entry in book.tables("source"):
        read.append(SourceDocument(entry.text("title"), entry.text("note")))
        entry.reject_unknown_keys()
    return tuple(read)


def read_interpretations(
    book: Section, settings: Mapping[str, object], known: Mapping[Clause, object]
) -> tuple[Interpretation, ...]:
    read = []
    for entry in book.tables("interpretation", least=0):
        clauses = read_clause_list(entry, "clauses", known)
        setting = entry.text("setting") if entry.has("setting") else None
        if setting is not None and setting not in settings:
            raise entry.error(
                "setting",
                f"a setting of this rulebook ({', '.join(settings) or 'it has no settings'})",
                repr(setting),
            )
        read.append(Interpretation(clauses, entry.text("reading"), entry.text("reason"), setting))
        entry.reject_unknown_keys()
    return tuple(read)


def read_errata(book: Section, known: Mapping[Clause, object]) -> tuple[Erratum, ...]:
    """Reads the misprints of a rulebook."""
    read = []
    for entry in book.tables("erratum", least=0):
        clause = read_clause(entry, "clause", known)
        source = entry.text("source") if entry.has("source") else None
        read.append(Erratum(clause, entry.text("printed"), entry.text("read"), entry.text("reason"), source))
        entry.reject_unknown_keys()
    return tuple(read)
