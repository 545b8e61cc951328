"""What an ask can end with besides its answer."""

from __future__ import annotations


class ClientError(Exception):
    """Whatever a client raises."""


class Refused(ClientError):  # noqa: N818  the floor's own word for it
    """The floor has decided, and it is not done: the reason, the clause, and what was expected."""

    def __init__(
        self, reason: str, message: str, *, clause: str | None = None, bet: str | None = None
    ) -> None:
        super().__init__(f"{reason}: {message}" + (f" ({clause})" if clause else ""))
        self.reason = reason
        self.message = message
        self.clause = clause
        self.bet = bet


class Disconnected(ClientError):  # noqa: N818  as above
    """There is no connection, or no answer came in time."""

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt
        """Whether the ask went out: then nobody here knows what became of it, and the views will tell."""
