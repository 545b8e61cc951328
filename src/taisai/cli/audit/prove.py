"""`taisai audit prove`: a short proof out of a long journal."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing

from taisai.audit.proofs.checking import Proof, written
from taisai.audit.proofs.making import prove_entry, prove_growth
from taisai.cli import asked
from taisai.cli.audit.reading import flawed, held_checkpoint, opened, progress
from taisai.cli.writing import writing
from taisai.journal.errors import DamagedError
from taisai.rules.errors import RulesError


def run(arguments: Namespace) -> int:
    """Writes the proof; 1 where the journal is not what was signed, so that there is none."""
    position = _number(arguments.position, "--position")
    size = _number(arguments.size, "--size")
    if size is not None and position is None:
        raise RulesError("--size needs --position")
    try:
        with closing(opened(arguments.file)) as source, progress(source, "proving") as told:
            proof: Proof
            if position is not None:
                proof = prove_entry(source, position, size=size, progress=told)
            else:
                proof = prove_growth(source, held_checkpoint(arguments.held), progress=told)
    except DamagedError as error:
        return flawed(error, arguments.file)
    with writing(arguments.output) as out:
        out.write(written(proof) + b"\n")
    return 0


def _number(text: str | None, option: str) -> int | None:
    return None if text is None else asked.whole(text, option, such_as="12")
