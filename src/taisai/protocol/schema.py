"""The socket's published schema: JSON Schema of every ask and tell, made from the messages themselves."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Any, Final

import msgspec

from taisai.protocol.message import MOST_MESSAGE, WIRE
from taisai.protocol.replies import TELLS
from taisai.protocol.requests import ASKS

REFERENCE: Final = "#/$defs/{name}"


@cache
def socket_schema() -> dict[str, Any]:
    """One document: what a client may send, and what it is sent, a list of tells at a time.

    JSON does not tell 1 from 1.0, and JSON Schema takes both for integers. The floor takes the first alone.
    """
    (asks, tells), parts = msgspec.json.schema_components(
        [reduce(or_, ASKS), list[reduce(or_, TELLS)]],  # type: ignore[misc]
        ref_template=REFERENCE,
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The Taisai socket",
        "description": f"Version {WIRE}. A message is JSON text of at most {MOST_MESSAGE} bytes; a client "
        "sends one ask a message and is sent a list of tells.",
        "$comment": "Integers are written without a decimal point: 1.0 is refused where 1 is meant.",
        "properties": {"asks": asks, "tells": tells},
        "$defs": parts,
    }
