"""Stored messages as JSON and back. What is read is checked: a file or a row may hold anything."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any, Final, get_args

from responsa.schema.errors import InvalidOption
from responsa.schema.messages import ChatMessage, ContentBlock, ImageBlock, MessageRole, TextBlock
from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage

_STATUSES: Final[tuple[MessageStatus, ...]] = get_args(MessageStatus)


def to_text(name: str, value: Any) -> str:
    """Return a value as JSON in ASCII alone, so that no character of it can trouble a file or a database.

    Raises:
        InvalidOption: JSON cannot hold it; `name` says which value it is.
    """
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidOption(name, type(value).__name__, f"a value that JSON can hold ({error})") from None


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: what is no text, number, list or object becomes its text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return str(value)


def chat_message_to_json(message: ChatMessage) -> dict[str, Any]:
    """Return a message as JSON values."""
    content: dict[str, Any] = {
        "role": message.role.value,
        "blocks": [_block_to_json(block) for block in message.blocks],
    }
    if message.additional_kwargs:
        content["additional_kwargs"] = message.additional_kwargs
    return content


def _block_to_json(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    image = base64.b64encode(block.image).decode("ascii")
    return {"type": "image", "url": block.url, "image": image, "mimetype": block.image_mimetype, "detail": block.detail}


def chat_message_from_json(value: Any) -> ChatMessage:
    """Return the message of JSON values; raises ValueError for anything else."""
    fields = _object(value)
    return ChatMessage(
        MessageRole(fields["role"]),
        blocks=[_block_from_json(_object(block)) for block in _typed(list, fields, "blocks")],
        additional_kwargs=_typed(dict, fields, "additional_kwargs", {}),
    )


def _block_from_json(fields: Mapping[str, Any]) -> ContentBlock:
    match fields["type"]:
        case "text":
            return TextBlock(_typed(str, fields, "text"))
        case "image":
            return ImageBlock(
                _typed(str, fields, "url", ""),
                base64.b64decode(_typed(str, fields, "image", ""), validate=True),
                _typed(str, fields, "mimetype", "image/png"),
                None if fields.get("detail") is None else _typed(str, fields, "detail"),
            )
    raise ValueError(f"a block of type {fields['type']!r}")


def stored_to_json(stored: StoredMessage) -> dict[str, Any]:
    """Return a stored message as JSON values."""
    values: dict[str, Any] = {"id": stored.id, "message": chat_message_to_json(stored.message)}
    for name in ("turn", "reason", "reasoning", "writer", "extra"):
        if value := getattr(stored, name):
            values[name] = value
    return {**values, "status": stored.status, "created": stored.created}


def stored_from_json(value: Any) -> StoredMessage:
    """Return the stored message of JSON values; raises ValueError for anything else."""
    fields = _object(value)
    try:
        status = _typed(str, fields, "status")
        if status not in _STATUSES:
            raise ValueError(f"the status {status!r}")
        return StoredMessage(
            chat_message_from_json(fields["message"]),
            _typed(str, fields, "id"),
            _typed(str, fields, "turn", ""),
            status,
            _typed(str, fields, "reason", ""),
            _typed(str, fields, "reasoning", ""),
            float(_typed((int, float), fields, "created")),
            _typed(str, fields, "writer", ""),
            _typed(dict, fields, "extra", {}),
        )
    except KeyError as error:
        raise ValueError(f"no {error}") from None


def session_to_json(session: Session) -> dict[str, Any]:
    """Return a session as JSON values."""
    return {"id": session.id, "title": session.title, "created": session.created, "updated": session.updated}


def session_from_json(value: Any) -> Session:
    """Return the session of JSON values; raises ValueError for anything else."""
    fields = _object(value)
    times = [float(_typed((int, float), fields, name)) for name in ("created", "updated")]
    return Session(_typed(str, fields, "id"), _typed(str, fields, "title"), *times)


def states_to_json(states: Mapping[str, SessionState]) -> dict[str, list[Any]]:
    """Return a session's states as JSON values."""
    return {name: [state.version, state.value] for name, state in states.items()}


def states_from_json(value: Any) -> dict[str, SessionState]:
    """Return the states of JSON values; raises ValueError for anything else."""
    states: dict[str, SessionState] = {}
    for name, pair in _object(value).items():
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], int):
            raise ValueError("a state that is no pair of version and value")
        states[name] = SessionState(pair[1], pair[0])
    return states


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{type(value).__name__} where an object belongs")
    return value


_REQUIRED: Final = object()


def _typed(kind: Any, fields: Mapping[str, Any], name: str, default: Any = _REQUIRED) -> Any:
    value = fields.get(name, default)
    if value is _REQUIRED or isinstance(value, bool) or not isinstance(value, kind):
        raise ValueError(f"a wrong or missing {name}")
    return value
