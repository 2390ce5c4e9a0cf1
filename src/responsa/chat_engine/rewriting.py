"""Rewriting a message so that it can be searched for without its conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from responsa.packing.budget import MARGIN
from responsa.packing.history import fit_history
from responsa.programs import LLMCall, Program, ask, describe, emit, measure, warn
from responsa.programs.plan import PLANNED
from responsa.prompts import BasePromptTemplate, DefaultPrompts, detect_language, refuses
from responsa.schema.completions import Sampling
from responsa.schema.errors import ResponsaError, WindowTooSmall
from responsa.schema.events import QuestionRewritten
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import LLM
from responsa.schema.turns import turns_of

# A rewrite names what a message left out; it is not an essay. In characters beyond the message's own, and in tokens.
_LONGEST_ADDITION: Final = 300
_MAX_TOKENS: Final = 128

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|『([^』]+)』|`([^`]+)`")
_LATIN_NAME: Final = re.compile(r"[A-Za-z][\w.+#-]*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?]\s+)([A-Za-z][\w.+#-]*)")
_WORD: Final = re.compile(r"\w+")
_LABEL: Final = re.compile(r"^(?:standalone question|question|独立的问题|问题)\s*[:：]\s*", re.IGNORECASE)
_QUESTION_SIGN: Final = re.compile(r"[?？吗呢么]|什么|如何|怎|哪|几|多少|谁|为何|是否")
_ASKING: Final = re.compile(
    r"^(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Rewrites a follow-up message into a question of its own.

    Args:
        prompts: The default templates in the message's language.
        template: Another template; variables `chat_history`, `question`.
        llm: The LLM, for templates that depend on it.
    """

    prompts: DefaultPrompts
    template: BasePromptTemplate | None = None
    llm: LLM | None = None

    def rewrite(self, message: str, history: Sequence[ChatMessage]) -> Program[str]:
        """Return what to search with: the rewritten message if it passes the checks, else the message itself.

        The conversation gives way, from its oldest turn on, until the prompt fits.
        """
        spoken = [m for m in history if m.role in (MessageRole.USER, MessageRole.ASSISTANT) and m.content.strip()]
        if not spoken:
            return message
        try:
            call = yield from self._call(message, spoken)
            completion = yield from ask(call)
        except ResponsaError as error:
            return (yield from self._rejected(message, str(error)))
        rewritten = _LABEL.sub("", completion.text.strip()).strip('"“”')
        asked = [m.content for m in spoken if m.role is MessageRole.USER]
        fault = PLANNED if completion.finish_reason == PLANNED else fault_of(rewritten, message, asked)
        if completion.finish_reason == "length":
            fault = "it was cut at its token limit"
        if fault is not None:
            return (yield from self._rejected(message, fault))
        yield from emit(QuestionRewritten(message, rewritten))
        return rewritten

    def _rejected(self, message: str, reason: str) -> Program[str]:
        yield from warn("rewrite_rejected", reason=reason)
        return message

    def _call(self, message: str, spoken: list[ChatMessage]) -> Program[LLMCall]:
        limits = yield from describe()
        output = min(_MAX_TOKENS, limits.context_window // 4)
        (fixed,) = yield from measure([self._messages(message, [])])
        room = limits.context_window - output - fixed - MARGIN
        kept = list((yield from fit_history(spoken, room)))
        while True:
            messages = self._messages(message, kept)
            (tokens,) = yield from measure([messages])
            if tokens + output <= limits.context_window:
                sampling = Sampling(max_tokens=output, temperature=0.0)
                return LLMCall("condense", messages, sampling, visible=False, prompt_tokens=tokens)
            if not kept:
                raise WindowTooSmall(limits.context_window, (("rewrite prompt", tokens), ("question", output)))
            kept = [m for turn in turns_of(kept)[1:] for m in turn]

    def _messages(self, message: str, spoken: list[ChatMessage]) -> tuple[ChatMessage, ...]:
        lines = [f"{self.prompts.speakers[m.role.value]}: {m.content}" for m in spoken]
        template = self.template or self.prompts.condense
        return tuple(template.format_messages(self.llm, chat_history="\n".join(lines), question=message))


def fault_of(rewritten: str, message: str, asked: Sequence[str] = ()) -> str | None:
    """Return why a rewrite must not be used, or None if it may.

    It must be one question in the message's language, not much longer, none that was asked before, and keep every
    number, quoted text and Latin name that the user typed.

    Args:
        rewritten: The rewrite.
        message: What the user says.
        asked: What the user said before.
    """
    if not rewritten:
        return "it is empty"
    if refuses(rewritten) or (_asks(message) and not _asks(rewritten)):
        return "it is an answer and not a question"
    if len(rewritten) > len(message) + _LONGEST_ADDITION:
        return f"it has {len(rewritten)} characters"
    if "\n\n" in rewritten:
        return "it has several paragraphs"
    if detect_language(rewritten) != detect_language(message):
        return "it is in another language"
    if _words(rewritten) in map(_words, asked) and _words(rewritten) != _words(message):
        return "it is an earlier question"
    lost = lost_parts(rewritten, message)
    return f"it lost {lost[0]}" if lost else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def lost_parts(rewritten: str, message: str) -> list[str]:
    """Return the numbers, quoted texts and Latin names that the user typed and a rewrite does not hold."""
    return [part for part in typed_parts(message) if not _holds(rewritten, part)]


def _holds(text: str, part: str) -> bool:
    """Whether a text holds a part as a whole: no 80 in 8001, no Go in Google, but an API in APIs."""
    whole = re.escape(part)
    if _NUMBER.fullmatch(part):
        whole = rf"(?<!\d)(?<!\d[.,:]){whole}(?![.,:]?\d)"
    elif _LATIN_NAME.fullmatch(part):
        whole = rf"(?<![A-Za-z\d]){whole}s?(?![A-Za-z\d])"
    return re.search(whole, text, re.IGNORECASE) is not None


def typed_parts(message: str) -> list[str]:
    """Return the numbers, quoted texts and Latin names of a message, in order."""
    parts = _NUMBER.findall(message)
    parts += [text for groups in _QUOTED.findall(message) for text in groups if text]
    words = _LATIN_NAME.findall(message)
    if detect_language(message) == "zh":
        return parts + words
    starts = set(_SENTENCE_START.findall(message))
    return parts + [word.rstrip(".") for word in words if _is_name(word, starts_sentence=word in starts)]


def _is_name(word: str, *, starts_sentence: bool) -> bool:
    """Whether an English word is a name or an identifier: a capital where none is due, digits, or signs inside."""
    if any(char.isupper() or char.isdigit() for char in word[1:]) or any(char in word.rstrip(".") for char in "_.#+"):
        return True
    return word[0].isupper() and not starts_sentence and word != "I"


def _asks(text: str) -> bool:
    return bool(_QUESTION_SIGN.search(text) or _ASKING.match(text.strip()))
