"""A storm of bets against the close: every terminal sends as fast as it is answered, and then some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.server.races.crowd import Crowd, Tell, place, terminals
from tests.server.races.journal_totals import Reckoning
from tests.server.races.race_house import RWS, TABLE, furnish
from tests.server.races.server_process import Order
from tests.server.races.server_processes import Server, Servers

DEPTH: Final = 12  # asks of a terminal that are under way
LATE_ENOUGH: Final = 20  # refusals after which a terminal waits for the next round
BETS_A_MILLISECOND: Final = 100  # more than any server takes, so that the close comes before the last bet
AREAS: Final = ("small", "big", "odd", "even")


class Storm:
    """Terminals that bet, and what each was told."""

    def __init__(self, server: Server, seats: int, window: int) -> None:
        """`window`: milliseconds for which bets are open."""
        self.crowd = Crowd()
        self.rounds = 0
        self.sent = 0
        self.after_close: set[str] = set()
        """Bets that a terminal sent after it had been told that bets are closed."""
        self.window = window
        self._server = server
        self._seats = seats
        self._late = [0] * seats
        self._is_closed = [False] * seats
        self._most = 0

    async def come(self) -> None:
        """Everyone follows the table, and every other terminal its own seat."""
        await self.crowd.come(self._server.port, terminals(self._seats))
        for number in range(self._seats):
            self.crowd.follow(number, f"table:{TABLE}")
            if number % 2:
                self.crowd.follow(number, f"seat:{TABLE}/{number}")
        await self.crowd.answered()
        self.crowd.told = self._told

    async def round(self, most: int) -> None:
        """One round, from its opening to its end, with so many bets at most."""
        await self._server.until("open")
        self.rounds += 1
        self._most = self.sent + most
        self._late = [0] * self._seats
        self._is_closed = [False] * self._seats
        for _ in range(DEPTH):
            for number in range(self._seats):
                self._send(number)
        await self.crowd.answered()
        await self.crowd.until(lambda: all(self._is_closed))
        await self._server.until("between")

    def _send(self, number: int) -> None:
        if self._late[number] >= LATE_ENOUGH or self.sent >= self._most:
            return
        self.sent += 1
        id_ = f"{number}-{self.sent}"
        if self._is_closed[number]:
            self.after_close.add(id_)
        bet = {"id": id_, "area": AREAS[self.sent % len(AREAS)], "stake": 100}
        self.crowd.ask(number, id_, place(id_, number, self.rounds, [bet]))

    def _told(self, number: int, tell: Tell) -> None:
        if tell.closes:
            self._is_closed[number] = True
        if tell.to is not None:
            if tell.type == "refused":
                self._late[number] += 1
            self._send(number)

    def answers(self) -> dict[str, list[Tell]]:
        """Bet → what its terminal was answered."""
        bets: dict[str, list[Tell]] = {}
        for number, answers in enumerate(self.crowd.answers):
            bets |= {id_: told for id_, told in answers.items() if id_.startswith(f"{number}-")}
        return bets


def wrongs(storm: Storm, journal: Reckoning) -> Iterator[str]:
    """What is wrong between what terminals were told and what the journal has."""
    answers = storm.answers()
    yield from journal.wrongs()
    if len(answers) != storm.sent:
        yield f"expected {storm.sent} asks, got answers to {len(answers)}"
    often = Counter(map(len, answers.values()))
    if set(often) != {1}:
        yield f"expected one answer to every ask, got {dict(often)}"
    done = {id_ for id_, told in answers.items() if any(one.is_done for one in told)}
    refused = {id_ for id_, told in answers.items() if any(one.type == "refused" for one in told)}
    if lost := done - journal.bets.keys():
        yield f"expected every registered bet in the journal, got {len(lost)} lost, such as {min(lost)}"
    if silent := journal.bets.keys() - done:
        yield f"expected only answered bets in the journal, got {len(silent)} others, such as {min(silent)}"
    if both := refused & journal.bets.keys():
        yield f"expected refused bets nowhere, got {len(both)} in the journal, such as {min(both)}"
    reasons = {(told[0].reason, told[0].clause) for id_, told in answers.items() if id_ in refused}
    if not reasons <= {("late", "3.5")}:
        yield f"expected late bets to be refused by 3.5, got {sorted(map(str, reasons))}"
    yield from _after_the_close(storm, journal)


def _after_the_close(storm: Storm, journal: Reckoning) -> Iterator[str]:
    if heard := storm.after_close & journal.bets.keys():
        got = f"{len(heard)}, such as {min(heard)}"
        yield f"expected no bet sent after its terminal heard of the close, got {got}"
    for id_, (position, bet) in journal.bets.items():
        opened, closed = journal.opened[bet.round], journal.closed.get(bet.round)
        if closed is None or not opened.position < position < closed.position:
            yield f"expected bet {id_} of round {bet.round} between {opened} and {closed}, got {position}"
            break


async def stormed(
    processes: Servers,
    folder: Path,
    *,
    bets: int,
    seats: int = 200,
    sabotage: str | None = None,
) -> tuple[Storm, Reckoning]:
    """A storm of at least so many bets, and the journal that it left."""
    window = bets // BETS_A_MILLISECOND
    furnish(folder, RWS, seats)
    server = await processes.open(Order(folder=str(folder), book=RWS, window=window, sabotage=sabotage))
    storm = Storm(server, seats, window)
    await storm.come()
    while storm.sent < bets:
        await storm.round(bets - storm.sent)
    storm.crowd.leave()
    await server.stop()
    return storm, Reckoning(folder)
