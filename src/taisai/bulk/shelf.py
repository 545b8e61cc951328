"""The bets of one area, side by side in arrays that grow."""

from __future__ import annotations

import numpy as np

from taisai.bulk.multiples import Places, Whole


class Shelf:
    """Of each bet on an area: the player, the steps, and its place in the order of registration."""

    __slots__ = ("_places", "_players", "_size", "_steps")

    def __init__(self, players: Places, steps: Whole, places: Places) -> None:
        self._players = players
        self._steps = steps
        self._places = places
        self._size = players.size

    @property
    def players(self) -> Places:
        """Who bet."""
        return self._players[: self._size]

    @property
    def steps(self) -> Whole:
        """How many of the area's steps each bet is."""
        return self._steps[: self._size]

    @property
    def places(self) -> Places:
        """Where each bet stands in the order of registration."""
        return self._places[: self._size]

    def append(self, players: Places, steps: Whole, places: Places) -> None:
        """Puts more bets behind those that are there."""
        used, size = self._size, self._size + players.size
        if size > self._players.size:
            room = 2 * size  # twofold, so that on average a bet is moved about once, however many come
            self._players = _grown(self._players, used, room)
            self._steps = _grown(self._steps, used, room)
            self._places = _grown(self._places, used, room)
        self._players[used:size] = players
        self._steps[used:size] = steps
        self._places[used:size] = places
        self._size = size


def _grown(array: Whole, used: int, room: int) -> Whole:
    grown = np.empty(room, dtype=array.dtype)
    grown[:used] = array[:used]
    return grown
