"""A request that waits for a second person, in words: all that it changes, read from the request itself.

The page of the person who asks has no say in these words. So nobody can have something else approved than
what the second person reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from taisai.game import Table
from taisai.game.money.ledger import Account
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import ClaimEnd, Means, RecordChange, Treatment
from taisai.protocol.bodies import RequestBody
from taisai.protocol.commands import tag_of
from taisai.protocol.message import Request
from taisai.protocol.requests import DoRequest, TakeDropRequest
from taisai.protocol.views import ApprovalField, Offer, Words
from taisai.rules.areas import AreaId
from taisai.rules.procedure import Declared
from taisai.rules.vocabulary import Act, Irregularity
from taisai.server.projections import texts
from taisai.server.projections.offers import irregularities, offers
from taisai.server.projections.record_offers import MEANS, RECORD_CHANGES

REQUESTS: Final[Mapping[str, Words]] = {
    "buy-credits": Words("Sell credits", "售出积分"),
    "bring-in": Words("Bring owners' money into the cage", "股东资金注入账房"),
    "count-drop": Words("Count a drop box", "清点钱箱"),
    "decide-referral": Words("Decide a referred question", "裁决上报事项"),
    "fill": Words("Send chips from the cage to the tray", "由账房为赌桌补筹"),
    "move-bet": Words("Move a bet", "移动投注"),
    "override-witness": Words("Let money leave without the witness", "允许资金在没有见证方时离场"),
    "perform": Words("Take a step of the round", "执行本局步骤"),
    "redeem-ticket": Words("Redeem a ticket", "兑付票券"),
    "report": Words("Report an irregularity", "报告异常"),
    "sell-ticket": Words("Sell a ticket", "售出票券"),
    "settle-claim": Words("Settle a claim", "了结款项"),
    "take-credit": Words("Send chips from the tray to the cage", "赌桌筹码退回账房"),
    "take-drop": Words("Take the drop box to the count", "取走钱箱送点"),
    "take-out": Words("Take owners' money out of the cage", "从账房提取股东资金"),
}
"""Requests and commands without a text elsewhere."""
ENDPOINTS: Final[Mapping[str, Words]] = {
    "POST /api/staff": Words(
        "Enrol a person, change their rank, or give them a code for a first sign-in",
        "登记人员、更改其职级，或发放首次登录激活码",
    ),
    "DELETE /api/staff": Words("Remove a person from the staff list", "将人员从员工名单移除"),
    "POST /api/staff/{person}/unlock": Words("Unlock a person", "为人员解锁"),
    "POST /api/devices": Words("Enrol a device where it is in play", "在使用中的座位或赌台登记设备"),
}
"""Endpoints that take an approval."""
RANKS: Final[Mapping[str, Words]] = {
    "auditor": Words("Auditor", "审计员"),
    "cashier": Words("Cashier", "账房员"),
    "dealer": Words("Dealer", "荷官"),
    "floorperson": Words("Floorperson", "楼面主管"),
    "pit-supervisor": Words("Pit Supervisor", "赌区主管"),
    "pit-manager": Words("Pit Manager", "赌区经理"),
    "casino-supervisor": Words("Casino Supervisor", "赌场主管"),
    "shift-manager": Words("Shift Manager", "值班经理"),
    "administrator": Words("Administrator", "管理员"),
}
LABELS: Final[Mapping[str, Words]] = {
    "act": Words("Step", "步骤"),
    "activate": Words(
        "Code for a first sign-in; their old password and authenticator end",
        "首次登录激活码；原密码与验证器失效",
    ),
    "amount": Words("Amount", "金额"),
    "area": Words("Area", "投注区"),
    "claim": Words("Claim", "款项"),
    "counted": Words("Counted", "清点金额"),
    "declared": Words("Declared", "声明"),
    "device": Words("Device", "设备"),
    "event": Words("Irregularity", "异常"),
    "exposure": Words("Most the house may lose on one outcome", "庄家单一结果最高损失"),
    "hours": Words("Hours", "小时"),
    "how": Words("How", "方式"),
    "key": Words("Key", "密钥"),
    "kind": Words("Kind", "种类"),
    "least": Words("Minimum", "最低"),
    "most": Words("Maximum", "最高"),
    "new_id": Words("New bet", "新投注"),
    "now": Words("Rank now", "目前职级"),
    "referral": Words("Question", "事项"),
    "stake": Words("Stake", "注额"),
    "ticket": Words("Ticket that ends with", "票券尾号"),
    "transfer": Words("Transfer", "转账"),
    "treatment": Words("Decision", "裁决"),
}
"""Labels of fields, beside those of forms."""
YES: Final = Words("yes", "是")
NO: Final = Words("no", "否")
TO_PLAYER: Final = Words("The house pays the player of seat {seat}", "庄家付给座位 {seat} 的玩家")
BY_PLAYER: Final = Words("The player of seat {seat} pays the house", "座位 {seat} 的玩家付给庄家")
RETURNED: Final = Words("returned", "退还")
HANDED_BACK: Final = Words(
    "Handed back to seat {seat}, stake and winnings together", "座位 {seat} 实收（本金连彩金）"
)
AT_SEAT: Final = Words("{area}, seat {seat}", "{area}，座位 {seat}")
SHOWN_OF_TICKET: Final = 4
"""Signs of a ticket's number that the second person sees."""
_MONEY: Final = frozenset({"amount", "counted", "exposure", "least", "most", "stake"})
_ENUMS: Final[Mapping[type, Mapping[Any, Words]]] = {
    Act: texts.ACTS,
    ClaimEnd: texts.CLAIMS,
    Declared: texts.DECLARED,
    Irregularity: texts.IRREGULARITIES,
    Means: MEANS,
    RecordChange: RECORD_CHANGES,
    Treatment: texts.TREATMENTS,
}
_OF_BETS: Final = frozenset({"correct-record", "move-bet"})
_NOT_SHOWN: Final = frozenset({"approval", "do", "table"})
"""Fields of requests that are shown elsewhere."""
_SHOWN_FALSE: Final = frozenset({"flat", "passed", "seen", "witnessed"})
"""Facts whose absence matters."""


class RequestInWords(NamedTuple):
    """What a request does, in words."""

    what: Words
    then: Words | None = None
    seat: str | None = None
    fields: tuple[ApprovalField, ...] = ()
    seconds: tuple[str, ...] = ()
    """The ranks of second persons at the table; none without one."""


def request_in_words(
    request: Request, table: Table | None, now: int, amount: int | None = None
) -> RequestInWords:
    """A request on the socket.

    `table`: the table that it is for, if it is open. `amount`: the money that moves, if the request does not
    say it.
    """
    sent: Any = request.do if isinstance(request, DoRequest) else request
    tag = tag_of(request.do) if isinstance(request, DoRequest) else str(request.__struct_config__.tag)
    what = texts.COMMANDS.get(tag) or REQUESTS.get(tag) or Words(tag, tag)
    then: Words | None = None
    seconds: tuple[str, ...] = ()
    if table is not None:
        ladder = table.ranks.ranks()
        seconds = ladder[ladder.index(table.ranks.second) :]
        event = getattr(sent, "event", None)
        if isinstance(event, Irregularity):
            what = texts.joined(what, texts.IRREGULARITIES[event])
            then = irregularities(table, now, (event,))[0].says
        elif isinstance(request, DoRequest) and (offer := _offer(request, table, now)) is not None:
            what, then, seconds = offer.label, offer.then, _seconds(offer) or seconds
    fields = tuple(_fields(sent, table, has_bet=tag in _OF_BETS))
    if isinstance(request, TakeDropRequest) and table is not None:
        amount = table.ledger.balances[Account.DROP]
    if amount is not None:
        fields += (_amount(LABELS["amount"], amount),)
    return RequestInWords(what, then, getattr(sent, "seat", None), fields, seconds)


def endpoint_in_words(
    endpoint: str, person: str | None, body: RequestBody, rank_now: str | None
) -> RequestInWords:
    """A request to an endpoint. `rank_now`: the rank that the person has on the staff list."""
    fields = tuple(_fields(body, None))
    if person is not None:
        fields = (ApprovalField(label=texts.FIELDS["person"], value=_plain(person)), *fields)
    if rank_now is not None:
        fields += (ApprovalField(label=LABELS["now"], value=RANKS.get(rank_now) or _plain(rank_now)),)
    return RequestInWords(ENDPOINTS[endpoint], None, getattr(body, "seat", None), fields)


def _offer(request: DoRequest, table: Table, now: int) -> Offer | None:
    """The offer of the table that a command takes: the one with the most of its fields."""
    sent = msgspec.to_builtins(request.do)
    tag = tag_of(request.do)
    fitting = [
        offer
        for offer in offers(table, now)
        if offer.command == tag and all(sent.get(name) == value for name, value in offer.preset.items())
    ]
    return max(fitting, key=lambda offer: len(offer.preset), default=None)


def _seconds(offer: Offer) -> tuple[str, ...]:
    second = next((blank for blank in offer.blanks if blank.kind == "second"), None)
    return () if second is None else tuple(choice.value for choice in second.choices)


# Fields


def _fields(sent: Struct, table: Table | None, *, has_bet: bool = False) -> Iterator[ApprovalField]:
    """`has_bet`: whether its id is that of a bet; other ids say nothing to a person."""
    for field in msgspec.structs.fields(sent):
        name, value = field.name, getattr(sent, field.name)
        is_said = value is not None and value not in ("", (), {})
        if name in _NOT_SHOWN or not is_said or (name == "id" and not has_bet):
            continue
        if value is False and name not in _SHOWN_FALSE:
            continue
        yield from _field(name, value, sent, table)


def _field(name: str, value: Any, sent: Struct, table: Table | None) -> Iterator[ApprovalField]:
    label = LABELS.get(name) or texts.FIELDS.get(name) or _plain(name)
    if isinstance(value, Limits):
        yield from _limits(value, table)
    elif isinstance(value, dict):
        for key, of_key in value.items():
            yield _entry(name, label, key, of_key, table)
    elif name == "bets":
        for bet in value:
            where = texts.filled(AT_SEAT, area=_area(bet.area, table), seat=_plain(bet.seat))
            yield _amount(texts.joined(where, MEANS[bet.means]), bet.stake)
    elif name == "ticket":  # a person who knows the number can cash it
        signs = value.replace("-", "").replace(" ", "").upper()  # as they are printed
        yield ApprovalField(label=label, value=_plain(signs[-SHOWN_OF_TICKET:]))
    elif name == "claim" and table is not None and value in table.claims:
        claim = table.claims[value]
        way = TO_PLAYER if claim.of_player else BY_PLAYER
        yield _amount(texts.filled(way, seat=_plain(claim.seat)), claim.amount)
    elif name in _MONEY and not (name == "stake" and _in_pieces(sent, table)):
        yield _amount(label, value)
    else:
        yield ApprovalField(label=label, value=_value(name, value, table))


def _value(name: str, value: Any, table: Table | None) -> Words:
    if isinstance(value, bool):
        return YES if value else NO
    if type(value) in _ENUMS:
        return _ENUMS[type(value)][value]
    if isinstance(value, tuple):
        return _plain(" · ".join(map(str, value)))
    return _named(name, str(value), table) or _plain(value)


def _named(name: str, value: str, table: Table | None) -> Words | None:
    """The name of what an id stands for."""
    match name:
        case "area":
            return _area(value, table)
        case "rank":
            return RANKS.get(value)
        case "item" if table is not None and value in table.equipment.items:
            return texts.item_label(table, value)
        case "referral" if table is not None and value in table.referrals:
            return texts.subject_label(str(table.referrals[value].subject))
        case "id" | "new_id" if table is not None:
            return _bet(value, table)
        case _:
            return None


def _entry(name: str, label: Words, key: str, value: Any, table: Table | None) -> ApprovalField:
    """An entry of a mapping: sums of seats, odds of areas, or what becomes of bets."""
    if name == "returned":
        return _amount(texts.filled(HANDED_BACK, seat=_plain(key)), value)
    if name == "bets":
        after = RETURNED if value is None else _area(value, table)
        return ApprovalField(label=label if table is None else _bet(key, table), value=after)
    return ApprovalField(label=_area(key, table), value=_plain(str(value)))


def _limits(limits: Limits, table: Table | None) -> Iterator[ApprovalField]:
    yield _amount(LABELS["least"], limits.least)
    yield _amount(LABELS["most"], limits.most)
    for group, (least, most) in limits.groups.items():
        name = texts.FAMILIES.get(group) or _area(group, table)
        yield _amount(texts.joined(name, LABELS["least"]), least)
        yield _amount(texts.joined(name, LABELS["most"]), most)
    if limits.exposure is not None:
        yield _amount(LABELS["exposure"], limits.exposure)


def _in_pieces(sent: Any, table: Table | None) -> bool:
    """Whether a stake is a number of colour chips."""
    means = getattr(sent, "means", None)
    if means is None and table is not None and table.round is not None:
        bet = table.round.bets.get(getattr(sent, "id", ""))
        means = bet.means if bet is not None else None
    return means is Means.COLOUR_CHIPS


def _bet(id_: str, table: Table) -> Words:
    """A bet of the current round by area and seat; any other by its id."""
    bet = table.round.bets.get(id_) if table.round is not None else None
    if bet is None:
        return _plain(id_)
    return texts.filled(AT_SEAT, area=_area(bet.area, table), seat=_plain(bet.seat))


def _area(area: str, table: Table | None) -> Words:
    known = table.book.areas.get(AreaId(area)) if table is not None else None
    return texts.label_of(known) if known is not None else _plain(area)


def _plain(text: Any) -> Words:
    return Words(str(text), str(text))


def _amount(label: Words, amount: int) -> ApprovalField:
    return ApprovalField(label=label, value=_plain(amount), amount=amount)
