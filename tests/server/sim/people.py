"""Those who come to the server of a simulation, with a note of whatever they asked and heard."""

from __future__ import annotations

from typing import NamedTuple, Self

from taisai.client import Cashier, Client, ClientError, Console, Display, Refused, Terminal
from taisai.protocol.message import Request, ServerMessage


class Heard(NamedTuple):
    """An ask, and what came of it."""

    ask: Request
    tell: ServerMessage | None
    error: ClientError | None

    @property
    def is_refused(self) -> bool:
        """Whether the server said no."""
        return isinstance(self.error, Refused)


class Noted(Client):
    """Keeps what was asked and heard."""

    heard: list[Heard]

    def noted(self, heard: list[Heard], clients: list[Noted]) -> Self:
        """Where it is kept, and who has come at all."""
        self.heard = heard
        clients.append(self)
        return self

    @property
    def is_over(self) -> bool:
        """Whether it will never come back."""
        return self.end is not None

    async def request(self, request: Request) -> ServerMessage:
        """The answer, noted."""
        try:
            tell = await super().request(request)
        except ClientError as error:
            self.heard.append(Heard(request, None, error))
            raise
        self.heard.append(Heard(request, tell, None))
        return tell


class Player(Noted, Terminal):
    """A player at his terminal."""


class Dealer(Noted, Console):
    """Someone of the table's staff; a console is dear, so that most of them have only an eye on the table."""

    with_console = True

    async def start(self) -> Self:
        """Comes in, and follows the table."""
        if self.with_console:
            return await super().start()
        await Client.start(self)
        try:
            await self.follow(self.table_feed)
        except ClientError:
            await self.close()
            raise
        return self


class Cage(Noted, Cashier):
    """Someone at the cage."""


class Board(Noted, Display):
    """The display."""


class Watcher(Noted):
    """Someone who follows everything, and does nothing."""
