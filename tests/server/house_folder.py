"""A house that was founded in a folder, and its casino.toml to be changed."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from taisai.cage.messages import CommitCredentials, EnrolPerson, IssueActivation
from taisai.game.refusals import Refusal
from taisai.journal import Engine, Journal, SqliteStore, load_signing_key
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import Cost, Credentials, OtpSecret, Passwords, new_secret, otpauth
from taisai.server.config import Config, ConfigError, load_config, read_config
from taisai.server.runtime.environment import Entropy
from taisai.server.runtime.setup import NewHouse, SetupPlan, set_up

NOW: Final = 1_794_800_000_000  # 16 November 2026 in Singapore
DAY: Final = 24 * 3_600_000
PASSWORD: Final = "three dice, one tumbler"
TINY: Final = Cost(time=1, memory=8, parallelism=1)


def entropy(seed: str = "lotus") -> Entropy:
    """Bytes that are the same in every run, and never the same twice in one."""
    drawn = 0

    def take(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(f"{seed} {drawn}".encode()).digest(count)

    return take


def plan(folder: Path, **more: Any) -> SetupPlan:
    """Lotus, of Ann Tan."""
    given = {
        "house": "Lotus", "currency": "SGD", "zone": "Asia/Singapore", "administrator": "Ann Tan",
        "supervisor": "Sue Lim",
    }  # fmt: skip
    return SetupPlan(folder=folder, **(given | more))


def lotus(folder: Path) -> NewHouse:
    """Lotus, founded."""
    return set_up(plan(folder), now=NOW, entropy=entropy())


def hired(folder: Path, people: Mapping[str, str], *, now: int = NOW) -> dict[str, str]:
    """More people, each with their rank, whom the first two enrol: their activation codes."""
    engine, take = engine_of(folder), entropy("hired")
    by: dict[str, Any] = {"at": now, "by": "Ann Tan", "second": "Sue Lim"}
    codes = {person: vault.new_activation_code(engine.journal, person, now + DAY, take) for person in people}
    for person, rank in people.items():
        hashed = vault.activation_hash(engine.journal, person, now + DAY, codes[person])
        for command in (
            EnrolPerson(person=person, rank=rank, **by),
            IssueActivation(person=person, code=hashed, until=now + DAY, **by),
        ):
            answer = engine.answer(HOUSE_STREAM, command)
            assert not isinstance(answer, Refusal), answer
    engine.journal.close()
    return codes


def signed_up(folder: Path, codes: Mapping[str, str], *, now: int = NOW) -> dict[str, str]:
    """The first people have used their codes: the address of each one's authenticator."""
    engine, take = engine_of(folder), entropy("people")
    uris: dict[str, str] = {}
    for person, code in codes.items():
        secret = new_secret(take)
        own = Credentials(Passwords(take, TINY).hashed(PASSWORD), OtpSecret(secret).text)
        until = engine.house().activations[person].until
        command = CommitCredentials(
            at=now, by=person, person=person, commitment=vault.commitment(engine.journal, person, own),
            activation=vault.activation_hash(engine.journal, person, until, code),
        )  # fmt: skip
        answer = engine.answer(HOUSE_STREAM, command)
        assert not isinstance(answer, Refusal), answer
        vault.keep(engine.journal.store, person, own)
        uris[person] = otpauth(secret, person=person, issuer="Lotus")
    engine.journal.close()
    return uris


def engine_of(folder: Path) -> Engine:
    """Its journal, opened by hand and with its key."""
    key = load_signing_key(folder / "house.key")
    return Engine(Journal(SqliteStore(folder / "journal.db"), key=key))


def data_of(folder: Path) -> dict[str, Any]:
    """What its casino.toml says, to be changed."""
    return tomllib.loads((folder / "casino.toml").read_text("utf-8"))


def config_of(folder: Path) -> Config:
    """Its configuration."""
    return load_config(folder / "casino.toml")


def changed(folder: Path, **sections: dict[str, Any]) -> Config:
    """Its configuration with some settings changed."""
    data = data_of(folder)
    for name, values in sections.items():
        data[name] = data.get(name, {}) | values
    return read_config(data, folder / "casino.toml")


def faults(data: dict[str, Any], folder: Path) -> tuple[str, ...]:
    """What is wrong with a configuration."""
    try:
        read_config(data, folder / "casino.toml")
    except ConfigError as error:
        return error.faults
    return ()
