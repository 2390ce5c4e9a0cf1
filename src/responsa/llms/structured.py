"""Getting an answer that follows a JSON schema out of any server: the ways there are, tried in turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..schema.messages import ChatMessage, MessageRole, TextBlock
from .served import Served

JSON_SCHEMA: Final = "json_schema"
GRAMMAR: Final = "grammar"
FUNCTION: Final = "function"
PROMPT: Final = "prompt"

# Keywords of a schema that hold schemas by names of one's own, and those that hold values.
SCHEMAS_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
VALUES: Final = ("enum", "const", "default", "examples")


def ways_of(served: Served, *, is_chat_model: bool, is_function_calling_model: bool) -> list[str]:
    """Return the ways that may work with a server, the strictest first; the prompt alone is the last."""
    ways = [JSON_SCHEMA] if is_chat_model else []
    if served.is_llama_server or served.is_vllm:
        ways.append(GRAMMAR)
    if is_chat_model and is_function_calling_model:
        ways.append(FUNCTION)
    return [*ways, PROMPT]


def way_body(way: str, schema: Mapping[str, Any], *, served: Served, strict: bool) -> dict[str, Any]:
    """Return the fields of a request's body that ask for the schema in one way."""
    name, schema = _name(schema), closed(schema)
    if way == JSON_SCHEMA:
        inner = {"name": name, "schema": schema, "strict": strict}
        return {"response_format": {"type": "json_schema", "json_schema": inner}}
    if way == GRAMMAR:
        # llama-server makes its grammar of the schema itself.
        return {"json_schema": schema} if served.is_llama_server else {"structured_outputs": {"json": schema}}
    if way == FUNCTION:
        function = {"name": name, "description": "Give the answer.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        }
    return {}


def way_messages(way: str, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> Sequence[ChatMessage]:
    """Return the messages to send: unchanged where the server itself is told the schema."""
    if way != PROMPT:
        return messages
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    order = f"Answer with one JSON object and nothing else. It must follow this JSON schema:\n{text}"
    last = messages[-1] if messages else None
    if last is None or last.role != MessageRole.USER:
        return [*messages, ChatMessage(MessageRole.USER, order)]
    # Many chat templates refuse two user messages in a row.
    blocks = (*last.blocks, TextBlock(f"\n{order}"))
    return [*messages[:-1], ChatMessage(last.role, blocks=blocks, additional_kwargs=last.additional_kwargs)]


class Ways:
    """Remembers which way a server takes.

    A way is given up once the server refused it and took another, or took it and did not keep to it.
    """

    def __init__(self) -> None:
        self._given_up: set[str] = set()

    def open(self, ways: Sequence[str]) -> list[str]:
        """Return those of `ways` that have not been given up."""
        return [way for way in ways if way not in self._given_up]

    def refused(self, ways: Sequence[str]) -> None:
        """Note that the server refused these and took the next."""
        self._given_up.update(ways)

    def answered(self, way: str, text: str, finish_reason: str | None) -> None:
        """Note how a whole answer kept to the schema."""
        if way != PROMPT and finish_reason != "length" and not _is_json(text):
            self._given_up.add(way)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def closed(schema: Any) -> Any:
    """Return a schema whose objects have no fields but those it names, unless it says that they may.

    A small model that may add fields adds them until its tokens are used up.
    """
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for name, value in schema.items():
        if name in SCHEMAS_BY_NAME and isinstance(value, Mapping):
            result[name] = {key: closed(one) for key, one in value.items()}
        else:
            result[name] = value if name in VALUES else closed(value)
    if "properties" in schema and isinstance(schema["properties"], Mapping):
        result.setdefault("additionalProperties", False)
    return result


def _name(schema: Mapping[str, Any]) -> str:
    title = "".join(char if char.isascii() and char.isalnum() else "_" for char in str(schema.get("title", "answer")))
    return title[:64] or "answer"
