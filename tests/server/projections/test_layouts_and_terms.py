"""What staff need to know to record a layout and to set terms: colour chips, means, exposure, offers."""

from __future__ import annotations

from msgspec.structs import replace

from taisai.cage.messages import TicketRedeemed
from taisai.game.commands import BuyColour, PlaceBets, Slip, TakeSeat
from taisai.game.vocabulary import Means
from taisai.protocol.replies import DoneReply
from taisai.rules import rulebook
from taisai.rules.clauses import Clause
from taisai.server.handlers.context import answer_to
from taisai.server.projections.console import console_view
from taisai.server.projections.history import History
from taisai.server.projections.seats import seat_view
from taisai.server.projections.table import table_view
from tests.game.playing import MBS, RWS, US, opened
from tests.game.seeded_tables import shown as demonstrated


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


def test_staff_are_shown_the_exposure_and_the_offers_that_new_terms_would_replace() -> None:
    table = opened(rulebook(US)).table
    assert (console_view(table).exposure, console_view(table).odds) == (None, {})
    table.limits = replace(table.limits, exposure=5_000_00)
    table.offers = {"any-triple": "30 to 1"}
    assert (console_view(table).exposure, console_view(table).odds) == (500_000, {"any-triple": "30 to 1"})


def test_a_command_that_changed_nothing_was_done_before() -> None:
    paid = TicketRedeemed(at=1, by="Kim", clause=Clause("house:tickets"), ticket="A-1", amount=700)
    assert answer_to("7", (paid,), amount=700) == DoneReply(to="7", amount=700)
    assert answer_to("7", ()) == DoneReply(to="7", again=True)


def test_a_player_with_colour_chips_is_shown_their_paint_and_lays_them_from_their_terminal() -> None:
    playing = demonstrated(MBS)
    playing.do(TakeSeat, "T08", seat="8", player="Zoe", terminal="T08")
    assert seat_view(playing.table, "8").colour is None
    value = playing.table.limits.least
    playing.commit()
    playing.act("open-bets")
    laid = {"round": 1, "seat": "8", "bets": (Slip("a", "small", 2 * value),), "means": Means.COLOUR_CHIPS}
    assert playing.refused(PlaceBets, "T08", **laid) == "wrong-means house:colour-chips"
    playing.do(BuyColour, "dan", seat="8", colour="red", value=value, pieces=10, paid_with=Means.CASH)
    bought = seat_view(playing.table, "8").colour
    assert bought is not None
    assert (bought.colour.label.zh, bought.colour.paint, bought.value, bought.credits) == (
        "红", "#c0392b", value, 10 * value
    )  # fmt: skip
    playing.do(PlaceBets, "T08", **laid)
    lies = seat_view(playing.table, "8")
    assert (lies.bets, lies.in_colour) == ((Slip("a", "small", 2 * value),), ("a",))
    assert lies.colour is not None
    assert lies.colour.credits == lies.credits == 8 * value
    odd = laid | {"bets": (Slip("b", "small", value + 1),)}
    assert playing.refused(PlaceBets, "T08", **odd) == "bad-value house:colour-chips"
    cash = laid | {"bets": (Slip("b", "small", value),), "means": Means.CASH_CHIPS}
    assert playing.refused(PlaceBets, "T08", **cash) == "wrong-means house:colour-chips"
    own = laid | {"bets": (Slip("b", "small", value),), "means": Means.CREDITS}
    assert playing.refused(PlaceBets, "T08", **own) == "credits-short house:credits"
