"""How long after the server's first token a reader sees it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from questions import Question

from responsa import NodeWithScore, TextNode, get_response_synthesizer
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.schema.events import TextDelta

RELAY = Path(__file__).with_name("relay.py")


def first_tokens(
    model: Path, questions: Sequence[Question], *, slots: int, threads: int, window: int
) -> dict[str, object]:
    """Return, for each answer of one call, the milliseconds from the server's first token to the first one visible."""
    with LlamaServer(model, context_window=window, slots=slots, threads=threads) as server:
        place = re.fullmatch(r"http://(.+):(\d+)/v1", server.url)
        assert place is not None
        with subprocess.Popen(
            [sys.executable, str(RELAY), *place.groups()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as relay:
            assert relay.stdin is not None
            assert relay.stdout is not None
            llm = OpenAILike(
                server.model, api_base=f"http://127.0.0.1:{relay.stdout.readline().strip()}/v1", temperature=0.0
            )
            synthesizer = get_response_synthesizer(llm, response_mode="compact")
            delays = []
            for question in questions:
                nodes = [NodeWithScore(TextNode(text), 1.0) for text in question.passages]
                seen = None
                for event in synthesizer.stream_events(question.text, nodes, llm_kwargs={"max_tokens": 16}):
                    if isinstance(event, TextDelta) and seen is None:
                        seen = time.monotonic()
                assert seen is not None
                delays.append((seen - float(relay.stdout.readline())) * 1000)
            llm.close()
            relay.stdin.close()
    return {
        "answers": len(delays),
        "milliseconds": [round(delay, 2) for delay in delays],
        "median": round(sorted(delays)[len(delays) // 2], 2),
        "largest": round(max(delays), 2),
    }
