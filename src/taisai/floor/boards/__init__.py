"""Boards: what each feed shows now, and the frames that bring its followers there.

They live in the writer's thread, where tables may be looked at, and are asked after every group of commands.
"""

from taisai.floor.boards.every import Boards
from taisai.floor.boards.names import CAGE, LOBBY, PIT, Shown, console_feed, seat_feed, table_feed

__all__ = ["CAGE", "LOBBY", "PIT", "Boards", "Shown", "console_feed", "seat_feed", "table_feed"]
