"""The socket's published schema: JSON Schema of every message, made from the message types."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Any, Final

import msgspec

from taisai.protocol.message import MOST_MESSAGE, PROTOCOL_VERSION
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import REQUESTS

REFERENCE: Final = "#/$defs/{name}"


@cache
def socket_schema() -> dict[str, Any]:
    """One document: what a client may send, and the lists of messages that it receives.

    JSON Schema takes both 1 and 1.0 for an integer. The server accepts only 1.
    """
    (requests, messages), parts = msgspec.json.schema_components(
        [reduce(or_, REQUESTS), list[reduce(or_, SERVER_MESSAGES)]],  # type: ignore[misc]
        ref_template=REFERENCE,
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The Taisai socket",
        "description": f"Version {PROTOCOL_VERSION}. A message is JSON text of at most {MOST_MESSAGE} bytes; "
        "a client sends one request in each and receives a list of messages in each.",
        "$comment": "Integers are written without a decimal point: 1.0 is refused where 1 is expected.",
        "properties": {"requests": requests, "messages": messages},
        "$defs": parts,
    }
