"""How a player ends: ruined, at the target, or neither, under any staking system and table limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.study.missing import needed
from taisai.study.mix import Mix
from taisai.study.report import Report, Sheet, Told, columns
from taisai.study.session.digits import certain_decimals, decimal_text, told
from taisai.study.session.total import fresh_shoe
from taisai.study.staking import Multiples, allowed, system

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from taisai.study.session.chain import Chain
    from taisai.study.session.steps import Mass, Played

MOST_ROUNDS: Final = 10**12
MOST_BANKROLL: Final = 10**12
"""Bankrolls and targets, in minor units: at odds of a million to 1 the sums still fit 64 bits."""
MOST_STEPS: Final = 10**11
"""Cells times rounds: about ten minutes of work."""
FORGOTTEN: Final = 1e-18
"""Once less than this is still playing, the rest is left out, and told as part of the error."""
_BATCH: Final = 2**24  # cells times rounds between two looks at what is still playing
_LOW_BITS: Final = 40  # what is kept of the low parts; the sum over all cells still fits 64 bits

Progress = Callable[[int], None]
"""Hears how many rounds are done."""


@dataclass(frozen=True)
class Ends(Told):
    """Where a player stands in the end, and how it came to that."""

    mix: Mix
    chance: Chance
    system: str
    multiples: Multiples
    """The least and the most that the system stakes, in units."""
    bankroll: int
    target: int
    rounds: int | None
    """None: until ruin or target, however long it takes."""
    ruined: tuple[tuple[int, Fraction], ...]
    """Bankrolls, ascending, that cannot play on, with their probabilities."""
    reached: tuple[tuple[int, Fraction], ...]
    """Bankrolls at the target or beyond."""
    playing: tuple[tuple[int, Fraction], ...]
    """Bankrolls that would play on."""
    mean_rounds: float
    mean_staked: float
    error: float
    """The most that any probability, or sum of them, is off."""

    @cached_property
    def ruin(self) -> Fraction:
        """The probability of ruin."""
        return sum((p for _, p in self.ruined), Fraction(0))

    @cached_property
    def success(self) -> Fraction:
        """The probability of reaching the target."""
        return sum((p for _, p in self.reached), Fraction(0))

    @cached_property
    def neither(self) -> Fraction:
        """The probability of still playing after the last round."""
        return sum((p for _, p in self.playing), Fraction(0))

    @property
    def law(self) -> tuple[tuple[int, Fraction], ...]:
        """Every bankroll that may be the last, ascending, with its probability."""
        return (*self.ruined, *self.playing, *self.reached)

    @property
    def mean(self) -> float:
        """The bankroll in the end, in the mean."""
        return float(sum((value * p for value, p in self.law), Fraction(0)))

    @property
    def decimals(self) -> int:
        """How many decimals of a probability are certain."""
        return certain_decimals(self.error, most=30)

    def report(self) -> Report:
        """A table of how it ends, one of what it took, and the rules at the limits."""
        rows = [
            self._row("ruined", self.ruined, self.ruin),
            self._row("target reached", self.reached, self.success),
        ]
        if self.rounds is not None:
            rows.append(self._row("still playing", self.playing, self.neither))
        matrix, most = self.mix.matrix, self.multiples.most
        bets = ", ".join(f"{area}={stake}" for area, stake in self.mix.stakes.items())
        end = "until it ends" if self.rounds is None else f"{self.rounds:,} rounds at most"
        title = f"{matrix.rulebook}, layout {matrix.layout}: {self.system} with {bets}, {end}"
        numbers = ("probability", "bankroll then, mean")
        took = (
            ("bankroll at the start", f"{self.bankroll:,}"),
            ("target", f"{self.target:,}"),
            ("stakes", f"{self.multiples.least * self.mix.staked:,} to {most * self.mix.staked:,}"),
            ("bankroll in the end, mean", f"{self.mean:,.2f}"),
            ("rounds, mean", f"{self.mean_rounds:,.2f}"),
            ("staked, mean", f"{self.mean_staked:,.2f}"),
            ("lost of what is staked", f"{100 * (self.bankroll - self.mean) / self.mean_staked:.4f} %")
            if self.mean_staked
            else ("lost of what is staked", "–"),
        )
        notes = [f"No probability is off by more than {self.error:.0e}." if self.error else "Exact."]
        if self.chance.kind is ChanceKind.CARDS:
            notes.append(fresh_shoe(self.chance))
        return Report(
            (
                Sheet(title, columns("how it ends", *numbers, numbers=numbers), tuple(rows)),
                Sheet("What it takes", columns("figure", "value", numbers=("value",)), took),
            ),
            tuple(notes),
        )

    def _row(
        self, name: str, part: tuple[tuple[int, Fraction], ...], share: Fraction
    ) -> tuple[str, str, str]:
        mean = float(sum((value * p for value, p in part), Fraction(0)) / share) if share else 0.0
        return name, told(share, self.error), f"{mean:,.2f}" if share else "–"

    def facts(self) -> dict[str, Any]:
        """For machines: decimals as text, as many as are certain."""
        return {
            "rulebook": self.mix.matrix.rulebook,
            "layout": self.mix.matrix.layout,
            "bets": dict(self.mix.stakes),
            "assumption": fresh_shoe(self.chance) if self.chance.kind is ChanceKind.CARDS else None,
            "system": self.system,
            "bankroll": self.bankroll,
            "target": self.target,
            "rounds": self.rounds,
            "least_stake": self.multiples.least * self.mix.staked,
            "most_stake": self.multiples.most * self.mix.staked,
            "error_at_most": self.error,
            "probability": {
                name: {"value": decimal_text(value, self.decimals), "about": float(value)}
                for name, value in (("ruin", self.ruin), ("target", self.success), ("neither", self.neither))
            },
            "mean_end": self.mean,
            "mean_rounds": self.mean_rounds,
            "mean_staked": self.mean_staked,
            "ends": [
                {"bankroll": value, "probability": decimal_text(p, self.decimals)}
                for value, p in self.law
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
    progress: Progress | None = None,
) -> Ends:
    """How a player ends who leaves when ruined, at the target, or after so many rounds.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100})
    >>> ends = ends_of(mix, book.chance(), bankroll=1_000, target=2_000, staking="martingale")
    >>> f"{float(ends.success):.12f}", ends.error < 1e-15
    ('0.455430261679', True)
    """
    for what, value in (("bankroll", bankroll), ("target", target)):
        if not 0 <= value <= MOST_BANKROLL:
            raise RulesError(f"expected a {what} from 0 to {MOST_BANKROLL:,}, got {value:,}")
    if target <= bankroll:
        raise RulesError(f"expected a target above the bankroll of {bankroll:,}, got {target:,}")
    if rounds is not None and not 1 <= rounds <= MOST_ROUNDS:
        raise RulesError(f"expected 1 to {MOST_ROUNDS:,} rounds, got {rounds:,}")
    law = mix.law(chance)
    if rounds is None and law.values == (0,):
        raise RulesError("expected bets that win or lose something, got bets that always come out level")
    greatest = max(1, (target - 1) // mix.staked)
    multiples = allowed(mix, minimum=minimum, maximum=maximum, greatest=greatest)
    machine = system(staking, multiples)
    staked = Multiples(min(machine.multiples), max(machine.multiples))
    if bankroll < multiples.least * mix.staked:  # ruined before the first round
        whole = ((bankroll, Fraction(1)),)
        return Ends(mix, chance, machine.name, staked, bankroll, target, rounds, whole, (), (), 0.0, 0.0, 0.0)
    with needed("numpy", "study"):
        from taisai.study.session.chain import chain_of
    chain = chain_of(law, machine, unit=mix.staked, least=multiples.least, bankroll=bankroll, target=target)
    played, error, bits = _played(chain, rounds, progress)
    ended = _law(chain.ends, played.ended, bits)
    return Ends(
        mix,
        chance,
        machine.name,
        staked,
        bankroll,
        target,
        rounds,
        tuple((value, p) for value, p in ended if value < target),
        tuple((value, p) for value, p in ended if value >= target),
        _law(chain.bankrolls, played.alive, bits),
        float(played.visits.sum()) * 2.0**-bits,
        float((played.visits * chain.multiples).sum()) * 2.0**-bits * mix.staked,
        error + (chain.cells + len(chain.ends)) * 2.0 ** (-bits - _LOW_BITS),
    )


def _played(chain: Chain, rounds: int | None, progress: Progress | None) -> tuple[Played, float, int]:
    """The chain after so many rounds, or at its end; how far all of it is off; and its scale."""
    from taisai.study.session.steps import beginning, bits_of, error_of, play

    if rounds is None:
        from taisai.study.session.solving import solved

        if found := solved(chain):
            return found
    bits, played, done = bits_of(chain.total), beginning(chain), 0
    batch = max(1, _BATCH // chain.cells)
    while rounds is None or done < rounds:
        if done * chain.cells > MOST_STEPS:
            raise RulesError(
                f"expected an end within {MOST_STEPS:.0e} steps, got {float(_mass(played, bits)):.1e} still "
                f"playing after {done:,} rounds: fewer rounds or a greater bet make it shorter"
            )
        now = batch if rounds is None else min(batch, rounds - done)
        play(chain, played, now)
        done += now
        if progress:
            progress(done)
        left = _mass(played, bits)
        if left < FORGOTTEN and (rounds is None or done < rounds):
            return played, error_of(chain, done) + left, bits
    return played, error_of(chain, done), bits


def _mass(played: Played, bits: int) -> float:
    return float((played.alive.high.sum() + abs(played.alive.low).sum()) * 2.0**-bits)


def _law(values: npt.NDArray[np.int64], mass: Mass, bits: int) -> tuple[tuple[int, Fraction], ...]:
    """The probabilities of bankrolls: all cells of one together, in whole numbers of 2^-(bits + 40)."""
    import numpy as np

    kept = (mass.high != 0.0) | (mass.low != 0.0)
    found, place = np.unique(values[kept], return_inverse=True)
    high, low = np.zeros(len(found), dtype=np.int64), np.zeros(len(found), dtype=np.int64)
    np.add.at(high, place, mass.high[kept].astype(np.int64))
    np.add.at(low, place, np.rint(mass.low[kept] * 2.0**_LOW_BITS).astype(np.int64))
    one = 2 ** (bits + _LOW_BITS)
    pairs = zip(found.tolist(), high.tolist(), low.tolist(), strict=True)
    return tuple((value, Fraction((more << _LOW_BITS) + less, one)) for value, more, less in pairs)
