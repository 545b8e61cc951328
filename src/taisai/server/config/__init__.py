"""casino.toml: the settings of a house, read strictly; all faults are reported at once."""

from taisai.server.config.configuration import Config, ConfigError, every_setting, load_config, read_config
from taisai.server.config.settings import LogForm
from taisai.server.config.tables import DiceIn, TableConfig

__all__ = [
    "Config", "ConfigError", "DiceIn", "LogForm", "TableConfig", "every_setting", "load_config",
    "read_config",
]  # fmt: skip
