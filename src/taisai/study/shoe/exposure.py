"""Exposure to card counting: the expected gain of a counter by the share of the shoe that is dealt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, MIRRORED
from taisai.study.report import Describable, Sheet, StudyReport, columns
from taisai.study.shoe.composition import Effect, removal, rounds_dealt
from taisai.study.shoe.counting import Count, CountedRound, best_threshold, counted, linear_count
from taisai.study.shoe.perfect import PerfectPlay, Progress, RoundGain, perfect_play
from taisai.study.shoe.variance import ShoeVariance, shoe_variance

PENETRATIONS: Final = tuple(Fraction(percent, 100) for percent in (5, 10, 25, 50, 75, 90))
"""The penetrations of a report, besides the requested one."""
WORTHLESS: Final = 0.1  # units in 100 rounds: with a unit of 1,000, about 60 an hour
_NUMBERS: Final = ("dealt", "rounds", "bets", "gain")
_PERFECT: Final = ("bets, perfect", "gain, perfect", "std dev a round", "share")


@dataclass(frozen=True, slots=True)
class Depth:
    """The gain of counting at a penetration."""

    penetration: Fraction
    rounds: int
    """Rounds dealt from each shoe."""
    bet: float
    """The share of rounds with a bet."""
    gain: float
    """The expected net of 100 rounds, in units."""
    perfect_bet: float | None = None
    perfect_gain: float | None = None
    perfect_deviation_per_round: float | None = None


@dataclass(frozen=True)
class Exposure(Describable):
    """The exposure of a shoe to a practical count and to perfect play."""

    matrix: Matrix
    left: tuple[int, ...]
    deck: int
    count: Count
    mirror: AreaId | None
    """The area to bet on at minus the threshold."""
    threshold: Fraction
    """The count per deck left from which to bet."""
    counted: tuple[CountedRound, ...]
    perfect: PerfectPlay | None
    asked: Fraction
    """The requested penetration; the threshold is best for it."""
    variance: ShoeVariance | None = None
    """The variance of the count's net at that penetration, if it was requested."""

    def at(self, penetration: Fraction) -> Depth:
        rounds = rounds_dealt(sum(self.left), penetration)
        depth = (penetration, rounds, *_mean(self.counted[:rounds]))
        if self.perfect is None:
            return Depth(*depth)
        return Depth(*depth, *_mean(self.perfect.rounds[:rounds]), self.perfect.deviation(rounds))

    def depths(self) -> tuple[Depth, ...]:
        """The gains at the usual penetrations and the requested one."""
        return tuple(self.at(penetration) for penetration in sorted({*PENETRATIONS, self.asked}))

    def harmless(self) -> int:
        """The most rounds per shoe for which counting gains less than WORTHLESS; by perfect play if known."""
        won = 0.0
        gains = [played.gain for played in (self.perfect.rounds if self.perfect else self.counted)]
        for rounds, gain in enumerate(gains, 1):
            won += gain
            if 100 * won / rounds >= WORTHLESS:
                return rounds - 1
        return len(gains)

    def report(self) -> StudyReport:
        names = _NUMBERS if self.perfect is None else _NUMBERS + _PERFECT
        rows = tuple(_row(depth) for depth in self.depths())
        shoe = f"{sum(self.left)} cards ({sum(self.left) / self.deck:g} decks)"
        game = f"{self.matrix.rulebook}, layout {self.matrix.layout}"
        title = f"{game}, {shoe}: units won in 100 rounds, bets of one unit"
        return StudyReport((Sheet(title, columns(numbers=names), rows),), tuple(self._notes()))

    def _notes(self) -> list[str]:
        tags = ", ".join(f"{face}: {tag:+d}" for face, tag in zip(FACES, self.count.tags, strict=True))
        other = f", on {self.mirror} at {float(-self.threshold):g} or below" if self.mirror else ""
        harmless = self.harmless()
        by = "perfect play" if self.perfect else "this count"
        at = self.at(self.asked)
        danger = at.perfect_gain if at.perfect_gain is not None else at.gain
        bets = f"bet on {self.count.area} at {float(self.threshold):g} or above{other}"
        notes = [
            f"The count: add for every card seen {tags}; divide by the decks left; {bets}.",
            f"The correlation of its tags with the effects of removal is {self.count.correlation:.3f}.",
            "Exact: every count by its generating function"
            + ("; perfect play by every composition." if self.perfect else "."),
            *self._variance_note(),
        ]
        dealt = f"At {float(self.asked):.0%} dealt {by} earns"
        if danger < WORTHLESS:
            return [*notes, f"{dealt} less than {WORTHLESS} units in 100 rounds."]
        earned = f"{dealt} {danger:.2f} units in 100 rounds"
        if not harmless:
            return [*notes, f"{earned}, and the first round has a favourable bet."]
        limit = f"after at most {harmless} ({harmless * DICE} cards), where it earns less than {WORTHLESS}"
        return [*notes, f"{earned}: shuffle before every round, or {limit}."]

    def _variance_note(self) -> list[str]:
        if self.variance is None:
            return []
        equal = self.variance.until_equal
        after = f"; the gain of the count equals it after {equal:,.0f} rounds" if equal else ""
        deviation = f"the standard deviation is {self.variance.deviation:.2f} units in 100 rounds"
        return [f"At {float(self.asked):.0%} dealt {deviation}{after}."]

    def facts(self) -> dict[str, Any]:
        """All figures are floats; `relative_error` bounds the error of perfect play."""
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "left": list(self.left),
            "count": {
                "area": self.count.area,
                "mirror": self.mirror,
                "tags": list(self.count.tags),
                "correlation": self.count.correlation,
                "threshold": str(self.threshold),
            },
            "penetration": str(self.asked),
            "deviation_per_100": self.variance.deviation if self.variance else None,
            "rounds_until_equal": self.variance.until_equal if self.variance else None,
            "variance_per_shoe": self.variance.variance if self.variance else None,
            "variance_error": self.variance.error if self.variance else None,
            "harmless_rounds": self.harmless(),
            "relative_error": self.perfect.error if self.perfect else None,
            "areas": self._areas(),
            "depths": [
                {
                    "penetration": str(depth.penetration),
                    "rounds": depth.rounds,
                    "bet": depth.bet,
                    "gain_per_100": depth.gain,
                    "perfect_bet": depth.perfect_bet,
                    "perfect_gain_per_100": depth.perfect_gain,
                    "perfect_deviation_per_round": depth.perfect_deviation_per_round,
                }
                for depth in self.depths()
            ],
        }

    def _areas(self) -> dict[str, Any] | None:
        """How often perfect play bets on each area at the requested penetration, and its gain."""
        if self.perfect is None:
            return None
        rounds = rounds_dealt(sum(self.left), self.asked)
        played = self.perfect.rounds[:rounds]
        return {
            area: {
                "bet": sum(one_round.bets[row] for one_round in played) / rounds,
                "gain_per_100": 100 * sum(one_round.gains[row] for one_round in played) / rounds,
            }
            for row, area in enumerate(self.matrix.areas)
        }


def exposure(
    matrix: Matrix,
    left: Sequence[int],
    *,
    penetration: Fraction = Fraction(1, 2),
    area: str | None = None,
    most_tag: int = 2,
    deck: int = 48,
    perfect: bool = False,
    deviation: bool = False,
    progress: Progress | None = None,
) -> Exposure:
    """The exposure of a shoe to a practical count for an area, and with `perfect` to perfect play.

    With `deviation`, also the variance of the count, which takes ten to twenty seconds for six decks.

    >>> from taisai.rules import rulebook
    >>> found = exposure(rulebook("mbs-3-card-sic-bo").matrix(), (16,) * 6)
    >>> found.count.tags, found.count.area, found.mirror, found.threshold
    ((-2, -1, 0, 0, 1, 2), 'small', 'big', Fraction(1, 1))
    >>> round(found.at(Fraction(1, 2)).gain, 2)
    4.0
    """
    left = tuple(left)
    rounds = rounds_dealt(sum(left), penetration)
    effects = removal(matrix, left)
    count = linear_count(effects, area or max(effects.effects, key=_relative_change).area, most_tag)
    balanced = tuple(-tag for tag in reversed(count.tags)) == count.tags and left == left[::-1]
    mirror = _mirror(matrix, count.area) if balanced else None
    play = counted(matrix, left, count.tags, deck=deck)
    threshold, played = best_threshold(play, count.area, mirror, rounds)
    variance = None
    if deviation:
        bet = (count.area, mirror, threshold)
        reported = None if perfect else progress  # of two calculations, the longer one reports progress
        variance = shoe_variance(matrix, left, count.tags, bet, rounds, deck=deck, progress=reported)
    best = perfect_play(matrix, left, progress=progress) if perfect else None
    return Exposure(matrix, left, deck, count, mirror, threshold, played, best, penetration, variance)


def _mean(rounds: Sequence[CountedRound | RoundGain]) -> tuple[float, float]:
    """The share of rounds with a bet, and the expected net of 100 rounds."""
    bets, gains = sum(played.bet for played in rounds), sum(played.gain for played in rounds)
    return bets / len(rounds), 100 * gains / len(rounds)


def _relative_change(effect: Effect) -> Fraction:
    """How much the edge of an area changes by removal, relative to the edge."""
    return sum((change**2 for change in effect.changes), Fraction(0)) / (effect.edge**2 or 1)


def _mirror(matrix: Matrix, of: str) -> AreaId | None:
    """The area that wins on the opposite faces what this area wins."""
    row = matrix.nets[matrix.row(of)]
    turned = tuple(row[place] for place in MIRRORED)
    return next((area for area, nets in zip(matrix.areas, matrix.nets, strict=True) if nets == turned), None)


def _row(depth: Depth) -> tuple[str, ...]:
    cells = (f"{float(depth.penetration):.0%}", str(depth.rounds), f"{depth.bet:.1%}", f"{depth.gain:.3f}")
    if depth.perfect_bet is None or depth.perfect_gain is None:
        return cells
    per_round = depth.perfect_deviation_per_round
    deviation = "" if per_round is None else f"{per_round:.2f}"
    share = f"{depth.gain / depth.perfect_gain:.0%}" if depth.perfect_gain > 0 else ""
    return (*cells, f"{depth.perfect_bet:.1%}", f"{depth.perfect_gain:.3f}", deviation, share)
