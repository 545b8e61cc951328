"""Views in messages: a change carries the parts that are different, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.game.commands import Slip
from taisai.protocol import views as module
from taisai.protocol.replies import ChangeNotice, SnapshotNotice
from taisai.protocol.views import (
    CHANGES,
    VIEWS,
    AnyChanges,
    AnyView,
    CageView,
    LobbyView,
    PitView,
    SeatView,
    View,
    changed,
    difference,
)

SLIPS = st.lists(
    st.builds(Slip, st.sampled_from("abcdef"), st.sampled_from(("small", "big")), st.integers(1, 3)),
    max_size=6, unique_by=lambda slip: slip.id,
).map(tuple)  # fmt: skip
SEATS = st.builds(
    SeatView, seat=st.just("1"), taken=st.booleans(), player=st.sampled_from(("", "Ann")),
    session=st.integers(0, 2), layout=st.sampled_from("AB"), credits=st.integers(0, 3),
    at_risk=st.integers(0, 3), payable=st.just(0), bets=SLIPS, last=st.none(), withdrawal=st.booleans(),
    withdrew=st.sampled_from((None, True, False)), claims=st.just(()),
)  # fmt: skip
CAGES = st.builds(
    CageView, house=st.just("H"), currency=st.just("SGD"), cash=st.integers(0, 2),
    outstanding=st.integers(0, 2), in_transit=st.just(()), claims=st.just(()),
)  # fmt: skip
PAIRS: Any = st.one_of(st.tuples(SEATS, SEATS), st.tuples(CAGES, CAGES))


def wrong(before: View, after: View) -> list[str]:
    """What is wrong with the changes from one view to another, once they were sent and read."""
    changes = difference(before, after)
    if changes is None:
        return [] if before == after else ["nothing is told of a difference"]
    sent = msgspec.json.encode(ChangeNotice(feed="f", number=1, changes=changes))
    back = msgspec.json.decode(sent, type=ChangeNotice).changes
    told = set(json.loads(sent)["changes"]) - {"of", "placed", "gone", "cleared"}
    parts = {name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    says = [] if changed(before, back) == after else ["changes lead elsewhere"]
    return says + ([] if told == parts - ({"bets"} & parts) else [f"told {told} of {parts}"])


@given(PAIRS)
def test_changes_lead_from_one_view_to_the_next_and_tell_nothing_else(pair: tuple[View, View]) -> None:
    assert wrong(*pair) == []


@given(SEATS)
def test_of_views_that_are_alike_nothing_is_shown(view: SeatView) -> None:
    assert difference(view, msgspec.structs.replace(view)) is None


def seat(*bets: Slip, **more: Any) -> SeatView:
    return SeatView(
        seat="1", taken=True, player="", session=1, since=0, net=0, layout="A", at_risk=0, payable=0,
        bets=bets, last=None, withdrawal=False, withdrew=None, claims=(), **({"credits": 5} | more),
    )  # fmt: skip


SMALL, BIG, ODD = Slip("s", "small", 1), Slip("b", "big", 1), Slip("o", "odd", 1)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((), (SMALL,), {"placed": ["s"]}),
        ((SMALL,), (SMALL, BIG), {"placed": ["b"]}),
        ((SMALL, BIG), (BIG,), {"gone": ["s"]}),
        ((SMALL, BIG), (BIG, ODD), {"gone": ["s"], "placed": ["o"]}),
        ((SMALL, BIG), (), {"cleared": True}),
        ((SMALL, BIG), (BIG, SMALL), {"cleared": True, "placed": ["b", "s"]}),
        ((SMALL, BIG), (SMALL, Slip("b", "odd", 1)), {"gone": ["b"], "placed": ["b"]}),
    ],
)
def test_bets_are_shown_one_by_one(
    before: tuple[Slip, ...], after: tuple[Slip, ...], told: dict[str, object]
) -> None:
    changes = json.loads(msgspec.json.encode(difference(seat(*before), seat(*after))))
    if "placed" in changes:
        changes["placed"] = [slip["id"] for slip in changes["placed"]]
    assert changes == {"of": "seat"} | told


def test_what_becomes_none_is_shown_as_null_and_what_stays_is_left_out() -> None:
    before = msgspec.structs.replace(seat(), withdrew=True)
    sent = msgspec.json.encode(difference(before, seat()))
    assert json.loads(sent) == {"of": "seat", "withdrew": None}
    assert changed(before, msgspec.json.decode(sent, type=AnyChanges)) == seat()


def test_sabotage_a_part_that_is_not_told_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_by_bet", lambda _before, _after: {})
    assert wrong(seat(SMALL), seat(BIG, credits=6))


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_has_changes_of_the_same_tag_and_the_same_parts(view: type[View]) -> None:
    changes = CHANGES[view]
    assert changes.__struct_config__.tag == view.__struct_config__.tag
    bets = {"cleared", "gone", "placed"} if view is SeatView else set()
    parts = set(view.__struct_fields__) - ({"bets"} if view is SeatView else set())
    assert set(changes.__struct_fields__) == parts | bets
    assert msgspec.json.encode(changes()) == b'{"of":"%b"}' % str(view.__struct_config__.tag).encode()


def test_tags_are_the_feeds() -> None:
    assert [view.__struct_config__.tag for view in VIEWS] == [
        "table",
        "console",
        "seat",
        "lobby",
        "pit",
        "cage",
        "approvals",
        "alarms",
    ]


def test_a_snapshot_is_read_back_as_the_view_that_it_is() -> None:
    for view in (seat(SMALL), LobbyView(tables=()), PitView(tables=(), alarms=(), wins=(), locked=("amy",))):
        sent = msgspec.json.encode(SnapshotNotice(feed="f", number=3, view=view))
        assert msgspec.json.decode(sent, type=SnapshotNotice).view == view


def test_views_of_two_kinds_have_no_difference() -> None:
    with pytest.raises(TypeError, match="expected two views of one type, got SeatView and LobbyView"):
        difference(seat(), LobbyView(tables=()))
    with pytest.raises(TypeError, match="expected changes of a LobbyView, got SeatChanges"):
        changed(LobbyView(tables=()), CHANGES[SeatView]())


def test_every_view_and_its_changes_have_a_schema() -> None:
    for kind in (AnyView, AnyChanges):
        schema = msgspec.json.schema(kind)
        assert set(schema["discriminator"]["mapping"]) == {
            "table", "console", "seat", "lobby", "pit", "cage", "approvals", "alarms",
        }  # fmt: skip
