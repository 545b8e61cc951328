"""Seeds: the demonstration shaker commits to a seed before bets open and reveals it after the draw."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from taisai.game.checks import bad_name, between_rounds, on_hold, refused, shown
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
    """The current round or a finished one, to read only."""
    if table.round is not None and table.round.number == number:
        return table.round
    return table.glance(number)


def is_committed(table: Table, number: int) -> bool:
    """Whether a seed of the round is committed, and not yet revealed."""
    return table.commitment is not None and table.commitment.round == number


def not_shown(by: str) -> Refusal:
    """Why nothing is drawn at a table that is not for demonstration."""
    message = f"the table is not for demonstration: the {by} is refused"
    return refused(Reason.RULED_OUT, DEMONSTRATION, message)


# Commands of the shaker


def _not_the_shaker(by: str) -> Refusal | None:
    if by == SHAKER:
        return None
    message = f"only the demonstration shaker may do this, not {by}"
    return refused(Reason.NOT_PERMITTED, DEMONSTRATION, message)


def commit_seed(table: Table, command: CommitSeed) -> Events | Refusal:
    """The demonstration shaker commits to a seed, to one at a time."""
    if refusal := _not_the_shaker(command.by):
        return refusal
    is_open = table.commitment
    if is_open == SeedCommitment(command.round, command.commitment, command.source):
        return ()
    if is_open is not None:
        message = f"the seed of round {is_open.round} is not revealed yet"
        return refused(Reason.DIFFERENT_CONTENT, DEMONSTRATION, message)
    coming = len(table.rounds) + 1 + (table.round is not None)
    if command.round != coming:
        message = f"expected a seed for the next round {coming}, got one for round {command.round}"
        return refused(Reason.WRONG_ROUND, DEMONSTRATION, message)
    refusal = between_rounds(table, DEMONSTRATION)
    if refusal is None and not table.demonstration:
        refusal = not_shown(command.by)
    refusal = refusal or _bad_digits("a commitment", command.commitment)
    if refusal := refusal or bad_name("a source", command.source):
        return refusal
    if table.revealed is not None and _hash_of(table.revealed.seed) == command.commitment:
        message = "the seed was revealed in the last round: use a new one"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, message)
    return (
        SeedCommitted(
            at=command.at, by=command.by, clause=DEMONSTRATION, round=command.round,
            commitment=command.commitment, source=command.source,
        ),
    )  # fmt: skip


def _bad_digits(what: str, text: object) -> Refusal | None:
    if isinstance(text, str) and _DIGITS.fullmatch(text):
        return None
    message = f"expected {what} of 64 hexadecimal digits (0-9, a-f), got {repr(text)[:80]}"
    return refused(Reason.BAD_VALUE, DEMONSTRATION, message)


def _hash_of(seed: str) -> str:
    return sha256(bytes.fromhex(seed)).hexdigest()


def reveal_seed(table: Table, command: RevealSeed) -> Events | Refusal:
    """Reveals the committed seed and what was drawn with it, when no bet can follow any more."""
    if refusal := _not_the_shaker(command.by):
        return refusal
    round_ = round_of(table, command.round)
    shake = round_.shakes if round_ else 0
    revealed = RevealedSeed(command.round, command.seed, shake, command.close, command.hash, command.faces)
    if table.revealed is not None and table.revealed == revealed._replace(shake=table.revealed.shake):
        return ()
    if table.commitment is not None and table.commitment.round != command.round:
        message = f"expected the seed of round {table.commitment.round}, got that of round {command.round}"
        return refused(Reason.WRONG_ROUND, DEMONSTRATION, message)
    if refusal := _too_early(table, round_):
        return refusal
    if table.commitment is None:
        return refused(Reason.UNMET_NEED, DEMONSTRATION, "no seed is committed")
    assert round_ is not None
    refusal = _bad_seed(table.commitment, command.seed) or _bad_draw(table, round_, revealed)
    return refusal or (
        SeedRevealed(at=command.at, by=command.by, clause=DEMONSTRATION, **revealed._asdict()),
    )


def _too_early(table: Table, round_: Round | None) -> Refusal | None:
    """Why a seed may not be revealed yet: bets, or players' choices, could still follow from it."""
    if round_ is not None and round_ is not table.round:
        return None
    if round_ is None or Act.CLOSE_BETS not in round_.acts:
        message = f"the seed is revealed after bets close (phase {table.phase})"
        return refused(Reason.OUT_OF_ORDER, DEMONSTRATION, message)
    if round_.drawn is None:
        message = "the seed is revealed after the draw or after the round"
        return on_hold(table) or refused(Reason.OUT_OF_ORDER, DEMONSTRATION, message)
    return on_hold(table)


def _bad_seed(commitment: SeedCommitment, seed: str) -> Refusal | None:
    refusal = _bad_digits("a seed", seed)
    if refusal is None and _hash_of(seed) != commitment.commitment:
        expected = f"a seed with the SHA-256 {commitment.commitment[:16]}…"
        message = f"expected {expected}, got one with {_hash_of(seed)[:16]}…"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, message)
    return refusal


def _bad_draw(table: Table, round_: Round, revealed: RevealedSeed) -> Refusal | None:
    """Why faces are not those that were drawn, or do not follow from seed and close."""
    drawn = round_.drawn
    if drawn is None:
        if (revealed.close, revealed.hash, revealed.faces) == (0, "", ()):
            return None
        got = f"{revealed.close} and {shown(revealed.faces)}"
        message = f"nothing was drawn: expected no close and no faces, got {got}"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, message)
    if refusal := _bad_digits("the hash of the close", revealed.hash):
        return refusal
    if not 1 <= revealed.close <= GREATEST_SUM:
        message = f"expected the position of the entry that closed bets, got {revealed.close}"
        return refused(Reason.BAD_VALUE, DEMONSTRATION, message)
    throw = Throw(table.name, round_.number, round_.shakes, bytes.fromhex(revealed.hash))
    faces = drawn_by(bytes.fromhex(revealed.seed), throw, drawn.cards)
    for expected in (drawn.faces, faces):
        if expected != revealed.faces:
            message = f"expected {shown(expected)}, which was drawn, got {shown(revealed.faces)}"
            return refused(Reason.BAD_VALUE, DEMONSTRATION, message)
    return None


def on_committed(table: Table, event: SeedCommitted) -> None:
    table.commitment = SeedCommitment(event.round, event.commitment, event.source)


def on_revealed(table: Table, event: SeedRevealed) -> None:
    table.commitment = None
    table.revealed = RevealedSeed(event.round, event.seed, event.shake, event.close, event.hash, event.faces)


DECIDERS: Final[Deciders] = {CommitSeed: commit_seed, RevealSeed: reveal_seed}

EFFECTS: Final[Effects] = {SeedCommitted: on_committed, SeedRevealed: on_revealed}
