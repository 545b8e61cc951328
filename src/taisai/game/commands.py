"""Commands: what people and machines ask of a table. Each is defined in the folder of its subject."""

from typing import Final

from taisai.game.betting import messages as betting
from taisai.game.betting.messages import *
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
from taisai.game.seating import messages as seating
from taisai.game.seating.messages import *
from taisai.game.staffing import messages as staffing
from taisai.game.staffing.messages import *
from taisai.game.terms import messages as terms
from taisai.game.terms.messages import *

COMMANDS: Final[tuple[type[Command], ...]] = tuple(
    kind
    for subject in (terms, staffing, equipment, seating, money, betting, rounds, irregularities, dice)
    for kind in messages_in(subject, Command)
)
"""Every command there is, subject by subject."""
