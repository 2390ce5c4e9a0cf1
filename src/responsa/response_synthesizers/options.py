"""The keywords that every mode takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypedDict

from responsa.instrumentation import CallbackManager
from responsa.packing.chat_prompt_helper import ChatPromptHelper
from responsa.packing.prompt_helper import PromptHelper
from responsa.prompts import AnswerStyle, BasePromptTemplate, LanguageChoice

from .type import ResponseMode

if TYPE_CHECKING:
    from pydantic import BaseModel


class SynthesizerOptions(TypedDict, total=False):
    """What `BaseSynthesizer` takes beside the LLM; its docstring says what each is."""

    streaming: bool
    output_cls: type[BaseModel] | None
    prompt_helper: PromptHelper | None
    chat_prompt_helper: ChatPromptHelper | None
    callback_manager: CallbackManager | None
    verbose: bool
    multimodal: bool
    use_async: bool | None
    concurrency: int | None
    language: LanguageChoice | None
    empty_response: str | None
    think: bool | None
    style: AnswerStyle | None
    output_schema: Mapping[str, Any] | None


class ModeOptions(SynthesizerOptions, total=False):
    """What the modes take beside the LLM, each some of it; `get_response_synthesizer` says what each is."""

    text_qa_template: BasePromptTemplate | None
    refine_template: BasePromptTemplate | None
    summary_template: BasePromptTemplate | None
    simple_template: BasePromptTemplate | None
    chat_content_qa_template: BasePromptTemplate | None
    chat_content_refine_template: BasePromptTemplate | None
    chat_summary_template: BasePromptTemplate | None
    structured_answer_filtering: bool


class SynthesisOptions(ModeOptions, total=False):
    """What `get_response_synthesizer` takes beside the LLM."""

    response_mode: ResponseMode | str


ALL_OPTIONS: Final = frozenset(SynthesizerOptions.__annotations__)
# What is left of them for a mode that makes no call.
OPTIONS_WITHOUT_CALLS: Final = ALL_OPTIONS - {
    "output_cls",
    "prompt_helper",
    "chat_prompt_helper",
    "use_async",
    "concurrency",
    "think",
    "style",
    "output_schema",
}
