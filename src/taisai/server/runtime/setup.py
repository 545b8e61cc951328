"""Setting up a house: keys, journal, approvals, casino.toml; and access to it while no server runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from taisai import __version__
from taisai.cage import FLOOR_LADDER, FLOOR_SECOND, House
from taisai.cage.credentials import LONGEST_ACTIVATION
from taisai.cage.messages import EnrolPerson, IssueActivation, OpenHouse, RecoverAccess, UnlockPerson
from taisai.cage.values import NAME, same_person
from taisai.game.refusals import Refusal
from taisai.game.terms.opening import gaming_day
from taisai.game.vocabulary import FLOOR, folded
from taisai.journal import Engine, Journal, JournalError, SigningKey, Store, make_key, open_store
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.seals.keys import PublicKey, public_path_of
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.credentials import activation_hash, new_activation_code
from taisai.server.auth.enrolment import too_few_supervisors
from taisai.server.auth.permissions import Role, is_generic, is_path
from taisai.server.config import Config
from taisai.server.config.kinds import CURRENCY, DATABASE, ZONE
from taisai.server.config.writing import written
from taisai.server.runtime.environment import Entropy, copy_checkpoint, manifest
from taisai.server.runtime.rulebook_approvals import RulebookApproval, edition_comments, written_approvals
from taisai.server.runtime.startup_checks import OpenedJournal

CONFIG: Final = "casino.toml"
JOURNAL: Final = "journal.db"
KEY: Final = "house.key"
APPROVALS: Final = "approvals.txt"
APPROVALS_KEY: Final = "approvals.key"
_BESIDE: Final = ("-wal", "-shm", "-writer", "-journal")
_COMMENTS: Final = (
    "The rulebooks of Taisai, approved only by the people who set up this house.",
    "To play under a licence, replace this list and its public key with your regulator's.",
)
_TABLE: Final[dict[str, object]] = {
    "name": "SB1", "rulebook": "rws-sic-bo-etg-v8", "layout": "A", "least": 500, "most": 100_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPlan:
    """The plan of a new house."""

    folder: Path
    house: str
    currency: str
    zone: str
    administrator: str
    supervisor: str
    """The shift manager, who agrees to what the administrator may not do alone."""
    passphrase_file: Path | None = None
    """The file with the passphrase of the house's key, if it has one."""
    database: str | None = None
    """The journal in a database, in place of a file in the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHouse:
    """A new house, ready to serve; the activation codes are shown only once."""

    config: Path
    journal: str
    key: PublicKey
    approvals_key: PublicKey
    checkpoint: str
    warning: str
    """What the house still needs."""
    activations: Mapping[str, str]
    """Person → the code for their first sign-in."""
    until: int
    """When the codes end."""

    def __repr__(self) -> str:
        return f"<NewHouse {self.journal}>"


def check_setup(plan: SetupPlan) -> None:
    """Refuses an invalid plan, before anything is made."""
    NAME.check(plan.house, "--house")
    CURRENCY.check(plan.currency, "--currency")
    ZONE.check(plan.zone, "--zone")
    if plan.database is not None:
        DATABASE.check(plan.database, "--database")
    check_person(plan.administrator, "--administrator")
    check_person(plan.supervisor, "--supervisor")
    if same_person(plan.administrator, plan.supervisor):
        got = f"{plan.supervisor!r} twice"
        raise RulesError(f"expected two people, got {got} (--administrator and --supervisor)")
    made = (CONFIG, KEY, f"{KEY}.pub", APPROVALS, APPROVALS_KEY, f"{APPROVALS_KEY}.pub", JOURNAL)
    for name in (*made, *(JOURNAL + beside for beside in _BESIDE)):
        if os.path.lexists(plan.folder / name):
            raise RulesError(f"file exists: {name} in {plan.folder}; choose a new folder")


def check_person(name: str, option: str) -> None:
    """Refuses what is not the name of a person."""
    NAME.check(name, option)
    if is_path(name):
        raise RulesError(f"expected a name without '/' that is not '.' or '..', got {name!r} ({option})")
    if is_generic(name):
        got = f"{name!r}, the name of a position"
        raise RulesError(f"expected the name of a person, got {got} ({option})")


def set_up(plan: SetupPlan, *, now: int, entropy: Entropy, passphrase: str | None = None) -> NewHouse:
    """Sets up a house, or leaves nothing behind; casino.toml is written last."""
    check_setup(plan)
    today = date.fromisoformat(gaming_day(now, ZONE.check(plan.zone)))
    with _undone(plan.folder) as made:
        name = f"{_slug(plan.house)}-{today.year}"
        key = _new_key(plan.folder / KEY, name, passphrase, entropy, made)
        approver = _new_key(plan.folder / APPROVALS_KEY, f"{name}-approvals", None, entropy, made)
        _write(plan.folder / APPROVALS, _own_approvals(approver, today), made)
        journal, codes = f"{_slug(plan.house)}-{entropy(4).hex()}", dict[str, str]()
        checkpoint, warning = _open_journal(plan, journal, key, codes, now=now, entropy=entropy, made=made)
        _write(plan.folder / CONFIG, _config(plan), made)
    return NewHouse(
        config=plan.folder / CONFIG,
        journal=journal,
        key=key.public,
        approvals_key=approver.public,
        checkpoint=checkpoint,
        warning=warning,
        activations=codes,
        until=now + LONGEST_ACTIVATION,
    )


def _open_journal(
    plan: SetupPlan,
    name: str,
    key: SigningKey,
    codes: dict[str, str],
    *,
    now: int,
    entropy: Entropy,
    made: list[Path],
) -> tuple[str, str]:
    """Opens the journal with its first two people, whose `codes` it makes; returns checkpoint and warning."""
    by = plan.administrator
    store = _empty_store(plan, made)
    try:
        program = f"taisai {__version__}"
        journal = Journal.opened(
            store, journal=name, key=key, at=now, by=by, program=program, demonstration=False, random=entropy
        )
        engine = Engine(journal)
        opening = OpenHouse(
            at=now, by=by, house=plan.house, currency=plan.currency, ladder=FLOOR_LADDER,
            second_rank=FLOOR_SECOND,
        )  # fmt: skip
        _execute(engine, opening)
        until = now + LONGEST_ACTIVATION
        first = ((plan.administrator, Role.ADMINISTRATOR), (plan.supervisor, Role.SHIFT_MANAGER))
        for person, rank in first:
            _execute(engine, EnrolPerson(at=now, by=by, person=person, rank=rank))
            codes[person] = new_activation_code(journal, person, until, entropy)
            hashed = activation_hash(journal, person, until, codes[person])
            _execute(engine, IssueActivation(at=now, by=by, person=person, code=hashed, until=until))
        return journal.seal(key, at=now), too_few_supervisors(engine.house()) or ""
    finally:
        store.close()


def _empty_store(plan: SetupPlan, made: list[Path]) -> Store:
    """The store of the new journal: a file that only its owner can read, or a new journal in a database."""
    if plan.database is None:
        path = plan.folder / JOURNAL
        made += [Path(f"{path}{beside}") for beside in _BESIDE]
        _write(path, "", made, mode=0o600)  # it holds password hashes, and SQLite's other files take its mode
        return open_store(path)
    store = open_store(plan.database)
    if store.last() is not None:
        store.close()
        problem = "the database has a journal of this name already; choose another name after the '#'"
        raise JournalError(f"{problem} ({plan.database})")
    return store


def _execute(engine: Engine, command: AnyCommand) -> None:
    answer = engine.answer(HOUSE_STREAM, command)
    if isinstance(answer, Refusal):
        raise RulesError(str(answer))


def _own_approvals(key: SigningKey, today: date) -> str:
    books = [rulebook(name) for name in rulebook_ids()]
    listed = [RulebookApproval(book.id, book.digest, today) for book in books]
    return written_approvals(listed, key, comments=[*_COMMENTS, *edition_comments(listed, books)])


def _config(plan: SetupPlan) -> str:
    journal: dict[str, object] = {} if plan.database is None else {"database": plan.database}
    if plan.passphrase_file is not None:
        file, folder = plan.passphrase_file.resolve(), plan.folder.resolve()
        journal["passphrase_file"] = str(file.relative_to(folder) if file.is_relative_to(folder) else file)
    house = {"name": plan.house, "currency": plan.currency, "zone": plan.zone}
    text = written({"house": house, "journal": journal}, [_TABLE])
    example = re.compile('^# manifest = "sha256:0+"$', re.MULTILINE)
    return example.sub(f'# manifest = "{manifest()}"', text)


def _slug(house: str) -> str:
    """The name of a house in lower-case letters, digits and hyphens, for ids."""
    words = re.findall("[a-z0-9]+", house.lower())
    return "-".join(words)[:24].strip("-") or "house"


# Files


def _new_key(path: Path, name: str, passphrase: str | None, entropy: Entropy, made: list[Path]) -> SigningKey:
    key = make_key(path, name, passphrase=passphrase, seed=entropy(32))
    made += [path, public_path_of(path)]
    return key


def _write(path: Path, text: str, made: list[Path], mode: int = 0o644) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        made.append(path)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise RulesError(f"cannot write {printable(str(path))}: {error.strerror}") from None


@contextmanager
def _undone(folder: Path) -> Iterator[list[Path]]:
    """Makes the folder if it is new; removes everything made in it if something fails."""
    made: list[Path] = []
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RulesError(f"cannot make the folder {printable(str(folder))}: {error.strerror}") from None
    try:
        yield made
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        if is_new:
            folder.rmdir()
        raise


class RecoveryResult(NamedTuple):
    """A supervisor with a new activation code, which is shown only once."""

    person: str
    code: str
    until: int
    entries: int
    """The number of entries; all are sealed."""

    def __repr__(self) -> str:
        return f"<RecoveryResult {self.person!r}>"


def recover_access(
    config: Config, opened: OpenedJournal, person: str, rank: str, *, reason: str, now: int, entropy: Entropy
) -> RecoveryResult:
    """Gives a supervisor a new activation code in an opened journal, and seals the journal."""
    engine, until = opened.engine, now + LONGEST_ACTIVATION
    name = _known_name(engine.house(), person)
    check_person(name, "PERSON")
    code = new_activation_code(opened.journal, name, until, entropy)
    hashed = activation_hash(opened.journal, name, until, code)
    _execute(
        engine,
        RecoverAccess(at=now, by=FLOOR, person=name, rank=rank, code=hashed, until=until, reason=reason),
    )
    _seal(config, opened, now=now)
    return RecoveryResult(name, code, until, opened.journal.size)


def _seal(config: Config, opened: OpenedJournal, *, now: int) -> None:
    text = opened.journal.seal(opened.key, at=now)
    if config.journal.checkpoints is not None:
        copy_checkpoint(config.journal.checkpoints, text)


class UnlockResult(NamedTuple):
    """A person who may sign in again."""

    person: str
    was_locked: bool
    entries: int
    """The number of entries; all are sealed if the person was locked."""


def unlock_person(
    config: Config, opened: OpenedJournal, person: str, *, reason: str, now: int
) -> UnlockResult:
    """Unlocks a person in an opened journal, and seals the journal."""
    engine, journal = opened.engine, opened.journal
    name = _known_name(engine.house(), person)
    answer = engine.answer(HOUSE_STREAM, UnlockPerson(at=now, by=FLOOR, person=name, reason=reason))
    if isinstance(answer, Refusal):
        raise RulesError(str(answer))
    if answer:
        _seal(config, opened, now=now)
    return UnlockResult(name, bool(answer), journal.size)


def _known_name(house: House, person: str) -> str:
    """The name of a person as the House spells it, in upper or lower case."""
    known = {folded(name): name for name in (*house.people, *house.locked)}
    return known.get(folded(person), person)
