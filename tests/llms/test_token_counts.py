"""Tokens are counted by whoever knows best: the server, a local tokenizer, or a safe estimate."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.faults import PATIENCE, FaultServer, answer_of, delta, reply, stream_of
from tests.llms.both import QUESTION, Both, both

from responsa.llms.openai_like import OpenAILike
from responsa.schema.errors import InvalidOption, MissingExtra, ServerUnreachable
from responsa.schema.messages import ChatMessage
from responsa.tokens.estimate import estimate_tokens


class LlamaLike:
    """The endpoints of llama-server, with a tokenizer of one token a character and one before every prompt."""

    def __init__(self, *, specials: int = 1, refuse: str | None = None) -> None:
        self.specials = specials
        self.refuse = refuse
        self.requests: list[tuple[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        body = __import__("json").loads(request.content) if request.content else None
        self.requests.append((path, body))
        if path == self.refuse:
            return httpx2.Response(404, json={"error": {"message": "File Not Found", "code": 404}})
        if path == "/v1/models":
            return httpx2.Response(200, json={"data": [{"id": "m", "owned_by": "llamacpp"}]})
        if path == "/props":
            return httpx2.Response(200, json={"total_slots": 2, "default_generation_settings": {"n_ctx": 100}})
        if path == "/apply-template":
            prompt = "".join(f"<{one['role']}>{one['content']}" for one in body["messages"]) + body.get("tools", "")
            return httpx2.Response(200, json={"prompt": prompt})
        if path == "/tokenize":
            parts = body["content"] if isinstance(body["content"], list) else [body["content"]]
            tokens = [0] * (self.specials if body.get("add_special") else 0)
            for part in parts:
                tokens += [1] * len(part) if isinstance(part, str) else [part]
            return httpx2.Response(200, json={"tokens": tokens})
        return httpx2.Response(404)

    def asked(self, path: str) -> list[Any]:
        return [body for one, body in self.requests if one == path]


class VLLMLike:
    """The endpoints of vLLM, with a tokenizer of one token a character."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/models":
            return httpx2.Response(200, json={"data": [{"id": "m", "max_model_len": 4096}]})
        if request.url.path == "/tokenize":
            body = __import__("json").loads(request.content)
            self.bodies.append(body)
            if "prompt" in body:
                return httpx2.Response(200, json={"count": len(body["prompt"]), "max_model_len": 4096, "tokens": []})
            return httpx2.Response(200, json={"count": 3 + sum(len(one["content"]) for one in body["messages"])})
        return httpx2.Response(404)


def llm_of(handler: Any, **options: Any) -> OpenAILike:
    return OpenAILike(transport=httpx2.MockTransport(handler), max_retries=0, **options)


@both
def test_texts_are_counted_in_order_many_at_a_time_and_once(side: Both) -> None:
    server = LlamaLike()
    llm = llm_of(server)
    texts = [f"{'x' * (number % 7)}" for number in range(200)] + ["你好", ""]
    assert side.call(llm, "count_tokens", texts) == [len(text) for text in texts]
    asked = len(server.asked("/tokenize"))
    assert side.call(llm, "count_tokens", texts[::-1]) == [len(text) for text in texts[::-1]]
    assert (asked, len(server.asked("/tokenize"))) == (1, 1)


@both
def test_very_many_texts_take_several_requests(side: Both) -> None:
    server = LlamaLike()
    texts = [f"text {number}" for number in range(150)]
    assert side.call(llm_of(server), "count_tokens", texts) == [len(text) for text in texts]
    assert len(server.asked("/tokenize")) == 3


@both
def test_a_prompt_is_counted_with_its_template_and_what_the_server_puts_before_it(side: Both) -> None:
    server = LlamaLike(specials=2)
    llm = llm_of(server)
    prompts = [QUESTION, [ChatMessage("system", "S"), *QUESTION], QUESTION]
    expected = [len("<user>Where?") + 2, len("<system>S<user>Where?") + 2, len("<user>Where?") + 2]
    for _ in range(2):
        assert side.call(llm, "count_prompts", prompts) == expected
    # One more was asked at first, to see whether the template opens a reasoning tag.
    assert len(server.asked("/apply-template")) == 1 + 2


@both
def test_a_bare_prompt_is_counted_with_what_the_server_puts_before_it(side: Both) -> None:
    server = LlamaLike(specials=1)
    assert side.call(llm_of(server, is_chat_model=False), "count_prompts", [QUESTION]) == [len("Where?") + 1]
    assert server.asked("/apply-template") == []


def test_fields_that_the_template_reads_are_counted_too() -> None:
    server = LlamaLike(specials=0)
    assert llm_of(server, additional_kwargs={"tools": "TOOLS", "min_p": 1}).count_prompts([QUESTION]) == [17]
    assert "min_p" not in server.asked("/apply-template")[-1]


@both
def test_vllm_is_asked_in_its_own_form(side: Both) -> None:
    server = VLLMLike()
    llm = llm_of(server)
    assert side.call(llm, "count_tokens", ["ab", "", "你好"]) == [2, 0, 2]
    assert side.call(llm, "count_prompts", [QUESTION]) == [3 + len("Where?")]
    assert server.bodies[1] == {"model": "m", "prompt": "ab", "add_special_tokens": False}
    assert side.metadata(llm).exact_counts


@both
@pytest.mark.parametrize("refused", ["/tokenize", "/apply-template"])
def test_a_server_that_does_not_count_after_all_leaves_it_to_the_estimate(
    side: Both, refused: str, caplog: pytest.LogCaptureFixture
) -> None:
    llm = llm_of(LlamaLike(refuse=refused))
    with caplog.at_level(logging.WARNING):
        counts = side.call(llm, "count_prompts", [QUESTION])
    assert counts[0] > estimate_tokens("Where?")
    assert side.call(llm, "count_tokens", ["some words"]) == [estimate_tokens("some words")]
    assert not side.metadata(llm).exact_counts
    assert caplog.records


def test_a_server_that_is_gone_is_no_reason_to_estimate(faults: FaultServer) -> None:
    faults.on("GET /v1/models", reply({"data": [{"id": "m", "max_model_len": 10}]}))
    llm = OpenAILike(api_base=faults.url, max_retries=0, timeout=PATIENCE)
    assert llm.metadata.exact_counts
    llm.close()
    faults.__exit__()
    with pytest.raises(ServerUnreachable):
        llm.count_tokens(["x"])


class Words:
    def encode(self, text: str) -> list[str]:
        return text.split()


class Encoding:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


@pytest.mark.parametrize(
    "tokenizer", [Words(), str.split, lambda text: Encoding([1] * len(text.split()))], ids=["object", "function", "ids"]
)
def test_a_local_tokenizer_counts_where_the_server_cannot(tokenizer: Any) -> None:
    llm = llm_of(lambda request: httpx2.Response(404), tokenizer=tokenizer)
    assert llm.count_tokens(["a b c", ""]) == [3, 0]
    assert llm.count_prompts([QUESTION])[0] > 1
    assert llm.metadata.exact_counts


def test_a_tokenizer_file_needs_the_library_that_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(MissingExtra):
        OpenAILike(tokenizer=path)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidOption):
        OpenAILike(tokenizer=str(path))


@pytest.fixture
def hosted(faults: FaultServer) -> Iterator[OpenAILike]:
    """A server that counts only in the usage of its replies, twice as much as the estimate."""
    llm = OpenAILike(api_base=faults.url, max_retries=0, timeout=PATIENCE)
    yield llm
    llm.close()


def test_what_a_server_counted_raises_the_estimate_at_once(faults: FaultServer, hosted: OpenAILike) -> None:
    text = "some words of English " * 60
    before = hosted.count_tokens([text])[0]
    usage = {"choices": [], "usage": {"prompt_tokens": 2 * before}}
    faults.on("POST /v1/chat/completions", stream_of(delta("x", reason="stop"), usage))
    hosted.complete(text)
    assert hosted.count_tokens([text])[0] >= 2 * before
    assert hosted.count_tokens(["你好" * 200])[0] == estimate_tokens("你好" * 200)


def test_an_answer_without_usage_corrects_nothing(faults: FaultServer, hosted: OpenAILike) -> None:
    text = "some words of English " * 60
    faults.on("POST /v1/chat/completions", answer_of("x"))
    hosted.complete(text)
    assert hosted.count_tokens([text]) == [estimate_tokens(text)]
