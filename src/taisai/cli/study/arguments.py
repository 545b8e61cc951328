"""The words of the study, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import Leaf

LEAVES: Final[tuple[Leaf, ...]] = ()
