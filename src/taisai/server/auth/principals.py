"""Parties: whom the floor takes a connection for."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.server.auth.roles import Role


class Party(NamedTuple):
    """Who is at the other end."""

    role: Role
    name: str
    """The person, or the device."""
    table: str | None = None
    """A device's own table."""
    seat: str | None = None
    """A terminal's own seat."""
    session: str | None = None
    """The public id of a staff session, whose token was shown once and is kept nowhere."""

    def __repr__(self) -> str:
        return f"<{self.role} {self.name!r}>"

    @property
    def own(self) -> tuple[str | None, str | None]:
        """The table and seat that are the party's own."""
        return self.table, self.seat


VISITOR: Final = Party(Role.VISITOR, "")
