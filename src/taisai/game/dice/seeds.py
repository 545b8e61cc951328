"""Seeds: how the demonstration shaker is bound before bets open to what it draws when they are closed."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from taisai.game.checks import bad_name, between_rounds, on_hold, refused
from taisai.game.dice.draw import Throw, dealt, draw
from taisai.game.dice.messages import CommitSeed, RevealSeed, SeedCommitted, SeedRevealed
from taisai.game.messages import Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import Deciders, Effects, RevealedSeed, SeedCommitment, Table
from taisai.game.vocabulary import SHAKER
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Act

DEMONSTRATION: Final = Clause("house:demonstration-shaker")
_DIGITS: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


def unseen(table: Table) -> tuple[int, ...]:
    """Cards of each face that were not seen since the shuffle; none where no cards are used."""
    if not table.shoe.used:
        return ()
    return tuple(all_ - seen for all_, seen in zip(table.shoe.expected(), table.shoe.seen, strict=True))


def drawn_by(seed: bytes, throw: Throw, cards: tuple[int, ...]) -> tuple[int, ...]:
    """What the demonstration shaker draws: dice, or cards where there are any."""
    return dealt(seed, throw, cards) if cards else draw(seed, throw)


def round_of(table: Table, number: int) -> Round | None:
    """The round in hand or one that is over, to be looked at."""
    if table.round is not None and table.round.number == number:
        return table.round
    return table.rounds.glance(number) if 0 < number <= len(table.rounds) else None


def is_committed(table: Table, number: int) -> bool:
    """Whether a seed of the round is committed, and not yet revealed."""
    return table.commitment is not None and table.commitment.round == number


def not_shown(by: str) -> Refusal:
    """Why nothing is drawn at a table that is none of demonstration."""
    return refused(Reason.RULED_OUT, DEMONSTRATION, "a table that was opened to demonstrate", f"the {by}")


# What the shaker asks


def commit_seed(table: Table, command: CommitSeed) -> Events | Refusal:
    """The demonstration shaker binds itself, at most to one seed at a time."""
    if command.by != SHAKER:
        return refused(Reason.NOT_PERMITTED, DEMONSTRATION, "the demonstration shaker to do it", command.by)
    is_open = table.commitment
    if is_open == SeedCommitment(command.round, command.commitment, command.source):
        return ()
    if is_open is not None:
        expected = f"the seed of round {is_open.round} revealed first"
        return refused(Reason.DIFFERENT_CONTENT, DEMONSTRATION, expected, "another commitment")
    coming = len(table.rounds) + 1 + (table.round is not None)
    if command.round != coming:
        return refused(Reason.WRONG_ROUND, DEMONSTRATION, f"round {coming}, which comes next", command.round)
    wrong = between_rounds(table, DEMONSTRATION)
    if wrong is None and not table.demonstration:
        wrong = not_shown(command.by)
    wrong = wrong or _bad_digits("a commitment", command.commitment) or bad_name("a source", command.source)
    if wrong:
        return wrong
    if table.revealed is not None and _hash_of(table.revealed.seed) == command.commitment:
        return refused(
            Reason.BAD_VALUE, DEMONSTRATION, "a seed that nobody knows yet", "one that was revealed"
        )
    return (
        SeedCommitted(
            at=command.at, by=command.by, clause=DEMONSTRATION, round=command.round,
            commitment=command.commitment, source=command.source,
        ),
    )  # fmt: skip


def _bad_digits(what: str, text: object) -> Refusal | None:
    if isinstance(text, str) and _DIGITS.fullmatch(text):
        return None
    expected = f"{what} of 64 small hexadecimal digits"
    return refused(Reason.BAD_VALUE, DEMONSTRATION, expected, repr(text)[:80])


def _hash_of(seed: str) -> str:
    return sha256(bytes.fromhex(seed)).hexdigest()


def reveal_seed(table: Table, command: RevealSeed) -> Events | Refusal:
    """The seed of the commitment, when no bet can follow any more, with what was drawn by it."""
    if command.by != SHAKER:
        return refused(Reason.NOT_PERMITTED, DEMONSTRATION, "the demonstration shaker to do it", command.by)
    round_ = round_of(table, command.round)
    shake = round_.shakes if round_ else 0
    told = RevealedSeed(command.round, command.seed, shake, command.close, command.hash, command.faces)
    if table.revealed is not None and table.revealed == told._replace(shake=table.revealed.shake):
        return ()
    if table.commitment is not None and table.commitment.round != command.round:
        expected = f"the seed of round {table.commitment.round}"
        return refused(Reason.WRONG_ROUND, DEMONSTRATION, expected, f"that of round {command.round}")
    wrong = _too_early(table, round_)
    if wrong:
        return wrong
    if table.commitment is None:
        return refused(Reason.UNMET_NEED, DEMONSTRATION, "a seed that was committed", "none")
    assert round_ is not None
    wrong = _bad_seed(table.commitment, command.seed) or _bad_draw(table, round_, told)
    return wrong or (SeedRevealed(at=command.at, by=command.by, clause=DEMONSTRATION, **told._asdict()),)


def _too_early(table: Table, round_: Round | None) -> Refusal | None:
    """Who knows the seed while a bet, or a choice, is still open knows too much."""
    if round_ is not None and round_ is not table.round:
        return None
    if round_ is None or Act.CLOSE_BETS not in round_.acts:
        got = f"one when {table.phase}"
        return refused(Reason.OUT_OF_ORDER, DEMONSTRATION, "a seed after the close of its round", got)
    if round_.drawn is None:
        return on_hold(table) or refused(
            Reason.OUT_OF_ORDER, DEMONSTRATION, "a draw before its seed, or the end of the round", "neither"
        )
    return on_hold(table)


def _bad_seed(commitment: SeedCommitment, seed: str) -> Refusal | None:
    wrong = _bad_digits("a seed", seed)
    if wrong is None and _hash_of(seed) != commitment.commitment:
        expected = f"the seed with the SHA-256 {commitment.commitment[:16]}…"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, expected, f"one with {_hash_of(seed)[:16]}…")
    return wrong


def _bad_draw(table: Table, round_: Round, told: RevealedSeed) -> Refusal | None:
    """The faces are those that were drawn, and seed and close come to them; or nothing was drawn at all."""
    drawn = round_.drawn
    if drawn is None:
        if (told.close, told.hash, told.faces) == (0, "", ()):
            return None
        return refused(
            Reason.BAD_VALUE, DEMONSTRATION, "no close and no faces, since nothing was drawn", "some"
        )
    wrong = _bad_digits("the hash of the close", told.hash)
    if wrong:
        return wrong
    if not 1 <= told.close <= GREATEST_SUM:
        expected = "the position of the entry that closed bets"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, expected, told.close)
    throw = Throw(table.name, round_.number, round_.shakes, bytes.fromhex(told.hash))
    faces = drawn_by(bytes.fromhex(told.seed), throw, drawn.cards)
    for made in (drawn.faces, faces):
        if made != told.faces:
            expected = f"{' '.join(map(str, made))}, which was drawn"
            return refused(
                Reason.BAD_VALUE, DEMONSTRATION, expected, " ".join(map(str, told.faces)) or "none"
            )
    return None


# Evolving


def on_committed(table: Table, event: SeedCommitted) -> None:
    """There is a seed."""
    table.commitment = SeedCommitment(event.round, event.commitment, event.source)


def on_revealed(table: Table, event: SeedRevealed) -> None:
    """The seed is spent."""
    table.commitment = None
    table.revealed = RevealedSeed(event.round, event.seed, event.shake, event.close, event.hash, event.faces)


DECIDERS: Final[Deciders] = {
    CommitSeed: commit_seed,
    RevealSeed: reveal_seed,
}

EFFECTS: Final[Effects] = {
    SeedCommitted: on_committed,
    SeedRevealed: on_revealed,
}
