"""The bench's own arithmetic: ratios, targets, and an exit code that can say no."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import bench.__main__ as command
from bench.harness import Bench, Line, Target, in_turns


def test_a_ratio_is_the_median_over_the_turns() -> None:
    times = {"slow": [2.0, 30.0, 4.0, 8.0, 2.0], "quick": [1.0, 1.0, 1.0, 4.0, 1.0]}
    line = Bench("b", times).line("w", of="slow", over="quick", target=Target(2))
    assert (line.ratio, line.met) == (2.0, True)


@pytest.mark.parametrize(
    ("target", "ratio", "met"),
    [
        (Target(5), 5.0, True),
        (Target(5), 4.99, False),
        (Target(2, at_most=True), 2.0, True),
        (Target(2, at_most=True), 2.01, False),
    ],
)
def test_a_target_is_met_at_its_bound_and_missed_beyond(target: Target, ratio: float, *, met: bool) -> None:
    assert target.met_by(ratio) is met
    assert Line("b", "w", ratio, ratio, ratio, target).met is met


def test_the_ways_take_turns_and_take_turns_at_being_first() -> None:
    order: list[str] = []
    ways = {name: lambda name=name: order.append(name) for name in "abc"}
    times = in_turns(ways, turns=3, calls=2)
    assert "".join(order) == "aabbccbbccaaccaabb"
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 3, "b": 3, "c": 3}


@pytest.mark.parametrize(("ratio", "code"), [(7.0, 0), (3.0, 1)])
def test_a_missed_target_is_an_exit_code(
    ratio: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*, quick: bool) -> Iterator[Line]:
        assert quick
        yield Line("b", "with a target", ratio, ratio, ratio, Target(5))
        yield Line("b", "without", 0.1, 0.1, 0.1)

    monkeypatch.setattr(command, "import_module", lambda _name: SimpleNamespace(run=run))
    for arguments in (["--json"], []):
        monkeypatch.setattr(sys, "argv", ["bench", "settlement", "--quick", *arguments])
        assert command.main() == code
        told = capsys.readouterr().out
        if arguments:
            assert [line["met"] for line in json.loads(told)["lines"]] == [not code, None]
        else:
            assert ("FAIL" in told) is bool(code)
