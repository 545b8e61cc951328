"""`taisai shoe`: the card game's odds for any cards left, effects of removal, what counting would earn."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction
from math import prod
from typing import IO, TYPE_CHECKING, Final

from taisai.cli import DONE, asked
from taisai.cli.study.progress import shown_progress
from taisai.cli.study.telling import told_and_kept
from taisai.rules import Matrix, RulesError, rulebook
from taisai.study.shoe.composition import after_seeing, composition_odds, full_shoe

if TYPE_CHECKING:
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.exposure import Exposure
    from taisai.study.shoe.removal import Removal

    Answer = CompositionOdds | Exposure | Removal

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

    def work() -> Answer:
        if arguments.removal:
            from taisai.study.shoe.removal import removal

            return removal(matrix, left)
        if counting:
            return _exposure(matrix, left, book.chance_rule.cards_per_face * 6, arguments)
        return composition_odds(matrix, left, full)

    told_and_kept(arguments, work, (arguments.plot, _draw))
    return DONE


def _exposure(matrix: Matrix, left: tuple[int, ...], deck: int, arguments: Namespace) -> Exposure:
    from taisai.study.shoe.exposure import exposure

    tags = asked.whole(arguments.tags, "--tags", such_as="2") if arguments.tags is not None else 2
    share = arguments.penetration
    compositions = prod(count + 1 for count in left)
    with shown_progress("compositions", compositions if arguments.perfect else 1) as advance:
        return exposure(
            matrix,
            left,
            penetration=_USUAL if share is None else asked.share(share, "--penetration"),
            area=arguments.count,
            most_tag=tags,
            deck=deck,
            perfect=arguments.perfect,
            progress=lambda _done, whole: advance(compositions // whole),
        )


def _draw(result: Answer, path: str, file: IO[bytes]) -> None:
    from taisai.study.plotting import save
    from taisai.study.shoe import pictures
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.exposure import Exposure
    from taisai.study.shoe.removal import Removal

    match result:
        case Exposure():
            save(pictures.exposure_picture(result), path, file)
        case Removal():
            save(pictures.removal_picture(result), path, file)
        case CompositionOdds():
            save(pictures.edges_picture(result), path, file)
