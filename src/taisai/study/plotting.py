"""The look that all pictures of the study share, and files that come out the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from taisai.rules.errors import RulesError
from taisai.study import needed

if TYPE_CHECKING:  # drawing takes a second to import, and most commands draw nothing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1b2631"
FAINT: Final = "#d5d8dc"
PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which people with any colour blindness tell apart; take them in this order."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
"""One for each colour, so that a print in black and white says the same."""
FORMATS: Final = ("svg", "png", "pdf")
_MOST_PANELS: Final = 12
_LOOK: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 12,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same
    "font.size": 11,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 11,
    "lines.linewidth": 2.0,
    "lines.markersize": 5,
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "taisai",
    "text.color": INK,
    "text.parse_math": False,  # a rulebook's words are words
    "xtick.color": INK,
    "ytick.color": INK,
}


def figure(
    title: str = "",
    *,
    x: str = "",
    y: str = "",
    panels: int = 1,
    width: float = 9.0,
    height: float = 5.4,
) -> tuple[Figure, tuple[Axes, ...]]:
    """A figure in the shared look with so many panels below each other, `x` and `y` the words on its axes.

    >>> drawn, (axes,) = figure("Ahead after so many rounds", x="rounds", y="probability")
    >>> axes.get_xlabel(), tuple(drawn.get_size_inches())
    ('rounds', (np.float64(9.0), np.float64(5.4)))
    """
    if not 1 <= panels <= _MOST_PANELS:
        raise RulesError(f"expected 1 to {_MOST_PANELS} panels in a picture, got {panels}")
    _needed()
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({**_LOOK, "axes.prop_cycle": cycler(color=PALETTE)}):
        made = Figure(figsize=(width, height))
        FigureCanvasAgg(made)  # never a window, whatever the machine has
        axes = tuple(made.subplots(panels, 1, squeeze=False)[:, 0])
        axes[0].set_title(title)
        axes[-1].set_xlabel(x)
        for one in axes:
            one.set_ylabel(y)
    return made, axes


def legend(axes: Axes, **where: Any) -> None:
    """What the lines mean, in the shared look: no box, and every word as it is."""
    from matplotlib import rc_context

    with rc_context(_LOOK):
        axes.legend(**where)


def picture_path(text: str) -> Path:
    """Where a picture goes, if its ending names a format we draw and there is something to draw it."""
    path = Path(text)
    if path.suffix.lower().lstrip(".") not in FORMATS:
        expected = ", ".join(f".{ending}" for ending in FORMATS)
        raise RulesError(f"expected a picture's file name to end in {expected}, got {text!r}")
    _needed()
    return path


def save(made: Figure, path: str | Path, into: IO[bytes] | None = None) -> Path:
    """Writes the picture, into a file that is open already or its own; the same figure, the same bytes."""
    to = picture_path(str(path))
    ending = to.suffix.lower().lstrip(".")
    from matplotlib import rc_context

    nothing = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    with rc_context(_LOOK):
        try:
            made.savefig(into or to, format=ending, metadata=nothing[ending])
        except OSError as error:
            raise RulesError(f"expected to write the picture {to}, got {error.strerror}") from error
    return to


def _needed() -> None:
    with needed("matplotlib", "study"):
        import matplotlib  # noqa: F401
