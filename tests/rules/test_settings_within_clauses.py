"""Every setting at its ends, played against its clause: no value reaches what the clause forbids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from taisai.game.commands import Inspect, Perform, PlaceItem, Recover
from taisai.game.events import RoundSettled, RoundVoided
from taisai.game.vocabulary import RECOVERY
from taisai.rules import Act, rulebook
from tests.game.playing import MBS, RWS, THREE_CARD, US, Playing, at, course
from tests.rules.books import IDS

ENDS: Final = [
    (name, setting.id, value)
    for name in IDS
    for setting in rulebook(name).settings.values()
    for value in setting.choices or tuple(map(str, setting.bounds or ()))
]


def table(name: str, phase: str, setting: str, value: str) -> Playing:
    return at(rulebook(name), phase, **{setting: value})


def clauses_of(playing: Playing, kind: type) -> list[str]:
    return [str(event.clause) for event in playing.log if isinstance(event, kind)]


def settled(playing: Playing) -> RoundSettled:
    """The last settlement."""
    return [event for event in playing.log if isinstance(event, RoundSettled)][-1]


def tumble(name: str, setting: str, value: str) -> None:
    """MBS 3.8, 5.1; RWS 3.6, 5.3.1: fewer than three tumbles void in either order, and bets can be closed."""
    few = table(name, "open", setting, value)
    few.act("close-bets")
    few.act("tumble", tumbles=2)
    if few.table.round is not None:
        for act in ("press-deal", "uncover") if name == MBS else ("uncover",):
            if few.table.round is not None:
                few.act(act)
    assert clauses_of(few, RoundVoided) == ["5.1" if name == MBS else "5.3.1"]
    other = table(name, "open", setting, value)
    other.act("tumble")
    other.act("close-bets")
    assert other.table.phase == "closed-tumbled"


def under_minimum_memory(name: str, setting: str, value: str) -> None:
    """MBS 5.10: one time only, whatever is remembered for how long."""
    playing = table(name, "between", setting, value)
    won = []
    for _ in range(3):
        for act, _phase in course(name, playing.settings):
            playing.act(act)
            if act == Act.OPEN_BETS:
                playing.bet(small=50)
        won.append(settled(playing).won)
    assert won == [50, 0, 0]


def fail_over_grace(name: str, setting: str, value: str) -> None:
    """RWS 5.1.2: a stop that players felt voids, whatever grace is set; so does one longer than it."""
    for felt in (None, int(value) * 1_000 + 1):
        playing = table(name, "open", setting, value)
        playing.do(Recover, RECOVERY, stopped_for=felt)
        assert clauses_of(playing, RoundVoided) == ["5.1.2"]


def higher_may_act(name: str, setting: str, value: str) -> None:
    """A lower position never acts for a higher one, and a stranger for nobody."""
    playing = table(name, "open", setting, value)
    assert playing.tried(Perform, "dan", act=Act.CLOSE_BETS) == "done" or name == RWS
    assert playing.refused(Perform, "ivy", act=Act.TUMBLE, tumbles=3).startswith("unknown-person")
    if name == US:
        between = table(name, "between", setting, value)
        told = between.refused(Inspect, "dan", item="electrical-device", runs=1, passed=True)
        assert told.startswith("not-permitted"), told


def double_on_triple(name: str, setting: str, value: str) -> None:
    """US 2(a)(2): two of a kind wins on two; on three of a kind it pays once at most."""
    paid = {}
    for faces in ((1, 1, 2), (1, 1, 1), (1, 2, 3)):
        playing = table(name, "between", setting, value)
        for act, _phase in course(name, playing.settings):
            playing.act(act, **({"faces": faces} if act == Act.ENTER_RESULT else {}))
            if act == Act.OPEN_BETS:
                playing.bet(double_1=100)
        paid[faces] = settled(playing).won
    assert paid[1, 1, 2] > 0 == paid[1, 2, 3]
    assert paid[1, 1, 1] == (paid[1, 1, 2] if value == "yes" else 0)


def no_roll(name: str, setting: str, value: str) -> None:
    """US 6(a): a die that is not flat never decides a bet."""
    playing = table(name, "revealed", setting, value)
    playing.act("enter-result", flat=False, faces=())
    assert not clauses_of(playing, RoundSettled)
    if value == "void":
        assert clauses_of(playing, RoundVoided)
    else:
        assert playing.table.phase == "open"
        assert playing.act_refused("tumble").endswith("5(c)")


def shaker(name: str, setting: str, value: str) -> None:
    """US 6(d): never both shakers."""
    playing = table(name, "between", setting, value)
    other = "automated-shaker" if value == "manual" else "manual-shaker"
    assert playing.refused(PlaceItem, "dan", item=other, serial="1")
    playing.act("open-bets")
    playing.act("close-bets")
    assert playing.act_refused("activate-shaker" if value == "manual" else "tumble")


def shoe(name: str, setting: str, value: str) -> None:
    """No card is dealt from a shoe that was not shuffled as set, and every round is settled by its cards."""
    playing = table(name, "between", setting, value)
    for _ in range(2):
        for act, _phase in course(name, playing.settings):
            playing.act(act)
        playing.make_ready()
    assert len(clauses_of(playing, RoundSettled)) >= 2
    if setting == "burn":
        assert not clauses_of(playing, RoundVoided)


CHECKS: Final[dict[tuple[str, str], Callable[[str, str, str], None]]] = {
    (MBS, "tumble"): tumble,
    (MBS, "under_minimum_memory"): under_minimum_memory,
    (RWS, "tumble"): tumble,
    (RWS, "fail_over_grace"): fail_over_grace,
    (RWS, "higher_may_act"): higher_may_act,
    (THREE_CARD, "higher_may_act"): higher_may_act,
    (THREE_CARD, "shuffle"): shoe,
    (THREE_CARD, "penetration"): shoe,
    (THREE_CARD, "burn"): shoe,
    (THREE_CARD, "discard"): shoe,
    (US, "double_on_triple"): double_on_triple,
    (US, "no_roll"): no_roll,
    (US, "shaker"): shaker,
    (US, "higher_may_act"): higher_may_act,
}
"""Rulebook and setting → what plays it at one end."""


def test_every_setting_is_played() -> None:
    assert CHECKS.keys() == {(name, setting) for name, setting, _ in ENDS}


@pytest.mark.parametrize(("name", "setting", "value"), ENDS)
def test_no_end_of_a_setting_reaches_what_its_clause_forbids(name: str, setting: str, value: str) -> None:
    CHECKS[name, setting](name, setting, value)


def test_sabotage_a_tolerance_that_is_remembered_for_no_time_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Playing.act

    def forgetting(self: Playing, act: str, **fields: object) -> object:
        self.table.tolerated.clear()
        return played(self, act, **fields)

    monkeypatch.setattr(Playing, "act", forgetting)
    with pytest.raises(AssertionError):
        under_minimum_memory(MBS, "under_minimum_memory", "stay")


def test_strict_defaults_stand_at_the_american_table() -> None:
    defaults = {name: setting.default for name, setting in rulebook(US).settings.items()}
    assert (defaults["higher_may_act"], defaults["no_roll"]) == ("no", "reroll")
