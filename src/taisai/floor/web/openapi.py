"""Makes the published schema true: what the framework leaves out, and what every answer may be."""

from __future__ import annotations

import copy
from typing import Any, Final

import msgspec

from taisai.floor.web import bodies

_REFUSALS: Final = {
    "400": "What came is not what was expected",
    "401": "Nobody is signed in, or the proof is wrong",
    "403": "Not this role, not this page, or no second person",
    "404": "There is no such thing",
    "409": "Refused by the House, with its clause",
    "405": "Not with this method",
    "413": "Too long",
    "415": "Not JSON",
    "429": "Too often",
    "503": "Busy, or the journal cannot be written",
}
_STRICT: Final = {
    kind.__name__ for kind in vars(bodies).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__struct_config__.forbid_unknown_fields
}  # fmt: skip


def true_schema(made: dict[str, Any]) -> dict[str, Any]:
    """The schema with nothing left out: bodies take no other fields, and every endpoint may refuse."""
    schema = copy.deepcopy(made)
    parts = schema.setdefault("components", {}).setdefault("schemas", {})
    for name, part in parts.items():
        if name in _STRICT:
            part["additionalProperties"] = False
    parts["Refusal"] = msgspec.json.schema(bodies.RefusalTold)["$defs"]["RefusalTold"]
    for path in schema.get("paths", {}).values():
        for operation in path.values():
            if not isinstance(operation, dict) or "responses" not in operation:
                continue
            for status, says in _REFUSALS.items():
                operation["responses"][status] = {
                    "description": says,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
                }
    return schema
