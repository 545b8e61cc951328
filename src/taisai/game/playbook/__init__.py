"""Playbooks: rounds of play as plain text that a pit manager can read and object to.

>>> from taisai.game.playbook import Play, playbook
>>> from taisai.rules import rulebook
>>> story = playbook('''
... # Nothing is uncovered before it is tumbled.
... book: mbs-sic-bo-v6
... opened by: Sue shift-manager
... people: Dan dealer
... limits: 1000 to 500000
... > Dan: uncover
...   ! out-of-order [3.10]
... ''')
>>> for played in Play(story, rulebook(story.book)).steps():
...     print(played.answer, played.mismatches)
('! out-of-order [3.10]',) ()
"""

from taisai.game.playbook.answers import LimitEffect, Share
from taisai.game.playbook.command_lines import PlaybookError
from taisai.game.playbook.parser import Playbook, PlaybookStep, playbook
from taisai.game.playbook.runner import (
    BookedEvent,
    Mismatch,
    PinnedPlaybook,
    Play,
    PlayedCommand,
    pinned,
    rewritten,
)

__all__ = [
    "BookedEvent",
    "LimitEffect",
    "Mismatch",
    "PinnedPlaybook",
    "Play",
    "Playbook",
    "PlaybookError",
    "PlaybookStep",
    "PlayedCommand",
    "Share",
    "pinned",
    "playbook",
    "rewritten",
]
