"""The default templates, by language.

What is the same in every call stands first, so that a server's prompt cache keeps it: the instructions, and where one
question takes many calls, the question. Passages, which differ from call to call, come after; all of them stand inside
one fence, which `responsa.packing` knows of. A question asked of many passages at once stands behind them, since small
models lose it over them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from responsa.tokens.marks import CLOSING, COMMAS, OPENING

from . import en, zh
from .language import Language
from .templates import BasePromptTemplate, ChatPromptTemplate


@dataclass(frozen=True, slots=True)
class DefaultPrompts:
    """The templates and fixed phrases of one language.

    Args:
        language: Which it is.
        text_qa: Variables `query_str`, `context_str`.
        single_qa: As `text_qa`, where each of many passages is asked of alone.
        refine: Variables `query_str`, `existing_answer`, `context_msg`.
        text_qa_decide: As `text_qa`, asking for a decision as an object.
        refine_decide: As `refine`, asking for a decision as an object.
        summary: Variables `query_str`, `context_str`.
        simple: Variable `query_str`.
        condense: Variables `chat_history`, `question`.
        repair: What a model is told of an object that is none; variable `reason`.
        speakers: What the roles are called in a conversation written out.
        refusal: What the model is asked to say when the passages hold no answer.
        no_sources: What a response without passages prints.
    """

    language: Language
    text_qa: BasePromptTemplate
    single_qa: BasePromptTemplate
    refine: BasePromptTemplate
    text_qa_decide: BasePromptTemplate
    refine_decide: BasePromptTemplate
    summary: BasePromptTemplate
    simple: BasePromptTemplate
    condense: BasePromptTemplate
    repair: str
    speakers: Mapping[str, str]
    refusal: str
    no_sources: str


_OPEN_MARKER: Final = re.compile(rf"{OPENING}[\d\s{COMMAS}]*$")
_MARKER: Final = re.compile(rf"{OPENING}[\d\s{COMMAS}]+{CLOSING}")


def _core(answer: str) -> str:
    return _MARKER.sub("", answer).replace("’", "'").strip(" \t\n\r.。!！\"'“”*").casefold()


_REFUSALS: Final = frozenset(_core(said) for texts in (en, zh) for said in (texts.REFUSAL, *texts.OTHER_REFUSALS))


def refuses(answer: str) -> bool:
    """Tell whether `answer` is the phrase for not knowing, and nothing else but marks and quotes around it."""
    return _core(answer) in _REFUSALS


def may_refuse(text: str, ended: bool) -> bool:
    """Tell whether a text is a refusal or, if it has not ended, may still become one."""
    if ended:
        return refuses(text)
    core = _core(_OPEN_MARKER.sub("", text))
    return any(refusal.startswith(core) for refusal in _REFUSALS)


@cache
def default_prompts(language: Language) -> DefaultPrompts:
    """Return the default templates of `language`."""
    texts = zh if language == "zh" else en

    def chat(user: str, system: str = texts.STEP_SYSTEM) -> BasePromptTemplate:
        return ChatPromptTemplate.from_messages([("system", system), ("user", user)])

    return DefaultPrompts(
        language=language,
        text_qa=chat(texts.QA_USER, texts.QA_SYSTEM),
        single_qa=chat(texts.SINGLE_QA_USER),
        refine=chat(texts.REFINE_USER),
        text_qa_decide=chat(texts.QA_DECIDE_USER),
        refine_decide=chat(texts.REFINE_DECIDE_USER),
        summary=chat(texts.QA_USER, texts.SUMMARY_SYSTEM),
        simple=ChatPromptTemplate.from_messages([("user", texts.SIMPLE_USER)]),
        condense=ChatPromptTemplate.from_messages([("system", texts.CONDENSE_SYSTEM), ("user", texts.CONDENSE_USER)]),
        repair=texts.REPAIR_USER,
        speakers=texts.SPEAKERS,
        refusal=texts.REFUSAL,
        no_sources=texts.NO_SOURCES,
    )
