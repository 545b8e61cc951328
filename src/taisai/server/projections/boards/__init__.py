"""Boards: what each feed shows now, and the frames that bring its followers there.

They live in the writer's thread, where tables may be looked at, and are asked after every group of commands.
"""

from taisai.server.projections.all_feeds import Boards
from taisai.server.projections.feed_names import CAGE, LOBBY, PIT, Shown, console_feed, seat_feed, table_feed

__all__ = ["CAGE", "LOBBY", "PIT", "Boards", "Shown", "console_feed", "seat_feed", "table_feed"]
