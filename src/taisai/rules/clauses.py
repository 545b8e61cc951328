"""Clauses: what the documents say, where, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from taisai.rules.reading import Section

Clause = NewType("Clause", str)

HOUSE: Final[Mapping[Clause, str]] = {
    Clause(
        "house:outside-the-rules"
    ): "The document does not foresee it: it is referred, and the record says so.",
    Clause(
        "house:void"
    ): "A void round has no result; every bet of it is returned, and it enters no statistics.",
    Clause("house:limits"): "A bet under the minimum or over the maximum is refused at entry.",
    Clause("house:stakes"): "A stake is a positive whole number of the smallest money unit.",
    Clause(
        "house:whole-money"
    ): "A stake that could win a part of the smallest money unit is refused at entry.",
    Clause("house:greatest-sum"): "No stake, return or total may exceed 2^53 - 1 of the smallest money unit.",
    Clause("house:later-rounds"): "Voiding or correcting a round leaves the rounds after it as they were.",
    Clause("house:order"): "An act that a procedure does not have is refused.",
    Clause(
        "house:declaration"
    ): "Where a crash can hide it, Dealer and supervisor declare if a die was seen.",
    Clause("house:recovery"): "What the system does after an interruption where the document is silent.",
}
"""Where no document speaks, what we do and what we call it."""


MOST_NUMBER: Final = 40  # characters of a clause number: 'Appendix A' and '2(a)(7)' have ten and fewer


class About(StrEnum):
    """What a clause concerns."""

    HEADING = "heading"
    DEFINITION = "definition"
    EQUIPMENT = "equipment"
    LAYOUT = "layout"
    BETS = "bets"
    PAYOFF = "payoff"
    PROCEDURE = "procedure"
    PEOPLE = "people"
    LIMITS = "limits"
    IRREGULARITY = "irregularity"
    DISPLAY = "display"


class ClauseText(NamedTuple):
    """One numbered clause, paraphrased."""

    clause: Clause
    about: About
    says: str


def cited(section: Section, key: str, known: Mapping[Clause, object]) -> Clause:
    """The clause named under a key, which must be the document's or one of the house's."""
    return _known(section, key, section.text(key), known)


def cited_each(section: Section, key: str, known: Mapping[Clause, object]) -> tuple[Clause, ...]:
    """The clauses named under a key."""
    return tuple(_known(section, key, text, known) for text in section.texts(key))


def _known(section: Section, key: str, text: str, known: Mapping[Clause, object]) -> Clause:
    clause = Clause(text)
    if clause not in known and clause not in HOUSE:
        raise section.refused(key, "a clause that the document has or 'house:…'", repr(text))
    return clause


def read_clauses(section: Section) -> dict[Clause, ClauseText]:
    """Every numbered clause of the document, in its order."""
    read: dict[Clause, ClauseText] = {}
    for number in section.keys():  # noqa: SIM118  a Section is no mapping
        entry = section.table(number)
        clause = Clause(number)
        if not number.strip() or not number.isprintable() or len(number) > MOST_NUMBER:
            raise section.refused(
                number, f"a clause number of at most {MOST_NUMBER} characters", repr(number)
            )
        if number.startswith("house:"):
            raise section.refused(number, "a number of the document", "a procedure of the house")
        read[clause] = ClauseText(clause, entry.choice("about", About), entry.text("says"))
        entry.done()
    if not read:
        raise section.refused("", "at least one clause", "none")
    return read
