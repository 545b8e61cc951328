"""What is under way between the tables and the cage: booked by one side and not by the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from taisai.cage import House
from taisai.game import Table
from taisai.protocol.views import Flight


class _Booked(NamedTuple):
    """A side's record of a transfer."""

    kind: str
    amount: int
    subject: str


class Transit:
    """Follows the transfers of both sides, of which there are ever more, looking at new ones only."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._ours: dict[tuple[str, str], _Booked] = {}
        self._theirs: dict[tuple[str, str], _Booked] = {}
        self._seen: dict[str, int] = {}
        """Table → how many of its transfers have been looked at; '' is the House."""

    @classmethod
    def of(cls, house: House, tables: Mapping[str, Table]) -> Transit:
        """As things stand."""
        made = cls()
        made.catch_up(house, tables)
        return made

    def catch_up(self, house: House, tables: Mapping[str, Table]) -> None:
        """What has been booked since the last time."""
        new = len(house.transfers) - self._seen.get("", 0)
        self._seen[""] = len(house.transfers)
        for kept in islice(reversed(house.transfers.values()), new):
            subject = kept.claim or kept.ticket or kept.seat or ""
            self._book(
                self._ours, self._theirs, (kept.table, kept.id), _Booked(kept.kind, kept.signed, subject)
            )
        for name, table in tables.items():
            new = len(table.transfers) - self._seen.get(name, 0)
            self._seen[name] = len(table.transfers)
            for id_, moved in islice(reversed(table.transfers.items()), new):
                booked = _Booked(moved.kind, moved.amount, moved.subject)
                self._book(self._theirs, self._ours, (name, id_), booked)

    @staticmethod
    def _book(
        mine: dict[tuple[str, str], _Booked],
        other: dict[tuple[str, str], _Booked],
        key: tuple[str, str],
        booked: _Booked,
    ) -> None:
        answer = other.get(key)
        if answer is not None and answer.amount + booked.amount == 0:
            del other[key]
        else:
            mine[key] = booked

    def flights(self, table: str | None = None) -> tuple[Flight, ...]:
        """Everything that is under way, or what concerns one table."""
        keys = sorted(self._ours.keys() | self._theirs.keys())
        return tuple(self._flight(key) for key in keys if table in (None, key[0]))

    def _flight(self, key: tuple[str, str]) -> Flight:
        ours, theirs = self._ours.get(key), self._theirs.get(key)
        told = self._theirs[key] if ours is None else ours
        by = "both" if ours and theirs else "table" if theirs else "house"
        table, name = key
        return Flight(
            id=name, table=table, kind=str(told.kind), amount=abs(told.amount), booked_by=by,
            subject=told.subject,
        )  # fmt: skip
