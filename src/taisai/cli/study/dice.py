"""`taisai dice`: tests of dice, and of the demonstration shaker's random numbers."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from argparse import Namespace
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from multiprocessing import active_children, get_context, resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Final

from taisai.cli import CHECK_FAILED, DONE, values
from taisai.cli.files import STDOUT, unreadable, writing
from taisai.cli.printing import line, print_result, progress_bar
from taisai.game.dice.draw import BYTE, DICE_LABEL, Throw, below, blocks
from taisai.rules.errors import RulesError, printable
from taisai.study import needed
from taisai.study.dice import Tally, dice_tests, mapping_proof, read_rolls, tallied
from taisai.study.dice.lab import faces_of
from taisai.study.dice.rolls import tally_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


ROLLS: Final = 1 << 18
"""Rolls per throw here. The shaker takes one roll of a throw; here the same stream continues."""
TABLE: Final = "dice-lab"
BLOCK: Final = 32  # bytes


def raw(seed: bytes, throw: int) -> Iterator[bytes]:
    """The endless bytes of a throw, in large pieces."""
    stream = blocks(DICE_LABEL, seed, Throw(TABLE, throw, 1, bytes(BLOCK)))
    while True:
        yield b"".join(islice(stream, 1 << 12))


def rolls_of(seed: bytes, throw: int, rolls: int) -> npt.NDArray[np.uint8]:
    """The first rolls of a throw, as an array of faces."""
    with needed("NumPy", "study"):
        import numpy as np

    parts: list[npt.NDArray[np.uint8]] = []
    have, want = 0, 3 * rolls
    for piece in raw(seed, throw):
        faces = faces_of(np.frombuffer(piece, dtype=np.uint8))
        parts.append(faces)
        have += faces.size
        if have >= want:
            break
    return np.concatenate(parts)[:want].reshape(rolls, 3)


def tally_of_throw(seed: bytes, throw: int, rolls: int) -> Tally:
    """The tally of the first rolls of a throw; a worker's task."""
    return tally_of(rolls_of(seed, throw, rolls))


MOST_ROLLS: Final = 10**11
MOST_BYTES: Final = 10**12
SEED_BYTES: Final = 32
_AHEAD: Final = 4 * (os.cpu_count() or 1)
"""Throws that are computed before they are needed."""


def test(arguments: Namespace) -> int:
    """Tests a file of rolls, or the demonstration shaker; exit code 1 if they are not fair."""
    if (arguments.file is None) == (arguments.shaker is None):
        raise RulesError(
            "expected a file of rolls or --shaker ROLLS, got " + ("both" if arguments.file else "neither")
        )
    if arguments.file is not None:
        if arguments.seed is not None:
            raise RulesError("--seed needs --shaker")
        tally, source = _of_file(arguments.file), arguments.file
    else:
        seed = _seed(arguments.seed)
        rolls = values.count(arguments.shaker, "--shaker", most=MOST_ROLLS)
        tally, source = _of_shaker(seed, rolls), f"the demonstration shaker, seed {seed.hex()}"
    result = dice_tests(tally, source)
    print_result(result, arguments)
    return DONE if result.is_fair else CHECK_FAILED


def mapping(arguments: Namespace) -> int:
    """Proves that the shaker maps bytes to faces without bias."""
    proof = mapping_proof(_face_of)
    print_result(proof, arguments)
    return DONE if proof.is_unbiased else CHECK_FAILED


def export(arguments: Namespace) -> int:
    """Writes the shaker's raw bytes, for test batteries such as dieharder."""
    left = values.count(arguments.bytes, "--bytes", most=MOST_BYTES)
    seed = _seed(arguments.seed)
    if arguments.output == STDOUT:
        if sys.stdout.isatty():
            raise RulesError("raw bytes cannot go to a terminal: name a file with -o, or use a pipe")
        with writing(STDOUT) as out:
            out.writelines(_pieces(seed, left))
        return DONE
    with writing(arguments.output) as file:
        file.writelines(_pieces(seed, left))
    line(f"{printable(arguments.output)}: {left:,} bytes of the demonstration shaker, seed {seed.hex()}")
    return DONE


def _of_file(name: str) -> Tally:
    try:
        with Path(name).open("rb") as file:
            return tallied(read_rolls(file, name))
    except OSError as error:
        raise unreadable(name, "file of rolls", error) from None


def _of_shaker(seed: bytes, rolls: int) -> Tally:
    """Tallies throws in parallel, joined in order, so the number of workers changes nothing."""
    if rolls <= ROLLS:
        return tally_of_throw(seed, 1, rolls)
    throws = ((at, min(ROLLS, rolls - (at - 1) * ROLLS)) for at in range(1, -(-rolls // ROLLS) + 1))
    tally = Tally()
    with progress_bar("rolls", rolls) as advance, _workers() as workers:
        waiting: deque[Future[Tally]] = deque()
        for throw in throws:
            waiting.append(workers.submit(tally_of_throw, seed, *throw))
            if len(waiting) > _AHEAD:
                advance(waiting[0].result().rolls)
                tally += waiting.popleft().result()
        for future in waiting:
            advance(future.result().rolls)
            tally += future.result()
    return tally


@contextmanager
def _workers() -> Iterator[ProcessPoolExecutor]:
    """Starts one worker per core; on leaving, cancels the tasks that have not begun.

    A terminal sends Ctrl-C to all processes. It is held back while the pool makes its semaphores and starts
    its workers, so that workers never receive it and no semaphore is lost half made. The resource tracker
    unblocks Ctrl-C when it starts, so it starts first.
    """
    with ExitStack() as cleanup:
        resource_tracker.ensure_running()
        with _ctrl_c_held_back():
            workers = ProcessPoolExecutor(mp_context=get_context("spawn"))
            cleanup.callback(workers.shutdown, wait=False, cancel_futures=True)
            started: list[Future[bool]] = []
            with suppress(BrokenProcessPool):  # the next task raises it again
                started += (workers.submit(bool) for _ in range(os.cpu_count() or 1))
        try:
            wait(started)
            yield workers
        except BrokenProcessPool:
            for process in active_children():  # the pool overlooks one that it started while it broke
                process.kill()
            workers.shutdown()  # waits for its thread, which prints a traceback if Python ends at that moment
            raise RulesError("a worker process was ended from outside: run the command again") from None


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """What is started within never hears of it: the mask is inherited. Other threads may hear it for us."""
    heard = False

    def hear(*_: object) -> None:
        nonlocal heard
        heard = True

    handler = signal.signal(signal.SIGINT, hear)
    has_mask = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if has_mask else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if heard:
        raise KeyboardInterrupt


def _pieces(seed: bytes, left: int) -> Iterator[bytes]:
    for piece in raw(seed, 1):
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


def _seed(text: str | None) -> bytes:
    if text is None:
        return secrets.token_bytes(SEED_BYTES)
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise RulesError(
            f"expected {2 * SEED_BYTES} hexadecimal digits, got {printable(repr(text))} (--seed)"
        )
    return seed


def _face_of(byte: int) -> int | None:
    try:
        return 1 + below(6, iter([byte]), span=BYTE)
    except StopIteration:
        return None
