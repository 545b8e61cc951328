"""Logs: one line for each thing worth telling, for machines or for people; never a secret."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
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
    """Whatever is called like a secret is not written, should someone ever pass it, however deep."""
    masked: dict[str, Any] = _masked(event)
    return masked


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: "…" if isinstance(key, str) and key.lower() in _SECRET else _masked(within)
            for key, within in value.items()
        }
    return [_masked(within) for within in value] if type(value) in (list, tuple, set) else value


def begin(level: str, form: str) -> None:
    """From here on what is logged goes to standard error, in one form."""
    shown: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if form == "console":
        # Its own tracebacks show what variables hold, and one of them holds somebody's token.
        shown = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_secrets,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, shown],
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
