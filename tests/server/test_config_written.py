"""The file that `taisai init` writes, and the page that lists every setting, are the program's own list."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from taisai.server.config import every_setting
from taisai.server.config.settings import SECTIONS, settings_of
from taisai.server.config.tables import TableConfig
from taisai.server.config.writing import toml, written
from tests.server.house_folder import config_of, data_of, lotus
from tools import settings as tool

HOUSE = {"name": 'Lo"tus\\', "currency": "SGD", "zone": "Asia/Singapore"}
TABLE = {"name": "SB1", "rulebook": "us-sic-bo", "least": 5, "most": 10}


def test_it_names_every_setting_once_in_force_or_as_a_comment() -> None:
    text = written({"house": HOUSE}, [TABLE])
    lines = re.findall(r"^(?:# )?([a-z_]+) = .", text, re.MULTILINE)
    assert lines == [one.name for _, one in every_setting()]


def test_it_reads_back_as_what_was_given_and_the_defaults() -> None:
    data = tomllib.loads(written({"house": HOUSE}, [TABLE]))
    for name, section in SECTIONS.items():
        given = HOUSE if name == "house" else {}
        wanted = {one.name: one.default for one in settings_of(section) if one.default is not None} | given
        assert data[name] == wanted, name
    defaults = {one.name: one.default for one in settings_of(TableConfig) if one.default not in (None, {})}
    assert data["table"] == [defaults | TABLE]


def test_what_is_a_comment_would_be_taken_too() -> None:
    """Whoever takes the # away gets an example of the right kind; only files may not be there."""
    for section, one in every_setting():
        if one.example is not None and "that exists" not in one.kind.expected and one.name != "rulebook":
            assert one.kind.check(one.example) is not None, (section, one.name)


def test_no_line_of_it_is_too_wide(tmp_path: Path) -> None:
    lotus(tmp_path / "lotus")
    text = (tmp_path / "lotus" / "casino.toml").read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 110
    assert data_of(tmp_path / "lotus")["house"]["name"] == "Lotus"
    assert config_of(tmp_path / "lotus").tables[0].name == "SB1"


@pytest.mark.parametrize(
    "value", ['a"b\\c', 5, 0.001, True, False, [], ["a", "b"], {}, {"a": [1, 2]}], ids=repr
)
def test_a_value_is_written_so_that_it_is_read_again(value: object) -> None:
    assert tomllib.loads(f"x = {toml(value)}") == {"x": value}


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a value of TOML, got None"):
        toml(None)


# The page


def test_the_page_lists_every_setting_as_it_is() -> None:
    assert tool.page() == tool.PAGE.read_text("utf-8"), "run make pictures"


def test_sabotage_a_setting_that_the_page_does_not_list_is_seen() -> None:
    text = tool.PAGE.read_text("utf-8")
    assert "| `seal_minutes` |" in text
    without = "\n".join(line for line in text.split("\n") if "seal_minutes" not in line)
    assert tool.page() != without
