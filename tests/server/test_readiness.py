"""Readiness: what cannot be used is told, with its reason and without the operator's addresses."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.server.support import on_a_socket

from responsa.server import Service, load_settings
from responsa.server.models.replies import ReadyReply


def test_a_model_server_and_an_index_that_are_not_there_are_told_with_their_reasons(tmp_path: Path) -> None:
    async def scene() -> None:
        settings = load_settings(
            {"no_auth": True, "data_dir": tmp_path, "api_base": "http://127.0.0.1:9/v1", "index": "gone=nowhere"}
        )
        async with on_a_socket(Service(settings)) as client:
            reply = await client.get("/readyz")
            assert reply.status_code == 503
            ready = ReadyReply.model_validate(reply.json())
            assert [(check.name, check.ready, bool(check.reason)) for check in ready.checks] == [
                ("model", False, True),
                ("sessions", True, False),
                ("records", True, False),
                ("index:gone", False, True),
            ]
            assert "127.0.0.1:9" not in reply.text
            assert "The index gone holds no documents yet" in ready.checks[-1].reason
            search = await client.post("/v1/search", json={"question": "oil", "index": "gone"})
            assert (search.status_code, search.json()["error"]["code"]) == (404, "index_not_made")
            assert search.json()["error"]["details"] == {"name": "gone"}
            assert (await client.get("/healthz")).json() == {"status": "ok"}

    asyncio.run(scene())
