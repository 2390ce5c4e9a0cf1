"""A session as a document: Markdown to read, JSON to take along."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from responsa.prompts.language import Language
from responsa.schema.errors import InvalidOption, SessionNotFound
from responsa.schema.messages import ImageBlock, MessageRole
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import Session, StoredMessage

from .chat_stores.serialization import plain, session_to_json, stored_to_json

_WORDS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "system": "System",
        "user": "User",
        "assistant": "Assistant",
        "tool": "Tool",
        "untitled": "Untitled conversation",
        "partial": "Still being written.",
        "interrupted": "Interrupted: {reason}",
        "reasoning": "Reasoning",
        "sources": "Sources",
        "picture": "picture",
    },
    "zh": {
        "system": "系统",
        "user": "用户",
        "assistant": "助手",
        "tool": "工具",
        "untitled": "未命名对话",
        "partial": "仍在生成。",
        "interrupted": "已中断：{reason}",
        "reasoning": "推理过程",
        "sources": "来源",
        "picture": "图片",
    },
}
_MARKDOWN_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>#|])")


def to_markdown(
    session: Session, messages: Sequence[StoredMessage], *, language: Language = "en", reasoning: bool = False
) -> str:
    """Return a session as Markdown, a heading each message.

    What was said stands as it was written, which may be Markdown itself; titles and sources are escaped.

    Args:
        session: The session.
        messages: Its messages.
        language: The language of headings, "en" or "zh".
        reasoning: Whether the model's reasoning is shown too.
    """
    words = _WORDS[language]
    parts = [f"# {_escaped(session.title) or words['untitled']}", _time(session.created)]
    for message in messages:
        parts.append(f"## {words[message.role.value]} · {_time(message.created)}")
        if reasoning and message.reasoning:
            quoted = "\n".join(f"> {line}" for line in message.reasoning.splitlines())
            parts.append(f"{words['reasoning']}:\n\n{quoted}")
        parts.append(message.content)
        parts += [f"*({words['picture']})*" for block in message.message.blocks if isinstance(block, ImageBlock)]
        if message.status != "complete":
            parts.append(f"*{words[message.status].replace('{reason}', _escaped(message.reason))}*")
        sources = _sources(message.extra.get("sources"))
        if message.role is MessageRole.ASSISTANT and sources:
            parts.append("\n".join([f"{words['sources']}:", "", *sources]))
    return "\n\n".join(filter(None, parts)) + "\n"


def to_json(session: Session, messages: Sequence[StoredMessage]) -> str:
    """Return a session as JSON with all that is stored, in readable form."""
    values = {"session": session_to_json(session), "messages": [plain(stored_to_json(one)) for one in messages]}
    return json.dumps(values, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode("utf-8") + "\n"


def export_session(
    store: ChatStore, session_id: str, form: str = "markdown", *, language: Language = "en", reasoning: bool = False
) -> str:
    """Return a stored session as "markdown" or "json".

    Raises:
        SessionNotFound: There is no such session.
    """
    session = store.get_session(session_id)
    if session is None:
        raise SessionNotFound(store.location, session_id)
    return _export(session, store.list_messages(session_id), form, language, reasoning)


async def aexport_session(
    store: ChatStore, session_id: str, form: str = "markdown", *, language: Language = "en", reasoning: bool = False
) -> str:
    """Return a stored session as "markdown" or "json" without blocking; see `export_session`."""
    session = await store.aget_session(session_id)
    if session is None:
        raise SessionNotFound(store.location, session_id)
    return _export(session, await store.alist_messages(session_id), form, language, reasoning)


def _export(session: Session, messages: Sequence[StoredMessage], form: str, language: Language, reasoning: bool) -> str:
    if form == "json":
        return to_json(session, messages)
    if form == "markdown":
        return to_markdown(session, messages, language=language, reasoning=reasoning)
    raise InvalidOption("form", form, "markdown or json")


def _sources(sources: Any) -> list[str]:
    """Return a numbered line for each source that a chat engine stored with an answer."""
    lines: list[str] = []
    for number, source in enumerate(sources if isinstance(sources, Sequence) else (), 1):
        metadata = source.get("metadata") if isinstance(source, Mapping) else None
        known = metadata if isinstance(metadata, Mapping) else {}
        names = [str(known[key]) for key in ("title", "file_name", "url") if known.get(key)]
        if known.get("page"):
            names.append(f"p. {known['page']}")
        lines.append(f"{number}. {_escaped(', '.join(names)) or '-'}")
    return lines


def _escaped(text: str) -> str:
    """Return a text on one line that Markdown shows as it stands."""
    return _MARKDOWN_SIGNS.sub(r"\\\1", " ".join(text.split()))


def _time(seconds: float) -> str:
    """Return a time as people and programs read it, in UTC; empty for what is none."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return ""
