"""Calling the blocking and the asynchronous side of a model with the same test."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from responsa.schema.completions import Completion, LLMMetadata, Sampling, StreamItem
from responsa.schema.messages import ChatMessage

QUESTION = [ChatMessage("user", "Where?")]


class Both:
    """One side of a model."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def items(
        self, llm: Any, messages: Sequence[ChatMessage] = QUESTION, sampling: Sampling = Sampling()
    ) -> list[StreamItem]:
        async def collect() -> list[StreamItem]:
            return [item async for item in llm.astream(messages, sampling)]

        return asyncio.run(collect()) if self.is_async else list(llm.stream(messages, sampling))

    def text(self, llm: Any, **options: Any) -> str:
        completion: Completion = self.call(llm, "complete", "Where?", **options).raw
        return completion.text

    def metadata(self, llm: Any) -> LLMMetadata:
        return asyncio.run(llm.ametadata()) if self.is_async else llm.metadata

    def call(self, llm: Any, name: str, *args: Any, **options: Any) -> Any:
        if self.is_async:
            return asyncio.run(getattr(llm, f"a{name}")(*args, **options))
        return getattr(llm, name)(*args, **options)


both = pytest.mark.parametrize("side", [Both(False), Both(True)], ids=["sync", "async"])
