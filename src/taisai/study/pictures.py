"""Pictures of sessions, simulations, shoes and recorded play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE, FACES
from taisai.study.odds import Distribution, Mix
from taisai.study.plotting import INK, MARKERS, PALETTE, figure, legend
from taisai.study.report import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from taisai.study.journal import Observed
    from taisai.study.session.ends import Ends
    from taisai.study.session.total import Total
    from taisai.study.shoe.composition import CompositionOdds, Removal
    from taisai.study.shoe.exposure import Exposure
    from taisai.study.simulation.result import Sessions, Simulated

_BLUE, _RED, _GREEN = PALETTE[0], PALETTE[1], PALETTE[2]
MOST_BARS: Final = 160  # with more values, neighbours share a bar
GROUPS: Final = 60
_LONG: Final = 10**8  # longer numbers below an axis would overlap
MOST_TITLE: Final = 60  # characters that fit above a picture
_HISTOGRAM_BARS: Final = 60
_LABELLED_BARS: Final = 6
_MOST_AREAS: Final = 40  # of recorded play: those with the most rounds
_MARKERS: Final = 40  # a line with more points has no markers

Line = tuple[Sequence[float], Sequence[float]]


# ── the total of a session ───────────────────────────────────────────────────────────────────────────


def total_picture(total: Total) -> Figure:
    """The distribution of the total, with the totals above 0 in another colour."""
    picture, (axes,) = figure(
        _title(total.mix, _bets(total.mix)),
        x=f"total after {counted(total.rounds, 'round')}, in minor units",
        y="probability",
    )
    from taisai.study.session.sums import Lattice

    low, high = total.quantile(Fraction(1, 20_000)), total.quantile(Fraction(19_999, 20_000))
    bars, width = _grouped(_probabilities(total, low, high), Lattice.of(total.one_round).step)
    for ahead, colour in ((False, _RED), (True, _BLUE)):
        shown = [(start, height) for start, height in bars if (start + width / 2 > 0) is ahead]
        if ahead:
            text = f"ahead: {_share(float(total.ahead), may=total.best > 0, must=total.worst > 0)}"
        else:
            share = _share(1 - float(total.ahead), may=total.worst <= 0, must=total.best <= 0)
            text = f"level or behind: {share}"
        axes.bar(
            [start for start, _ in shown], [height for _, height in shown], width=width, align="edge",
            color=colour, label=text, linewidth=0,
        )  # fmt: skip
    mean = float(total.mean)
    axes.axvline(mean, color=INK, linestyle="--", linewidth=1.5, label=f"mean: {mean:+,.0f}")
    if total.target is not None and low <= total.target <= high and total.reached is not None:
        may, must = total.best >= total.target, total.worst >= total.target
        label = f"{total.target:+,} or more: {_share(float(total.reached), may=may, must=must)}"
        axes.axvline(total.target, color=_GREEN, linestyle=":", linewidth=2, label=label)
    form = "+,.0f" if max(abs(low), abs(high)) < _LONG else "+.3g"
    axes.xaxis.set_major_formatter(lambda value, _: format(value, form) if value else "0")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper left" if abs(low) > abs(high) else "upper right", frameon=False)
    axes.margins(y=0.18)
    return picture


def _share(share: float, *, may: bool, must: bool) -> str:
    """A percentage that is never rounded to 0 % for a possible event or to 100 % for an uncertain one."""
    if may and share < 0.00005:
        return "below 0.01 %"
    if not must and share >= 0.99995:
        return "above 99.99 %"
    return f"{100 * share:.2f} %"


def _probabilities(total: Total, low: int, high: int) -> list[tuple[int, float]]:
    distribution = total.distribution
    if isinstance(distribution, Distribution):
        pairs = zip(distribution.values, distribution.weights, strict=True)
        return [(value, weight / distribution.total) for value, weight in pairs if low <= value <= high]
    first, last = ((value - distribution.low) // distribution.step for value in (low, high))
    shares = distribution.probabilities[first : last + 1].tolist()
    return list(zip(distribution.values()[first : last + 1], shares, strict=True))


def _grouped(pairs: list[tuple[int, float]], step: int) -> tuple[list[tuple[float, float]], float]:
    """The left edges and heights of bars of equal width, and the width.

    If values share a bar, one edge lies just above 0, so that no bar is both ahead and not ahead.
    """
    steps = (pairs[-1][0] - pairs[0][0]) // step + 1
    if steps <= MOST_BARS:
        return [(value - step / 2, share) for value, share in pairs], float(step)
    width = step * -(-steps // GROUPS)
    groups: dict[int, float] = {}
    for value, share in pairs:
        group = (value - 1) // width
        groups[group] = groups.get(group, 0.0) + share
    return [(float(group * width + 1), share) for group, share in sorted(groups.items())], float(width)


def _bets(mix: Mix) -> str:
    return ", ".join(f"{area}={stake}" for area, stake in mix.stakes.items())


def _title(mix: Mix, second_line: str) -> str:
    return f"{_cut(f'{mix.matrix.rulebook}, layout {mix.matrix.layout}')}\n{_cut(second_line)}"


def _cut(title: str) -> str:
    return title if len(title) <= MOST_TITLE else title[: MOST_TITLE - 1] + "…"


# ── the end of a session ─────────────────────────────────────────────────────────────────────────────


def ends_picture(ends: Ends) -> Figure:
    """The probabilities of ruin and target, and below them the distribution of the final bankroll."""
    picture, (bars, curve) = figure(
        _title(ends.mix, f"From {ends.bankroll:,} to {ends.target:,}: {ends.system} with {_bets(ends.mix)}"),
        panels=2,
        height=7.0,
    )
    parts: list[tuple[str, float, str]] = [
        ("target reached", float(ends.success), _BLUE),
        ("ruined", float(ends.ruin), _RED),
    ]
    if ends.rounds is not None:
        parts.insert(1, ("still playing", float(ends.neither), PALETTE[4]))
    names, shares, colours = zip(*parts, strict=True)
    bars.barh(names, shares, color=colours)
    for place, share in enumerate(shares):
        bars.text(share + 0.01, place, _share(share, may=share > 0, must=share == 1), va="center")
    bars.set_xlim(0, 1.15)
    bars.set_xlabel("probability")
    bars.grid(visible=False, axis="y")
    bars.xaxis.set_major_formatter(_percent)
    _bankroll_curve(curve, ends)
    return picture


def _bankroll_curve(axes: Axes, ends: Ends) -> None:
    values, shares, remaining = [], [], 1.0
    for value, share in ends.distribution:
        values.append(value)
        shares.append(remaining)
        remaining -= float(share)
    values.append(values[-1] if len(values) > 1 else values[-1] + 1)
    shares.append(max(remaining, 0.0))
    axes.step(values, shares, where="pre", color=_BLUE, label="this bankroll or more in the end")
    axes.axvline(ends.bankroll, color=INK, linestyle="--", linewidth=1.5, label=f"start: {ends.bankroll:,}")
    label = f"mean in the end: {ends.mean:,.0f}"
    axes.axvline(ends.mean, color=_RED, linestyle=":", linewidth=2, label=label)
    axes.set_ylim(0, 1.05)
    after = "in the end" if ends.rounds is None else f"after {counted(ends.rounds, 'round')} at most"
    axes.set_xlabel(f"bankroll {after}, in minor units")
    axes.set_ylabel("probability")
    axes.yaxis.set_major_formatter(_percent)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    not_behind = sum(float(share) for value, share in ends.distribution if value >= ends.bankroll)
    axes.legend(loc="upper right" if not_behind < 0.6 else "lower left", frameon=False)


def _percent(value: float, _place: float) -> str:
    return f"{100 * value:.0f} %"


# ── simulations ──────────────────────────────────────────────────────────────────────────────────────


def simulation_picture(result: Simulated) -> Figure:
    """The net along the rounds; of several sessions, a histogram of their nets."""
    if result.sessions is not None and len(result.sessions) > 1:
        return _session_nets(result, result.sessions)
    return _net_by_round(result)


def _net_by_round(result: Simulated) -> Figure:
    import numpy as np

    if len(result.trail) < 2 or result.standard_error is None:
        raise RulesError("nothing to draw: expected rounds of fixed bets or at least 2 sessions")
    rounds = np.array([at for at, _ in result.trail], dtype=np.float64)
    nets = np.array([net for _, net in result.trail], dtype=np.float64)
    marker = "o" if len(rounds) <= _MARKERS else ""
    edge = result.exact_edge
    count = 1 if edge is None else 2
    picture, panels = figure(_two_lines(result), x="rounds", y="net", panels=count, height=7.0)
    panels[0].plot(rounds, nets, color=PALETTE[0], marker=marker, label=f"simulated, seed {result.seed}")
    if edge is not None:
        stake = result.staked / result.rounds
        expected = -float(edge) * stake * rounds
        panels[0].plot(rounds, expected, color=PALETTE[1], linestyle="--", label="expected")
        steps = np.linspace(0, rounds[-1], 200)
        spread = 1.96 * result.standard_error * result.staked * np.sqrt(steps / rounds[-1])
        panels[1].fill_between(steps, -spread, spread, color=PALETTE[5], alpha=0.35, lw=0, label="95 % band")
        panels[1].plot(rounds, nets + float(edge) * stake * rounds, color=PALETTE[0], marker=marker)
        panels[1].set_ylabel("net less expected")
    for axes in panels:
        axes.legend(loc="best")
        _short_numbers(axes)
    return picture


def _session_nets(result: Simulated, sessions: Sessions) -> Figure:
    across = "net at the end of the session, in minor units"
    picture, (axes,) = figure(_two_lines(result), x=across, y="sessions")
    _histogram(axes, sessions.net)
    axes.axvline(float(sessions.net.mean()), color=PALETTE[1], linestyle="--", label="mean")
    axes.axvline(0, color=PALETTE[6], linewidth=1, label="even")
    for way, count in sessions.ways().items():
        axes.plot([], [], " ", label=f"{way}: {count / len(sessions):.1%}")
    axes.legend(loc="best")
    _short_numbers(axes)
    return picture


def _two_lines(result: Simulated) -> str:
    return result.title.replace(": ", "\n", 1)


def _histogram(axes: Axes, nets: npt.NDArray[np.int64]) -> None:
    """A bar for each net if there are few, otherwise groups of equal width."""
    import numpy as np

    values, counts = np.unique(nets, return_counts=True)
    if len(values) > _HISTOGRAM_BARS:
        span = (values[0], values[-1])
        axes.hist(nets, bins=_HISTOGRAM_BARS, range=span, color=PALETTE[0], edgecolor="white")
        return
    wide = int(values[-1] - values[0]) or max(1, abs(int(values[0])))
    apart = int(np.diff(values).min()) if len(values) > 1 else wide
    width = max(min(0.8 * apart, 0.05 * wide), 0.004 * wide)  # a thinner bar would be invisible
    axes.bar(values, counts, width=width, color=PALETTE[0], linewidth=0)
    if len(values) <= _LABELLED_BARS:
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            axes.annotate(
                f"{value:+,}", (value, count), ha="center", va="bottom", xytext=(0, 3),
                textcoords="offset points",
            )  # fmt: skip
        axes.margins(x=0.12, y=0.12)


def _short_numbers(axes: Axes) -> None:
    from matplotlib.ticker import EngFormatter

    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


# ── shoes ────────────────────────────────────────────────────────────────────────────────────────────


def edges_picture(odds: CompositionOdds) -> Figure:
    """A bar for each area: its house edge now, and a tick at its edge with the full shoe."""
    title = f"House edge with {sum(odds.left)} of {sum(odds.full)} cards left"
    picture, (axes,) = figure(title, x="house edge, per cent of the stake", height=6.4)
    names = [area.id for area in odds.odds][::-1]
    edges = [100 * float(area.house_edge) for area in odds.odds][::-1]
    before = [100 * float(edge) for edge in odds.before][::-1]
    colours = [PALETTE[1] if edge < 0 else PALETTE[0] for edge in edges]
    axes.barh(names, edges, color=colours, height=0.62)
    axes.scatter(before, names, marker="|", s=130, color=INK, zorder=3, label="full shoe")
    axes.axvline(0, color=INK, linewidth=1)
    axes.grid(visible=False, axis="y")
    legend(axes, loc="best")
    return picture


def removal_picture(effects: Removal) -> Figure:
    """A cell for each area and face: how the edge changes when one card of the face is removed."""
    picture, (axes,) = figure(
        f"One card gone from {sum(effects.left)}: change of the house edge, in points",
        x="face of the card that is gone",
        height=7.6,
    )
    cells = [[100 * float(change) for change in effect.changes] for effect in effects.effects]
    most = max(abs(cell) for row in cells for cell in row) or 1
    axes.grid(visible=False)
    axes.imshow(cells, cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(FACES)), [str(face) for face in FACES])
    axes.set_yticks(range(len(cells)), [effect.area for effect in effects.effects])
    for row, changes in enumerate(cells):
        for column, change in enumerate(changes):
            ink = "white" if abs(change) > 0.62 * most else INK
            axes.text(column, row, f"{change:+.2f}", ha="center", va="center", color=ink, fontsize=10)
    return picture


def gains_picture(title: str, lines: Mapping[str, Line], *, log: bool = True) -> Figure:
    """Units won in 100 rounds by the share of the shoe that is dealt, one line per strategy or shoe."""
    share = "share of the shoe dealt before the shuffle, per cent"
    picture, (axes,) = figure(title, x=share, y="units won in 100 rounds")
    for place, (name, (across, up)) in enumerate(lines.items()):
        shown = [(x, y) for x, y in zip(across, up, strict=True) if y > 0.01 or not log]
        axes.plot(
            [x for x, _ in shown], [y for _, y in shown], label=name, color=PALETTE[place % len(PALETTE)],
            marker=MARKERS[place % len(MARKERS)], markevery=max(1, len(shown) // 12),
        )  # fmt: skip
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")
        axes.axhline(0.1, color=INK, linewidth=1, linestyle=":")
    axes.set_xlim(0, 100)
    legend(axes, loc="lower right", frameon=True, edgecolor="none", framealpha=1)  # it covers the dotted line
    return picture


def exposure_picture(exposure: Exposure) -> Figure:
    """What the count earns at every penetration, and perfect play if it was computed."""
    cards = sum(exposure.left)
    lines = {f"count for {exposure.count.area}": _line([played.gain for played in exposure.counted], cards)}
    if exposure.perfect:
        lines["perfect play"] = _line([played.gain for played in exposure.perfect.rounds], cards)
    return gains_picture(f"What counting earns from {cards} cards", lines)


def _line(gains: Sequence[float], cards: int) -> Line:
    across, up, total = [], [], 0.0
    for rounds, gain in enumerate(gains, 1):
        total += gain
        across.append(100 * DICE * rounds / cards)
        up.append(100 * total / rounds)
    return across, up


# ── recorded play ────────────────────────────────────────────────────────────────────────────────────


def observed_picture(observed: Observed) -> Figure:
    """Each area's observed edge as a dot on the 99 % band about its exact edge."""
    areas = sorted(observed.areas, key=lambda area: -area.rounds)[:_MOST_AREAS]
    picture, (axes,) = figure(
        "Observed house edge, and the normal 99 % band about the exact one",
        x="house edge",
        height=max(3.0, 0.27 * len(areas) + 1.4),
    )
    for place, area in enumerate(reversed(areas)):
        exact = float(area.exact_edge)
        axes.plot(
            [exact - area.half_width, exact + area.half_width], [place] * 2, color=PALETTE[5], linewidth=7,
            solid_capstyle="butt", zorder=1,
        )  # fmt: skip
        axes.plot([exact] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=1.5, zorder=2)
        colour, marker = (PALETTE[1], "s") if area.is_odd else (PALETTE[0], "o")
        axes.plot([area.edge], [place], marker, color=colour, markersize=6, zorder=3)
    names = [f"{area.area} ({area.rounds:,})" for area in reversed(areas)]
    axes.set_yticks(range(len(areas)), names, fontsize=9)
    axes.xaxis.set_major_formatter(lambda value, _place: f"{100 * value:.0f} %")
    return picture
