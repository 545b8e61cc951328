"""Debian's chromium, and whoever looks at a page in it: what goes wrong there is recorded, page by page."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    Response,
    ViewportSize,
    WebError,
)

from tests.project.tree import ROOT

CHROMIUM: Final = "chromium"
MISSING: Final = (
    "expected chromium on the PATH, got none: install it (apt-get install -y chromium fonts-noto-cjk)"
)
PATIENCE: Final = 30_000.0  # ms that anything on a page may take: machines that test are shared
PICTURES: Final = ROOT / "build" / "pages"
KIOSK: Final = ViewportSize(width=1024, height=600)
TABLET: Final = ViewportSize(width=820, height=1180)
PHONE: Final = ViewportSize(width=390, height=844)
WALL: Final = ViewportSize(width=1920, height=1080)
_GONE: Final = "net::ERR_ABORTED"
"""What a browser calls a request that it gave up because the page itself went away."""


async def launched(playwright: Playwright, path: str) -> Browser:
    """A browser without a window."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return await playwright.chromium.launch(
        executable_path=path,
        args=[
            "--disable-gpu",
            "--process-per-site",  # tabs of one person share what they have loaded
            "--disable-dev-shm-usage",  # a container has little of it
            "--font-render-hinting=none",
            *(["--no-sandbox"] if is_root else []),  # chromium has no sandbox for root
        ],
    )


class Fault(NamedTuple):
    """Something that a page should not have done."""

    kind: str
    says: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.says}"


class Watch:
    """Records what goes wrong in a context: errors on the console and in scripts, requests that fail."""

    def __init__(self) -> None:
        self._seen: list[Fault] = []
        self._allowed: list[re.Pattern[str]] = []
        self._context: BrowserContext | None = None

    def on(self, context: BrowserContext) -> None:
        """Watches every page of a context."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)
        self._context = context

    def off(self) -> None:
        """Watches no longer."""
        assert self._context is not None
        self._context.remove_listener("console", self._console)
        self._context.remove_listener("weberror", self._error)
        self._context.remove_listener("requestfailed", self._failed)
        self._context.remove_listener("response", self._answered)

    def allow(self, *patterns: str) -> None:
        """Lets faults pass whose words match; whoever kills a server expects sockets to fail."""
        self._allowed += map(re.compile, patterns)

    @property
    def faults(self) -> list[Fault]:
        """Everything that was seen and not allowed."""
        return [one for one in self._seen if not any(allowed.search(str(one)) for allowed in self._allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            where = message.location.get("url", "")
            self._seen.append(Fault("console", f"{message.text} ({where})"))

    def _error(self, error: WebError) -> None:
        self._seen.append(Fault("script", str(error.error)))

    def _failed(self, request: Request) -> None:
        if request.failure != _GONE:
            self._seen.append(Fault("request", f"{request.method} {request.url}: {request.failure}"))

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self._seen.append(Fault("answer", f"{response.request.method} {response.url}: {response.status}"))


async def screenshot(page: Page, name: str) -> Path:
    """Keeps what a page shows as build/pages/<name>.png."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    await page.screenshot(path=path)
    return path
