"""Attacks that succeed: each waits for a decision of the house, and turns green when that is made."""

from __future__ import annotations

import pytest

from tests.floor.connected import Connected, connected


@pytest.mark.xfail(strict=True, reason="one person enrols a cashier and sets his password, and so can be him")
@connected()
async def test_an_administrator_alone_does_not_become_a_cashier(house: Connected) -> None:
    body = {"person": "Eve Koh", "rank": "cashier", "password": "three dice, one tumbler"}
    answer = await house.request("POST", "/api/staff", body, session=house.session("administrator"))
    assert answer.status != 200, answer.said


@pytest.mark.xfail(strict=True, reason="credits that staff sell for cash have no bound and no second person")
@connected()
async def test_a_dealer_alone_does_not_make_ten_million_credits(house: Connected) -> None:
    dealer = await house.came(house.session("dealer"))
    command = {"command": "buy-credits", "seat": "1", "amount": 1_000_000_000}
    assert (await dealer.answer("do", table="T1", do=command))["tell"] == "refused"
