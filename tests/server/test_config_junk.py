"""Whatever stands in casino.toml, reading it ends with a configuration or with faults, one line each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taisai.server.config import ConfigError, every_setting, read_config
from tests.server.house_folder import data_of, lotus

names = sorted({one.name for _, one in every_setting()} | {"x"})
sections = sorted({section for section, _ in every_setting()} | {"x"})
plain = st.one_of(
    st.text(max_size=20), st.integers(), st.floats(), st.booleans(),
    st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    st.sampled_from([one.example for _, one in every_setting() if one.example is not None]),
)  # fmt: skip
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)
section = st.dictionaries(st.sampled_from(names), values, max_size=4)
junk = st.dictionaries(st.sampled_from(sections), st.one_of(values, section, st.lists(section, max_size=2)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("house") / "lotus"
    lotus(made)
    return made


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=junk, founded=st.booleans())
def test_whatever_is_written_is_read_or_refused(folder: Path, data: dict[str, Any], founded: bool) -> None:  # noqa: FBT001
    given_ = data_of(folder) | data if founded else data
    lines: tuple[str, ...] = ()
    try:
        told = read_config(given_, folder / "casino.toml").public()
    except ConfigError as error:
        lines, told = error.faults, {}
    assert bool(lines) is not bool(told)
    assert all(type(value) is str for value in told.values())
    for line in lines:
        assert line.isprintable()
        assert "expected " in line
        assert "(casino.toml, " in line
