"""Pairs of irregularities: the case files are the rulebooks', and each pair is played."""

from __future__ import annotations

import pytest

from taisai.rules import rulebook, rulebook_ids
from tests.game import pairs
from tests.game.irregularity_triples import triple_faults
from tests.game.past_rounds import compiled_once
from tests.tiers import count, sampled, source_digest
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
