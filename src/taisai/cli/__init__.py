"""The taisai command; joins the rooms."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from taisai.cli.arguments import parsed
from taisai.rules.errors import RulesError

DONE, CHECK_FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0 done, 1 check failed, 2 refused or misused."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show 大 shows ? instead of failing
            stream.reconfigure(errors="replace")
    try:
        command = parsed(sys.argv[1:] if words is None else words)
        code = command.run()
        sys.stdout.flush()
    except RulesError as error:
        print(f"taisai: {error}", file=sys.stderr)  # noqa: T201
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code
