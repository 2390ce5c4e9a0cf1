"""Knowledge entries over HTTP: sets that replace one another, with all their fields, and bounded."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.server.library import a_library, done, listed, sent
from tests.server.support import a_service, in_process

from responsa.server.models.documents import TakenReply
from responsa.testing import ScriptedLLM


def test_knowledge_entries_are_a_set_that_is_replaced_by_its_name(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path)) as client:
            body = {
                "name": "faq",
                "entries": [{"question": "哪种油?", "answer": "ISO VG 46。", "url": "https://x.example/"}],
            }
            taken = TakenReply.model_validate((await client.post("/v1/entries", json=body)).json())
            await done(client, taken.job.id)
            assert await listed(client) == [("faq.jsonl", "application/jsonl", "indexed", 1)]
            body = {"name": "faq", "entries": [{"question": "Which belt?", "answer": "B38."}] * 2}
            await done(client, (await client.post("/v1/entries", json=body)).json()["job"]["id"])
            reply = await client.post("/v1/search", json={"question": "Which belt?"})
            assert {hit["answer"] for hit in reply.json()["hits"]} == {"B38."}
            for wrong in (
                [],
                [{"url": "https://x.example/"}],
                [{"question": " "}],
                [{"question": "x", "role": "system"}],
            ):
                refused = await client.post("/v1/entries", json={"name": "faq", "entries": wrong})
                assert refused.status_code == 422

    asyncio.run(scene())


JSON = {"Content-Type": "application/json"}
EXTRA = {"ticket": 4711, "tags": ["oil", None], "by": {"name": "\ud800安娜"}}
KEPT = {"ticket": 4711, "tags": ["oil", None], "by": {"name": "\ufffd安娜"}}


@pytest.mark.parametrize("way", ["over the API", "as JSON lines"])
def test_an_entrys_extra_comes_back_with_the_hit_and_is_never_shown_to_the_model(tmp_path: Path, way: str) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("VG 46 [1].")
        async with in_process(a_library(tmp_path, llm=llm)) as client:
            entry = {"question": "Which oil?", "answer": "VG 46.", "category": "Oil", "extra": EXTRA}
            if way == "over the API":
                body = json.dumps({"name": "faq", "entries": [entry]})
                reply = await client.post("/v1/entries", content=body, headers=JSON)
                assert reply.status_code == 202, reply.text
                await done(client, reply.json()["job"]["id"])
            else:
                await done(client, (await sent(client, ("faq.jsonl", json.dumps(entry).encode()))).job.id)
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            answer = await client.post(f"/v1/sessions/{session}/messages", json={"question": "Which oil?"})
            stored = (await client.get(f"/v1/sessions/{session}")).json()["messages"][1]
            found = await client.post("/v1/search", json={"question": "ticket 4711", "by": "words"})
        for hits in (answer.json()["hits"], stored["hits"]):
            assert [hit["extra"] for hit in hits] == [KEPT]
            assert "extra" not in hits[0]["metadata"]
        assert found.json()["hits"] == []  # nor is it searched
        shown = "".join(message.content for prompt in llm.prompts for message in prompt)
        assert "Oil" in shown
        assert not [word for word in ("4711", "ticket", "安娜") if word in shown]

    asyncio.run(scene())


def test_an_extra_given_with_a_passage_comes_back_and_is_not_shown(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("Oil.")
        nodes = [
            {"text": "Oil.", "metadata": {"question": "Which?", "extra": extra}} for extra in ({"a": "4711"}, "4712")
        ]
        async with in_process(a_service(tmp_path, llm)) as client:
            hits = (await client.post("/v1/answer", json={"question": "Which?", "nodes": nodes})).json()["hits"]
        assert [(hit["extra"], hit["metadata"].get("extra")) for hit in hits] == [({"a": "4711"}, None), (None, "4712")]
        assert "471" not in "".join(message.content for prompt in llm.prompts for message in prompt)

    asyncio.run(scene())


@pytest.mark.parametrize(
    "extra",
    [
        '"text"',
        "[1]",
        '{"a": "' + "x" * 4000 + '"}',
        '{"a": NaN}',
        '{"a":' * 9 + "1" + "}" * 9,
        '{"a": ' + "9" * 5000 + "}",
    ],
    ids=["text", "list", "large", "nan", "deep", "long number"],
)
def test_an_extra_that_cannot_be_kept_is_refused_over_the_api(tmp_path: Path, extra: str) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path)) as client:
            body = f'{{"name": "faq", "entries": [{{"answer": "A.", "extra": {extra}}}]}}'
            refused = await client.post("/v1/entries", content=body, headers=JSON)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_request")
            assert "extra" in refused.text or "parsing" in refused.text
            assert (await client.get("/v1/jobs")).json()["jobs"] == []

    asyncio.run(scene())
