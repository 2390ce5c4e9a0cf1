"""Answers questions with LlamaIndex: run by the interpreter of the peer's environment, see `peer.py`.

It reads one JSON object from standard input: `api_base`, `model`, `mode`, `context_window`, `max_tokens`, `questions`
(each with `text` and `passages`). For each question it waits for a line on standard input, answers, and writes a JSON
line: the answer, the seconds it took and the number of calls.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.llms.openai_like import OpenAILike


class CountingLLM(OpenAILike):
    """The peer's own client, which also counts its calls."""

    calls: int = 0

    def chat(self, *args: Any, **kwargs: Any) -> Any:
        """Count a call and make it."""
        self.calls += 1
        return super().chat(*args, **kwargs)


def main() -> None:
    """Answer the questions one after another."""
    task = json.loads(sys.stdin.readline())
    llm = CountingLLM(
        model=task["model"],
        api_base=task["api_base"],
        api_key="none",
        is_chat_model=True,
        context_window=task["context_window"],
        max_tokens=task["max_tokens"],
        temperature=0.0,
        timeout=600.0,
    )
    synthesizer = get_response_synthesizer(llm=llm, response_mode=task["mode"])
    for question in task["questions"]:
        sys.stdin.readline()
        nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in question["passages"]]
        llm.calls = 0
        begin = time.perf_counter()
        response = synthesizer.synthesize(question["text"], nodes)
        seconds = time.perf_counter() - begin
        print(json.dumps({"text": str(response), "seconds": seconds, "calls": llm.calls}), flush=True)


if __name__ == "__main__":
    main()
