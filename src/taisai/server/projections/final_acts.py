"""Acts that cannot be undone, and what exactly of them: pages show it before they ask to confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from taisai.game.vocabulary import ClaimEnd, Treatment
from taisai.protocol.views import Words

_CANNOT: Final = Words("This cannot be undone: ", "此操作无法撤销：")


def _final(en: str, zh: str) -> Words:
    return Words(_CANNOT.en + en, _CANNOT.zh + zh)


_VOID: Final = _final(
    "a void round is never settled again; its stakes go back.", "作废的局不会再结算，注额退还。"
)
_COMMANDS: Final[Mapping[str, Words]] = {
    "begin-day": _final("the table does not go back to an earlier gaming day.", "本桌不能回到先前的营业日。"),
    "close-table": _final(
        "the table is closed for ever, and no other table can have its name.",
        "本桌永久关闭，其他赌桌也不能再用此名称。",
    ),
}
_TREATMENTS: Final[Mapping[str, Words]] = dict.fromkeys(
    (Treatment.VOID, Treatment.VOID_ROUNDS, Treatment.SHUT), _VOID
)
_WAIVED: Final = _final(
    "the claim is given up, and nobody can collect it later.", "款项一经放弃，日后不能再收取。"
)


def final_text(command: str, preset: Mapping[str, Any]) -> Words | None:
    """What cannot be undone of a command with these fields; None if nothing is."""
    if preset.get("how") == ClaimEnd.WAIVE:
        return _WAIVED
    return _TREATMENTS.get(preset.get("treatment", "")) or _COMMANDS.get(command)
