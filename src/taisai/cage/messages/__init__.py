"""Commands and events of the House's own stream: staff, devices, sign-ins, money and notes."""

from typing import Final

from taisai.cage.messages import credentials, money, people, running
from taisai.cage.messages.credentials import *
from taisai.cage.messages.money import *
from taisai.cage.messages.people import *
from taisai.cage.messages.running import *
from taisai.game.messages import messages_in

_SUBJECTS: Final = (people, credentials, money, running)
HOUSE_COMMANDS: Final = tuple(kind for subject in _SUBJECTS for kind in messages_in(subject, HouseCommand))
"""Every command of the House."""
HOUSE_EVENTS: Final = tuple(kind for subject in _SUBJECTS for kind in messages_in(subject, HouseEvent))
"""Every event of the House."""
