"""One measurement of our side, printed as a JSON object: `responsa_side.py MEASURE [MODE COUNT TOKENIZER]`."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from typing import Any

from workload import ANSWER, NUM_OUTPUT, QUESTION, SHORT_PASSAGE, WINDOW, passages

from responsa import NodeWithScore, TextNode, get_response_synthesizer
from responsa.llms import LLM, ChatMessage, LLMMetadata
from responsa.schema.completions import Delta, Finish, Sampling, StreamItem, Usage
from responsa.schema.events import TextDelta

SETTING = 8
PIECES, PIECE_SECONDS = 20, 0.005


class MockLLM(LLM):
    """Answers at once, or a piece at a time; keeps no counts.

    Args:
        tokenizer: Turns a text into its tokens; the estimate of every LLM without one when left out.
        pause: Seconds before each piece of an answer.
        pieces: The pieces an answer comes in.
    """

    def __init__(
        self, tokenizer: Callable[[str], Sequence[Any]] | None = None, *, pause: float = 0.0, pieces: int = 1
    ) -> None:
        self._tokenizer = tokenizer
        self._pause = pause
        self._pieces = pieces
        self.calls = self.under_way = self.peak = 0

    @property
    def metadata(self) -> LLMMetadata:
        """An 8k window."""
        return LLMMetadata(WINDOW, NUM_OUTPUT)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count with the tokenizer."""
        if self._tokenizer is None:
            return super().count_tokens(texts)
        return [len(self._tokenizer(text)) for text in texts]

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Answer."""
        self.calls += 1
        for number in range(self._pieces):
            if self._pause:
                time.sleep(self._pause)
            yield Delta(ANSWER if self._pieces == 1 else f"piece {number} ")
        yield Finish("stop", Usage(1, 1))

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Answer without blocking."""
        self.calls += 1
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        await asyncio.sleep(self._pause)
        yield Delta(ANSWER)
        self.under_way -= 1
        yield Finish("stop", Usage(1, 1))


def tokenizer_of(name: str) -> Callable[[str], Sequence[Any]] | None:
    """Return the peer's own tokenizer, which only its environment has, or none for the estimate."""
    if name == "estimate":
        return None
    from llama_index.core.utils import get_tokenizer

    tokenizer: Callable[[str], Sequence[Any]] = get_tokenizer()
    return tokenizer


def nodes_of(texts: Sequence[str]) -> list[NodeWithScore]:
    return [NodeWithScore(TextNode(text, id_=str(number)), 1.0) for number, text in enumerate(texts)]


def query(mode: str, count: str, tokenizer: str) -> dict[str, object]:
    """Return the CPU seconds of one query over many passages."""
    llm = MockLLM(tokenizer_of(tokenizer))
    llm.count_tokens(["warm"])
    synthesizer = get_response_synthesizer(llm, response_mode=mode)
    nodes = nodes_of(passages(int(count)))
    begin = time.process_time()
    response = synthesizer.synthesize(QUESTION, nodes)
    seconds = time.process_time() - begin
    assert ANSWER[:20] in str(response)
    return {"seconds": seconds, "calls": llm.calls}


def smallest() -> dict[str, object]:
    """Return the CPU milliseconds of the smallest compact query."""
    synthesizer = get_response_synthesizer(MockLLM(), response_mode="compact")
    nodes = nodes_of([SHORT_PASSAGE])
    return {"milliseconds": milliseconds(lambda: synthesizer.synthesize(QUESTION, nodes))}


def milliseconds(call: Callable[[], object], times: int = 200, rounds: int = 9) -> float:
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
    """Return the most calls under way at once where the setting is 8, by `asynthesize` and by `synthesize`."""
    peaks = []
    for how in ("async", "blocking"):
        llm = MockLLM(pause=0.01)
        synthesizer = get_response_synthesizer(llm, response_mode=mode, concurrency=SETTING)
        nodes = nodes_of(passages(int(count)))
        if how == "async":
            asyncio.run(synthesizer.asynthesize(QUESTION, nodes))
        else:
            synthesizer.synthesize(QUESTION, nodes)
        peaks.append(llm.peak)
    return {"peak": max(peaks), "setting": SETTING}


def first_text(count: str) -> dict[str, object]:
    """Return when the first text of a refined answer is visible, and after how many calls."""
    llm = MockLLM(pause=PIECE_SECONDS, pieces=PIECES)
    synthesizer = get_response_synthesizer(llm, response_mode="refine")
    nodes = nodes_of(passages(int(count)))
    begin = time.perf_counter()
    first, calls = 0.0, 0
    for event in synthesizer.stream_events(QUESTION, nodes):
        if isinstance(event, TextDelta) and not calls:
            first, calls = time.perf_counter() - begin, llm.calls
    return {"seconds": first, "whole": time.perf_counter() - begin, "calls": calls}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
