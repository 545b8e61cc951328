"""Three irregularities in one round, at random, with what people do between them."""

from __future__ import annotations

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
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import Treatment
from taisai.rules import Phase, rulebook, rulebook_ids
from tests.game import pairs
from tests.game.past_rounds import unlike
from tests.game.playing import SEAT, Playing, course

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
    for nth in range(3):
        name = rng.choice(names)
        alone = rng.random() < 0.3
        answer = pairs.reported(playing, name, number, nth, alone=alone)
        story.append(f"{name}{' by one' if alone else ''}: {_told(answer)}")
        if isinstance(answer, Refusal) and not pairs.nothing_to_correct(playing, name, number):
            faults.append(f"{name} is refused: {answer}")
        faults += pairs.money_faults(playing, number)
        for _ in range(rng.randrange(3)):
            story += _something(playing, rng)
            faults += pairs.money_faults(playing, number)
    again = Table(playing.book)
    for event in playing.log:
        play.evolve(again, event)
    faults += [f"replayed otherwise: {what}" for what in unlike(playing.table, again)]
    return [f"{fault} [{'; '.join(story)}]" for fault in faults]


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
