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
    passphrase,
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


def _sheet(parser: Parser) -> None:
    parser.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    parser.add_argument("-o", "--output", metavar="FILE", help="the sheet as .pdf or .html")
    parser.add_argument("--key", metavar="FILE", help="sign the figures with this key (`taisai keys make`)")


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
    Leaf(
        "par",
        "study.par:run",
        "The par sheet of a layout: identity, picture, every area, tolerances, errata, signatures.",
        (
            "taisai par rws-sic-bo-etg-v8 --layout C -o sheet.pdf",
            "taisai par mbs-3-card-sic-bo --decks 6 -o sheet.html --key mathematician.key",
            "taisai par us-sic-bo --json",
        ),
        (a_book, a_layout, _sheet, passphrase, some_settings, some_offers, as_json),
    ),
)
