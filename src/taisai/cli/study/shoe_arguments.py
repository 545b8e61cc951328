"""What `taisai shoe` takes."""

from __future__ import annotations

from taisai.cli.arguments import Once, Parser


def a_question(parser: Parser) -> None:
    """What is asked about the shoe; the odds now, unless said."""
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
        help="with --counting: how much is dealt before the shuffle, such as 0.75 (0.5 unless said)",
    )
    parser.add_argument(
        "--count",
        metavar="AREA",
        action=Once,
        help="with --counting: the area to count for (the one that cards move most, unless said)",
    )
    parser.add_argument(
        "--tags", metavar="N", action=Once, help="with --counting: the greatest tag of a card (2 unless said)"
    )
    parser.add_argument(
        "--deviation",
        action="store_true",
        help="with --counting: also how far luck strays from it (two decks: a second; six: twenty)",
    )
