"""What is refused before anything is asked: strangers, foreign pages, large bodies; and what is never told."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.support import QUESTION, a_service, in_process, on_a_socket, parsed

from responsa.schema.errors import (
    InvalidOption,
    KeyNeeded,
    KeyNotFound,
    KeysDamaged,
    StepFailed,
    UnsafeBinding,
)
from responsa.server import Service, load_settings
from responsa.server.binding import check_binding, is_loopback
from responsa.server.errors import STATUS, error_body, status_of
from responsa.server.security.keys import KeyStore
from responsa.server.serving import serve
from responsa.testing import ScriptedLLM


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_only_a_valid_key_is_let_in_and_a_revoked_one_no_longer(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False)
        key, text = KeyStore(service.settings.keys_file).add("anna")  # as another process does
        async with in_process(service) as client:

            async def status(headers: dict[str, str]) -> int:
                reply = await client.post("/v1/answer", json=QUESTION, headers=headers)
                if reply.status_code == 401:
                    assert reply.headers["www-authenticate"] == "Bearer"
                    assert reply.json()["error"]["code"] == "key_not_accepted"
                return reply.status_code

            assert await status(bearer(text)) == 200
            for wrong in ("", "x", text[:-1], text + "x", text.replace("rsp", "RSP"), f"rsp_{key.key_id}_", "rsp__"):
                assert await status(bearer(wrong)) == 401
            assert await status({}) == 401
            assert await status({"Authorization": f"Basic {text}"}) == 401
            KeyStore(service.settings.keys_file).revoke(key.key_id)
            assert await status(bearer(text)) == 401

    asyncio.run(scene())


def test_a_key_does_what_it_was_made_for(tmp_path: Path) -> None:
    store = KeyStore(tmp_path / "keys.json")
    allowed = {
        scopes: [scope for scope in ("read", "write", "admin") if store.add("x", scopes)[0].allows(scope)]  # type: ignore[arg-type]
        for scopes in [("read",), ("write",), ("admin",)]
    }
    assert allowed == {
        ("read",): ["read"],
        ("write",): ["read", "write"],
        ("admin",): ["read", "write", "admin"],
    }
    with pytest.raises(InvalidOption, match="scope"):
        store.add("x", ["root"])


def test_a_file_of_keys_holds_no_key_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "keys.json"
    key, text = KeyStore(path).add("anna", ["write", "read"])
    assert text.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyStore(path).list() == [key]
    assert [scope.value for scope in key.scopes] == ["read", "write"]
    with pytest.raises(KeyNotFound):
        KeyStore(path).revoke("nothing")


def test_a_file_of_keys_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key, text = KeyStore(path).add("anna", limits=["1/day"])
    entries = json.loads(path.read_text())
    del entries[0]["limits"]
    path.write_text(json.dumps(entries))
    assert KeyStore(path).verify(text) == replace(key, limits=())


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "{}", "[1]", '["scopes"]', '[{"key_id": "a"}]', "\udcff".encode("utf-8", "surrogateescape")),
        '[{"key_id": "a", "name": "", "scopes": ["read"], "digest": "", "created": 0, "limits": ["often"]}]',
        '[{"key_id": "a", "name": "", "scopes": ["read"], "digest": "", "created": 0, "limits": 7}]',
    ],
)
def test_a_damaged_file_of_keys_lets_nobody_in(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if content == "{}":
        assert KeyStore(path).verify("rsp_a_b") is None
        return
    with pytest.raises(KeysDamaged):
        KeyStore(path).verify("rsp_a_b")


def test_keys_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    makers = [threading.Thread(target=lambda: KeyStore(path).add("x")) for _ in range(12)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert len(KeyStore(path).list()) == 12


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *[("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True)],
        *[("0.0.0.0", False), ("::", False), ("", False), ("10.0.0.1", False), ("localhost.example", False)],
        *[("127.0.0.1.example", False), ("*", False), ("myhost", False)],
    ],
)
def test_the_service_is_open_to_the_network_with_a_key_alone(tmp_path: Path, host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
    settings = load_settings({"host": host, "data_dir": tmp_path})
    open_to_all = load_settings({"host": host, "data_dir": tmp_path, "no_auth": True})
    check_binding(settings, has_keys=True)
    if loopback:
        check_binding(settings, has_keys=False)
        check_binding(open_to_all, has_keys=False)
        return
    with pytest.raises(KeyNeeded):
        check_binding(settings, has_keys=False)
    for has_keys in (True, False):
        with pytest.raises(UnsafeBinding):
            check_binding(open_to_all, has_keys=has_keys)
    with pytest.raises(UnsafeBinding):
        serve(Service(open_to_all, llm=ScriptedLLM()))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:8000"}, 200),
        ({"Origin": "https://page.example"}, 200),
        ({"Host": "localhost:1234"}, 200),
        ({"Host": "[::1]:8000"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:8000"}, 403),
        ({"Host": "rebound.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
    ],
    ids=str,
)
def test_a_page_of_another_place_asks_nothing_without_leave(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("Oil.")
        service = a_service(tmp_path, llm, cors_origins=("https://page.example",))
        async with in_process(service) as client:
            reply = await client.post("/v1/answer", json=QUESTION, headers=headers)
            assert reply.status_code == status
            assert len(llm.prompts) == (status == 200)
            allowed = reply.headers.get("access-control-allow-origin")
            assert allowed == ("https://page.example" if "page.example" in str(headers) else None)

    asyncio.run(scene())


def test_pages_may_not_read_replies_unless_the_operator_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            asked = {"Origin": "http://127.0.0.1:8000", "Access-Control-Request-Method": "POST"}
            reply = await client.options("/v1/answer", headers=asked)
            assert "access-control-allow-origin" not in reply.headers

    asyncio.run(scene())


def test_a_large_body_is_refused_while_it_comes_in(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 65_536
            yield b" " * 65_536

    async def scene() -> None:
        async with on_a_socket(a_service(tmp_path, max_body_bytes=10_000)) as client:
            named = await client.post("/v1/answer", content=b" " * 10_001, headers={"Content-Type": "application/json"})
            assert (named.status_code, named.json()["error"]["code"]) == (413, "body_too_large")
            try:
                unnamed = await client.post(
                    "/v1/answer", content=endless(), headers={"Content-Type": "application/json"}
                )
            except httpx2.TransportError:
                pass  # the service closed the connection while more was coming
            else:
                assert unnamed.status_code == 413
            assert sent < 200_000_000
            assert (await client.get("/healthz")).status_code == 200

    asyncio.run(scene())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"question": "\\ud800"}',
        b'{"question": "x", "nodes": [{"text": "\\udfff"}]}',
        b'{"question": "x", "nodes": [{"text": "a", "score": NaN}]}',
        b'{"question": "x", "nodes": [{"text": "a", "metadata": ' + b'{"a":' * 2000 + b"1" + b"}" * 2000 + b"}]}",
        b'{"question": 1e999}',
        b"null",
    ],
    ids=lambda content: repr(content[:30]),
)
def test_no_body_is_a_failure_of_the_service(tmp_path: Path, content: bytes) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", content=content, headers={"Content-Type": "application/json"})
            assert reply.status_code in (200, 422)
            assert reply.status_code == 200 or set(reply.json()) == {"error"}

    asyncio.run(scene())


def test_every_reply_has_the_strict_headers(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            replies = [
                await client.get("/healthz"),
                await client.get("/openapi.json"),
                await client.get("/nothing"),
                await client.post("/healthz"),
                await client.post("/v1/answer", json={**QUESTION, "stream": True}),
                await client.get("/healthz", headers={"Host": "evil.example"}),
            ]
            for reply in replies:
                assert reply.headers["x-content-type-options"] == "nosniff"
                assert "default-src 'none'" in reply.headers["content-security-policy"]
                assert "no-store" in reply.headers["cache-control"]
                assert "server" not in reply.headers
            assert [reply.status_code for reply in replies] == [200, 200, 404, 405, 200, 403]
            for path in ("/docs", "/redoc", "/v1/../../etc/passwd", "/static/x"):
                assert (await client.get(path)).status_code == 404

    asyncio.run(scene())


class Leaking(ScriptedLLM):
    """A model whose client fails with words that are nobody's business."""

    def stream(self, *_: Any) -> Any:
        raise RuntimeError("password=hunter2 in /home/operator/config.py")

    async def astream(self, *_: Any) -> Any:
        raise RuntimeError("password=hunter2 in /home/operator/config.py")
        yield


@pytest.mark.parametrize("stream", [True, False])
def test_what_an_unexpected_failure_says_is_for_the_log_alone(
    tmp_path: Path, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path, Leaking())) as client:
            reply = await client.post("/v1/answer", json={**QUESTION, "stream": stream})
            assert "hunter2" not in reply.text
            assert "Traceback" not in reply.text
            if stream:
                assert [event.name for event in parsed(reply.text)[-2:]] == ["error", "done"]
            else:
                assert reply.status_code == 500
        assert "hunter2" in caplog.text

    asyncio.run(scene())


def test_every_error_has_a_status_and_a_body_without_the_operators_places() -> None:
    from tests.schema.test_error_tree import EXAMPLES, URL

    for _, error in EXAMPLES:
        assert 400 <= status_of(error) <= 504
        for language in ("en", "zh"):
            body = error_body(error, language)
            assert body["code"] == error.code
            assert URL not in json.dumps(body)
            json.dumps(body)
    assert status_of(ValueError()) == 500
    assert error_body(ValueError("secret"))["code"] == "internal_error"
    assert "secret" not in json.dumps(error_body(StepFailed("answer", "ValueError: secret")))
    assert len(STATUS) == len(set(STATUS))


def test_a_key_that_cannot_be_read_is_no_way_in(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (tmp_path / "keys.json").mkdir()  # root may read any file
    else:
        (tmp_path / "keys.json").write_text("[]")
        (tmp_path / "keys.json").chmod(0)

    async def scene() -> None:
        async with in_process(a_service(tmp_path, no_auth=False)) as client:
            reply = await client.post("/v1/answer", json=QUESTION, headers=bearer("rsp_a_b"))
            assert (reply.status_code, reply.json()["error"]["code"]) == (500, "keys_damaged")
            assert str(tmp_path) not in reply.text

    asyncio.run(scene())
