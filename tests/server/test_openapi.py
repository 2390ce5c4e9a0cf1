"""The OpenAPI document: every field described, and held to by schemathesis' cases for every route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.server.support import ANSWER, a_service, an_index

from responsa.server import create_app
from responsa.testing import ScriptedLLM

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


SOME = {"GET /metrics", "POST /v1/answer", "POST /v1/chat/completions"}


def test_no_case_fails_the_service_or_gets_what_is_not_documented(tmp_path: Path) -> None:
    service = a_service(
        tmp_path,
        ScriptedLLM(ANSWER, context_window=100_000),
        indexes={"docs": an_index()},
        allowed_hosts=("testserver",),
    )
    document = schemathesis.openapi.from_asgi("/openapi.json", create_app(service))
    operations = [found.ok() for found in document.get_all_operations()]
    assert {operation.label for operation in operations} > SOME
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(
            max_examples=12,
            deadline=None,
            derandomize=True,  # a run that fails can be run again
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def holds(case: Case) -> None:
            case.validate_response(case.call(), checks=CHECKS)

        holds()


def test_every_field_parameter_and_route_is_described(tmp_path: Path) -> None:
    document = create_app(a_service(tmp_path)).openapi()
    missing = []
    for name, model in document["components"]["schemas"].items():
        if "properties" not in model and "enum" in model:
            continue
        missing += [name] if not model.get("description") else []
        missing += [f"{name}.{part}" for part, said in model.get("properties", {}).items() if not told(said, document)]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            missing += [f"{method} {path}"] if not route.get("description") else []
            missing += [f"{path}: {p['name']}" for p in route.get("parameters", ()) if not p.get("description")]
    assert missing == []


def told(field: dict[str, Any], document: dict[str, Any]) -> bool:
    """Whether a field says what it is, or is of a model that does."""
    if field.get("description"):
        return True
    model = document["components"]["schemas"].get(str(field.get("$ref", "")).rpartition("/")[2], {})
    return bool(model.get("description"))
