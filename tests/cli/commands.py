"""Every command with every rulebook and layout, as words to type."""

from __future__ import annotations

from taisai.rules import ChanceKind, rulebook, rulebook_ids

Words = tuple[str, ...]

BOOKS = rulebook_ids()
LAYOUTS = tuple((book, layout) for book in BOOKS for layout in rulebook(book).layouts)
LEAVES = ("list", "show", "check", "diff", "clauses", "matrix", "irregularities")
COMMANDS: tuple[Words, ...] = (*(("rules", leaf) for leaf in LEAVES), ("odds",), ("settle",), ("tour",))


def shown(book: str) -> str:
    """The option that says what the dice or the cards show."""
    return "--cards" if rulebook(book).chance_rule.kind is ChanceKind.CARDS else "--dice"


def settling(book: str, layout: str, faces: str = "2,3,5") -> Words:
    """A round with a bet on every area."""
    bets = (word for area in rulebook(book).matrix(layout).areas for word in ("--bet", f"{area}=100"))
    return ("settle", book, "--layout", layout, shown(book), faces, *bets)


def with_json() -> list[Words]:
    """Every command that has --json, on every book and layout."""
    words: list[Words] = [("rules", "list")]
    for book in BOOKS:
        words += [("rules", command, book) for command in ("show", "check", "clauses", "irregularities")]
    for book, layout in LAYOUTS:
        words += [("rules", "matrix", book, "--layout", layout), ("odds", book, "--layout", layout)]
        words += [settling(book, layout, faces) for faces in ("2,3,5", "6,6,6")]
        words += [("rules", "diff", f"{book}/{layout}", other) for other in BOOKS]
    words.append(("odds", "mbs-3-card-sic-bo", "--decks", "2", "--seen", "1,1,6"))
    words.append(("odds", "us-sic-bo", "--set", "double_on_triple=no", "--offer", "triple-1=180 to 1"))
    return [(*one, "--json") for one in words]


def for_people() -> list[Words]:
    """The same without --json, every layout shown, and the tour."""
    shows: list[Words] = [("rules", "show", book, "--layout", layout) for book, layout in LAYOUTS]
    about: Words = ("rules", "clauses", "us-sic-bo", "--about", "payoff")
    return [*(words[:-1] for words in with_json()), *shows, about, ("tour",)]
