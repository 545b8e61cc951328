"""The words a person types, and the command they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final, NoReturn

from taisai import __version__
from taisai.rules.errors import RulesError

BOOK: Final = "a rulebook's id (`taisai rules list`) or a TOML file of your own"


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its arguments, ready to run."""

    module: str
    function: str
    arguments: argparse.Namespace

    def run(self) -> int:
        """Loads only the module that the command needs, and runs it."""
        function: Callable[[argparse.Namespace], int] = getattr(import_module(self.module), self.function)
        return function(self.arguments)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One clear line instead of a page of usage."""
        raise RulesError(f"{message} (see `{self.prog} --help`)")


def parsed(words: Sequence[str]) -> Command:
    """The command that the words make; `--help` and `--version` print and exit."""
    arguments = parser().parse_args(words)
    module, _, function = arguments.command.partition(":")
    return Command(f"taisai.cli.{module}", function, arguments)


def parser() -> argparse.ArgumentParser:
    """Everything that can be typed."""
    made = _Parser(
        prog="taisai",
        description="Sic Bo (Tai Sai) by the approved rules: exact, and every figure with its clause.",
        epilog=_examples(
            "taisai rules list",
            "taisai odds rws-sic-bo-etg-v8 --layout A",
            "taisai settle mbs-sic-bo-v6 --dice 2,3,5 --bet small=100 --bet double-2=50",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"taisai {__version__}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _rules(commands)
    _odds(commands)
    _settle(commands)
    _add(
        commands,
        "demo",
        "demo:run",
        "A tour: the rulebooks, a pay table, a round settled bet by bet.",
        ["taisai demo"],
    )
    return made


def _rules(commands: argparse._SubParsersAction[_Parser]) -> None:
    made = commands.add_parser("rules", help="the approved documents and what they compile to")
    rules = made.add_subparsers(title="commands", metavar="COMMAND", required=True)

    one = _add(
        rules, "list", "listing:run", "The rulebooks that come with the package.", ["taisai rules list"]
    )
    _json(one)

    one = _add(
        rules,
        "show",
        "show:run",
        "One rulebook: pay, layout, procedure, people, settings, readings, errata.",
        ["taisai rules show us-sic-bo", "taisai rules show rws-sic-bo-etg-v8 --layout C --svg felt.svg"],
    )
    _book(one)
    _layout(one)
    one.add_argument("--svg", metavar="FILE", help="draw the layout into this file")
    one.add_argument(
        "--toml", action="store_true", help="the rulebook's own text, to start one of yours from"
    )
    _json(one)

    one = _add(
        rules,
        "check",
        "check:run",
        "Reads a rulebook of your own and says what is wrong with it, or what it warns of.",
        ["taisai rules check my.toml"],
    )
    one.add_argument(
        "book", metavar="FILE", help="a TOML file, or the id of a rulebook that comes with the package"
    )
    _json(one)

    one = _add(
        rules,
        "diff",
        "diff:run",
        "Two layouts compared: areas that only one has, and odds that differ.",
        [
            "taisai rules diff rws-sic-bo-etg-v8/A rws-sic-bo-etg-v8/B",
            "taisai rules diff mbs-sic-bo-v6/A my.toml/A",
        ],
    )
    one.add_argument("left", metavar="BOOK/LAYOUT", help="a rulebook and one of its layouts")
    one.add_argument("right", metavar="BOOK/LAYOUT", help="the one to compare with")
    _json(one)

    one = _add(
        rules,
        "clauses",
        "clauses:run",
        "Every numbered clause in our words, and where the rulebook uses it.",
        ["taisai rules clauses mbs-sic-bo-v6", "taisai rules clauses us-sic-bo --about payoff"],
    )
    _book(one)
    one.add_argument("--about", help="only clauses that concern this, such as payoff or irregularity")
    _json(one)

    one = _add(
        rules,
        "matrix",
        "matrix:run",
        "What every area pays on every one of the 56 outcomes, with the clause.",
        ["taisai rules matrix rws-sic-bo-etg-v8 --layout A --json"],
    )
    _book(one)
    _layout(one)
    _pay_settings(one)
    _json(one)

    one = _add(
        rules,
        "irregularities",
        "irregularities:run",
        "Every irregularity in every phase: ruling and clause.",
        [
            "taisai rules irregularities mbs-sic-bo-v6",
            "taisai rules irregularities us-sic-bo --set no_roll=void --json",
        ],
    )
    _book(one)
    _settings(one)
    _json(one)


def _odds(commands: argparse._SubParsersAction[_Parser]) -> None:
    one = _add(
        commands,
        "odds",
        "odds:run",
        "Exact win probability, house edge and variance of every area.",
        [
            "taisai odds rws-sic-bo-etg-v8 --layout B",
            "taisai odds mbs-3-card-sic-bo --decks 2 --seen 1,1,6",
            'taisai odds us-sic-bo --offer "triple-1=180 to 1" --json',
        ],
    )
    _book(one)
    _layout(one)
    one.add_argument("--decks", metavar="N", help="decks in the shoe (card game)")
    one.add_argument("--seen", metavar="1,1,6", help="faces of the cards already out of the shoe (card game)")
    _pay_settings(one)
    _json(one)


def _settle(commands: argparse._SubParsersAction[_Parser]) -> None:
    one = _add(
        commands,
        "settle",
        "settle:run",
        "What each bet gets on an outcome, and by which clause. Money is in whole minor units.",
        [
            "taisai settle rws-sic-bo-etg-v8 --layout A --dice 2,3,5 --bet small=100 --bet double-2=50",
            "taisai settle mbs-3-card-sic-bo --cards 1,1,6 --bet total-8=100",
        ],
    )
    _book(one)
    _layout(one)
    one.add_argument("--dice", metavar="2,3,5", help="what the three dice show")
    one.add_argument("--cards", metavar="2,3,5", help="what the three cards show (card game)")
    one.add_argument(
        "--bet", metavar="AREA=STAKE", action="append", default=[], help="a bet; give as many as you like"
    )
    _pay_settings(one)
    _json(one)


def _add(
    commands: argparse._SubParsersAction[_Parser], name: str, command: str, says: str, examples: list[str]
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=says,
        description=says,
        epilog=_examples(*examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=command)
    return parser


def _examples(*lines: str) -> str:
    return "\n".join(("examples:", *(f"  {line}" for line in lines)))


def _book(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("book", metavar="BOOK", help=BOOK)


def _layout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layout", metavar="L", help="a layout of the book (its first unless said)")


def _settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a setting of the book",
    )


def _pay_settings(parser: argparse.ArgumentParser) -> None:
    _settings(parser)
    parser.add_argument(
        "--offer",
        metavar='"AREA=X to 1"',
        action="append",
        default=[],
        help="odds offered at or above a floor",
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for machines: exact, stable")
