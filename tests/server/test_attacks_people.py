"""Attacks on the House's own people: nobody becomes someone else, or makes money, by himself."""

from __future__ import annotations

from tests.server.virtual_server import Connected, connected


@connected()
async def test_an_administrator_alone_does_not_become_a_cashier(house: Connected) -> None:
    body = {"person": "Eve Koh", "rank": "cashier", "password": "three dice, one tumbler"}
    answer = await house.request("POST", "/api/staff", body, session=house.session("administrator"))
    assert (answer.status, answer.reason) == (403, "second-person")


@connected()
async def test_a_dealer_alone_does_not_make_ten_million_credits(house: Connected) -> None:
    dealer = await house.came(house.session("dealer"))
    command = {"command": "buy-credits", "seat": "1", "amount": 1_000_000_000}
    assert (await dealer.answer("do", table="T1", do=command))["type"] == "refused"
