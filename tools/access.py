"""Writes docs/reference/permissions.md from the table of permissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from taisai.protocol.commands import NEEDS_SECOND
from taisai.protocol.requests import REQUESTS
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Permission, Reach, Role

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "permissions.md"
MARKS: Final = {Reach.ANY: "●", Reach.TABLE: "T", Reach.SEAT: "S", Reach.PLAY: "P", Reach.DEMONSTRATION: "D"}
_WITH_APPROVAL: Final = frozenset(
    str(request.__struct_config__.tag) for request in REQUESTS if "approval" in request.__struct_fields__
) - {"do"}
_SECOND: Final = [role.replace("-", " ") for role in Role if role in permissions.SECOND_PERSONS]
HEAD: Final = f"""\
# Permissions

This page is generated from the table of permissions in `src/taisai/server/auth/permissions.py`. The server
checks every request and every endpoint against that table. What is not listed is not permitted. A regulator
can compare it with `cases/access/matrix.txt`, which is written by hand. A test sends every line of both, as
every role, to the role's own table and seat and to others, and compares the answers.

**●** at any table · **T** at the device's own table · **S** at the terminal's own seat · **P** at the
terminal's own seat, only in a demonstration · **D** at any table, only in a demonstration · blank: refused
with the reason `not-permitted` by house:access. **²**: the House or the table may need a second person, who
approves exactly this request from their own session (`POST /api/approvals`). For requests on the socket the
second person is a {", ".join(_SECOND[:-1])} or {_SECOND[-1]}; a table may need a higher
rank. Only people who may approve a request see it.

A person's role is their rank on the staff list of the House. Terminals, displays and shakers are devices
with keys of their own. A visitor has not signed in. After this table the game checks more: whether a person
is at the table, their position there, whether the rulebook lets a higher rank act for a lower one, and the
order of the steps.

"""
REQUESTS_TEXT: Final = """\
What each request does: [the protocol](protocol.md#requests). Everyone may send `follow` and `do`. The tables
of feeds and commands below show who may follow which feed and send which command. `virtual-dealer` works
only in a demonstration."""
COMMANDS_TEXT: Final = "The field `do` of the request `do`: [the protocol](protocol.md#commands)."
FEEDS_TEXT: Final = (
    "By the part of the feed's name before the colon. In a demonstration visitors may also follow"
)
ENDPOINTS_TEXT: Final = """\
HTTP endpoints, with `Authorization: Bearer`. Devices do not use them. `GET /metrics`, and all of
`GET /health`, are also for monitors: the server's own machine, and programs with the metrics token. A second
person must approve the enrolment of a supervisor, new credentials for one, and every unlocking
(house:access)."""
DEMONSTRATION_TEXT: Final = """\
Endpoints that exist only in a demonstration."""


def page() -> str:
    """The page as it should be."""
    return "".join([HEAD, *_sections()]).rstrip("\n") + "\n"


def _sections() -> Iterator[str]:
    yield from _table("Requests", permissions.REQUESTS, REQUESTS_TEXT, _WITH_APPROVAL)
    yield from _table("Commands", permissions.COMMANDS, COMMANDS_TEXT, NEEDS_SECOND)
    visitors = " and ".join(f"`{feed}`" for feed in sorted(permissions.VISITORS_FOLLOW))
    yield from _table("Feeds", permissions.FEEDS, f"{FEEDS_TEXT} {visitors}.")
    yield from _table("Endpoints", permissions.ENDPOINTS, ENDPOINTS_TEXT)
    yield from _table("In a demonstration", permissions.DEMONSTRATION, DEMONSTRATION_TEXT)


def _table(
    title: str, table: Mapping[str, Permission], text: str, second: frozenset[str] = frozenset()
) -> Iterator[str]:
    """`second`: the entries that may need a second person."""
    yield f"## {title}\n\n{text}\n\n"
    yield f"| | {' | '.join(role.replace('-', ' ') for role in Role)} |\n|---|{':-:|' * len(Role)}\n"
    for name, permission in table.items():
        marks = (MARKS[reach] if (reach := permission.reach(role)) else " " for role in Role)
        yield f"| `{name}`{' ²' if name in second else ''} | {' | '.join(marks)} |\n"
    yield "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
