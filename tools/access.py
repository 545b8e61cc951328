"""Writes docs/reference/permissions.md out of the one table of who may do what."""

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
    str(one.__struct_config__.tag) for one in REQUESTS if "approval" in one.__struct_fields__
) - {"do"}
_SECOND: Final = [role.replace("-", " ") for role in Role if role in permissions.SECOND_PERSONS]
HEAD: Final = f"""\
# Who may do what

Made by `make pictures` from the one table in the code (`src/taisai/server/auth/permissions.py`), which stands
before every request and every endpoint: whatever is not in it nobody may do. What a regulator should hold
against it was written by hand, in `cases/access/matrix.txt`; a test sends every line of both, as every
role, to its own table and seat and to others, and compares.

**●** at any table · **T** at the device's own table · **S** at the terminal's own seat · **P** there too,
in a demonstration alone · **D** at any table of a demonstration · blank: refused, reason `not-permitted`, by
house:access. **²**: the House or the table may ask for a second person, who proves who he is and agrees to
exactly this (`POST /api/approvals`): on the socket a {", ".join(_SECOND[:-1])} or {_SECOND[-1]}.

A person's role is his rank on the House's staff roll; terminal, display and shaker are devices, known by
their own keys; a visitor is whoever has not signed in. This table is the outer door. The game then asks
more: whether someone is at the table, in which position, whether his document lets a higher rank act for a
lower, and what comes first.

"""
REQUESTS_SAY: Final = """\
What each means: [the protocol](protocol.md#requests). Everyone may send `follow` and `do`; the tables of
feeds and commands below say who may follow which feed and give which command. There is a virtual dealer for
`virtual-dealer` only in a demonstration."""
COMMANDS_SAY: Final = "The field `do` of the request `do`: [the protocol](protocol.md#commands)."
FEEDS_SAY: Final = "By what stands before the colon. In a demonstration visitors follow"
ENDPOINTS_SAY: Final = """\
Over HTTP, by `Authorization: Bearer`; devices have no part in them. To enrol someone of supervising rank, to
give him other credentials, and to unlock anyone takes a second person, as the House says (house:access)."""
DEMONSTRATION_SAYS: Final = """\
Endpoints that are there only over a journal whose first entry says that nothing in it is worth anything."""


def page() -> str:
    """The page as it should be."""
    return "".join([HEAD, *_sections()]).rstrip("\n") + "\n"


def _sections() -> Iterator[str]:
    yield from _table("Requests", permissions.REQUESTS, REQUESTS_SAY, _WITH_APPROVAL)
    yield from _table("Commands", permissions.COMMANDS, COMMANDS_SAY, NEEDS_SECOND)
    visitors = " and ".join(f"`{one}`" for one in sorted(permissions.VISITORS_FOLLOW))
    yield from _table("Feeds", permissions.FEEDS, f"{FEEDS_SAY} {visitors} too.")
    yield from _table("Endpoints", permissions.ENDPOINTS, ENDPOINTS_SAY)
    yield from _table("In a demonstration", permissions.DEMONSTRATION, DEMONSTRATION_SAYS)


def _table(
    title: str, table: Mapping[str, Permission], says: str, second: frozenset[str] = frozenset()
) -> Iterator[str]:
    """`second`: to which a second person may have to agree."""
    yield f"## {title}\n\n{says}\n\n"
    yield f"| | {' | '.join(role.replace('-', ' ') for role in Role)} |\n|---|{':-:|' * len(Role)}\n"
    for name, permit in table.items():
        marks = (MARKS[reach] if (reach := permit.reach(role)) else " " for role in Role)
        yield f"| `{name}`{' ²' if name in second else ''} | {' | '.join(marks)} |\n"
    yield "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
