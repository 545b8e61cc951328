"""The words of the study, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import (
    Leaf,
    Parser,
    a_book,
    a_layout,
    a_shoe,
    as_json,
    some_bets,
    some_offers,
    some_settings,
    two_layouts,
)


def _dominated(parser: Parser) -> None:
    parser.add_argument(
        "--dominated",
        action="store_true",
        help="instead of bets: which areas a mix of others beats on every outcome, with proof",
    )


LEAVES: Final[tuple[Leaf, ...]] = (
    Leaf(
        "portfolio",
        "study.portfolio:run",
        "Bets held together: exact distribution, covariance, exposure; or the dominated areas, with proof.",
        (
            "taisai portfolio rws-sic-bo-etg-v8 --bet small=100 --bet total-9=20 --bet any-triple=10",
            "taisai portfolio us-sic-bo --dominated",
            "taisai portfolio mbs-3-card-sic-bo --decks 2 --bet total-10=100 --json",
        ),
        (a_book, a_layout, some_bets, _dominated, a_shoe, some_settings, some_offers, as_json),
    ),
    Leaf(
        "compare",
        "study.compare:run",
        "Two pay tables, area by area: odds, edge, deviation.",
        (
            "taisai compare rws-sic-bo-etg-v8/A rws-sic-bo-etg-v8/C",
            "taisai compare mbs-sic-bo-v6/A us-sic-bo/A --json",
        ),
        (two_layouts, as_json),
    ),
)
