"""`taisai shoe`: the card game's odds for any cards left, effects of removal, what counting would earn."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Final

from taisai.cli import asked
from taisai.cli.study.progress import shown_progress
from taisai.cli.study.telling import tell
from taisai.rules import RulesError, rulebook
from taisai.study.shoe.composition import after_seeing, composition_odds, full_shoe

if TYPE_CHECKING:
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.exposure import Exposure
    from taisai.study.shoe.removal import Removal

_USUAL: Final = Fraction(1, 2)
"""What is dealt before the shuffle, unless said."""


def run(arguments: Namespace) -> int:
    """Prints what was asked about a shoe."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    decks = asked.whole(arguments.decks, "--decks", such_as="6") if arguments.decks is not None else None
    full = full_shoe(book.chance_rule, decks)
    seen = asked.faces(arguments.seen, "--seen") if arguments.seen is not None else ()
    left = after_seeing(full, seen)
    counting = arguments.counting or arguments.perfect
    if counting and arguments.removal:
        raise RulesError("expected --removal or --counting, got both")
    if not counting:
        for option, given in (
            ("--penetration", arguments.penetration),
            ("--count", arguments.count),
            ("--tags", arguments.tags),
        ):
            if given is not None:
                raise RulesError(f"expected --counting or --perfect with {option}, got {option} alone")
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a name that cannot be drawn is refused before an hour's work
    result: CompositionOdds | Exposure | Removal
    if arguments.removal:
        from taisai.study.shoe.removal import removal

        result = removal(matrix, left)
    elif counting:
        from taisai.study.shoe.exposure import exposure

        tags = asked.whole(arguments.tags, "--tags", such_as="2") if arguments.tags is not None else 2
        compositions = prod(count + 1 for count in left)
        with shown_progress("compositions", compositions if arguments.perfect else 1) as advance:
            result = exposure(
                matrix,
                left,
                penetration=_USUAL
                if arguments.penetration is None
                else asked.share(arguments.penetration, "--penetration"),
                area=arguments.count,
                most_tag=tags,
                deck=book.chance_rule.cards_per_face * 6,
                perfect=arguments.perfect,
                progress=lambda _done, whole: advance(compositions // whole),
            )
    else:
        result = composition_odds(matrix, left, full)
    if arguments.plot is not None:
        _draw(result, arguments.plot)
    return tell(result, arguments)


def _draw(result: CompositionOdds | Exposure | Removal, path: str) -> None:
    from taisai.study.plotting import save
    from taisai.study.shoe import pictures
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.exposure import Exposure
    from taisai.study.shoe.removal import Removal

    match result:
        case Exposure():
            save(pictures.exposure_picture(result), path)
        case Removal():
            save(pictures.removal_picture(result), path)
        case CompositionOdds():
            save(pictures.edges_picture(result), path)
