"""A house that was founded in a folder, and its casino.toml to be changed."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any, Final

from taisai.journal import Engine, Journal, SqliteStore, load_signing_key
from taisai.server.auth.credentials import Cost
from taisai.server.config import Config, ConfigError, load_config, read_config
from taisai.server.runtime.environment import Entropy
from taisai.server.runtime.setup import NewHouse, SetupPlan, set_up

NOW: Final = 1_794_800_000_000  # 16 November 2026 in Singapore
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
    given = {"house": "Lotus", "currency": "SGD", "zone": "Asia/Singapore", "administrator": "Ann Tan"}
    return SetupPlan(folder=folder, **(given | more))


def lotus(folder: Path) -> NewHouse:
    """Lotus, founded."""
    return set_up(plan(folder), PASSWORD, now=NOW, entropy=entropy(), cost=TINY)


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
