"""An answer's events as chunks of a chat completion, or as a whole one at its end."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from json.encoder import encode_basestring
from typing import Any

from responsa.response_synthesizers.text_stream import TextPieces
from responsa.schema.events import Done, ReasoningDelta, TextDelta
from responsa.schema.response import Response

from ..answering.hits import safe_url
from ..answering.results import response_json
from ..answering.turn import Turn
from ..compact_json import compact_json
from ..runs.run import DONE
from .footnotes import footnotes
from .framing import CHUNK

# What is only of use where everything else of the answer is shown too.
_LEFT_OUT = ("answer", "reasoning", "usage", "trace")


class Completion:
    """Tells an answer as a chat completion.

    Args:
        turn: The turn to be answered.
        model: The model's name as it was asked for.
        language: The language of messages, "en" or "zh".
        with_footnotes: Whether the cited sources are listed under the answer.
    """

    def __init__(self, turn: Turn, model: str, *, language: str, with_footnotes: bool) -> None:
        self.answer_id = ""
        self._turn = turn
        self._model = model
        self._language = language
        self._with_footnotes = with_footnotes
        self._created = int(time.time())

    def write(self, event: tuple[str, str]) -> tuple[str, str]:
        """Return what `chunks` or `whole` made, which is written already."""
        return event

    async def whole(self) -> AsyncGenerator[tuple[str, str], None]:
        """Answer, and yield the whole completion."""
        async with aclosing(self._turn.events()) as events:
            async for event in events:
                if isinstance(event, Done):
                    yield DONE, self._completion(event.response)

    async def chunks(self, *, include_usage: bool) -> AsyncGenerator[tuple[str, str], None]:
        """Answer, and yield the chunks as they come; only text that no later step replaces is given."""
        yield CHUNK, self._chunk({"role": "assistant", "content": ""})
        beginning, ending = self._around_text()
        pieces = TextPieces()
        async with aclosing(self._turn.events()) as events:
            async for event in events:
                if isinstance(event, TextDelta) and event.item is not None:
                    continue  # several answers, made side by side, are one text only at the end
                for piece in pieces.of(event):
                    yield CHUNK, f"{beginning}{encode_basestring(piece)}{ending}"
                if isinstance(event, ReasoningDelta):
                    yield CHUNK, self._chunk({"reasoning_content": event.text})
                elif isinstance(event, Done):
                    for chunk in self._last_chunks(event.response, include_usage=include_usage):
                        yield CHUNK, chunk
                    yield DONE, self._completion(event.response)

    def _around_text(self) -> tuple[str, str]:
        """Return what stands before and after a piece of text in its chunk: there may be ten thousand a second."""
        beginning, _, ending = self._chunk({"content": "\0"}).partition('"\\u0000"')
        return beginning, ending

    def _last_chunks(self, response: Response, *, include_usage: bool) -> list[str]:
        chunks = []
        if notes := self._notes(response):
            chunks.append(self._chunk({"content": notes}))
        annotations = self._annotations(response)
        last = {"annotations": annotations} if annotations else {}
        chunks.append(self._chunk(last, _finish_reason(response), responsa=self._extension(response)))
        if include_usage:
            chunks.append(
                compact_json({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(response)})
            )
        return chunks

    def _chunk(self, delta: dict[str, Any], reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return compact_json({**self._head("chat.completion.chunk"), "choices": [choice], **more})

    def _completion(self, response: Response) -> str:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": str(response) + self._notes(response),
            "refusal": None,
            "annotations": self._annotations(response),
        }
        if response.reasoning:
            message["reasoning_content"] = response.reasoning
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(response)}
        return compact_json(
            {
                **self._head("chat.completion"),
                "choices": [choice],
                "usage": _usage(response),
                "responsa": self._extension(response),
            }
        )

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.answer_id}",
            "object": kind,
            "created": self._created,
            "model": self._model,
        }

    def _notes(self, response: Response) -> str:
        return footnotes(response.citations, response.source_nodes) if self._with_footnotes else ""

    def _annotations(self, response: Response) -> list[dict[str, Any]]:
        """Return the citations whose sources have an address, as OpenAI has them."""
        found = []
        for citation in response.citations:
            if not (citation.known and 0 < citation.number <= len(response.source_nodes)):
                continue
            metadata = response.source_nodes[citation.number - 1].metadata
            url = safe_url(metadata.get("url"))
            if url is not None:
                start, end = citation.sentence
                title = str(metadata.get("title") or "")
                place = {"start_index": start, "end_index": end, "url": url, "title": title}
                found.append({"type": "url_citation", "url_citation": place})
        return found

    def _extension(self, response: Response) -> dict[str, Any]:
        whole = response_json(response, self._turn.related, language=self._language, prompts=False)
        kept = {name: value for name, value in whole.items() if name not in _LEFT_OUT}
        return {"answer_id": self.answer_id, "mode": self._turn.synthesizer.mode, **kept}


def _finish_reason(response: Response) -> str:
    visible = [record.completion for record in response.trace if record.completion and record.call.visible]
    return "length" if visible and visible[-1].finish_reason == "length" else "stop"


def _usage(response: Response) -> dict[str, Any]:
    usage = response.usage
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
    }
