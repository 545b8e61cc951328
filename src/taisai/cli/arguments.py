"""The words a person types, and the command they make."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Final, NamedTuple, NoReturn

from taisai import __version__
from taisai.rules.errors import RulesError


class ParsedCommand(NamedTuple):
    """A command with its arguments, ready to run."""

    module: str
    function: str
    arguments: argparse.Namespace

    def run(self) -> int:
        """Loads only the module that the command needs, and runs it."""
        function: Callable[[argparse.Namespace], int] = getattr(import_module(self.module), self.function)
        return function(self.arguments)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of one width: asking the terminal for its own would cost every start a dozen imports."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, **texts: str) -> None:
        super().__init__(prog, formatter_class=_Help, **texts)  # type: ignore[arg-type]
        # -1e3 is a number as much as -1000 is, which is all that argparse itself takes for one.
        self._negative_number_matcher = re.compile(r"-\.?[0-9]", re.ASCII)

    def error(self, message: str) -> NoReturn:
        """One clear line instead of a page of usage."""
        raise RulesError(f"{message} (see `{self.prog} --help`)")


class Once(argparse.Action):
    """An option that is refused the second time: which of two was meant, nobody knows."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        chosen: argparse.Namespace,
        value: object,
        option: str | None = None,
    ) -> None:
        """Keeps the first."""
        if getattr(chosen, self.dest, None) is not None:
            parser.error(f"expected {option} once, got it again")
        setattr(chosen, self.dest, value)


def a_book(parser: Parser) -> None:
    """BOOK."""
    parser.add_argument(
        "book", metavar="BOOK", help="a rulebook's id (`taisai rules list`) or a TOML file of your own"
    )


def _file(parser: Parser) -> None:
    parser.add_argument("book", metavar="FILE", help="a TOML file, or the id of a rulebook of the package")


def two_layouts(parser: Parser) -> None:
    """BOOK/LAYOUT twice."""
    parser.add_argument("left", metavar="BOOK/LAYOUT", help="a rulebook and one of its layouts")
    parser.add_argument("right", metavar="BOOK/LAYOUT", help="the one to compare with")


def a_layout(parser: Parser) -> None:
    """`--layout`."""
    parser.add_argument("--layout", metavar="L", help="a layout of the book (its first unless said)")


def _form(parser: Parser) -> None:
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--svg", metavar="FILE", help="draw the layout into a new file")
    one_of.add_argument("--toml", action="store_true", help="the book's own text, to start one of yours from")
    one_of.add_argument("--json", action="store_true", help="for machines: exact, stable")


def _one_clause(parser: Parser) -> None:
    parser.add_argument("clause", metavar="CLAUSE", nargs="?", help="only this clause and those within it")


def _one_event(parser: Parser) -> None:
    parser.add_argument("event", metavar="EVENT", nargs="?", help="only this irregularity, such as late-bet")


def _about(parser: Parser) -> None:
    parser.add_argument("--about", help="only clauses that concern this, such as payoff or irregularity")


def a_shoe(parser: Parser) -> None:
    """`--decks` and `--seen`."""
    parser.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    parser.add_argument(
        "--seen", metavar="1,1,6", help="faces of the cards already out of the shoe (card game)"
    )


def _measured(parser: Parser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="also skew, hit frequency, volatility index, tolerance bands"
    )
    parser.add_argument("--rounds", metavar="1e4,1e6", help="bands for so many rounds (implies --full)")


def _round(parser: Parser) -> None:
    parser.add_argument("--dice", metavar="2,3,5", help="what the three dice show")
    parser.add_argument("--cards", metavar="2,3,5", help="what the three cards show (card game)")


def some_bets(parser: Parser) -> None:
    """`--bet`."""
    parser.add_argument(
        "--bet", metavar="AREA=STAKE", action="append", default=[], help="a bet; give as many as you like"
    )


def some_settings(parser: Parser) -> None:
    """`--set`."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a setting of the book",
    )


def some_offers(parser: Parser) -> None:
    """`--offer`."""
    parser.add_argument(
        "--offer", metavar='"AREA=X to 1"', action="append", default=[], help="odds offered above a floor"
    )


def as_json(parser: Parser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="for machines: exact, stable")


def _playbook(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a playbook, such as those in cases/playbooks")
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--json", action="store_true", help="for machines: exact, stable")
    one_of.add_argument(
        "--pace", metavar="SECONDS", default="0", help="wait so long from one command to the next, 0 to 60"
    )


def _recorded(parser: Parser) -> None:
    parser.add_argument("--journal", metavar="DB", help="play into this journal, new or not, and seal it")
    parser.add_argument("--repeat", metavar="N", help="play it so often, each time at a table of its own")
    parser.add_argument("--key", metavar="FILE", help="the key that signs (DB.key unless said; made if new)")
    passphrase(parser)


def passphrase(parser: Parser) -> None:
    """`--passphrase-file`."""
    parser.add_argument("--passphrase-file", metavar="F", help="where the key's passphrase is, if it has one")


def _playbooks(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="playbooks of your own, which are rewritten")


_GROUPS: Final = {
    "rules": "The approved documents and what they compile to.",
    "table": "A table in play.",
    "journal": "A journal: sealed, listed, looked after.",
    "keys": "The keys that sign journals.",
    "audit": "A journal proved, shown, exported.",
    "dice": "Dice and random numbers, tested.",
    "study": "Play as it was, against what the mathematics says.",
}


class CommandEntry(NamedTuple):
    """One command: the words that call it, what runs, what its help says, what it takes."""

    words: str
    runs: str
    says: str
    examples: tuple[str, ...]
    takes: tuple[Callable[[Parser], None], ...]


_LEAVES: Final = (
    CommandEntry(
        "rules list",
        "rules.listing:run",
        "The rulebooks that come with the package.",
        ("taisai rules list",),
        (as_json,),
    ),
    CommandEntry(
        "rules show",
        "rules.show:run",
        "One rulebook: pay, layout, procedure, people, settings, readings, errata.",
        (
            "taisai rules show us-sic-bo",
            "taisai rules show rws-sic-bo-etg-v8 --layout C --svg felt.svg",
            "taisai rules show us-sic-bo --toml > my.toml",
        ),
        (a_book, a_layout, _form),
    ),
    CommandEntry(
        "rules check",
        "rules.check:run",
        "Reads a rulebook of your own and says what is wrong with it, or what it warns of.",
        ("taisai rules check my.toml",),
        (_file, as_json),
    ),
    CommandEntry(
        "rules diff",
        "rules.diff:run",
        "Two layouts compared: areas that only one has, and odds that differ.",
        (
            "taisai rules diff rws-sic-bo-etg-v8/A rws-sic-bo-etg-v8/B",
            "taisai rules diff mbs-sic-bo-v6/A my.toml/A",
        ),
        (two_layouts, as_json),
    ),
    CommandEntry(
        "rules clauses",
        "rules.clauses:run",
        "Every numbered clause in our words, where the rulebook uses it, and which test holds it.",
        (
            "taisai rules clauses mbs-sic-bo-v6 5.13",
            "taisai rules clauses us-sic-bo --about payoff",
        ),
        (a_book, _one_clause, _about, as_json),
    ),
    CommandEntry(
        "rules matrix",
        "rules.matrix:run",
        "What every area pays on every one of the 56 outcomes, with the clause.",
        ("taisai rules matrix rws-sic-bo-etg-v8 --layout A --json",),
        (a_book, a_layout, some_settings, some_offers, as_json),
    ),
    CommandEntry(
        "rules irregularities",
        "rules.irregularities:run",
        "Every irregularity in every phase: ruling and clause.",
        (
            "taisai rules irregularities mbs-sic-bo-v6",
            "taisai rules irregularities rws-sic-bo-etg-v8 power-failure",
            "taisai rules irregularities us-sic-bo --set no_roll=void --json",
        ),
        (a_book, _one_event, some_settings, as_json),
    ),
    CommandEntry(
        "odds",
        "odds:run",
        "Exact win probability, house edge and variance of every area.",
        (
            "taisai odds rws-sic-bo-etg-v8 --layout B",
            "taisai odds mbs-3-card-sic-bo --decks 2 --seen 1,1,6",
            "taisai odds mbs-sic-bo-v6 --rounds 1e4,1e6",
            'taisai odds us-sic-bo --offer "triple-1=180 to 1" --json',
        ),
        (a_book, a_layout, a_shoe, _measured, some_settings, some_offers, as_json),
    ),
    CommandEntry(
        "settle",
        "settle:run",
        "What each bet gets on an outcome, and by which clause. Money is in whole minor units.",
        (
            "taisai settle rws-sic-bo-etg-v8 --layout A --dice 2,3,5 --bet small=100 --bet double-2=50",
            "taisai settle mbs-3-card-sic-bo --cards 1,1,6 --bet total-8=100",
        ),
        (a_book, a_layout, _round, some_bets, some_settings, some_offers, as_json),
    ),
    CommandEntry(
        "table play",
        "table.play:play",
        "Plays a playbook at its table, retells it clause by clause and checks every pinned line.",
        (
            "taisai table play cases/playbooks/rws-wrong-result.round",
            "taisai table play cases/playbooks/mbs-plain-round.round --pace 1",
            "taisai table play cases/playbooks/us-no-roll.round --json",
            "taisai table play cases/playbooks/rws-plain-round.round --journal evening.db --repeat 100",
        ),
        (_playbook, _recorded),
    ),
    CommandEntry(
        "table pin",
        "table.play:pin",
        "Writes into playbooks what the table answers, and says what it wrote; read it before you keep it.",
        ("taisai table pin my.round",),
        (_playbooks,),
    ),
    CommandEntry(
        "tour",
        "tour:run",
        "A tour: the rulebooks, a pay table, a round settled, a table in play, its journal proved.",
        ("taisai tour",),
        (),
    ),
)


def _leaves() -> Iterator[CommandEntry]:
    """Every command; those of the journal and of the floor are loaded when no other was meant."""
    yield from _LEAVES
    from taisai.cli.audit import arguments as audit_arguments
    from taisai.cli.journal import arguments as journal_arguments
    from taisai.cli.server import arguments as floor_arguments
    from taisai.cli.study import arguments as study_arguments

    yield from study_arguments.LEAVES
    yield from journal_arguments.LEAVES
    yield from audit_arguments.LEAVES
    yield from floor_arguments.LEAVES


def parsed(words: Sequence[str]) -> ParsedCommand:
    """The command that the words make; `--help` and `--version` print and exit."""
    for leaf in _leaves():  # building every parser would be a tenth of a cold start
        called = leaf.words.split()
        if list(words[: len(called)]) == called:
            arguments = _filled(Parser(prog=f"taisai {leaf.words}"), leaf).parse_args(words[len(called) :])
            break
    else:
        arguments = parser().parse_args(words)
    module, _, function = arguments.runs.partition(":")
    return ParsedCommand(f"taisai.cli.{module}", function, arguments)


def parser() -> argparse.ArgumentParser:
    """Everything that can be typed."""
    made = Parser(
        prog="taisai",
        description="Sic Bo (Tai Sai) by the approved rules: exact, and every figure with its clause.",
        epilog=_examples(
            "taisai rules list",
            "taisai odds rws-sic-bo-etg-v8 --layout A",
            "taisai settle mbs-sic-bo-v6 --dice 2,3,5 --bet small=100 --bet double-2=50",
            "taisai table play cases/playbooks/rws-wrong-result.round --journal evening.db",
            "taisai audit verify evening.db",
        ),
    )
    made.add_argument("--version", action="version", version=f"taisai {__version__}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    groups = {"": commands}
    for leaf in _leaves():
        group, _, name = leaf.words.rpartition(" ")
        if group not in groups:
            within = commands.add_parser(group, help=_GROUPS[group], description=_GROUPS[group])
            groups[group] = within.add_subparsers(title="commands", metavar="COMMAND", required=True)
        _filled(groups[group].add_parser(name, help=leaf.says), leaf)
    return made


def _filled(made: Parser, leaf: CommandEntry) -> Parser:
    made.description = leaf.says
    made.epilog = _examples(*leaf.examples)
    for take in leaf.takes:
        take(made)
    made.set_defaults(runs=leaf.runs)
    return made


def _examples(*lines: str) -> str:
    return "\n".join(("examples:", *(f"  {line}" for line in lines)))
