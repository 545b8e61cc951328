"""The colours of colour chips: as many as are wanted, so that no two seats have the same."""

from __future__ import annotations

from typing import Final

from taisai.protocol.views import ColourLine, Words

_PAINTS: Final = (
    ("red", Words("Red", "红"), "#c0392b"),
    ("blue", Words("Blue", "蓝"), "#1d4f91"),
    ("green", Words("Green", "绿"), "#1f8f4e"),
    ("yellow", Words("Yellow", "黄"), "#e5c100"),
    ("orange", Words("Orange", "橙"), "#d9730d"),
    ("purple", Words("Purple", "紫"), "#6c2f8e"),
    ("pink", Words("Pink", "粉"), "#d75a93"),
    ("brown", Words("Brown", "棕"), "#6b4423"),
    ("white", Words("White", "白"), "#f4f1e6"),
    ("grey", Words("Grey", "灰"), "#7f8c8d"),
    ("turquoise", Words("Turquoise", "青"), "#1aa6a6"),
    ("black", Words("Black", "黑"), "#22252a"),
)


def colours(least: int) -> tuple[ColourLine, ...]:
    """All paints there are; where that is too few, the same again with a mark on the chips."""
    told: list[ColourLine] = []
    for number in range(max(least, len(_PAINTS))):
        turn, place = divmod(number, len(_PAINTS))
        name, label, paint = _PAINTS[place]
        mark = str(turn + 1) if turn else ""
        words = Words(f"{label.en} {mark}", f"{label.zh} {mark}") if mark else label
        told.append(
            ColourLine(colour=f"{name}-{mark}" if mark else name, label=words, paint=paint, mark=mark)
        )
    return tuple(told)


def colour_of(name: str) -> ColourLine:
    """A colour by its name; one that somebody made up has no paint of its own."""
    plain, _, mark = name.partition("-")
    for known, label, paint in _PAINTS:
        if known == plain:
            words = Words(f"{label.en} {mark}", f"{label.zh} {mark}") if mark else label
            return ColourLine(colour=name, label=words, paint=paint, mark=mark)
    return ColourLine(colour=name, label=Words(name, name), paint="#777777", mark="")
