"""What stands in for arguments not given. Importing it loads nothing; nothing in the package writes to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from responsa.schema.errors import MissingPart
from responsa.schema.protocols import LLM, Embedder

if TYPE_CHECKING:
    from responsa.instrumentation import CallbackManager
    from responsa.packing.chat_prompt_helper import ChatPromptHelper
    from responsa.packing.prompt_helper import PromptHelper
    from responsa.prompts import LanguageChoice


@dataclass(slots=True)
class _Settings:
    """The defaults of a program, set by its author.

    Args:
        llm: The model that answers.
        embed_model: The model that embeds.
        prompt_helper: How windows are shared out, in place of what the LLM says of itself.
        callback_manager: Who is told of what happens.
        language: The language of prompts and fixed sentences: "en", "zh", or "auto" for the question's own.
    """

    llm: LLM | None = None
    embed_model: Embedder | None = None
    prompt_helper: PromptHelper | ChatPromptHelper | None = None
    callback_manager: CallbackManager | None = None
    language: LanguageChoice = "auto"

    def needed_llm(self, owner: str) -> LLM:
        """Return the LLM, or raise MissingPart naming `owner`, who needs it."""
        if self.llm is None:
            raise MissingPart("an LLM (llm=...)", owner)
        return self.llm


Settings = _Settings()
