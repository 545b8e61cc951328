"""What staff need to know to record a layout and to set terms: colour chips, means, exposure, offers."""

from __future__ import annotations

from msgspec.structs import replace

from taisai.floor.telling import answer_to
from taisai.floor.views import History, console_view, table_view
from taisai.game.cage.messages import TicketRedeemed
from taisai.game.commands import BuyColour, TakeSeat
from taisai.game.words import Means
from taisai.rules import rulebook
from taisai.rules.clauses import Clause
from taisai.wire.tells import TellDone
from tests.game.playing import MBS, RWS, US, opened


def test_a_seat_tells_its_colour_and_what_one_chip_is_worth() -> None:
    playing = opened(rulebook(MBS))
    playing.do(TakeSeat, "dan", seat="8", player="Zoe")
    before = next(line for line in console_view(playing.table).seats.shown if line.seat == "8")
    assert (before.colour, before.colour_value) == (None, 0)
    value = playing.table.limits.least
    playing.do(BuyColour, "dan", seat="8", colour="red", value=value, pieces=10, paid_with=Means.CASH)
    after = next(line for line in console_view(playing.table).seats.shown if line.seat == "8")
    assert (after.colour, after.colour_value, after.credits) == ("red", value, 10 * value)


def test_a_table_tells_what_bets_are_made_with() -> None:
    means = {book: set(_facts(book)) for book in (MBS, RWS, US)}
    assert means == {MBS: {"colour-chips", "cash-chips"}, RWS: {"credits"}, US: {"cash-chips", "plaques"}}


def _facts(book: str) -> tuple[str, ...]:
    table = opened(rulebook(book)).table
    return table_view(table, History.of(table)).table.means


def test_staff_are_told_the_exposure_and_the_offers_that_new_terms_would_replace() -> None:
    table = opened(rulebook(US)).table
    assert (console_view(table).exposure, console_view(table).offers) == (None, {})
    table.limits = replace(table.limits, exposure=5_000_00)
    table.offers = {"any-triple": "30 to 1"}
    assert (console_view(table).exposure, console_view(table).offers) == (500_000, {"any-triple": "30 to 1"})


def test_whoever_redeems_a_ticket_is_told_what_to_pay() -> None:
    paid = TicketRedeemed(at=1, by="Kim", clause=Clause("house:tickets"), ticket="A-1", amount=700)
    assert answer_to("7", (paid,)) == TellDone(re="7", ticket="A-1", amount=700)
    assert answer_to("7", ()) == TellDone(re="7", again=True)
