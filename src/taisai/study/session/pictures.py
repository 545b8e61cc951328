"""Pictures of a session: where the total lies, and how a player ends."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from taisai.study.odds import Law, Mix
from taisai.study.plotting import INK, PALETTE, figure
from taisai.study.report import counted
from taisai.study.session.ends import Ends
from taisai.study.session.sums import Lattice
from taisai.study.session.total import Total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _RED, _GREEN = PALETTE[0], PALETTE[1], PALETTE[2]
MOST_BARS: Final = 160
"""More values than these are drawn in groups, or nobody could tell them apart."""
GROUPS: Final = 60
_LONG: Final = 10**8  # from here on numbers below an axis would run into each other
MOST_TITLE: Final = 60
"""Letters that fit above a picture."""


def of_total(total: Total) -> Figure:
    """The law of the total, with the part that is ahead in another colour."""
    made, (axes,) = figure(
        _titled(total.mix, _bets(total.mix)),
        x=f"total after {counted(total.rounds, 'round')}, in minor units",
        y="probability",
    )
    low, high = total.quantile(Fraction(1, 20_000)), total.quantile(Fraction(19_999, 20_000))
    bars, width = _grouped(_pairs(total, low, high), Lattice.of(total.one_round).step)
    for ahead, colour in ((False, _RED), (True, _BLUE)):
        kept = [(start, share) for start, share in bars if (start + width / 2 > 0) is ahead]
        name = "ahead" if ahead else "level or behind"
        told = (
            _share(float(total.ahead), may=total.best > 0, must=total.worst > 0)
            if ahead
            else _share(1 - float(total.ahead), may=total.worst <= 0, must=total.best <= 0)
        )
        axes.bar(
            [start for start, _ in kept],
            [height for _, height in kept],
            width=width,
            align="edge",
            color=colour,
            label=f"{name}: {told}",
            linewidth=0,
        )
    axes.axvline(float(total.mean), color=INK, linestyle="--", linewidth=1.5, label=_mean(total))
    if total.target is not None and low <= total.target <= high and total.reached is not None:
        may, must = total.best >= total.target, total.worst >= total.target
        label = f"{total.target:+,} or more: {_share(float(total.reached), may=may, must=must)}"
        axes.axvline(total.target, color=_GREEN, linestyle=":", linewidth=2, label=label)
    form = "+,.0f" if max(abs(low), abs(high)) < _LONG else "+.3g"
    axes.xaxis.set_major_formatter(lambda value, _: format(value, form) if value else "0")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper left" if abs(low) > abs(high) else "upper right", frameon=False)
    axes.margins(y=0.18)
    return made


def _share(share: float, *, may: bool, must: bool) -> str:
    """A percentage; what may happen is not called nothing, and what need not is not called all."""
    if may and share < 0.00005:
        return "below 0.01 %"
    if not must and share >= 0.99995:
        return "above 99.99 %"
    return f"{100 * share:.2f} %"


def _mean(total: Total) -> str:
    return f"mean: {float(total.mean):+,.0f}"


def _pairs(total: Total, low: int, high: int) -> list[tuple[int, float]]:
    law = total.law
    if isinstance(law, Law):
        pairs = zip(law.values, law.weights, strict=True)
        return [(value, weight / law.total) for value, weight in pairs if low <= value <= high]
    first, last = (low - law.low) // law.step, (high - law.low) // law.step
    shares = law.probabilities[first : last + 1].tolist()
    return [(law.low + law.step * (first + place), share) for place, share in enumerate(shares)]


def _grouped(pairs: list[tuple[int, float]], step: int) -> tuple[list[tuple[float, float]], float]:
    """Where bars of equal width begin: few about their totals, many together.

    Together a border lies just above 0, so that no bar is both ahead and not.
    """
    steps = (pairs[-1][0] - pairs[0][0]) // step + 1
    if steps <= MOST_BARS:
        return [(value - step / 2, share) for value, share in pairs], float(step)
    width = step * -(-steps // GROUPS)
    gathered: dict[int, float] = {}
    for value, share in pairs:
        group = (value - 1) // width
        gathered[group] = gathered.get(group, 0.0) + share
    return [(float(group * width + 1), share) for group, share in sorted(gathered.items())], float(width)


def _bets(mix: Mix) -> str:
    return ", ".join(f"{area}={stake}" for area, stake in mix.stakes.items())


def _titled(mix: Mix, what: str) -> str:
    """Two lines: by whose rules, then what is played."""
    return f"{_cut(f'{mix.matrix.rulebook}, layout {mix.matrix.layout}')}\n{_cut(what)}"


def _cut(title: str) -> str:
    return title if len(title) <= MOST_TITLE else title[: MOST_TITLE - 1] + "…"


def of_ends(ends: Ends) -> Figure:
    """How it ends: three bars above, and below them how likely each bankroll or more is in the end."""
    made, (bars, curve) = figure(
        _titled(ends.mix, f"From {ends.bankroll:,} to {ends.target:,}: {ends.system} with {_bets(ends.mix)}"),
        panels=2,
        height=7.0,
    )
    parts: list[tuple[str, float, str]] = [
        ("ruined", float(ends.ruin), _RED),
        ("target reached", float(ends.success), _BLUE),
    ]
    if ends.rounds is not None:
        parts.insert(1, ("still playing", float(ends.neither), PALETTE[4]))
    parts.reverse()
    bars.barh(
        [name for name, _, _ in parts], [share for _, share, _ in parts], color=[c for _, _, c in parts]
    )
    for place, (_, share, _) in enumerate(parts):
        bars.text(share + 0.01, place, _share(share, may=share > 0, must=share == 1), va="center")
    bars.set_xlim(0, 1.15)
    bars.set_xlabel("probability")
    bars.grid(visible=False, axis="y")
    bars.xaxis.set_major_formatter(_percent)
    _curve(curve, ends)
    return made


def _curve(axes: Any, ends: Ends) -> None:
    values, shares, reached = [], [], 1.0
    for value, share in ends.law:
        values.append(value)
        shares.append(reached)
        reached -= float(share)
    values.append(values[-1] if len(values) > 1 else values[-1] + 1)
    shares.append(max(reached, 0.0))
    axes.step(values, shares, where="pre", color=_BLUE, label="this bankroll or more in the end")
    axes.axvline(ends.bankroll, color=INK, linestyle="--", linewidth=1.5, label=f"start: {ends.bankroll:,}")
    axes.axvline(
        ends.mean, color=_RED, linestyle=":", linewidth=2, label=f"mean in the end: {ends.mean:,.0f}"
    )
    axes.set_ylim(0, 1.05)
    after = "in the end" if ends.rounds is None else f"after {counted(ends.rounds, 'round')} at most"
    axes.set_xlabel(f"bankroll {after}, in minor units")
    axes.set_ylabel("probability")
    axes.yaxis.set_major_formatter(_percent)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    kept = sum(float(share) for value, share in ends.law if value >= ends.bankroll)
    axes.legend(loc="upper right" if kept < 0.6 else "lower left", frameon=False)


def _percent(value: float, _place: float) -> str:
    return f"{100 * value:.0f} %"
