"""Approvals: only what a trusted key has signed, to the letter of the rulebook, and on the days it says."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from taisai.journal.seals.checkpoints import MOST_SIGNATURES, Checkpoint, NoteSignature, signed
from taisai.journal.seals.keys import SigningKey
from taisai.journal.seals.merkle import EMPTY_ROOT
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.book import rulebook_from
from taisai.server.runtime import rulebook_approvals as module
from taisai.server.runtime.rulebook_approvals import (
    MOST_BYTES,
    MOST_LINES,
    ApprovalsError,
    RulebookApproval,
    read_approvals,
    written_approvals,
)

KEY = SigningKey.new("regulator-2026", seed=b"r" * 32)
OTHER = SigningKey.new("regulator-2026", seed=b"o" * 32)
BOOKS = [rulebook(name) for name in rulebook_ids()]
FIRST, LAST = date(2026, 11, 16), date(2027, 11, 15)
LISTED = [RulebookApproval(book.id, book.digest, FIRST, LAST) for book in BOOKS]
TEXT = written_approvals(LISTED, KEY, comments=["what the regulator says of them"])
DAY = timedelta(days=1)


def refused(text: str | bytes, key: SigningKey = KEY) -> str:
    with pytest.raises(ApprovalsError) as error:
        read_approvals(text, key.public)
    return str(error.value)


def test_what_was_written_is_read_again() -> None:
    assert read_approvals(TEXT, KEY.public).listed == tuple(LISTED)
    assert read_approvals(TEXT.encode(), KEY.public).listed == tuple(LISTED)
    assert read_approvals(written_approvals([], KEY), KEY.public).listed == ()


@pytest.mark.parametrize(
    ("on", "approved"), [(FIRST - DAY, False), (FIRST, True), (LAST, True), (LAST + DAY, False)], ids=str
)
def test_an_approval_holds_from_its_first_day_to_its_last(on: date, approved: bool) -> None:  # noqa: FBT001
    approvals = read_approvals(TEXT, KEY.public)
    for book in BOOKS:
        refusal = approvals.refusal(book, on)
        assert (refusal is None) is approved
        if refusal:
            days = f"approved from {FIRST} to {LAST}"
            assert refusal == f"expected a rulebook approved for {on}, got {book.id}, {days}"


def test_an_approval_without_a_last_day_holds_for_good() -> None:
    text = written_approvals([RulebookApproval(BOOKS[0].id, BOOKS[0].digest, FIRST)], KEY)
    approvals = read_approvals(text, KEY.public)
    assert approvals.refusal(BOOKS[0], date(9999, 12, 31)) is None
    refusal = approvals.refusal(BOOKS[1], FIRST)
    assert refusal is not None
    assert "which is not on the list" in refusal


def test_either_of_two_approvals_is_enough() -> None:
    listed = [LISTED[0], RulebookApproval(BOOKS[0].id, BOOKS[0].digest, date(2028, 1, 1))]
    approvals = read_approvals(written_approvals(listed, KEY), KEY.public)
    assert approvals.refusal(BOOKS[0], FIRST) is None
    assert approvals.refusal(BOOKS[0], date(2029, 1, 1)) is None
    assert approvals.refusal(BOOKS[0], date(2027, 12, 31)) is not None


def test_another_text_under_the_same_id_is_not_approved() -> None:
    book = BOOKS[0]
    other = rulebook_from(book.text.replace(book.title, f"{book.title}!"), "other")
    assert other.digest != book.digest
    refusal = read_approvals(TEXT, KEY.public).refusal(other, FIRST)
    assert refusal is not None
    assert refusal.endswith(f"{other.digest}, whose text differs from the approved one")


def test_the_same_text_under_another_id_is_not_approved() -> None:
    listed = [RulebookApproval("another-id", BOOKS[0].digest, FIRST)]
    approvals = read_approvals(written_approvals(listed, KEY), KEY.public)
    assert approvals.refusal(BOOKS[0], FIRST) is not None


def test_nobody_else_can_sign_it() -> None:
    assert refused(TEXT, OTHER).startswith(f"expected a list signed by regulator-2026 {OTHER.public.id}")
    assert "signed by" in refused(TEXT.replace(f"— {KEY.name} ", "— someone "))


def test_no_letter_of_it_can_be_changed() -> None:
    body, _, under = TEXT.rpartition("\n\n")
    for place in range(len(body)):
        other = "b" if body[place] != "b" else "c"
        altered = f"{body[:place]}{other}{body[place + 1 :]}\n\n{under}"
        assert refused(altered).startswith("expected a list signed by"), place


@pytest.mark.parametrize("change", ["line", "order", "date"])
def test_a_list_that_was_edited_is_refused(change: str) -> None:
    head, comment, first, second, *rest = TEXT.split("\n")
    lines = {
        "line": [head, comment, first, *rest],
        "order": [head, comment, second, first, *rest],
        "date": [head, comment, first.replace("2027", "2099"), second, *rest],
    }[change]
    assert refused("\n".join(lines)).startswith("expected a list signed by")


def test_sabotage_a_reader_that_believes_any_signature_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_signed", lambda *_: True)
    forged = TEXT.replace("2027", "2099")
    assert read_approvals(forged, KEY.public).refusal(BOOKS[0], date(2098, 1, 1)) is None


def test_a_checkpoint_is_no_list() -> None:
    text = signed(Checkpoint(origin="taisai/x", size=0, root=EMPTY_ROOT, at=0), KEY)
    assert refused(text).startswith("expected 'taisai approvals 1', got 'taisai/x' (line 1)")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "us-sic-bo",
        f"us-sic-bo, {BOOKS[0].digest}, 2026-11-16",
        f"us-sic-bo,{BOOKS[0].digest},2026-11-16,-",
        f"us-sic-bo, {BOOKS[0].digest}, 2026-02-30, -",
        f"us-sic-bo, {BOOKS[0].digest}, 20261116, -",
        f"us-sic-bo, {BOOKS[0].digest}, 2026-11-16, 2026-11-15",
        f"us-sic-bo, {BOOKS[0].digest.upper()}, 2026-11-16, -",
        f"US, {BOOKS[0].digest}, 2026-11-16, -",
        f"us-sic-bo, {BOOKS[0].digest}, 2026-11-16, - ",
        f"us-sic-bo, {BOOKS[0].digest}, 2026-11-16, -\r",
    ],
)
def test_a_line_of_another_form_is_refused_though_it_was_signed(line: str) -> None:
    body = f"taisai approvals 1\n{line}\n# end\n"
    signature = NoteSignature(KEY.name, KEY.public.id, KEY.sign(body.encode())).line
    assert refused(f"{body}\n{signature}").startswith("expected ")


@pytest.mark.parametrize(
    "text",
    ["", "\n", "\n\n", "taisai approvals 1\n", TEXT[:-1], TEXT + "\n", TEXT + "x\n", b"\xff", "\ud800"],
    ids=range(9),
)
def test_what_is_no_signed_text_is_refused(text: str | bytes) -> None:
    assert refused(text).startswith(("expected ", "the list is not UTF-8"))


def test_there_is_a_limit_on_everything() -> None:
    line = LISTED[0]
    text = written_approvals([line] * MOST_LINES, KEY)
    assert len(text) < MOST_BYTES
    assert len(read_approvals(text, KEY.public).listed) == MOST_LINES
    assert "lines, got 10001" in refused(written_approvals([line] * (MOST_LINES + 1), KEY))
    assert f"at most {MOST_BYTES} bytes" in refused("x" * (MOST_BYTES + 1))
    signature = TEXT.rpartition("\n\n")[2]
    assert read_approvals(TEXT + signature * (MOST_SIGNATURES - 1), KEY.public).listed
    assert refused(TEXT + signature * MOST_SIGNATURES).startswith("expected a list, an empty line")
