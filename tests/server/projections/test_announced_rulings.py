"""What the console says that a report will have as its ruling is what the journal records when it is made."""

from __future__ import annotations

from taisai.game.commands import ReportIrregularity
from taisai.game.events import IrregularityRuled
from taisai.game.playbook import Play, playbook
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections.offers import irregularities
from tests.game.playbooks import PLAYBOOKS, READINGS, book_of, terms_compiled_once

PLAYED = {name: text for name, text in (PLAYBOOKS | READINGS).items() if not name.startswith("edition-1/")}


def announced(play: Play, command: ReportIrregularity) -> tuple[str, str] | None:
    """The ruling that the console names, and its clause; None where a report says what it cannot know."""
    now = play.table.round.number if play.table.round is not None else None
    if command.item is not None or command.round not in (None, now):
        return None
    (line,) = irregularities(play.table, command.at, (Irregularity(command.event),))
    told = line.if_seen if command.seen and line.if_seen is not None else line
    return told.ruling, told.clause


def announced_otherwise(name: str) -> list[str]:
    """Reports of a playbook for which the console announced something else, a moment before."""
    story = playbook(PLAYED[name], name)
    play, wrong = Play(story, book_of(story.book)), []
    for step in story.steps:
        command = step.command_line.command(play.table, play.now + step.after)
        told = announced(play, command) if isinstance(command, ReportIrregularity) else None
        played = play._step(step)
        ruled = next((event for event in played.events if isinstance(event, IrregularityRuled)), None)
        if told is not None and ruled is not None and told != (ruled.ruling, ruled.clause):
            wrong.append(f"{name}:{step.line}: announced {told}, recorded {ruled.ruling} [{ruled.clause}]")
    return wrong


def test_the_console_announces_the_ruling_that_is_recorded() -> None:
    with terms_compiled_once():
        assert [wrong for name in PLAYED for wrong in announced_otherwise(name)] == []
