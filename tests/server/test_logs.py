"""Logs: one line a thing, that a machine can read; never a secret, and nothing but on standard error."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import structlog

from taisai.server.runtime import environment

SECRET = "hunter2-and-more"
NAMES = (
    "password", "code", "token", "approval", "seed", "secret", "totp", "passphrase", "authorization",
    "signature", "PassWord", "Authorization",
)  # fmt: skip


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What was written: on standard error, a JSON object a line, and nothing elsewhere."""
    out, err = capsys.readouterr()
    assert out == ""
    return [json.loads(line) for line in err.splitlines()]


def test_a_line_is_json_with_time_level_and_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    environment.begin("info", "json")
    structlog.get_logger("floor").warning("a transfer waits", table="T1", says="骰宝 \n two lines", count=3)
    logging.getLogger("uvicorn.error").info("started %s", "it")
    ours, theirs = told(capsys)
    assert (ours["event"], ours["level"], ours["table"], ours["count"]) == (
        "a transfer waits", "warning", "T1", 3,
    )  # fmt: skip
    assert ours["says"] == "骰宝 \n two lines"
    assert (theirs["event"], theirs["level"]) == ("started it", "info")
    for line in (ours, theirs):
        assert line["timestamp"].endswith("Z")


def test_people_read_the_same_without_braces(capsys: pytest.CaptureFixture[str]) -> None:
    environment.begin("info", "console")
    structlog.get_logger("floor").warning("a transfer waits", table="T1")
    logging.getLogger("uvicorn.error").warning("a client went")
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert "a transfer waits" in first
    assert "T1" in first
    assert "a client went" in second
    assert not first.startswith("{")


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_called_like_a_secret_is_not_written(
    name: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.begin("debug", form)
    structlog.get_logger("floor").info("x", **{name: SECRET})
    structlog.get_logger("floor").info("x", body={name: SECRET, "deeper": [{name: SECRET}]})
    structlog.contextvars.bind_contextvars(**{name: SECRET})
    structlog.get_logger("floor").info("x")
    structlog.contextvars.clear_contextvars()
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    assert "…" in err
    assert len(err.splitlines()) == 3


def test_sabotage_a_log_without_the_mask_is_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "without_secrets", lambda _logger, _method, event: event)
    with pytest.raises(AssertionError):
        test_what_is_called_like_a_secret_is_not_written("token", "json", capsys)


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("ours", [True, False])
def test_an_exception_is_shown_with_its_lines_and_never_with_what_variables_hold(
    form: str, capsys: pytest.CaptureFixture[str], *, ours: bool
) -> None:
    environment.begin("info", form)

    def broken() -> None:
        token = SECRET
        raise RuntimeError(f"out of {len(token)} chips")

    try:
        broken()
    except RuntimeError:
        if ours:
            structlog.get_logger("floor").exception("an ask failed")
        else:
            logging.getLogger("uvicorn.error").exception("an ask failed")
    out, err = capsys.readouterr()
    assert out == ""
    assert SECRET not in err
    if form == "json":
        (line,) = [json.loads(one) for one in err.splitlines()]
        assert line["event"] == "an ask failed"
        assert "Traceback (most recent call last)" in line["exception"]
        assert "RuntimeError: out of 16 chips" in line["exception"]
        assert "exc_info" not in line
    else:
        assert "an ask failed" in err
        assert err.count("RuntimeError: out of 16 chips") == 1


@pytest.mark.parametrize(
    ("level", "heard"),
    [("debug", 4), ("info", 3), ("warning", 2), ("error", 1), ("WARNING", 2)],
)
@pytest.mark.parametrize("ours", [True, False])
def test_the_level_is_kept_to(
    level: str, heard: int, capsys: pytest.CaptureFixture[str], *, ours: bool
) -> None:
    environment.begin(level, "json")
    log: Any = structlog.get_logger("floor") if ours else logging.getLogger("uvicorn.error")
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)(name)
    assert [line["level"] for line in told(capsys)] == ["debug", "info", "warning", "error"][4 - heard :]


def test_to_begin_twice_does_not_tell_twice(capsys: pytest.CaptureFixture[str]) -> None:
    environment.begin("info", "json")
    environment.begin("info", "json")
    logging.getLogger("x").info("once")
    structlog.get_logger("x").info("once")
    assert len(told(capsys)) == 2


def test_what_strangers_do_to_connections_fills_no_log(capsys: pytest.CaptureFixture[str]) -> None:
    environment.begin("info", "json")
    for number in range(10 * environment.LOGGED_AT_ONCE):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        if number % 100 == 0:
            structlog.get_logger("floor").warning("a transfer waits")
            logging.getLogger("asyncio").warning("a task was slow")
    lines = [line["event"] for line in told(capsys)]
    assert lines.count("a transfer waits") == lines.count("a task was slow") == 10
    about = lines.count("Invalid HTTP request received.")
    assert environment.LOGGED_AT_ONCE <= about <= environment.LOGGED_AT_ONCE + 10


FORGED = "x\n2026-11-19T00:00:00Z [info] signed in\r\x1b[2J\x9b31m\x7f\u2028\u202e"


@pytest.mark.parametrize("form", ["json", "console"])
def test_what_a_client_sends_makes_no_line_of_its_own_and_commands_no_terminal(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.begin("info", form)
    structlog.get_logger("floor").warning(f"refused {FORGED}", who=FORGED, within={"deep": [FORGED]})
    logging.getLogger("uvicorn.error").warning("%s went", FORGED)
    _, err = capsys.readouterr()
    assert err.count("\n") == 2
    assert [char for char in err.replace("\n", "") if not char.isprintable()] == []
    if form == "json":
        assert json.loads(err.splitlines()[0])["who"] == FORGED, "a machine reads all of it"
