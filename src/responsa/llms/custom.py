"""The base for one's own model, written as `complete` or `stream_complete`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, closing
from typing import Any

from ..schema.completions import Completion, Delta, Finish, Sampling, StreamItem
from ..schema.errors import MissingMethod
from ..schema.messages import ChatMessage
from .base import LLM, SAMPLING_OPTIONS
from .prompt_text import messages_to_prompt
from .responses import CompletionResponse, CompletionResponseGen
from .threads import in_threads


class CustomLLM(LLM):
    """A model given by `metadata` and `complete`, `stream_complete`, or both, as in LlamaIndex.

    They are called with the prompt, `formatted=True` and those fields of `Sampling` that are set. A streamed step's
    `delta` is what it adds; where that is None, its `text` is the text so far. Asynchronous calls run them in a
    thread.
    """

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the answer to a prompt; as it stands, the last step of `stream_complete`."""
        if type(self).stream_complete is CustomLLM.stream_complete:
            raise MissingMethod("complete or stream_complete", type(self).__name__)
        reader = _StepReader()
        with closing(self.stream_complete(prompt, formatted=formatted, **kwargs)) as steps:
            for step in steps:
                reader.take(step)
        return CompletionResponse(reader.text, raw=reader.last)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Return the answer to a prompt in steps; as it stands, in one."""
        yield self.complete(prompt, formatted=formatted, **kwargs)

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Yield the answer's pieces and then one `Finish`."""
        reader = _StepReader()
        with closing(self._steps(messages, sampling)) as steps:
            for step in steps:
                yield from reader.take(step)
        yield reader.finish()

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer's pieces without blocking; each step is made in a thread."""
        reader = _StepReader()
        async with aclosing(in_threads(self._steps(messages, sampling))) as steps:
            async for step in steps:
                for item in reader.take(step):
                    yield item
        yield reader.finish()

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the answer to a prompt without blocking; `complete` runs in a thread."""
        return await asyncio.to_thread(self.complete, prompt, formatted, **kwargs)

    def _steps(self, messages: Sequence[ChatMessage], sampling: Sampling) -> CompletionResponseGen:
        options = {name: value for name in SAMPLING_OPTIONS if (value := getattr(sampling, name)) not in (None, (), {})}
        return self.stream_complete(messages_to_prompt(messages), formatted=True, **options)


class _StepReader:
    """Reads what each step adds, whether it says so or only gives the text so far."""

    def __init__(self) -> None:
        self.text = ""
        self.last: Completion | None = None

    def take(self, step: CompletionResponse) -> list[StreamItem]:
        if step.raw is not None:
            self.last = step.raw
        added = step.delta if step.delta is not None else step.text[len(self.text) :]
        self.text += added
        return [Delta(added)] if added else []

    def finish(self) -> Finish:
        end = self.last
        return Finish("stop") if end is None else Finish(end.finish_reason, end.usage, end.timings, end.model)
