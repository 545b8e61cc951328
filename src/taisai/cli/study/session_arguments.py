"""The options of `taisai session` and `taisai ruin`."""

from __future__ import annotations

from taisai.cli.arguments import Once, Parser

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
        help=f"{_SYSTEMS} (flat unless said)",
    )
    parser.add_argument("--minimum", metavar="M", action=Once, help="the table's minimum on each area")
    parser.add_argument("--maximum", metavar="M", action=Once, help="the table's maximum on each area")
