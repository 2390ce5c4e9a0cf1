"""A running summary of what fell out of the history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from responsa.programs.effects import Program
from responsa.prompts.language import detect_language
from responsa.prompts.memory_prompts import memory_prompts
from responsa.prompts.templates import BasePromptTemplate
from responsa.schema.errors import StructuredOutputFailed
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.schema.stored import StoredMessage

from .asking import ask_about, fenced, transcript
from .base import BaseMemoryBlock, Recollection

_WORDS_A_TOKEN: Final = 0.6  # of a summary's limit, so that it ends before it is cut


class SummaryMemoryBlock(BaseMemoryBlock):
    """Keeps one summary, written anew by the model from the summary so far and what falls out.

    Args:
        llm: The model that writes it; the one that answers when left out.
        max_tokens: The most tokens it may have.
        summary_prompt_template: Variables `existing_summary`, `conversation`, `max_words`; one in the conversation's
            language when left out.
        name: Its name.
        description: What it is for.
        priority: See `BaseMemoryBlock`.
    """

    asks_model: ClassVar[bool] = True

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        max_tokens: int = 256,
        summary_prompt_template: BasePromptTemplate | None = None,
        name: str = "ConversationSummary",
        description: str | None = None,
        priority: int = 0,
    ) -> None:
        super().__init__(name, description=description, priority=priority, llm=llm)
        self.max_tokens = max_tokens
        self.summary_prompt_template = summary_prompt_template

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        return state if isinstance(state, str) else ""
        yield ()

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[str]:
        """Write the summary anew, in as many calls as the messages need."""
        summary = state if isinstance(state, str) else ""
        rest = transcript(messages)
        template = self.summary_prompt_template or memory_prompts(detect_language(rest)).summary
        while rest:
            so_far = summary

            def build(piece: str, so_far: str = so_far) -> list[ChatMessage]:
                return template.format_messages(
                    existing_summary=fenced(so_far) if so_far else "-",
                    conversation=fenced(piece),
                    max_words=int(self.max_tokens * _WORDS_A_TOKEN),
                )

            completion, rest = yield from ask_about(rest, build, "summarize_history", self.max_tokens)
            summary = completion.text.strip()
            if not summary:
                raise StructuredOutputFailed("the summary is empty")
        return summary
