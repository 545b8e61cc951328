"""Observed edges with their bands, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from taisai.study.journal.observed import Observed
from taisai.study.plotting import INK, PALETTE, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST: Final = 40
"""Areas in one picture; those with the most rounds."""


def drawn(found: Observed) -> Figure:
    """Each area's observed edge as a dot on the 99 % band about its exact edge."""
    areas = sorted(found.areas, key=lambda one: -one.rounds)[:MOST]
    made, (axes,) = figure(
        "Observed house edge, and the normal 99 % band about the exact one",
        x="house edge",
        height=max(3.0, 0.27 * len(areas) + 1.4),
    )
    for place, one in enumerate(reversed(areas)):
        exact = float(one.exact_edge)
        axes.plot(
            [exact - one.half_width, exact + one.half_width], [place] * 2, color=PALETTE[5], linewidth=7,
            solid_capstyle="butt", zorder=1,
        )  # fmt: skip
        axes.plot([exact] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=1.5, zorder=2)
        colour, marker = (PALETTE[1], "s") if one.is_odd else (PALETTE[0], "o")
        axes.plot([one.edge], [place], marker, color=colour, markersize=6, zorder=3)
    axes.set_yticks(
        range(len(areas)), [f"{one.area} ({one.rounds:,})" for one in reversed(areas)], fontsize=9
    )
    axes.xaxis.set_major_formatter(lambda value, _place: f"{100 * value:.0f} %")
    return made
