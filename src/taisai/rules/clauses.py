"""Clauses: what the documents say, where, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from taisai.rules.toml_reader import Section

Clause = NewType("Clause", str)

HOUSE_PROCEDURES: Final[Mapping[Clause, str]] = {
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
    Clause(
        "house:table"
    ): "A table is opened once by a supervisor or above, and closed between rounds with nothing left behind.",
    Clause("house:day"): "Gaming days and shifts begin between rounds, each later than the one before.",
    Clause(
        "house:people"
    ): "A supervisor assigns who deals; supervisors come by the House's staff roll, by two people there.",
    Clause(
        "house:dual-control"
    ): "What moves settled money, undoes a result, or changes limits or odds takes two people.",
    Clause("house:terms"): "Limits, odds and a layout never change under live bets.",
    Clause(
        "house:seats"
    ): "A player takes one seat, and leaves it with nothing on it and no bet in the round in hand.",
    Clause("house:terminals"): "A terminal acts for its own seat, and at a live table only to demonstrate.",
    Clause(
        "house:retries"
    ): "A bet is known by its round and id: a retry changes nothing, other content is refused.",
    Clause(
        "house:credits"
    ): "Credits are bought for cash or by ticket, staked only as far as they reach, and dispensed whole.",
    Clause(
        "house:colour-chips"
    ): "Colour chips are bought and cashed at one table, one colour to a seat, at one value.",
    Clause("house:exposure"): "The house may lose no more on one outcome than the table's limit says.",
    Clause(
        "house:most"
    ): "Seats, bets, rounds and names have a greatest number, so that nothing grows for ever.",
    Clause("house:hold"): "While a decision, declaration or option is open, the round waits for it.",
    Clause("house:shut"): "A table that is shut opens no round until it is reopened, its equipment in order.",
    Clause(
        "house:equipment"
    ): "Equipment that is missing or out of order keeps a round from opening; dice and cards are replaced.",
    Clause(
        "house:shoe"
    ): "A shoe is loaded, shuffled and burnt as the table's settings say before it is dealt from.",
    Clause(
        "house:readings"
    ): "A device's reading is recorded after the close and offered to the Dealer, who enters the result.",
    Clause(
        "house:demonstration-shaker"
    ): "At a demonstration table seeds may stand in for dice: committed before bets open, revealed after.",
    Clause("house:referral"): "A referral is decided once, by the rank it went to or above, with a reason.",
    Clause(
        "house:player-call"
    ): "A player's call, or his dispute of a round, is a referral to a supervisor or above.",
    Clause(
        "house:float"
    ): "The tray pays only what it holds; chips come from the cage and go there under dual control.",
    Clause("house:drop"): "Cash paid at a table falls into its drop box, which leaves whole and is counted.",
    Clause(
        "house:claims"
    ): "Money that cannot be put back where it came from is a claim; the highest rank and another settle it.",
    Clause("house:tickets"): "A ticket is issued once and redeemed once.",
    Clause("house:transfers"): "What moves between a table and the cage has an id, and arrives once.",
    Clause(
        "house:cage"
    ): "The cage holds the house's cash and chips, and what it brings in or takes out is recorded.",
    Clause("house:access"): (
        "Staff sign in under their own names; three failures in a row lock new sign-ins. Two others unlock, "
        "or, while nothing runs, whoever holds the machine and the house's key."
    ),
    Clause("house:approvals"): (
        "A rulebook is played for money only while it is approved: asked at a start, when a table opens and "
        "with every gaming day."
    ),
    Clause(
        "house:devices"
    ): "A device has one name, one key and one table, a terminal one seat; a supervisor enrols it.",
    Clause("house:settings"): "The settings that the system runs under are recorded whenever they change.",
    Clause("house:running"): "Each start and stop of the system is recorded, and which program it is.",
    Clause(
        "house:clock"
    ): "A jump of the machine's clock is recorded; what comes first never depends on a clock.",
    Clause("house:large-wins"): "A win of the threshold or more is noted once, for people to look at.",
    Clause(
        "house:overrides"
    ): "Whoever goes against a device's reading or the system's proposal is recorded by name.",
    Clause(
        "house:watch"
    ): "The results of each set of dice are watched; an alarm is noted and changes no result.",
    Clause(
        "house:journal"
    ): "What is not in the journal for good has not happened; if it cannot be written, nothing is decided.",
}
"""Where no document speaks, what we do and what we call it."""


MAX_CLAUSE_CHARACTERS: Final = (
    40  # characters of a clause number: 'Appendix A' and '2(a)(7)' have ten and fewer
)


class ClauseSubject(StrEnum):
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
    about: ClauseSubject
    says: str


def read_clause(section: Section, key: str, known: Mapping[Clause, object]) -> Clause:
    """The clause named under a key, which must be the document's or one of the house's."""
    return _known(section, key, section.text(key), known)


def read_clause_list(section: Section, key: str, known: Mapping[Clause, object]) -> tuple[Clause, ...]:
    """The clauses named under a key."""
    return tuple(_known(section, key, text, known) for text in section.texts(key))


def _known(section: Section, key: str, text: str, known: Mapping[Clause, object]) -> Clause:
    clause = Clause(text)
    if clause not in known and clause not in HOUSE_PROCEDURES:
        raise section.error(key, "a clause that the document has or 'house:…'", repr(text))
    return clause


def read_clauses(section: Section) -> dict[Clause, ClauseText]:
    """Every numbered clause of the document, in its order."""
    read: dict[Clause, ClauseText] = {}
    for number in section.keys():  # noqa: SIM118  a Section is no mapping
        entry = section.table(number)
        clause = Clause(number)
        if not number.strip() or not number.isprintable() or len(number) > MAX_CLAUSE_CHARACTERS:
            raise section.error(
                number, f"a clause number of at most {MAX_CLAUSE_CHARACTERS} characters", repr(number)
            )
        if number.startswith("house:"):
            raise section.error(number, "a number of the document", "a procedure of the house")
        read[clause] = ClauseText(clause, entry.choice("about", ClauseSubject), entry.text("says"))
        entry.reject_unknown_keys()
    if not read:
        raise section.error("", "at least one clause", "none")
    return read
