"""The unit for systemd grants an account of its own, one folder and listed addresses, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest

from taisai.cli.commands import COMMAND_ENTRIES

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNIT = FOLDER / "taisai.service"
WORST = 2.0
"""The grade of `systemd-analyze security`, from 0 to 10: below it everything is confined that can be."""


def settings(text: str) -> dict[str, list[str]]:
    """Key → its values, in order; systemd lets a key stand several times."""
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


def faults(text: str) -> set[str]:
    """What a unit leaves open."""
    has = settings(text)
    wanted = {
        "NoNewPrivileges": ["yes"], "CapabilityBoundingSet": [""], "ProtectSystem": ["strict"],
        "ReadWritePaths": ["/var/lib/taisai"], "IPAddressDeny": ["any"], "UMask": ["0077"],
        "StandardError": ["journal"],
    }  # fmt: skip
    open_ = {key for key, values in wanted.items() if has.get(key) != values}
    if has.get("User", ["root"]) == ["root"]:
        open_.add("User")
    if any("any" in addresses for addresses in has.get("IPAddressAllow", ["any"])):
        open_.add("IPAddressAllow")
    return open_


def test_the_unit_confines_the_server() -> None:
    assert faults(UNIT.read_text("utf-8")) == set()


@pytest.mark.parametrize("line", ["User=taisai", "IPAddressDeny=any", "ProtectSystem=strict", "UMask=0077"])
def test_sabotage_a_line_that_is_gone_is_seen(line: str) -> None:
    text = UNIT.read_text("utf-8")
    assert f"{line}\n" in text
    assert faults(text.replace(f"{line}\n", "")) == {line.partition("=")[0]}


def test_it_starts_a_command_that_exists() -> None:
    words = settings(UNIT.read_text("utf-8"))["ExecStart"][0].split()
    assert words[1] in {entry.words for entry in COMMAND_ENTRIES}


def test_the_log_goes_elsewhere_over_tls_with_certificates_of_both_sides() -> None:
    parser = RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(FOLDER / "journal-upload.conf", "utf-8")
    upload = dict(parser["Upload"])
    assert upload["URL"].startswith("https://")
    assert {"ServerKeyFile", "ServerCertificateFile", "TrustedCertificateFile"} <= upload.keys()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_grades_it_well() -> None:
    command = ("systemd-analyze", "security", "--offline=yes", str(UNIT))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    match = re.search(r"Overall exposure level for taisai\.service: ([\d.]+)", done.stdout)
    if match is None:
        pytest.skip("this systemd grades no files")
    assert float(match[1]) <= WORST
