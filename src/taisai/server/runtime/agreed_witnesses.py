"""The witnesses that people agreed to: one person alone neither removes one nor makes it forget.

The settings that the journal records say where each witness began, and which witnesses were agreed to. A
witness that is gone at a start, or has forgotten the journal, holds all money until two people override it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from taisai.protocol.views import Words
from taisai.server.config.settings import WITNESS
from taisai.server.projections.latest_alarms import BEGAN
from taisai.server.runtime.sealing import Sealing
from taisai.server.runtime.witness_links import WitnessLink

AGREED: Final = f"{WITNESS}.agreed"
_BETWEEN: Final = "; "
REMOVED: Final = Words(
    "A witness of the start before is not configured any more or has forgotten the journal: no money leaves. "
    "Find out who changed it; if two people override it, they agree to the witnesses as they are now",
    "上次启动时的见证方已不在配置中，或已遗忘日志：资金不得离场。请查明是谁所为；两人越过即表示同意现有的见证方",
)


class AgreedWitnesses:
    """Compares the witnesses of a start with those that were agreed to."""

    def __init__(self, links: Sequence[WitnessLink], sealing: Sealing, known: Mapping[str, str]) -> None:
        """`known`: the settings of the start before."""
        self._links = links
        self._sealing = sealing
        self.matter = bool(links) or AGREED in known
        """Whether there is a witness, or was one."""
        self._unheard = list(links)
        """The witnesses that have not answered yet."""
        self._was_removed = self._is_agreed = False

    def settings(self, given: Mapping[str, str], known: Mapping[str, str], *, size: int) -> dict[str, str]:
        """The settings to record, with what is known of the witnesses; `size`: of the journal."""
        settings, witnesses = dict(given), list[str]()
        for number, link in enumerate(self._links, 1):
            place = f"{WITNESS}.{number}"
            name = f"{place}.{BEGAN}"
            began = f"{size}" if link.saw == 0 and link in self._unheard else known.get(name)
            if began is None and link.saw is None:
                continue  # it has never answered: nobody knows it
            settings[name] = began = began or "earlier"
            which = settings.get(f"{place}.key") or settings.get(f"{place}.file") or link.witness.name
            witnesses.append(f"{which} {began}")
        self._unheard = [link for link in self._unheard if link.saw is None]
        agreed = known.get(AGREED, "")
        is_gone = any(witness not in witnesses for witness in agreed.split(_BETWEEN) if witness)
        self._was_removed = is_gone and not self._is_agreed
        self._is_agreed = False
        if self._was_removed:
            self._sealing.removed = REMOVED
            settings[AGREED] = agreed
        elif witnesses:
            settings[AGREED] = _BETWEEN.join(witnesses)
        return settings

    def has_news(self) -> bool:
        """Whether a witness answered for the first time, or two people have overridden one that is gone."""
        self._is_agreed = self._was_removed and self._sealing.removed is None
        return self._is_agreed or any(link.saw == 0 for link in self._unheard)
