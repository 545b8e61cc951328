"""Many rounds at once: the same bets, settled on one outcome after another."""

from __future__ import annotations

from typing import Final

import numpy as np

from taisai.bulk.bets import BetsByArea
from taisai.bulk.entry import BulkError, Numbers, whole
from taisai.bulk.multiples import Places, Whole
from taisai.rules.outcomes import OUTCOMES

MOST_CELLS: Final = 2**27
"""Rounds × bets, or rounds × players, of one answer, which then takes 1 GiB."""


def nets_by_bet(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round][bet] won, or minus the stake, where each round's outcome is given by its place among the 56."""
    places = _places(outcomes, len(bets), "bets")
    multiples = bets.multiples
    nets = np.empty((places.size, len(bets)), dtype=np.int64)
    for part in bets.parts():
        per_step = multiples.table[part.row, places] - multiples.steps[part.row]
        nets[:, part.places] = per_step[:, np.newaxis] * part.steps
    return nets


def nets_by_player(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round][player] what each player's bets come to, outcomes given by their places among the 56."""
    places = _places(outcomes, bets.players, "players")
    staked = bets.staked_by_player()
    once, which = np.unique(places, return_inverse=True)
    nets = [bets.returned_by_player(OUTCOMES[place]) - staked for place in once]
    return np.array(nets, dtype=np.int64).reshape(once.size, bets.players)[which]


def house_nets(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round] what stays with the house, outcomes given by their places among the 56."""
    nets = np.array([bets.house(outcome).net for outcome in OUTCOMES], dtype=np.int64)
    return nets[_places(outcomes, 1, "totals")]


def _places(outcomes: Numbers, width: int, of: str) -> Places:
    places = whole(outcomes, "outcomes")
    if places.ndim != 1:
        raise BulkError(f"expected outcomes in one row, got the shape {places.shape}")
    if places.size and not 0 <= places.min() <= places.max() < len(OUTCOMES):
        raise BulkError(f"expected outcomes as places from 0 to 55, got {places.min()} to {places.max()}")
    if places.size * width > MOST_CELLS:
        raise BulkError(f"expected at most {MOST_CELLS} rounds × {of}, got {places.size} × {width}")
    return places
