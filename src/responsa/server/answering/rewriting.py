"""A follow-up message rewritten so that it can be searched for without its conversation."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from responsa.chat_engine.rewriting import Rewriter
from responsa.programs import astream
from responsa.prompts import default_prompts, detect_language
from responsa.response_synthesizers.question import checked_question
from responsa.schema.events import Done, Event, WarningRaised
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM

from ..compact_json import compact_json
from .results import warning_json


def rewriting(message: str, history: Sequence[ChatMessage], llm: LLM) -> AsyncGenerator[Event, None]:
    """Rewrite a message and yield what happens; the result is what to search for."""
    question = checked_question(message)
    rewriter = Rewriter(default_prompts(detect_language(question)), llm=llm)
    return astream(rewriter.rewrite(question, history), llm)


class RewritingWriter:
    """Writes the result of a rewriting, with the warnings on the way to it.

    Args:
        answer_id: The rewriting's identity.
        question: The message.
        language: The language of messages.
    """

    def __init__(self, answer_id: str, question: str, *, language: str) -> None:
        self._answer_id = answer_id
        self._question = question
        self._language = language
        self._warnings: list[dict[str, Any]] = []

    def write(self, event: Event) -> tuple[str, str] | None:
        """Return the last event's name and JSON; None for all others."""
        if isinstance(event, WarningRaised):
            self._warnings.append(warning_json(event.notice, self._language))
        if not isinstance(event, Done):
            return None
        value = {
            "answer_id": self._answer_id,
            "outcome": "answered",
            "question": self._question,
            "rewritten": event.response,
            "changed": event.response != self._question,
            "warnings": self._warnings,
        }
        return event.type, compact_json(value)
