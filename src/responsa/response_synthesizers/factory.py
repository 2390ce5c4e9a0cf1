"""One entry to all modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from responsa.instrumentation import CallbackManager
from responsa.packing.chat_prompt_helper import ChatPromptHelper
from responsa.packing.prompt_helper import PromptHelper
from responsa.prompts import AnswerStyle, BasePromptTemplate
from responsa.schema.errors import InvalidOption
from responsa.schema.protocols import LLM

from .accumulate import Accumulate
from .base import BaseSynthesizer
from .compact_and_accumulate import CompactAndAccumulate
from .compact_and_refine import CompactAndRefine
from .context_only import ContextOnly
from .generation import Generation
from .no_text import NoText
from .refine import Refine
from .simple_summarize import SimpleSummarize
from .tree_summarize import TreeSummarize
from .type import ResponseMode

if TYPE_CHECKING:
    from pydantic import BaseModel


_MODES: dict[str, type[BaseSynthesizer]] = {
    cls.mode: cls
    for cls in (
        Refine,
        CompactAndRefine,
        SimpleSummarize,
        TreeSummarize,
        Generation,
        NoText,
        ContextOnly,
        Accumulate,
        CompactAndAccumulate,
    )
}


def get_response_synthesizer(
    llm: LLM | None = None,
    *,
    response_mode: ResponseMode | str = ResponseMode.COMPACT,
    prompt_helper: PromptHelper | None = None,
    chat_prompt_helper: ChatPromptHelper | None = None,
    text_qa_template: BasePromptTemplate | None = None,
    refine_template: BasePromptTemplate | None = None,
    summary_template: BasePromptTemplate | None = None,
    simple_template: BasePromptTemplate | None = None,
    chat_content_qa_template: BasePromptTemplate | None = None,
    chat_content_refine_template: BasePromptTemplate | None = None,
    chat_summary_template: BasePromptTemplate | None = None,
    callback_manager: CallbackManager | None = None,
    use_async: bool | None = None,
    concurrency: int | None = None,
    streaming: bool = False,
    structured_answer_filtering: bool = False,
    multimodal: bool = False,
    verbose: bool = False,
    output_cls: type[BaseModel] | None = None,
    language: Literal["auto", "en", "zh"] | None = None,
    empty_response: str | None = None,
    think: bool | None = None,
    style: AnswerStyle | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> BaseSynthesizer:
    """Return the synthesizer of a mode.

    Args:
        llm: The model that answers; `Settings.llm` when left out.
        response_mode: The mode, or its name.
        prompt_helper: How the window is shared out, in place of what the LLM says of itself.
        text_qa_template: The question over passages: all modes but tree_summarize, generation and those without a call.
        refine_template: The later questions of refine and compact.
        summary_template: The question of tree_summarize.
        simple_template: The question of generation.
        chat_prompt_helper: The same with what a picture counts.
        chat_content_qa_template: In place of `text_qa_template` with `multimodal=True`.
        chat_content_refine_template: In place of `refine_template` with `multimodal=True`.
        chat_summary_template: In place of `summary_template` with `multimodal=True`.
        callback_manager: Whose handlers are told of syntheses and calls.
        use_async: False makes calls one after another.
        concurrency: The most calls under way at once; the server's slots when left out.
        streaming: Whether the response streams.
        structured_answer_filtering: Ask, in refine and compact, whether each passage answers the question.
        multimodal: Use the templates for messages, and require a chat model.
        verbose: Print a line for each synthesis and call.
        output_cls: A Pydantic model of the answer.
        language: The language of prompts and fixed sentences.
        empty_response: What a response without passages prints.
        think: Whether the model is to reason before it answers; None leaves it to the model.
        style: For whom, at which length and with which wishes the answer is written.
        output_schema: A JSON schema of the answer, in place of `output_cls`.

    Raises:
        InvalidOption: There is no such mode.
        UnknownOption: The mode cannot use one of the arguments given.
    """
    cls = _MODES.get(str(response_mode))
    if cls is None:
        raise InvalidOption("response_mode", response_mode, "one of " + ", ".join(_MODES))
    given: dict[str, Any] = {
        "prompt_helper": prompt_helper,
        "chat_prompt_helper": chat_prompt_helper,
        "text_qa_template": text_qa_template,
        "refine_template": refine_template,
        "summary_template": summary_template,
        "simple_template": simple_template,
        "chat_content_qa_template": chat_content_qa_template,
        "chat_content_refine_template": chat_content_refine_template,
        "chat_summary_template": chat_summary_template,
        "callback_manager": callback_manager,
        "use_async": use_async,
        "concurrency": concurrency,
        "streaming": streaming,
        "structured_answer_filtering": structured_answer_filtering,
        "multimodal": multimodal,
        "verbose": verbose,
        "output_cls": output_cls,
        "language": language,
        "empty_response": empty_response,
        "think": think,
        "style": style,
        "output_schema": output_schema,
    }
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    for name, value in (("use_async", use_async), ("think", think)):
        if value is False and name in cls.accepts:
            options[name] = False
    return cls(llm, **options)
