"""The taisai command."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, CHECK_FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0 done, 1 check failed, 2 refused or misused."""
    try:  # the slow imports are inside, so that Ctrl-C works from the beginning
        _prepare_streams()
        return _run_caught(sys.argv[1:] if words is None else words)
    except KeyboardInterrupt:
        sys.stderr.write("taisai: stopped by Ctrl-C\n")
        return INTERRUPTED


def _run_caught(words: Sequence[str]) -> int:
    from taisai.rules.errors import RulesError

    try:
        code = _run(words)
    except RulesError as error:
        return _refused(*getattr(error, "faults", (str(error),)))  # a file may have several
    except BrokenPipeError:  # the reader, such as `head`, has stopped reading
        _discard_output()
        return DONE
    except OSError as error:
        _discard_output()
        return _refused(f"cannot write the output: {error.strerror}")
    return code


def _run(words: Sequence[str]) -> int:
    from taisai.cli.parser import run_command
    from taisai.rules.errors import RulesError

    for word in words:
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise RulesError(f"expected UTF-8, got {word!r} (command line)")
    try:
        return run_command(words)
    finally:  # also after --help: a failure while Python shuts down could not be reported
        sys.stdout.flush()


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):  # a terminal that cannot show 大 shows ? instead of failing
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(*messages: str) -> int:
    """Prints one line for each problem."""
    from taisai.rules.errors import printable

    for message in messages:
        sys.stderr.write(f"taisai: {printable(message, 1_000)}\n")
    return REFUSED
