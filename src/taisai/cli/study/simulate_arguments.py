"""The options of `taisai simulate`."""

from __future__ import annotations

from taisai.cli.arguments import Parser


def how_long(parser: Parser) -> None:
    """`--rounds`, `--sessions`, `--players`, `--seed`, `--totals`."""
    parser.add_argument("--rounds", metavar="N", default="1e6", help="of each session (1e6 unless said)")
    parser.add_argument("--sessions", metavar="N", default="1", help="of each player, a fresh bankroll each")
    parser.add_argument("--players", metavar="N", default="1", help="each at a table of his own")
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
    parser.add_argument("--bankroll", metavar="MONEY", help="what a session starts with (no end unless said)")
    parser.add_argument("--target", metavar="MONEY", help="what a player leaves with")
    parser.add_argument("--minimum", metavar="MONEY", help="the least stake that the table takes on an area")
    parser.add_argument("--maximum", metavar="MONEY", help="the greatest")


def a_dealt_shoe(parser: Parser) -> None:
    """`--decks` and `--penetration`."""
    parser.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    parser.add_argument(
        "--penetration",
        metavar="SHARE",
        help="of the cards dealt before a shuffle, such as 0.75 (card game; every round unless said)",
    )


def who_plays(parser: Parser) -> None:
    """`--workers` or `--dask`."""
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--workers", metavar="N", help="threads that play (all cores unless said)")
    one_of.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler, such as tcp://host:8786")


def where_to(parser: Parser) -> None:
    """`-o` and `--plot`."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the figures in a new .json or .parquet as well"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw it into a new .svg, .png or .pdf")
