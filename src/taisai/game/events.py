"""All events: what happened at a table. Each is defined with its subject."""

from typing import Final

from taisai.game.betting.messages import *
from taisai.game.commands import SUBJECTS
from taisai.game.dice.messages import *
from taisai.game.equipment.messages import *
from taisai.game.irregularities.messages import *
from taisai.game.messages import Event as Event
from taisai.game.messages import messages_in
from taisai.game.money.messages import *
from taisai.game.rounds.messages import *
from taisai.game.seating import *
from taisai.game.staffing import *
from taisai.game.terms.messages import *

EVENTS: Final = tuple(kind for subject in SUBJECTS for kind in messages_in(subject, Event))
"""Every event, subject by subject."""
