"""The terminal's page in a real browser, beside an empty one: its size, its start, a change of the felt."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from time import monotonic, sleep
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.harness import Line, Target
from taisai.server.http.public import our_pages

NAME: Final = "the terminal's page, 104 areas"
TABLE: Final = "MBS1"
FRAME: Final = 1000 / 60  # ms, of a screen that shows sixty a second
PATIENCE: Final = 60.0
_HEARS: Final = """
class Heard extends WebSocket {
  constructor(...given) { super(...given); window.line = this; }
  set onmessage(hear) {
    window.hear = (tell) => hear.call(this, { data: JSON.stringify([tell]) });
    super.onmessage = (message) => {
      if (window.isDeaf) return;
      for (const tell of JSON.parse(message.data)) if (tell.feed === "table:MBS1") window.place = tell.number;
      hear.call(this, message);
    };
  }
}
window.WebSocket = Heard;
"""
"""A socket that the bench speaks through; while it is deaf to the server, nothing else happens."""
_LIGHT: Final = """(areas) => {
  window.isDeaf = true;
  window.place += 1;
  const changes = { of: "table", lit: { A: areas } };
  window.hear({ type: "change", feed: "table:MBS1", number: window.place, changes });
}"""
_NOTHING: Final = "(areas) => {}"
_PAINTED: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def run(*, quick: bool) -> Iterator[Line]:
    """Kilobytes of script, processor time until it is painted, and a change of the whole felt."""
    yield _size()
    turns = 5 if quick else 15
    with sync_playwright() as playwright, _demonstration() as address:
        chromium = shutil.which("chromium")
        assert chromium, "expected Debian's chromium, got none: apt-get install -y chromium"
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield from _painting(browser, address, turns)
        yield from _updating(browser, address, turns)
        browser.close()


def _size() -> Line:
    """Every script that the page loads before it plays, as it goes over the network."""
    built = our_pages()
    wanted = _scripts(built.pages["terminal.html"].decode())
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.add(name)
            wanted |= _imported(built.assets[name].decode())
    languages = [gz(body) for name, body in built.assets.items() if re.match(r"players-(en|zh)-", name)]
    kilobytes = (sum(gz(built.assets[name]) for name in seen) + max(languages)) / 1000
    return Line(
        NAME, "script, compressed", kilobytes, kilobytes, kilobytes, Target(60, at_most=True, unit=" kB")
    )


def gz(body: bytes) -> int:
    """How long something is when it is compressed."""
    return len(gzip.compress(body, 9))


def _scripts(page: str) -> set[str]:
    return set(re.findall(r'/assets/([^"]+\.js)"', page))


def _imported(script: str) -> set[str]:
    """What a script imports at once; what it may load later is another matter."""
    return set(re.findall(r'(?:from|import)\s*"\./([^"]+\.js)"', script))


@contextmanager
def _demonstration() -> Iterator[str]:
    """A demonstration in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "taisai", "demo", "--no-open", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/health")
            yield address
        finally:
            process.terminate()


def _wait_for(address: str) -> None:
    end = monotonic() + PATIENCE
    while True:
        try:
            urlopen(address, timeout=5).close()  # noqa: S310  an address of our own
        except URLError:
            assert monotonic() < end, f"expected {address} to answer within {PATIENCE} s"
            sleep(0.1)
        else:
            return


def _watched(page: Page) -> CDPSession:
    """The browser counts from here on what the page does."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    return session


def _metrics(session: CDPSession) -> dict[str, float]:
    told = session.send("Performance.getMetrics")
    return {one["name"]: float(one["value"]) for one in told["metrics"]}


def _painting(browser: Browser, address: str, turns: int) -> Iterator[Line]:
    """Main-thread time from nothing until the felt is there, beside that of a page with nothing in it."""
    scripting: list[float] = []
    whole: list[float] = []
    for _ in range(turns):
        empty = _opened(browser, f"{address}/health", None)
        felt = _opened(browser, f"{address}/terminal?table={TABLE}", "[data-area]")
        scripting.append(1000 * felt["ScriptDuration"] / FRAME)
        whole.append(felt["TaskDuration"] / empty["TaskDuration"])
    yield _line("scripting until the felt is painted / a frame", scripting, None)
    yield _line("all work until the felt is painted / an empty page", whole, None)


def _opened(browser: Browser, address: str, shown: str | None) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1024, "height": 600})
    page = context.new_page()
    watched = _watched(page)
    page.goto(address)
    if shown is not None:
        page.wait_for_selector(shown)
    page.evaluate(_PAINTED)
    found = _metrics(watched)
    context.close()
    return found


def _updating(browser: Browser, address: str, turns: int) -> Iterator[Line]:
    """A result lights some areas and dims the others: script, style, layout and paint of that change."""
    context = browser.new_context(viewport={"width": 1024, "height": 600}, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(_HEARS)
    page.goto(f"{address}/terminal?table={TABLE}")
    page.wait_for_selector("[data-area]")
    areas: list[str] = page.eval_on_selector_all("[data-area]", "all => all.map(one => one.dataset.area)")
    assert len(areas) == 104, areas
    watched = _watched(page)
    took: list[float] = []
    asking: list[float] = []  # the page is asked as often, and nothing changes: that is not the felt's
    for turn in range(2 * turns):
        lit: list[str] = areas[::9] if turn % 2 == 0 else []
        took.append(_worked(page, watched, _LIGHT, lit))
        shown = page.eval_on_selector_all('[data-lit="true"]', "all => all.length")
        assert shown == len(lit), json.dumps([shown, lit])
        asking.append(_worked(page, watched, _NOTHING, lit))
    context.close()
    idle = median(asking)
    yield _line("the whole felt updated / a frame", [one - idle for one in took], Target(1, at_most=True))


def _worked(page: Page, watched: CDPSession, does: str, areas: list[str]) -> float:
    """Main-thread time from an act until all that came of it is painted, in frames."""
    before = _metrics(watched)["TaskDuration"]
    page.evaluate(does, areas)
    page.evaluate(_PAINTED)
    return 1000 * (_metrics(watched)["TaskDuration"] - before) / FRAME


def _line(what: str, ratios: list[float], target: Target | None) -> Line:
    low, _, high = quantiles(ratios, n=4)
    return Line(NAME, what, median(ratios), low, high, target)
