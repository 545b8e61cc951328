"""The common style of all pictures, and reproducible picture files."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from taisai.rules.errors import RulesError
from taisai.study import needed

if TYPE_CHECKING:  # matplotlib takes a second to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1b2631"
FAINT: Final = "#d5d8dc"
PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""The colours of Okabe and Ito, which people with colour blindness can distinguish, in this order."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
"""One marker for each colour, for prints in black and white."""
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
    "font.family": "DejaVu Sans",  # part of matplotlib, so that all machines draw the same
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
    "text.parse_math": False,  # a label of a rulebook may contain $
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
    """A figure in the common style. Panels are stacked; `x` and `y` are the labels of the axes.

    >>> picture, (axes,) = figure("Ahead after so many rounds", x="rounds", y="probability")
    >>> axes.get_xlabel(), tuple(picture.get_size_inches())
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
        picture = Figure(figsize=(width, height))
        FigureCanvasAgg(picture)  # never opens a window
        axes = tuple(picture.subplots(panels, 1, squeeze=False)[:, 0])
        axes[0].set_title(title)
        axes[-1].set_xlabel(x)
        for panel in axes:
            panel.set_ylabel(y)
    return picture, axes


def legend(axes: Axes, **where: Any) -> None:
    from matplotlib import rc_context

    with rc_context(_LOOK):
        axes.legend(**where)


def picture_path(text: str) -> Path:
    """The path of a picture. Raises an error for another ending, or without matplotlib."""
    path = Path(text)
    if path.suffix.lower().lstrip(".") not in FORMATS:
        expected = ", ".join(f".{ending}" for ending in FORMATS)
        raise RulesError(f"expected a picture's file name to end in {expected}, got {text!r}")
    _needed()
    return path


def save(picture: Figure, path: str | Path, into: IO[bytes] | None = None) -> Path:
    """Writes a picture to `into`, or to a new file. The same figure gives the same bytes."""
    to = picture_path(str(path))
    ending = to.suffix.lower().lstrip(".")
    from matplotlib import rc_context

    no_metadata = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    with rc_context(_LOOK):
        try:
            picture.savefig(into or to, format=ending, metadata=no_metadata[ending])
        except OSError as error:
            raise RulesError(f"cannot write the picture {to}: {error.strerror}") from error
    return to


def _needed() -> None:
    with needed("matplotlib", "study"):
        import matplotlib  # noqa: F401
