"""Logs: one line for each thing worth telling, for machines or for people; never a secret."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

import structlog

_SECRET: Final = frozenset(
    {
        "password",
        "code",
        "token",
        "approval",
        "seed",
        "secret",
        "totp",
        "passphrase",
        "authorization",
        "signature",
    }
)


def without_secrets(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Whatever is called like a secret is not written, should someone ever pass it."""
    return {key: "…" if key.lower() in _SECRET else value for key, value in event.items()}


def begin(level: str, form: str) -> None:
    """From here on what is logged goes to standard error, in one form."""
    shown: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if form == "console":
        # Its own tracebacks show what variables hold, and one of them holds somebody's token.
        shown = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_secrets,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, shown],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, shown],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
