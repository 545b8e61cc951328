"""Pictures of the shoe: edges, effects of removal, what counting earns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from taisai.rules.outcomes import FACES
from taisai.study.plotting import INK, MARKERS, PALETTE, figure, legend

if TYPE_CHECKING:  # drawing takes a second to import
    from matplotlib.figure import Figure

    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.counting import Removal
    from taisai.study.shoe.exposure import Exposure

Line = tuple[Sequence[float], Sequence[float]]


def edges_picture(odds: CompositionOdds) -> Figure:
    """A bar an area: its house edge now, and a tick where it is with the full shoe."""
    title = f"House edge with {sum(odds.left)} of {sum(odds.full)} cards left"
    made, (axes,) = figure(title, x="house edge, per cent of the stake", height=6.4)
    names = [one.id for one in odds.odds][::-1]
    edges = [100 * float(one.house_edge) for one in odds.odds][::-1]
    before = [100 * float(edge) for edge in odds.before][::-1]
    colours = [PALETTE[1] if edge < 0 else PALETTE[0] for edge in edges]
    axes.barh(names, edges, color=colours, height=0.62)
    axes.scatter(before, names, marker="|", s=130, color=INK, zorder=3, label="full shoe")
    axes.axvline(0, color=INK, linewidth=1)
    axes.grid(visible=False, axis="y")
    legend(axes, loc="best")
    return made


def removal_picture(effects: Removal) -> Figure:
    """A cell an area and face: what one card gone does to the edge."""
    made, (axes,) = figure(
        f"One card gone from {sum(effects.left)}: change of the house edge, in points",
        x="face of the card that is gone",
        height=7.6,
    )
    cells = [[100 * float(change) for change in one.changes] for one in effects.effects]
    most = max(abs(cell) for row in cells for cell in row) or 1
    axes.grid(visible=False)
    axes.imshow(cells, cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(FACES)), [str(face) for face in FACES])
    axes.set_yticks(range(len(cells)), [one.area for one in effects.effects])
    for row, changes in enumerate(cells):
        for column, change in enumerate(changes):
            ink = "white" if abs(change) > 0.62 * most else INK
            axes.text(column, row, f"{change:+.2f}", ha="center", va="center", color=ink, fontsize=10)
    return made


def gains_picture(title: str, lines: Mapping[str, Line], *, log: bool = True) -> Figure:
    """Units won in 100 rounds by how much of the shoe is dealt, a line for each way to play or shoe."""
    made, (axes,) = figure(
        title, x="share of the shoe dealt before the shuffle, per cent", y="units won in 100 rounds"
    )
    for place, (name, (across, up)) in enumerate(lines.items()):
        shown = [(x, y) for x, y in zip(across, up, strict=True) if y > 0.01 or not log]
        axes.plot(
            [x for x, _ in shown],
            [y for _, y in shown],
            label=name,
            color=PALETTE[place % len(PALETTE)],
            marker=MARKERS[place % len(MARKERS)],
            markevery=max(1, len(shown) // 12),
        )
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")
        axes.axhline(0.1, color=INK, linewidth=1, linestyle=":")
    axes.set_xlim(0, 100)
    legend(axes, loc="lower right", frameon=True, edgecolor="none", framealpha=1)  # it covers the dotted line
    return made


def exposure_picture(found: Exposure) -> Figure:
    """What the count earns, and perfect play where it is known, at every penetration."""
    cards = sum(found.left)
    lines = {f"count for {found.count.area}": _line([one.gain for one in found.counted], cards)}
    if found.perfect:
        lines["perfect play"] = _line([one.gain for one in found.perfect.rounds], cards)
    return gains_picture(f"What counting earns from {cards} cards", lines)


def _line(gains: Sequence[float], cards: int) -> Line:
    across, up, total = [], [], 0.0
    for rounds, gain in enumerate(gains, 1):
        total += gain
        across.append(100 * 3 * rounds / cards)
        up.append(100 * total / rounds)
    return across, up
