"""`taisai witness init` and `serve`: a witness, which needs no house."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Final

from taisai.cli import values
from taisai.cli.files import write_new
from taisai.cli.journals import passphrase_in
from taisai.cli.printing import as_json, line
from taisai.journal.seals.cosignatures import witness_key
from taisai.journal.seals.keys import WitnessKey, load_signing_key, make_key
from taisai.rules.errors import RulesError, printable
from taisai.server.config import LogForm
from taisai.server.config.settings import LogLevel
from taisai.server.runtime import environment
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.server import WitnessServer, is_this_machine, listening_at
from taisai.witness.service import WitnessService, read_logs

KEY: Final = "witness.key"
SEEN: Final = "seen"
LOGS: Final = "logs.txt"
PORT: Final = 8091
_LOGS_TEXT: Final = """\
# The logs that this witness cosigns, a line each: origin and verifier key, with one space between.
# `taisai serve --check` prints the line of its journal. A log whose key was changed has a line for each key.
"""


def init(arguments: Namespace) -> int:
    """Makes key, memory and list of logs in a new folder."""
    folder = Path(arguments.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RulesError(f"cannot make the folder {printable(str(folder))}: {error.strerror}") from None
    for name in (KEY, f"{KEY}.pub", SEEN, LOGS):
        if (folder / name).exists():
            raise RulesError(f"file exists: {name} in {printable(str(folder))}; choose a new folder")
    passphrase = passphrase_in(arguments.passphrase_file)
    key = make_key(folder / KEY, arguments.name, passphrase=passphrase, kind=WitnessKey)
    SeenCheckpoints.make(folder / SEEN)
    write_new(str(folder / LOGS), _LOGS_TEXT)
    public = witness_key(key).text
    if arguments.json:
        as_json({"folder": str(folder), "key": public})
        return 0
    line(f"{printable(str(folder))}: a witness with the key {public}")
    line(f"Write the journals that it cosigns into {LOGS}, and this key into casino.toml ([[witness]] key).")
    return 0


def serve(arguments: Namespace) -> int:
    """Serves until stopped; nothing listens if a file is missing or damaged."""
    environment.begin(LogLevel.WARNING, LogForm.JSON)
    folder = Path(arguments.folder)
    port = PORT if arguments.port is None else values.whole(arguments.port, "--port", such_as=str(PORT))
    tls = _tls(arguments)
    if tls is None and not is_this_machine(arguments.host):
        expected = "--tls-certificate and --tls-key for an address that other machines can reach"
        raise RulesError(f"expected {expected}, got {printable(arguments.host)} without TLS")
    key = load_signing_key(folder / KEY, passphrase_in(arguments.passphrase_file))
    logs = read_logs(folder / LOGS)
    seen = SeenCheckpoints(folder / SEEN)
    try:
        service = WitnessService(key, logs, seen, seconds=lambda: int(time.time()))
        with listening_at(arguments.host, port) as at:
            server = WitnessServer(service, steady=time.monotonic, tls=tls)
            scheme = "http" if tls is None else "https"
            line(f"{key.name} {witness_key(key).id} witnesses {len(logs)} logs")
            line(f"listening on {scheme}://{arguments.host}:{at.getsockname()[1]} (Ctrl-C stops)")
            sys.stdout.flush()
            asyncio.run(_served(server, at))
    finally:
        seen.close()
    line("stopped")
    return 0


async def _served(server: WitnessServer, at: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, server.stop)
    await server.serve(sockets=[at])


def _tls(arguments: Namespace) -> tuple[Path, Path] | None:
    certificate, key = arguments.tls_certificate, arguments.tls_key
    if (certificate is None) is not (key is None):
        raise RulesError("expected both --tls-certificate and --tls-key, or neither")
    return None if certificate is None else (Path(certificate), Path(key))
