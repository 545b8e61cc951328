"""The source documents of a rulebook, our interpretations of unclear passages, and misprints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.toml_reader import Section


class SourceDocument(NamedTuple):
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
    return tuple(SourceDocument(entry.text("title"), entry.text("note")) for entry in book.tables("source"))


def read_interpretations(book: Section, settings: Mapping[str, object]) -> tuple[Interpretation, ...]:
    read = []
    for entry in book.tables("interpretation", least=0):
        clauses = entry.clauses("clauses")
        setting = entry.text("setting") if entry.has("setting") else None
        if setting is not None and setting not in settings:
            known = ", ".join(settings) or "it has no settings"
            raise entry.error("setting", f"a setting of this rulebook ({known})", repr(setting))
        read.append(Interpretation(clauses, entry.text("reading"), entry.text("reason"), setting))
    return tuple(read)


def read_errata(book: Section) -> tuple[Erratum, ...]:
    read = []
    for entry in book.tables("erratum", least=0):
        clause = entry.clause("clause")
        source = entry.text("source") if entry.has("source") else None
        read.append(Erratum(clause, entry.text("printed"), entry.text("read"), entry.text("reason"), source))
    return tuple(read)
