"""The options of `taisai session` and `taisai ruin`.

What `taisai shoe` takes.

The options of `taisai simulate`.

The words of the study, and the commands they make.
"""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import (
    CommandEntry,
    Once,
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

_SYSTEMS = "flat, martingale, paroli, dalembert or labouchere"


def some_decks(parser: Parser) -> None:
    """`--decks`."""
    parser.add_argument(
        "--decks", metavar="N", help="decks in the shoe, freshly shuffled for every round (card game)"
    )


def a_picture(parser: Parser) -> None:
    """`--plot`."""
    parser.add_argument("--plot", metavar="FILE", action=Once, help="draw it into a new .svg, .png or .pdf")


def a_session(parser: Parser) -> None:
    """`--rounds` and `--target` of a fixed mix."""
    parser.add_argument("--rounds", metavar="N", action=Once, help="so many rounds, such as 1000 or 1e6")
    parser.add_argument(
        "--distribution",
        metavar="FILE",
        action=Once,
        help="every total with its probability into a new .json or .parquet (--json lists up to 200)",
    )
    parser.add_argument(
        "--target",
        metavar="NET",
        action=Once,
        help="how likely is this much won, or more, such as 500, 1e3 or -500",
    )


def a_player(parser: Parser) -> None:
    """What a player brings, wants and does."""
    parser.add_argument("--bankroll", metavar="M", action=Once, help="what the player starts with")
    parser.add_argument("--target", metavar="M", action=Once, help="the bankroll at which the player leaves")
    parser.add_argument(
        "--rounds", metavar="N", action=Once, help="leaves after so many rounds (else plays on to the end)"
    )
    parser.add_argument(
        "--system",
        "--strategy",  # as `taisai simulate` has it
        metavar="NAME",
        action=Once,
        help=f"{_SYSTEMS} (default: flat)",
    )
    parser.add_argument("--minimum", metavar="M", action=Once, help="the table's minimum on each area")
    parser.add_argument("--maximum", metavar="M", action=Once, help="the table's maximum on each area")


def a_question(parser: Parser) -> None:
    """What is asked about the shoe; by default the odds now."""
    parser.add_argument(
        "--left",
        metavar="N,N,N,N,N,N",
        action=Once,
        help="instead of --seen: how many cards of each face are left, from 1 to 6",
    )
    parser.add_argument(
        "--removal", action="store_true", help="what one card gone of each face does to every area's edge"
    )
    parser.add_argument(
        "--positions", action="store_true", help="the edge of every round of the shoe before a card is seen"
    )
    parser.add_argument(
        "--counting", action="store_true", help="what a count that a person can keep would earn"
    )
    parser.add_argument(
        "--perfect",
        action="store_true",
        help="the same, and perfect play beside it (two decks: a second; six: a minute or two)",
    )
    parser.add_argument(
        "--penetration",
        metavar="SHARE",
        action=Once,
        help="with --counting: how much is dealt before the shuffle, such as 0.75 (default: 0.5)",
    )
    parser.add_argument(
        "--count",
        metavar="AREA",
        action=Once,
        help="with --counting: the area to count for (default: the area that cards change most)",
    )
    parser.add_argument(
        "--tags", metavar="N", action=Once, help="with --counting: the greatest tag of a card (default: 2)"
    )
    parser.add_argument(
        "--deviation",
        action="store_true",
        help="with --counting: also how far luck strays from it (two decks: a second; six: twenty)",
    )


def how_long(parser: Parser) -> None:
    """`--rounds`, `--sessions`, `--players`, `--seed`, `--totals`."""
    parser.add_argument("--rounds", metavar="N", default="1e6", help="of each session (default: 1e6)")
    parser.add_argument("--sessions", metavar="N", default="1", help="of each player, a fresh bankroll each")
    parser.add_argument("--players", metavar="N", default="1", help="each at their own table")
    parser.add_argument("--seed", metavar="N", default="1", help="the same seed, the same figures (1)")
    parser.add_argument(
        "--totals", action="store_true", help="draw the totals at once, whatever the number of rounds"
    )


def how_staked(parser: Parser) -> None:
    """`--strategy`, `--bankroll`, `--target`, `--minimum`, `--maximum`."""
    parser.add_argument(
        "--strategy",
        "--system",  # as `taisai ruin` has it
        metavar="NAME",
        default="flat",
        help="flat, martingale, paroli, dalembert, labouchere; count or count:8 at a shoe",
    )
    parser.add_argument("--bankroll", metavar="MONEY", help="what a session starts with (default: unlimited)")
    parser.add_argument("--target", metavar="MONEY", help="what a player leaves with")
    parser.add_argument("--minimum", metavar="MONEY", help="the least stake that the table takes on an area")
    parser.add_argument("--maximum", metavar="MONEY", help="the greatest")


def a_dealt_shoe(parser: Parser) -> None:
    """`--decks` and `--penetration`."""
    parser.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    parser.add_argument(
        "--penetration",
        metavar="SHARE",
        help="card game: share dealt before a shuffle, such as 0.75 (default: shuffle every round)",
    )


def who_plays(parser: Parser) -> None:
    """`--workers` or `--dask`."""
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--workers", metavar="N", help="threads that play (default: all cores)")
    one_of.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler, such as tcp://host:8786")


def where_to(parser: Parser) -> None:
    """`-o` and `--plot`."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the figures in a new .json or .parquet as well"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw it into a new .svg, .png or .pdf")


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
    parser.add_argument("--seed", metavar="HEX", help="64 hexadecimal digits (default: a new seed)")


def _raw(parser: Parser) -> None:
    parser.add_argument("--bytes", metavar="N", required=True, help="how many, such as 1e9")
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="a new file (default: standard output)"
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
        "study.pay_tables:run_portfolio",
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
        "study.pay_tables:run_compare",
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
        "study.sessions:run_session",
        "What bets come to after so many rounds: chance of being ahead, quantiles; exact to 1,000 rounds.",
        (
            "taisai session rws-sic-bo-etg-v8 --layout A --bet small=100 --rounds 1000 --target 500",
            "taisai session mbs-sic-bo-v6 --bet total-9=50 --bet big=100 --rounds 1e5 --plot evening.svg",
        ),
        (a_book, a_layout, some_bets, a_session, some_decks, some_settings, some_offers, a_picture, as_json),
    ),
    CommandEntry(
        "ruin",
        "study.sessions:run_ruin",
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
        "study.pay_tables:run_par",
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
        "study.journal:run_journal",
        "Observed play against exact mathematics: each area with its band, all bets together, the dice.",
        (
            "taisai study journal evening.db",
            "taisai study journal evening.jsonl --table SB1 --plot edges.svg",
        ),
        (_played, as_json),
    ),
    CommandEntry(
        "study resettle",
        "study.journal:run_resettle",
        "Every bet of an export in columns settled anew and balanced; exit code 1 where one is at fault.",
        (
            "taisai audit export evening.db --format parquet --of bets -o bets.parquet",
            "taisai study resettle bets.parquet",
            'taisai study resettle bets.parquet --book us-sic-bo --offer "triple-1=180 to 1"',
        ),
        (_columns, some_settings, some_offers, as_json),
    ),
)
