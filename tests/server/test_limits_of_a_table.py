"""What a table remembers does not grow for ever, and each limit that remains warns the pit at 80 per cent."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import access as cage_access
from taisai.cage.messages import AdoptInterpretations
from taisai.game import seating
from taisai.game.commands import (
    CallAttendant,
    DecideReferral,
    LeaveSeat,
    PlaceItem,
    ReportIrregularity,
    SetLimits,
    SettleClaim,
    TakeSeat,
)
from taisai.game.equipment import maintenance
from taisai.game.irregularities import consequences, referrals
from taisai.game.money import claims
from taisai.game.refusals import Refusal
from taisai.game.rounds import effects
from taisai.game.table import Claim
from taisai.game.terms import opening
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import ClaimEnd, Subject, Treatment
from taisai.journal import Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.rules import Irregularity
from taisai.rules.vocabulary import Act
from taisai.server.projections import house_limits
from tests.server.inline_server import CONCLUDED, InlineServer, inline_server, perform


def asked(server: InlineServer, command: Any, stream: str = stream_of("T1")) -> Any:
    return server.engine.answer_all([Submission(stream, command, None)])[0]


def called(server: InlineServer) -> Any:
    return asked(server, CallAttendant(**server.by("D7"), seat="7", subject=Subject.CALL))


def decided(server: InlineServer, referral: str, by: str = "sue") -> Any:
    command = DecideReferral(
        **server.by(by), referral=referral, treatment=Treatment.CONTINUE, reason="asked", second="pat"
    )
    return asked(server, command)


def near(server: InlineServer, what: str) -> list[bool]:
    limits = house_limits.house_limits(server.house, {"T1": server.table()})
    return [limit.is_near for limit in limits if limit.what.en == what]


def test_decided_referrals_leave_the_state_and_their_ids_are_never_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(referrals, "MOST_DECIDED", 3)
    server = inline_server()
    called(server)  # stays open
    for number in range(2, 12):
        (event,) = called(server)
        assert event.referral == f"r{number}"
        assert decided(server, event.referral)[0].treatment is Treatment.CONTINUE
    assert list(server.table().referrals) == ["r1", "r9", "r10", "r11"]
    assert "sue has decided referral r11 already" in decided(server, "r11").message
    assert decided(server, "r2").reason == "bad-value"
    before = dict(server.table().referrals)
    server.restart()
    assert (dict(server.table().referrals), server.table().referrals_made) == (before, 11)


def test_open_questions_are_bounded_and_warn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequences, "MOST_REFERRALS", 5)
    monkeypatch.setattr(house_limits, "MOST_REFERRALS", 5)
    server = inline_server()
    for _ in range(3):
        called(server)
    other = ReportIrregularity(**server.by("dan"), event=Irregularity.OTHER, detail="a glass broke")
    asked(server, other)
    assert near(server, "open questions") == [True]
    assert called(server)[0].referral == "r5"
    assert called(server).reason == "too-many"
    reported = asked(server, other)  # it is recorded all the same, and no further question is opened
    assert [type(event).__name__ for event in reported] == ["IrregularityRuled"]
    decided(server, "r1")
    assert called(server)[0].referral == "r6"
    for number in range(2, 7):
        decided(server, f"r{number}")
    assert near(server, "open questions") == [False]


def test_limits_and_odds_of_a_table_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MOST_TERMS", 3)
    monkeypatch.setattr(house_limits, "MOST_TERMS", 3)
    server = inline_server()
    first = server.table().limits

    def set_to(limits: Limits) -> Any:
        return asked(server, SetLimits(**server.by("sue"), limits=limits, second="pat"))

    for more in (1, 2):
        set_to(Limits(least=first.least, most=first.most + more * 1_000))
    assert near(server, "different limits and odds") == [True]
    assert set_to(Limits(least=first.least, most=first.most + 3_000)).reason == "too-many"
    assert set_to(first)[0].limits == first, "earlier ones are there already"


def test_claims_that_are_waived_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "MOST_WAIVED", 1)
    server = inline_server()
    for name in ("c1", "c2"):  # as corrections of rounds make them
        server.table().claims[name] = Claim(name, 1, "7", 1, 100, of_player=False)

    def waive(claim: str) -> Any:
        waiving: dict[str, Any] = {"how": ClaimEnd.WAIVE, "reason": "a regular", "second": "pat"}
        return claims.settle_claim(server.table(), SettleClaim(**server.by("sue"), claim=claim, **waiving))

    assert waive("c1")[0].claim == "c1"
    server.table().waived.append(server.table().claims["c1"])
    assert waive("c2").reason == "too-many"


def test_items_that_do_not_come_back_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MOST_RETIRED", 1)
    server = inline_server()
    table = server.table()
    table.equipment.remove("dice")
    placing = PlaceItem(**server.by("dan"), item="dice", serial="D-2")
    assert not hasattr(maintenance.place_item(table, placing), "reason")
    table.equipment.retired.add(("dice", "D-1"))
    refused = maintenance.place_item(table, placing)
    assert isinstance(refused, Refusal)
    assert refused.reason == "too-many"


def test_only_the_latest_terminals_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seating, "MOST_TERMINALS", 3)
    server = inline_server("7", "8", credits=0)
    for number in range(5):
        server.do(TakeSeat(**server.by(f"X{number}"), seat="9", terminal=f"X{number}"))
        server.do(LeaveSeat(**server.by(f"X{number}"), seat="9"))
    assert list(server.table().terminals) == ["X2", "X3", "X4"]


def test_editions_that_are_adopted_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage_access, "MOST_ADOPTED", 1)
    server = inline_server()

    def adopted(edition: int) -> Any:
        digest = f"sha256:{edition:064x}"
        fields: dict[str, Any] = {
            "rulebook": "b",
            "edition": edition,
            "digest": digest,
            "rank": "pit-manager",
        }
        command = AdoptInterpretations(**server.by("sue"), **fields, asked_by="5.10")
        return asked(server, command, HOUSE_STREAM)

    assert len(adopted(1)) == 1
    assert adopted(2).reason == "too-many"
    assert adopted(1) == (), "a retry"


def test_players_whose_bet_was_tolerated_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "MOST_TOLERATED", 2)
    server = inline_server()
    server.table().tolerated.update(Ann=1, Ben=1, Cid=1)
    perform(server, Act.OPEN_BETS, *CONCLUDED)
    assert list(server.table().tolerated) == ["Ben", "Cid"]
