"""One entry to all modes."""

from __future__ import annotations

from typing import Any, Unpack

from responsa.schema.errors import InvalidOption
from responsa.schema.protocols import LLM

from .accumulate import Accumulate
from .base import BaseSynthesizer
from .compact_and_accumulate import CompactAndAccumulate
from .compact_and_refine import CompactAndRefine
from .context_only import ContextOnly
from .generation import Generation
from .no_text import NoText
from .options import ModeOptions
from .refine import Refine
from .simple_summarize import SimpleSummarize
from .tree_summarize import TreeSummarize
from .type import ResponseMode

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
    **options: Unpack[ModeOptions],
) -> BaseSynthesizer:
    """Return the synthesizer of a mode.

    Args:
        llm: The model that answers; `Settings.llm` when left out.
        response_mode: The mode, or its name.
        **options: What the mode takes, of the following.
        prompt_helper: How the window is shared out, in place of what the LLM says of itself.
        chat_prompt_helper: The same with what a picture counts.
        text_qa_template: The question over passages: all modes but tree_summarize, generation and those without a call.
        refine_template: The later questions of refine and compact.
        summary_template: The question of tree_summarize.
        simple_template: The question of generation.
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
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None and value is not False}
    for name in ("use_async", "think"):
        if options.get(name) is False and name in cls.accepts:
            given[name] = False
    return cls(llm, **given)
