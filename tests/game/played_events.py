"""What was played, told in the words of events: every irregularity, act and recovery, by the clause it cites.

`ruling_played(book, "die-not-flat", "revealed")` says 'void 5.3.2': a table was brought to that phase, the
report made, its events applied, and the table then looked at. `rulings_by(book, "5.3.2")` plays every
irregularity in every phase and tells those that cite the clause; `acts_by` and `recoveries_by` do so for
acts and stops. None of them asks the book what it orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from taisai.game import play
from taisai.game.commands import Declare, Perform, Recover
from taisai.game.events import (
    BetsReopened,
    DiceUncovered,
    Event,
    Interrupted,
    IrregularityRuled,
    Referred,
    ResultCorrected,
    RoundResettled,
    RoundVoided,
    SettlementWitnessed,
    WithdrawalOffered,
)
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import RECOVERY, Hold
from taisai.rules import Act, Irregularity, Phase, Rulebook
from taisai.rules.procedure import Declared
from taisai.rules.vocabulary import Visibility
from tests.game.playing import (
    CREDITS,
    RWS,
    SEAT,
    STAKES,
    US,
    Answer,
    Playing,
    at,
    course,
    phases,
    standing,
    worn,
)

Settings = tuple[tuple[str, str], ...]
Cell = tuple[str, str, str]
"""(what it was, the phase, what became of it)."""

WORDS: Final[dict[type[Event], Callable[[Any], str]]] = {
    RoundVoided: lambda _: "void",
    BetsReopened: lambda _: "bets reopened",
    WithdrawalOffered: lambda _: "withdrawal offered",
    Referred: lambda event: f"referred to {event.to}",
    SettlementWitnessed: lambda event: f"settled before {event.witness}, then shut",
    RoundResettled: lambda _: "resettled",
    ResultCorrected: lambda _: "corrected",
    DiceUncovered: lambda _: "uncovered",
}
"""What has an effect of its own; anything else is only noted."""


def told(answer: Answer) -> str:
    """'<what became of it> <clause>' of what a report came to."""
    if isinstance(answer, Refusal):
        return f"refused {answer.reason} {answer.clause}"
    affected = any(
        isinstance(event, IrregularityRuled) and event.ruling == "void-affected" for event in answer
    )
    for event in answer:
        if type(event) in WORDS:
            return f"{'affected rounds ' if affected else ''}{WORDS[type(event)](event)} {event.clause}"
    for event in answer:
        if isinstance(event, IrregularityRuled):
            return f"noted {event.ruling} {event.clause}"
        if isinstance(event, Interrupted):
            return f"{event.action} {event.clause}"
    raise AssertionError(f"nothing to tell of {answer}")


# What the table looks like afterwards


def _void(after: Playing, event: RoundVoided) -> None:
    round_ = after.table.past(event.round)
    assert round_ is not None
    assert round_.voided
    assert after.table.round is None
    assert (after.balance(Account.AT_RISK), after.balance(Account.PAYABLE)) == (0, 0)
    if after.book.id == RWS:
        assert after.credits == CREDITS


def _reopened(after: Playing, _event: BetsReopened) -> None:
    assert after.table.phase is Phase.OPEN
    assert after.table.seats[SEAT].at_risk == sum(STAKES.values())
    assert after.table.round is not None
    assert (after.table.round.tumbles, after.table.round.result) == (0, None)


def _offered(after: Playing, _event: WithdrawalOffered) -> None:
    assert after.table.held is not None
    assert after.table.held.hold is Hold.WITHDRAWAL


def _referred(after: Playing, event: Referred) -> None:
    referral = after.table.referrals[event.referral]
    assert (referral.to, referral.decided_by) == (event.to, None)
    waits = after.table.round is not None
    if event.subject == "chips-unclear" and waits:
        waits = after.table.phase.visibility is Visibility.SHOWN  # decided after the uncovering
    assert event.holds == waits
    assert (after.table.held is not None) == event.holds


def _witnessed(after: Playing, event: SettlementWitnessed) -> None:
    assert after.table.round is not None
    assert after.table.round.witness == event.witness
    assert after.table.shut_after == event.reason


def _resettled(after: Playing, event: RoundResettled) -> None:
    round_ = after.table.round or after.table.past(event.round)
    assert round_ is not None
    assert round_.result is not None
    assert tuple(round_.result.faces) == event.faces


def _corrected(after: Playing, event: ResultCorrected) -> None:
    assert after.table.round is not None
    assert after.table.round.result is not None
    assert tuple(after.table.round.result.faces) == event.faces


def _uncovered(after: Playing, _event: DiceUncovered) -> None:
    assert after.table.phase is Phase.REVEALED


_LOOKS: Final[dict[type[Event], Callable[[Playing, Any], None]]] = {
    RoundVoided: _void,
    BetsReopened: _reopened,
    WithdrawalOffered: _offered,
    Referred: _referred,
    SettlementWitnessed: _witnessed,
    RoundResettled: _resettled,
    ResultCorrected: _corrected,
    DiceUncovered: _uncovered,
}


def _looked_at(before: Playing, answer: Answer) -> None:
    """Applies what was decided to a fork, and sees that the table is as the words say."""
    if isinstance(answer, Refusal):
        return
    after = before.fork()
    for event in answer:
        play.evolve(after.table, event)
        assert after.table.ledger.difference == 0
    effects = [event for event in answer if type(event) in _LOOKS]
    for event in effects:
        _LOOKS[type(event)](after, event)
    if not effects:
        assert after.table.phase is before.table.phase
        assert after.table.ledger.balances == before.table.ledger.balances
        assert after.table.held == before.table.held


# Irregularities


def ruling_played(book: Rulebook, event: str, phase: str, *, seen: bool = False, **settings: str) -> str:
    """'<what became of it> <clause>' of an irregularity that is reported in a phase."""
    before = standing(book, phase, **settings)
    answer = before.report(event, seen=seen)
    _looked_at(before, answer)
    return told(answer)


def _within(book: str, settings: Settings) -> Iterator[str]:
    """The phases that a round passes: all of the book's, but for those that the settings rule out."""
    named = dict(settings)
    passed = {phase for _, phase in course(book, named)}
    yield from (phase for phase in phases(book) if phase in passed or not named)


@lru_cache(maxsize=16)
def _rulings(book: Rulebook, seen: bool, settings: Settings) -> tuple[Cell, ...]:  # noqa: FBT001  keys of a cache
    cells: list[Cell] = []
    for phase in _within(book.id, settings):
        here = standing(book, phase, **dict(settings))
        cells += [(event, phase, told(here.report(event, seen=seen))) for event in Irregularity]
    return tuple(cells)


def _by(cells: tuple[Cell, ...], clause: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for what, phase, became in cells:
        words, _, cited = became.rpartition(" ")
        if cited == clause:
            name = f"{what}: {words}"
            found[name] = f"{found[name]} {phase}" if name in found else phase
    return found


def rulings_by(book: Rulebook, clause: str, *, seen: bool = False, **settings: str) -> dict[str, str]:
    """'<irregularity>: <what became of it>' → the phases, of all that cite a clause."""
    cells = _rulings(book, seen, tuple(sorted(settings.items())))
    looked: set[tuple[str, str]] = set()
    for event, phase, became in cells:
        # What was referred or voided looks the same whatever it was: once for each phase is enough.
        if became.endswith(f" {clause}") and (phase, became) not in looked:
            looked.add((phase, became))
            ruling_played(book, event, phase, seen=seen, **settings)
    return _by(cells, clause)


# Acts


def told_of_act(playing: Playing, act: str, **fields: Any) -> str:
    """'to <phase> <clause>' of an act that is a step, else what became of it."""
    by, fields = playing.performing(act, **fields)
    answer = playing.ask(Perform, by, **fields)
    if isinstance(answer, Refusal) or any(isinstance(event, IrregularityRuled) for event in answer):
        return told(answer)
    after = playing.fork()
    for event in answer:
        play.evolve(after.table, event)
    return f"to {after.table.phase} {answer[-1].clause}"


def act_played(book: Rulebook, act: str, phase: str, **settings: str) -> str:
    """What becomes of an act in a phase."""
    here = standing(book, phase, **settings)
    became = told_of_act(here, act)
    # Whether the dice lie flat is asked when the result is keyed in, and of no other act.
    assert act == Act.ENTER_RESULT or told_of_act(here, act, flat=False) == became
    # What a round needs to open it does not need to go on; US 1 asks for the age of the dice at every shake.
    is_shake = book.id == US and act in (Act.TUMBLE, Act.ACTIVATE_SHAKER)
    later = worn(book, phase, hours=1 if is_shake else 25, **settings)
    assert phase == Phase.BETWEEN or told_of_act(later, act) == became
    return became


@lru_cache(maxsize=16)
def _acts(book: Rulebook, settings: Settings) -> tuple[Cell, ...]:
    return tuple(
        (act, phase, act_played(book, act, phase, **dict(settings)))
        for phase in _within(book.id, settings)
        for act in Act
    )


def acts_by(book: Rulebook, clause: str, **settings: str) -> dict[str, str]:
    """'<act>: <what became of it>' → the phases, of all that cite a clause."""
    return _by(_acts(book, tuple(sorted(settings.items()))), clause)


# Stops


def recovery_played(book: Rulebook, phase: str, declared: str | None = None, **settings: str) -> str:
    """What a stop in a phase comes to: as it is, or once Dealer and supervisor declared what was seen."""
    playing = at(book, phase, **settings)
    before = playing.fork()
    answer: Answer = playing.do(Recover, RECOVERY)
    if declared is not None:
        answer = playing.ask(Declare, "dan", declared=Declared(declared), second="sue")
        before = playing
    _looked_at_stop(before, answer)
    return told(answer)


def _looked_at_stop(before: Playing, answer: Answer) -> None:
    asks = not isinstance(answer, Refusal) and any(
        isinstance(event, Interrupted) and event.action == "declare" for event in answer
    )
    declares = before.table.held is not None and before.table.held.hold is Hold.DECLARATION
    if not asks and not declares:
        _looked_at(before, answer)
    if asks:
        after = before.fork()
        after.do(Recover, RECOVERY)
        assert after.table.held is not None
        assert after.table.held.hold is Hold.DECLARATION


@lru_cache(maxsize=16)
def _recoveries(book: Rulebook, settings: Settings) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for phase in _within(book.id, settings):
        for declared in (None, *Declared):
            became = recovery_played(book, phase, declared, **dict(settings))
            if declared is None or not became.startswith("refused"):
                cells.append((f"{declared or 'stopped'}", phase, became))
    return tuple(cells)


def recoveries_by(book: Rulebook, clause: str, **settings: str) -> dict[str, str]:
    """'stopped: <what became of it>', or 'seen' and 'unseen' → the phases, of all that cite a clause."""
    return _by(_recoveries(book, tuple(sorted(settings.items()))), clause)
