"""`taisai audit check`: does a proof hold?"""

from __future__ import annotations

import sys
from argparse import Namespace

from taisai.audit.proofs.checking import (
    MOST_PROOF_BYTES,
    Checked,
    FailedProofError,
    Inclusion,
    check_entry,
    check_growth,
    read_proof,
)
from taisai.cli.audit.reading import CHECK_FAILED, moment, read_small, said
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import load_public_key
from taisai.rules.errors import printable


def run(arguments: Namespace) -> int:
    """Checks a proof; 1 where it does not hold."""
    file = arguments.proof
    keys = [load_public_key(key) for key in arguments.key]
    proof = read_proof(read_small(file, "a proof", MOST_PROOF_BYTES), file)
    try:
        if isinstance(proof, Inclusion):
            checked: tuple[Checked, ...] = (check_entry(proof, keys),)
        else:
            checked = check_growth(proof, keys)
    except FailedProofError as error:
        if arguments.json:
            as_json({"ok": False, "file": file, "says": str(error)})
        else:
            sys.stderr.write(f"taisai: {printable(f'{error} ({file})', 1_000)}\n")
        return CHECK_FAILED
    if arguments.json:
        about = {"position": proof.position, "entry": proof.entry} if isinstance(proof, Inclusion) else {}
        signed = [_plain(one) for one in checked]
        kind = "inclusion" if about else "consistency"
        as_json(
            {"ok": True, "file": file, "proof": kind, **about, "checkpoints": signed, "key_given": bool(keys)}
        )
        return 0
    if isinstance(proof, Inclusion):
        said(f"Entry {proof.position} is one of {_told(checked[0])}.")
        line(printable(proof.entry, len(proof.entry)))
    else:
        old, new = checked
        said(f"Among {_told(new)} the first are {_told(old)}: none was altered, dropped or put in.")
    if not keys:
        said("By a key that the proof itself names; give --key to check that it is the operator's.")
    return 0


def _told(one: Checked) -> str:
    checkpoint = one.signed.checkpoint
    return (
        f"the {checkpoint.size:,} entries of {checkpoint.origin} that {one.by.name} {one.by.id} signed on "
        f"{moment(checkpoint.at)}"
    )


def _plain(one: Checked) -> dict[str, object]:
    checkpoint = one.signed.checkpoint
    return {
        "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root.hex(),
        "at": checkpoint.at, "key": one.by.text,
    }  # fmt: skip
