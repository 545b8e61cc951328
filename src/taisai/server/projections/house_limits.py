"""The limits of a house, and the alarm for the pit when one of them is near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from taisai.cage import House
from taisai.cage.access import MOST_DEVICES, MOST_SESSIONS_OPEN
from taisai.cage.decide import MOST_MOVEMENTS, MOST_PEOPLE, MOST_TICKETS, MOST_TRANSFERS
from taisai.game import Table
from taisai.game.table import MOST_ROUNDS
from taisai.protocol.views import Words

NEAR: Final = 80  # per cent of a limit, from which on the pit has an alarm


class HouseLimit(NamedTuple):
    """How much there is of something, and the most that there may be."""

    about: str
    what: Words
    number: int
    most: int

    @property
    def is_near(self) -> bool:
        return self.number * 100 >= self.most * NEAR

    @property
    def says(self) -> Words:
        number, most = f"{self.number:,}", f"{self.most:,}"
        return Words(
            f"{number} {self.what.en}, of at most {most}. What to do: “Limits of a house” in the manual",
            f"{self.what.zh}已有 {number}，上限 {most}。处理办法见手册“Limits of a house”",
        )


def house_limits(house: House, tables: Mapping[str, Table]) -> Iterator[HouseLimit]:
    """Every limit on what a house may have."""
    tickets = Words("tickets that are open or were redeemed lately", "未兑付及近期兑付的票券")
    parts = (
        (tickets, house.tickets, MOST_TICKETS),
        (Words("transfers with tables", "与赌桌之间的转移"), house.transfers, MOST_TRANSFERS),
        (Words("movements of the owners' money", "业主资金进出"), house.movements, MOST_MOVEMENTS),
        (Words("people on the staff list", "员工"), house.people, MOST_PEOPLE),
        (Words("devices", "设备"), house.devices, MOST_DEVICES),
        (Words("open sessions", "未结束的会话"), house.sessions, MOST_SESSIONS_OPEN),
    )  # fmt: skip
    for what, kept, most in parts:
        yield HouseLimit("house", what, len(kept), most)
    for name, table in tables.items():
        if table.open:
            yield HouseLimit(name, Words("rounds", "局"), len(table.rounds), MOST_ROUNDS)
