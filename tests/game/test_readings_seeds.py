"""Seeds: committed before bets open, drawn with after they close, revealed when no bet can follow."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from taisai.game.commands import CommitSeed, Perform, ReportIrregularity, RevealSeed, TakeReading
from taisai.game.dice import seeds
from taisai.game.dice.draw import Throw, dealt
from taisai.game.dice.seeds import unseen
from taisai.game.events import ReadingTaken, SeedCommitted, SeedRevealed
from taisai.game.vocabulary import RECOGNISER, SHAKER, SYSTEM, DeviceFault
from taisai.rules import Act, Irregularity, Phase, rulebook
from tests.game.past_rounds import SnapshotStore, unlike
from tests.game.playing import MBS, RWS, STAKES, THREE_CARD, US, course, opened, phases
from tests.game.seeded_tables import ANOTHER, CLOSE, Shown, committing, seed_of, shown

WHERE = "house:demonstration-shaker"
COURSES: tuple[tuple[str, dict[str, str]], ...] = (
    (MBS, {}),
    (MBS, {"tumble": "after_close"}),
    (RWS, {}),
    (RWS, {"tumble": "before_close"}),
    (THREE_CARD, {}),
    (US, {}),
    (US, {"shaker": "automated"}),
)
each_course = pytest.mark.parametrize(("book", "settings"), COURSES)


def drawn(book: str, **settings: str) -> Shown:
    """A table whose round was drawn and lies in view."""
    table = shown(book, **settings)
    table.commit()
    table.to("revealed")
    table.read()
    return table


# A round from its seed


@each_course
def test_a_round_is_played_by_a_seed_that_anyone_can_check(book: str, settings: dict[str, str]) -> None:
    table = shown(book, **settings)
    (committed,) = table.commit()
    assert isinstance(committed, SeedCommitted)
    assert committed.commitment == sha256(seed_of(1)).hexdigest()
    table.to("revealed")
    (read,) = table.read()
    assert isinstance(read, ReadingTaken)
    (revealed,) = table.reveal()
    assert isinstance(revealed, SeedRevealed)
    assert {committed.clause, read.clause, revealed.clause} == {WHERE}
    assert (revealed.seed, revealed.faces, revealed.shake) == (seed_of(1).hex(), read.faces, 1)
    assert table.table.commitment is None
    table.act("enter-result", faces=read.faces)
    assert unlike(table.table, SnapshotStore().again(table.table)) == []


@each_course
def test_a_draw_comes_when_bets_are_closed_and_before_a_result(book: str, settings: dict[str, str]) -> None:
    table = shown(book, **settings)
    table.commit()
    done: list[str] = []
    for act, phase in course(book, settings):
        table.act(act)
        if act == Act.OPEN_BETS:
            table.bet(**STAKES)
        if table.table.round and table.tried(TakeReading, SHAKER, **table.reading()) == "done":
            done.append(phase)
    passed = [phase for _, phase in course(book, settings)]
    assert done == [one for one in ("closed-tumbled", "deal-pressed", "revealed") if one in passed]


# Committing


@pytest.mark.parametrize("book", [MBS, RWS, THREE_CARD, US])
def test_only_a_demonstration_table_takes_seeds(book: str) -> None:
    table = opened(rulebook(book))
    assert table.refused(CommitSeed, SHAKER, **committing(1)) == f"ruled-out {WHERE}"
    assert shown(book).tried(CommitSeed, SHAKER, **committing(1)) == "done"


def test_only_the_shaker_commits_and_reveals() -> None:
    table = drawn(RWS)
    for by in ("dan", "sue", "T07", *sorted(SYSTEM - {SHAKER})):
        assert table.refused(CommitSeed, by, **committing(2)) == f"not-permitted {WHERE}"
        assert table.refused(RevealSeed, by, **table.revealing()) == f"not-permitted {WHERE}"


@pytest.mark.parametrize("phase", [one for one in phases(RWS) if one not in ("between", "open-tumbled")])
def test_no_seed_is_committed_once_bets_are_open(phase: str) -> None:
    table = shown(RWS)
    table.to(phase)
    assert table.refused(CommitSeed, SHAKER, **committing(2)) == f"under-live-bets {WHERE}"
    assert table.refused(CommitSeed, SHAKER, **committing(1)) == f"wrong-round {WHERE}"


def test_sabotage_a_seed_committed_late_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "between_rounds", lambda *_: None)
    with pytest.raises(AssertionError):
        test_no_seed_is_committed_once_bets_are_open("closed")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"round": 2}, "wrong-round"),
        ({"round": 0}, "wrong-round"),
        ({"commitment": ""}, "bad-value"),
        ({"commitment": "A" * 64}, "bad-value"),
        ({"commitment": "a" * 63}, "bad-value"),
        ({"commitment": "a" * 65}, "bad-value"),
        ({"commitment": "a" * 62 + " a"}, "bad-value"),
        ({"commitment": "٣" * 64}, "bad-value"),
        ({"source": ""}, "bad-value"),
    ],
)
def test_what_is_no_commitment_is_refused(fields: dict[str, Any], told: str) -> None:
    assert shown(RWS).refused(CommitSeed, SHAKER, **committing(1, **fields)).startswith(told)


def test_one_seed_at_a_time_and_each_only_once() -> None:
    table = drawn(RWS)
    assert table.ask(CommitSeed, SHAKER, **committing(1)) == ()
    assert table.refused(CommitSeed, SHAKER, **committing(2)) == f"different-content {WHERE}"
    for act in ("enter-result", "settle", "collect-and-pay", "conclude"):
        table.act(act)
    assert table.refused(CommitSeed, SHAKER, **committing(2)) == f"different-content {WHERE}"
    table.reveal()
    known = committing(1)["commitment"]
    assert table.refused(CommitSeed, SHAKER, **committing(2, commitment=known)) == f"bad-value {WHERE}"
    assert table.refused(CommitSeed, SHAKER, **committing(1)) == f"wrong-round {WHERE}"
    table.commit()


# Drawing


def test_nothing_is_drawn_without_a_seed() -> None:
    table = shown(RWS)
    table.to("revealed")
    told = table.refused(TakeReading, SHAKER, **table.reading())
    assert told == f"unmet-need {WHERE}"


def test_a_round_has_a_seed_or_dice_and_never_both() -> None:
    table = shown(RWS)
    table.commit()
    table.to("revealed")
    told = table.refused(TakeReading, RECOGNISER, **table.reading(device="SHK-07"))
    assert told == f"not-permitted {WHERE}"
    other = shown(RWS)
    other.to("revealed")
    other.read(RECOGNISER)


def test_one_draw_to_a_shake() -> None:
    table = drawn(RWS)
    faces = table.faces()
    other = tuple(1 + face % 6 for face in faces)
    assert table.refused(TakeReading, SHAKER, **table.reading(faces=other)) == f"different-content {WHERE}"
    table.read(fault=DeviceFault.DOWN)
    assert table.refused(TakeReading, SHAKER, **table.reading(faces=other)) == f"different-content {WHERE}"
    table.reveal()


def test_a_seed_that_is_known_draws_nothing_more() -> None:
    table = drawn(RWS)
    table.reveal()
    assert table.refused(TakeReading, SHAKER, **table.reading()) == f"unmet-need {WHERE}"


# Revealing


@each_course
def test_no_seed_is_known_while_bets_are_open(book: str, settings: dict[str, str]) -> None:
    table = shown(book, **settings)
    table.commit()
    assert table.refused(RevealSeed, SHAKER, **table.revealing(1)) == f"out-of-order {WHERE}"
    table.to("open")
    assert table.refused(RevealSeed, SHAKER, **table.revealing()) == f"out-of-order {WHERE}"


def test_no_seed_is_known_while_bets_are_open_again() -> None:
    table = drawn(US)
    table.act("enter-result", flat=False)
    assert table.table.phase is Phase.OPEN
    assert table.refused(RevealSeed, SHAKER, **table.revealing()) == f"out-of-order {WHERE}"
    for act in ("close-bets", "tumble", "uncover"):
        table.act(act)
    assert table.refused(RevealSeed, SHAKER, **table.revealing()) == f"out-of-order {WHERE}"
    table.read(faces=table.faces(ANOTHER))
    assert table.refused(RevealSeed, SHAKER, **table.revealing(closed=CLOSE)) == f"bad-value {WHERE}"
    (revealed,) = table.reveal(closed=ANOTHER)
    assert isinstance(revealed, SeedRevealed)
    assert revealed.shake == 2


def test_no_seed_is_known_while_a_choice_is_open() -> None:
    table = shown(MBS)
    table.commit()
    table.to("closed-tumbled")
    table.read()
    table.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE, second="sue")
    assert table.refused(RevealSeed, SHAKER, **table.revealing()) == "on-hold 5.13.1"
    assert table.refused(TakeReading, SHAKER, **table.reading(reading="b")) == "on-hold 5.13.1"


@pytest.mark.parametrize("until", ["revealed", "entered", "settled", "paid", "between"])
def test_a_seed_may_be_revealed_late(until: str) -> None:
    table = drawn(RWS)
    faces = table.faces()
    for act, phase in (("enter-result", "entered"), ("settle", "settled"), ("collect-and-pay", "paid"),
                       ("conclude", "between")):  # fmt: skip
        if table.table.phase == until:
            break
        table.act(act, **({"faces": faces} if phase == "entered" else {}))
    assert table.table.phase == until
    table.reveal(number=1)


def test_a_seed_of_a_round_that_is_over_may_be_revealed_in_the_next() -> None:
    table = drawn(RWS)
    for act in ("enter-result", "settle", "collect-and-pay", "conclude", "open-bets"):
        table.act(act)
    (revealed,) = table.reveal(number=1)
    assert isinstance(revealed, SeedRevealed)
    assert revealed.faces


def test_a_void_round_reveals_with_nothing_drawn() -> None:
    table = shown(RWS)
    table.commit()
    table.to("closed")
    table.do(ReportIrregularity, "dan", event=Irregularity.DIE_DAMAGED, second="sue")
    assert table.table.round is None
    for fields in ({"faces": (1, 2, 3)}, {"close": 9}, {"hash": CLOSE.hex()}):
        assert table.refused(RevealSeed, SHAKER, **table.revealing(**fields)) == f"bad-value {WHERE}"
    table.reveal()
    assert table.ask(RevealSeed, SHAKER, **table.revealing()) == ()


WRONG: dict[str, dict[str, Any]] = {
    "another seed": {"seed": seed_of(2).hex()},
    "no seed": {"seed": "00" * 31},
    "seed in capitals": {"seed": seed_of(1).hex().upper()},
    "another close": {"hash": ANOTHER.hex()},
    "no hash": {"hash": ""},
    "no position": {"close": 0},
    "a position beyond all": {"close": 2**60},
    "no faces": {"faces": ()},
    "other faces": {"faces": (6, 6, 6)},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_what_does_not_prove_the_draw_is_refused(fields: dict[str, Any]) -> None:
    table = drawn(RWS)
    assert table.faces() != (6, 6, 6)
    assert table.refused(RevealSeed, SHAKER, **table.revealing(**fields)) == f"bad-value {WHERE}"
    assert table.refused(RevealSeed, SHAKER, **table.revealing(round=2)) == f"wrong-round {WHERE}"


def test_faces_that_were_not_drawn_are_never_proved() -> None:
    table = shown(RWS)
    table.commit()
    table.to("revealed")
    table.read(faces=(6, 6, 6))
    assert table.refused(RevealSeed, SHAKER, **table.revealing()) == f"bad-value {WHERE}"
    assert table.refused(RevealSeed, SHAKER, **table.revealing(faces=table.faces())) == f"bad-value {WHERE}"


def test_sabotage_any_seed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "_bad_seed", lambda *_: None)
    monkeypatch.setattr(seeds, "drawn_by", lambda *_: drawn(RWS).faces())
    with pytest.raises(AssertionError):
        test_what_does_not_prove_the_draw_is_refused(WRONG["another seed"])


def test_sabotage_any_draw_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "_bad_draw", lambda *_: None)
    with pytest.raises(AssertionError):
        test_faces_that_were_not_drawn_are_never_proved()


def test_a_retry_of_a_reveal_changes_nothing() -> None:
    table = drawn(US)
    asked = table.revealing()
    table.do(RevealSeed, SHAKER, **asked)
    assert table.ask(RevealSeed, SHAKER, **asked) == ()
    table.act("enter-result", flat=False)
    assert table.ask(RevealSeed, SHAKER, **asked) == ()
    assert table.refused(RevealSeed, SHAKER, **asked | {"close": 10}) == f"out-of-order {WHERE}"


# The shoe


def test_cards_are_drawn_from_those_not_seen_and_the_reading_says_which() -> None:
    table = shown(THREE_CARD, shuffle="penetration", penetration="90")
    seen: list[int] = []
    for number in range(1, 8):
        table.commit()
        table.to("revealed")
        cards = tuple(4 * 8 - seen.count(face) for face in range(1, 7))
        assert unseen(table.table) == cards
        faces = dealt(seed_of(number), Throw("T1", number, 1, CLOSE), cards)
        (event,) = table.read(faces=faces)
        assert isinstance(event, ReadingTaken)
        assert event.cards == cards
        table.do(Perform, "dan", act=Act.ENTER_RESULT, faces=faces)
        for act in ("settle", "collect-and-pay", "conclude"):
            table.act(act)
        table.reveal(number=number)
        seen += faces
    assert sum(unseen(table.table)) == 4 * 48 - 21


def test_of_a_game_of_dice_no_cards_are_shown() -> None:
    (event,) = [one for one in drawn(RWS).log if isinstance(one, ReadingTaken)]
    assert event.cards == ()
