"""An import contract for a room that may use nothing but the standard library and what is listed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grimp import ImportGraph


class ConfinedContract(Contract):
    """Broken by every direct import from `room` to a room or package that `may_use` does not list.

    import-linter's own `forbidden` names what is not allowed, which lets the next new package through, and
    fails while the room is not built. Here a room that does not exist keeps the contract.
    """

    type_name = "confined"
    room = fields.StringField()
    may_use = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001  the signature is theirs
        """StoredSnapshot when no import leads astray."""
        astray = sorted(self._astray(graph))
        return ContractCheck(kept=not astray, metadata={"astray": astray})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import that led astray."""
        for line in check.metadata["astray"]:
            output.print_error(line)

    def _astray(self, graph: ImportGraph) -> Iterator[str]:
        room = str(self.room)
        allowed = (room, *cast("list[str]", self.may_use))
        for importer in filter(lambda module: _within(module, room), graph.modules):
            for imported in graph.find_modules_directly_imported_by(importer):
                standard = imported.partition(".")[0] in sys.stdlib_module_names
                if not standard and not any(_within(imported, home) for home in allowed):
                    yield f"{importer} imports {imported}"


def _within(module: str, home: str) -> bool:
    return module == home or module.startswith(f"{home}.")
