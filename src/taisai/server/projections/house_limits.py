"""The limits of a house, and the alarm for the pit when one of them is near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from taisai.cage import House
from taisai.cage.access import MOST_ADOPTED, MOST_DEVICES, MOST_SESSIONS_OPEN
from taisai.cage.decide import MOST_HELD, MOST_MOVEMENTS, MOST_PEOPLE, MOST_TICKETS, MOST_TRANSFERS
from taisai.game import Table
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.money.ledger import Account
from taisai.game.table import (
    MOST_CLAIMS,
    MOST_REFERRALS,
    MOST_RETIRED,
    MOST_ROUNDS,
    MOST_SEATS,
    MOST_TERMS,
    MOST_WAIVED,
)
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
    people = Words("people on the staff list, or locked when they left it", "员工（含锁定后离职者）")
    held = house.ledger.balances
    parts = (
        (tickets, len(house.tickets), MOST_TICKETS),
        (Words("transfers with tables", "与赌桌之间的转移"), len(house.transfers), MOST_TRANSFERS),
        (Words("movements of the owners' money", "业主资金进出"), len(house.movements), MOST_MOVEMENTS),
        (people, len(house.people) + len(house.locked - house.people.keys()), MOST_PEOPLE),
        (Words("devices", "设备"), len(house.devices), MOST_DEVICES),
        (Words("open sessions", "未结束的会话"), len(house.sessions), MOST_SESSIONS_OPEN),
        (Words("adopted editions", "已采纳的版本"), len(house.adopted), MOST_ADOPTED),
        (Words("minor units in the cage", "账房现金（最小单位）"), held[Account.CAGE], MOST_HELD),
        (Words("minor units in open tickets", "未兑付票券（最小单位）"), held[Account.TICKETS], MOST_HELD),
    )  # fmt: skip
    for what, number, most in parts:
        yield HouseLimit("house", what, number, most)
    for table in tables.values():
        yield from _table_limits(table)


def _table_limits(table: Table) -> Iterator[HouseLimit]:
    """The limits of a table; one that is closed counts only what still waits there."""
    parts: tuple[tuple[Words, int, int], ...] = (
        (Words("open questions", "待裁决事项"), len(open_referrals(table)), MOST_REFERRALS),
        (Words("open claims", "未结款项"), len(table.claims), MOST_CLAIMS),
    )
    if table.open:
        parts += (
            (Words("rounds", "局"), len(table.rounds), MOST_ROUNDS),
            (Words("names of seats", "座位名"), len(table.seats), MOST_SEATS),
            (Words("waived claims", "已豁免款项"), len(table.waived), MOST_WAIVED),
            (Words("different limits and odds", "不同的限额与赔率"), len(table.in_force), MOST_TERMS),
            (Words("retired items", "已停用设备"), len(table.equipment.retired), MOST_RETIRED),
        )  # fmt: skip
    for what, number, most in parts:
        yield HouseLimit(table.name, what, number, most)
