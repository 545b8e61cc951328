"""What the loader refuses: each refusal once, naming the file, the key, what it expected and what it got."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from taisai.rules import BookError, rulebook
from tests.rules.books import replaced, saved, text_of

US = "us-sic-bo"
RWS = "rws-sic-bo-etg-v8"
MBS = "mbs-sic-bo-v6"
CARDS = "mbs-3-card-sic-bo"

BIG = 'areas = ["small", "big"]\nwins = "total-not-triple"\nfloor = "1 to 1"\noffered = "1 to 1"\n'
TWO_DICE = 'dice = 2\nodds = "2 to 1"\n'
SMALL_AREA = '[[area]]\nids = ["small"]\nen = "Small"\nzh = "小"\nloses = "2(a)(6)"\n'
SETTLE = '[[procedure.step]]\nact = "settle"\nby = "dealer"\nfrom = "entered"\nto = "settled"\nclause = "3(c)"\n'
ACTIVATE = (
    '[[procedure.step]]\nact = "activate-shaker"\nby = "dealer"\nfrom = "closed"\nto = "revealed"\n'
    'when = { shaker = "automated" }\nneeds = ["dice-flat"]\nclause = "5(d)(2)"\n'
)
CLEAR = (
    '[[procedure.step]]\nact = "clear-lights"\nby = "dealer"\nfrom = "paid"\nto = "between"\nclause = "5(g)"\n'
)
BETWEEN = '[[procedure.recovery]]\nphases = ["between"]\naction = "nothing"\nclause = "house:recovery"\n'
OTHERWISE = (
    '[irregularities.otherwise]\nruling = "refer"\nto = "casino-supervisor"\n'
    'clause = "house:outside-the-rules"\n'
)
ODDS = "odds like '8.5 to 1' or '6 to 5'"
ITS_CLAUSE = "a clause that the document has or 'house:…'"
UNREACHED = "a procedure that cannot reach settlement"
RANKS = "dealer, floorperson, casino-supervisor"


class Case(NamedTuple):
    """A rulebook with `cut` replaced by `put`, and what the refusal must say."""

    why: str
    book: str
    cut: str
    put: str
    key: str
    expected: str
    got: str


def unknown(key: str) -> str:
    return f"the unknown key {key!r}"


UNKNOWN_KEYS = (
    Case("in a title", US, 'zh = "骰宝" }', 'zh = "骰宝", fr = "x" }', "title, fr",
         "one of the keys en, zh", unknown("fr")),
    Case("in a source", US, "[chance]", 'page = "3"\n\n[chance]', "source 1, page",
         "one of the keys note, title", unknown("page")),
    Case("in chance", US, "dice = 3\n", "dice = 3\ndecks = 2\n", "chance, decks",
         "one of the keys clause, dice, kind", unknown("decks")),
    Case("in a setting", US, 'choices = ["manual"', 'colour = "green"\nchoices = ["manual"', "setting 3, colour",
         "one of the keys changes, choices, default, id, least, says", unknown("colour")),
    Case("in a pay line", US, TWO_DICE, 'odd = "2 to 1"\n' + TWO_DICE, "pay_table 1, pay 14, odd",
         "one of the keys areas, clause, dice, floor, instead, odds, offered, wins", unknown("odd")),
    Case("in a layout", US, "columns = 18", "columns = 18\ncolumn = 18", "layout 1, column",
         "one of the keys block, clause, columns, id, pay_table, rows", unknown("column")),
    Case("in a block", US, "column = 1\ntall = 3", "column = 1\nhigh = 3\ntall = 3", "layout 1, block 1, high",
         "one of the keys cells, column, drawing, id, row, tall, wide", unknown("high")),
    Case("in a cell", US, '{ odds_of = "single-1" }', '{ odds_of = "single-1", tall = 2 }',
         "layout 1, block 10, cells 1, cell 1, tall", "one of the keys area, odds_of, wide", unknown("tall")),
    Case("in a rank", US, 'clause = "5(b)"', 'pay = "much"\nclause = "5(b)"', "people, rank 3, pay",
         "one of the keys clause, en, id, zh", unknown("pay")),
    Case("in a step", US, 'act = "settle"', 'act = "settle"\nfast = true', "procedure, step 8, fast",
         "one of the keys act, by, clause, from, needs, to, when", unknown("fast")),
    Case("in a ruling", US, 'event = "two-shakers"', 'event = "two-shakers"\nsure = true',
         "irregularities, ruling 7, sure", "one of the keys clause, event, instead, phases, ruling, to",
         unknown("sure")),
    Case("in a condition on a setting", US, 'when = { shaker = "manual" }',
         'when = { shaker = "manual", no_roll = "void" }', "procedure, step 1, when",
         "one setting of double_on_triple, higher_may_act, no_roll, shaker", "shaker, no_roll"),
    Case("in the limits", US, "[limits]", "[limits]\nper_table = 5", "limits, per_table",
         "one of the keys over_clause, over_maximum, scope, under_clause, under_minimum", unknown("per_table")),
    Case("in a piece of equipment", US, "hours_on_table = 24", "hours_on_table = 24\ndays = 1",
         "equipment 4, days",
         "one of the keys clause, en, excludes, hours_on_table, id, inspection, least_tumbles, when, zh",
         unknown("days")),
    Case("in a clause", US, '"2" = { about = "heading",', '"2" = { on = "x", about = "heading",',
         "clauses, 2, on", "one of the keys about, says", unknown("on")),
    Case("in an interpretation", US, 'clauses = ["4(a)"]\n', 'clauses = ["4(a)"]\npage = 1\n',
         "interpretation 14, page", "one of the keys clauses, reading, reason, setting", unknown("page")),
    Case("in an erratum", US, 'printed = "1 to 10"', 'printed = "1 to 10"\npage = 1', "erratum 1, page",
         "one of the keys clause, printed, read, reason, source", unknown("page")),
)  # fmt: skip

ODDS_NOT_PRINTED_SO = tuple(
    Case(f"odds {odds!r}", US, TWO_DICE, f'dice = 2\nodds = "{odds}"\n', "pay_table 1, pay 14, odds", expected,
         repr(odds))
    for odds, expected in (
        *((odds, ODDS) for odds in ("8:1", "8 for 1", "8-1", "8", "8/1", "8,5 to 1", "8 To 1", "8  to 1",
                                    " 8 to 1", "-8 to 1", "08 to 1", "8. to 1", ".5 to 1", "8 to 0", "8 to 1.5",
                                    "eight to one", "1 wins 8", "1000000 to 1", "1.0005 to 1", "８ to 1")),
        ("0 to 1", f"{ODDS} that win something"),
        ("0.00 to 1", f"{ODDS} that win something"),
    )
)  # fmt: skip

AREAS = (
    Case("a cell that names no area", US, 'cells = [["big"]]', 'cells = [["bigg"]]',
         "layout 1, block 1, cells 1, cell 1", "an area of this layout's pay table", "'bigg'"),
    Case("a cell with an area of another layout", RWS, '[["big"]]', '[["three-126"]]',
         "layout 1, block 1, cells 1, cell 1", "an area of this layout's pay table", "'three-126'"),
    Case("printed odds of no area", US, '{ odds_of = "single-1" }', '{ odds_of = "single-7" }',
         "layout 1, block 10, cells 1, cell 1, odds_of", "an area of this layout's pay table", "'single-7'"),
    Case("a cell both area and odds", US, '[["small"]]', '[[{ area = "small", odds_of = "big" }]]',
         "layout 1, block 3, cells 1, cell 1, odds_of", "either area or odds_of", "both"),
    Case("an area without odds", US, SMALL_AREA,
         SMALL_AREA + '\n[[area]]\nids = ["odd"]\nen = "Odd"\nzh = "单"\nloses = "2(a)(6)"\n', "area 7, ids",
         "areas that a pay table prices", "'odd' without odds"),
    Case("an area that lost its odds", US, 'areas = ["small", "big"]', 'areas = ["small"]', "area 7, ids",
         "areas that a pay table prices", "'big' without odds"),
    Case("an area that nobody declared", US, 'areas = ["small", "big"]', 'areas = ["small", "big", "odd"]',
         "pay_table 1, pay 12, areas", "an area that the book declares", "'odd'"),
    Case("an area declared twice in one entry", US, 'ids = ["small"]', 'ids = ["small", "small"]',
         "area 6, ids", "an area not yet declared", "'small' twice"),
    Case("an area declared in two entries", US, SMALL_AREA, SMALL_AREA + "\n" + SMALL_AREA, "area 7, ids",
         "an area not yet declared", "'small' twice"),
    Case("an area twice in a pay line", US, 'areas = ["small", "big"]', 'areas = ["small", "big", "small"]',
         "pay_table 1, pay 12, areas", "each name once", "'small' twice"),
    Case("an area twice in a block", US, '[["small"]]', '[["small", "small"]]',
         "layout 1, block 3, cells", "each area once on a layout", "'small' twice"),
    Case("an area in two blocks", US, '[["small"]]', '[["small", "big"]]',
         "layout 1, block 3, cells", "each area once on a layout", "'big' twice"),
    Case("an area paid twice on an outcome", US, "dice = 3\nodds", "dice = 2\nodds",
         "pay_table 1, pay 15, areas", "each area paid once on an outcome", "'single-1' twice"),
    Case("an area outside the catalogue", US, 'ids = ["small"]', 'ids = ["tiny"]', "area 6, ids",
         "areas of the catalogue, or one area with numbers of its own", "'tiny'"),
    Case("numbers of one's own for an area of the catalogue", US, 'ids = ["small"]',
         'numbers = [4]\nids = ["small"]', "area 6, ids",
         "one id of your own, like 'low-odd', where numbers are given", "'small'"),
    Case("an id of one's own that no report could print", US, 'ids = ["small"]',
         'numbers = [4]\nids = ["Tiny One"]', "area 6, ids",
         "one id of your own, like 'low-odd', where numbers are given", "'Tiny One'"),
    Case("no area", US, 'ids = ["small"]', "ids = []", "area 6, ids", "at least one area", "an empty list"),
    Case("a pay line for no area", US, 'areas = ["small", "big"]', "areas = []", "pay_table 1, pay 12, areas",
         "at least one area", "an empty list"),
)  # fmt: skip

CLAUSES = (
    Case("of chance", US, 'dice = 3\nclause = "1"', 'dice = 3\nclause = "99"', "chance, clause", ITS_CLAUSE,
         "'99'"),
    Case("of a loser", US, 'loses = "2(a)(6)"', 'loses = "2(a)(9)"', "area 6, loses", ITS_CLAUSE, "'2(a)(9)'"),
    Case("of a loser on a triple", RWS, 'loses_on_triple = "3.9"', 'loses_on_triple = "3.99"',
         "area 1, loses_on_triple", ITS_CLAUSE, "'3.99'"),
    Case("of a winner on a triple", RWS, 'wins_on_triple = "3.9.4"', 'wins_on_triple = "3.9.9"',
         "area 5, wins_on_triple", ITS_CLAUSE, "'3.9.9'"),
    Case("of a pay table", US, 'id = "1"\nclause = "4(b)"', 'id = "1"\nclause = "4(d)"', "pay_table 1, clause",
         ITS_CLAUSE, "'4(d)'"),
    Case("of a pay line", US, TWO_DICE + 'clause = "4(c)"', TWO_DICE + 'clause = "4 (c)"',
         "pay_table 1, pay 14, clause", ITS_CLAUSE, "'4 (c)'"),
    Case("of a layout", US, 'pay_table = "1"\nclause = "3(a)"', 'pay_table = "1"\nclause = "3(z)"',
         "layout 1, clause", ITS_CLAUSE, "'3(z)'"),
    Case("of a rank", US, 'clause = "5(b)"', 'clause = "5(z)"', "people, rank 3, clause", ITS_CLAUSE, "'5(z)'"),
    Case("of acting for others", US, 'higher_clause = "house:outside-the-rules"', 'higher_clause = "6.2"',
         "people, higher_clause", ITS_CLAUSE, "'6.2'"),
    Case("of a step", US, SETTLE, SETTLE.replace("3(c)", "3(d)"), "procedure, step 8, clause", ITS_CLAUSE,
         "'3(d)'"),
    Case("of a recovery", US, BETWEEN, BETWEEN.replace("house:recovery", "house:sleep"),
         "procedure, recovery 1, clause", ITS_CLAUSE, "'house:sleep'"),
    Case("of a ruling", US, 'ruling = "refuse"\nclause = "6(d)"', 'ruling = "refuse"\nclause = "6(e)"',
         "irregularities, ruling 7, clause", ITS_CLAUSE, "'6(e)'"),
    Case("of a ruling instead", US, 'ruling = "void", clause = "6(a)"', 'ruling = "void", clause = "6(e)"',
         "irregularities, ruling 2, instead, clause", ITS_CLAUSE, "'6(e)'"),
    Case("of the catch-all", US, OTHERWISE, OTHERWISE.replace("house:outside-the-rules", "5.10"),
         "irregularities, otherwise, clause", ITS_CLAUSE, "'5.10'"),
    Case("of a limit", US, 'over_clause = "house:limits"', 'over_clause = "5.11"', "limits, over_clause",
         ITS_CLAUSE, "'5.11'"),
    Case("of equipment", US, 'clause = "1"\nhours', 'clause = "7"\nhours', "equipment 4, clause", ITS_CLAUSE,
         "'7'"),
    Case("of an inspection", US, 'clause = "5(a)(1)"', 'clause = "5(a)(3)"',
         "equipment 1, inspection 1, clause", ITS_CLAUSE, "'5(a)(3)'"),
    Case("of an interpretation", US, 'clauses = ["2(a)", "5(e)"]', 'clauses = ["2(a)", "5(h)"]',
         "interpretation 8, clauses", ITS_CLAUSE, "'5(h)'"),
    Case("of an erratum", US, 'clause = "2(a)(7)"\nprinted', 'clause = "2(a)(77)"\nprinted',
         "erratum 2, clause", ITS_CLAUSE, "'2(a)(77)'"),
)  # fmt: skip

FLOORS = (
    Case("offered under the floor", US, 'floor = "8 to 1"\noffered = "8 to 1"',
         'floor = "8 to 1"\noffered = "7.999 to 1"', "pay_table 1, pay 2, offered",
         "odds at or above the floor of 8 to 1", "'7.999 to 1'"),
    Case("fixed odds and a floor", US, TWO_DICE, TWO_DICE + 'floor = "2 to 1"\n', "pay_table 1, pay 14, floor",
         "either odds, or floor and offered", "both"),
    Case("fixed odds and an offer", US, TWO_DICE, TWO_DICE + 'offered = "2 to 1"\n',
         "pay_table 1, pay 14, offered", "either odds, or floor and offered", "both"),
    Case("a floor and no offer", US, 'floor = "24 to 1"\noffered = "24 to 1"', 'floor = "24 to 1"',
         "pay_table 1, pay 3, offered", "text", "nothing"),
    Case("no odds at all", US, TWO_DICE, "dice = 2\n", "pay_table 1, pay 14, odds", "odds, or floor and offered",
         "nothing"),
)  # fmt: skip

PROCEDURES = (
    Case("with a dead end", US, SETTLE, SETTLE + "\n" + SETTLE.replace('"settled"', '"between"').replace(
         '"entered"', '"settled"') + "\n" + SETTLE.replace('"settled"', '"deal-pressed"').replace(
         '"entered"', '"open"'), "procedure, step 10, to", "a phase that the procedure has", "'deal-pressed'"),
    Case("with a phase and no recovery", US, BETWEEN, "", "procedure, recovery",
         "for between one recovery, or one each for seen and unseen", "none"),
    Case("with two recoveries for a phase", US, BETWEEN, BETWEEN + "\n" + BETWEEN,
         "procedure, recovery 2, phases", "one recovery for each phase", "'between' twice"),
    Case("with a step by nobody", US, SETTLE, SETTLE.replace('"dealer"', '"croupier"'), "procedure, step 8, by",
         f"one of clock, {RANKS}", "'croupier'"),
)  # fmt: skip

IRREGULARITIES = (
    Case("with a hole", US, OTHERWISE, "", "irregularities, otherwise",
         "a ruling on too-few-tumbles in between, or a catch-all", "a hole"),
    Case("with two rulings on one cell", US, 'event = "two-shakers"\nphases = "all"',
         'event = "wrong-result"\nphases = ["open"]', "irregularities, ruling 8, phases",
         "one ruling for each phase", "wrong-result in open twice"),
    Case("in a phase that the procedure lacks", US, 'event = "two-shakers"\nphases = "all"',
         'event = "two-shakers"\nphases = ["deal-pressed"]', "irregularities, ruling 7, phases",
         "phases that the procedure has, or 'all'", "'deal-pressed'"),
    Case("referred to nobody", US, 'ruling = "refer"\nto = "casino-supervisor"\n', 'ruling = "refer"\n',
         "irregularities, otherwise, to", "the rank that decides, with 'refer' and with nothing else", "nothing"),
    Case("referred to somebody unknown", US, 'ruling = "refer"\nto = "casino-supervisor"',
         'ruling = "refer"\nto = "queen"', "irregularities, otherwise, to", f"one of {RANKS}", "'queen'"),
    Case("ruled, and referred all the same", US, 'ruling = "refuse"\nclause = "6(d)"',
         'ruling = "refuse"\nto = "dealer"\nclause = "6(d)"', "irregularities, ruling 7, to",
         "the rank that decides, with 'refer' and with nothing else", "'dealer'"),
)  # fmt: skip

CONDITIONS = (
    Case("dice without 'exactly'", US, BIG, BIG + "dice = 2\n", "pay_table 1, pay 12, wins",
         "dice = 1, 2 or 3 with 'exactly' and with nothing else", "dice = 2 with 'total-not-triple' (small)"),
    Case("four dice", US, "dice = 3\nodds", "dice = 4\nodds", "pay_table 1, pay 15, dice",
         "a whole number from 1 to 3", "4"),
    Case("'any-triple' with numbers", US, BIG, BIG.replace("total-not-triple", "any-triple"),
         "pay_table 1, pay 12, wins", "no numbers with 'any-triple'", "[4, 5, 6, 7, 8, 9, 10] (small)"),
    Case("totals where faces belong", US, BIG, BIG.replace("total-not-triple", "shows"),
         "pay_table 1, pay 12, wins", "1 to 3 faces from 1 to 6 with 'shows'", "[4, 5, 6, 7, 8, 9, 10] (small)"),
    Case("faces where totals belong", US, 'areas = ["triple-1", "triple-2", "triple-3", "triple-4", "triple-5", '
         '"triple-6"]\nwins = "shows"', 'areas = ["triple-1", "triple-2", "triple-3", "triple-4", "triple-5", '
         '"triple-6"]\nwins = "total"', "pay_table 1, pay 1, wins", "totals from 3 to 18 with 'total'",
         "[1, 1, 1] (triple-1)"),
    Case("nothing that could win", US, 'areas = ["triple-1", "triple-2", "triple-3", "triple-4", "triple-5", '
         '"triple-6"]\nwins = "shows"', 'areas = ["triple-1", "triple-2", "triple-3", "triple-4", "triple-5", '
         '"triple-6"]\nwins = "three-different"', "pay_table 1, pay 1, wins",
         "a condition that some outcome meets", "[1, 1, 1] (triple-1)"),
    Case("a condition that is not one of the six", US, BIG, BIG.replace("total-not-triple", "sometimes"),
         "pay_table 1, pay 12, wins",
         "one of any-triple, exactly, shows, three-different, total, total-not-triple", "'sometimes'"),
)  # fmt: skip

SETTINGS = (
    Case("declared twice", US, 'id = "no_roll"', 'id = "double_on_triple"', "setting 2, id",
         "a setting not yet declared", "'double_on_triple'"),
    Case("with a default that it does not take", US, 'default = "manual"', 'default = "magic"',
         "setting 3, default", "one of manual, automated", "'magic'"),
    Case("with a default out of bounds", RWS, 'most = 60\ndefault = "0"', 'most = 60\ndefault = "61"',
         "setting 2, default", "a whole number from 0 to 60", "'61'"),
    Case("without a choice", US, 'choices = ["manual", "automated"]', 'choices = ["manual"]',
         "setting 3, choices", "two choices or more, or least and most", "1"),
    Case("with a choice twice", US, 'choices = ["manual", "automated"]', 'choices = ["manual", "manual"]',
         "setting 3, choices", "each name once", "'manual' twice"),
    Case("with bounds upside down", RWS, "least = 0\nmost = 60", "least = 60\nmost = 0", "setting 2, most",
         "a whole number from 60 to 1000000", "0"),
    Case("asked for a value that it does not take", US, '{ double_on_triple = "no" }',
         '{ double_on_triple = "maybe" }', "pay_table 1, pay 2, instead, when, double_on_triple",
         "one of yes, no", "'maybe'"),
    Case("asked for and not declared", US, '{ double_on_triple = "no" }', '{ mood = "good" }',
         "pay_table 1, pay 2, instead, when",
         "one setting of double_on_triple, higher_may_act, no_roll, shaker", "mood"),
    Case("read by an interpretation and not declared", US, 'setting = "higher_may_act"', 'setting = "mood"',
         "interpretation 12, setting",
         "a setting of the book (double_on_triple, no_roll, shaker, higher_may_act)", "'mood'"),
)  # fmt: skip

TWICE = (
    Case("a pay table", RWS, 'id = "2"\nclause = "4.1.2"', 'id = "1"\nclause = "4.1.2"', "pay_table 2, id",
         "a pay table not yet given", "'1'"),
    Case("a layout", RWS, 'id = "B"\npay_table', 'id = "A"\npay_table', "layout 2, id",
         "a layout not yet given", "'A'"),
    Case("a rank", US, 'id = "floorperson"', 'id = "dealer"', "people, rank 2, id", "a rank not yet named",
         "'dealer'"),
    Case("a phase", US, '[[procedure.phase]]\nid = "closed"', '[[procedure.phase]]\nid = "open"',
         "procedure, phase 3, id", "a phase not yet given", "'open'"),
    Case("a need", US, 'needs = ["covered"]', 'needs = ["covered", "covered"]', "procedure, step 4, needs",
         "each name once", "'covered' twice"),
    Case("a piece of equipment", US, 'id = "chips"', 'id = "dice"', "equipment 4, id", "each item once",
         "'dice' twice"),
)  # fmt: skip

THE_REST = (
    Case("a layout on no pay table", US, 'pay_table = "1"', 'pay_table = "2"', "layout 1, pay_table",
         "one of 1", "'2'"),
    Case("a block wider than the felt", US, "wide = 18\ncells = [[\n", "wide = 19\ncells = [[\n",
         "layout 1, block 7, wide", "a block within 18 columns", "19"),
    Case("a block taller than the felt", US, "row = 8\ncolumn = 1\ntall = 1", "row = 8\ncolumn = 1\ntall = 2",
         "layout 1, block 10, tall", "a block within 8 rows", "2"),
    Case("a block on another block", US, "row = 1\ncolumn = 5", "row = 1\ncolumn = 4", "layout 1, block 2, row",
         "a free place on the felt", "the place of 'big'"),
    Case("a row without cells", US, '[["small"]]', "[[]]", "layout 1, block 3, cells 1", "a list of cells",
         "an empty list"),
    Case("a drawing by somebody else", US, 'id = "big"\ndrawing = "ours"', 'id = "big"\ndrawing = "theirs"',
         "layout 1, block 1, drawing", "one of document, ours", "'theirs'"),
    Case("two dice", US, "dice = 3\nclause", "dice = 2\nclause", "chance, dice", "a whole number from 3 to 3",
         "2"),
    Case("fewer decks at most than at least", CARDS, "most_decks = 6", "most_decks = 1", "chance, most_decks",
         "a whole number from 2 to 100", "1"),
    Case("more decks than there may be", CARDS, "decks = 6\nclause", "decks = 7\nclause", "chance, decks",
         "a whole number from 2 to 6", "7"),
    Case("a limit policy on the wrong side", US, 'under_minimum = "refuse"',
         'under_minimum = "settle-to-maximum"', "limits, under_minimum", "refuse or settle-once",
         "'settle-to-maximum'"),
    Case("a limit policy on the other wrong side", US, 'over_maximum = "refuse"', 'over_maximum = "settle-once"',
         "limits, over_maximum", "refuse or settle-to-maximum", "'settle-once'"),
    Case("an item that excludes what is not there", US, 'excludes = "manual-shaker"', 'excludes = "roulette"',
         "equipment 3, excludes", "one of electrical-device, manual-shaker, automated-shaker, dice, chips",
         "'roulette'"),
    Case("an inspection by nobody", US, 'by = "floorperson"', 'by = "passer-by"', "equipment 1, inspection 1, by",
         f"one of {RANKS}", "'passer-by'"),
    Case("a second person who does not exist", US, 'second = "casino-supervisor"', 'second = "nobody"',
         "people, second", f"one of {RANKS}", "'nobody'"),
    Case("a date that is a text", RWS, "effective = 2021-05-24T08:00:00", 'effective = "soon"', "effective",
         "a date, or a date and time", "'soon'"),
    Case("a clause about nothing we know", US, '"2" = { about = "heading"', '"2" = { about = "weather"',
         "clauses, 2, about", "one of bets, definition, display, equipment, heading, irregularity, layout, "
         "limits, payoff, people, procedure", "'weather'"),
)  # fmt: skip


def refusal(folder: Path, case: Case) -> BookError:
    path = saved(folder, replaced(text_of(case.book), case.cut, case.put))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    return caught.value


def check(folder: Path, case: Case) -> None:
    error = refusal(folder, case)
    assert (error.file, error.key, error.expected, error.got) == ("my.toml", case.key, case.expected, case.got)
    assert str(error) == f"expected {case.expected}, got {case.got} (my.toml, {case.key})"


def each(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case.why.replace(" ", "-") for case in cases])


@each(UNKNOWN_KEYS)
def test_an_unknown_key_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


def test_an_unknown_key_at_the_top_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, 'colour = "green"\n' + text_of(US))
    with pytest.raises(BookError, match=r"got the unknown key 'colour' \(my\.toml, colour\)"):
        rulebook(path)


@each(ODDS_NOT_PRINTED_SO)
def test_odds_that_no_layout_prints_are_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(AREAS)
def test_an_area_out_of_place_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(CLAUSES)
def test_a_clause_that_the_document_does_not_have_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(FLOORS)
def test_odds_at_odds_with_their_floor_are_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(PROCEDURES)
def test_a_procedure_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(IRREGULARITIES)
def test_an_irregularity_table_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(CONDITIONS)
def test_a_winning_condition_that_does_not_fit_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(SETTINGS)
def test_a_setting_that_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(TWICE)
def test_what_is_given_twice_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@each(THE_REST)
def test_whatever_else_does_not_hold_is_refused(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@pytest.mark.parametrize(
    ("gone", "reached", "setting"),
    [(SETTLE, "settled", "manual"), (ACTIVATE, "settled", "automated"), (CLEAR, "", "manual")],
    ids=["no-step-settles", "nothing-settles-under-one-setting", "no-round-ends"],
)
def test_a_procedure_that_cannot_reach_settlement_is_refused(
    tmp_path: Path, gone: str, reached: str, setting: str
) -> None:
    error = refusal(tmp_path, Case("", US, gone, "", "", "", ""))
    assert (error.key, error.got) == ("procedure, step", UNREACHED)
    assert error.expected.startswith("steps that lead from ")
    assert error.expected.endswith(f"{reached} with shaker = {setting}")


def test_a_procedure_without_the_phases_of_settlement_is_refused(tmp_path: Path) -> None:
    text = replaced(text_of(US), '[[procedure.phase]]\nid = "settled"', '[[procedure.phase]]\nid = "deal-pressed"')
    steps, _, rest = text.partition("[irregularities.otherwise]")
    path = saved(tmp_path, steps.replace('"settled"', '"deal-pressed"') + "[irregularities.otherwise]" + rest)
    with pytest.raises(BookError) as caught:
        rulebook(path)
    assert (caught.value.key, caught.value.got) == ("procedure, phase", UNREACHED)
    assert caught.value.expected == "the phases 'between' and 'settled'"


@pytest.mark.parametrize("cell", ["small", "big"])
def test_an_area_without_a_cell_is_refused_and_no_innocent_block_named(tmp_path: Path, cell: str) -> None:
    error = refusal(tmp_path, Case("", US, f'[["{cell}"]]', '[[""]]', "", "", ""))
    assert (error.expected, error.got) == ("a cell for every area of the pay table", f"none for '{cell}'")
    assert error.key in {"layout 1", "layout 1, block"}


def test_exactly_without_dice_is_refused_at_the_dice(tmp_path: Path) -> None:
    assert refusal(tmp_path, Case("", US, "dice = 3\nodds", "odds", "", "", "")).key == "pay_table 1, pay 15, dice"
    instead = Case("", US, 'wins = "exactly", dice = 2 }', 'wins = "exactly" }', "", "", "")
    assert refusal(tmp_path, instead).key == "pay_table 1, pay 2, instead, dice"


def test_a_floor_that_is_missing_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", US, 'floor = "24 to 1"\n', "", "", "", ""))
    assert (error.key, error.got) == ("pay_table 1, pay 3, floor", "nothing")


def test_a_bound_that_is_missing_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", RWS, "least = 0\n", "", "", "", ""))
    assert (error.key, error.got) == ("setting 2, least", "nothing")


def test_two_blocks_with_one_id_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, Case("", US, 'id = "small"\ndrawing', 'id = "big"\ndrawing', "", "", ""))
    assert error.key == "layout 1, block 3, id"
    assert "'big'" in error.got


def test_blocks_on_one_another_are_refused_whatever_they_are_called(tmp_path: Path) -> None:
    text = replaced(text_of(US), 'id = "small"\ndrawing', 'id = "big"\ndrawing')
    path = saved(tmp_path, replaced(text, "row = 1\ncolumn = 15", "row = 1\ncolumn = 1"))
    with pytest.raises(BookError, match=r"layout 1, block 3"):
        rulebook(path)


def test_acting_for_others_as_set_without_the_setting_is_refused(tmp_path: Path) -> None:
    text = replaced(text_of(US), 'id = "higher_may_act"', 'id = "higher_might_act"')
    path = saved(tmp_path, replaced(text, 'setting = "higher_may_act"', 'setting = "higher_might_act"'))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    assert (caught.value.key, caught.value.got) == ("people, higher_may_act", "none")


def test_sabotage_a_book_that_is_right_is_not_refused(tmp_path: Path) -> None:
    unbroken = Case("nothing", US, 'id = "A"', 'id = "A"', "", "", "")
    with pytest.raises(pytest.fail.Exception):
        refusal(tmp_path, unbroken)
