"""What recovery did is told at a start: a line for each table where a stop cut off a round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taisai.cli.server import serve
from taisai.cli.server.serve import recovery_lines
from taisai.game.commands import Assign, Limits, OpenTable, Perform
from taisai.game.events import Interrupted
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import HOUSE
from taisai.journal import stream_of
from taisai.rules import Act, rulebook
from taisai.rules.clauses import Clause
from taisai.rules.procedure import Recovery
from taisai.rules.vocabulary import Phase
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.setup import set_up
from tests.cli.conftest import Taisai
from tests.server.house_folder import engine_of, entropy, plan

STOPPED = "! SB1 was stopped in the phase open: "


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A house with two tables, one of which stopped with bets open."""
    now = WallClock().now()
    made = set_up(plan(tmp_path / "lotus"), now=now, entropy=entropy())
    engine = engine_of(tmp_path / "lotus")
    for name in ("SB1", "SB2"):
        opening = OpenTable(
            at=now, by="Sue Lim", rank="shift-manager", table=name, limits=Limits(least=500, most=100_000),
            currency="SGD", day="2026-11-16", zone="Asia/Singapore", settings={}, layout="A",
        )  # fmt: skip
        assert not isinstance(engine.open_table(rulebook("rws-sic-bo-etg-v8"), opening), Refusal)
    for command in (
        Assign(at=now, by=HOUSE, person="Dan Ho", rank="dealer", position="dealer"),
        Perform(at=now, by="Dan Ho", act=Act.OPEN_BETS),
    ):
        assert not isinstance(engine.answer(stream_of("SB1"), command), Refusal)
    engine.journal.close()
    with made.config.open("a", encoding="utf-8") as file:
        file.write('\n[[table]]\nname = "SB2"\nrulebook = "rws-sic-bo-etg-v8"\nleast = 500\nmost = 100000\n')
    return made.config


def _told(taisai: Taisai, config: Path) -> list[str]:
    ran = taisai("serve", "--config", str(config), "--check")
    assert (ran.code, ran.err) == (0, "")
    return [one for one in ran.out.splitlines() if "was stopped" in one]


def _is_told(taisai: Taisai, config: Path) -> None:
    (line,) = _told(taisai, config)
    assert line.startswith(STOPPED)
    assert line.endswith(")"), "with its clause"


def test_serve_tells_what_was_ruled_where_a_round_was_cut_off(config: Path, taisai: Taisai) -> None:
    _is_told(taisai, config)


def test_sabotage_a_serve_that_says_nothing_is_seen(
    config: Path, taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "recovery_lines", lambda _answers: ())
    with pytest.raises(ValueError, match="not enough values"):
        _is_told(taisai, config)


def test_only_a_round_that_was_cut_off_is_shown() -> None:
    def stop(phase: Phase) -> tuple[Any, ...]:
        return (
            Interrupted(
                at=0, by="recovery", clause=Clause("5.1"), phase=phase, action=Recovery.VOID, witness=None
            ),
        )

    answers = {"A": (), "B": stop(Phase.BETWEEN), "C": stop(Phase.CLOSED)}
    assert list(recovery_lines(answers)) == ["C was stopped in the phase closed: void (5.1)"]
