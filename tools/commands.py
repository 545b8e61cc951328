"""Writes docs/reference/commands.md out of the command's own help."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from taisai.cli.parser import parser

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

`make pictures` writes this page from the help of the program. Every command except `tour` and `demo` prints
tables for people. With `--json` it prints one line for programs: fractions are exact strings, money is in
whole minor units, `won` is the winnings without the stake, variance is that of the net per unit staked.
Exit code 0: done. 1: a check failed. 2: refused or wrong use, with one line on standard error. BOOK is the id
of a rulebook or a TOML file of your own.
"""


def page() -> str:
    """The page as it should be."""
    helps = [f"\n## {one.prog}\n\n```\n{one.format_help().rstrip()}\n```\n" for one in _leaves(parser())]
    return "".join([HEAD, *helps])


def _leaves(one: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    groups = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    if not groups:
        yield one
    for group in groups:
        for inner in group.choices.values():
            yield from _leaves(inner)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
