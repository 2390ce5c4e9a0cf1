"""One measurement of LlamaIndex, printed as a JSON object: `peer_side.py MEASURE [MODE COUNT]`, by its interpreter."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.schema import NodeWithScore, TextNode
from workload import ANSWER, NUM_OUTPUT, QUESTION, SHORT_PASSAGE, WINDOW, passages

PIECES, PIECE_SECONDS = 20, 0.005


class MockLLM(CustomLLM):
    """A chat model that answers at once, or a piece at a time."""

    pause: float = 0.0
    pieces: int = 1
    calls: int = 0
    under_way: int = 0
    peak: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        """An 8k window."""
        return LLMMetadata(context_window=WINDOW, num_output=NUM_OUTPUT, is_chat_model=True, model_name="mock")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=ANSWER)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Answer in one step."""
        yield CompletionResponse(text=ANSWER, delta=ANSWER)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer."""
        self.calls += 1
        return _response(ANSWER)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer without blocking."""
        self.calls += 1
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        await asyncio.sleep(self.pause)
        self.under_way -= 1
        return _response(ANSWER)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer in pieces."""
        self.calls += 1

        def pieces() -> Any:
            text = ""
            for number in range(self.pieces):
                time.sleep(self.pause)
                text += f"piece {number} "
                yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=f"piece {number} ")

        return pieces()


def _response(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role="assistant", content=text))


def synthesizer_of(llm: MockLLM, **options: Any) -> Any:
    # The window of the LLM is looked at only where it is the settings' too.
    Settings.llm = llm
    return get_response_synthesizer(llm=llm, **options)


def nodes_of(texts: Sequence[str]) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text, id_=str(number)), score=1.0) for number, text in enumerate(texts)]


def query(mode: str, count: str) -> dict[str, object]:
    """Return the CPU seconds of one query over many passages."""
    llm = MockLLM()
    synthesizer = synthesizer_of(llm, response_mode=mode)
    synthesizer.synthesize(QUESTION, nodes_of([SHORT_PASSAGE]))
    llm.calls = 0
    nodes = nodes_of(passages(int(count)))
    begin = time.process_time()
    response = synthesizer.synthesize(QUESTION, nodes)
    seconds = time.process_time() - begin
    assert ANSWER[:20] in str(response)
    return {"seconds": seconds, "calls": llm.calls}


def smallest() -> dict[str, object]:
    """Return the CPU milliseconds of the smallest compact query."""
    synthesizer = synthesizer_of(MockLLM(), response_mode="compact")
    nodes = nodes_of([SHORT_PASSAGE])
    return {"milliseconds": milliseconds(lambda: synthesizer.synthesize(QUESTION, nodes))}


def milliseconds(call: Callable[[], object], times: int = 100, rounds: int = 5) -> float:
    for _ in range(20):
        call()
    took = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(times):
            call()
        took.append((time.process_time() - begin) / times * 1000)
    return statistics.median(took)


def peak(mode: str, count: str) -> dict[str, object]:
    """Return the most calls under way at once."""
    llm = MockLLM(pause=0.05)
    synthesizer = synthesizer_of(llm, response_mode=mode, use_async=True)
    asyncio.run(synthesizer.asynthesize(QUESTION, nodes_of(passages(int(count)))))
    return {"peak": llm.peak}


def first_text(count: str) -> dict[str, object]:
    """Return when the first text of a refined answer is visible, and after how many calls."""
    llm = MockLLM(pause=PIECE_SECONDS, pieces=PIECES)
    synthesizer = synthesizer_of(llm, response_mode="refine", streaming=True)
    nodes = nodes_of(passages(int(count)))
    begin = time.perf_counter()
    response = synthesizer.synthesize(QUESTION, nodes)
    first, calls = 0.0, 0
    for text in response.response_gen:
        if text and not calls:
            first, calls = time.perf_counter() - begin, llm.calls
    return {"seconds": first, "whole": time.perf_counter() - begin, "calls": calls}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
