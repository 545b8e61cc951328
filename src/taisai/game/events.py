"""All events: what happened at a table. Each is defined with its subject, as the commands are."""

from typing import Final

from taisai.game.commands import *
from taisai.game.commands import SUBJECTS
from taisai.game.messages import Event as Event
from taisai.game.messages import messages_in

EVENTS: Final = tuple(kind for subject in SUBJECTS for kind in messages_in(subject, Event))
"""Every event, subject by subject."""
