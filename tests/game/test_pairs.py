"""Pairs of irregularities: the case files are the rulebooks', and each pair is played."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from taisai.game import Table, play
from taisai.game.commands import ReportIrregularity
from taisai.game.events import Event, RoundVoided
from taisai.game.irregularities import consequences, rulings
from taisai.game.messages import Events
from taisai.game.money.ledger import Account, UnbalancedError
from taisai.game.refusals import Refusal
from taisai.rules import Irregularity, Rulebook, rulebook, rulebook_ids
from taisai.rules.irregularities import Ruling
from tests.game import pairs
from tests.game.irregularity_triples import triple_faults
from tests.game.past_rounds import compiled_once
from tests.game.playing import at
from tests.rules.books import data_of, edited, loaded, without
from tests.tiers import count, drawn, sampled, source_digest
from tools.pairs import CASES, files

EVERY = [
    (book, settings, phase)
    for book in rulebook_ids()
    for settings, table in pairs.cases(book).items()
    for phase in dict.fromkeys(pair.phase for pair in table)
    if pairs.is_played(book, settings, phase)
]
_QUICK = 12
"""Pairs for each phase of each rulebook in `make test`; there are 500 to 850."""


def _name(case: object) -> str:
    return "+".join("=".join(one) for one in case) if isinstance(case, tuple) else str(case)


def test_the_case_files_are_the_rulebooks() -> None:
    written = {file.name: file.read_text("utf-8") for file in CASES.iterdir()}
    assert written == files(), "run make pictures, and read what has changed"


@pytest.mark.parametrize("book", rulebook_ids())
def test_every_pair_in_every_phase_is_on_one_line(book: str) -> None:
    tables, faults = pairs.read((CASES / f"{book}.txt").read_text("utf-8"))
    assert faults == []
    names = {pair.first for pair in tables[()]}
    assert set(Irregularity) <= names
    assert len(tables[()]) == len(names) ** 2 * len(rulebook(book).irregularities.phases)


@pytest.mark.parametrize(("book", "settings", "phase"), EVERY, ids=_name)
def test_each_pair_is_played(book: str, settings: pairs.Settings, phase: str) -> None:
    table = pairs.cases(book)[settings]
    chosen = [pair for pair in table if pair.phase == phase]
    wrong = {}
    with compiled_once():
        for pair in sampled(f"pairs {book} {settings} {phase}", chosen, _QUICK):
            faults = pairs.faults_of(rulebook(book), settings, pair, table[pair])
            if faults:
                wrong[pair] = (faults, table[pair])
    assert wrong == {}


def test_three_irregularities_in_one_round_are_ruled_add_up_and_replay_as_they_were() -> None:
    wrong = []
    with compiled_once():
        for n in range(count(60, 4_000)):
            seed = f"triples {n} {source_digest()}"
            wrong += [f"seed {seed!r}: {fault}" for fault in triple_faults(seed)]
    assert wrong == []


# Sabotages


def _faults_under(book: Rulebook, name: str, wanted: Iterable[pairs.Pair]) -> list[list[str]]:
    """What the pairs of a case file come to at a table of another book."""
    table = pairs.cases(name)[()]
    with compiled_once():
        return [pairs.faults_of(book, (), pair, table[pair]) for pair in wanted]


@pytest.mark.parametrize(
    ("name", "line", "changes", "pair"),
    [
        # A clause that lets a round go on would cure a void.
        (
            "mbs-sic-bo-v6",
            6,
            {"rulings": ["continue", "settle-by-outcome", "reset-and-enter"], "beside": ["void"]},
            pairs.Pair("power-failure", "die-not-flat", "revealed"),
        ),
        # An option to withdraw would end a void.
        (
            "mbs-sic-bo-v6",
            5,
            {"rulings": ["withdraw-option"], "beside": ["void"]},
            pairs.Pair("power-failure", "exposed-early", "open-tumbled"),
        ),
        # A referral would be dropped with the round.
        ("mbs-sic-bo-v6", 3, {"prevails": "these"}, pairs.Pair("die-damaged", "other", "revealed")),
        # A question about chips would outlive the bets that went back.
        ("mbs-sic-bo-v6", 2, {"events": ["late-bet"]}, pairs.Pair("chips-unclear", "die-damaged", "settled")),
        # Terminals that are down would save a round whose console failed.
        (
            "rws-sic-bo-etg-v8",
            4,
            {"rulings": ["continue", "settle-by-outcome", "settle-registered"],
             "beside": ["void", "void-affected"]},
            pairs.Pair("terminals-down", "equipment-failure", "closed-tumbled"),
        ),
        # A result would be corrected that no roll has given.
        (
            "us-sic-bo",
            8,
            {"rulings": ["settle-then-shut", "continue", "settle-by-outcome"], "beside": ["no-roll"]},
            pairs.Pair("wrong-result", "die-not-flat", "entered"),
        ),
    ],
)  # fmt: skip
def test_sabotage_another_order_of_rulings_is_noticed(
    name: str, line: int, changes: dict[str, object], pair: pairs.Pair
) -> None:
    data = data_of(name)
    assert _faults_under(loaded(data), name, [pair]) == [[]]
    for key, value in changes.items():
        data = edited(data, ("irregularities", "precedence", line, key), value)
    assert _faults_under(loaded(data), name, [pair]) != [[]]


EXCEPTIONS = (
    "equipment-failure", "power-failure", "die-not-flat", "too-few-tumbles", "late-bet", "late-withdrawal",
)  # fmt: skip
"""What the American exceptions are about, beside a die that is not flat."""


@pytest.mark.parametrize("which", range(len(EXCEPTIONS)))
def test_sabotage_a_pair_that_lost_its_exception_is_noticed(which: int) -> None:
    data = without(data_of("us-sic-bo"), ("irregularities", "pair", which))
    assert len(data_of("us-sic-bo")["irregularities"]["pair"]) == len(EXCEPTIONS)
    second = EXCEPTIONS[which]
    wanted = [pairs.Pair("die-not-flat", second, "revealed")]
    assert _faults_under(rulebook("us-sic-bo"), "us-sic-bo", wanted) == [[]]
    assert _faults_under(loaded(data), "us-sic-bo", wanted) != [[]]


def test_sabotage_a_program_that_rules_each_report_by_itself_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rulings, "pair_of", lambda *_: None)
    wanted = [
        pairs.Pair("die-not-flat", "power-failure", "revealed"),
        pairs.Pair("die-not-flat", "equipment-failure", "revealed"),
        pairs.Pair("die-not-flat", "die-not-flat", "revealed"),
    ]
    assert [] not in _faults_under(rulebook("us-sic-bo"), "us-sic-bo", wanted)


@pytest.mark.parametrize("book", rulebook_ids())
def test_sabotage_a_cell_that_says_something_else_is_noticed(book: str) -> None:
    """Another ruling, one more, one fewer, another clause."""
    table = pairs.cases(book)[()]
    rulings = sorted({ruling for decided in table.values() for ruling in decided.rulings})
    played = [pair for pair in table if "wrong-result" not in pair]  # without a result it is refused
    missed = []
    with compiled_once():
        for pair in drawn(f"altered pairs {book}").sample(played, _QUICK):
            said = table[pair]
            others = [ruling for ruling in rulings if ruling not in said.rulings]
            altered = [said._replace(rulings=(other, *said.rulings[1:])) for other in others]
            altered += [said._replace(rulings=(*said.rulings, other)) for other in others]
            altered += [said._replace(clauses=("0", *said.clauses[1:]))]
            if len(said.rulings) > 1:
                altered += [said._replace(rulings=said.rulings[1:]), said._replace(rulings=said.rulings[:-1])]
            missed += [(pair, one) for one in altered if not pairs.faults_of(rulebook(book), (), pair, one)]
    assert missed == []


def test_sabotage_a_void_that_drops_a_referral_is_noticed_among_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds = [f"three, the first void {n}" for n in range(200)]
    refer = consequences._EFFECTS[Ruling.REFER]

    def dropped(table: Table, case: consequences.IrregularityCase) -> Events | Refusal:
        return () if case.round is not None and case.round.voided else refer(table, case)

    with compiled_once():
        assert not any(triple_faults(seed) for seed in seeds)
        monkeypatch.setitem(consequences._EFFECTS, Ruling.REFER, dropped)
        assert any(triple_faults(seed) for seed in seeds)


def test_sabotage_a_line_that_is_missing_or_repeated_is_noticed() -> None:
    text = (CASES / "us-sic-bo.txt").read_text("utf-8")
    line = next(line for line in text.splitlines() if "two-shakers" in line and "A and B" in line)
    assert pairs.read(text)[1] == []
    assert pairs.read(text.replace(f"{line}\n", "", 1))[1] != []
    assert pairs.read(text.replace(f"{line}\n", f"{line}\n{line}\n", 1))[1] != []


def test_sabotage_a_void_that_returns_bets_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = pairs.Pair("die-not-flat", "die-damaged", "revealed")
    assert _faults_under(rulebook("mbs-sic-bo-v6"), "mbs-sic-bo-v6", [pair]) == [[]]
    effects: dict[type[Event], Callable[[Table, Any], None]] = play._EFFECTS
    booked = effects[RoundVoided]

    def twice(table: Table, event: RoundVoided) -> None:
        booked(table, event)
        table.ledger.withdraw(Account.CHIPS, Account.CREDITS, event.staked, event.clause)

    monkeypatch.setattr(play, "_EFFECTS", effects | {RoundVoided: twice})
    with pytest.raises(UnbalancedError):
        _faults_under(rulebook("mbs-sic-bo-v6"), "mbs-sic-bo-v6", [pair])


def test_a_round_remembers_the_same_report_twice_at_most() -> None:
    """However often it is reported: a round would grow without end, and each report would take longer."""
    playing = at(rulebook("rws-sic-bo-etg-v8"), "open")
    for _ in range(10):
        playing.do(ReportIrregularity, "dan", event=Irregularity.DISPLAY_WRONG)
    assert len(playing.table.current.irregularities) == 2
