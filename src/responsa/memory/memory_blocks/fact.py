"""Facts that the model finds in what fell out of the history."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from responsa.programs.effects import Program, count
from responsa.programs.plan import PLANNED
from responsa.prompts.language import Language, detect_language
from responsa.prompts.memory_prompts import memory_prompts
from responsa.prompts.templates import BasePromptTemplate
from responsa.schema.completions import Completion
from responsa.schema.errors import InvalidOption, StructuredOutputFailed
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.schema.stored import StoredMessage

from .asking import ask_about, fenced, transcript
from .base import BaseMemoryBlock, Recollection

_MAX_TOKENS: Final = 512
_FACT_LENGTH: Final = 300  # characters
_LIST_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)、])\s*(.+)$", re.MULTILINE)
_SCHEMA: Final = {
    "title": "facts",
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}


class FactExtractionMemoryBlock(BaseMemoryBlock):
    """Keeps short facts, found by the model in what falls out.

    Args:
        llm: The model that finds them; the one that answers when left out.
        facts: Facts it begins with.
        max_facts: The most it keeps; the model merges them when there are more.
        fact_extraction_prompt_template: Variables `existing_facts`, `conversation`; one in the conversation's language
            when left out.
        fact_condense_prompt_template: Variables `existing_facts`, `max_facts`; likewise.
        name: Its name.
        description: What it is for.
        priority: See `BaseMemoryBlock`.
    """

    asks_model: ClassVar[bool] = True

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        facts: Sequence[str] = (),
        max_facts: int = 50,
        fact_extraction_prompt_template: BasePromptTemplate | None = None,
        fact_condense_prompt_template: BasePromptTemplate | None = None,
        name: str = "ExtractedFacts",
        description: str | None = None,
        priority: int = 0,
    ) -> None:
        if max_facts < 1:
            raise InvalidOption("max_facts", max_facts, "a number from 1")
        super().__init__(name, description=description, priority=priority, llm=llm)
        self.facts = tuple(facts)
        self.max_facts = max_facts
        self.fact_extraction_prompt_template = fact_extraction_prompt_template
        self.fact_condense_prompt_template = fact_condense_prompt_template

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        return _as_list(self._facts(state))
        yield ()

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[list[str]]:
        """Add the facts of the messages, in as many calls as they need."""
        facts = self._facts(state)
        rest = transcript(messages)
        language = detect_language(rest)
        template = self.fact_extraction_prompt_template or memory_prompts(language).fact_extraction
        planned = False
        while rest:
            known = yield from self._newest(facts)

            def build(piece: str, known: str = known) -> list[ChatMessage]:
                return template.format_messages(existing_facts=known, conversation=fenced(piece))

            completion, rest = yield from ask_about(rest, build, "extract_facts", _MAX_TOKENS, _SCHEMA)
            planned = completion.finish_reason == PLANNED
            facts = distinct([*facts, *read_facts(completion)])
        if len(facts) > self.max_facts or planned:
            facts = yield from self._condensed(facts, language)
        return facts

    def truncate(self, content: str, room: int) -> Program[str]:
        """Return the newest facts that fit."""
        lines = content.split("\n")
        counts = yield from count([f"{line}\n" for line in lines])
        kept: list[str] = []
        for line, tokens in zip(reversed(lines), reversed(counts), strict=True):
            room -= tokens
            if room < 0:
                break
            kept.append(line)
        return "\n".join(reversed(kept))

    def _facts(self, state: Any) -> list[str]:
        return [str(fact) for fact in state] if isinstance(state, list) else list(self.facts)

    def _newest(self, facts: Sequence[str]) -> Program[str]:
        """Return the facts as the model is shown them: as many of the newest as leave room for a conversation."""
        shown = yield from self.truncate(_as_list(facts), _MAX_TOKENS)
        return fenced(shown) if shown else "-"

    def _condensed(self, facts: list[str], language: Language) -> Program[list[str]]:
        """Have the model merge facts; those that it cannot be shown stay as they are, the oldest give way."""
        template = self.fact_condense_prompt_template or memory_prompts(language).fact_condense

        def build(piece: str) -> list[ChatMessage]:
            return template.format_messages(existing_facts=fenced(piece), max_facts=self.max_facts)

        completion, rest = yield from ask_about(_as_list(facts), build, "condense_facts", _MAX_TOKENS, _SCHEMA)
        merged = read_facts(completion)
        if not merged:
            raise StructuredOutputFailed("no facts are left", completion.text)
        left = [line.removeprefix("- ") for line in rest.split("\n")]
        return distinct([*merged, *left])[-self.max_facts :]


def read_facts(completion: Completion) -> list[str]:
    """Return the facts of an answer: of its JSON object, or of its list.

    Raises:
        StructuredOutputFailed: It holds neither.
    """
    if completion.finish_reason == PLANNED:
        return [completion.text]
    text = completion.text.strip().removeprefix("```json").strip("`").strip()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        items = _LIST_ITEM.findall(text)
        if not items:
            raise StructuredOutputFailed("there is no list of facts in it", text) from None
        return distinct(items)
    facts = found.get("facts") if isinstance(found, dict) else found
    if not isinstance(facts, list):
        raise StructuredOutputFailed("there is no list of facts in it", text)
    return distinct(fact for fact in facts if isinstance(fact, str))


def distinct(facts: Iterable[str]) -> list[str]:
    """Return facts on one line each, none empty and none twice."""
    found: dict[str, str] = {}
    for fact in facts:
        line = " ".join(fact.split())[:_FACT_LENGTH]
        if line:
            found.setdefault(line.casefold().rstrip(".。"), line)
    return list(found.values())


def _as_list(facts: Sequence[str]) -> str:
    return "\n".join(f"- {fact}" for fact in facts)
