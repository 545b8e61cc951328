"""The published schema of the endpoints is true: whatever is sent, the answer is one that it foresees."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from structlog.testing import capture_logs

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role
from taisai.server.http.app import _STRICT
from taisai.server.http.guard import HEADERS
from tests.server import access_matrix as matrix
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import HOST, Connected
from tests.tiers import count

EXAMPLES: Final = count(5, 100)
HIDDEN: Final = {
    "GET /",
    "GET /terminal",
    "GET /console",
    "GET /display",
    "GET /recorder",
    "GET /round",
    "GET /pit",
    "GET /cage",
    "GET /school",
    "GET /office",
    "GET /first-sign-in",
    "GET /account",
    "GET /assets/{name}",
    "GET /metrics",
    "GET /schema/openapi.json",
    "GET /schema/socket.json",
}
"""Endpoints that are no part of the published interface: pages, figures, and the schemas themselves."""
ALL: Final = sorted((set(permissions.ENDPOINTS) | set(permissions.DEMONSTRATION)) - HIDDEN)
QUERIED: Final = ("GET /api/report", "GET /api/school/exercise", "GET /api/school/felt")
TAKING: Final = [one for one in ALL if matrix.BODIES.get(one) or one in QUERIED]
"""Those that take a body or a query, which can be wrong."""
CHECKS: Final = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    negative_data_rejection,
]  # fmt: skip


PAUSE: Final = 0.1
"""Virtual seconds between two requests, so that none is one too many for its address."""


class Asked:
    """A house of demonstration, with every endpoint, that is asked from outside of its loop."""

    def __init__(self) -> None:
        self.loop = VirtualLoop(most=1e9)
        asyncio.set_event_loop(self.loop)
        self.house: Connected = self.loop.run_until_complete(self._made())
        described = self.loop.run_until_complete(self.house.request("GET", "/schema/openapi.json"))
        self.described: dict[str, Any] = described.said
        self.schema: Any = schemathesis.openapi.from_dict(self.described)
        rejection = self.schema.config.checks.negative_data_rejection
        rejection.expected_statuses = [*rejection.expected_statuses, "413"]  # a body that is too large

    async def _made(self) -> Connected:
        return matrix.a_house(self.loop, demonstration=True)

    def answer(self, case: Any) -> Response:
        """What a case gets."""
        prepared = requests.Request(**case.as_transport_kwargs(base_url=f"https://{HOST}")).prepare()
        url = urlsplit(prepared.url)
        body: Any = prepared.body or b""
        raw: bytes = body.encode() if isinstance(body, str) else body
        headers = {name.lower(): str(value) for name, value in prepared.headers.items()} | {
            "host": HOST, "content-length": str(len(raw)),
        }  # fmt: skip
        named: Any = {name.replace("-", "_"): value for name, value in headers.items()}
        path = unquote(str(url.path)).replace("?", "%3F") + (f"?{url.query!s}" if url.query else "")
        with capture_logs():
            self.loop.run_until_complete(asyncio.sleep(PAUSE))
            asking = self.house.request(str(prepared.method), path, raw=raw, **named)
            got = self.loop.run_until_complete(asking)
        assert {name.lower() for name in HEADERS} <= got.headers.keys()
        told = {name: [value] for name, value in got.headers.items()}
        return Response(got.status, told, got.body, request=prepared, elapsed=0.1, verify=False)

    def close(self) -> None:
        """Ends it."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        asyncio.set_event_loop(None)
        self.loop.close()


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    """One house for all of it."""
    made = Asked()
    yield made
    made.close()


def operation(asked: Asked, endpoint: str) -> Any:
    """An endpoint of the published schema."""
    method, path = endpoint.split()
    return asked.schema[path][method]


def test_what_can_be_given_wrongly_is_given_wrongly(asked: Asked) -> None:
    assert [one for one in ALL if operation(asked, one).body or operation(asked, one).query] == TAKING


def test_every_endpoint_is_published(asked: Asked) -> None:
    published = {
        f"{method.upper()} {path}" for path, methods in asked.described["paths"].items() for method in methods
    }
    assert published == set(ALL)


@pytest.mark.filterwarnings("default")  # of the generator, about what it cannot generate
@pytest.mark.parametrize("role", [Role.VISITOR, Role.ADMINISTRATOR])
@pytest.mark.parametrize(
    ("endpoint", "mode"),
    [*((one, GenerationMode.POSITIVE) for one in ALL), *((one, GenerationMode.NEGATIVE) for one in TAKING)],
)
def test_every_answer_is_one_that_the_schema_foresees(
    asked: Asked, endpoint: str, mode: GenerationMode, role: Role
) -> None:
    violations(asked, operation(asked, endpoint), mode, role)


def violations(asked: Asked, found: Any, mode: GenerationMode, role: Role) -> None:
    """Asks an endpoint all kinds of things; an error where an answer is not as the schema says."""
    session = None if role is Role.VISITOR else asked.house.session(role)
    headers = {"Authorization": f"Bearer {session.token}"} if session else {}

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=found.as_strategy(generation_mode=mode, headers=headers or None))
    def conforms(case: Any) -> None:
        case.validate_response(asked.answer(case), checks=CHECKS)

    conforms()


# Sabotages


def test_sabotage_a_status_that_is_not_published_is_seen(asked: Asked) -> None:
    described = copy.deepcopy(asked.described)
    del described["paths"]["/api/staff"]["get"]["responses"]["401"]
    found: Any = schemathesis.openapi.from_dict(described)["/api/staff"]["GET"]
    with pytest.raises(FailureGroup, match="Undocumented status code"):
        violations(asked, found, GenerationMode.POSITIVE, Role.VISITOR)


def test_sabotage_an_answer_of_another_form_is_seen(asked: Asked) -> None:
    described = copy.deepcopy(asked.described)
    described["components"]["schemas"]["HealthResponse"]["properties"]["journal"] = {"type": "string"}
    found: Any = schemathesis.openapi.from_dict(described)["/health"]["GET"]
    with pytest.raises(FailureGroup, match="schema"):
        violations(asked, found, GenerationMode.POSITIVE, Role.VISITOR)


def test_sabotage_a_fault_is_seen(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked.house.dispatcher.queue.projections, "books", None)
    with pytest.raises(FailureGroup, match="Server error"):
        violations(asked, operation(asked, "GET /api/books"), GenerationMode.POSITIVE, Role.AUDITOR)


@pytest.mark.parametrize("body", sorted(_STRICT))
def test_bodies_take_no_other_fields_and_say_so(asked: Asked, body: str) -> None:
    part = asked.described["components"]["schemas"].get(body)
    assert part is None or part["additionalProperties"] is False
