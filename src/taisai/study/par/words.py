"""The sentences of a par sheet."""

from __future__ import annotations

from typing import Final

EXACT: Final = (
    "Ways, probabilities, edges and variances are exact: they are counted over the whole cycle. Odds are "
    "as in the pay table; an edge is what the house keeps of each unit staked, in the mean. "
    "The volatility index is 1.645 standard deviations."
)
BANDS: Final = (
    "The observed edge of one area, staked equally each round, lies within its band in at least the stated "
    "share of samples, and beyond either end in at most half of the rest. Bands are quantiles of the exact "
    "law of the total: counted in whole numbers to 1,000 rounds, by a Fourier transform with a proven error "
    "beyond. Where odds lie too far apart for that a band is normal, and ≈ marks one whose share may be off "
    "by more than 5 percentage points by the Berry–Esseen bound."
)
MONITORING: Final = (
    "At most one look in a hundred at one area is outside of its 99 % band by chance alone. With many areas "
    "and many looks it will happen; the dice watch of the floor corrects for looking often, these do not."
)
