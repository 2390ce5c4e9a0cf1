"""What a synthesizer was given and what stands in for the rest: the LLM, templates, callbacks, shares of the window."""

from __future__ import annotations

from inspect import signature
from typing import ClassVar, Final, Unpack

from responsa.instrumentation import CallbackManager, PrintHandler
from responsa.packing.budget import wanted_output
from responsa.packing.chat_prompt_helper import DEFAULT_IMAGE_TOKENS, ChatPromptHelper
from responsa.packing.prompt_helper import PromptHelper
from responsa.programs import Program, count, describe
from responsa.prompts import AnswerStyle, BasePromptTemplate, DefaultPrompts, default_prompts, detect_language
from responsa.prompts.mixin import PromptDictType, PromptMixin
from responsa.schema.errors import InvalidOption, UnknownOption
from responsa.schema.protocols import LLM
from responsa.settings import Settings

from .options import ALL_OPTIONS, SynthesizerOptions
from .structure import AnswerStructure, ObjectStructure, SchemaStructure
from .task import Task
from .thinking import SWITCH, SWITCH_TOKENS
from .window import Window

# Each template, with the one that takes its place for messages.
_FOR_MESSAGES: Final = {
    "text_qa_template": "chat_content_qa_template",
    "refine_template": "chat_content_refine_template",
    "summary_template": "chat_summary_template",
    "simple_template": "simple_template",
}


class SynthesizerConfiguration(PromptMixin):
    """The settings of a synthesizer; `BaseSynthesizer` says what each is.

    Raises:
        UnknownOption: The mode cannot use one of the arguments given.
    """

    mode: ClassVar[str] = "custom"
    needs_llm: ClassVar[bool] = True
    packs_together: ClassVar[bool] = True
    accepts: ClassVar[frozenset[str]] = ALL_OPTIONS

    def __init__(self, llm: LLM | None = None, **options: Unpack[SynthesizerOptions]) -> None:
        for name in options:
            if name not in self.accepts:
                raise UnknownOption(name, f"the mode {self.mode}", self._known_options())
        concurrency = options.get("concurrency")
        if concurrency is not None and concurrency < 1:
            raise InvalidOption("concurrency", concurrency, "a number of calls from 1")
        output_cls = options.get("output_cls")
        self.concurrency = 1 if options.get("use_async") is False else concurrency
        self._given_llm = llm
        self._given_callback_manager = options.get("callback_manager")
        self._streaming = options.get("streaming", False)
        schema = options.get("output_schema")
        if output_cls is not None and schema is not None:
            raise InvalidOption("output_schema", "a schema", "none beside output_cls")
        self._structure: AnswerStructure | None = None
        if output_cls is not None:
            self._structure = ObjectStructure(output_cls)
        elif schema is not None:
            self._structure = SchemaStructure(schema)
        self.think = options.get("think")
        self.style = options.get("style") or AnswerStyle()
        self._text_helper = options.get("prompt_helper")
        self._chat_helper = options.get("chat_prompt_helper")
        self._multimodal = options.get("multimodal", False)
        self._verbose = options.get("verbose", False)
        self._language = options.get("language")
        if self._language not in (None, "auto", "en", "zh"):
            raise InvalidOption("language", self._language, '"auto", "en" or "zh"')
        self.empty_response = options.get("empty_response")
        self._prompts: dict[str, BasePromptTemplate | None] = {}

    @classmethod
    def _known_options(cls) -> tuple[str, ...]:
        own = [name for name in signature(cls).parameters if name != "options"]
        return tuple(dict.fromkeys([*own, *sorted(cls.accepts)]))

    @property
    def llm(self) -> LLM | None:
        """The model that answers; None where the mode needs none and none was given."""
        if self._llm is None and self.needs_llm:
            return Settings.needed_llm(type(self).__name__)
        return self._llm

    @property
    def writes_text(self) -> bool:
        """Whether every call's answer is text, and none an object."""
        return self._structure is None

    @property
    def callback_manager(self) -> CallbackManager | None:
        """Whose handlers are told of syntheses and calls."""
        return self._given_callback_manager or Settings.callback_manager

    # Modes written for LlamaIndex reach for what they were given by these names, and set them.

    @property
    def _llm(self) -> LLM | None:
        return self._given_llm or (Settings.llm if self.needs_llm else None)

    @_llm.setter
    def _llm(self, llm: LLM | None) -> None:
        self._given_llm = llm

    @property
    def _callback_manager(self) -> CallbackManager | None:
        return self.callback_manager

    @_callback_manager.setter
    def _callback_manager(self, manager: CallbackManager | None) -> None:
        self._given_callback_manager = manager

    def template(self, name: str, task: Task) -> BasePromptTemplate:
        """Return the template of that name to use for a task: the one given, else the default in its language."""
        return self._template_given(name) or self._default_template(name, task.prompts)

    def window(self, task: Task) -> Program[Window]:
        """Return what each call of a task may use: as the LLM says, or as a prompt helper does."""
        metadata = yield from describe()
        if self._multimodal and not metadata.is_chat_model:
            raise InvalidOption("multimodal", True, "an LLM that takes messages (is_chat_model=True)")
        helper = self._helper()
        if helper is not None:
            size = min(helper.context_window, metadata.context_window)
            metadata = metadata.with_window(size, helper.num_output)
        schema_tokens = 0
        if self._structure is not None and not metadata.exact_counts:
            # A server of unknown make may have to be told the schema in the prompt.
            (schema_tokens,) = yield from count([self._structure.told])
        return Window(
            metadata.context_window,
            wanted_output(metadata, task.sampling),
            self._chat_helper.image_tokens if self._chat_helper else DEFAULT_IMAGE_TOKENS,
            helper.chunk_size_limit if helper else None,
            helper.chunk_overlap_ratio if helper else 0.0,
            schema_tokens + (SWITCH_TOKENS if SWITCH in task.sampling.extra else 0),
        )

    def _helper(self) -> PromptHelper | ChatPromptHelper | None:
        first, second = self._text_helper, self._chat_helper
        given = (second or first) if self._multimodal else (first or second)
        helper: PromptHelper | ChatPromptHelper | None = given or Settings.prompt_helper
        return helper

    def _manager(self) -> CallbackManager | None:
        manager = self.callback_manager
        if self._verbose:
            return CallbackManager([*(manager.handlers if manager else ()), PrintHandler()])
        return manager

    def _defaults(self, question: str) -> DefaultPrompts:
        language = self._language or Settings.language
        return default_prompts(detect_language(question) if language == "auto" else language)

    def _template_given(self, name: str) -> BasePromptTemplate | None:
        for_messages = self._prompts.get(_FOR_MESSAGES[name]) if self._multimodal else None
        return for_messages or self._prompts[name]

    def _default_template(self, name: str, prompts: DefaultPrompts) -> BasePromptTemplate:
        if name == "text_qa_template" and not self.packs_together:
            return prompts.single_qa
        default: BasePromptTemplate = getattr(prompts, name.removesuffix("_template"))
        return default

    def _get_prompts(self) -> PromptDictType:
        """Return the templates in use; a default is shown in the language that was set, or in English."""
        shown: PromptDictType = {}
        for name in _FOR_MESSAGES:
            if name in self._prompts:
                key = _FOR_MESSAGES[name] if self._multimodal else name
                shown[key] = self._template_given(name) or self._default_template(name, self._defaults(""))
        return shown

    def _update_prompts(self, prompts: PromptDictType) -> None:
        defaults = self._get_prompts()
        for name in prompts:
            if name not in self._prompts:
                raise UnknownOption(name, type(self).__name__, tuple(self._prompts))
        # A default that is given back stays one, in every language.
        self._prompts.update({name: prompt for name, prompt in prompts.items() if prompt is not defaults.get(name)})
