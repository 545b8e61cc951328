"""The test of the tests of pay: whatever else an area wins on, or is paid, the tray shows it."""

from __future__ import annotations

from tests.clauses.test_sabotage import KNOWN, Check, checks_in, survivors
from tests.game import test_three_card_played_pay
from tests.project.citations import clause_of_test

BOOK = "mbs-3-card-sic-bo"
CHECKS = checks_in([test_three_card_played_pay])


def played(_book: str, clause: str | None) -> list[Check]:
    return [test for name, test in CHECKS.items() if clause in (None, clause_of_test(name, KNOWN))]


def test_whatever_is_altered_in_the_pay_table_moves_other_chips() -> None:
    survived = [one for one in survivors(BOOK, "pay", played) if ": clause " not in one]
    assert survived == [], "no chip tells by which clause it was paid, but how many there are"


def test_sabotage_without_tests_every_alteration_of_the_pay_table_survives() -> None:
    assert len(list(survivors(BOOK, "pay", lambda _book, _clause: []))) >= 50
