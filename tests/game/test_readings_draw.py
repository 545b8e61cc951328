"""The draw: each face has the same chance, each three cards theirs; shown by counting, not by sampling."""

from __future__ import annotations

import ast
import hmac
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from taisai.game.dice import draw as module
from taisai.game.dice.draw import BYTE, TWO_BYTES, Throw, below, dealt, draw, stream
from taisai.rules import rulebook
from taisai.rules.outcomes import OUTCOMES, Outcome
from tests.game.playing import THREE_CARD

SEED = bytes(range(32))
THROW = Throw("SB1", 7, 1, bytes(range(32, 64)))


def dice_by_the_page(seed: bytes, throw: Throw) -> tuple[int, ...]:
    """The same from the description alone."""
    faces: list[int] = []
    counter = 0
    while len(faces) < 3:
        told = f"taisai dice 1\n{throw.table}\n{throw.round}\n{throw.shake}\n".encode()
        block = hmac.digest(seed, told + throw.close + counter.to_bytes(4, "big"), "sha256")
        faces += [1 + byte % 6 for byte in block if byte < 252]
        counter += 1
    return tuple(faces[:3])


def test_the_draw_is_what_the_page_says() -> None:
    for number in range(200):
        throw = THROW._replace(round=number)
        assert draw(SEED, throw) == dice_by_the_page(SEED, throw)


def test_it_depends_on_all_that_it_is_made_of() -> None:
    others = [
        THROW._replace(table="SB2"), THROW._replace(round=8), THROW._replace(shake=2),
        THROW._replace(close=bytes(32)),
    ]  # fmt: skip
    one = [*zip(range(64), stream(b"", SEED, THROW), strict=False)]
    for throw in others:
        assert [*zip(range(64), stream(b"", SEED, throw), strict=False)] != one
    assert [*zip(range(64), stream(b"", bytes(32), THROW), strict=False)] != one
    assert [*zip(range(64), stream(b"x", SEED, THROW), strict=False)] != one


# Dice: all bytes there are


def each_number(most: int, span: int) -> Counter[int]:
    """How often each result comes of all the numbers there are, those left out aside."""
    taken: Counter[int] = Counter()
    for number in range(span):
        try:
            taken[below(most, iter([number]), span=span)] += 1
        except StopIteration:
            continue
    return taken


def test_each_face_comes_of_42_bytes() -> None:
    assert each_number(6, BYTE) == dict.fromkeys(range(6), 42)


def test_each_of_the_216_throws_comes_of_its_own_bytes() -> None:
    for one, two, three in product(range(6), repeat=3):
        numbers = [255, one, 252, 6 + two, 253, 254, 246 + three]
        assert drawn_from(numbers) == (1 + one, 1 + two, 1 + three)


def drawn_from(numbers: list[int]) -> tuple[int, ...]:
    """The dice of a stream of bytes that the test has written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "stream", lambda *_: iter(numbers))
        return draw(SEED, THROW)


def test_sabotage_without_leaving_bytes_out_some_faces_come_oftener(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_them(most: int, numbers: Iterator[int], *, span: int) -> int:
        assert span
        return next(numbers) % most

    monkeypatch.setitem(globals(), "below", all_of_them)
    with pytest.raises(AssertionError):
        test_each_face_comes_of_42_bytes()
    with pytest.raises(AssertionError):
        test_each_card_of_a_shoe_comes_of_as_many_numbers(286)


@pytest.mark.parametrize(("most", "span"), [(0, BYTE), (-1, BYTE), (257, BYTE), (65_537, TWO_BYTES)])
def test_what_cannot_be_drawn_is_refused_and_does_not_go_on_for_ever(most: int, span: int) -> None:
    with pytest.raises(ValueError, match=f"expected a number from 1 to {span}, got {most}"):
        below(most, iter([]), span=span)


# Cards: without replacement


@pytest.mark.parametrize("left", [3, 7, 48, 94, 95, 96, 256, 257, 286, 287, 288])
def test_each_card_of_a_shoe_comes_of_as_many_numbers(left: int) -> None:
    assert each_number(left, TWO_BYTES) == dict.fromkeys(range(left), TWO_BYTES // left)


def law(cards: tuple[int, ...]) -> Counter[Outcome]:
    """How many of the orders of three cards show each outcome, by the places that are drawn."""
    total, counts = sum(cards), Counter[Outcome]()
    numbers: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "stream", lambda *_: iter(numbers))
        for one, two, three in product(range(total), range(total - 1), range(total - 2)):
            numbers = [0, one, 0, two, 0, three]
            counts[Outcome.of(*dealt(SEED, THROW, cards))] += 1
    return counts


@pytest.mark.parametrize(
    "seen", [(1,) * 7, (1, 1, 2, 3, 4, 5, 6, 6, 6), (2,) * 8 + (5,) * 8 + (1,) * 3], ids=len
)
def test_three_cards_have_the_law_of_a_shuffled_shoe(seen: tuple[int, ...]) -> None:
    """Of one deck, so that all orders can be counted."""
    rule = rulebook(THREE_CARD).chance_rule
    cards = tuple(rule.cards_per_face - seen.count(face) for face in range(1, 7))
    total = sum(cards)
    counts = law(cards)
    assert counts == {outcome: ways(cards, outcome) for outcome in OUTCOMES if ways(cards, outcome)}
    assert sum(counts.values()) == total * (total - 1) * (total - 2)


def test_a_whole_shoe_has_the_chances_of_the_rulebook() -> None:
    rule = rulebook(THREE_CARD).chance_rule
    chance, cards = rule.chance(decks=2), (2 * rule.cards_per_face,) * 6
    total = sum(cards)
    orders = total * (total - 1) * (total - 2)
    for place, outcome in enumerate(OUTCOMES):
        assert chance.probability([place]) == Fraction(ways(cards, outcome), orders)


def ways(cards: tuple[int, ...], outcome: Outcome) -> int:
    """In how many orders three cards show an outcome."""
    found = 0
    for faces in {*_orders(tuple(outcome.faces))}:
        left, product_ = list(cards), 1
        for face in faces:
            product_ *= left[face - 1]
            left[face - 1] -= 1
        found += product_
    return found


def _orders(faces: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    one, two, three = faces
    yield from ((one, two, three), (one, three, two), (two, one, three))
    yield from ((two, three, one), (three, one, two), (three, two, one))


def test_what_is_not_in_the_shoe_is_not_drawn() -> None:
    for number in range(300):
        throw = THROW._replace(round=number)
        assert dealt(SEED, throw, (0, 0, 1, 0, 0, 2)) in {(3, 6, 6), (6, 3, 6), (6, 6, 3)}
        assert sorted(dealt(SEED, throw, (1, 1, 1, 0, 0, 0))) == [1, 2, 3]


def test_sabotage_by_face_instead_of_by_card_the_law_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "face_at", lambda cards, place: 1 + place % len(cards))
    with pytest.raises(AssertionError):
        test_three_cards_have_the_law_of_a_shuffled_shoe((1,) * 7)


# The door


def imported(code: str) -> set[str]:
    """The modules that code imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_the_draw_takes_seed_and_close_and_nothing_else() -> None:
    """No clock, no system's randomness, no table: what is not imported cannot come in."""
    assert module.__file__ is not None
    assert imported(Path(module.__file__).read_text("utf-8")) == {
        "__future__",
        "collections",
        "hmac",
        "typing",
    }


def test_sabotage_another_source_is_seen() -> None:
    assert imported("import secrets\nfrom taisai.game import table") == {"secrets", "taisai"}
