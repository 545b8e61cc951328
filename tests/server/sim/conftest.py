"""What every simulation needs: rulebooks read and terms compiled once, and no log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from taisai.journal import journal
from tests.game.past_rounds import compiled_once
from tests.journal.evening_journal import read_once


@pytest.fixture(autouse=True)
def _quickly_and_quietly(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(journal, "rulebook_from", read_once)
    was = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with compiled_once():
        yield
    structlog.configure(**was)
