"""Clauses in our words, the house procedures, and how unclear or misprinted clauses are read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, NewType

if TYPE_CHECKING:
    from taisai.rules.people import People
    from taisai.rules.toml_reader import Section

Clause = NewType("Clause", str)

HOUSE_PROCEDURES: Final[Mapping[Clause, str]] = {
    Clause("house:outside-the-rules"): (
        "The document does not foresee this case. It is referred, and the record says so."
    ),
    Clause("house:void"): (
        "A void round has no result. All of its bets are returned, and it enters no statistics."
    ),
    Clause("house:limits"): "A bet under the minimum or over the maximum is refused at entry.",
    Clause("house:stakes"): "A stake is a positive whole number of the smallest money unit.",
    Clause("house:whole-money"): (
        "A stake that could win a part of the smallest money unit is refused at entry."
    ),
    Clause("house:greatest-sum"): "No stake, return or total may exceed 2^53 - 1 of the smallest money unit.",
    Clause("house:later-rounds"): "Voiding or correcting a round does not change the rounds after it.",
    Clause("house:order"): "An act that is not a step of the procedure is refused.",
    Clause("house:declaration"): (
        "After an interruption that can hide whether a die was seen, the Dealer and a supervisor declare "
        "whether anyone saw one."
    ),
    Clause(
        "house:seen"
    ): "A die seen after bets close is recorded. The outcome is established; the round goes on.",
    Clause(
        "house:untumbled"
    ): "Dice in view that were not tumbled for this round are recorded. Nothing follows.",
    Clause("house:unclear-chips"): (
        "Chips that lie unclearly while bets are open are cleared up with the player before bets close."
    ),
    Clause("house:no-roll"): (
        "After a No Roll the bets stay, and betting opens again in every sense until a new close."
    ),
    Clause("house:confirmation"): (
        "Where two people are wanted, a report by one person holds the round until a second person confirms "
        "or contests it."
    ),
    Clause("house:by-hand"): (
        "A round played by hand while the system was down is entered afterwards by two people, with "
        "evidence, and is marked."
    ),
    Clause("house:recovery"): "What the system does after an interruption if the document does not say.",
    Clause("house:table"): (
        "A supervisor or a higher rank opens a table once. A table closes between rounds, with no money "
        "left on it."
    ),
    Clause("house:day"): (
        "Gaming days and shifts begin between rounds, each day later than the one before: the calendar's, or "
        "by two people the next."
    ),
    Clause("house:people"): (
        "A supervisor assigns the Dealer. Two people at the House add supervisors to the staff list, change "
        "their rank or remove them, and two supervisors who can sign in always remain."
    ),
    Clause("house:dual-control"): (
        "Two people are needed to move settled money, undo a result, or change limits or odds."
    ),
    Clause("house:terms"): "Limits, odds and the layout never change while bets are on the table.",
    Clause("house:seats"): (
        "A player takes one seat, and leaves it with no money on it and no bet in the current round."
    ),
    Clause("house:terminals"): (
        "A terminal acts only for its own seat. At a live table, terminals are for demonstration only."
    ),
    Clause("house:retries"): (
        "Round and id identify a bet. A repeated bet changes nothing; a bet with the same id and different "
        "content is refused."
    ),
    Clause("house:credits"): (
        "Credits are bought with cash or a ticket. Stakes never exceed them, and they are paid out in full."
    ),
    Clause("house:colour-chips"): (
        "Colour chips are bought and cashed at one table, one colour per seat, at one value."
    ),
    Clause("house:exposure"): "The house may not lose more on one outcome than the limit of the table.",
    Clause("house:most"): (
        "The number of seats, bets, rounds and names is limited, so that nothing grows without end."
    ),
    Clause("house:hold"): "The round waits while a decision, a declaration or an option is open.",
    Clause("house:shut"): "A shut table opens no round until it is reopened with its equipment in order.",
    Clause("house:equipment"): (
        "No round opens while equipment is missing or out of order. Dice and cards are replaced."
    ),
    Clause("house:shoe"): (
        "Before cards are dealt, the shoe is loaded, shuffled and burnt as the settings of the table say."
    ),
    Clause("house:readings"): (
        "The reading of a device is recorded after bets close and shown to the Dealer, who enters the result."
    ),
    Clause("house:demonstration-shaker"): (
        "At a demonstration table, seeds may replace dice: committed before bets open, revealed afterwards."
    ),
    Clause("house:referral"): (
        "A referral is decided once, with a reason, by the rank it went to or a higher rank."
    ),
    Clause("house:player-call"): (
        "When a player calls or disputes a round, it is referred to a supervisor or a higher rank."
    ),
    Clause("house:float"): (
        "The tray pays only what it holds. Chips move between tray and cage under dual control."
    ),
    Clause("house:drop"): (
        "Cash paid at a table goes into its drop box. The box leaves the table as a whole and is counted."
    ),
    Clause("house:claims"): (
        "Money that cannot be returned to where it came from is a claim. The highest rank and a second "
        "person settle it."
    ),
    Clause("house:tickets"): "A ticket is issued once and redeemed once.",
    Clause("house:transfers"): "A transfer between a table and the cage has an id and arrives once.",
    Clause("house:cage"): (
        "The cage holds the cash and chips of the house. What enters or leaves it is recorded."
    ),
    Clause("house:amounts"): (
        "One person sells and redeems up to the amounts of the house; above them it takes two. What moves at "
        "once, and what the house holds, stays far below the greatest sum."
    ),
    Clause("house:access"): (
        "Staff sign in under their own names, with credentials that they set themselves; two people give out "
        "the code for a first sign-in. Three tries in a row with the right password and a wrong code lock "
        "new sign-ins; after other failures the next try has to wait. Two other people unlock them; while "
        "the system is stopped, a person with the machine and the key of the house can."
    ),
    Clause("house:approvals"): (
        "A rulebook is played for money only while it is approved. This is checked at a start, when a "
        "table opens and at each gaming day."
    ),
    Clause("house:adoption"): (
        "Where the document leaves its interpretation to a rank, a person of it or above adopts the readings "
        "of an edition by name, before a table opens for money."
    ),
    Clause("house:devices"): (
        "A device has one name, one key and one table; a terminal has one seat. A supervisor enrols it."
    ),
    Clause("house:settings"): "The settings of the system are recorded whenever they change.",
    Clause("house:running"): (
        "Each start and stop of the system is recorded, with the digest of the program, and when the "
        "journal's file is moved."
    ),
    Clause("house:clock"): (
        "A jump of the machine's clock is recorded. The order of events never depends on a clock."
    ),
    Clause("house:large-wins"): (
        "A win at or above the threshold is noted once, so that people can look at it."
    ),
    Clause("house:overrides"): (
        "A person who overrides a device's reading or a proposal of the system is recorded by name."
    ),
    Clause("house:witness"): (
        "No money leaves the house until every witness has seen the entries of the journal. While a witness "
        "is silent, two people may let money leave for a stated time, with a reason."
    ),
    Clause("house:watch"): (
        "The results of each set of dice are monitored. An alarm is noted and changes no result."
    ),
    Clause("house:journal"): (
        "Nothing counts until the journal holds it durably. If the journal cannot be written, nothing is "
        "decided."
    ),
}
"""Our own procedures, for matters on which no document has a clause."""


class ClauseSubject(StrEnum):
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
    """A numbered clause of a document, in our words."""

    clause: Clause
    about: ClauseSubject
    says: str


class SourceDocument(NamedTuple):
    title: str
    note: str


class Interpretation(NamedTuple):
    """How we understand an unclear passage, and why."""

    clauses: tuple[Clause, ...]
    reading: str
    reason: str
    setting: str | None


class Adoption(NamedTuple):
    """The rank that adopts the interpretations of a rulebook, and the clause that asks for it."""

    by: str
    clause: Clause


class EditionChange(NamedTuple):
    """A reading that differs from the one of the edition before, and why."""

    clauses: tuple[Clause, ...]
    was: str
    now: str
    reason: str


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


def read_adoption(book: Section, people: People) -> Adoption | None:
    """Reads who adopts the interpretations when a house takes the book into use."""
    if not book.has("adoption"):
        return None
    entry = book.table("adoption")
    rank = entry.text("by")
    if rank not in people.ranks():
        raise entry.error("by", f"one of the ranks {', '.join(people.ranks())}", repr(rank))
    return Adoption(rank, entry.clause("clause"))


def read_changes(book: Section) -> tuple[EditionChange, ...]:
    return tuple(
        EditionChange(entry.clauses("clauses"), entry.text("was"), entry.text("now"), entry.text("reason"))
        for entry in book.tables("change", least=0)
    )


def read_errata(book: Section) -> tuple[Erratum, ...]:
    read = []
    for entry in book.tables("erratum", least=0):
        clause = entry.clause("clause")
        source = entry.text("source") if entry.has("source") else None
        read.append(Erratum(clause, entry.text("printed"), entry.text("read"), entry.text("reason"), source))
    return tuple(read)
