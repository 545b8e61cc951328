"""casino.toml: defaults, every fault at once with file, key, expected and got, what the journal records."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Any

import pytest

from taisai.cage import House, decide_house, evolve_house
from taisai.cage.messages import OpenHouse, SettingsTaken, TakeSettings
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.server.config import ConfigError, DiceIn, LogForm, every_setting, load_config, read_config
from taisai.server.config import configuration as config_reading
from taisai.server.config.settings import ServerSetting
from taisai.validation import ValueKind
from tests.server.house_folder import changed, config_of, data_of, faults, lotus

WITNESS = {
    "url": "https://witness.example/taisai",
    "key": "witness.example/w1+c8b74c6c+BNzFxUNKZzOTTOXrVqhhWaRpCYKNvnEiIoxomfH78PJd",
}
WRONG: dict[str, tuple[Any, ...]] = {
    "house.name": ("", " Lotus", "a" * 65, "a\nb", 5, True, []),
    "house.currency": ("sgd", "SGDX", "", 5),
    "house.zone": ("Singapore City", "../etc/passwd", "/etc/passwd", "", "Asia", 8),
    "house.day_begins": ("6:00", "24:00", "06:60", "06:00:00", 6),
    "journal.file": ("no-such.db", "", 5, "."),
    "journal.database": ("postgresql:///x", "mysql:///x#house", "postgresql://a:pw@db/x#house", "#", 5),
    "journal.key": ("no-such.key", "a" * 300, "a" * 1001, True),
    "journal.passphrase_file": ("no-such",),
    "journal.seal_every": (0, 1_000_001, 1.0, "1000", True),
    "journal.seal_minutes": (0, 1441, -1),
    "journal.checkpoints": ("", 5, "a\0b"),
    "listen.host": ("", "300.1.1.1", "1.2.3", "a b", "-a", 127),
    "listen.port": (0, 65_536, "8080", 80.0),
    "listen.origins": ("https://a", ["ftp://a"], ["https://a/b"], ["https://A"], ["https://a:0"], [5], {}),
    "listen.tls_certificate": ("no-such.crt",),
    "listen.tls_key": ("no-such.key",),
    "listen.behind_proxy": ("yes", 1, 0),
    "listen.metrics_token_file": ("no-such",),
    "listen.proxies": (
        "127.0.0.1",
        [],
        ["*"],
        ["proxy.example"],
        ["10.0.0.300"],
        ["10.0.0.1/24"],
        ["0.0.0.0/0"],
        ["::/0"],
        [""],
        [7],
    ),
    "access.idle_minutes": (0, 1441),
    "access.absolute_hours": (0, 25),
    "access.sign_ins_a_minute": (0, 1001),
    "approvals.file": ("no-such.txt",),
    "approvals.key": ("no-such.pub",),
    "software.manifest": ("sha256:" + "0" * 63, "sha256:" + "A" * 64, "0" * 64, 5),
    "floor.sockets": (0, 15_001),
    "floor.asks_a_second": (0, 1001),
    "floor.large_win": (0, 2**53, 10**30),
    "floor.clock_jump_ms": (99, 3_600_001),
    "cage.sale_alone": (0, 10**12 + 1, -1, 2**53, "1"),
    "cage.redemption_alone": (0, 10**12 + 1, 1.0),
    "cage.largest_fill": (0, 10**12 + 1, True),
    "watch.level": (0, 0.0, 0.2, -0.1, float("nan"), float("inf"), "0.001", True),
    "alarms.stall_ms": (99, 600_001, 1.5, "3000"),
    "alarms.disk_low_mb": (0, 100_000_001, "5000", True),
    "alarms.disk_full_mb": (0, 5_001, 100_000_001, 1.5),
    "logs.level": ("loud", "INFO", 1),
    "logs.form": ("xml", True),
    "witness.url": (
        "",
        "witness.example",
        "http://witness.example",
        "http://192.0.2.1",
        "ftp://127.0.0.1",
        "https://ann:secret@witness.example",
        "https://witness.example/?a",
        "https://witness.example:0",
        "https://witness.example:99999",
        "https://wit ness",
        5,
    ),
    "witness.key": ("", "no-such.pub", "a+b+c", WITNESS["key"][:-1], WITNESS["key"].replace("BN", "AN"), 5),
    "witness.certificate": ("no-such.crt", 5),
    "witness.file": ("", 5, "a\0b"),
    "table.name": ("", "SB 1", "a/b", "a" * 25, 5),
    "table.rulebook": ("no-such-book", "no-such.toml", "", 5),
    "table.layout": ("Z", "", 5),
    "table.betting_seconds": (4, 601),
    "table.least": (0, 2**53, "5"),
    "table.most": (0, 499, 2**53),
    "table.groups": ({"triple": [1]}, {"triple": 5}, {"triple": [2, 1]}, {"no-such": [1, 2]}, []),
    "table.exposure": (0, 2**53),
    "table.settings": ({"tumble": "never"}, {"no_such": "x"}, {"tumble": True}, {"tumble": []}, "x"),
    "table.offers": ({"no-such": "1 to 1"}, {"small": "2 to 1"}, {"small": "2:1"}, {"small": True}, []),
    "table.dice": ("loaded", 5),
    "table.edges": ("yes", 1, 0),
}
"""Setting → values that are none: at the limit and one beyond, of another type, of another form."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("house") / "lotus"
    lotus(made)
    return made


def with_value(folder: Path, key: str, value: Any) -> dict[str, Any]:
    data = data_of(folder)
    section, _, name = key.partition(".")
    data["witness"] = [dict(WITNESS)] if section == "witness" else []
    if key == "witness.file":
        data["witness"] = [{}]
    (data[section][0] if section in ("table", "witness") else data.setdefault(section, {}))[name] = value
    return data


def test_every_setting_has_wrong_values_here() -> None:
    assert {f"{section}.{one.name}" for section, one in every_setting()} == WRONG.keys()


@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_value_is_refused_with_file_key_expected_and_got(folder: Path, key: str) -> None:
    place = key.replace("table.", "table[1].").replace("witness.", "witness[1].")
    for value in WRONG[key]:
        found = faults(with_value(folder, key, value), folder)
        assert len(found) == 1, (value, found)
        (line,) = found
        assert line.startswith("expected "), line
        assert ", got " in line, line
        assert f"(casino.toml, {place}" in line, line
        assert line.isprintable(), line


def test_all_faults_are_shown_at_once(folder: Path) -> None:
    data = data_of(folder)
    del data["house"]["name"]
    data["listen"] = {"port": 0, "host": "nowhere at all", "prot": 1}
    data["hose"] = {}
    data["logs"]["form"] = 5
    data["table"].append({"name": "sb1", "rulebook": "us-sic-bo", "least": 100, "most": 10})
    keys = [line.rpartition("(casino.toml, ")[2].rstrip(")") for line in faults(data, folder)]
    assert keys == [
        "hose", "house.name", "listen.prot", "listen.host", "listen.port", "logs.form", "table[2].name",
        "table[2].most",
    ]  # fmt: skip


def test_an_unknown_name_is_shown_with_the_nearest_one(folder: Path) -> None:
    data = data_of(folder) | {"listn": {}}
    data["listen"]["prot"] = 1
    data["table"][0]["rulebok"] = "x"
    data["table"][0]["settings"] = {"tumbel": "after_close"}
    data["table"][0]["groups"] = {"tripel": [500, 600]}
    meant = [line.partition("; perhaps ")[2].split(" ")[0] for line in faults(data, folder)]
    assert meant == ["'listen'", "'port'", "'rulebook'", "'tumble'", "'triple'"]


def test_what_is_required_is_missed(folder: Path) -> None:
    missed = faults({"table": [{}]}, folder)
    for section, one in every_setting():
        place = f"(casino.toml, {'table[1]' if section == 'table' else section}.{one.name})"
        told = [line for line in missed if line.endswith(place)]
        assert len(told) == one.required
        assert all(", got nothing" in line for line in told)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[house", "invalid TOML: Expected"),
        (b"\xff", "invalid TOML: 'utf-8' codec"),
        (b"a = " + b"[" * 100_000, "invalid TOML: nested too deeply"),
        (b"x = 1" + b"0" * 5_000, "invalid TOML: Exceeds the limit"),
        (b"#" * (1 << 20) + b"#", "the file is too large: expected at most 1048576 bytes"),
        (b"house = 5", "expected a table [house], got 5 (casino.toml, house)"),
        (b"table = 5", "expected at most 100 tables, each after [[table]], got 5 (casino.toml, table)"),
        (b"table = [5]", "expected a table after [[table]], got 5 (casino.toml, table[1])"),
        (b"[table]", "expected at most 100 tables, each after [[table]], got a table (casino.toml, table)"),
    ],
    ids=range(9),
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "casino.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        load_config(file)
    assert any(line.startswith(says) for line in error.value.faults), error.value.faults


def test_a_file_that_is_not_there_is_shown_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match=r"cannot read the configuration '.*casino.toml': No such file or directory; `taisai init`",
    ):
        load_config(tmp_path / "casino.toml")
    with pytest.raises(ConfigError, match="not a file name"):
        load_config("a\0b")


def test_there_are_as_many_tables_as_there_may_be_and_no_more(folder: Path) -> None:
    data = data_of(folder)
    tables = [data["table"][0] | {"name": f"SB{number}"} for number in range(101)]
    assert faults(data | {"table": tables[:-1]}, folder) == ()
    (line,) = faults(data | {"table": tables}, folder)
    assert line == "expected at most 100 tables, each after [[table]], got 101 (casino.toml, table)"


def test_a_secret_in_place_of_its_file_is_not_told(folder: Path) -> None:
    (line,) = faults(with_value(folder, "journal.passphrase_file", "my dear secret"), folder)
    assert "secret" not in line


# The network


@pytest.mark.parametrize(
    ("listen", "key"),
    [
        ({"host": "10.0.0.5"}, "listen.host"),
        ({"host": "floor.example"}, "listen.host"),
        ({"host": "10.0.0.5", "behind_proxy": True, "origins": ["https://a.b"]}, "listen.host"),
        ({"host": "127.0.0.1", "behind_proxy": True, "origins": ["http://a.b"]}, "listen.origins"),
        ({"host": "127.0.0.1", "origins": ["https://a.b", "http://10.0.0.5:80"]}, "listen.origins"),
        ({"host": "127.0.0.1", "behind_proxy": True}, "listen.origins"),
        ({"host": "0.0.0.0", "tls_certificate": "c", "tls_key": "k"}, "listen.origins"),
        ({"host": "::", "tls_certificate": "c", "tls_key": "k"}, "listen.origins"),
        ({"tls_certificate": "c"}, "listen.tls_key"),
        ({"tls_key": "k"}, "listen.tls_certificate"),
        ({"host": "10.0.0.5", "tls_certificate": "c", "tls_key": "k"}, None),
        ({"host": "0.0.0.0", "tls_certificate": "c", "tls_key": "k", "origins": ["https://a.b"]}, None),
        (
            {
                "host": "10.0.0.5",
                "behind_proxy": True,
                "origins": ["https://a.b:8443"],
                "tls_certificate": "c",
                "tls_key": "k",
            },
            None,
        ),
        ({"behind_proxy": True, "origins": ["https://a.b:8443"]}, None),
        ({"origins": ["http://localhost:8080", "http://127.0.0.1", "http://[::1]"]}, None),
        ({"host": "127.0.0.1"}, None),
        ({"host": "127.8.8.8"}, None),
        ({"host": "::1"}, None),
        ({"host": "localhost"}, None),
    ],
    ids=str,
)
def test_nothing_but_this_machine_is_listened_to_without_tls(
    folder: Path, listen: dict[str, Any], key: str | None
) -> None:
    for name in ("c", "k"):
        (folder / name).touch()
    data = data_of(folder)
    data["listen"] |= listen
    found = [line.rpartition("(casino.toml, ")[2].rstrip(")") for line in faults(data, folder)]
    assert found == ([key] if key else [])


def test_sabotage_a_host_taken_for_this_machine_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_reading, "is_loopback", lambda _host: True)
    assert faults(with_value(folder, "listen.host", "10.0.0.5"), folder) == ()


@pytest.mark.parametrize(
    ("listen", "origins"),
    [
        ({}, {"http://127.0.0.1:8080", "http://localhost:8080"}),
        (
            {"host": "::1", "port": 80},
            {"http://[::1]:80", "http://[::1]", "http://localhost:80", "http://localhost"},
        ),
        (
            {"host": "Floor.example", "port": 443, "tls_certificate": "c", "tls_key": "k"},
            {"https://floor.example:443", "https://floor.example"},
        ),
        ({"origins": ["https://a.b", "https://a.b"]}, {"https://a.b"}),
    ],
    ids=["its own", "IPv6", "TLS", "named"],
)
def test_the_servers_own_address_is_allowed_unless_others_are_named(
    folder: Path, listen: dict[str, Any], origins: set[str]
) -> None:
    for name in ("c", "k"):
        (folder / name).touch()
    assert changed(folder, listen=listen).listen.allowed_origins == origins


# What it comes to


def test_what_is_not_said_is_the_default(folder: Path) -> None:
    config = config_of(folder)
    assert (config.house.name, config.house.day_begins, str(config.house.zone)) == (
        "Lotus", time(6), "Asia/Singapore",
    )  # fmt: skip
    assert config.journal.file == folder / "journal.db"
    assert (config.journal.passphrase_file, config.software.manifest) == (None, None)
    assert (config.listen.address, config.logs.form) == ("http://127.0.0.1:8080", LogForm.JSON)
    (table,) = config.tables
    assert (table.name, table.book.id, table.layout, table.dice) == (
        "SB1", "rws-sic-bo-etg-v8", "A", DiceIn.KEYS,
    )  # fmt: skip
    assert (table.limits.least, table.limits.most, table.limits.exposure) == (500, 100_000, None)


def test_paths_start_from_the_files_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert config_of(folder).approvals.key == folder / "approvals.key.pub"


def test_numbers_are_words_where_a_rulebook_wants_words(folder: Path) -> None:
    data = with_value(folder, "table.settings", {"fail_over_grace": 5})
    assert faults(data, folder) == ()


def test_the_terms_as_a_whole_are_checked_too(folder: Path) -> None:
    """The book allows the offer; whole money could not be counted in it."""
    data = data_of(folder)
    table = {"name": "U", "rulebook": "us-sic-bo", "least": 1, "most": 5}
    assert faults(data | {"table": [table | {"offers": {"small": "1.25 to 1"}}]}, folder) == ()
    (line,) = faults(data | {"table": [table | {"offers": {"small": "1.001 to 1"}}]}, folder)
    assert line.startswith("expected odds with a common denominator of at most 512, got 1000")
    assert line.endswith("(casino.toml, table[1].offers)")


def test_the_journal_records_no_path_and_no_secret(folder: Path) -> None:
    (folder / "phrase").write_text("x")
    told = changed(folder, journal={"passphrase_file": "phrase", "checkpoints": "away"}).public()
    for path in ("phrase", "house.key", "journal.db", "approvals", "away", str(folder)):
        assert not [name for name, value in told.items() if path in value], path
    assert not {name for name in told if name.endswith(("key", "file", "certificate"))}
    assert told["listen.port"] == "8080"
    assert told["table.SB1.rulebook"].startswith("rws-sic-bo-etg-v8 sha256:")


def test_another_database_is_another_setting_that_the_journal_records(folder: Path) -> None:
    """Who lets the server start on a copy in another database changes it."""
    places = ("postgresql:///taisai#house", "postgresql:///taisai#copy")
    data = data_of(folder)
    del data["journal"]["file"]
    told = []
    for place in places:
        data["journal"]["database"] = place
        told.append(read_config(data, folder / "casino.toml").public()["journal.database"])
    assert len({*told}) == len(told)
    assert not [value for value in told if "postgresql" in value]
    assert "journal.database" not in changed(folder).public()


def test_sabotage_a_path_that_is_shown_is_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServerSetting, "is_public", True)
    assert [value for value in config_of(folder).public().values() if "house.key" in value]


def test_the_house_takes_what_the_configuration_tells(folder: Path) -> None:
    data = data_of(folder)
    data["table"] = [
        data["table"][0] | {
            "name": f"{number:x>24}", "groups": {"double-single": [500, 600]}, "exposure": 9,
            "settings": {"fail_over_grace": 5, "higher_may_act": "no"},
        }
        for number in range(60)
    ]  # fmt: skip
    told = read_config(data, folder / "casino.toml").public()
    house = House()
    opening = OpenHouse(at=0, by="Ann", house="Lotus", currency="SGD", ladder=("a",), second_rank="a")
    opened = decide_house(house, opening)
    assert not isinstance(opened, Refusal)
    evolve_house(house, opened[0])
    taken = decide_house(house, TakeSettings(at=1, by=FLOOR, settings=told))
    assert not isinstance(taken, Refusal), taken
    assert isinstance(taken[0], SettingsTaken)


def test_what_the_journal_would_not_take_is_refused(folder: Path) -> None:
    data = data_of(folder)
    areas = config_of(folder).tables[0].book.areas
    groups = {str(area): [500, 600] for area in areas}
    data["table"] = [data["table"][0] | {"name": f"T{n}", "groups": groups} for n in range(10)]
    (line,) = faults(data, folder)
    assert line.startswith("expected at most 1000 settings to record in the journal, got ")
    data = data_of(folder)
    data["listen"]["origins"] = [f"https://{n:a>60}.example" for n in range(20)]
    (line,) = faults(data, folder)
    assert line.startswith("expected at most 1000 characters, got ")
    assert line.endswith("(casino.toml, listen.origins)")


# Witnesses


def test_a_witness_is_a_url_with_its_key_or_a_file(folder: Path) -> None:
    (folder / "seen").touch()
    data = data_of(folder)
    for witness, problem in (
        ({}, "expected either url or file, got neither"),
        ({**WITNESS, "file": "seen"}, "expected either url or file, got both"),
        (
            {"url": WITNESS["url"]},
            "expected the public key of the witness at url, but the section has no key",
        ),
        ({**WITNESS, "urll": "x"}, "unknown 'urll'"),
        ("seen", "expected a table after [[witness]], got 'seen'"),
    ):
        found = faults(data | {"witness": [witness]}, folder)
        assert len(found) == 1, found
        assert found[0].startswith(problem)
    for url in ("http://127.0.0.1:8091", "http://localhost", "http://[::1]:1/x", WITNESS["url"]):
        config = read_config(
            data | {"witness": [WITNESS | {"url": url}, {"file": "seen"}]}, folder / "c.toml"
        )
        assert [one.url for one in config.witnesses] == [url, None]
        assert config.witnesses[1].file == folder / "seen"
        assert config.public()["witness.1.key"] == WITNESS["key"]
        assert not any("seen" in value for value in config.public().values()), "paths are not recorded"


def test_one_witness_too_many_is_refused(folder: Path) -> None:
    data = data_of(folder)
    assert len(read_config(data | {"witness": [WITNESS] * 4}, folder / "casino.toml").witnesses) == 4
    (line,) = faults(data | {"witness": [WITNESS] * 5}, folder)
    assert line.startswith("expected at most 4 witnesses, each after [[witness]], got 5")


# The list of settings


@pytest.mark.parametrize(("section", "one"), list(every_setting()), ids=lambda one: getattr(one, "name", one))
def test_every_setting_says_what_it_means_and_takes(section: str, one: ServerSetting) -> None:
    assert one.says.endswith("."), section
    assert isinstance(one.kind, ValueKind)
    assert one.kind.expected
    assert one.default is not None or one.example is not None
    assert not (one.required and one.default is not None)


def test_sabotage_a_fault_that_ends_the_reading_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the first fault the only one told, the test of all faults would fail."""
    monkeypatch.setattr(config_reading, "MOST_FAULTS", 1)
    assert len(faults({"table": [{}]}, folder)) == 1
