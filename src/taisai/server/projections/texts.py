"""Texts in English and Chinese: those of pages, and labels from the rulebook; parts that views share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, Protocol

from msgspec.structs import replace

from taisai.game import Table
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.table import Claim, Referral
from taisai.game.vocabulary import ClaimEnd, DeviceFault, Hold, Subject, Treatment
from taisai.protocol.views import ClaimLine, Extreme, ReferralLine, Stoppage, Words
from taisai.rules.book import Rulebook
from taisai.rules.equipment import InspectedBefore
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import Outcome
from taisai.rules.pay import Condition, Odds
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Act, Irregularity, Phase

# Messages for players

PLACE_YOUR_BETS: Final = Words("Place your bets", "请下注")
NO_MORE_BETS: Final = Words("No more bets", "停止投注")
RESULT: Final = Words("The result", "开奖结果")
SHUT: Final = Words("This table is paused", "本桌暂停")
CLOSED: Final = Words("This table is closed", "本桌已关闭")
NEXT_ROUND: Final = Words("The next round opens shortly", "下一局即将开始")
STAND_IN: Final = Words(
    "Bets at this live table are chips. The terminal replaces them for the demonstration only.",
    "本桌为真人赌桌，以筹码投注。此终端机仅在演示中代替筹码。",
)

HOLDS: Final[Mapping[Hold, Words]] = {
    Hold.DECLARATION: Words(
        "The Dealer and a supervisor must declare whether a die was seen", "荷官与主管须声明是否有人看见骰子"
    ),
    Hold.WITHDRAWAL: Words(
        "Each player may withdraw all their bets, or none", "各玩家可撤回全部投注或维持不变"
    ),
    Hold.REFERRAL: Words("Waiting for a decision", "等待裁定"),
    Hold.CONFIRMATION: Words(
        "A second person must confirm or contest a report", "须由第二位人员确认或反对报告"
    ),
    Hold.SETTLEMENT: Words("The settlement that was made by hand must be entered", "须输入人工完成的结算"),
}

# Sources of results

KEYED: Final = Words("keyed by the Dealer", "荷官输入")
SHAKEN: Final = Words("demonstration shaker, play money only", "演示摇骰器，只用游戏币")
READ: Final = Words("read by a device, confirmed by the Dealer", "设备读取，荷官确认")
KEYED_OTHERWISE: Final = Words(
    "keyed by the Dealer; the device read another result", "荷官输入，与设备读数不同"
)
SAW: Final = Words("reading of the device", "设备读数")
FAULTS: Final[Mapping[DeviceFault, Words]] = {
    DeviceFault.NO_SHAKE: Words("the dice were not shaken", "骰子未摇动"),
    DeviceFault.INVALID: Words("the dice cannot be read", "骰子无法读取"),
    DeviceFault.INVALID_AFTER_RESHAKE: Words(
        "the dice cannot be read after a second shake", "重摇后骰子仍无法读取"
    ),
    DeviceFault.DOWN: Words("the device is out of order", "设备故障"),
}

# Acts and commands

ACTS: Final[Mapping[Act, Words]] = {
    Act.OPEN_BETS: Words("Open bets", "开始投注"),
    Act.TUMBLE: Words("Tumble the dice", "摇骰"),
    Act.ACTIVATE_SHAKER: Words("Activate the shaker", "启动摇盅"),
    Act.CLOSE_BETS: Words("No more bets", "停止投注"),
    Act.PRESS_DEAL: Words("Press the deal button", "按下开局按钮"),
    Act.UNCOVER: Words("Uncover the dice", "揭盅"),
    Act.DEAL_CARDS: Words("Deal three cards", "派三张牌"),
    Act.ENTER_RESULT: Words("Enter the result", "输入结果"),
    Act.SETTLE: Words("Settle", "结算"),
    Act.COLLECT: Words("Collect losing bets", "收取输注"),
    Act.PAY: Words("Pay winning bets", "赔付赢注"),
    Act.COLLECT_AND_PAY: Words("Collect and pay", "收取并赔付"),
    Act.CLEAR_LIGHTS: Words("Clear the lights", "熄灭灯号"),
    Act.CONCLUDE: Words("End the round", "结束本局"),
}
COMMANDS: Final[Mapping[str, Words]] = {
    "assign": Words("Assign a person to the table", "指派人员到本桌"),
    "begin-day": Words("Begin a gaming day", "开始新的营业日"),
    "begin-shift": Words("Begin a shift", "开始新的班次"),
    "choose-withdrawal": Words("Record a player's choice to withdraw", "记录玩家是否撤回投注"),
    "close-table": Words("Close the table permanently", "永久关闭本桌"),
    "confirm-report": Words("Confirm the report", "确认报告"),
    "contest-report": Words("Contest the report", "反对报告"),
    "close-withdrawal": Words("End the option to withdraw", "截止撤回选择"),
    "correct-record": Words("Correct the record of the chips", "更正筹码记录"),
    "count-cards": Words("Count the cards", "清点牌数"),
    "declare": Words("Declare whether a die was seen", "声明是否看见骰子"),
    "declare-unrecorded": Words("Declare what happened unrecorded", "声明未记录期间发生的事"),
    "enter-round": Words("Enter a round that was played by hand", "输入人工进行的一局"),
    "enter-settlement": Words("Enter the settlement that was made by hand", "输入人工完成的结算"),
    "inspect": Words("Inspect", "检查"),
    "leave": Words("Record that a person leaves", "登记人员离桌"),
    "load-shoe": Words("Load the shoe", "装牌入靴"),
    "offer-odds": Words("Change the odds", "更改赔率"),
    "place-item": Words("Place on the table", "放置设备"),
    "remove-item": Words("Remove from the table", "移走设备"),
    "reopen": Words("Reopen the table", "重新开放本桌"),
    "repair-item": Words("Mark as repaired", "标记为已修复"),
    "set-limits": Words("Change the limits", "更改限额"),
    "shuffle-shoe": Words("Shuffle the shoe", "洗牌"),
    "shut": Words("Pause the table", "暂停本桌"),
}
CORRECT: Final = Words("Correct the result", "更正结果")
CORRECT_EARLIER: Final = Words("Correct the result of an earlier round", "更正先前一局的结果")
TREATMENTS: Final[Mapping[Treatment, Words]] = {
    Treatment.CONTINUE: Words("The round continues unchanged", "本局照常进行"),
    Treatment.STANDS: Words("The settlement stands", "维持原结算"),
    Treatment.VOID: Words("The round is void", "本局作废"),
    Treatment.VOID_ROUNDS: Words("Several rounds are void", "多局作废"),
    Treatment.SETTLE_BY_OUTCOME: Words("Settle by what the dice or cards showed", "按实际开出结果结算"),
    Treatment.RE_OPEN: Words("Keep the bets and open betting again", "保留投注并重新开放投注"),
    Treatment.TREAT_BETS: Words("Return single bets, or move them", "退还或移动个别投注"),
    Treatment.SHUT: Words("The round is void, and the table is paused", "本局作废并暂停本桌"),
}
CLAIMS: Final[Mapping[ClaimEnd, Words]] = {
    ClaimEnd.TABLE: Words("Settle the claim at the table", "在本桌了结款项"),
    ClaimEnd.WAIVE: Words("Waive the claim", "放弃款项"),
}
DECLARED: Final[Mapping[Declared, Words]] = {
    Declared.SEEN: Words("a die was seen", "有人看见骰子"),
    Declared.UNSEEN: Words("no die was seen", "无人看见骰子"),
}
RECOVERIES: Final[Mapping[Recovery, Words]] = {
    Recovery.NOTHING: Words("Nothing else changes", "其他不变"),
    Recovery.VOID: Words("The round is void; all bets are returned", "本局作废，退还全部投注"),
    Recovery.WITHDRAW_OPTION: Words(
        "Each player may withdraw all their bets, or none; then the round continues",
        "各玩家可撤回全部投注或维持不变，随后本局继续",
    ),
    Recovery.CONTINUE: Words("The round continues with its bets unchanged", "本局继续，投注不变"),
    Recovery.SETTLE_THEN_SHUT: Words(
        "Settled in the presence of a supervisor; then the table is paused", "主管在场结算，随后暂停本桌"
    ),
    Recovery.LOCK_AND_REFER: Words(
        "The round is on hold until a supervisor decides", "本局暂停，等待主管裁定"
    ),
    Recovery.CONCLUDE: Words("The round ends", "本局就此结束"),
    Recovery.DECLARE: Words("The declaration is required again", "须再次声明"),
}
"""What recovery does after a stop."""
INSPECTED: Final[Mapping[InspectedBefore, Words]] = {
    InspectedBefore.OPENING: Words("before opening", "开台前"),
    InspectedBefore.SHIFT: Words("before the shift", "班次前"),
}
OTHERS_STAY: Final = Words("all others were asked and stay", "其余玩家均已询问并维持投注")
FIELDS: Final[Mapping[str, Words]] = {
    "area": Words("Area on which it lay", "实际所在的投注区"),
    "backs": Words("Colour and design of each deck's backs", "各副牌背面的颜色与图案"),
    "bets": Words("Bets", "投注"),
    "by_hand": Words("Bets, as they lay", "投注（按实际所在）"),
    "called": Words("“No more bets” was announced", "已宣布停止投注"),
    "change": Words("What was wrong", "何处有误"),
    "day": Words("Gaming day, such as 2026-11-15", "营业日，例如 2026-11-15"),
    "decks": Words("Decks", "副数"),
    "detail": Words("Details", "详情"),
    "early": Words("It was seen before “no more bets”", "在停止投注前已被看见"),
    "evidence": Words("What shows it: camera and time", "凭据：摄像机与时间"),
    "entered": Words("Numbers entered", "输入的点数"),
    "faces": Words("What the dice or cards show", "骰子或牌的点数"),
    "flat": Words("Every die lies flat", "每颗骰子均平放"),
    "found": Words("Cards of each face", "各点数的牌数"),
    "id": Words("Recorded bet", "已记录的投注"),
    "item": Words("Which item", "哪件设备"),
    "limits": Words("Limits", "限额"),
    "lit": Words("Areas that lit up", "亮起的区域"),
    "means": Words("Chips", "筹码种类"),
    "offers": Words("Odds above the minimum odds", "高于最低赔率的赔率"),
    "passed": Words("Passed", "合格"),
    "person": Words("Person", "人员"),
    "rank": Words("Rank", "职级"),
    "reason": Words("Reason", "原因"),
    "returned": Words("Handed back to each seat, stake and winnings together", "各座位实收（本金连彩金）"),
    "round": Words("Round", "局号"),
    "runs": Words("Trial runs", "试运行次数"),
    "seat": Words("Seat", "座位"),
    "second": Words("A second person", "第二位人员"),
    "seen": Words("A concealed die was seen", "遮盖的骰子已被看见"),
    "settled": Words("The round was settled by hand", "本局已人工结算"),
    "serial": Words("Serial number", "序列号"),
    "shift": Words("Name of the shift", "班次名称"),
    "stake": Words("True stake. Colour chips in pieces", "实际注额；彩色筹码按枚"),
    "through": Words("Through round", "至局号"),
    "tumbles": Words("Number of tumbles", "摇动次数"),
    "void": Words("The round was void", "本局作废"),
    "witnessed": Words("The supervisor was present", "主管在场"),
    "withdraw": Words("Withdraws all bets", "撤回全部投注"),
}
DICE_SHOW: Final = Words("What the dice show", "骰子点数")
CARDS_SHOW: Final = Words("What the cards show", "牌面点数")

# Irregularities

INSTEAD: Final[Mapping[Irregularity, Words]] = {
    Irregularity.WRONG_RESULT: Words(
        f"No result is entered yet: “{ACTS[Act.ENTER_RESULT].en}”, as the dice or cards show",
        f"尚未输入结果：请先“{ACTS[Act.ENTER_RESULT].zh}”（骰子或牌的点数）",
    ),
}
"""Irregularity → the act to take while it cannot be reported."""
IRREGULARITIES: Final[Mapping[Irregularity, Words]] = {
    Irregularity.TOO_FEW_TUMBLES: Words("Too few tumbles", "摇动次数不足"),
    Irregularity.EXPOSED_EARLY: Words(
        "Concealed dice or a card seen before the close", "截止投注前骰子或牌外露"
    ),
    Irregularity.EXPOSED_LATE: Words(
        "Concealed dice or a card seen after the close", "截止投注后骰子或牌外露"
    ),
    Irregularity.UNTUMBLED_IN_VIEW: Words(
        "Dice in view that were not tumbled for this round", "未摇动的骰子外露"
    ),
    Irregularity.DICE_OVER_AGE: Words("The dice are on the table for too long", "骰子在桌上的时间过长"),
    Irregularity.DIE_NOT_FLAT: Words("A die does not lie flat", "骰子未平放"),
    Irregularity.DIE_DAMAGED: Words("A die is damaged", "骰子损坏"),
    Irregularity.DOME_OR_DICE_BROKEN: Words("The dome or a die is broken", "骰盅或骰子破裂"),
    Irregularity.LATE_BET: Words("A bet placed or increased after the close", "截止后下注或加注"),
    Irregularity.LATE_WITHDRAWAL: Words("A bet withdrawn after the close", "截止后撤回投注"),
    Irregularity.CHIPS_UNCLEAR: Words("Chips unclear, or moved by accident", "筹码位置不清或被意外移动"),
    Irregularity.EQUIPMENT_FAILURE: Words("Electronic equipment fails", "电子设备故障"),
    Irregularity.AUTOMATED_SHAKER_FAILURE: Words("The automated shaker fails", "自动摇盅故障"),
    Irregularity.DEAL_NOT_PRESSED: Words("The deal button was not pressed", "未按开局按钮"),
    Irregularity.UNDER_MINIMUM: Words("A bet under the minimum", "投注低于下限"),
    Irregularity.OVER_MAXIMUM: Words("A bet over the maximum", "投注高于上限"),
    Irregularity.EARLIER_LIMIT_MISTAKE: Words("An earlier mistake about limits", "先前的限额错误"),
    Irregularity.POWER_FAILURE: Words("The power fails", "停电"),
    Irregularity.TERMINALS_DOWN: Words("Terminals are down", "终端机故障"),
    Irregularity.WRONG_RESULT: Words("A wrong result was keyed in", "输入结果有误"),
    Irregularity.DISPLAY_WRONG: Words("A display is wrong", "显示屏有误"),
    Irregularity.FOREIGN_CARD: Words("A foreign card", "发现异牌"),
    Irregularity.CARD_COUNT_WRONG: Words("Cards missing, or too many", "牌数不符"),
    Irregularity.SHOE_SHORT: Words("The shoe cannot complete the round", "牌靴余牌不足"),
    Irregularity.TWO_SHAKERS: Words("A manual shaker beside the automated one", "自动摇盅在桌时使用手动摇盅"),
    Irregularity.OTHER: Words("Something else", "其他情况"),
}
RULINGS: Final[Mapping[Ruling, Words]] = {
    Ruling.VOID: Words("The round is void; all bets are returned", "本局作废，退还全部投注"),
    Ruling.VOID_AFFECTED: Words("All affected rounds are void", "所有受影响的局作废"),
    Ruling.NO_ROLL: Words(
        "No roll: bets stay, and betting opens again", "本次摇骰无效，保留投注并重新开放投注"
    ),
    Ruling.WITHDRAW_OPTION: Words(
        "Each player may withdraw all their bets, or none", "各玩家可撤回全部投注或维持不变"
    ),
    Ruling.CONTINUE: Words("The round continues", "本局继续"),
    Ruling.SETTLE_BY_OUTCOME: Words("Settled by what the dice or cards show", "按实际结果结算"),
    Ruling.SETTLE_REGISTERED: Words(
        "Registered bets are settled; other bets are returned", "已登记投注照常结算，其余退还"
    ),
    Ruling.SETTLE_THEN_SHUT: Words(
        "Settled in the presence of a supervisor; then the table is paused", "主管在场结算，随后暂停本桌"
    ),
    Ruling.RESET_AND_ENTER: Words(
        "The outcome stands: reset the device and key it in", "结果有效，设备复位后输入"
    ),
    Ruling.REFUSE: Words("Refused", "不予接受"),
    Ruling.STAYS_LIVE: Words("The bet stays valid", "投注仍然有效"),
    Ruling.SETTLE_ONCE: Words(
        "Settled once for this player; later such bets are returned", "该玩家首次照常结算，其后退还"
    ),
    Ruling.SETTLE_TO_MAXIMUM: Words(
        "Settled up to the maximum; the excess is returned", "按上限结算，超出部分退还"
    ),
    Ruling.STANDS: Words("The settlement stands", "先前结算维持有效"),
    Ruling.REFER: Words("Referred to a supervisor for a decision", "交由主管裁定"),
}
SUBJECTS: Final[Mapping[Subject, Words]] = {
    Subject.CALL: Words("A player calls", "玩家呼叫"),
    Subject.DISPUTE: Words("A player disputes a round", "玩家对一局有争议"),
    Subject.INTERRUPTION: Words("The system stopped", "系统曾中断"),
}
CONDITIONS: Final[Mapping[Condition, Words]] = {
    Condition.TOTAL: Words("the total is {n}", "总点数为 {n}"),
    Condition.TOTAL_NOT_TRIPLE: Words("the total is {n}, except triples", "总点数为 {n}，围骰除外"),
    Condition.ANY_TRIPLE: Words("all three are the same", "三个点数相同"),
    Condition.SHOWS: Words("the result shows {n}", "开出 {n}"),
    Condition.EXACTLY: Words("the result shows {n} once, twice or three times", "开出一个、两个或三个 {n}"),
    Condition.THREE_DIFFERENT: Words("three different numbers of {n}", "{n} 之中三个不同点数"),
}
RANGE: Final = Words("{a} to {b}", "{a} 至 {b}")
FAMILIES: Final[Mapping[str, Words]] = {
    "even-money": Words("Big, Small, Odd, Even", "大、小、单、双"),
    "triple": Words("Specific triples", "指定围骰"),
    "double": Words("Doubles", "对子"),
    "total": Words("Totals", "总点数"),
    "single": Words("Single numbers", "单骰"),
    "pair": Words("Two numbers", "两骰组合"),
    "three": Words("Three numbers", "三骰组合"),
    "double-single": Words("Double and single", "对子加单骰"),
    "four": Words("Four numbers", "四数组合"),
}
"""Groups of areas with limits of their own."""
OTHERS: Final = Words("All other bets", "其他投注")
ON_DICE: Final[Mapping[int, Words]] = {
    1: Words("on one die", "一颗"),
    2: Words("on two dice", "两颗"),
    3: Words("on three dice", "三颗"),
}
"""The text beside odds, if the layout has none of its own."""
OR: Final = Words(" or ", " 或 ")
AND: Final = Words(", ", "、")
DENOMINATIONS: Final = (1, 2, 5)
"""The leading figures of chips."""


def odds(printed: Odds) -> Words:
    """Odds as text. In Chinese the stake comes first: '8.5 to 1' is '1 赔 8.5'."""
    won, per = printed.text.split(" to ")
    return Words(printed.text, f"{per} 赔 {won}")


def filled(words: Words, **values: Words | int) -> Words:
    """A text with values in its places, each in the text's language."""
    english = {name: value.en if isinstance(value, Words) else value for name, value in values.items()}
    chinese = {name: value.zh if isinstance(value, Words) else value for name, value in values.items()}
    return Words(words.en.format(**english), words.zh.format(**chinese))


def joined(words: Words, more: Words) -> Words:
    """Two texts with a colon between them."""
    return Words(f"{words.en}: {more.en}", f"{words.zh}：{more.zh}")


# Labels from the rulebook, and parts that several views share


class _Labelled(Protocol):
    @property
    def label(self) -> str: ...
    @property
    def label_zh(self) -> str: ...


def label_of(known: _Labelled) -> Words:
    return Words(known.label, known.label_zh)


def title_of(book: Rulebook) -> Words:
    return Words(book.title, book.title_zh)


def phase_label(table: Table, phase: Phase) -> Words:
    labels = (label_of(known) for known in table.procedure.phases if known.id is phase)
    return next(labels, Words(str(phase), str(phase)))


def rank_label(table: Table, rank: str) -> Words:
    return next((label_of(known) for known in table.ranks.ladder if known.id == rank), Words(rank, rank))


def item_label(table: Table, item: str) -> Words:
    return label_of(table.equipment.items[item])


def faces_of(outcome: Outcome) -> tuple[int, int, int]:
    a, b, c = outcome.faces
    return (a, b, c)


def extreme(outcome: Outcome, loses: int) -> Extreme:
    return Extreme(faces=faces_of(outcome), loses=loses)


def subject_label(subject: str) -> Words:
    return SUBJECTS[Subject(subject)] if subject in set(Subject) else IRREGULARITIES[Irregularity(subject)]


def referral_line(referral: Referral) -> ReferralLine:
    return ReferralLine(
        id=referral.id, subject=str(referral.subject), label=subject_label(referral.subject),
        clause=str(referral.clause), to=referral.to, holds=referral.holds, seat=referral.seat,
        round=referral.round, detail=referral.detail,
    )  # fmt: skip


def waiting(table: Table, most: int) -> tuple[Referral, ...]:
    """The open referrals, those that hold the round first."""
    return tuple(sorted(open_referrals(table), key=lambda referral: not referral.holds)[:most])


def claim_lines(claims: Iterable[Claim], most: int) -> tuple[ClaimLine, ...]:
    return tuple(ClaimLine(**claim._asdict()) for claim in islice(claims, most))


def stoppage_of(table: Table) -> Stoppage:
    by = None if table.shut is None else str(table.shut_by)
    stoppage = Stoppage(closed=bool(table.name) and not table.open, shut=table.shut, clause=by)
    if table.held is None:
        return stoppage
    hold, clause = table.held
    return replace(stoppage, hold=str(hold), says=HOLDS[hold], clause=str(clause))
