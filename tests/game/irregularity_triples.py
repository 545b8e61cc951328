"""Three irregularities in one round, at random, with what people do between them."""

from __future__ import annotations

from itertools import combinations
from random import Random

from taisai.game import play
from taisai.game.commands import (
    ChooseWithdrawal,
    CloseWithdrawal,
    Command,
    ConfirmReport,
    ContestReport,
    DecideReferral,
    Perform,
)
from taisai.game.events import IrregularityRuled, RoundVoided
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import Treatment
from taisai.rules import Phase, rulebook, rulebook_ids
from tests.game import pairs
from tests.game.past_rounds import unlike
from tests.game.playing import SEAT, Playing, course

_DEVICE_FAILS = frozenset({"equipment-failure", "power-failure"})
TREATMENTS = (Treatment.CONTINUE, Treatment.VOID, Treatment.SHUT)


def triple_faults(seed: str) -> list[str]:
    """Plays three reports on a round; what is not ruled, does not add up, or replays otherwise."""
    rng = Random(seed)
    book = rng.choice(rulebook_ids())
    settings, table = rng.choice(list(pairs.cases(book).items()))
    names = list(dict.fromkeys(pair.first for pair in table))
    phases = [
        phase for phase in rulebook(book).irregularities.phases if pairs.is_played(book, settings, phase)
    ]
    phase = rng.choice([phase for phase in phases if phase is not Phase.BETWEEN])
    playing = pairs.brought(rulebook(book), phase, settings)
    number = playing.number
    story = [f"{book} {dict(settings)} {phase}"]
    faults: list[str] = []
    quiet = rng.random() < 0.5
    start = len(playing.log)
    reports = [rng.choice(names) for _ in range(3)]
    for nth, name in enumerate(reports):
        alone = not quiet and rng.random() < 0.3
        answer = pairs.reported(playing, name, number, nth, alone=alone)
        story.append(f"{name}{' by one' if alone else ''}: {_told(answer)}")
        if isinstance(answer, Refusal) and not pairs.nothing_to_correct(playing, name, number):
            faults.append(f"{name} is refused: {answer}")
        faults += pairs.money_faults(playing, number)
        for _ in range(0 if quiet else rng.randrange(3)):
            story += _something(playing, rng)
            faults += pairs.money_faults(playing, number)
    voids = [event for event in playing.log if isinstance(event, RoundVoided) and event.round == number]
    if len(voids) > 1:
        faults.append(f"round {number} is voided {len(voids)} times")
    if quiet:
        faults += _unlike_pairs(playing, number, table, reports, start)
    again = Table(playing.book)
    for event in playing.log:
        play.evolve(again, event)
    faults += [f"replayed otherwise: {what}" for what in unlike(playing.table, again)]
    return [f"{fault} [{'; '.join(story)}]" for fault in faults]


def _unlike_pairs(
    playing: Playing, number: int, table: pairs.Table, reports: list[str], start: int
) -> list[str]:
    """How a round after three reports differs from what the case file says of each two of them."""
    ruled = [event for event in playing.log[start:] if isinstance(event, IrregularityRuled)]
    phases = {event.phase for event in ruled}
    if len(ruled) < len(reports) or len(phases) > 1:
        return []  # one was refused; or a report has moved the round on, and pairs are about one phase
    names = [_as_seen(name, table, seen=event.seen) for name, event in zip(reports, ruled, strict=True)]
    phase = str(phases.pop())
    places = list(combinations(range(3), 2))
    decided = [table[pairs.Pair(names[first], names[second], phase)] for first, second in places]
    ends = any("shut" in one.rulings for one in decided)  # then a referral of the device ends as well
    at_report = [
        {n for n, place in enumerate(places) if report in place}
        for report, name in enumerate(names)
        if not (ends and name in _DEVICE_FAILS)
    ]
    rulings = pairs.in_force(decided, at_report)
    return pairs.differing(pairs.standing_facts(playing, number, rulings))


def _as_seen(name: str, table: pairs.Table, *, seen: bool) -> str:
    """A report's name in the case file, after a die was seen."""
    marked = f"{name}[seen]"
    return marked if seen and any(pair.first == marked for pair in table) else name


def _told(answer: object) -> str:
    return str(answer) if isinstance(answer, Refusal) else "recorded"


def _something(playing: Playing, rng: Random) -> list[str]:
    """What someone may do between two reports; a refusal is an answer too."""
    table = playing.table
    options: list[tuple[type[Command], str, dict[str, object]]] = [
        (ChooseWithdrawal, "dan", {"seat": SEAT, "withdraw": rng.random() < 0.7}),
        (CloseWithdrawal, "dan", {"others_stay": True}),
    ]
    for report in table.reports:
        options.append((ConfirmReport, "sue", {"report": report}))
        options.append((ContestReport, "sue", {"report": report, "reason": "seen otherwise"}))
    for referral in open_referrals(table):
        fields: dict[str, object] = {
            "referral": referral.id, "treatment": rng.choice(TREATMENTS), "reason": "decided",
            "second": rng.choice(["dan", None]),
        }  # fmt: skip
        options.append((DecideReferral, "sue", fields))
    for act, _ in course(playing.book.id, playing.settings):
        performer, filled = playing.performing(act, second="sue")
        if table.round is not None and act != "open-bets":
            options.append((Perform, performer, filled))
    command, by, fields = rng.choice(options)
    if isinstance(playing.ask(command, by, **fields), Refusal):
        return []
    playing.do(command, by, **fields)
    return [f"{command.__name__} {fields.get('treatment', fields.get('act', ''))}"]
