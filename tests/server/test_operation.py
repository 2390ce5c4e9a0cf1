"""What the operator sees: numbers, a log with the requests in it, and nothing secret."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from pathlib import Path

import pytest
from tests.server.support import ANSWER, QUESTION, SteppedLLM, a_service, an_index, in_process, on_a_socket

from responsa.schema.errors import ServerUnreachable
from responsa.server import load_settings
from responsa.server.operation.logs import REQUEST_ID, JsonLines, logging_to_stderr, secrets_of
from responsa.server.security.keys import KeyStore
from responsa.testing import ScriptedLLM

ASKED = {"model": "docs/refine", "messages": [{"role": "user", "content": "Which oil?"}]}


def value(text: str, name: str, **labels: str) -> float:
    """A number of Prometheus's text format; 0 if it is not there."""
    for line in text.splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', found[2] or "")) == labels:
            return float(found[3])
    return 0.0


def test_requests_answers_calls_tokens_and_failures_are_counted(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, ScriptedLLM(ANSWER), indexes={"docs": an_index()})
        async with in_process(service) as client:
            for _ in range(2):
                await client.post("/v1/answer", json=QUESTION)
            await client.post("/v1/answer", json={**QUESTION, "stream": True})
            await client.post("/v1/chat/completions", json={**ASKED, "stream": True})
            await client.post("/v1/answer", json={"question": "x", "index": "nothing"})
            await client.post("/v1/answer", json={})
            await client.get("/no/such/path")
            reply = await client.get("/metrics")
        assert reply.headers["content-type"].startswith("text/plain")
        text = reply.text
        counted = {"route": "/v1/answer", "method": "POST"}
        assert value(text, "responsa_requests_total", **counted, status="200") == 3
        assert value(text, "responsa_requests_total", **counted, status="404") == 1
        assert value(text, "responsa_requests_total", **counted, status="422") == 1
        assert value(text, "responsa_requests_total", route="none", method="GET", status="404") == 1
        assert value(text, "responsa_answers_total", mode="compact", outcome="answered") == 3
        assert value(text, "responsa_answers_total", mode="refine", outcome="answered") == 1
        assert value(text, "responsa_calls_total", mode="compact", stage="answer") == 3
        assert value(text, "responsa_calls_total", mode="refine", stage="refine") >= 1
        assert value(text, "responsa_tokens_total", mode="compact", kind="prompt") > 0
        assert value(text, "responsa_tokens_total", mode="compact", kind="completion") > 0
        assert value(text, "responsa_answer_seconds_count", mode="compact") == 3
        assert value(text, "responsa_answer_first_text_seconds_count", mode="compact") == 3
        assert value(text, "responsa_request_seconds_count", route="/v1/answer") == 5
        for code in ("unknown_index", "invalid_request", "no_such_route"):
            assert value(text, "responsa_errors_total", code=code) == 1

    asyncio.run(scene())


def test_answers_that_fail_or_are_stopped_are_counted_as_such(tmp_path: Path) -> None:
    async def scene() -> None:
        gone = ServerUnreachable("http://127.0.0.1:1/v1", "connection refused", "")
        async with in_process(a_service(tmp_path, ScriptedLLM(gone))) as client:
            await client.post("/v1/answer", json=QUESTION)
            await client.post("/v1/answer", json={**QUESTION, "stream": True})
            text = (await client.get("/metrics")).text
            assert value(text, "responsa_answers_total", mode="compact", outcome="failed") == 2
            assert value(text, "responsa_errors_total", code="server_unreachable") == 2
        llm = SteppedLLM()
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client:
            asked = asyncio.ensure_future(client.post("/v1/answer", json=QUESTION))
            await asyncio.wait_for(llm.begun.wait(), 60)
            [run] = service.runs.all()
            assert value((await client.get("/metrics")).text, "responsa_answers_active") == 1
            await client.delete(f"/v1/answers/{run.run_id}")
            await asked
            text = (await client.get("/metrics")).text
            assert value(text, "responsa_answers_total", mode="compact", outcome="stopped") == 1
            assert value(text, "responsa_answers_active") == 0

    asyncio.run(scene())


def test_no_label_holds_what_a_client_wrote(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            await client.get("/v1/answers/hunter2/events")
            await client.get("/hunter2")
            await client.request("HUNTER2", "/healthz")
            await client.post("/v1/answer", json={"question": "x", "index": "hunter2"})
            await client.post("/v1/chat/completions", json={**ASKED, "model": "hunter2"})
            assert "hunter2" not in (await client.get("/metrics")).text.lower()

    asyncio.run(scene())


def test_numbers_are_for_holders_of_a_key(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False)
        _, key = service.keys.add("prometheus")
        async with in_process(service) as client:
            assert (await client.get("/metrics")).status_code == 401
            reply = await client.get("/metrics", headers={"Authorization": f"Bearer {key}"})
            assert reply.status_code == 200

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1.2_Z", True), ("", False), ("a b", False), ("x" * 65, False), ("a\tb", False)]
)
def test_a_request_has_an_id_which_its_reply_and_its_log_carry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, given: str, kept: bool
) -> None:
    caplog.set_level(logging.INFO, "responsa.server")

    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", json=QUESTION, headers={"X-Request-Id": given})
            name = reply.headers["x-request-id"]
            assert (name == given) == kept
            assert re.fullmatch(r"[\w.-]{1,64}", name)
            other = await client.get("/nothing")
            assert other.headers["x-request-id"] not in ("", name)

    asyncio.run(scene())
    [line] = [r.fields for r in caplog.records if getattr(r, "fields", {}).get("route") == "/v1/answer"]  # type: ignore[attr-defined]
    assert (line["method"], line["status"], line["whole"]) == ("POST", 200, True)
    assert line["bytes"] > 100


def test_what_fails_without_a_name_is_replied_with_all_headers_and_logged_with_its_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        service = a_service(tmp_path)

        async def broken() -> None:
            raise ZeroDivisionError("hunter2")

        monkeypatch.setattr(service.readiness, "checks", broken)
        async with in_process(service) as client:
            reply = await client.get("/readyz")
            assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
            assert "hunter2" not in reply.text
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["x-request-id"]
            text = (await client.get("/metrics")).text
            assert value(text, "responsa_errors_total", code="internal_error") == 1

    asyncio.run(scene())
    assert "ZeroDivisionError: hunter2" in caplog.text


def written(formatter: JsonLines, message: str, *args: object, **extra: object) -> str:
    record = logging.LogRecord("responsa.server", logging.WARNING, "x.py", 1, message, args, None)
    record.__dict__.update(extra)
    return formatter.format(record)


def test_the_log_never_holds_a_secret(tmp_path: Path) -> None:
    settings = load_settings(
        {
            "api_key": "sk-upstream-1234",
            "embed_api_key": 'quo"te-secret',
            "api_base": "http://user:pa%20ss-word@127.0.0.1:1/v1",
            "embed_api_base": "http://user:other-password@127.0.0.1:1/v1",
            "data_dir": tmp_path,
        }
    )
    key = KeyStore(settings.keys_file).add("anna")[1]
    said = [
        "sk-upstream-1234",
        'quo"te-secret',
        "pa%20ss-word",
        "pa ss-word",
        "other-password",
        key,
        key.split("_", 2)[2],
    ]
    formatter = JsonLines(secrets_of(settings))
    for secret in said[:-1]:
        line = written(formatter, "it failed: %s", f"<{secret}>", fields={"place": f"a {secret} b"})
        assert json.dumps(secret)[1:-1] not in line
        assert json.loads(line)["event"] == "it failed: <***>"
    lines = [
        written(formatter, f"Authorization: Bearer {key}"),
        written(formatter, "Authorization: Bearer something-else"),
        written(formatter, "connecting to http://someone:something-else@10.0.0.1/v1"),
    ]
    assert not any(said[-1] in line or "something-else" in line for line in lines)
    try:
        raise ValueError("with sk-upstream-1234 inside")
    except ValueError:
        line = written(formatter, "failed", exc_info=sys.exc_info())
    assert "ValueError: with ***" in json.loads(line)["exception"]


def test_a_short_word_that_stands_for_a_key_hides_nothing(tmp_path: Path) -> None:
    settings = load_settings({"api_key": "none", "data_dir": tmp_path})
    assert json.loads(written(JsonLines(secrets_of(settings)), "there is none"))["event"] == "there is none"


def test_a_line_of_the_log_is_one_line_whatever_it_says() -> None:
    token = REQUEST_ID.set("r1")
    try:
        line = written(JsonLines(), "a\nb \u2028 %s", "\x1b[31m", fields={"key": None, "seconds": 0.5})
    finally:
        REQUEST_ID.reset(token)
    assert "\n" not in line
    assert "\x1b" not in line
    parsed = json.loads(line)
    assert (parsed["request_id"], parsed["seconds"], parsed["level"]) == ("r1", 0.5, "warning")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", parsed["time"])


def test_the_log_goes_to_standard_error_and_back_to_who_wrote_it_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("responsa.server")
    settings = load_settings({"log_level": "warning", "data_dir": tmp_path})
    before = logging.getLogger("responsa").handlers[:]
    with logging_to_stderr(settings):
        logger.warning("told")
        logger.info("not told")
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["told"]
    assert logging.getLogger("responsa").handlers == before
