"""Labels from the rulebook, colours of chips, and parts that several views share."""

from __future__ import annotations

from typing import Final

from taisai.game import Table
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.table import Claim, Referral
from taisai.game.vocabulary import Subject
from taisai.protocol.views import ClaimLine, ColourLine, Extreme, ReferralLine, Stoppage, Words
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Phase
from taisai.server.projections import texts


def title_of(table: Table) -> Words:
    """The rulebook's title of the game."""
    return Words(table.book.title, table.book.title_zh)


def phase_label(table: Table, phase: Phase | None = None) -> Words:
    """The rulebook's label of a phase; by default of the table's current phase."""
    phase = table.phase if phase is None else phase
    for known in table.procedure.phases:
        if known.id is phase:
            return Words(known.label, known.label_zh)
    return Words(str(phase), str(phase))


def rank_label(table: Table, rank: str) -> Words:
    """The rulebook's label of a rank."""
    for known in table.ranks.ladder:
        if known.id == rank:
            return Words(known.label, known.label_zh)
    return Words(rank, rank)


def item_label(table: Table, item: str) -> Words:
    """The rulebook's label of a piece of equipment."""
    known = table.equipment.items[item]
    return Words(known.label, known.label_zh)


def area_label(table: Table, layout: str, area: str) -> Words:
    """The rulebook's label of an area."""
    matrix = table.terms[layout].matrix
    labelled = matrix.labels[matrix.row(area)]
    return Words(labelled.label, labelled.label_zh)


def faces_of(outcome: Outcome) -> tuple[int, int, int]:
    """The faces of an outcome as numbers."""
    a, b, c = outcome.faces
    return (a, b, c)


def extreme(outcome: Outcome, loses: int) -> Extreme:
    """An outcome, and what the house would lose on it."""
    return Extreme(faces=faces_of(outcome), loses=loses)


def referral_line(referral: Referral) -> ReferralLine:
    """A referral as views show it."""
    subject = referral.subject
    label = texts.SUBJECTS[subject] if isinstance(subject, Subject) else texts.IRREGULARITIES[subject]
    return ReferralLine(
        id=referral.id, subject=str(subject), label=label, clause=str(referral.clause), to=referral.to,
        holds=referral.holds, seat=referral.seat, round=referral.round, detail=referral.detail,
    )  # fmt: skip


def waiting(table: Table, most: int) -> tuple[ReferralLine, ...]:
    """The open referrals, those that hold the round first."""
    referrals = sorted(open_referrals(table), key=lambda referral: not referral.holds)
    return tuple(map(referral_line, referrals[:most]))


def claim_line(claim: Claim) -> ClaimLine:
    """A claim as views show it."""
    return ClaimLine(
        id=claim.id, round=claim.round, seat=claim.seat, session=claim.session, amount=claim.amount,
        of_player=claim.of_player,
    )  # fmt: skip


def stoppage_of(table: Table) -> Stoppage:
    """Why the table is stopped, if it is."""
    held = table.held
    return Stoppage(
        closed=bool(table.name) and not table.open,
        shut=table.shut,
        hold=str(held.hold) if held else None,
        says=texts.HOLDS[held.hold] if held else None,
        clause=str(held.clause) if held else None,
    )


_PAINTS: Final = (
    ("red", Words("Red", "红"), "#c0392b"),
    ("blue", Words("Blue", "蓝"), "#1d4f91"),
    ("green", Words("Green", "绿"), "#1f8f4e"),
    ("yellow", Words("Yellow", "黄"), "#e5c100"),
    ("orange", Words("Orange", "橙"), "#d9730d"),
    ("purple", Words("Purple", "紫"), "#6c2f8e"),
    ("pink", Words("Pink", "粉"), "#d75a93"),
    ("brown", Words("Brown", "棕"), "#6b4423"),
    ("white", Words("White", "白"), "#f4f1e6"),
    ("grey", Words("Grey", "灰"), "#7f8c8d"),
    ("turquoise", Words("Turquoise", "青"), "#1aa6a6"),
    ("black", Words("Black", "黑"), "#22252a"),
)


def colours(least: int) -> tuple[ColourLine, ...]:
    """At least so many colours: all paints, then the same paints with a mark on the chips."""
    names: list[str] = []
    for number in range(max(least, len(_PAINTS))):
        turn, place = divmod(number, len(_PAINTS))
        names.append(f"{_PAINTS[place][0]}-{turn + 1}" if turn else _PAINTS[place][0])
    return tuple(map(colour_of, names))


def colour_of(name: str) -> ColourLine:
    """A colour by its name. An unknown colour is grey."""
    plain, _, mark = name.partition("-")
    for known, label, paint in _PAINTS:
        if known == plain:
            words = Words(f"{label.en} {mark}", f"{label.zh} {mark}") if mark else label
            return ColourLine(colour=name, label=words, paint=paint, mark=mark)
    return ColourLine(colour=name, label=Words(name, name), paint="#777777", mark="")
