"""What happened at a table, told to people: each event with its clause, each settlement bet by bet."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Final

from taisai.cli.printing import WIDTH, dice, line, show, table
from taisai.game.events import Event, ResultCorrected, ResultEntered, RoundResettled
from taisai.game.playbook import Limited, Share
from taisai.game.playbook.telling import event_line
from taisai.game.terms import Terms
from taisai.rules import Outcome, Rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause
from taisai.rules.errors import printable

MOST_TEXT: Final = 100_000  # characters of one event; a rulebook stored is none that is told


class Telling:
    """Tells event after event; each clause in full when it first speaks."""

    def __init__(self, book: Rulebook) -> None:
        from rich.console import Console

        self.book = book
        self.quoted: set[Clause] = set()
        people = sys.stdout.isatty()
        self._drawn = StringIO()
        width = shutil.get_terminal_size().columns if people else WIDTH
        self._console = Console(
            file=self._drawn, force_terminal=people, width=width, markup=False, emoji=False, highlight=False
        )

    def say(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Words, broken at the width of the terminal; none of them can command it."""
        from rich.padding import Padding
        from rich.text import Text

        text = printable(text, MOST_TEXT)
        self._console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))
        for row in self._drawn.getvalue().splitlines():
            line(row.rstrip())
        self._drawn.seek(0)
        self._drawn.truncate()

    def event(self, event: Event, mark: str = "✓") -> None:
        """An event, its clause, and the dice that it speaks of."""
        name, _, details = event_line(event).removeprefix("+ ").partition(f" [{event.clause}]")
        # The phase is told in people's words once the command is done.
        told = ", ".join(one for one in details.split(", ") if one.split()[:1] != ["phase"]).strip()
        self.say(f"{mark} {name.replace('-', ' ')}{f': {told}' if told else ''} ({event.clause})", indent=2)
        self.quote(event.clause)
        if isinstance(event, ResultEntered | ResultCorrected | RoundResettled):
            for row in dice(Outcome.of(*event.faces)).splitlines():
                line(f"    {row}")

    def quote(self, clause: Clause) -> None:
        """The clause in our words, when it first speaks."""
        if clause not in self.quoted:
            self.quoted.add(clause)
            said = self.book.clauses.get(clause)
            self.say(
                f"{clause}: {said.says if said else HOUSE_PROCEDURES.get(clause, '')}", style="dim", indent=4
            )

    def shares(self, outcome: Outcome, shares: Sequence[Share], terms: Mapping[str, Terms]) -> None:
        """A settlement, stake by stake, each with its clause and why."""
        numbers = ("stake", "returned")
        made = table(
            f"{' '.join(map(str, outcome.faces))}, total {outcome.total}",
            ("seat", "area", *numbers, "clause", "why"),
            right=numbers,
        )
        for share in shares:
            verdict = explained(terms[share.layout], share.area, outcome)
            clause = str(share.clause)
            if share.limited is Limited.UNDER_ONCE:
                verdict, clause = f"{verdict} ({share.limited})", f"{clause}, {share.limits_clause}"
            elif share.limited is not Limited.NOT:
                verdict, clause = f"{share.limited}: returned", str(share.limits_clause)
            made.add_row(share.seat, share.area, str(share.stake), str(share.returned), clause, verdict)
        show(made)


def explained(terms: Terms, area: str, outcome: Outcome) -> str:
    """Why an area wins or loses."""
    why = terms.matrix.explain(area, outcome)
    return f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"
