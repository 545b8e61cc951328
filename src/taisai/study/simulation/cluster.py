"""A Dask cluster that somebody runs: its workers play, and bring the same digits as this machine would."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Final

from taisai.rules.errors import RulesError
from taisai.study.missing import needed

_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls)://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>[0-9]{1,5})")
PATIENCE: Final = 5
"""Seconds until an address that does not answer is given up."""


@contextmanager
def on_cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster at this address, and how many threads it has."""
    import logging
    import warnings

    _reached(address)
    with needed("distributed", "cluster"):
        from distributed import Client
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said here, in one line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other versions at the other end: the digits are checked, not these
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError, TypeError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RulesError(
                f"expected a Dask scheduler at {address!r}, such as tcp://host:8786, got {said}"
            ) from error
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise RulesError(f"expected a Dask cluster with workers at {address!r}, got none")
        with client.get_executor(pure=False) as executor:
            yield executor, threads
    finally:
        client.close()


def _reached(address: str) -> None:
    """Refuses an address that is none, or where nobody listens, before Dask would try it for long."""
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match["port"]) > 65_535:
        raise RulesError(f"expected a Dask scheduler's address, such as tcp://host:8786, got {address!r}")
    try:
        with socket.create_connection((match["host"].strip("[]"), int(match["port"])), PATIENCE) as line:
            # A scheduler speaks first; over TLS the caller does, and Dask itself finds out.
            if not address.startswith("tls:") and not line.recv(1):
                raise ConnectionError("it hung up")
    except OSError as error:
        said = error.strerror or str(error)
        raise RulesError(f"expected a Dask scheduler at {address!r}, got no answer: {said}") from error
