"""Parses the command line by the tables in `commands.py` and `options.py`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from taisai import __version__
from taisai.cli.commands import COMMAND_ENTRIES, GROUPS, CommandEntry
from taisai.cli.options import OPTIONS
from taisai.rules.errors import RulesError

_EXAMPLES: Final = (
    "taisai rules list",
    "taisai odds rws-sic-bo-etg-v8 --layout A",
    "taisai settle mbs-sic-bo-v6 --dice 2,3,5 --bet small=100 --bet double-2=50",
    "taisai table play cases/playbooks/rws-wrong-result.round --journal evening.db",
    "taisai audit verify evening.db",
)


def run_command(words: Sequence[str]) -> int:
    """Runs the command that the words name and returns its exit code; loads only the modules it needs."""
    for entry in COMMAND_ENTRIES:
        named = entry.words.split()
        if list(words[: len(named)]) == named:  # building every parser would be a tenth of a cold start
            one_parser = _filled(Parser(prog=f"taisai {entry.words}"), entry)
            arguments = one_parser.parse_args(words[len(named) :])
            break
    else:
        arguments = parser().parse_args(words)
    module, _, name = arguments.runs.partition(":")
    function: Callable[[argparse.Namespace], int] = getattr(import_module(f"taisai.cli.{module}"), name)
    return function(arguments)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of one width: asking the terminal for its own would cost every start a dozen imports."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, **texts: str) -> None:
        super().__init__(prog, formatter_class=_Help, **texts)  # type: ignore[arg-type]
        # -1e3 is a number as much as -1000 is, the only form that argparse takes for one.
        self._negative_number_matcher = re.compile(r"-\.?[0-9]", re.ASCII)

    def error(self, message: str) -> NoReturn:
        """Raises one clear line instead of a page of usage."""
        raise RulesError(f"{message} (see `{self.prog} --help`)")


class _Once(argparse.Action):
    """Stores the value of an option; the option given twice is an error."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest, None) is not None:
            parser.error(f"expected {option_string} once, got it again")
        setattr(namespace, self.dest, values)


def parser() -> Parser:
    top = Parser(
        prog="taisai",
        description="Sic Bo (Tai Sai) by the approved rules: exact, and every figure with its clause.",
        epilog=_examples(*_EXAMPLES),
    )
    top.add_argument("--version", action="version", version=f"taisai {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    groups = {"": commands}
    for entry in COMMAND_ENTRIES:
        group, _, name = entry.words.rpartition(" ")
        if group not in groups:
            group_parser = commands.add_parser(group, help=GROUPS[group], description=GROUPS[group])
            groups[group] = group_parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        _filled(groups[group].add_parser(name, help=entry.help), entry)
    return top


def _filled(command_parser: Parser, entry: CommandEntry) -> Parser:
    """A command's parser with its texts and options."""
    command_parser.description = entry.help
    command_parser.epilog = _examples(*entry.examples)
    for key in entry.options.split():
        if key[0] in "[(":
            group = command_parser.add_mutually_exclusive_group(required=key[0] == "(")
            for inner in key[1:-1].split("|"):
                _add(group, inner)
        else:
            _add(command_parser, key)
    command_parser.set_defaults(runs=entry.runs)
    return command_parser


_OCCURS: Final[dict[str, dict[str, Any]]] = {
    "": {},
    "required": {"required": True},
    "repeated": {"action": "append"},
    "once": {"action": _Once},
    "optional": {"nargs": "?"},
    "several": {"nargs": "+"},
}


def _add(container: argparse._ActionsContainer, key: str) -> None:
    option = OPTIONS[key]
    names = [key.partition(":")[0]]
    if option.also:
        names.insert(0 if option.also.startswith("-o") else 1, option.also)
    details = dict(_OCCURS[option.occurs])
    if option.value:
        details |= {"metavar": option.value, "default": [] if option.occurs == "repeated" else option.default}
    else:
        details["action"] = "store_true"
    if option.dest is not None:
        details["dest"] = option.dest
    container.add_argument(*names, help=option.help, **details)


def _examples(*lines: str) -> str:
    return "\n".join(("examples:", *(f"  {line}" for line in lines)))
