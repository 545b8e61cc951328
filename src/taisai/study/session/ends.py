"""Probabilities of ruin and of reaching a target, for any staking system and table limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Mix, fresh_shoe
from taisai.study.report import (
    Describable,
    Sheet,
    StudyReport,
    columns,
    counted,
    decimal_text,
    got,
    printed_decimals,
    probability_text,
)
from taisai.study.staking import Multiples, allowed, system

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from taisai.study.session.chain import Mass, Played, SessionChain

MOST_ROUNDS: Final = 10**12
MOST_BANKROLL: Final = 10**12
"""The greatest bankroll or target, in minor units: at a million to 1, sums still fit into 64 bits."""
MOST_STEPS: Final = 10**11  # cells times rounds: about ten minutes of work
FORGOTTEN: Final = 1e-18
"""Once the probability of still playing is below this, it is counted as part of the error."""
_BATCH: Final = 2**24  # cells times rounds between two checks of that probability
_ROUNDING: Final = 2.0**-45  # the relative error of pairwise sums of millions of floats, with a margin
_LOW_BITS: Final = 40  # bits of the low parts; sums over all cells fit into 64 bits

Bankrolls = tuple[tuple[int, Fraction], ...]  # with their probabilities
RoundsProgress = Callable[[int], None]  # called with the number of rounds done


@dataclass(frozen=True)
class Ends(Describable):
    """The distribution of the bankroll at the end of a session."""

    mix: Mix
    chance: Chance
    system: str
    multiples: Multiples
    """The least and the greatest multiple of the system."""
    bankroll: int
    target: int
    rounds: int | None
    """None: unlimited, until ruin or target."""
    ruined: Bankrolls
    """Ruined bankrolls, ascending, with their probabilities."""
    reached: Bankrolls
    """Bankrolls at or above the target."""
    playing: Bankrolls
    """Bankrolls that are neither after the last round."""
    mean_rounds: float
    mean_staked: float
    error: float
    """The error bound of every probability and every sum of them."""
    rounds_error: float | None
    """The error bound of `mean_rounds`; None if a large chain was played until almost all had ended."""

    @cached_property
    def ruin(self) -> Fraction:
        return sum((p for _, p in self.ruined), Fraction(0))

    @cached_property
    def success(self) -> Fraction:
        """The probability of reaching the target."""
        return sum((p for _, p in self.reached), Fraction(0))

    @cached_property
    def neither(self) -> Fraction:
        """The probability of neither, after the last round."""
        return sum((p for _, p in self.playing), Fraction(0))

    @property
    def distribution(self) -> Bankrolls:
        """The distribution of the final bankroll, ascending."""
        return (*self.ruined, *self.playing, *self.reached)

    @property
    def mean(self) -> float:
        """The expected final bankroll."""
        return float(sum((value * p for value, p in self.distribution), Fraction(0)))

    @property
    def mean_error(self) -> float:
        greatest = max(value for value, _ in self.distribution)
        return self.error * greatest + _ROUNDING * abs(self.mean)

    @property
    def staked_error(self) -> float | None:
        """The error bound of `mean_staked`; None as for the rounds."""
        if self.rounds_error is None:
            return None
        return self.rounds_error * self.multiples.most * self.mix.staked + _ROUNDING * self.mean_staked

    @property
    def decimals(self) -> int:
        """Decimals of the facts; rounding all of them adds less than a thousandth to the error."""
        return printed_decimals(self.error / (2_000 * len(self.distribution)))

    def report(self) -> StudyReport:
        rows = [
            self._row("ruined", self.ruined, self.ruin),
            self._row("target reached", self.reached, self.success),
        ]
        if self.rounds is not None:
            rows.append(self._row("still playing", self.playing, self.neither))
        matrix, most = self.mix.matrix, self.multiples.most
        bets = ", ".join(f"{area}={stake}" for area, stake in self.mix.stakes.items())
        end = "until it ends" if self.rounds is None else f"{counted(self.rounds, 'round')} at most"
        title = f"{matrix.rulebook}, layout {matrix.layout}: {self.system} with {bets}, {end}"
        lost = f"{100 * (self.bankroll - self.mean) / self.mean_staked:.4f} %" if self.mean_staked else "–"
        took = (
            ("bankroll at the start", f"{self.bankroll:,}"),
            ("target", f"{self.target:,}"),
            ("stakes", f"{self.multiples.least * self.mix.staked:,} to {most * self.mix.staked:,}"),
            ("bankroll in the end, mean", f"{self.mean:,.2f}"),
            ("rounds, mean", f"{self.mean_rounds:,.2f}"),
            ("staked, mean", f"{self.mean_staked:,.2f}"),
            ("lost of what is staked", lost),
        )
        notes = [f"The error of every probability is at most {self.error:.0e}." if self.error else "Exact."]
        if assumption := fresh_shoe(self.chance):
            notes.append(assumption)
        return StudyReport(
            (
                Sheet(
                    title, columns("how it ends", numbers=("probability", "bankroll then, mean")), tuple(rows)
                ),
                Sheet("What it takes", columns("figure", numbers=("value",)), took),
            ),
            tuple(notes),
        )

    def _row(self, name: str, part: Bankrolls, share: Fraction) -> tuple[str, str, str]:
        mean = float(sum((value * p for value, p in part), Fraction(0)) / share) if share else 0.0
        return name, probability_text(share, self.error), f"{mean:,.2f}" if share else "–"

    def facts(self) -> dict[str, Any]:
        """Probabilities are decimals as text; their rounding is part of the error bound."""
        return {
            "rulebook": self.mix.matrix.rulebook,
            "layout": self.mix.matrix.layout,
            "bets": dict(self.mix.stakes),
            "assumption": fresh_shoe(self.chance),
            "system": self.system,
            "bankroll": self.bankroll,
            "target": self.target,
            "rounds": self.rounds,
            "least_stake": self.multiples.least * self.mix.staked,
            "most_stake": self.multiples.most * self.mix.staked,
            "error_at_most": 1.001 * self.error,
            "probability": {
                name: {"value": decimal_text(value, self.decimals), "about": float(value)}
                for name, value in (("ruin", self.ruin), ("target", self.success), ("neither", self.neither))
            },
            "mean_end": self.mean,
            "mean_end_error_at_most": self.mean_error,
            "mean_rounds": self.mean_rounds,
            "mean_rounds_error_at_most": self.rounds_error,
            "mean_staked": self.mean_staked,
            "mean_staked_error_at_most": self.staked_error,
            "ends": [
                {"bankroll": value, "probability": decimal_text(p, self.decimals)}
                for value, p in self.distribution
                if p > Fraction(self.error)
            ],
        }


def ends_of(
    mix: Mix,
    chance: Chance,
    *,
    bankroll: int,
    target: int,
    rounds: int | None = None,
    staking: str = "flat",
    minimum: int | None = None,
    maximum: int | None = None,
    progress: RoundsProgress | None = None,
) -> Ends:
    """The final bankroll of a player who leaves when ruined, at the target, or after these rounds.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100})
    >>> ends = ends_of(mix, book.chance(), bankroll=1_000, target=2_000, staking="martingale")
    >>> f"{float(ends.success):.12f}", ends.error < 1e-15
    ('0.455430261679', True)
    """
    for what, value in (("bankroll", bankroll), ("target", target)):
        if type(value) is not int or not 0 <= value <= MOST_BANKROLL:
            raise RulesError(f"expected a {what} from 0 to {MOST_BANKROLL:,}, got {got(value)}")
    if target <= bankroll:
        raise RulesError(f"expected a target above the bankroll of {bankroll:,}, got {target:,}")
    if rounds is not None and (type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS):
        raise RulesError(f"expected 1 to {MOST_ROUNDS:,} rounds, got {got(rounds)}")
    distribution = mix.distribution(chance)
    if rounds is None and distribution.values == (0,):
        raise RulesError("the bets never win or lose: a session without a limit of rounds would never end")
    greatest = max(1, (target - 1) // mix.staked)
    multiples = allowed(mix, minimum=minimum, maximum=maximum, greatest=greatest)
    machine = system(staking, multiples)
    staked = Multiples(min(machine.multiples), max(machine.multiples))
    if bankroll < multiples.least * mix.staked:  # ruined before the first round
        certain = ((bankroll, Fraction(1)),)
        return Ends(mix, chance, machine.name, staked, bankroll, target, rounds, certain, (), (), *[0.0] * 4)
    with needed("numpy", "study"):
        from taisai.study.session.chain import MOST_SOLVED_CELLS, bankrolls_playing, chain_of
    place = {"unit": mix.staked, "least": multiples.least, "bankroll": bankroll, "target": target}
    _, _, playing = bankrolls_playing(distribution, **place)
    if rounds is not None and playing > MOST_SOLVED_CELLS and rounds * playing > MOST_STEPS:
        raise _too_long(rounds, f"{playing:,} bankrolls")  # before the chain is built
    chain = chain_of(distribution, machine, **place)
    played, error, bits, rounds_error = _played(chain, rounds, progress)
    mean_rounds = float(played.visits.sum()) * 2.0**-bits
    ended = _bankrolls(chain.ends, played.ended, bits)
    return Ends(
        mix, chance, machine.name, staked, bankroll, target, rounds,
        tuple((value, p) for value, p in ended if value < target),
        tuple((value, p) for value, p in ended if value >= target),
        _bankrolls(chain.bankrolls, played.alive, bits),
        mean_rounds,
        float((played.visits * chain.multiples).sum()) * 2.0**-bits * mix.staked,
        error + (chain.cells + len(chain.ends)) * 2.0 ** (-bits - _LOW_BITS),
        None if rounds_error is None else rounds_error + _ROUNDING * mean_rounds,
    )  # fmt: skip


class _Course(NamedTuple):
    """A chain after the last round."""

    played: Played
    error: float  # the error bound of all probabilities together
    bits: int  # the scale of the fixed point
    rounds_error: float | None  # the error bound of the visits of all cells together, without their summation


def _played(chain: SessionChain, rounds: int | None, progress: RoundsProgress | None) -> _Course:
    """The chain after these rounds; by default after unlimited rounds."""
    from taisai.study.session.chain import MOST_SOLVED_CELLS, beginning, bits_of, error_of, play, solved

    if rounds is None or rounds * chain.cells > MOST_STEPS:
        solution = solved(chain)
        left = 0.0 if solution is None or rounds is None else solution.left_after(rounds)
        if solution and left < FORGOTTEN:
            error = solution.error + left
            return _Course(solution.played, error, solution.bits, solution.error + left * solution.longest)
        if rounds is not None and (solution or chain.cells > MOST_SOLVED_CELLS):
            raise _too_long(rounds, f"{chain.cells:,} pairs of a bankroll and a state of the system")
    bits, played, done = bits_of(chain.total), beginning(chain), 0
    batch = max(1, _BATCH // chain.cells)
    while rounds is None or done < rounds:
        if done * chain.cells > MOST_STEPS:
            raise RulesError(
                f"calculation too long: after {MOST_STEPS:.0e} steps and {done:,} rounds, the probability "
                f"of still playing is {_mass(played, bits):.1e}; use fewer rounds or a higher bet"
            )
        now = batch if rounds is None else min(batch, rounds - done)
        play(chain, played, now)
        done += now
        if progress:
            progress(done)
        left = _mass(played, bits)
        if left < FORGOTTEN and (rounds is None or done < rounds):
            error = error_of(chain, done) + left
            if rounds is None:
                return _Course(played, error, bits, None)
            visits = _visits_error(played, done, error, bits) + left * (rounds - done)
            return _Course(played, error, bits, visits)
    error = error_of(chain, done)
    return _Course(played, error, bits, _visits_error(played, done, error, bits))


def _visits_error(played: Played, rounds: int, error: float, bits: int) -> float:
    """Each round adds the error of all cells, and one rounding for each addition to the visits."""
    return rounds * (error + 2.0**-52 * float(played.visits.sum()) * 2.0**-bits)


def _too_long(rounds: int, places: str) -> RulesError:
    return RulesError(
        f"calculation too long: expected at most {MOST_STEPS:.0e} steps, got {rounds:,} rounds × "
        f"{places}; use fewer rounds, a greater bet or a lower target"
    )


def _mass(played: Played, bits: int) -> float:
    return float((played.alive.high.sum() + abs(played.alive.low).sum()) * 2.0**-bits)


def _bankrolls(values: npt.NDArray[np.int64], mass: Mass, bits: int) -> Bankrolls:
    """Bankrolls with their probabilities, summed over states, in units of 2^-(bits + 40)."""
    import numpy as np

    kept = (mass.high != 0.0) | (mass.low != 0.0)
    bankrolls, place = np.unique(values[kept], return_inverse=True)
    high, low = np.zeros(len(bankrolls), dtype=np.int64), np.zeros(len(bankrolls), dtype=np.int64)
    np.add.at(high, place, mass.high[kept].astype(np.int64))
    np.add.at(low, place, np.rint(mass.low[kept] * 2.0**_LOW_BITS).astype(np.int64))
    one = 2 ** (bits + _LOW_BITS)
    pairs = zip(bankrolls.tolist(), high.tolist(), low.tolist(), strict=True)
    return tuple((value, Fraction((more << _LOW_BITS) + less, one)) for value, more, less in pairs)
