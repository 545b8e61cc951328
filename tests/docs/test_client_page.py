"""The visitor whom docs/how-to/write-a-client.md shows finds a seat in a demonstration that runs."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from taisai.cli.server import demo

PAGE: Final = (Path(__file__).parents[2] / "docs" / "how-to" / "write-a-client.md").read_text("utf-8")
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WITHIN: Final = 60  # seconds, on a busy machine


@contextmanager
def demonstration(folder: Path) -> Iterator[str]:
    """The address of a demonstration as long as it is needed; then it is stopped as the page of it says."""
    words = ["demo", "--fast", "--no-open", "--port", "0", "--seed", "1", "--data", str(folder)]
    with subprocess.Popen(
        [sys.executable, "-m", "taisai", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = (re.search(r"lobby +(http://\S+)/", line) for line in process.stdout)
            yield next(one[1] for one in found if one)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=WITHIN)
            assert process.returncode == 0
        finally:
            process.kill()


def visit(page: str = PAGE) -> Any:
    """The page's own visitor."""
    names: dict[str, Any] = {}
    exec(_BLOCK.findall(page)[1], names)
    return names["visit"]


def test_a_visitor_gets_a_seat_and_credits_and_without_a_key_they_do_not(tmp_path: Path) -> None:
    keyless = visit(PAGE.replace(', "key": own.public}', "}"))
    with demonstration(tmp_path / "evening") as url:
        assert asyncio.run(asyncio.wait_for(visit()(url), WITHIN)) == 10_000
        with pytest.raises(httpx.HTTPStatusError, match="400"):
            asyncio.run(asyncio.wait_for(keyless(url), WITHIN))


def test_the_port_of_the_page_is_the_demonstrations() -> None:
    assert set(re.findall(r"localhost:(\d+)", PAGE)) == {str(demo.PORT)}
