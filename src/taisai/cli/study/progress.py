"""A bar for long work: how far, how fast, how long still. Only where somebody looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields what is called with each amount done; on a terminal it draws a bar on standard error."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """So many a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{_short(task.speed or 0)} {what}/s")

    columns = (TextColumn("{task.percentage:>5.1f} %"), BarColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    try:  # not `with bar`: Ctrl-C while it starts would leave it drawing, and the cursor hidden
        bar.start()
        yield lambda done: bar.advance(task, done)
    finally:
        bar.stop()


def _short(number: float) -> str:
    """Such as 1.3e9, or 950."""
    return f"{number:.3g}" if number < 10_000 else f"{number:.1e}".replace("e+0", "e").replace("e+", "e")
