"""casino.toml: what a house sets, listed once, read strictly, with every fault told at once."""

from taisai.floor.config.reading import ConfigError, load_config, read_config
from taisai.floor.config.settings import (
    AccessConfig,
    ApprovalsConfig,
    FloorConfig,
    HouseConfig,
    JournalConfig,
    ListenConfig,
    LogForm,
    LogLevel,
    LogsConfig,
    SoftwareConfig,
    WatchConfig,
)
from taisai.floor.config.tables import DiceIn, TableConfig
from taisai.floor.config.whole import Config, every_setting

__all__ = [
    "AccessConfig",
    "ApprovalsConfig",
    "Config",
    "ConfigError",
    "DiceIn",
    "FloorConfig",
    "HouseConfig",
    "JournalConfig",
    "ListenConfig",
    "LogForm",
    "LogLevel",
    "LogsConfig",
    "SoftwareConfig",
    "TableConfig",
    "WatchConfig",
    "every_setting",
    "load_config",
    "read_config",
]
