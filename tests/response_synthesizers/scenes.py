"""Passages, models and ways to ask, for tests of the synthesizers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, closing
from typing import Any

from responsa.response_synthesizers import BaseSynthesizer
from responsa.schema.errors import RateLimited
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse
from responsa.testing import ScriptedLLM

QUESTION = "Who owns a value?"
PASSAGE = "Each value in Rust has an owner. There can only be one owner at a time, and it is called the owner. "


class BreakingLLM(ScriptedLLM):
    """A model whose server breaks off in the middle of one answer.

    Args:
        script: Its answers.
        call: The call that breaks off, from 1.
        after: How many pieces of it arrive.
    """

    def __init__(self, script: Any, *, call: int, after: int) -> None:
        super().__init__(script)
        self.call = call
        self.after = after

    def stream(self, messages, sampling):
        with closing(super().stream(messages, sampling)) as items:
            for number, item in enumerate(items):
                self._break(number)
                yield item

    async def astream(self, messages, sampling):
        number = 0
        async with aclosing(super().astream(messages, sampling)) as items:
            async for item in items:
                self._break(number)
                number += 1
                yield item

    def _break(self, number: int) -> None:
        if (len(self.prompts), number) == (self.call, self.after):
            raise RateLimited("http://server")


def passages(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(TextNode(text, id_=f"n{number}"), 1 / number) for number, text in enumerate(texts, 1)]


def long_passages(count: int, times: int = 6) -> list[NodeWithScore]:
    """Passages that do not all fit into one small window."""
    return passages(*(f"Passage {number}. {PASSAGE * times}" for number in range(1, count + 1)))


def synthesized(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> Response:
    response = synthesizer.synthesize(*args, **kwargs)
    assert isinstance(response, Response)
    return response


def asynthesized(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> Response:
    response = asyncio.run(synthesizer.asynthesize(*args, **kwargs))
    assert isinstance(response, Response)
    return response


def streamed(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> tuple[list[str], Response]:
    """The pieces of a streaming synthesizer's answer, and the whole response."""
    streaming = synthesizer.synthesize(*args, **kwargs)
    assert isinstance(streaming, StreamingResponse)
    return list(streaming.response_gen), streaming.get_response()


def astreamed(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> tuple[list[str], Response]:
    async def read() -> tuple[list[str], Response]:
        streaming = await synthesizer.asynthesize(*args, **kwargs)
        assert isinstance(streaming, AsyncStreamingResponse)
        return [piece async for piece in streaming.response_gen], await streaming.get_response()

    return asyncio.run(read())


def events(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> list[Any]:
    return list(synthesizer.stream_events(*args, **kwargs))


def aevents(synthesizer: BaseSynthesizer, *args: Any, **kwargs: Any) -> list[Any]:
    async def read() -> list[Any]:
        return [event async for event in synthesizer.astream_events(*args, **kwargs)]

    return asyncio.run(read())


RESPONDING: dict[str, Callable[..., Response]] = {
    "synthesize": synthesized,
    "asynthesize": asynthesized,
    "stream_events": lambda *args, **kwargs: events(*args, **kwargs)[-1].response,
    "astream_events": lambda *args, **kwargs: aevents(*args, **kwargs)[-1].response,
}


def codes(response: Response) -> list[str]:
    return [notice.code for notice in response.warnings]


def stages(response: Response) -> list[str]:
    return [record.call.stage for record in response.trace]


def texts_of(trace: Sequence[Any]) -> list[str]:
    return [record.completion.text for record in trace if record.completion]
