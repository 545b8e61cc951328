"""Pairs of irregularities as `cases/pairs` writes them out, and tables on which they are played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from taisai.game.commands import Limits, ReportIrregularity
from taisai.game.events import (
    BetsReopened,
    Event,
    IrregularityRuled,
    RoundVoided,
    WithdrawalClosed,
)
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import Hold
from taisai.rules import Irregularity, Rulebook
from tests.game.playing import CREDITS, FILL, MBS, RWS, SEAT, Playing, at, course

CASES: Final = Path(__file__).parents[2] / "cases" / "pairs"
Settings = tuple[tuple[str, str], ...]
OUTSIDE: Final = Limits(least=500, most=900)
"""Limits between which no stake of seat 7 lies: of one the excess is kept out, the other is settled once."""
SHOWN: Final = ("4,5,6", "2,4,6", "3,3,5")
"""What the dice are reported to have shown, one report after the other."""


class Pair(NamedTuple):
    """Two irregularities, the first in a phase and the second at once after it."""

    first: str
    second: str
    phase: str


class Decided(NamedTuple):
    """What a case file says of a pair."""

    prevails: str
    rulings: tuple[str, ...]
    clauses: tuple[str, ...]
    """The one that decides comes first."""
    because: str


Table = dict[Pair, Decided]


def read(text: str) -> tuple[dict[Settings, Table], list[str]]:
    """The tables of a case file, by the settings that differ; and what is on no line or on several."""
    lines = text.splitlines()
    order = lines[1 + next(n for n, line in enumerate(lines) if line.startswith("# Phases"))]
    phases = [phase.strip() for phase in order.lstrip("# ").split(",")]
    groups = {"unforeseen": _listed(lines, "# unforeseen")}
    tables: dict[Settings, Table] = {(): {}}
    chosen: Settings = ()
    faults = []
    for pair, decided in _pairs(lines, phases, groups):
        if decided is None:
            chosen = pair
            tables[chosen] = {}
            continue
        if pair in tables[chosen]:
            faults.append(f"{pair} is on two lines")
        tables[chosen][pair] = decided
    names = {pair.first for pair in tables[()]}
    every = [Pair(first, second, phase) for first in names for second in names for phase in phases]
    faults += [f"{pair} is on no line" for pair in every if pair not in tables[()]]
    for settings, table in tables.items():
        tables[settings] = tables[()] | table
    return tables, faults


def _listed(lines: list[str], heading: str) -> list[str]:
    start = 1 + next(n for n, line in enumerate(lines) if line.startswith(heading))
    names = []
    for line in lines[start:]:
        if not line.startswith("#   "):
            break
        names += [name.strip() for name in line.lstrip("# ").split(",") if name.strip()]
    return names


def _pairs(lines: list[str], phases: list[str], groups: Mapping[str, list[str]]) -> Iterator[tuple[Any, Any]]:
    heading = ""
    names = ""
    for line in lines:
        if line.startswith("## "):
            setting, value = line[3:].partition(":")[0].split(" = ")
            yield ((setting, value),), None
        if not line.strip() or line.startswith("#"):
            heading = ""
        elif not line.startswith(" "):
            heading = f"{heading} {line}"
        elif "A then B" not in line and "A and B" not in line:
            names = f"{names} {line}"
        else:
            mark = "A and B" if "A and B" in line else "A then B"
            last, rest = line.split(mark)
            seconds, names = _names(f"{names} {last}", groups), ""
            where, prevails, *words, because = rest.split()
            rulings, clauses = _halves(" ".join(words))
            for first in _names(heading, groups):
                for second in seconds:
                    for phase in _phases(where, phases):
                        decided = Decided(prevails, rulings, clauses, because)
                        yield Pair(first, second, phase), decided
                        if (
                            mark == "A and B"
                            and first != second
                            and (second, first) not in _both(heading, seconds, groups)
                        ):
                            turned = {"A": "B", "B": "A"}.get(prevails, prevails)
                            yield Pair(second, first, phase), decided._replace(prevails=turned)


def _both(heading: str, seconds: list[str], groups: Mapping[str, list[str]]) -> set[tuple[str, str]]:
    """The pairs of a line that it names in the one order and in the other."""
    return {(first, second) for first in _names(heading, groups) for second in seconds}


def _names(text: str, groups: Mapping[str, list[str]]) -> list[str]:
    names = []
    for name in (name.strip() for name in text.split(",")):
        names += groups.get(name, [name] if name else [])
    return names


def _halves(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rulings and clauses; of the one and of the other, several are joined by a plus."""
    parts = [part.split() for part in text.split(" + ")]
    border = next(n for n, part in enumerate(parts) if len(part) == 2)
    rulings = [part[0] for part in parts[: border + 1]]
    clauses = [parts[border][1], *(part[0] for part in parts[border + 1 :])]
    return tuple(rulings), tuple(clauses)


def _phases(text: str, phases: list[str]) -> Iterator[str]:
    if text == "all":
        yield from phases
        return
    for part in text.split(","):
        first, _, last = part.partition("..")
        yield from phases[phases.index(first) : phases.index(last or first) + 1]


@lru_cache(maxsize=8)
def cases(book: str) -> dict[Settings, Table]:
    """The tables of a book's file."""
    tables, faults = read((CASES / f"{book}.txt").read_text("utf-8"))
    assert faults == []
    return tables


# Playing


def is_played(book: str, settings: Settings, phase: str) -> bool:
    """Whether a round under these settings passes a phase."""
    chosen = dict(settings)
    if "shaker" not in chosen:
        return True
    return any(reached == phase for _, reached in course(book, chosen))


@lru_cache(maxsize=64)
def _brought(book: Rulebook, phase: str, settings: Settings) -> Playing:
    if book.id != MBS:
        return at(book, phase, **dict(settings))
    chosen = dict(settings) | ({"tumble": "after_close"} if phase == "closed" else {})
    return Playing(book, chosen, limits=OUTSIDE).staff().equip().seat().to(phase)


def brought(book: Rulebook, phase: str, settings: Settings) -> Playing:
    """A table in a phase, with the bets of seat 7, to be played on."""
    return _brought(book, phase, settings).fork()


def reporting(playing: Playing, name: str, number: int, nth: int) -> dict[str, Any]:
    """The fields of a report of an irregularity as a case file names it."""
    event, _, suffix = name.rstrip("]").partition("[")
    fields: dict[str, Any] = {
        "event": Irregularity(event), "round": number, "second": "sue",
        "faces": tuple(int(face) for face in SHOWN[nth % len(SHOWN)].split(",")),
    }  # fmt: skip
    if suffix == "seen":
        fields["seen"] = True
    elif suffix:
        fields["item"] = f"{playing.settings.get('shaker', 'manual')}-{suffix}"
    return fields


def reported(
    playing: Playing, name: str, number: int, nth: int, *, alone: bool = False
) -> tuple[Event, ...] | Refusal:
    """Reports an irregularity on a round, by two people or by one, and what it came to."""
    fields = reporting(playing, name, number, nth)
    if alone:
        del fields["second"]
    playing.now += 1_000
    answer = playing.ask(ReportIrregularity, "dan", **fields)
    if isinstance(answer, Refusal):
        return answer
    playing.now -= 1_000
    return playing.do(ReportIrregularity, "dan", **fields)


def faults_of(book: Rulebook, settings: Settings, pair: Pair, decided: Decided) -> list[str]:
    """Plays a pair, and tells how table, bets and money differ from what the case file says."""
    playing = brought(book, pair.phase, settings)
    number = playing.number
    start = len(playing.log)
    events: list[Event] = []
    for nth, name in enumerate((pair.first, pair.second)):
        answer = reported(playing, name, number, nth)
        if isinstance(answer, Refusal):
            return [] if nothing_to_correct(playing, name, number) else [f"{name} refused: {answer}"]
        events += answer
    assert len(playing.log) == start + len(events)
    return [
        *round_faults(playing, number, pair.phase, events, decided),
        *money_faults(playing, number),
    ]


def nothing_to_correct(playing: Playing, name: str, number: int) -> bool:
    """A result cannot be wrong before there is one; of a void round, and after No Roll, that is recorded."""
    round_ = playing.table.round or playing.table.past(number)
    return name == "wrong-result" and round_ is not None and round_.result is None and not round_.voided


def round_faults(
    playing: Playing, number: int, phase: str, events: list[Event], decided: Decided
) -> list[str]:
    """How the round differs from what a case file says."""
    table, rulings = playing.table, set(decided.rulings)
    round_ = table.round or table.past(number)
    assert round_ is not None
    voids = [event for event in events if isinstance(event, RoundVoided)]
    reopened = [event for event in events if isinstance(event, BetsReopened)]
    ended = [event for event in events if isinstance(event, WithdrawalClosed)]
    facts = standing_facts(playing, number, rulings)
    facts["times voided"] = (len(voids), int(bool(rulings & VOIDS)))
    if round_ is table.round and "no-roll" not in rulings:
        uncovers = "reset-and-enter" in rulings and phase == "closed-tumbled"
        facts["phase"] = (str(round_.phase), "revealed" if uncovers else phase)
    if "no-roll" not in rulings and not ("shut" in rulings and reopened):
        facts["times reopened"] = (len(reopened), 0)
    if voids and decided.prevails != "together":  # by then the first may have voided it
        facts["voided by"] = (str(voids[0].clause), decided.clauses[0])
    if ended:
        facts["option ended by"] = (str(ended[0].clause), decided.clauses[0])
    ruled = [event for event in events if isinstance(event, IrregularityRuled)]
    facts["recorded"] = (len(ruled), 2)
    return differing(facts | _recorded(ruled, decided))


Facts = dict[str, tuple[object, object]]
"""What → how it was played, and how it is written."""
VOIDS: Final = {"void", "void-affected"}


def differing(facts: Facts) -> list[str]:
    """What was played otherwise than it is written."""
    return [f"{name}: {got} played, {said} written" for name, (got, said) in facts.items() if got != said]


def standing_facts(playing: Playing, number: int, rulings: set[str]) -> Facts:
    """How a round and its table stand, beside the rulings that should be in force."""
    table = playing.table
    round_ = table.round or table.past(number)
    assert round_ is not None
    waits = [referral for referral in open_referrals(table) if referral.round in (number, None)]
    is_void = bool(rulings & VOIDS)
    return {
        "void": (round_.voided, is_void),
        "no roll": (round_.phase == "open" and round_.shakes > 1, "no-roll" in rulings),
        "option": (Hold.WITHDRAWAL in table.holds, "withdraw-option" in rulings),
        "referred to": (
            {f"refer:{referral.to}" for referral in waits},
            {ruling for ruling in rulings if ruling.startswith("refer:")},
        ),
        "shut": (table.shut is not None, "shut" in rulings),
        "shut after": (table.shut_after is not None, "settle-then-shut" in rulings),
        "held": (bool(table.holds), _is_held(rulings, waits) and not is_void),
    }


def in_force(decided: list[Decided], at_report: list[set[int]]) -> set[str]:
    """The rulings that stand after several reports: of each report, what stands beside every other.

    `at_report` holds, for each report, the places in `decided` of its pairs. A void stands by any pair.
    """
    standing = {ruling for one in decided for ruling in one.rulings if ruling in {*VOIDS, "shut"}}
    for places in at_report:
        standing |= set.intersection(*(set(decided[place].rulings) for place in places))
    return standing - ({"withdraw-option", "no-roll"} if standing & VOIDS else set())


def _recorded(ruled: list[IrregularityRuled], decided: Decided) -> Facts:
    """What is recorded of the two reports, beside what a case file says."""
    rulings = {ruling.partition(":")[0] for ruling in decided.rulings} - {"shut"}
    played = [str(one.ruling) for one in ruled]
    clauses = [str(one.clause) for one in ruled]
    if decided.prevails == "both":
        unsettled = {"settle-then-shut"} if "shut" in decided.rulings else set()
        return {
            "rulings": (set(played) - unsettled, rulings),
            "clauses": (set(clauses), set(decided.clauses)),
        }
    # What prevails is recorded of the second report; where it is the first, that is of both.
    facts: Facts = {
        "second ruling": ({played[-1]}, rulings),
        "second clause": (clauses[-1] in decided.clauses, True),
    }
    if decided.prevails != "together":  # there the first may have the same ruling by itself
        same = played[0] == played[-1] and clauses[0] == clauses[-1]
        facts["first prevails"] = (same, decided.prevails == "A")
    return facts


def _is_held(rulings: set[str], waits: list[Any]) -> bool:
    return "withdraw-option" in rulings or any(referral.holds for referral in waits)


def money_faults(playing: Playing, number: int) -> list[str]:
    """Whether any money was lost or returned twice."""
    table = playing.table
    round_ = table.round or table.past(number)
    assert round_ is not None
    found = [] if table.ledger.difference == 0 else [f"sums differ by {table.ledger.difference}"]
    seat = table.seats[SEAT]
    at_risk = table.ledger.balances[Account.AT_RISK]
    if round_.voided:
        if seat.at_risk or at_risk or table.ledger.balances[Account.PAYABLE]:
            found.append(f"stakes of a void round stay on the table: {seat.at_risk}, {at_risk}")
        # What money that has left comes to be owed stays a claim, of a player or on one.
        claimed = sum(claim.amount * (1 if claim.of_player else -1) for claim in table.claims.values())
        if playing.book.id == RWS and playing.credits + claimed != CREDITS:
            found.append(f"{playing.credits} credits after a void round, {CREDITS} before it")
        chips = table.ledger.balances[Account.CHIPS] - claimed
        if playing.book.id != RWS and chips != FILL:
            found.append(f"{chips} chips after a void round, {FILL} before it")
    elif round_ is table.round and round_.settled is None:
        live = sum(bet.stake for bet in round_.live())
        if not (live == seat.at_risk == at_risk == round_.staked):
            found.append(f"bets of {live} stand, {seat.at_risk} at risk at the seat, {at_risk} at the table")
    return found
