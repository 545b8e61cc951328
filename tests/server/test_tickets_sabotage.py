"""The test of the tests of flows: each turns red where the flow is broken in the way that it is about."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from taisai.cage import Direction, HouseTransfer, HouseTransferKind, StreamError, decide
from taisai.server.handlers import cage as cage_asks
from taisai.server.handlers import tickets as money
from taisai.server.handlers import transfers
from taisai.server.runtime import reconciliation
from tests.server import test_cage_transfers as cage
from tests.server import test_tickets as tickets
from tests.server import test_unfinished_transfers as unfinished

Patch = pytest.MonkeyPatch


def anew(real: Callable[..., str]) -> Callable[..., str]:
    """An id that is another one each time."""
    calls = count()
    return lambda *parts, **named: real(*parts, str(next(calls)), **named)


def test_sabotage_a_new_transfer_at_each_retry_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(transfers, "short_id", anew(transfers.short_id))
    with pytest.raises((AssertionError, AttributeError)):
        tickets.test_all_credits_become_a_ticket_and_the_same_ask_tells_the_same_one()


def test_sabotage_a_new_number_at_each_retry_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(transfers, "ticket_number", anew(transfers.ticket_number))
    with pytest.raises(AssertionError):
        cage.test_a_ticket_is_sold_once_however_often_it_is_asked_for()


def test_sabotage_a_ticket_that_is_good_twice_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(decide, "_redeemable", lambda *_: iter(()))
    with pytest.raises((AssertionError, StreamError)):
        tickets.test_of_two_hundred_who_redeem_one_ticket_one_is_paid()


def test_sabotage_credits_for_a_ticket_that_the_house_refused_are_seen(monkeypatch: Patch) -> None:
    real = transfers.kept

    def always(engine: Any, transfer: str) -> HouseTransfer:
        fields = {
            "kind": HouseTransferKind.TICKET_ACCEPTED,
            "direction": Direction.OWED,
            "seat": "8",
            "session": 1,
        }
        return real(engine, transfer) or HouseTransfer(id=transfer, table="T1", amount=30_000, **fields)  # type: ignore[arg-type]

    monkeypatch.setattr(money, "kept", always)
    monkeypatch.setattr(money, "Refusal", type("Nobody", (), {}))
    with pytest.raises((AssertionError, AttributeError)):
        tickets.test_a_ticket_becomes_credits_once()


@pytest.mark.parametrize("name", unfinished.FLOWS)
def test_sabotage_a_finish_that_forgets_is_seen(monkeypatch: Patch, name: str) -> None:
    forgetting: Any = lambda *_args, **_fields: None  # noqa: E731
    monkeypatch.setattr(reconciliation, "issuing" if name == "ticket out" else "arriving", forgetting)
    with pytest.raises(AssertionError):
        unfinished.test_half_of_a_flow_is_finished_at_the_next_start(name)


def test_sabotage_a_fill_that_does_not_ask_the_table_first_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(cage_asks, "decide", lambda *_: ())
    with pytest.raises(AssertionError):
        cage.test_nothing_leaves_for_a_table_whose_second_person_has_left_it()


def test_sabotage_an_old_ticket_told_late_is_seen(monkeypatch: Patch) -> None:
    real = money._issued_before
    monkeypatch.setattr(
        money, "_issued_before", lambda ask, issued, number, _age: real(ask, issued, number, 0)
    )
    with pytest.raises((AssertionError, AttributeError)):
        tickets.test_an_id_that_comes_back_late_is_not_told_an_old_ticket()
