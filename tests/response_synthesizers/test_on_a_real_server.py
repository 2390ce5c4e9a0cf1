"""Every mode against a real llama-server with a small window: no prompt is too long, every count is the server's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.response_synthesizers.scenes import stages

from responsa import NodeWithScore, TextNode, get_response_synthesizer, samples
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.schema.response import Response

WINDOW = 1024
MAX_TOKENS = 8
QUESTION = "What does a package contain, and how do nodes and tasks work together?"
NO_SOURCE_SHOWN = {"generation", "no_text", "context_only"}


def paragraphs(language: str, shortest: int, longest: int, count: int) -> list[str]:
    """Real paragraphs of the shipped documents, of a length in characters, no two alike."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((samples.path() / language).rglob("*.md")))
    found = (" ".join(part.split()) for text in texts for part in re.split(r"\n\s*\n", text))
    fitting = dict.fromkeys(part for part in found if shortest <= len(part) <= longest)
    return list(fitting)[:count]


@pytest.fixture(scope="module")
def nodes() -> list[NodeWithScore]:
    """60 real passages, every fourth one Chinese."""
    english, chinese = paragraphs("en", 120, 260, 45), paragraphs("zh", 40, 80, 15)
    texts = [text for n in range(15) for text in (*english[3 * n : 3 * n + 3], chinese[n])]
    assert len(texts) == 60
    return [NodeWithScore(TextNode(text, id_=f"n{n}", metadata={"page": n}), 1 / n) for n, text in enumerate(texts, 1)]


@pytest.fixture(scope="module")
def small(smollm2: Path) -> Iterator[OpenAILike]:
    """A real model behind a real server with two slots of 1,024 tokens."""
    with LlamaServer(smollm2, alias="smollm2-small", slots=2, context_window=WINDOW, threads=1) as server:
        llm = OpenAILike(server.model, api_base=server.url, temperature=0.0, seed=1)
        yield llm
        llm.close()


@pytest.mark.real_server
@pytest.mark.timeout(900)  # 60 calls of one mode take a minute of processor time
@pytest.mark.parametrize(
    ("mode", "is_async"),
    [
        ("compact", False),
        ("refine", True),
        ("tree_summarize", True),
        ("simple_summarize", False),
        ("accumulate", False),
        ("compact_accumulate", True),
        ("generation", False),
        ("no_text", True),
        ("context_only", False),
    ],
)
def test_no_call_is_rejected_and_every_prompt_has_the_length_that_was_planned(
    mode: str, is_async: bool, small: OpenAILike, nodes: list[NodeWithScore]
) -> None:
    synthesizer = get_response_synthesizer(small, response_mode=mode)
    options = {"max_tokens": MAX_TOKENS}
    assert small.metadata.context_window == WINDOW
    planned = synthesizer.plan(QUESTION, nodes, llm_kwargs=options)
    if is_async:
        response = asyncio.run(synthesizer.asynthesize(QUESTION, nodes, llm_kwargs=options))
    else:
        response = synthesizer.synthesize(QUESTION, nodes, llm_kwargs=options)
    assert isinstance(response, Response)
    for record in response.trace:
        assert record.error is None
        assert record.completion is not None
        assert record.completion.usage.prompt_tokens == record.call.prompt_tokens
        assert record.call.prompt_tokens is not None
        assert record.call.sampling.max_tokens is not None
        assert record.call.prompt_tokens + record.call.sampling.max_tokens <= WINDOW
    assert len(response.trace) == len(planned.calls) if planned.exact else len(response.trace) <= len(planned.calls)
    assert [row.shown for row in planned.coverage] == [row.shown for row in response.coverage]
    shown = {row.shown.value for row in response.coverage}
    if mode == "simple_summarize":
        # A passage is cut where the room ends inside of it, and not where it ends between two.
        assert {"whole", "not"} <= shown <= {"whole", "cut", "not"}
        assert stages(response) == ["answer"]
    else:
        assert shown == ({"not"} if mode in NO_SOURCE_SHOWN else {"whole"})
    assert "step_failed" not in {notice.code for notice in response.warnings}
    assert len(response.trace) == {"refine": 60, "accumulate": 60}.get(mode, len(response.trace))
    assert response.text or mode == "no_text"
