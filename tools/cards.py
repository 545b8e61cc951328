"""Fills the tables of docs/explanation/counting-cards.md and draws its pictures from counting-cards.json.

With --compute it computes those figures again first, which takes three minutes on two cores.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from taisai.rules import rulebook
from taisai.study.pictures import gains_picture, removal_picture
from taisai.study.plotting import save
from taisai.study.shoe.composition import removal, rounds_dealt
from taisai.study.shoe.counting import counted, linear_count
from taisai.study.shoe.exposure import WORTHLESS
from taisai.study.shoe.perfect import PerfectPlay, RoundGain, perfect_play
from taisai.study.shoe.variance import shoe_variance

DOCS: Final = Path(__file__).parent.parent / "docs"
DATA: Final = DOCS / "explanation" / "counting-cards.json"
PAGE: Final = DOCS / "explanation" / "counting-cards.md"
PICTURES: Final = DOCS / "pictures" / "study"
BOOK: Final = "mbs-3-card-sic-bo"
DECKS: Final = (2, 3, 4, 5, 6)
SHARES: Final = (5, 10, 25, 50, 75, 90)
MATRIX: Final = rulebook(BOOK).matrix()


def figures_of(play: PerfectPlay) -> dict[str, Any]:
    """What is published of a shoe: perfect play and the practical count, round by round."""
    decks = sum(play.left) // 48
    count = linear_count(removal(MATRIX, play.left), "small", 2)
    worth = counted(MATRIX, play.left, count.tags)
    half = len(play.rounds) // 2
    variance = shoe_variance(MATRIX, play.left, count.tags, ("small", "big", Fraction(1)), _rounds(decks, 50))
    return {
        "decks": decks,
        "perfect": [[played.bet, played.gain] for played in play.rounds],
        "deviation": {str(share): play.deviation(_rounds(decks, share)) for share in SHARES},
        "areas": {
            area: [
                sum(played.bets[row] for played in play.rounds[:half]) / half,
                sum(played.gains[row] for played in play.rounds[:half]) / half,
            ]
            for row, area in enumerate(MATRIX.areas)
        },
        "error": play.error,
        "tags": list(count.tags),
        "correlation": count.correlation,
        "count": [[one.bet, one.gain] for one in worth.by_threshold("small", "big", Fraction(1))],
        "luck": {
            "deviation": variance.deviation,
            "until_equal": variance.until_equal,
            "error": variance.error,
        },
        "index": [[one.bet, one.gain] for one in worth.by_index()],
    }


def published() -> dict[int, dict[str, Any]]:
    """Decks → the figures of the documentation."""
    return {shoe["decks"]: shoe for shoe in json.loads(DATA.read_text("utf-8"))["shoes"]}


def page() -> str:
    """The page as it should be: its own words, every table filled from the figures."""
    shoes = published()
    words = PAGE.read_text("utf-8")
    tables = {
        "perfect": _table(shoes, "perfect"),
        "count": _table(shoes, "count"),
        "bets": _often(shoes),
        "risk": _risk(shoes),
        "harmless": _harmless(shoes),
        "areas": _areas(shoes[6]),
    }
    for name, table in tables.items():
        begins, ends = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if words.count(begins) != 1 or words.count(ends) != 1:
            raise ValueError(f"expected {begins.strip()} and {ends} once in {PAGE.name}")
        before, rest = words.split(begins)
        words = before + begins + table + ends + rest.split(ends)[1]
    return words


def _rounds(decks: int, share: int) -> int:
    return rounds_dealt(48 * decks, Fraction(share, 100))


def _mean(figures: list[list[float]], rounds: int, place: int) -> float:
    return sum(figure[place] for figure in figures[:rounds]) / rounds


def _table(shoes: dict[int, dict[str, Any]], way: str) -> str:
    rows = [
        "| decks | " + " | ".join(f"{share} %" for share in SHARES) + " |",
        "|---|" + "---:|" * len(SHARES),
    ]
    for decks, shoe in shoes.items():
        cells = [f"{100 * _mean(shoe[way], _rounds(decks, share), 1):.2f}" for share in SHARES]
        rows.append(f"| {decks} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _often(shoes: dict[int, dict[str, Any]]) -> str:
    rows = [
        "| decks | " + " | ".join(f"{share} %" for share in SHARES) + " |",
        "|---|" + "---:|" * len(SHARES),
    ]
    for decks, shoe in shoes.items():
        cells = [f"{_mean(shoe['perfect'], _rounds(decks, share), 0):.0%}" for share in SHARES]
        rows.append(f"| {decks} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _risk(shoes: dict[int, dict[str, Any]]) -> str:
    """What the count earns beside how far it variance, half of the shoe dealt."""
    head = ("decks", "bets in 100 rounds", "units won", "standard deviation", "rounds until they are equal")
    rows = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for decks, shoe in shoes.items():
        half = _rounds(decks, 50)
        bet, gain = _mean(shoe["count"], half, 0), _mean(shoe["count"], half, 1)
        deviation, equal = shoe["luck"]["deviation"], shoe["luck"]["until_equal"]
        rows.append(f"| {decks} | {100 * bet:.0f} | {100 * gain:.2f} | {deviation:.2f} | {equal:,.0f} |")
    return "\n".join(rows) + "\n"


def _harmless(shoes: dict[int, dict[str, Any]]) -> str:
    rows = ["| decks | rounds | cards | share of the shoe |", "|---|---:|---:|---:|"]
    for decks, shoe in shoes.items():
        most = max(k for k in range(1, 16 * decks + 1) if 100 * _mean(shoe["perfect"], k, 1) < WORTHLESS)
        rows.append(f"| {decks} | {most} | {3 * most} | {3 * most / (48 * decks):.1%} |")
    return "\n".join(rows) + "\n"


def _areas(shoe: dict[str, Any]) -> str:
    rows = ["| area | share of rounds in which it is the best bet | units in 100 rounds |", "|---|---:|---:|"]
    ranked = sorted(shoe["areas"].items(), key=lambda item: (-item[1][1], item[0]))
    for area, (bet, gain) in ranked:
        if 100 * gain >= 0.005:
            rows.append(f"| {area} | {bet:.1%} | {100 * gain:.2f} |")
    return "\n".join(rows) + "\n"


def draw(folder: Path = PICTURES) -> list[Path]:
    """The pictures of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    shoes = published()

    def line(decks: int, way: str) -> tuple[list[float], list[float]]:
        figures = shoes[decks][way]
        rounds = range(1, len(figures) + 1)
        return [100 * 3 * k / (48 * decks) for k in rounds], [100 * _mean(figures, k, 1) for k in rounds]

    perfect = {f"{decks} decks": line(decks, "perfect") for decks in DECKS}
    ways = {
        "six decks, perfect play": line(6, "perfect"),
        "one count, every area by index": line(6, "index"),
        "one count, small and big only": line(6, "count"),
    }
    return [
        save(gains_picture("Perfect play, one unit a bet", perfect), folder / "cards-perfect.svg"),
        save(gains_picture("What a person can get of it, six decks", ways), folder / "cards-count.svg"),
        save(removal_picture(removal(MATRIX, (48,) * 6)), folder / "cards-removal.svg"),
    ]


def main() -> None:
    """Computes the figures with --compute; draws the pictures and writes the page."""
    if "--compute" in sys.argv[1:]:
        shoes = []
        for decks in DECKS:
            print(f"{decks} decks …", file=sys.stderr)
            shoes.append(figures_of(perfect_play(MATRIX, (8 * decks,) * 6)))
        write(shoes)
    PAGE.write_text(page(), encoding="utf-8")
    for path in (PAGE, *draw()):
        print(path)


def write(shoes: list[dict[str, Any]]) -> None:
    """Keeps the figures, one shoe a line."""
    lines = ",\n".join(json.dumps(shoe) for shoe in shoes)
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(f'{{"book": "{BOOK}", "shoes": [\n{lines}\n]}}\n', encoding="utf-8")


def from_rounds(left: tuple[int, ...], rounds: list[Any], error: float) -> PerfectPlay:
    """Perfect play from published figures."""
    played = tuple(RoundGain(k, tuple(bets), tuple(gains)) for k, (bets, gains) in enumerate(rounds, 1))
    return PerfectPlay(MATRIX, left, played, 0, error)


if __name__ == "__main__":
    main()
