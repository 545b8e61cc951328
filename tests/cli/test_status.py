"""`taisai status`: one look at a server, for people or machines, or a view that stays live."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from taisai.cli.server import status
from tests.cli.conftest import Ran, Taisai
from tests.cli.journals import one_clear_line
from tests.cli.server_process import free_port

OK: dict[str, Any] = {
    "status": "ok", "program": "taisai 9.9", "demonstration": False, "sockets": 1_234, "journal": 56_789,
    "trouble": None, "checks": [],
    "tables": [
        {"name": "SB1", "rulebook": "us-sic-bo", "phase": "open", "number": 7, "hold": None, "shut": None},
        {"name": "SB2", "rulebook": "us-sic-bo", "phase": "closed", "number": 3, "hold": "referral",
         "shut": "a lamp is broken"},
    ],
}  # fmt: skip
FROM_AFAR: dict[str, Any] = {
    "status": "trouble", "demonstration": False, "program": None, "sockets": None, "journal": None,
    "trouble": None, "checks": [],
    "tables": [
        {"name": "SB1", "rulebook": "us-sic-bo", "phase": None, "number": None, "hold": None, "shut": None}
    ],
}  # fmt: skip
"""What a server tells strangers."""
TROUBLE = OK | {"status": "trouble", "trouble": "disk full", "demonstration": True}


@contextmanager
def floor(*answers: Any, code: int = 200) -> Iterator[str]:
    """Answers /health with each of these in turn, and with the last one from then on."""
    told = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = told.pop(0) if len(told) > 1 else told[0]
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(code if self.path == "/health" else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def test_once_tells_people(taisai: Taisai) -> None:
    with floor(OK) as url:
        for words in ((url, "--once"), (f"{url}/",)):  # nobody looks at a terminal here, so once is enough
            ran = taisai("status", *words)
            assert (ran.code, ran.err) == (0, "")
            lines = [line.split(maxsplit=1) for line in ran.out.splitlines()]
            assert lines[0] == [url]
            assert dict(lines[1:]) == {
                "status": "ok", "program": "taisai 9.9", "connections": "1,234", "journal": "56,789 entries",
                "SB1": "us-sic-bo, round 7, open",
                "SB2": "us-sic-bo, round 3, closed · waits: referral · out of service: a lamp is broken",
            }  # fmt: skip


def test_from_another_machine_it_tells_what_there_is(taisai: Taisai) -> None:
    with floor(FROM_AFAR, code=503) as url:
        ran = taisai("status", url, "--once")
    assert (ran.code, ran.err) == (1, "")
    lines = dict(line.split(maxsplit=1) for line in ran.out.splitlines()[1:])
    assert lines == {"status": "trouble", "more": status.ELSEWHERE, "SB1": "us-sic-bo"}


def test_live_from_another_machine_it_tells_what_there_is(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _live(taisai, monkeypatch, FROM_AFAR)
    assert status.ELSEWHERE in ran.out
    assert "us-sic-bo" in ran.out


def test_an_address_without_a_scheme_is_http(taisai: Taisai) -> None:
    with floor(OK) as url:
        ran = taisai("status", url.removeprefix("http://"), "--once")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == url


def test_json_is_what_the_server_says(taisai: Taisai) -> None:
    with floor(OK) as url:
        ran = taisai("status", url, "--json")
    assert (ran.code, ran.err, json.loads(ran.out)) == (0, "", OK)


@pytest.mark.parametrize("words", [("--once",), ("--json",)])
def test_a_server_in_trouble_is_exit_code_1(taisai: Taisai, words: tuple[str, ...]) -> None:
    with floor(TROUBLE, code=503) as url:
        ran = taisai("status", url, *words)
    assert (ran.code, ran.err) == (1, "")
    assert "disk full" in ran.out
    assert ("DEMONSTRATION" in ran.out) is (words == ("--once",))


def _live(taisai: Taisai, monkeypatch: pytest.MonkeyPatch, *answers: Any, looks: int = 1) -> Ran:
    """A live view that someone leaves after so many looks."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > looks:
            raise KeyboardInterrupt

    monkeypatch.setattr("taisai.cli.server.status.time.sleep", sleep)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    with floor(*answers) as url:
        ran = taisai("status", url)
    assert slept[0] == status.INTERVAL
    return ran


def test_the_live_view_looks_again_until_someone_leaves(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = OK | {"journal": 56_790}
    ran = _live(taisai, monkeypatch, OK, later)
    assert (ran.code, ran.err) == (130, "")
    assert "56,790 entries" in ran.out, "the last look is on the screen"
    for word in ("SB1", "SB2", "referral", "a lamp is broken", "us-sic-bo"):
        assert word in ran.out


def test_the_live_view_goes_on_while_the_server_does_not_answer(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _live(taisai, monkeypatch, OK, b"not json", looks=1)
    assert ran.code == 130
    assert "trying again; Ctrl-C ends" in ran.out


def test_where_nothing_listens_one_line_says_so(taisai: Taisai) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    for words in ((), ("--once",), ("--json",)):
        ran = taisai("status", url, *words)
        assert one_clear_line(ran), ran
        assert ran.err.startswith(f"taisai: no answer from {url}")


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"[]", b"{}", b'{"status": 1}', b'"x"', b'{"status": "ok", "tables": 3}']
)
def test_something_else_that_listens_there_is_shown_in_one_line(taisai: Taisai, answer: bytes) -> None:
    with floor(answer) as url:
        assert one_clear_line(taisai("status", url))


@pytest.mark.parametrize(
    "url", ["x", "", "ftp://x", "http://", "http://[", "http://a b", "http://\x01", "http://x:99999"]
)
def test_an_address_that_is_none_is_shown_in_one_line(taisai: Taisai, url: str) -> None:
    assert one_clear_line(taisai("status", url))


def test_what_a_server_says_cannot_paint_the_screen(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = OK | {"program": "\x1b[31mred\x1b[0m", "tables": [OK["tables"][0] | {"name": "\x1b[2J"}]}
    with floor(evil) as url:
        ran = taisai("status", url, "--once")
    assert "\x1b" not in ran.out
    live = _live(taisai, monkeypatch, evil)
    assert "\x1b[2J" not in live.out
    assert "\x1b[31mred" not in live.out
