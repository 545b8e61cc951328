"""Parses the command line by the table in `commands.py`; defines each option and argument once.

A key of OPTIONS is the option's name. Where one name means different things in different commands, a word
after a colon tells them apart: `--rounds:session`, `--rounds:demo`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, NoReturn

from taisai import __version__
from taisai.cli.commands import COMMAND_ENTRIES, GROUPS, CommandEntry
from taisai.rules.errors import RulesError


class CommandOption(NamedTuple):
    """An option such as `--layout L`, a switch such as `--json`, or an argument such as `BOOK`."""

    help: str
    value: str = ""
    """What the value is called in the help; empty for a switch."""
    occurs: str = ""
    """`required`, `repeated`, `once` (a second time is an error), `optional` or `several` (arguments)."""
    default: str | None = None
    also: str = ""
    dest: str | None = None
    """The attribute that holds the value, where it is not the name."""


_FIRST_LINE: Final = "a file with the passphrase"
_STAKING: Final = "flat, martingale, paroli, dalembert"
_JOURNAL: Final = "a journal, also one in use, or an export of one (jsonl)"
_PICTURE: Final = "draw it into a new .svg, .png or .pdf"

OPTIONS: Final[dict[str, CommandOption]] = {
    # output
    "--json": CommandOption("print one line of JSON: exact and stable"),
    "--output:checkpoint": CommandOption("also write the checkpoint to this new file", "FILE", also="-o"),
    "--output:figures": CommandOption("also write the figures to a new .json or .parquet", "FILE", also="-o"),
    "--output:list": CommandOption("write the list to this new file", "FILE", also="-o"),
    "--output:sheet": CommandOption("write the sheet to a new .pdf or .html", "FILE", also="-o"),
    "--output": CommandOption("a new file (default: standard output)", "OUT", default="-", also="-o"),
    "--plot": CommandOption(_PICTURE, "FILE", "once"),
    "--svg": CommandOption("draw the layout into a new file", "FILE"),
    "--toml": CommandOption("print the rulebook's own text, as a start for yours"),
    # rulebooks, layouts, clauses
    "book": CommandOption("a rulebook's id (`taisai rules list`) or a TOML file of your own", "BOOK"),
    "book:file": CommandOption("a TOML file, or the id of a rulebook of the package", "FILE"),
    "books": CommandOption("a rulebook's id (`taisai rules list`) or a TOML file", "BOOK", "several"),
    "left": CommandOption("an edition of a rulebook, or a rulebook and one of its layouts", "BOOK[/LAYOUT]"),
    "right": CommandOption("what to compare it with", "BOOK[/LAYOUT]", "optional"),
    "--book": CommandOption(
        "a rulebook of your own, or a rulebook with your settings and offers", "BOOK[/LAYOUT]"),
    "--layout": CommandOption("a layout of the rulebook (default: its first)", "L"),
    "--set": CommandOption("a setting of the rulebook", "NAME=VALUE", "repeated", dest="settings"),
    "--offer": CommandOption("odds offered above the minimum odds of an area", '"AREA=X to 1"', "repeated"),
    "clause": CommandOption("only this clause and those within it", "CLAUSE", "optional"),
    "--about": CommandOption("only clauses on this subject, such as payoff or irregularity", "ABOUT"),
    "event": CommandOption("only this irregularity, such as late-bet", "EVENT", "optional"),
    # bets, dice, shoe
    "--bet": CommandOption("a bet; can be repeated", "AREA=STAKE", "repeated"),
    "--dice": CommandOption("the faces of the three dice", "2,3,5"),
    "--cards": CommandOption("the faces of the three cards (card game)", "2,3,5"),
    "--decks": CommandOption("decks in the shoe (card game)", "N"),
    "--decks:fresh": CommandOption("decks in the shoe, shuffled before every round (card game)", "N"),
    "--seen": CommandOption("faces of the cards that have left the shoe (card game)", "1,1,6"),
    "--left": CommandOption(
        "instead of --seen: how many cards of each face are left, from 1 to 6", "N,N,N,N,N,N", "once"),
    "--full": CommandOption("also skew, hit frequency, volatility index, tolerance bands"),
    "--rounds:bands": CommandOption("bands for these numbers of rounds (implies --full)", "1e4,1e6"),
    "--dominated": CommandOption(
        "instead of bets: the areas that a mix of others beats on every outcome, with proof"),
    # playbooks
    "file:playbook": CommandOption("a playbook, such as those in cases/playbooks", "FILE"),
    "files": CommandOption("playbooks of your own; they are rewritten", "FILE", "several"),
    "--pace": CommandOption("seconds between two commands, 0 to 60", "SECONDS", default="0"),
    "--journal": CommandOption("play into this journal, new or existing, and seal it", "DB"),
    "--repeat": CommandOption("play it N times, each time at another table", "N"),
    # sessions, ruin, simulation
    "--rounds:session": CommandOption("the number of rounds, such as 1000 or 1e6", "N", "once"),
    "--rounds:leave": CommandOption("the player leaves after N rounds (default: no limit)", "N", "once"),
    "--rounds:simulate": CommandOption("rounds of each session (default: 1e6)", "N", default="1e6"),
    "--distribution": CommandOption(
        "write every total with its probability to a new .json or .parquet (--json lists up to 200)",
        "FILE", "once"),
    "--target:net": CommandOption(
        "the chance of winning this much or more, such as 500, 1e3 or -500", "NET", "once"),
    "--target": CommandOption("the bankroll at which a player leaves", "MONEY", "once"),
    "--bankroll": CommandOption("what the player starts with", "MONEY", "once"),
    "--bankroll:simulate": CommandOption("what a session starts with (default: unlimited)", "MONEY", "once"),
    "--minimum": CommandOption("the table's minimum on each area", "MONEY", "once"),
    "--maximum": CommandOption("the table's maximum on each area", "MONEY", "once"),
    "--system": CommandOption(f"{_STAKING} or labouchere (default: flat)", "NAME", "once", also="--strategy"),
    "--strategy": CommandOption(
        f"{_STAKING}, labouchere; count or count:8 with a shoe (default: flat)",
        "NAME", default="flat", also="--system"),
    "--sessions": CommandOption("sessions of each player, each with a new bankroll", "N", default="1"),
    "--players": CommandOption("players, each at their own table", "N", default="1"),
    "--seed:simulate": CommandOption(
        "the seed; the same seed gives the same figures (default: 1)", "N", default="1"),
    "--totals": CommandOption("draw the totals at once, for any number of rounds"),
    "--workers": CommandOption("threads that play (default: all cores)", "N"),
    "--dask": CommandOption("a Dask scheduler, such as tcp://host:8786", "ADDRESS"),
    # counting
    "--removal": CommandOption("how one card less of each face changes every area's edge"),
    "--positions": CommandOption("the edge of every round of the shoe before a card is seen"),
    "--counting": CommandOption("what a count that a person can keep would earn"),
    "--perfect": CommandOption(
        "the same, and perfect play beside it (two decks: a second; six: a minute or two)"),
    "--penetration": CommandOption(
        "with --counting: the share dealt before the shuffle, such as 0.75 (default: 0.5)", "SHARE", "once"),
    "--penetration:simulate": CommandOption(
        "card game: the share dealt before a shuffle, such as 0.75 (default: shuffle every round)",
        "SHARE", "once"),
    "--count": CommandOption(
        "with --counting: the area to count for (default: the area that cards change most)", "AREA", "once"),
    "--tags": CommandOption(
        "with --counting: the greatest value that the count gives to a card (default: 2)", "N", "once"),
    "--deviation": CommandOption(
        "with --counting: also the deviation of the result (two decks: a second; six: twenty)"),
    # dice
    "file:rolls": CommandOption("rolls, one per line: three faces, such as 2 3 5 or 235", "FILE", "optional"),
    "--shaker": CommandOption("test this many rolls of the demonstration shaker, such as 1e6", "ROLLS"),
    "--seed:hex": CommandOption("64 hexadecimal digits (default: a new seed)", "HEX"),
    "--bytes": CommandOption("the number of bytes, such as 1e9", "N", "required"),
    # journals and keys
    "journal": CommandOption("a journal", "JOURNAL"),
    "file:journal": CommandOption(_JOURNAL, "FILE"),
    "file:bets": CommandOption("bets in Parquet, as `taisai audit export` writes them", "FILE"),
    "--key": CommandOption("the key that signs the journal", "FILE", "required"),
    "--key:play": CommandOption("the key that signs (default: DB.key; made if new)", "FILE"),
    "--key:sheet": CommandOption("sign the figures with this key (`taisai keys make`)", "FILE"),
    "--key:list": CommandOption("the key that signs the list", "FILE", "required"),
    "--passphrase-file": CommandOption(f"{_FIRST_LINE} of the key, if it has one", "F"),
    "--passphrase-file:new": CommandOption(f"{_FIRST_LINE} to encrypt the key with", "F"),
    "file:key": CommandOption("a key file", "FILE"),
    "file:new-key": CommandOption("a new file for the key; its public half goes to FILE.pub", "FILE"),
    "--name": CommandOption("the name in its signatures", "NAME", "required"),
    "--new": CommandOption("the key that signs from now on", "FILE", "required"),
    "--new-passphrase-file": CommandOption(f"{_FIRST_LINE} of the new key, if it has one", "F"),
    "--yes": CommandOption("confirm what cannot be undone, without a question"),
    "--by": CommandOption("the person responsible for the change", "PERSON", "required"),
    "--take-vault": CommandOption("seal what the vault holds, which could not be checked"),
    "--drop-vault": CommandOption("delete it: people need new activation codes, takings are counted again"),
    "copy": CommandOption("a new file", "COPY"),
    "backup": CommandOption("a copy that `taisai backup` made", "BACKUP"),
    "journal:restored": CommandOption("a new file", "JOURNAL", "optional"),
    "--check:backup": CommandOption("check the backup and restore nothing"),
    # audit
    "--key:operator": CommandOption(
        "the operator's verifier key, or its .pub file; get it from another source than the journal",
        "KEY", "once"),
    "--key:proof": CommandOption(
        "a verifier key of the operator, or its .pub file; repeat it if keys have changed", "KEY", "repeated"
    ),
    "--checkpoint": CommandOption("a checkpoint kept elsewhere; can be repeated", "FILE", "repeated"),
    "--witness-key": CommandOption(
        "a witness's key, or its .pub file: verify what it cosigned; can be repeated", "KEY", "repeated"),
    "--table": CommandOption("only this table", "T"),
    "--table:round": CommandOption("only this table (required with --round if there are several)", "T"),
    "--round": CommandOption("show this round in detail", "N"),
    "--seat": CommandOption("with --round: only this seat's bets and what concerns all", "S"),
    "--last": CommandOption("the number of latest rounds (default: 30)", "N", default="30"),
    "--format": CommandOption(
        "jsonl (every signed byte), csv or parquet (for spreadsheets and data frames)", "FORMAT", "required"),
    "--of": CommandOption("events or bets, one per row (default: events)", "WHAT", default="events"),
    "--position": CommandOption("prove that entry N is part of what was signed", "N"),
    "--from:checkpoint": CommandOption(
        "prove that the journal continues this older checkpoint", "FILE", dest="held"),
    "--size": CommandOption("with --position: use the checkpoint over M entries (default: the latest)", "M"),
    "proof": CommandOption("a file that `taisai audit prove` wrote", "PROOF"),
    # the server
    "--config": CommandOption(
        "the house's configuration (default: casino.toml)", "FILE", default="casino.toml"),
    "--check": CommandOption("recover and check, then stop without listening"),
    "--accept-clock": CommandOption("start although the last entry is of a later time; it is recorded"),
    "--standby": CommandOption("wait until no other process writes to the journal, then start"),
    "--database": CommandOption("keep the journal in this PostgreSQL database: its URL, # and a name", "URL"),
    "database": CommandOption("the URL of the database", "URL"),
    "--writer": CommandOption("a role that may write to journals; can be repeated", "ROLE", "repeated"),
    "--reader": CommandOption("a role that may audit journals; can be repeated", "ROLE", "repeated"),
    "url": CommandOption(
        "the server's address (default: http://127.0.0.1:8080)",
        "URL", "optional", default="http://127.0.0.1:8080"),
    "--once": CommandOption("print the status once, not as a live view"),
    "--day": CommandOption("a gaming day such as 2026-11-16 (default: the latest)", "DAY"),
    "folder": CommandOption("the folder of the new house; made if it does not exist", "DIR"),
    "--administrator": CommandOption("the name of the first administrator", "PERSON", "required"),
    "--supervisor": CommandOption(
        "the name of the first shift manager, without whom the administrator lets nobody in",
        "PERSON", "required"),
    "--house": CommandOption("the name of the house (default: DIR's name)", "NAME"),
    "--currency": CommandOption("its currency (default: SGD)", "CUR", default="SGD"),
    "--zone": CommandOption("its time zone (default: Asia/Singapore)", "ZONE", default="Asia/Singapore"),
    "--from:day": CommandOption("the first day, such as 2026-11-16", "DATE", "required", dest="since"),
    "--until": CommandOption("the last day (default: no end)", "DATE"),
    "--keep": CommandOption("an older list by the same key, whose lines come first", "FILE"),
    "person": CommandOption("the name of the person to unlock", "PERSON"),
    "--reason": CommandOption(
        "the reason, for the journal (default: nobody else could unlock)",
        "TEXT", default="nobody else could unlock"),
    "folder:witness": CommandOption("the folder of the witness", "DIR"),
    "--host": CommandOption(
        "the address to listen on (default: 127.0.0.1); another one needs TLS", "HOST", default="127.0.0.1"),
    "--port:witness": CommandOption("the port (default: 8091)", "P"),
    "--tls-certificate": CommandOption("the certificate chain in PEM", "FILE"),
    "--tls-key": CommandOption("the certificate's secret key in PEM", "FILE"),
    "person:recovered": CommandOption("the name of a supervisor, on the staff list or new", "PERSON"),
    "--rank": CommandOption(
        "their rank, pit-supervisor or above (default: shift-manager)", "RANK", default="shift-manager"),
    "--reason:recovery": CommandOption("the reason, for the journal and the pit", "TEXT", "required"),
    "--port": CommandOption("the port (default: 8080, or the next free one)", "P"),
    "--no-open": CommandOption("open no browser"),
    "--fast": CommandOption("do not wait: a round takes about two seconds"),
    "--data": CommandOption("keep the journal in this folder and continue it next time", "DIR"),
    "--rounds:demo": CommandOption("stop when every table has played N rounds", "N"),
    "--seed:demo": CommandOption("the seed of the virtual people's behaviour", "N"),
}  # fmt: skip

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
            parser.error(f"{option_string} is given twice")
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
