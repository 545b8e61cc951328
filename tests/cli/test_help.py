"""Help: every command explains itself with examples, and the examples run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from taisai import __version__
from taisai.cli import main
from tests.cli.commands import COMMANDS, Words
from tests.cli.conftest import Taisai
from tests.rules.books import saved, text_of

each_command = pytest.mark.parametrize("words", [*COMMANDS, ()], ids=lambda words: "-".join(words) or "all")


def helped(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What --help prints."""
    with pytest.raises(SystemExit) as left:
        main([*words, "--help"])
    assert left.value.code in (0, None)
    out, err = capsys.readouterr()
    assert err == ""
    return out


def examples(text: str) -> list[str]:
    """The lines under `examples:`."""
    _, found, after = text.partition("\nexamples:\n")
    return [line.strip() for line in after.splitlines()] if found else []


@each_command
def test_help_says_what_and_gives_examples(capsys: pytest.CaptureFixture[str], words: Words) -> None:
    text = helped(capsys, *words)
    assert text.startswith(f"usage: taisai {' '.join(words)}".rstrip())
    assert examples(text)
    assert all(line.startswith("taisai ") for line in examples(text))
    assert max(map(len, text.splitlines())) <= 110


@each_command
def test_the_examples_run(
    taisai: Taisai, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: Words
) -> None:
    saved(tmp_path, text_of("us-sic-bo"))
    (tmp_path / "cases").symlink_to(Path(__file__).parents[2] / "cases")
    for line in examples(helped(capsys, *words)):
        example, _, file = line.partition(" > ")
        ran = taisai(*shlex.split(example)[1:])
        assert (ran.code, ran.err) == (0, ""), line
        assert ran.out, line
        if file:
            saved(tmp_path, ran.out, file)


@each_command
def test_the_examples_are_of_the_command(capsys: pytest.CaptureFixture[str], words: Words) -> None:
    for line in examples(helped(capsys, *words)):
        assert line.startswith(" ".join(("taisai", *words)))


def test_the_felt_of_the_example_is_a_picture(taisai: Taisai, tmp_path: Path) -> None:
    assert taisai("rules", "show", "rws-sic-bo-etg-v8", "--layout", "C", "--svg", "felt.svg").code == 0
    assert (tmp_path / "felt.svg").read_text("utf-8").startswith("<svg ")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    top, rules = helped(capsys), helped(capsys, "rules")
    for words in COMMANDS:
        text = rules if words[0] == "rules" else top
        assert f"\n    {words[-1]} " in text or f"\n    {words[-1]}\n" in text, words


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code in (0, None)
    assert capsys.readouterr().out == f"taisai {__version__}\n"


def test_sabotage_an_example_that_does_not_run_is_seen(taisai: Taisai) -> None:
    (line,) = examples("usage: x\n\nexamples:\n  taisai odds no-such-book\n")
    assert taisai(*shlex.split(line)[1:]).code == 2
