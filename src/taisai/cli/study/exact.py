"""`taisai compare`, `portfolio`, `par` and `shoe`: exact studies of pay tables."""

from __future__ import annotations

import base64
from argparse import Namespace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from taisai.cli import DONE, values
from taisai.cli.files import writing
from taisai.cli.printing import check_picture, line, print_and_save, print_result, progress_bar
from taisai.cli.rules.drawing import draw_layout
from taisai.rules import Matrix, Rulebook, RulesError, rulebook
from taisai.rules.errors import printable
from taisai.study.measures import Side, compare
from taisai.study.par import ParSheet, Signature, par_sheet
from taisai.study.portfolio import dominance, portfolio
from taisai.study.shoe.composition import after_seeing, composition_odds, full_shoe

if TYPE_CHECKING:
    from taisai.study.shoe.composition import CompositionOdds, Removal
    from taisai.study.shoe.exposure import Exposure

    ShoeResult = CompositionOdds | Exposure | Removal


def run_compare(arguments: Namespace) -> int:
    """Prints two pay tables side by side."""
    if arguments.right is None:
        raise RulesError(f"expected two layouts as BOOK or BOOK/LAYOUT, got one ({arguments.left})")
    left = _side(arguments.left, arguments)
    right = _side(arguments.right, arguments, values.settings(arguments), values.offers(arguments))
    return print_result(compare(left, right), arguments)


def _side(
    text: str,
    arguments: Namespace,
    settings: dict[str, str] | None = None,
    offers: dict[str, str] | None = None,
) -> Side:
    book, layout = values.book_and_layout(text)
    matrix = book.matrix(layout, settings=settings, offered=offers)
    return Side(matrix, values.chance(book, arguments))


def run_portfolio(arguments: Namespace) -> int:
    """Prints the distribution of bets held together, or the dominated areas of a layout."""
    book = rulebook(arguments.book)
    matrix = values.matrix(book, arguments)
    if arguments.dominated:
        if arguments.bet or arguments.decks is not None or arguments.seen is not None:
            raise RulesError(
                "--dominated cannot be used with --bet, --decks or --seen: it studies the whole layout"
            )
        return print_result(dominance(matrix), arguments)
    return print_result(
        portfolio(matrix, values.chance(book, arguments), values.bets(arguments.bet)), arguments
    )


def run_par(arguments: Namespace) -> int:
    """Writes a par sheet to a file, or prints it."""
    book = rulebook(arguments.book)
    sheet = par_sheet(
        book,
        arguments.layout,
        settings=values.settings(arguments),
        offered=values.offers(arguments),
        decks=values.decks(arguments),
    )
    if arguments.key is not None:
        sheet = _signed(sheet, arguments)
    if arguments.output is None:
        return print_result(sheet, arguments)
    picture = draw_layout(sheet.matrix, book.layout(arguments.layout))
    content = _sheet_file(sheet, arguments.output, picture)
    with writing(arguments.output) as file:
        file.write(content)
    if arguments.json:
        return print_result(sheet, arguments)
    line(f"{printable(arguments.output)}: {sheet.book.title}, layout {sheet.matrix.layout}, {sheet.digest}")
    return 0


def _sheet_file(sheet: ParSheet, output: str, picture: str) -> bytes:
    match Path(output).suffix.lower():
        case ".pdf":
            from taisai.study.par_files import as_pdf

            return as_pdf(sheet, picture)
        case ".html":
            from taisai.study.par_files import as_html

            return as_html(sheet, picture).encode()
        case _:
            raise RulesError(f"expected a file that ends with .pdf or .html, got {printable(output)!r}")


def _signed(sheet: ParSheet, arguments: Namespace) -> ParSheet:
    from taisai.cli.journals import signing_key

    key = signing_key(arguments.key, arguments.passphrase_file)
    signature = base64.b64encode(key.sign(sheet.digest.encode())).decode()
    return sheet.signed(Signature(key.public.text, signature))


_PENETRATION: Final = Fraction(1, 2)
"""The default share of cards dealt before the shuffle."""


def run_shoe(arguments: Namespace) -> int:
    """Prints the odds of a shoe, or the study of it that an option names."""
    book = rulebook(arguments.book)
    matrix = values.matrix(book, arguments)
    full = full_shoe(book.chance_rule, values.decks(arguments))
    left = _left(arguments, full)
    study = _study_of(arguments)
    if study == "--positions":
        from taisai.study.shoe.composition import position_edges

        return print_result(position_edges(matrix, left), arguments)
    check_picture(arguments.plot)

    def work() -> ShoeResult:
        if study == "--removal":
            from taisai.study.shoe.composition import removal

            return removal(matrix, left)
        if study == "--counting":
            return _exposure(arguments, book, matrix, left)
        return composition_odds(matrix, left, full)

    print_and_save(arguments, work, (arguments.plot, _draw))
    return DONE


def _study_of(arguments: Namespace) -> str | None:
    """The option that names a study; None for the odds. Options that do not fit it are errors."""
    counting = arguments.counting or arguments.perfect
    studies = {"--removal": arguments.removal, "--positions": arguments.positions, "--counting": counting}
    given = [name for name, is_given in studies.items() if is_given]
    if len(given) > 1:
        raise RulesError(f"expected one of {', '.join(studies)}, got {' and '.join(given)}")
    for option in ("--penetration", "--count", "--tags", "--deviation"):
        if getattr(arguments, option[2:]) not in {None, False} and not counting:
            raise RulesError(f"{option} needs --counting or --perfect")
    if arguments.positions and arguments.plot is not None:
        raise RulesError("--plot cannot be used with --positions: every round has the same edge")
    return given[0] if given else None


def _exposure(arguments: Namespace, book: Rulebook, matrix: Matrix, left: tuple[int, ...]) -> Exposure:
    from taisai.study.shoe.composition import rounds_dealt
    from taisai.study.shoe.exposure import exposure

    tags = values.whole(arguments.tags, "--tags", such_as="2") if arguments.tags is not None else 2
    share = arguments.penetration
    penetration = _PENETRATION if share is None else values.share(share, "--penetration")
    compositions = prod(count + 1 for count in left)
    work = (
        ("compositions", compositions)
        if arguments.perfect
        else ("rounds", rounds_dealt(sum(left), penetration))
    )
    with progress_bar(*work) as advance:
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
    """The composition of the shoe by --left, or by --seen."""
    if arguments.left is None:
        return after_seeing(full, values.faces(arguments.seen, "--seen"))
    if arguments.seen is not None:
        raise RulesError("expected --left or --seen, got both")
    left = values.faces(arguments.left, "--left")
    if len(left) != len(full):
        raise RulesError(
            f"expected six numbers, one per face, such as --left 48,48,48,48,45,42, got {len(left)}"
        )
    for face, (cards, most) in enumerate(zip(left, full, strict=True), 1):
        if not 0 <= cards <= most:
            raise RulesError(f"expected 0 to {most} cards of face {face} left, got {cards}")
    return left


def _draw(result: ShoeResult, path: str, file: IO[bytes]) -> None:
    from taisai.study import pictures
    from taisai.study.plotting import save
    from taisai.study.shoe.composition import CompositionOdds, Removal
    from taisai.study.shoe.exposure import Exposure

    match result:
        case Exposure():
            save(pictures.exposure_picture(result), path, file)
        case Removal():
            save(pictures.removal_picture(result), path, file)
        case CompositionOdds():
            save(pictures.edges_picture(result), path, file)
