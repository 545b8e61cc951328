"""A simulation as a picture: the way the money went, or where the sessions ended."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from taisai.rules.errors import RulesError
from taisai.study.plotting import PALETTE, figure, save
from taisai.study.simulation.result import Sessions, Simulated

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS: Final = 60
_NAMED: Final = 6
"""Ends that are few enough to be written beside their bars."""
_MARKS: Final = 40
"""Way marks that are drawn with a dot each, at most."""


def drawn(result: Simulated) -> Figure:
    """The picture of a result."""
    if result.sessions is not None and len(result.sessions) > 1:
        return _ends(result, result.sessions)
    return _trail(result)


def draw(result: Simulated, path: str | Path, into: IO[bytes] | None = None) -> Path:
    """Draws a result into a file."""
    return save(drawn(result), path, into)


def _trail(result: Simulated) -> Figure:
    import numpy as np

    if len(result.trail) < 2 or result.standard_error is None:
        raise RulesError("expected rounds of a fixed mix or several sessions to draw, got neither")
    rounds = np.array([at for at, _ in result.trail], dtype=np.float64)
    nets = np.array([net for _, net in result.trail], dtype=np.float64)
    marker = "o" if len(rounds) <= _MARKS else ""
    edge = result.exact_edge
    made, panels = figure(_titled(result), x="rounds", y="net", panels=1 if edge is None else 2, height=7.0)
    panels[0].plot(rounds, nets, color=PALETTE[0], marker=marker, label=f"simulated, seed {result.seed}")
    if edge is not None:
        stake = result.staked / result.rounds
        panels[0].plot(
            rounds, -float(edge) * stake * rounds, color=PALETTE[1], linestyle="--", label="expected"
        )
        steps = np.linspace(0, rounds[-1], 200)
        spread = 1.96 * result.standard_error * result.staked * np.sqrt(steps / rounds[-1])
        panels[1].fill_between(steps, -spread, spread, color=PALETTE[5], alpha=0.35, lw=0, label="95 % band")
        panels[1].plot(rounds, nets + float(edge) * stake * rounds, color=PALETTE[0], marker=marker)
        panels[1].set_ylabel("net less expected")
    for axes in panels:
        axes.legend(loc="best")
        _counted(axes)
    return made


def _ends(result: Simulated, sessions: Sessions) -> Figure:
    made, (axes,) = figure(_titled(result), x="net at the end of the session, in minor units", y="sessions")
    _bars(axes, sessions.net)
    axes.axvline(float(sessions.net.mean()), color=PALETTE[1], linestyle="--", label="mean")
    axes.axvline(0, color=PALETTE[6], linewidth=1, label="even")
    count = len(sessions)
    for way, many in sessions.ways().items():
        axes.plot([], [], " ", label=f"{way}: {many / count:.1%}")
    axes.legend(loc="best")
    _counted(axes)
    return made


def _titled(result: Simulated) -> str:
    """Two lines: by whose rules, then what is played."""
    return result.title.replace(": ", "\n", 1)


def _bars(axes: Axes, nets: npt.NDArray[np.int64]) -> None:
    """Few different ends each at its own place, many in groups of equal width."""
    import numpy as np

    ends, counts = np.unique(nets, return_counts=True)
    if len(ends) > _BARS:
        axes.hist(nets, bins=_BARS, range=(ends[0], ends[-1]), color=PALETTE[0], edgecolor="white")
        return
    span = int(ends[-1] - ends[0]) or max(1, abs(int(ends[0])))
    apart = int(np.diff(ends).min()) if len(ends) > 1 else span
    width = max(min(0.8 * apart, 0.05 * span), 0.004 * span)  # never so thin that it cannot be seen
    axes.bar(ends, counts, width=width, color=PALETTE[0], linewidth=0)
    if len(ends) <= _NAMED:
        for end, count in zip(ends.tolist(), counts.tolist(), strict=True):
            axes.annotate(
                f"{end:+,}", (end, count), ha="center", va="bottom", xytext=(0, 3), textcoords="offset points"
            )
        axes.margins(x=0.12, y=0.12)


def _counted(axes: object) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import EngFormatter

    if isinstance(axes, Axes):
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
