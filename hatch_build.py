"""Puts the pages into whatever is built of this project: a wheel, an archive, an editable install."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    """Builds the pages first; it has nothing to do where they are those that the sources make."""

    def dependencies(self) -> list[str]:
        """Node as a Python package, where pages are to be built and the machine has none."""
        pages = self._pages()
        return [] if pages["is_built"](Path(self.root)) or pages["find_node"]() else [pages["NODE_WHEEL"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds them, or says in one line why not."""
        del version, build_data
        pages = self._pages()
        try:
            pages["build"](Path(self.root))
        except pages["PagesError"] as error:
            self.app.abort(str(error))

    def _pages(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root, "tools", "pages.py")))
