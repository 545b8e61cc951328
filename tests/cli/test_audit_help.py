"""Help of the audit: every command explains itself with examples, and the examples run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.cli.commands import COMMAND_ENTRIES, CommandEntry
from tests.cli.conftest import Taisai
from tests.cli.journals import play

ENTRIES = [entry for entry in COMMAND_ENTRIES if entry.words.startswith("audit ")]
WRONG_RESULT = str(Path(__file__).parents[2] / "cases" / "playbooks" / "rws-wrong-result.round")


def test_the_examples_run(taisai: Taisai) -> None:
    play(taisai, story=WRONG_RESULT)
    taisai("journal", "seal", "evening.db", "--key", "evening.db.key", "-o", "checkpoint.txt")
    by_words = {entry.words: entry for entry in ENTRIES}
    order = ("audit export", "audit verify", "audit show", "audit prove", "audit check")
    assert set(order) == set(by_words)
    for words in order:
        assert by_words[words].examples
        for example in by_words[words].examples:
            assert example.startswith(f"taisai {words} ")
            ran = taisai(*shlex.split(example)[1:])
            assert (ran.code, ran.err) == (0, ""), example


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.words)
def test_help_fits_and_says_what(capsys: pytest.CaptureFixture[str], entry: CommandEntry) -> None:
    words, says = entry.words, entry.help
    with pytest.raises(SystemExit):
        main([*words.split(), "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: taisai {words}")
    assert says in out
    assert max(map(len, out.splitlines())) <= 110


def test_the_group_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    out = capsys.readouterr().out
    assert all(f"\n    {entry.words.split()[-1]} " in out for entry in ENTRIES)
