"""casino.toml: the settings of a house, read strictly; all faults are reported at once."""

from taisai.server.config.configuration import Config, ConfigError, every_setting, load_config, read_config
from taisai.server.config.settings import (
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
from taisai.server.config.tables import DiceIn, TableConfig

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
