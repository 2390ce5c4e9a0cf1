"""A call as the body of an OpenAI-compatible request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schema.completions import Sampling
from ..schema.messages import ChatMessage, ContentBlock, TextBlock


def message_body(message: ChatMessage) -> dict[str, Any]:
    """Return one message as a server takes it: text alone as a string, anything more as parts."""
    content: Any = message.content
    if not all(isinstance(block, TextBlock) for block in message.blocks):
        content = [_part(block) for block in message.blocks]
    return {"role": message.role.value, "content": content, **message.additional_kwargs}


def _part(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    image = {"url": block.address, **({"detail": block.detail} if block.detail else {})}
    return {"type": "image_url", "image_url": image}


def messages_body(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages as a server takes them."""
    return [message_body(message) for message in messages]


def sampling_body(sampling: Sampling, defaults: Sampling) -> dict[str, Any]:
    """Return the sampling fields of a body: the call's own, else the LLM's, else None."""
    body: dict[str, Any] = {}
    for name in ("max_tokens", "temperature", "top_p", "seed"):
        value = getattr(sampling, name)
        body[name] = getattr(defaults, name) if value is None else value
    body["stop"] = list(sampling.stop or defaults.stop) or None
    return body


def without_none(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without the fields that are None."""
    return {name: value for name, value in body.items() if value is not None}
