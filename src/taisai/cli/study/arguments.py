"""The words of the study, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import (
    CommandEntry,
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
from taisai.cli.study.session_arguments import a_picture, a_player, a_session, some_decks
from taisai.cli.study.shoe_arguments import a_question
from taisai.cli.study.simulate_arguments import a_dealt_shoe, how_long, how_staked, where_to, who_plays


def _dominated(parser: Parser) -> None:
    parser.add_argument(
        "--dominated",
        action="store_true",
        help="instead of bets: which areas a mix of others beats on every outcome, with proof",
    )


def _sheet(parser: Parser) -> None:
    parser.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    parser.add_argument("-o", "--output", metavar="FILE", help="the sheet in a new .pdf or .html")
    parser.add_argument("--key", metavar="FILE", help="sign the figures with this key (`taisai keys make`)")


def _rolls(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="rolls, a line each: three faces, such as 2 3 5 or 235"
    )
    parser.add_argument(
        "--shaker", metavar="ROLLS", help="so many rolls of the demonstration shaker, such as 1e6"
    )


def _seed(parser: Parser) -> None:
    parser.add_argument("--seed", metavar="HEX", help="64 hexadecimal digits (a new seed unless said)")


def _raw(parser: Parser) -> None:
    parser.add_argument("--bytes", metavar="N", required=True, help="how many, such as 1e9")
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="a new file (standard output unless said)"
    )


def _played(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a journal's file, or an export of one (jsonl)")
    parser.add_argument("--table", metavar="T", help="only this table")
    parser.add_argument("--plot", metavar="FILE", help="draw it into a new .svg, .png or .pdf")


def _columns(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="bets in Parquet, as `taisai audit export` writes them")
    parser.add_argument(
        "--book",
        metavar="BOOK[/LAYOUT]",
        help="a rulebook of your own, or one under your settings and offers",
    )


LEAVES: Final[tuple[CommandEntry, ...]] = (
    CommandEntry(
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
    CommandEntry(
        "compare",
        "study.compare:run",
        "Two pay tables, area by area: odds, edge, deviation. Settings and offers are those of the second.",
        (
            "taisai compare rws-sic-bo-etg-v8/A rws-sic-bo-etg-v8/C",
            "taisai compare mbs-sic-bo-v6/A us-sic-bo/A --json",
            'taisai compare us-sic-bo us-sic-bo --offer "triple-1=180 to 1"',
        ),
        (two_layouts, a_shoe, some_settings, some_offers, as_json),
    ),
    CommandEntry(
        "session",
        "study.session:run",
        "What bets come to after so many rounds: chance of being ahead, quantiles; exact to 1,000 rounds.",
        (
            "taisai session rws-sic-bo-etg-v8 --layout A --bet small=100 --rounds 1000 --target 500",
            "taisai session mbs-sic-bo-v6 --bet total-9=50 --bet big=100 --rounds 1e5 --plot evening.svg",
        ),
        (a_book, a_layout, some_bets, a_session, some_decks, some_settings, some_offers, a_picture, as_json),
    ),
    CommandEntry(
        "ruin",
        "study.ruin:run",
        "How a player ends: ruined or at the target, under a staking system and the table's limits.",
        (
            "taisai ruin rws-sic-bo-etg-v8 --bet small=100 --bankroll 10000 --target 20000",
            "taisai ruin us-sic-bo --bet big=100 --bankroll 900 --target 1e3 --system martingale --rounds 99",
        ),
        (a_book, a_layout, some_bets, a_player, some_decks, some_settings, some_offers, a_picture, as_json),
    ),
    CommandEntry(
        "shoe",
        "study.shoe:run",
        "The card game's odds for any cards left, effects of removal, and what counting would earn.",
        (
            "taisai shoe mbs-3-card-sic-bo --decks 2 --seen 1,1,6",
            "taisai shoe mbs-3-card-sic-bo --left 48,48,48,48,45,42",
            "taisai shoe mbs-3-card-sic-bo --removal --plot removal.svg",
            "taisai shoe mbs-3-card-sic-bo --decks 6 --positions",
            "taisai shoe mbs-3-card-sic-bo --decks 6 --counting --penetration 0.75",
            "taisai shoe mbs-3-card-sic-bo --decks 2 --perfect --plot gains.svg",
        ),
        (a_book, a_layout, a_shoe, a_question, some_settings, some_offers, a_picture, as_json),
    ),
    CommandEntry(
        "simulate",
        "study.simulate:run",
        "Rounds as they might come: seeded, on every core or a cluster; totals of any length at once.",
        (
            "taisai simulate rws-sic-bo-etg-v8 --layout A --bet small=100 --rounds 1e9 --seed 7 --json",
            "taisai simulate us-sic-bo --bet big=100 --strategy martingale --bankroll 10000 --sessions 1e5",
            "taisai simulate mbs-3-card-sic-bo --bet total-8=100 --strategy count --penetration 0.75",
        ),
        (
            a_book,
            a_layout,
            some_bets,
            how_long,
            how_staked,
            a_dealt_shoe,
            who_plays,
            some_settings,
            some_offers,
            where_to,
            as_json,
        ),
    ),
    CommandEntry(
        "dice test",
        "study.dice:test",
        "Are these dice fair, rolled independently? Chi-squares, runs, serial correlation, e-value.",
        ("taisai dice test rolls.txt", "taisai dice test --shaker 1e6", "taisai dice test rolls.txt --json"),
        (_rolls, _seed, as_json),
    ),
    CommandEntry(
        "dice mapping",
        "study.dice:mapping",
        "Proves, byte by byte, that the demonstration shaker's mapping from bytes to faces favours none.",
        ("taisai dice mapping",),
        (as_json,),
    ),
    CommandEntry(
        "dice export",
        "study.dice:export",
        "The demonstration shaker's raw bytes, for batteries of tests such as dieharder.",
        (
            "taisai dice export --bytes 1e9 | dieharder -a -g 200",
            "taisai dice export --bytes 1e6 -o stream.bin",
        ),
        (_raw, _seed),
    ),
    CommandEntry(
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
    CommandEntry(
        "study journal",
        "study.journal:run",
        "Observed play against exact mathematics: each area with its band, all bets together, the dice.",
        (
            "taisai study journal evening.db",
            "taisai study journal evening.jsonl --table SB1 --plot edges.svg",
        ),
        (_played, as_json),
    ),
    CommandEntry(
        "study resettle",
        "study.resettle:run",
        "Every bet of an export in columns settled anew and balanced; exit code 1 where one is at fault.",
        (
            "taisai audit export evening.db --format parquet --of bets -o bets.parquet",
            "taisai study resettle bets.parquet",
            'taisai study resettle bets.parquet --book us-sic-bo --offer "triple-1=180 to 1"',
        ),
        (_columns, some_settings, some_offers, as_json),
    ),
)
