"""A model that stands in for a server's in the pages' examples."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from typing import Any

from responsa.schema.completions import Sampling, StreamItem
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM


class OpenAILike(ScriptedLLM):
    """Answers a sentence, or an object of the schema it is asked for."""

    def __init__(self, model: str | None = None, *, api_base: str = "", **options: Any) -> None:
        super().__init__(self._answer)
        self._schema: Mapping[str, Any] | None = None

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        self._schema = sampling.output_schema
        return super().stream(messages, sampling)

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        self._schema = sampling.output_schema
        async for item in super().astream(messages, sampling):
            yield item

    def _answer(self, messages: Sequence[ChatMessage]) -> str:
        if self._schema is None:
            return "A member can borrow up to eight books [1]."
        values = {"string": "Eight.", "integer": 8, "number": 8.0, "boolean": True, "array": [], "object": {}}
        properties = self._schema["properties"]
        return json.dumps({name: values[form.get("type", "string")] for name, form in properties.items()})
