"""The shared look: deterministic files, honest refusals."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from taisai.rules import RulesError
from taisai.study import plotting

SIGNS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


def _drawn(height: float = 1.0) -> object:
    made, (axes,) = plotting.figure("A title", x="across", y="up")
    axes.plot([0, 1], [0, height], label="a line")
    axes.legend()
    return made


@pytest.mark.parametrize("ending", plotting.FORMATS)
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    first = plotting.save(_drawn(), tmp_path / f"one.{ending}").read_bytes()  # type: ignore[arg-type]
    second = plotting.save(_drawn(), tmp_path / f"two.{ending}").read_bytes()  # type: ignore[arg-type]
    assert first == second
    assert first.startswith(SIGNS[ending])
    other = plotting.save(_drawn(2.0), tmp_path / f"three.{ending}").read_bytes()  # type: ignore[arg-type]
    assert other != first


def test_the_words_of_a_book_are_no_mathematics(tmp_path: Path) -> None:
    made, (axes,) = plotting.figure("costs $1 or $2_x")
    axes.plot([1, 2], label="$\\nonsense{$")
    plotting.legend(axes, loc="best")
    assert plotting.save(made, tmp_path / "a.svg").exists()


@pytest.mark.parametrize("name", ["picture", "picture.gif", "svg", ""])
def test_only_formats_that_can_be_drawn(name: str) -> None:
    with pytest.raises(RulesError, match=r"expected a picture's file name to end in \.svg, \.png, \.pdf"):
        plotting.picture_path(name)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="cannot write the picture"):
        plotting.save(_drawn(), tmp_path / "nowhere" / "a.svg")  # type: ignore[arg-type]


def test_panels_are_counted() -> None:
    assert len(plotting.figure(panels=12)[1]) == 12
    with pytest.raises(RulesError, match="expected 1 to 12 panels in a picture, got 13"):
        plotting.figure(panels=13)


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RulesError, match=r"matplotlib is not installed: run pip install 'taisai\[study\]'"):
        plotting.figure()


def _seen_by(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return tuple(a * red + b * green + c * blue for a, b, c in matrix)


@pytest.mark.parametrize(
    "eye",
    [  # how a protanope, a deuteranope and a tritanope see a colour (Machado, Oliveira, Fernandes 2009)
        ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
        ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
        ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
    ],
)
def test_neighbours_in_the_palette_stay_apart_for_every_eye(eye: tuple[tuple[float, ...], ...]) -> None:
    for one, other in pairwise(plotting.PALETTE):
        pairs = zip(_seen_by(one, eye), _seen_by(other, eye), strict=True)
        assert sum((a - b) ** 2 for a, b in pairs) ** 0.5 > 0.2, (one, other)
