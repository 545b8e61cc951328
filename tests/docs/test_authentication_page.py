"""The page about sign-ins and sessions has every way in, every word and every figure of the program."""

from __future__ import annotations

import re
from pathlib import Path

from taisai.server.auth import permissions
from taisai.server.auth.attempts import FREE_FAILURES, FREE_OF_NETWORK
from taisai.server.auth.authentication import PROVED_FOR
from taisai.server.auth.credentials import ACTIVATION_SYMBOLS, SECRET
from taisai.server.auth.password_rules import BREACHED_FILE, CONTEXT_WORDS, LEAST_PASSWORD, MOST_PASSWORD
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import SessionPolicy

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "authentication.md").read_text("utf-8")
WAYS = PAGE.partition("## All ways in")[2].partition("\n## ")[0]


def test_every_endpoint_that_a_stranger_can_send_something_to_is_on_the_page() -> None:
    open_ = {
        name
        for name, permission in permissions.ENDPOINTS.items()
        if permission.reach(Role.VISITOR) is permissions.Reach.ANY and name.startswith("POST")
    }
    assert {name for name in open_ if f"`{name}`" not in WAYS} == set()
    assert set(re.findall(r"`(POST [^`]+)`", WAYS)) == open_


def test_the_words_that_make_no_password_are_those_of_the_program() -> None:
    quoted = " ".join(line[2:] for line in PAGE.splitlines() if line.startswith("> "))
    assert quoted.split(", ") == list(CONTEXT_WORDS)


def test_the_figures_are_the_programs_own() -> None:
    policy = SessionPolicy()
    for figure in (
        f"- {LEAST_PASSWORD} to {MOST_PASSWORD} characters",
        f"{BREACHED_FILE.stat().st_size // 6:,} different passwords",
        f"| {policy.idle_ms // 60_000} minutes | `[access] idle_minutes`",
        f"| {policy.absolute_ms // 3_600_000} hours | `[access] absolute_hours`",
        f"| {policy.most_per_person}; a sixth ends",
        f"| {policy.most:,}; then a sign-in is refused",
        f"after {PROVED_FOR // 60_000} minutes",
        f"{ACTIVATION_SYMBOLS * 5} random bits",
        f"a random secret of {SECRET * 8} bits",
    ):
        assert figure in PAGE, figure
    assert (FREE_FAILURES, FREE_OF_NETWORK) == (5, 20), "the page has them in words"
