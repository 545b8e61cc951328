"""All commands: what people and machines request of a table. Each is defined with its subject."""

from typing import Final

from taisai.game import seating, staffing
from taisai.game.betting import messages as betting
from taisai.game.betting.messages import *
from taisai.game.by_hand import messages as by_hand
from taisai.game.by_hand.messages import *
from taisai.game.dice import messages as dice
from taisai.game.dice.messages import *
from taisai.game.equipment import messages as equipment
from taisai.game.equipment.messages import *
from taisai.game.irregularities import messages as irregularities
from taisai.game.irregularities.messages import *
from taisai.game.messages import Command as Command
from taisai.game.messages import messages_in
from taisai.game.money import messages as money
from taisai.game.money.messages import *
from taisai.game.rounds import messages as rounds
from taisai.game.rounds.messages import *
from taisai.game.seating import *
from taisai.game.staffing import *
from taisai.game.terms import messages as terms
from taisai.game.terms.messages import *

SUBJECTS: Final = (terms, staffing, equipment, seating, money, betting, rounds, irregularities, dice, by_hand)
COMMANDS: Final = tuple(kind for subject in SUBJECTS for kind in messages_in(subject, Command))
"""Every command, subject by subject."""
