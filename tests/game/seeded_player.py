"""A hand that plays at a table by a seed: what is right, what could be, and what nobody should ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random
from typing import Final

from taisai.game import commands as c
from taisai.game import play
from taisai.game.by_hand.messages import BetByHand
from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by, unseen
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Seat, Table
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import (
    CAGE,
    CHIP_READER,
    RECOGNISER,
    RECOVERY,
    SHAKER,
    ClaimEnd,
    DeviceFault,
    Hold,
    Means,
    RecordChange,
    Subject,
    TransferKind,
    Treatment,
)
from taisai.rules import OUTCOMES
from taisai.rules.procedure import CLOCK, Declared
from taisai.rules.vocabulary import Act, Irregularity
from tests.game.machine import MBS, NAMES, NOON, ROLL, US, Watched, inspections
from tests.game.random_commands import AREAS, anything

STEPS: Final = (
    ("proceed",) * 12
    + ("bet",) * 8
    + ("trouble",) * 3
    + ("dice",)
    + ("money",) * 3
    + ("people",)
    + ("wild",) * 4
    + ("again",)
)
"""What a hand does next; the oftener the likelier."""


class Hand:
    """Plays at a table under watch."""

    def __init__(self, under: Watched) -> None:
        self.under = under
        self.clock = NOON
        self.ids = 0

    def step(self, kind: str, seed: int) -> None:
        """One step of a kind."""
        rng = Random(seed)  # the seed is the test's own
        self.clock += (
            rng.choice((1, 1_000, 1_000, 60_000, 60_000)) if rng.random() < 0.985 else 25 * 3_600_000
        )
        command = _KINDS[kind](self, rng)
        if command is not None:
            self.under.ask(command)

    @property
    def table(self) -> Table:
        """The table as it stands."""
        return self.under.table

    def new_id(self) -> str:
        """An id not used before."""
        self.ids += 1
        return f"n{self.ids}"

    def accepted(self, commands: Iterator[c.Command]) -> c.Command | None:
        """The first of several commands that would be done."""
        last = None
        for last in commands:
            decided = play.decide(self.table, last)
            if decided and not isinstance(decided, Refusal):
                return last
        return last

    # What is right

    def proceed(self, rng: Random) -> c.Command | None:
        """Whatever brings the round forward, or clears the way for it; mostly not before someone has bet."""
        round_ = self.table.round
        if round_ is not None and round_.phase.bets_open and not round_.staked and rng.random() < 0.8:
            return self.bet(rng)
        return self.accepted(self._ways(rng))

    def _ways(self, rng: Random) -> Iterator[c.Command]:
        table, at = self.table, self.clock
        if not table.name:
            return
        steps = table.procedure.steps_from(table.phase, table.settings)
        for step in rng.sample(steps, len(steps)):
            yield perform(at, step.by, step.act, rng)
        yield from self._releases(rng)
        if table.dealer() != "dan":
            yield c.Assign(at=at, by=ROLL, person="dan", rank="dealer", position="dealer")
        yield from self._repairs()
        yield c.Reopen(at=at, by="sue", reason="in order", second="vic")
        yield c.ShuffleShoe(at=at, by="dan")
        yield c.LoadShoe(at=at, by="dan", decks=rng.randint(2, 6))
        yield from self._things()
        yield c.ReceiveFill(
            at=at, by="dan", transfer=self.new_id(), amount=rng.choice((20_000, 500_000)), second="sue"
        )

    def _repairs(self) -> Iterator[c.Command]:
        for name, placed in self.table.equipment.placed.items():
            if not placed.working:
                yield c.RepairItem(at=self.clock, by="sue", item=name)

    def _things(self) -> Iterator[c.Command]:
        """What is missing, too old or not inspected."""
        table, at = self.table, self.clock
        outlived = table.equipment.outlived(at, table.settings)
        if outlived is not None and outlived.id in table.equipment.placed:
            yield c.RemoveItem(at=at, by="dan", item=outlived.id)
        for item in table.equipment.in_use(table.settings):
            if item.id not in table.equipment.placed:
                yield c.PlaceItem(at=at, by="dan", item=item.id, serial=self.new_id())
        for command in inspections(table, at):
            if isinstance(command, c.PlaceItem):
                continue
            if not isinstance(command, c.Inspect) or not _holds(table, command):
                yield command

    def _releases(self, rng: Random) -> Iterator[c.Command]:
        table, at = self.table, self.clock
        held = table.held
        if held is None:
            return
        if held.hold is Hold.DECLARATION:
            if rng.random() < 0.6:
                yield self._declaration(rng)
            yield c.Declare(at=at, by="dan", declared=rng.choice(list(Declared)), second="sue")
        elif held.hold is Hold.WITHDRAWAL:
            if rng.random() < 0.8:
                for seat in table.seats.values():
                    yield c.ChooseWithdrawal(
                        at=at, by=seat.terminal or "dan", seat=seat.name, withdraw=rng.random() < 0.8
                    )
            yield c.CloseWithdrawal(at=at, by="dan", others_stay=rng.random() < 0.7)
        elif held.hold is Hold.SETTLEMENT:
            returned = {name: rng.choice((0, 100, 5_000)) for name in table.seats}
            yield c.EnterSettlement(
                at=at, by="dan", second="sue", evidence="camera 4", reason="the power was down",
                returned=returned if rng.random() < 0.5 else {}, witnessed=rng.random() < 0.7,
            )  # fmt: skip
        yield from self._waiting(rng)
        treatments = (Treatment.CONTINUE, Treatment.VOID, Treatment.RE_OPEN, *[Treatment.TREAT_BETS] * 3)
        live = [bet.id for bet in table.round.live()] if table.round else []
        for referral in table.referrals.values():
            if referral.decided_by is None and referral.holds:
                yield c.DecideReferral(
                    at=at, by="sue", referral=referral.id, reason="so be it", second="vic",
                    treatment=rng.choice(treatments),
                    bets={one: rng.choice((None, None, "small", "big")) for one in live[:2]},
                )  # fmt: skip

    def _waiting(self, rng: Random) -> Iterator[c.Command]:
        """A second person confirms or contests what one person reported."""
        for report in self.table.reports.values():
            by = rng.choice([name for name in ("sue", "vic") if name != report.by])
            if rng.random() < 0.3:
                yield c.ContestReport(
                    at=self.clock, by=by, report=report.id, reason=rng.choice(("it lay flat", ""))
                )
            yield c.ConfirmReport(at=self.clock, by=by, report=report.id)

    def _declaration(self, rng: Random) -> c.Command:
        """What happened at a live table while nothing was recorded."""
        seen = rng.random() < 0.4
        if rng.random() < 0.15:
            return c.DeclareUnrecorded(
                at=self.clock, by="dan", second="sue", called=True, seen=True, tumbles=3,
                early=rng.random() < 0.4,
                faces=tuple(rng.choice(OUTCOMES).faces), settled=True,
            )  # fmt: skip
        return c.DeclareUnrecorded(
            at=self.clock, by="dan", second="sue", called=rng.random() < 0.6, seen=seen,
            early=seen and rng.random() < 0.5, tumbles=rng.choice((0, 0, 2, 3, 2_000)),
            faces=rng.choice(((), (), tuple(rng.choice(OUTCOMES).faces))), settled=rng.random() < 0.1,
        )  # fmt: skip

    def bet(self, rng: Random) -> c.Command | None:  # noqa: PLR0911  one way to bet after the other
        """Bets of a seat, mostly as they should be."""
        table = self.table
        if not table.phase.bets_open and rng.random() < 0.7:
            return self.proceed(rng)
        taken = [seat for seat in table.seats.values() if seat.taken]
        if not taken:
            return self.seat(rng)
        seat = rng.choice(taken)
        number = table.round.number if table.round else len(table.rounds) + 1
        mine = [bet.id for bet in table.round.live() if bet.seat == seat.name] if table.round else []
        at, staff = self.clock, rng.choice(("dan", "dan", CHIP_READER))
        if mine and rng.random() < 0.25:
            by = seat.terminal or staff
            ids = tuple(rng.sample(mine, rng.randint(1, len(mine))))
            return c.TakeBack(at=at, by=by, round=number, seat=seat.name, ids=ids)
        if mine and rng.random() < 0.2:
            area = rng.choice(("small", "big", *AREAS))
            return c.MoveBet(at=at, by=staff, round=number, id=rng.choice(mine), area=area, second="sue")
        if table.book.record is not None and seat.terminal is None and rng.random() < 0.1:
            return self.correct_record(rng, seat)
        stakes = (200, 200, 400, 1_000) if rng.random() < 0.8 else (100, 50, 201, 20_000, 5_000)
        areas = tuple(seat.terms.rows) if seat.terms is not None and rng.random() < 0.9 else AREAS
        if seat.terminal is not None:
            slips = self._slips(rng, stakes, areas)
            return c.PlaceBets(at=at, by=seat.terminal, round=number, seat=seat.name, bets=slips)
        means = rng.choice([Means(one) for one in table.means if one != Means.CREDITS] or [Means.CASH])
        if seat.colour_value and rng.random() < 0.6:
            slips = self._slips(rng, (2, 4, 10) if rng.random() < 0.8 else (1, 3, 200), areas)
            return c.RecordBets(
                at=at, by=staff, round=number, bets=slips, means=Means.COLOUR_CHIPS, colour=seat.colour
            )
        return c.RecordBets(
            at=at, by=staff, round=number, bets=self._slips(rng, stakes, areas), means=means, seat=seat.name,
            at_request=rng.random() < 0.1,
        )  # fmt: skip

    def correct_record(self, rng: Random, seat: Seat) -> c.Command:
        """A correction of the record, of the round in play or of an earlier one."""
        table = self.table
        newest = len(table.rounds) + (table.round is not None)
        number = rng.randint(max(1, newest - 2), max(1, newest))
        round_ = table.round if table.round and table.round.number == number else table.glance(number)
        bets = [bet.id for bet in round_.live()] if round_ is not None else []
        return c.CorrectRecord(
            at=self.clock, by=rng.choice(("sue", "sue", "dan")), round=number,
            change=rng.choice([*RecordChange]),
            id=rng.choice(bets) if bets and rng.random() < 0.8 else self.new_id(), seat=seat.name,
            means=rng.choice((Means.CASH_CHIPS, Means.CASH_CHIPS, Means.COLOUR_CHIPS)),
            area=rng.choice(("small", "big", *AREAS)), stake=rng.choice((200, 200, 400, 1_000, 2)),
            reason="as it lay", evidence="camera 4", second=rng.choice(("vic", "vic", None)),
        )  # fmt: skip

    def _slips(self, rng: Random, stakes: tuple[int, ...], areas: tuple[str, ...]) -> tuple[c.Slip, ...]:
        return tuple(
            c.Slip(self.new_id(), rng.choice(areas), rng.choice(stakes))
            for _ in range(rng.choice((1, 1, 2, 4)))
        )

    def seat(self, rng: Random) -> c.Command:
        """Someone sits down or gets up."""
        name, at = rng.choice("12345"), self.clock
        seat = self.table.seats.get(name)
        if seat is not None and seat.taken:
            if rng.random() < 0.3:
                return c.ShowLayout(at=at, by=seat.terminal or "dan", seat=name, layout=rng.choice("ABC"))
            return c.LeaveSeat(at=at, by=seat.terminal or "dan", seat=name)
        if Means.CREDITS in self.table.means or rng.random() < 0.2:
            return c.TakeSeat(at=at, by=f"t{name}", seat=name, terminal=f"t{name}", layout=rng.choice("ABC"))
        return c.TakeSeat(at=at, by="dan", seat=name)

    def money(self, rng: Random) -> c.Command | None:
        """Money comes and goes."""
        at, table = self.clock, self.table
        seat = rng.choice(list(table.seats) or ["1"])
        by = (table.seats[seat].terminal if seat in table.seats else None) or "dan"
        colour = (table.seats[seat].colour if seat in table.seats else None) or rng.choice(
            ("red", "blue", "jade")
        )
        value = (table.seats[seat].colour_value if seat in table.seats else 0) or rng.choice((100, 100, 500))
        session = table.seats[seat].session if seat in table.seats else 1
        claim = rng.choice(list(table.claims) or ["c1"])
        how = rng.choice(list(ClaimEnd))
        return rng.choice(
            (
                c.BuyCredits(at=at, by=by, seat=seat, amount=rng.choice((20_000, 1_000))),
                c.BuyColour(
                    at=at, by="dan", seat=seat, colour=colour, value=value, pieces=rng.choice((10, 100)),
                    paid_with=rng.choice((Means.CASH, Means.CASH_CHIPS)), marker=value,
                ),
                c.CashColour(at=at, by="dan", seat=seat, pieces=rng.choice((1, 50, 300))),
                c.ReceiveTicket(
                    at=at, by=CAGE, transfer=self.new_id(), seat=seat, amount=3_000, session=session
                ),
                c.DispenseCredits(at=at, by=by, transfer=self.new_id(), seat=seat),
                c.SendCredit(
                    at=at, by="dan", transfer=self.new_id(), second="sue",
                    amount=rng.choice((5_000, table.ledger.balances[Account.CHIPS])),
                ),
                c.SendDrop(at=at, by="dan", transfer=self.new_id(), second="sue"),
                c.SettleClaim(
                    at=at, by="sue", claim=claim, how=how, reason="agreed", second="vic",
                    transfer=self.new_id() if how is ClaimEnd.CAGE else None,
                ),
                self.seat(rng),
                self.archived(rng, self.seat(rng)),
            )
        )  # fmt: skip

    def archived(self, rng: Random, otherwise: c.Command | None) -> c.Command | None:
        """Transfers of tickets that are over leave the table, where there are a few; else something else."""
        kinds = (TransferKind.TICKET, TransferKind.DISPENSED)
        names = [name for name, booked in self.table.transfers.items() if booked.kind in kinds]
        by = rng.choice((CAGE, CAGE, CAGE, "dan"))
        if len(names) < 2:
            return otherwise
        return c.ArchiveTransfers(at=self.clock, by=by, transfers=tuple(names[:2]))

    def leave(self, _rng: Random) -> c.Command | None:
        """The round is finished, everybody goes with what is his, the table is closed."""
        return self.accepted(self._ways_out())

    def _ways_out(self) -> Iterator[c.Command]:
        table, at = self.table, self.clock
        if table.round is not None:
            yield from self._ways(Random(self.clock))
        for seat in table.seats.values():
            yield c.DispenseCredits(at=at, by=seat.terminal or "dan", transfer=self.new_id(), seat=seat.name)
            has = sum(purse.credits for purse in seat.purses.values())
            if seat.colour_value and has:
                pieces = has // seat.colour_value
                yield c.CashColour(at=at, by="dan", seat=seat.name, pieces=pieces)
                yield c.ReceiveFill(at=at, by="dan", transfer=self.new_id(), amount=900_000, second="sue")
        for seat in table.seats.values():
            yield c.LeaveSeat(at=at, by=seat.terminal or "dan", seat=seat.name)
        for claim in table.claims:
            yield c.SettleClaim(
                at=at, by="sue", claim=claim, how=ClaimEnd.WAIVE, reason="closing", second="vic"
            )
        for referral in table.referrals.values():
            yield c.DecideReferral(
                at=at, by="sue", referral=referral.id, treatment=Treatment.STANDS, reason="closing"
            )
        yield c.SendDrop(at=at, by="dan", transfer=self.new_id(), second="sue")
        tray = table.ledger.balances[Account.CHIPS]
        yield c.SendCredit(at=at, by="dan", transfer=self.new_id(), amount=tray, second="sue")
        yield c.CloseTable(at=at, by="sue")

    def by_hand(self, rng: Random) -> c.Command:
        """A round that was played while the system was down."""
        seats = [name for name, seat in self.table.seats.items() if seat.taken]
        is_void = rng.random() < 0.2
        return c.EnterRound(
            at=self.clock, by="dan", second="sue", evidence="camera 4", reason="the power was down",
            bets=tuple(
                BetByHand(name, Means.CASH_CHIPS, rng.choice(("small", "big")), 100) for name in seats[:2]
            ),
            void=is_void, faces=() if is_void else tuple(rng.choice(OUTCOMES).faces),
        )  # fmt: skip

    def people(self, rng: Random) -> c.Command | None:
        """People come and go, days and shifts begin, things are brought and taken."""
        at, table = self.clock, self.table
        ranks = table.ranks.ranks()
        rank = rng.choice(ranks)
        item = rng.choice(list(table.equipment.items) or ["dice"])
        limits = Limits(least=rng.choice((100, 50)), most=5_000, exposure=rng.choice((None, 1_000_000)))
        decks = table.shoe.expected()
        return rng.choice(
            (
                c.Assign(at=at, by=ROLL, person=NAMES[rank], rank=rank, position=rank),
                c.Assign(at=at, by=rng.choice((ROLL, "sue", "eve")), person="eve", rank=rank, position=rank),
                c.Leave(at=at, by="sue", person=rng.choice(("eve", "pia", "dan"))),
                c.BeginDay(at=at, by="sue", day=f"2026-12-{rng.randint(1, 31):02}"),
                c.BeginShift(at=at, by="sue", shift="night"),
                c.SetLimits(at=at, by="sue", limits=limits, second="vic"),
                c.OfferOdds(at=at, by="sue", offers=rng.choice(({}, {"double-2": "9.5 to 1"})), second="vic"),
                c.Shut(at=at, by="sue", reason="a spill"),
                c.RemoveItem(at=at, by="dan", item=item),
                c.PlaceItem(at=at, by="dan", item=item, serial="s2"),
                c.CountCards(at=at, by="dan", found=decks if rng.random() < 0.8 else (1,) * 6),
                self.by_hand(rng),
                self.proceed(rng),
            )
        )

    # What devices see

    def dice(self, rng: Random) -> c.Command | None:
        """A device tells what it saw; where the table demonstrates, mostly by its seed."""
        if self.table.demonstration and rng.random() < 0.8:
            return self.accepted(self._seeded(rng))
        return self._seen(RECOGNISER, tuple(rng.choice(OUTCOMES).faces), rng)

    def _seen(self, by: str, faces: tuple[int, ...], rng: Random) -> c.Command:
        round_ = self.table.round
        fault = rng.choice(list(DeviceFault)) if rng.random() < 0.3 else None
        return c.TakeReading(
            at=self.clock, by=by, reading=self.new_id(), round=round_.number if round_ else 1, device="eye",
            shake=round_.shakes if round_ else 1, faces=() if fault else faces, fault=fault,
        )  # fmt: skip

    def _seeded(self, rng: Random) -> Iterator[c.Command]:
        """Whatever comes next of seed, draw and seed revealed."""
        table, at, is_open = self.table, self.clock, self.table.commitment
        number = is_open.round if is_open else len(table.rounds) + 1
        seed, close = sha256(b"%d" % number).digest(), sha256(b"close").digest()
        yield c.CommitSeed(
            at=at, by=SHAKER, round=number, commitment=sha256(seed).hexdigest(), source="a test"
        )
        round_ = table.round
        if round_ is not None and round_.number == number:
            if round_.drawn is None or rng.random() < 0.2:
                throw = Throw(table.name, number, round_.shakes, close)
                yield self._seen(SHAKER, drawn_by(seed, throw, unseen(table)), rng)
        elif number <= len(table.rounds):
            round_ = table.rounds.glance(number)
        drawn = round_.drawn if round_ else None
        hash_ = close.hex() if drawn else ""
        yield c.RevealSeed(
            at=at, by=SHAKER, round=number, seed=seed.hex(), close=1 if drawn else 0, hash=hash_,
            faces=drawn.faces if drawn else (),
        )  # fmt: skip

    # What goes wrong

    def trouble(self, rng: Random) -> c.Command | None:
        """Something happens, or someone decides what had happened."""
        table, at = self.table, self.clock
        rounds = [None, None, *range(1, len(table.rounds) + 2)]
        open_ones = [one.id for one in table.referrals.values() if one.decided_by is None] or ["r1"]
        bets = [bet.id for bet in table.round.live()] if table.round else []
        seat = rng.choice(list(table.seats) or ["1"])
        wrong = c.ReportIrregularity(
            at=at, by="dan", event=Irregularity.WRONG_RESULT, round=rng.choice(rounds),
            faces=tuple(rng.choice(OUTCOMES).faces), second=rng.choice(("sue", "sue", None)),
        )  # fmt: skip
        report = c.ReportIrregularity(
            at=at, by=rng.choice(("dan", "sue")), event=rng.choice(list(Irregularity)),
            round=rng.choice(rounds), through=rng.choice((None, None, len(table.rounds))),
            seen=rng.random() < 0.3, faces=tuple(rng.choice(OUTCOMES).faces),
            second=rng.choice(("vic", "vic", None)),
            item=rng.choice((None, None, None, "dice", "lights", "automated-shaker", "t2")),
        )  # fmt: skip
        decide = c.DecideReferral(
            at=at, by="sue", referral=rng.choice(open_ones), treatment=rng.choice(list(Treatment)),
            reason="as I see it", round=rng.choice(rounds), faces=tuple(rng.choice(OUTCOMES).faces),
            bets={one: rng.choice((None, *AREAS[:4])) for one in bets[:2]}, second="vic",
        )  # fmt: skip
        by = (table.seats[seat].terminal if seat in table.seats else None) or "dan"
        call = c.CallAttendant(
            at=at, by=by, seat=seat, subject=rng.choice(list(Subject)), round=rng.choice(rounds)
        )
        choose = c.ChooseWithdrawal(at=at, by=by, seat=seat, withdraw=rng.random() < 0.6)
        recover = c.Recover(at=at, by=RECOVERY, stopped_for=rng.choice((None, None, 100, 60_000)))
        unclear = c.ReportIrregularity(at=at, by="dan", event=Irregularity.CHIPS_UNCLEAR)
        if table.round and table.round.staked and table.phase.settlement_recorded and rng.random() < 0.5:
            return unclear
        power = c.ReportIrregularity(at=at, by="dan", event=Irregularity.POWER_FAILURE)
        # Only one book lets players withdraw after it, and only while bets lie over dice that are not seen.
        if rng.random() < (0.4 if table.book.id == MBS and table.round and table.round.staked else 0.1):
            return power
        if table.held is not None and table.held.hold is Hold.WITHDRAWAL:
            return rng.choice((choose, choose, c.CloseWithdrawal(at=at, by="dan"), recover))
        if table.book.id == US and table.round and rng.random() < 0.4:
            # Together they void the round, and the referral of the device ends.
            event = rng.choice((Irregularity.EQUIPMENT_FAILURE, Irregularity.DIE_NOT_FLAT))
            return c.ReportIrregularity(at=at, by="dan", event=event, second="sue")
        if table.reports and rng.random() < 0.4:
            return next(self._waiting(rng))
        return rng.choice(
            (wrong, wrong, report, report, report, decide, decide, decide, call, recover, choose)
        )

    def wild(self, rng: Random) -> c.Command:
        """Any command with anything in it that its types allow."""
        return anything(self.table, self.clock, self.new_id, rng)

    def again(self, rng: Random) -> c.Command | None:
        """Something that was done, asked once more."""
        if not self.under.done:
            return None
        return rng.choice((rng.choice(self.under.done), rng.choice(self.under.done[-5:])))


def _holds(table: Table, command: c.Inspect) -> bool:
    """Whether what would be inspected has been."""
    return len([one for one in table.equipment.inspected if one[0] == command.item]) >= len(
        table.equipment.items[command.item].inspections
    )


def perform(at: int, by: str, act: Act, rng: Random) -> c.Perform:
    """An act, mostly as it should be done."""
    return c.Perform(
        at=at, by=CLOCK if by == CLOCK else "dan", act=act, second="sue",
        tumbles=rng.choice((3, 3, 3, 3, 4, 1)) if act is Act.TUMBLE else 0,
        faces=tuple(rng.choice(OUTCOMES).faces) if act is Act.ENTER_RESULT else (),
        flat=rng.random() < 0.93 or act is not Act.ENTER_RESULT,
    )  # fmt: skip


_KINDS: Final[dict[str, Callable[[Hand, Random], c.Command | None]]] = {
    "proceed": Hand.proceed,
    "bet": Hand.bet,
    "money": Hand.money,
    "people": Hand.people,
    "trouble": Hand.trouble,
    "dice": Hand.dice,
    "wild": Hand.wild,
    "again": Hand.again,
    "leave": Hand.leave,
}
