"""`taisai database prepare`: the tables of journals in PostgreSQL."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli.printing import as_json, line
from taisai.journal.stores.database_urls import without_password
from taisai.journal.stores.opening import prepare_database
from taisai.rules.errors import printable


def prepare(arguments: Namespace) -> int:
    url, writers, readers = arguments.database, tuple(arguments.writer or ()), tuple(arguments.reader or ())
    version = prepare_database(url, writers=writers, readers=readers)
    place = without_password(url)
    if arguments.json:
        as_json({"database": place, "version": version, "writers": writers, "readers": readers})
        return 0
    line(f"{printable(place)}: ready for journals, version {version} of the tables")
    for role in writers:
        line(f"{printable(role)} may write to journals")
    for role in readers:
        line(f"{printable(role)} may audit journals")
    return 0
