"""The example alert rules name metrics that exist, and every alarm has its page, its rule and its words."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taisai.game.refusals import Reason
from taisai.server.runtime.machine import Measured
from tests.docs.test_links import headings
from tests.server.virtual_house import RWS, Attended, attended

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
PAGE = ROOT / "docs" / "how-to" / "alarms.md"
yaml: Any = importlib.import_module("yaml")
NAME = re.compile(r"\btaisai_\w+")
LABEL = re.compile(r'(\w+)=~?"([^"]*)"')


async def _served(house: Attended) -> tuple[str, set[str]]:
    house.dispatcher.metrics.refusals["late"] += 1
    house.casino._machine.measured = Measured(free=1)
    conditions = {condition.name for condition, _ in house.casino.alarms.states()}
    return house.dispatcher.metrics.text().decode(), conditions


@pytest.fixture(scope="module")
def served() -> tuple[str, set[str]]:
    """The metrics of a server, and the names of its alarms."""
    return attended(_served, RWS, is_followed=False)


def rules(text: str) -> list[dict[str, Any]]:
    """Every rule, in order."""
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def exported(metrics: str) -> set[str]:
    """The names that a rule may use."""
    names = set(re.findall(r"^# TYPE (\S+) ", metrics, re.MULTILINE))
    return names | set(re.findall(r"^(taisai_\w+)", metrics, re.MULTILINE))


def faults(text: str, metrics: str) -> Iterator[str]:
    """What is wrong with rules."""
    known, titles = exported(metrics), headings(PAGE.read_text("utf-8"))
    for rule in rules(text):
        what = rule.get("alert", "?")
        if set(rule) - {"alert", "expr", "for", "labels", "annotations"} or "expr" not in rule:
            yield f"{what}: not the keys of an alert rule: {sorted(rule)}"
        yield from (f"{what}: no metric {name}" for name in NAME.findall(rule["expr"]) if name not in known)
        for label, values in LABEL.findall(rule["expr"]):
            if label == "reason" and not set(values.split("|")) <= set(Reason):
                yield f"{what}: no reasons {values}"
            if label == "severity" and f'severity="{values}"' not in metrics:
                yield f"{what}: no severity {values}"
        if rule["labels"]["severity"] not in ("critical", "warning"):
            yield f"{what}: severity {rule['labels']['severity']}"
        page, _, title = rule["annotations"]["runbook"].partition("#")
        if not (ROOT / page).is_file() or (title not in titles and title != "{{ $labels.alarm }}"):
            yield f"{what}: no runbook {page}#{title}"
        if not rule["annotations"]["summary"] or rule["expr"].count("(") != rule["expr"].count(")"):
            yield f"{what}: no summary, or open brackets"


def test_every_rule_names_metrics_that_exist_and_a_page(served: tuple[str, set[str]]) -> None:
    text = RULES.read_text("utf-8")
    assert list(faults(text, served[0])) == []
    names = [rule["alert"] for rule in rules(text)]
    assert len(set(names)) == len(names) > 10


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("taisai_disk_free_bytes", "taisai_disk_left_bytes"),
        ("journal-unwritable|", "journal-unreadable|"),
        ('taisai_alarm{severity="critical"}', 'taisai_alarm{severity="grave"}'),
        ("alarms.md#disk-low", "alarms.md#disk-small"),
        ("severity: critical", "severity: loud"),
        ("expr: taisai_sockets", "exp: taisai_sockets"),
    ],
)
def test_sabotage_a_rule_that_would_never_fire_is_found(
    right: str, wrong: str, served: tuple[str, set[str]]
) -> None:
    text = RULES.read_text("utf-8")
    assert right in text
    with pytest.raises((AssertionError, KeyError)):
        assert list(faults(text.replace(right, wrong), served[0])) == []


def test_every_figure_of_the_machine_has_a_rule(served: tuple[str, set[str]]) -> None:
    used = {name for rule in rules(RULES.read_text("utf-8")) for name in NAME.findall(rule["expr"])}
    kept = {name for name in exported(served[0]) if re.search("alarm|stall|disk|clock|wait|cut_off", name)}
    assert len(kept) >= 6
    assert {name for name in kept if not name.endswith("_created")} <= used


def test_every_alarm_has_its_heading_on_the_page(served: tuple[str, set[str]]) -> None:
    assert len(served[1]) >= 7
    assert served[1] <= headings(PAGE.read_text("utf-8"))
