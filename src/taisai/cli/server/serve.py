"""`taisai serve`: recovers and checks a house, then runs its server."""

from __future__ import annotations

import secrets
import socket
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from taisai.audit.backup import RESTORED
from taisai.cage import AmountLimits
from taisai.cli import CHECK_FAILED
from taisai.cli.printing import line
from taisai.game.events import Interrupted
from taisai.game.terms.opening import gaming_day
from taisai.journal.errors import JournalError
from taisai.rules.errors import RulesError, printable
from taisai.rules.vocabulary import Phase
from taisai.server.auth.permissions import RateLimit
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.config import Config, load_config
from taisai.server.runtime import environment
from taisai.server.runtime.background_audit import BackgroundAudit
from taisai.server.runtime.certificate_checks import check_certificate
from taisai.server.runtime.environment import WallClock, manifest, place_of
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan, TablePlan, Thresholds
from taisai.server.runtime.rulebook_approvals import RulebookApprovals
from taisai.server.runtime.serving import Serving, listening
from taisai.server.runtime.startup_checks import (
    MetricsToken,
    OpenedJournal,
    free_bytes,
    opened,
    proven,
)
from taisai.server.runtime.table_checks import gaming_date, in_force
from taisai.server.runtime.witness_checks import StartWitnesses, ask_witnesses


def recovery_lines(answers: Mapping[str, object]) -> Iterator[str]:
    """A line for each table whose round was interrupted: the phase, the action and its clause."""
    for table, answer in answers.items():
        for event in answer if isinstance(answer, tuple) else ():
            if isinstance(event, Interrupted) and event.phase != Phase.BETWEEN:
                was = f"{printable(table)} was stopped in the phase {event.phase}"
                yield f"{was}: {event.action} ({event.clause})"


MINUTE = 60_000
RESTARTED_WITHIN = 10.0  # seconds: some leases, so that a server that was killed can start again at once
MEGABYTE = 1_000_000


def run(arguments: Namespace) -> int:
    """Serves until stopped; exit code 1 if a check fails, and then nothing listens."""
    config = load_config(Path(arguments.config))
    environment.begin(config.logs.level, config.logs.form)
    clock = WallClock()
    wait = _patience(config, standby=arguments.standby)
    start, journal = opened(config, now=clock.now, accept_clock=arguments.accept_clock, wait=wait)
    if start.passed:
        check_certificate(config, start)
    if journal is None or not start.passed:
        return _failed(start.lines(), journal)
    witnesses = ask_witnesses(config.witnesses, journal.journal, journal.key, start, now=clock.now())
    if witnesses is None:
        return _failed(start.lines(), journal)
    for text in recovery_lines(journal.engine.recover(at=clock.now())):
        line(f"! {text}")
    config = in_force(config, journal.approvals, clock.now())
    start = proven(config, journal, now=clock.now(), whole=arguments.check)
    if not start.passed:
        return _failed(start.lines(), journal)
    for text in start.lines():
        line(text)
    if arguments.check:
        witnesses.close()
        journal.journal.close()
        return 0
    try:
        at = listening(config.listen.host, config.listen.port)
    except RulesError:
        journal.journal.close()
        raise
    import uvloop

    if problem := uvloop.run(_serve(config, journal, at, start.lines(), clock, witnesses)):
        sys.stderr.write(f"taisai: {problem}\n")
        return CHECK_FAILED
    line("stopped: sessions ended, the journal is sealed")
    return 0


def _patience(config: Config, *, standby: bool) -> float:
    """For how many seconds to wait until another process gives back a journal in a database.

    A process that was killed holds its lease for some seconds more.
    """
    if config.journal.database is None:
        if standby:
            raise RulesError("expected a journal in a database for --standby, got a file ([journal] file)")
        return 0
    if not standby:
        return RESTARTED_WITHIN
    line(f"standing by: waits until no other process writes to {config.journal.database} (Ctrl-C stops)")
    sys.stdout.flush()
    return inf


def _failed(lines: list[str], journal: OpenedJournal | None) -> int:
    for text in lines:
        sys.stderr.write(f"{text}\n")
    if journal is not None:
        journal.journal.close()
    sys.stderr.write("taisai: a check failed, so the server does not start\n")
    return CHECK_FAILED


async def _serve(  # noqa: PLR0917  the parts of one start, in its order
    config: Config,
    opened_journal: OpenedJournal,
    at: socket.socket,
    checks: list[str],
    clock: WallClock,
    witnesses: StartWitnesses,
) -> str | None:
    """Serves until stopped; returns why the journal could not be written or sealed to the end."""
    journal = opened_journal.journal
    plan = plan_of(config, opened_journal.approvals)
    key = opened_journal.key.public
    signed_by = {"journal.signed_by": f"{key.name} {key.id}"}
    plan = replace(plan, settings={**plan.settings, **signed_by}, **found_at_start(config, opened_journal))
    audit = BackgroundAudit(config.journal.place, size=journal.size, root=journal.root())
    house_server = HouseServer(
        opened_journal.engine, plan, clock=clock, entropy=secrets.token_bytes, key=opened_journal.key,
        audit=audit, links=witnesses.links, notes=witnesses.notes,
    )  # fmt: skip
    try:
        for sentence in await house_server.start():
            line(f"! {sentence}")
    except JournalError:
        await house_server.stop()
        raise
    tls = None
    if config.listen.tls_certificate is not None and config.listen.tls_key is not None:
        tls = (config.listen.tls_certificate, config.listen.tls_key)

    def ready() -> None:
        line(f"listening on {config.listen.address} (Ctrl-C stops)")
        sys.stdout.flush()

    proxies = config.listen.proxies if config.listen.behind_proxy else ()
    await Serving(house_server, at, checks=checks, tls=tls, proxies=proxies, on_ready=ready).run()
    journal.close()
    if house_server.queue.in_doubt.is_set():
        trouble = printable(house_server.queue.trouble or "", 1_000)
        return f"a write to the journal failed; start the server again to recover ({trouble})"
    if house_server.unwritten is not None:
        problem = printable(house_server.unwritten, 1_000)
        return f"stopped, but the stop is not recorded and sealed: {problem}. The next start recovers"
    return None


def found_at_start(config: Config, opened_journal: OpenedJournal) -> dict[str, Any]:
    """By how much the clock is behind, where the file of the journal is, whether `taisai restore` put it
    there, and how its free space is found out.
    """
    file, identity = config.journal.file, opened_journal.journal.identity
    assert identity is not None  # noqa: S101  the checks have passed
    behind = {"behind": opened_journal.behind}
    if file is None:
        return behind
    note = Path(f"{file}{RESTORED}")
    return behind | {
        "place": place_of(file, identity.journal), "restored": note if note.exists() else None,
        "free": partial(free_bytes, file.parent),
    }  # fmt: skip


def plan_of(config: Config, approvals: RulebookApprovals) -> HousePlan:
    access, floor = config.access, config.floor
    return HousePlan(
        house=config.house.name, currency=config.house.currency, zone=config.house.zone.key,
        day=partial(gaming_day, zone=config.house.zone, begins=config.house.day_begins),
        tables=[
            TablePlan(
                name=table.name, book=table.book, editions=table.editions, limits=table.limits,
                layout=table.layout,
                settings=table.settings, offers=table.offers, window=table.betting_seconds * 1_000,
                dice=table.dice, edges=table.edges,
            )
            for table in config.tables
        ],
        origins=frozenset(config.listen.allowed_origins),
        behind_proxy=config.listen.behind_proxy, metrics_token=MetricsToken(config.listen.metrics_token_file),
        bounds=ConnectionLimits(
            sockets=floor.sockets, asks_a_second=floor.asks_a_second, burst=4 * floor.asks_a_second
        ),
        policy=SessionPolicy(
            idle_ms=access.idle_minutes * MINUTE, absolute_ms=access.absolute_hours * 60 * MINUTE
        ),
        sign_ins=RateLimit(burst=access.sign_ins_a_minute, every=max(1, MINUTE // access.sign_ins_a_minute)),
        thresholds=Thresholds(
            large_win=floor.large_win, clock_jump=floor.clock_jump_ms,
            watch=Fraction(str(config.watch.level)), stall=config.alarms.stall_ms,
            disk_low=config.alarms.disk_low_mb * MEGABYTE, disk_full=config.alarms.disk_full_mb * MEGABYTE,
        ),
        amounts=AmountLimits(
            config.cage.sale_alone, config.cage.redemption_alone, config.cage.largest_fill
        ),
        settings=config.public() | {"approvals.signed_by": f"{approvals.key.name} {approvals.key.id}"},
        manifest=manifest(), seal_every=config.journal.seal_every,
        seal_minutes=config.journal.seal_minutes, checkpoints=config.journal.checkpoints,
        approved=lambda book, now: approvals.refusal(book, on=gaming_date(config, now)),
    )  # fmt: skip
