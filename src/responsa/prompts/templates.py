"""Prompt templates: text, chat, or chosen by the LLM.

A template's variables are written `{name}`. Formatting is a single pass: values are never scanned again, so retrieved
text and questions cannot name variables; braces that hold no known variable stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from responsa.schema.errors import TemplateError
from responsa.schema.messages import ChatMessage, ContentBlock, MessageRole, TextBlock
from responsa.schema.protocols import LLM
from responsa.schema.substitution import VARIABLE, substitute


class PromptType(StrEnum):
    """Names for what a prompt is for; free text does as well."""

    QUESTION_ANSWER = "text_qa"
    REFINE = "refine"
    SUMMARY = "summary"
    SIMPLE_INPUT = "simple_input"
    CONDENSE_QUESTION = "condense"
    CUSTOM = "custom"


class BasePromptTemplate(ABC):
    """A prompt with variables.

    Args:
        template_var_mappings: The template's own name for a variable we give: `{"context_str": "my_context"}`. The
            variable can then be given, and written in the template, by either name.
        function_mappings: Functions that make a variable from all the given ones, passed as keywords.
        partial_kwargs: Variables filled in already.
    """

    def __init__(
        self,
        *,
        template_var_mappings: Mapping[str, str] | None = None,
        function_mappings: Mapping[str, Callable[..., Any]] | None = None,
        partial_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.template_var_mappings = dict(template_var_mappings or {})
        self.function_mappings = dict(function_mappings or {})
        self.kwargs = dict(partial_kwargs or {})

    @property
    @abstractmethod
    def template_vars(self) -> list[str]:
        """The names of the variables, in order of appearance."""

    @abstractmethod
    def format_messages(self, llm: LLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages with `kwargs` filled in."""

    @abstractmethod
    def partial_format(self, **kwargs: Any) -> BasePromptTemplate:
        """Return a copy with `kwargs` filled in; this template stays as it is."""

    def format(self, llm: LLM | None = None, **kwargs: Any) -> str:
        """Return the prompt as one text: the messages' texts with their roles, or the text alone if there is one."""
        messages = self.format_messages(llm, **kwargs)
        if len(messages) == 1 and messages[0].role is MessageRole.USER:
            return messages[0].content
        return "\n".join(map(str, messages)) + "\nassistant: "

    def get_template(self, llm: LLM | None = None) -> str:
        """Return the prompt as one text with its variables standing open."""
        return self.format(llm)

    def _values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        values = {**self.kwargs, **given}
        if self.function_mappings:
            made = {name: function(**values) for name, function in self.function_mappings.items()}
            values.update(made)
        for ours, own in self.template_var_mappings.items():
            if ours in values:
                values[own] = values[ours]
            elif own in values:
                values[ours] = values[own]
        return values


class PromptTemplate(BasePromptTemplate):
    """A prompt of one text, sent as one user message.

    Args:
        template: The text, with `{name}` for each variable.
        prompt_type: A name for the prompt's purpose, kept for the user's own use.
        metadata: Whatever the user wants to keep with it.
    """

    def __init__(
        self,
        template: str,
        prompt_type: str = "custom",
        *,
        metadata: Mapping[str, Any] | None = None,
        template_var_mappings: Mapping[str, str] | None = None,
        function_mappings: Mapping[str, Callable[..., Any]] | None = None,
        **partial_kwargs: Any,
    ) -> None:
        super().__init__(
            template_var_mappings=template_var_mappings,
            function_mappings=function_mappings,
            partial_kwargs=partial_kwargs,
        )
        self.template = template
        self.prompt_type = prompt_type
        self.metadata = dict(metadata or {})

    @property
    def template_vars(self) -> list[str]:
        return list(dict.fromkeys(VARIABLE.findall(self.template)))

    def format_messages(self, llm: LLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        return [ChatMessage(MessageRole.USER, substitute(self.template, self._values(kwargs)))]

    def partial_format(self, **kwargs: Any) -> PromptTemplate:
        return PromptTemplate(
            self.template,
            self.prompt_type,
            metadata=self.metadata,
            template_var_mappings=self.template_var_mappings,
            function_mappings=self.function_mappings,
            **{**self.kwargs, **kwargs},
        )


class ChatPromptTemplate(BasePromptTemplate):
    """A prompt of several messages, variables in each.

    Args:
        message_templates: The messages; `{name}` stands for a variable in every text block.
    """

    def __init__(
        self,
        message_templates: Sequence[ChatMessage],
        prompt_type: str = "custom",
        *,
        metadata: Mapping[str, Any] | None = None,
        template_var_mappings: Mapping[str, str] | None = None,
        function_mappings: Mapping[str, Callable[..., Any]] | None = None,
        **partial_kwargs: Any,
    ) -> None:
        super().__init__(
            template_var_mappings=template_var_mappings,
            function_mappings=function_mappings,
            partial_kwargs=partial_kwargs,
        )
        if not message_templates:
            raise TemplateError("a chat template needs at least one message.")
        self.message_templates = tuple(message_templates)
        self.prompt_type = prompt_type
        self.metadata = dict(metadata or {})

    @classmethod
    def from_messages(
        cls, message_templates: Sequence[tuple[str, str]] | Sequence[ChatMessage], **kwargs: Any
    ) -> ChatPromptTemplate:
        """Make a template from (role, text) pairs or from messages."""
        messages = [item if isinstance(item, ChatMessage) else ChatMessage(*item) for item in message_templates]
        return cls(messages, **kwargs)

    @property
    def template_vars(self) -> list[str]:
        return list(dict.fromkeys(name for m in self.message_templates for name in VARIABLE.findall(m.content)))

    def format_messages(self, llm: LLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        values = self._values(kwargs)
        return [
            ChatMessage(
                message.role,
                blocks=[_fill(block, values) for block in message.blocks],
                additional_kwargs=message.additional_kwargs,
            )
            for message in self.message_templates
        ]

    def partial_format(self, **kwargs: Any) -> ChatPromptTemplate:
        return ChatPromptTemplate(
            self.message_templates,
            self.prompt_type,
            metadata=self.metadata,
            template_var_mappings=self.template_var_mappings,
            function_mappings=self.function_mappings,
            **{**self.kwargs, **kwargs},
        )


def _fill(block: ContentBlock, values: Mapping[str, object]) -> ContentBlock:
    if isinstance(block, TextBlock) and "{" in block.text:
        return TextBlock(substitute(block.text, values))
    return block


class SelectorPromptTemplate(BasePromptTemplate):
    """A template that depends on the LLM: the first whose condition holds, else the default."""

    def __init__(
        self,
        default_template: BasePromptTemplate,
        conditionals: Sequence[tuple[Callable[[LLM], bool], BasePromptTemplate]] | None = None,
    ) -> None:
        super().__init__()
        self.default_template = default_template
        self.conditionals = tuple(conditionals or ())

    def select(self, llm: LLM | None = None) -> BasePromptTemplate:
        """Return the template for `llm`."""
        if llm is not None:
            for holds, template in self.conditionals:
                if holds(llm):
                    return template
        return self.default_template

    @property
    def template_vars(self) -> list[str]:
        return self.default_template.template_vars

    def format_messages(self, llm: LLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        return self.select(llm).format_messages(llm, **kwargs)

    def partial_format(self, **kwargs: Any) -> SelectorPromptTemplate:
        return SelectorPromptTemplate(
            self.default_template.partial_format(**kwargs),
            [(holds, template.partial_format(**kwargs)) for holds, template in self.conditionals],
        )
