"""`taisai shoe`: the card game's odds for any cards left, effects of removal, what counting would earn."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction
from math import prod
from typing import IO, TYPE_CHECKING, Final

from taisai.cli import DONE, asked
from taisai.cli.study.output import shown_progress, tell, told_and_kept
from taisai.rules import Matrix, Rulebook, RulesError, rulebook
from taisai.study.shoe.composition import after_seeing, composition_odds, full_shoe

if TYPE_CHECKING:
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.counting import Removal
    from taisai.study.shoe.exposure import Exposure

    Drawn = CompositionOdds | Exposure | Removal

_USUAL: Final = Fraction(1, 2)
"""By default, the share of cards dealt before the shuffle."""


def run(arguments: Namespace) -> int:
    """Prints what was asked about a shoe."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    decks = asked.whole(arguments.decks, "--decks", such_as="6") if arguments.decks is not None else None
    full = full_shoe(book.chance_rule, decks)
    left = _left(arguments, full)
    question = _question(arguments)
    if question == "--positions":
        from taisai.study.shoe.composition import position_edges

        return tell(position_edges(matrix, left), arguments)
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a name that cannot be drawn is refused before an hour's work

    def work() -> Drawn:
        if question == "--removal":
            from taisai.study.shoe.counting import removal

            return removal(matrix, left)
        if question == "--counting":
            return _exposure(arguments, book, matrix, left)
        return composition_odds(matrix, left, full)

    told_and_kept(arguments, work, (arguments.plot, _draw))
    return DONE


def _question(arguments: Namespace) -> str | None:
    """What is asked, if it is more than the odds; whatever does not go with it is refused."""
    counting = arguments.counting or arguments.perfect
    questions = {"--removal": arguments.removal, "--positions": arguments.positions, "--counting": counting}
    several = [name for name, is_asked in questions.items() if is_asked]
    if len(several) > 1:
        raise RulesError(f"expected one of {', '.join(questions)}, got {' and '.join(several)}")
    for option in ("--penetration", "--count", "--tags", "--deviation"):
        if getattr(arguments, option[2:]) not in {None, False} and not counting:
            raise RulesError(f"expected --counting or --perfect with {option}, got {option} alone")
    if arguments.positions and arguments.plot is not None:
        raise RulesError("expected no --plot with --positions: every round is alike")
    return several[0] if several else None


def _exposure(arguments: Namespace, book: Rulebook, matrix: Matrix, left: tuple[int, ...]) -> Exposure:
    from taisai.study.shoe.composition import rounds_dealt
    from taisai.study.shoe.exposure import exposure

    tags = asked.whole(arguments.tags, "--tags", such_as="2") if arguments.tags is not None else 2
    share = arguments.penetration
    penetration = _USUAL if share is None else asked.share(share, "--penetration")
    compositions = prod(count + 1 for count in left)
    work = (
        ("compositions", compositions)
        if arguments.perfect
        else ("rounds", rounds_dealt(sum(left), penetration))
    )
    with shown_progress(*work) as advance:
        return exposure(
            matrix,
            left,
            penetration=penetration,
            area=arguments.count,
            most_tag=tags,
            deck=book.chance_rule.cards_per_face * 6,
            perfect=arguments.perfect,
            deviation=arguments.deviation,
            progress=lambda _done, whole: advance(work[1] // whole),
        )


def _left(arguments: Namespace, full: tuple[int, ...]) -> tuple[int, ...]:
    """The composition that was given: what is left, or what was seen."""
    if arguments.left is None:
        return after_seeing(full, asked.faces(arguments.seen, "--seen") if arguments.seen is not None else ())
    if arguments.seen is not None:
        raise RulesError("expected --left or --seen, not both: leave one out")
    left = asked.faces(arguments.left, "--left")
    if len(left) != len(full):
        raise RulesError(
            f"expected six numbers, one a face, such as --left 48,48,48,48,45,42, got {len(left)}"
        )
    for face, (there, held) in enumerate(zip(left, full, strict=True), 1):
        if not 0 <= there <= held:
            raise RulesError(f"expected 0 to {held} cards of face {face} left, got {there}")
    return left


def _draw(result: Drawn, path: str, file: IO[bytes]) -> None:
    from taisai.study import pictures
    from taisai.study.plotting import save
    from taisai.study.shoe.composition import CompositionOdds
    from taisai.study.shoe.counting import Removal
    from taisai.study.shoe.exposure import Exposure

    match result:
        case Exposure():
            save(pictures.exposure_picture(result), path, file)
        case Removal():
            save(pictures.removal_picture(result), path, file)
        case CompositionOdds():
            save(pictures.edges_picture(result), path, file)
