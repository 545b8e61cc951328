"""`taisai dice`: dice and random numbers, tested."""

from __future__ import annotations

import secrets
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context, resource_tracker
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Final

from taisai.cli import CHECK_FAILED, DONE, asked
from taisai.cli.printing import line
from taisai.cli.study.progress import shown_progress
from taisai.cli.study.shaken import ROLLS, raw, tally_of_throw
from taisai.cli.study.telling import tell
from taisai.cli.writing import STDOUT, writing
from taisai.game.draw import BYTE, below
from taisai.rules.errors import RulesError, printable
from taisai.study.dice import Tally, dice_tests, mapping_proof, read_rolls, tallied

MOST_ROLLS: Final = 10**11
MOST_BYTES: Final = 10**12
SEED_BYTES: Final = 32


def test(arguments: Namespace) -> int:
    """Tests a file of rolls, or the demonstration shaker; exit code 1 where they are not fair."""
    if (arguments.file is None) == (arguments.shaker is None):
        raise RulesError(
            "expected a file of rolls or --shaker ROLLS, got " + ("both" if arguments.file else "none")
        )
    if arguments.file is not None:
        if arguments.seed is not None:
            raise RulesError("expected --seed with --shaker only, got it with a file")
        tally, source = _of_file(arguments.file), arguments.file
    else:
        seed = _seed(arguments.seed)
        rolls = asked.count(arguments.shaker, "--shaker", most=MOST_ROLLS)
        tally, source = _of_shaker(seed, rolls), f"the demonstration shaker, seed {seed.hex()}"
    found = dice_tests(tally, source)
    tell(found, arguments)
    return DONE if found.is_fair else CHECK_FAILED


def mapping(arguments: Namespace) -> int:
    """Proves that the shaker's mapping from bytes to faces favours none."""
    proof = mapping_proof(_face_of)
    tell(proof, arguments)
    return DONE if proof.is_unbiased else CHECK_FAILED


def export(arguments: Namespace) -> int:
    """Writes the shaker's raw bytes, for batteries such as dieharder."""
    left = asked.count(arguments.bytes, "--bytes", most=MOST_BYTES)
    seed = _seed(arguments.seed)
    if arguments.output == STDOUT:
        if sys.stdout.isatty():
            raise RulesError("expected -o FILE or a pipe for raw bytes, got a terminal")
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
        raise RulesError(f"expected to read {printable(repr(name))}, got {error.strerror}") from error


def _of_shaker(seed: bytes, rolls: int) -> Tally:
    """Throws in parallel, joined in their order: any number of workers counts the same."""
    throws = [(at, min(ROLLS, rolls - (at - 1) * ROLLS)) for at in range(1, -(-rolls // ROLLS) + 1)]
    if len(throws) == 1:
        return tally_of_throw(seed, *throws[0])
    tally = Tally()
    with shown_progress("rolls", rolls) as advance, _workers() as pool:  # on leaving, whatever runs is ended
        for found in pool.imap(partial(_tally, seed), throws):
            tally += found
            advance(found.rolls)
    return tally


def _tally(seed: bytes, throw: tuple[int, int]) -> Tally:
    return tally_of_throw(seed, *throw)


def _workers() -> Pool:
    """One a core. A terminal sends Ctrl-C to all processes: what is held back here they never hear of.

    Here it comes as soon as they are there. The tracker is started first: it would let the signal through.
    """
    context = get_context("spawn")
    if not hasattr(signal, "pthread_sigmask"):
        return context.Pool()
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return context.Pool()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
            f"expected --seed as {2 * SEED_BYTES} hexadecimal digits, got {printable(repr(text))}"
        )
    return seed


def _face_of(byte: int) -> int | None:
    try:
        return 1 + below(6, iter([byte]), span=BYTE)
    except StopIteration:
        return None
