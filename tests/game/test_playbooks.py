"""Every playbook is answered as it is pinned; an altered line is reported; junk is refused with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.game import Account, Table, checks
from taisai.game.playbook import PlaybookError, pinned, playbook, rewritten
from taisai.game.playbook.command_lines import VERBS
from taisai.game.refusals import OLD_REASONS, Reason
from taisai.rules.clauses import HOUSE_PROCEDURES
from tests.game.playbooks import (
    PLAYBOOKS,
    READINGS,
    ROOT,
    book_of,
    books_faults,
    each_playbook,
    play,
    terms_compiled_once,
    told,
)
from tests.oracle import PAY_TABLES
from tests.project import citations

HEADER = "book: mbs-sic-bo-v6\nopened by: Sue shift-manager\npeople: Dan dealer\nlimits: 1000 to 5000\n"


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


@each_playbook
def test_the_table_answers_as_the_playbook_says(name: str) -> None:
    wrong = [f"{name}.round:{one.line}: {one}" for step in told(name).played for one in step.mismatches]
    assert wrong == []


@each_playbook
def test_writing_the_answers_again_changes_nothing(name: str) -> None:
    assert rewritten(PLAYBOOKS[name], book_of(told(name).story.book), name) == PLAYBOOKS[name]


def unforeseen(text: str, name: str) -> list[str]:
    """The expectations of a second reading that are not met, and the refusals that it does not expect."""
    found = []
    for step in play(text, name).played:
        wrong = [one for one in step.mismatches if one.expected is not None]
        found += [f"{name}.round:{one.line}: {one}" for one in wrong]
        expects_refusal = any(
            pin.text.startswith(("~ refused", "!")) for pin in (*step.step.among, *step.step.pins)
        )
        if step.refusal is not None and not expects_refusal:
            found.append(f"{name}.round:{step.step.line}: refused, which nobody expects: {step.refusal}")
    return found


@pytest.mark.parametrize("name", READINGS)
def test_the_table_answers_as_a_second_reading_expects(name: str) -> None:
    assert unforeseen(READINGS[name], name) == []


def test_sabotage_a_second_reading_that_is_not_answered_is_seen() -> None:
    evening = HEADER + "> Dan: open-bets\n"
    assert unforeseen(f"{evening}  ~ bets-opened [3.1]\n", "evening") == []
    assert unforeseen(f"{evening}  ~ round-voided [5.2]\n", "evening")
    assert unforeseen(f"{evening}  = table: phase between\n", "evening")
    assert unforeseen(f"{evening}> Dan: settle\n  ~ refused [3.11]\n", "evening") == []
    assert unforeseen(f"{evening}> Dan: settle\n  ~ no round-voided\n", "evening")


@pytest.mark.parametrize("paid", [True, False])
def test_sabotage_money_that_a_report_holds_back_too_long_or_not_at_all_is_seen(
    *, paid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "reading-c/rws-5-3-2-held-and-not-dispensed"
    monkeypatch.setattr(checks, "_was_paid", lambda *_: paid)
    assert unforeseen(READINGS[name], name)


def test_there_is_a_playbook_for_every_book_of() -> None:
    books = {table.rulebook for table in PAY_TABLES}
    assert {told(name).story.book for name in PLAYBOOKS} == books | {f"{book}@1" for book in books}


def test_the_page_on_playbooks_shows_one_that_plays_and_lists_every_verb() -> None:
    page = (ROOT / "docs" / "reference" / "playbook-format.md").read_text("utf-8")
    example = page.split("```")[1]
    assert [one for step in play(example).played for one in step.mismatches] == []
    assert [verb for verb in VERBS if f"`{verb}`" not in page] == []


KNOWN = {table.rulebook: frozenset(book_of(table.rulebook).clauses) for table in PAY_TABLES}


@each_playbook
def test_every_clause_that_a_comment_cites_exists(name: str) -> None:
    assert citations.unknown_in_prose(PLAYBOOKS[name], KNOWN, HOUSE_PROCEDURES) == []


def test_sabotage_a_comment_on_an_invented_clause_is_seen() -> None:
    assert citations.unknown_in_prose("# It is void (RW" + "S 5.3.9).", KNOWN, HOUSE_PROCEDURES)


SABOTAGES = {
    "figure": (r"\d+(?=[^\]\[]*$)", lambda found: str(int(found[0]) + 1)),
    "clause": (r"\[[^\]]+\]", lambda _: "[99.9]"),
    "name": (r"(?<=[+!*=] )\S+", lambda found: {"seat": "table"}.get(found[0], "bets-forgotten")),
}


@pytest.mark.parametrize("kind", SABOTAGES)
@each_playbook
def test_sabotage_every_altered_line_is_reported_with_its_number(name: str, kind: str) -> None:
    pattern, changed = SABOTAGES[kind]
    pinned = r"\s+[+!*]" if kind == "name" else r"\s+[+!*=]"  # the name of a fact says what is asked
    altered, lines = set(), []
    for number, line in enumerate(PLAYBOOKS[name].split("\n"), 1):
        fresh = re.sub(pattern, changed, line, count=1) if re.match(pinned, line) else line
        altered |= {number} if fresh != line else set()
        lines.append(fresh)
    found = [one.line for step in play("\n".join(lines)).played for one in step.mismatches]
    assert sorted(found) == sorted(altered)
    assert altered


@each_playbook
def test_sabotage_a_line_left_out_or_put_in_is_reported(name: str) -> None:
    lines = PLAYBOOKS[name].split("\n")
    places = [place for place, line in enumerate(lines) if re.match(r"\s+[+!]", line)]
    left_out = play("\n".join(lines[: places[-1]] + lines[places[-1] + 1 :]))
    assert [one for step in left_out.played for one in step.mismatches]
    put_in = play("\n".join([*lines[: places[0] + 1], "  + bets-opened [3.1]", *lines[places[0] + 1 :]]))
    assert next(one.line for step in put_in.played for one in step.mismatches) == places[0] + 2


def test_sabotage_a_wrong_answer_says_expected_and_got() -> None:
    (wrong,) = play(HEADER + "> Dan: uncover\n  ! late [3.10]\n").played[0].mismatches
    assert (wrong.line, wrong.expected, wrong.got) == (6, "! late [3.10]", "! out-of-order [3.10]")


# Junk

JUNK = {
    "": (1, "missing 'book:' in the header"),
    "nonsense": (1, "expected one of book, table, opened by"),
    "book: x\nbook: y": (2, "expected 'book:' once"),
    "book:": (1, "expected a value"),
    "limits: 100": (1, "expected limits such as '100 to 5000'"),
    "limits: ten to 100": (1, "expected the least for the table, got 'ten'"),
    "limits: triple 1 to 2": (1, "expected the table's limits"),
    "opened by: Sue": (1, "expected a name and a rank"),
    "people: Dan": (1, "expected a name and a rank"),
    "settings: tumble": (1, "expected a name and a value"),
    "demonstration: perhaps": (1, "expected yes or no for demonstration"),
    "> Dan: open-bets": (1, "missing 'book:' in the header"),
    "+ bets-opened": (1, "expected a command before its answers"),
    HEADER: (4, "expected at least one command"),
    HEADER + "> open-bets": (5, "expected '> who: command'"),
    HEADER + "> Dan:": (5, "expected '> who: command'"),
    HEADER + "> Dan: fly": (5, "got 'fly', expected one of close-table,"),
    HEADER + "> Dan: opn-bets": (5, "junk.round:5: got 'opn-bets'; near it are open-bets"),
    HEADER + "> Dan: shut becuase x": (5, "got 'becuase' with shut; near it are because"),
    HEADER + "> Dan: uncover\n= seat 1: credit 5": (6, "got 'credit'; near it are credits"),
    "limit: 100 to 200": (1, "got 'limit'; near it are limits"),
    HEADER + "> Dan: open-table": (5, "got 'open-table'; near it are close-table"),
    HEADER + "> Dan: tumble thrice": (5, "expected a whole number for tumbles, got 'thrice'"),
    HEADER + "> Dan: tumble 1.5": (5, "got '1.5'"),
    HEADER + "> Dan: tumble 3, tumbles 3": (5, "expected tumbles once"),
    HEADER + "> Dan: report meteor": (5, "got 'meteor', expected one of too-few-tumbles"),
    HEADER + "> Dan: report other, colour red": (5, "expected one of event, round"),
    HEADER + "> Dan: record-bets small 5": (5, "expected means with record-bets"),
    HEADER + "> Dan: record-bets means cash, small": (5, "expected a bet such as 'small 1000'"),
    HEADER + "> Dan: record-bets means cash, small x": (5, "expected a stake on small, got 'x'"),
    HEADER + "> Dan: record-bets means cash,, small 5": (5, "expected a piece between two commas"),
    HEADER + '> Dan: shut because "x': (5, "expected a second quotation mark"),
    HEADER + "> Dan: choose-withdrawal seat 1, withdraw maybe": (5, "expected yes or no for withdraw"),
    HEADER + "> Dan: decide-referral r1, treatment void, because x, bet b1": (5, "expected 'bet b1 big'"),
    HEADER + "> Dan: set-limits 5": (5, "expected limits such as"),
    HEADER + "> Dan: uncover\nsoon": (6, "or 'after 25 hours', got 'soon'"),
    HEADER + "> Dan: uncover\nafter x hours": (6, "expected a number of hours, got 'x'"),
    HEADER + "> Dan: uncover\nafter 400 days": (6, "expected a time from 0 to 366 days"),
    HEADER + "> Dan: uncover\n= weather: fine": (6, "expected '= seat 7: …'"),
    HEADER + "> Dan: uncover\n= seat 1: luck 5": (6, "expected one of credits, at-risk"),
    HEADER + "> Dan: uncover\n= accounts: slush 5": (6, "expected one of credits, at-risk, payable"),
    HEADER + "> Dan: uncover\n= table: ": (6, "expected figures of the table"),
    HEADER + "> Dan: uncover\n= table: rounds 0\n! late [1]": (7, "expected the answer before"),
    HEADER + "> Dan: uncover \x1b[31m": (5, "expected printable characters"),
    HEADER + "> Dan: shut because " + "x" * 2000: (5, "expected a line of at most 2000 characters"),
    HEADER + "#\n" * 5000 + "> Dan: uncover": (5001, "expected at most 5000 lines, got 5005"),
}


@pytest.mark.parametrize("text", JUNK, ids=lambda text: text.rpartition("\n")[2][:40] or "header")
def test_what_is_no_playbook_is_refused_with_its_line(text: str) -> None:
    line, message = JUNK[text]
    with pytest.raises(PlaybookError) as refused:
        playbook(text, "junk.round")
    assert refused.value.line == line
    assert str(refused.value).startswith(f"junk.round:{line}: ")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("limits: 5000 to 1000", "0 < least <= most"),
        ("opened by: Dan dealer", "not-permitted"),
        ("settings: mood good", "a setting of this rulebook"),
        ("offers: small 2 to 1", "fixed by 4.1.1"),
        ("layout: Z", "a layout of mbs-sic-bo-v6"),
        ("people: Dan emperor", "unknown rank 'emperor'; known: dealer"),
        ("day: tomorrow", "a gaming day such as"),
    ],
)
def test_a_header_that_the_table_refuses_is_an_error_at_the_line_of_the_key(line: str, message: str) -> None:
    key = line.partition(":")[0]
    kept = [one for one in HEADER.splitlines() if not one.startswith(f"{key}:")]
    with pytest.raises(PlaybookError, match=re.escape(message)) as refused:
        play("\n".join([*kept, line, "currency: EUR", "> Sue: uncover"]))
    assert refused.value.line == len(kept) + 1


@pytest.mark.parametrize(
    ("answer", "unpinned"),
    [
        ("", ["! out-of-order [3.10]"]),
        ("! out-of-order [3.10]\n= table: phase ?, rounds 0", ["= table: phase between, rounds 0"]),
        ("= table: rounds ?", ["! out-of-order [3.10]", "= table: rounds 0"]),
        ("! out-of-order [3.10]\n= table: rounds 0", []),
    ],
)
def test_what_is_not_pinned_yet_is_no_wrong_line(answer: str, unpinned: list[str]) -> None:
    (step,) = play(f"{HEADER}> Dan: uncover\n{answer}\n").played
    assert [(one.expected, one.got) for one in step.mismatches] == [(None, got) for got in unpinned]


def test_sabotage_a_line_left_out_among_pinned_ones_is_wrong() -> None:
    (wrong,) = play(f"{HEADER}> Dan: uncover\n! out-of-order [3.10]\n+ nothing\n").played[0].mismatches
    assert (wrong.line, wrong.expected, wrong.got) == (7, "+ nothing", "nothing")


def test_pinning_says_how_much_it_wrote_and_which_refusals() -> None:
    made = pinned(
        f"{HEADER}> Dan: uncover\n+ nothing\n+ nothing\n= table: rounds ?\n", book_of("mbs-sic-bo-v6")
    )
    assert made.text == f"{HEADER}> Dan: uncover\n  ! out-of-order [3.10]\n  = table: rounds 0\n"
    assert (made.lines, made.written, made.struck) == (2, 2, 1)
    assert [(line, refusal.reason) for line, refusal in made.refusals] == [(6, "out-of-order")]
    again = pinned(made.text, book_of("mbs-sic-bo-v6"))
    assert again == made._replace(written=0, struck=0, refusals=())


LINES = sorted({line for text in PLAYBOOKS.values() for line in text.split("\n") if line.startswith(">")})


@given(
    name=st.sampled_from(sorted(PLAYBOOKS)),
    chosen=st.lists(st.sampled_from(LINES), min_size=1, max_size=30),
    junk=st.text(alphabet=' ,:"0123456789-abrx>', max_size=20),
    place=st.integers(0, 29),
)
def test_whatever_is_asked_in_whatever_order_is_answered(
    name: str, chosen: list[str], junk: str, place: int
) -> None:
    header = PLAYBOOKS[name].partition("\n>")[0]
    chosen[place % len(chosen)] += junk
    try:
        text = rewritten(f"{header}\n" + "\n".join(chosen), book_of(told(name).story.book))
    except PlaybookError:
        return
    assert [one for step in play(text).played for one in step.mismatches] == []


def old_words(text: str) -> str:
    for old, current in OLD_REASONS.items():
        text = text.replace(f"! {current} ", f"! {old} ")
    return text


def test_playbooks_with_the_reasons_of_release_0_1_still_play() -> None:
    pairs = {name: (text, old_words(text)) for name, text in PLAYBOOKS.items()}
    changed = [old for text, old in pairs.values() if old != text]
    assert {word for word in OLD_REASONS if any(f"! {word} " in text for text in changed)} == set(OLD_REASONS)
    for text in changed:
        assert [one for step in play(text).played for one in step.mismatches] == []


def test_a_reason_of_release_0_1_is_the_reason_of_today() -> None:
    assert [Reason(old) for old in OLD_REASONS] == [Reason.NOT_PERMITTED, Reason.DIFFERENT_CONTENT]
    with pytest.raises(ValueError, match="not-hers-to-do"):
        Reason("not-hers-to-do")


def test_sabotage_books_that_do_not_balance_are_seen() -> None:
    table = Table(book_of("us-sic-bo"))
    assert books_faults(table) == []
    table.ledger.balances[Account.CREDITS] = 5
    assert books_faults(table) == ["held less owed is -5", "purses: credits"]
    table.ledger.balances[Account.CREDITS] = -5
    assert "credits -5" in books_faults(table)


# What an answer must contain

AMONG = HEADER + "> Dan: open-bets\n  ~ bets-opened [3.1]\n  ~ bets-opened\n  ~ no refused\n> Dan: uncover\n"


@pytest.mark.parametrize(
    ("line", "mismatches"),
    [
        ("~ irregularity-ruled", 0),
        ("~ irregularity", 1),
        ("~ refused", 1),
        ("~ no bets-closed", 0),
        ("~ no irregularity-ruled", 1),
    ],
)
def test_a_line_says_what_an_answer_must_contain_and_what_not(line: str, mismatches: int) -> None:
    played = play(f"{AMONG}  {line}\n").played
    assert [len(one.mismatches) for one in played] == [0, mismatches]


def test_a_refusal_is_found_by_its_clause_alone() -> None:
    text = HEADER + "> Dan: close-table\n  ~ refused [{}]\n"
    (step,) = play(text.format("house:table")).played
    assert step.mismatches == ()
    (wrong,) = play(text.format("5.2")).played[0].mismatches
    assert (wrong.line, wrong.expected) == (6, "~ refused [5.2]")


def test_pinning_keeps_what_an_answer_must_contain() -> None:
    assert rewritten(AMONG, book_of("mbs-sic-bo-v6")).startswith(AMONG)
