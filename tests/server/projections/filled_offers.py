"""Filling in an offer as someone sensible would, with people who are really at the table."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from taisai.game import Table
from taisai.game import commands as c
from taisai.game.commands import Command
from taisai.game.rounds.round import Round
from taisai.protocol import commands
from taisai.protocol.views import Blank, Offer
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.vocabulary import Act, Phase


def who(table: Table, offer: Offer, random: Random) -> str | None:
    """Someone at the table in a position that the offer names; None where there is nobody."""
    if offer.by == ("clock",):
        return "clock"
    able = [name for name, one in table.people.items() if one.position in offer.by]
    if offer.command in ("confirm-report", "contest-report"):
        reporter = table.reports[offer.preset["report"]].by
        able = [name for name in able if name != reporter]
    return random.choice(able) if able else None


def filled(table: Table, offer: Offer, by: str, random: Random) -> dict[str, Any] | None:
    """The fields of the command; None where nobody is there to be the second person."""
    fields: dict[str, Any] = dict(offer.preset)
    for blank in sorted(offer.blanks, key=lambda one: one.field != "round"):
        if (blank.optional and blank.field not in ("entered", "lit")) or blank.when is not None:
            continue
        if blank.kind == "second":
            positions = {choice.value for choice in blank.choices}
            others = [n for n, one in table.people.items() if n != by and one.position in positions]
            if not others:
                return None
            fields["second"] = random.choice(others)
        else:
            fields[blank.field] = _value(table, offer, blank, fields, random)
    if offer.command == "enter-round":
        fields["void"] = True
    return fields | (_chip(table, fields, random) if offer.command == "correct-record" else {})


def _chip(table: Table, fields: dict[str, Any], random: Random) -> dict[str, Any]:
    """A chip that was not recorded, of someone who could have laid it: the least that may lie there."""
    round_ = _round(table, fields["round"])
    assert round_ is not None
    terms = table.in_force[round_.terms][table.layout]
    row = random.randrange(len(terms.least))
    there = [
        name
        for name, seated in round_.seated.items()
        if (round_.settled and round_.phase in (Phase.PAID, Phase.BETWEEN))
        or (
            seated.memory_key not in round_.withdrawn
            and table.seats[name].taken
            and table.seats[name].session == seated.session
        )
    ]
    stake = -(-terms.least[row] // terms.steps[row]) * terms.steps[row]
    area = str(terms.matrix.areas[row])
    return {
        "change": "add",
        "seat": random.choice(there),
        "means": "cash-chips",
        "area": area,
        "stake": stake,
    }


def _value(table: Table, offer: Offer, blank: Blank, fields: dict[str, Any], random: Random) -> Any:
    own: dict[str, Callable[[], Any]] = {
        "faces": lambda: _faces(table, offer, fields, random),
        "round": lambda: _number(table, offer, blank, fields, random),
        "entered": lambda: [1, 2, 3] if fields["item"] == "electrical-device" else [],
        "lit": lambda: _lit(table) if fields["entered"] else [],
        "found": lambda: list(table.shoe.expected()),
        "limits": lambda: {"least": 100, "most": 20_000},
        "offers": lambda: {"double-2": "9.5 to 1"},
        "returned": dict,
        "bets": lambda: (
            []
            if blank.kind == "bets-by-hand"
            else {random.choice(table.round.live()).id: None}
            if table.round
            else {}
        ),
        "day": lambda: f"{int(table.day[:4]) + 1}-01-01",
    }
    return own[blank.field]() if blank.field in own else _plain(blank, random)


def _treated(table: Table, random: Random) -> dict[str, None]:
    return {random.choice(table.round.live()).id: None} if table.round else {}


def _lit(table: Table) -> list[str]:
    return list(map(str, table.terms[table.layout].matrix.illuminated(OUTCOMES[7])))


def _number(table: Table, offer: Offer, blank: Blank, fields: dict[str, Any], random: Random) -> int:
    """A round that is not void; one with a result, where it is corrected."""
    listed = [int(choice.value) for choice in blank.choices]
    if listed:
        return random.choice(listed)
    rounds = [one for number in range(1, len(table.rounds) + 2) if (one := _round(table, number))]
    void = fields.get("treatment") == "void-rounds"
    void = void or offer.command == "correct-record"
    fit = [one.number for one in rounds if not one.voided and (void or one.result)]
    return random.choice(fit or [one.number for one in rounds])


def _plain(blank: Blank, random: Random) -> Any:
    if blank.kind == "choice":
        return random.choice(blank.choices).value
    if blank.kind == "whole":
        assert blank.least is not None
        assert blank.most is not None
        return random.randint(blank.least, min(blank.most, blank.least + 2))
    if blank.kind == "yes-no":
        return True
    assert blank.kind == "text", blank
    return f"s{random.getrandbits(32)}"


def _round(table: Table, number: int) -> Round | None:
    return table.round if table.round and table.round.number == number else table.past(number)


def _faces(table: Table, offer: Offer, fields: dict[str, Any], random: Random) -> list[int]:
    """Faces that the decks hold; other ones than were keyed, where a result is corrected."""
    in_hand = table.round.number if table.round else 0
    number = fields.get("round") or _of_referral(table, fields) or in_hand
    round_ = _round(table, number)
    keyed = round_.result if round_ is not None and offer.command != "perform" else None
    instead = tuple(keyed.faces) if keyed else ()
    # Of cards that were shuffled away since, nothing is known.
    known = table.shoe.used and (keyed is None or round_ is None or round_.shuffle == table.shoe.shuffles)
    fit = [
        outcome
        for outcome in OUTCOMES
        if outcome is not keyed and (not known or table.shoe.can_hold(outcome.faces, instead_of=instead))
    ]
    return [int(face) for face in random.choice(fit).faces]


def _of_referral(table: Table, fields: dict[str, Any]) -> int | None:
    referral = table.referrals.get(fields.get("referral", ""))
    return referral.round if referral else None


def command_of(offer: Offer, fields: dict[str, Any], *, at: int, by: str) -> Command:
    """The command that a page would send for an offer, as the server would give it to the table."""
    second = fields.get("second")
    if by == "clock":  # which is no client
        return c.Perform(at=at, by=by, act=Act(fields["act"]))
    sent = commands.command(offer.command, **{name: one for name, one in fields.items() if name != "second"})
    completed = commands.completed(sent, at=at, by=by, second=second)
    assert isinstance(completed, Command)
    return completed
