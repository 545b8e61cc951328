"""Makes the published schema true: what the framework leaves out, and what every answer may be."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Reach
from taisai.server.auth.roles import Role
from taisai.server.http import bodies, school_bodies

_REFUSALS: Final = {
    "400": "What came is not what was expected",
    "401": "Nobody is signed in, or the proof is wrong",
    "403": "Not this role, not this page, or no second person",
    "404": "There is no such thing",
    "409": "Refused by the House, with its clause",
    "413": "Too long",
    "429": "Too often",
    "503": "Busy, or the journal cannot be written",
}
_MORE: Final = {
    "POST /api/sign-in": ("429", "503"),
    "POST /api/approvals": ("429", "503"),
    "POST /api/password": ("409", "429", "503"),
    "POST /api/staff": ("409", "503"),
    "DELETE /api/staff": ("409",),
    "POST /api/staff/{person}/unlock": ("409",),
    "POST /api/staff/{person}/revoke": ("409",),
    "POST /api/devices": ("409",),
    "DELETE /api/devices": ("409",),
    "POST /api/demo/enter": ("409", "503"),
}
"""Refusals that have to do with what an endpoint does, and not with what it is given."""
_STRICT: Final = {
    kind.__name__
    for kind in (*vars(bodies).values(), *vars(school_bodies).values())
    if isinstance(kind, type)
    and issubclass(kind, msgspec.Struct)
    and kind.__struct_config__.forbid_unknown_fields
}


def true_schema(made: dict[str, Any]) -> dict[str, Any]:
    """The schema with nothing left out: bodies take no other fields, and every refusal is there."""
    schema = copy.deepcopy(made)
    components = schema.setdefault("components", {})
    parts = components.setdefault("schemas", {})
    for name, part in parts.items():
        if name in _STRICT:
            part["additionalProperties"] = False
    parts["Refusal"] = msgspec.json.schema(bodies.RefusalTold)["$defs"]["RefusalTold"]
    components["securitySchemes"] = {
        "session": {"type": "http", "scheme": "bearer", "description": "The token that a sign-in told"}
    }
    for endpoint, operation in _operations(schema):
        told = operation["responses"]
        for status in sorted(_refusals(endpoint, operation)):
            told[status] = _told(_REFUSALS[status], "Refusal")
        if endpoint == "GET /health":
            told["503"] = _told("The journal cannot be written", "HealthTold")
        reach = _visitors_reach(endpoint)
        if reach is not Reach.ANY:
            operation["security"] = [{"session": []}]
        if reach is Reach.DEMONSTRATION:
            operation["security"].append({})  # nobody need sign in there
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in schema.get("paths", {}).items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                yield f"{method.upper()} {path}", operation


def _refusals(endpoint: str, operation: dict[str, Any]) -> set[str]:
    """Anyone may come from elsewhere or with an old token; the rest follows from what it takes and does."""
    found = {"401", "403", *_MORE.get(endpoint, ())}
    if "requestBody" in operation:
        found |= {"400", "413"}
    for parameter in operation.get("parameters", ()):
        found.add("404" if parameter["in"] == "path" else "400")
    return found


def _told(says: str, part: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{part}"}
    return {"description": says, "content": {"application/json": {"schema": reference}}}


def _visitors_reach(endpoint: str) -> Reach | None:
    permit = permissions.ENDPOINTS.get(endpoint) or permissions.DEMONSTRATION.get(endpoint)
    return permit.reach(Role.VISITOR) if permit is not None else None
