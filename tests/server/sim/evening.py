"""An evening: everybody comes, plays and goes, while connections are cut and the machine stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from taisai.journal.stores.contract import Row, StoredCheckpoint
from tests.server.sim.checks import wrongs
from tests.server.sim.dealing import Staff
from tests.server.sim.people import Board
from tests.server.sim.playing import Guest, cage, watch
from tests.server.sim.sim_house import DISPLAY, device
from tests.server.sim.storage import InMemory, Storage
from tests.server.sim.virtual import StuckError, VirtualLoop, run
from tests.server.sim.world import PACE, World

LONGEST = 900.0
"""Virtual seconds that an evening may take."""


class Played(NamedTuple):
    """What an evening came to."""

    seed: int
    rows: tuple[Row, ...]
    checkpoints: tuple[StoredCheckpoint, ...]
    wrong: tuple[str, ...]
    log: tuple[str, ...]
    book: str
    crashes: int
    lines: int
    again: int
    """Asks that reached the server more than once."""


Change = Callable[[World], None]
"""Spoils something before the evening begins."""


def played(
    seed: int,
    *,
    change: Change | None = None,
    storage: Callable[[str], Storage] = InMemory,
    edition: str = "",
) -> Played:
    """The evening of a seed."""

    async def evening(loop: VirtualLoop) -> Played:
        world = World(seed, loop, storage, edition=edition)
        if change is not None:
            change(world)
        worlds.append(world)
        await _run(world)
        wrong = await wrongs(world)
        return Played(
            seed, tuple(world.store.rows()), tuple(world.store.checkpoints()), tuple(wrong), tuple(world.log),
            world.book, world.crashes, len(world.network.lines),
            world.network.repeated,
        )  # fmt: skip

    worlds: list[World] = []  # one, once there is a loop to make it in
    try:
        return run(evening, most=LONGEST)
    except StuckError as error:
        told = "\n".join(worlds[0].log[-30:]) if worlds else ""
        raise StuckError(f"{error}\n{told}") from None
    finally:
        for world in worlds:
            world.storage.close()


async def _run(world: World) -> None:
    await world.open()
    chance = world.drawn("evening")
    guests = [Guest(world, str(number)) for number in range(1, chance.randint(3, 6) + 1)]
    display = Board(
        world.network.dial(), device(DISPLAY), pace=PACE, entropy=world.drawn("display").randbytes
    )
    await world.comes(display.noted(world.heard, world.clients))
    staff = asyncio.ensure_future(Staff(world).run())
    tasks = [staff, asyncio.ensure_future(_trouble(world)), asyncio.ensure_future(cage(world))]
    tasks.append(asyncio.ensure_future(watch(world)))
    tasks += [asyncio.ensure_future(guest.run()) for guest in guests]
    staff.add_done_callback(lambda _: world.end())
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


async def _trouble(world: World) -> None:
    """Cuts and crashes, at drawn moments, until the evening is over."""
    chance = world.drawn("trouble")
    often = chance.choice((0.0, 0.15, 0.5))  # cuts a second
    stops = chance.choice((0, 0, 1, 1, 2))
    while not world.is_over:
        try:
            async with asyncio.timeout(chance.uniform(0.3, 3.0)):
                await world.over.wait()
        except TimeoutError:
            if stops and chance.random() < 0.12:
                stops -= 1
                await world.crash()
            elif chance.random() < often and world.network.open_lines:
                chance.choice(world.network.open_lines).cut()
