"""Templates in Jinja2, in its sandbox: for those who write templates, never for text that users or documents bring."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from responsa.schema.errors import TemplateError
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import LLM

from .templates import BasePromptTemplate

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_CHAT: Final = re.compile(
    r"""\{%-?\s*chat\s+role\s*=\s*["'](?P<role>\w+)["']\s*-?%\}(?P<text>.*?)\{%-?\s*endchat\s*-?%\}""", re.DOTALL
)


_PICTURES: Final = "_pictures"


class RichPromptTemplate(BasePromptTemplate):
    """A prompt in Jinja2: `{{ name }}` for a variable, and loops and conditions.

    `{% chat role="user" %}...{% endchat %}` blocks make it a chat template; without one it is one user message. A
    variable that is not given is an error, not an empty text.

    `{{ picture | image }}` puts a picture there: an address (`https:` or `data:`), or the path of a file.

    Args:
        template_str: The template.
        **partial_kwargs: Variables filled in already.

    Raises:
        TemplateError: The template cannot be read, or names a role there is not.
    """

    def __init__(
        self,
        template_str: str,
        *,
        template_var_mappings: Mapping[str, str] | None = None,
        function_mappings: Mapping[str, Callable[..., Any]] | None = None,
        **partial_kwargs: Any,
    ) -> None:
        super().__init__(
            template_var_mappings=template_var_mappings,
            function_mappings=function_mappings,
            partial_kwargs=partial_kwargs,
        )
        self.template_str = template_str
        self._templates = self._compile()

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        from jinja2 import StrictUndefined, pass_context
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
        environment.filters["image"] = pass_context(lambda context, source: context[_PICTURES].put(str(source)))
        return environment

    def _compile(self) -> list[tuple[MessageRole, Template]]:
        from jinja2 import TemplateSyntaxError

        blocks = [(match["role"], match["text"].strip()) for match in _CHAT.finditer(self.template_str)]
        try:
            return [
                (MessageRole(role), self._environment.from_string(text))
                for role, text in blocks or [("user", self.template_str)]
            ]
        except (TemplateSyntaxError, ValueError) as error:
            raise TemplateError(str(error)) from error

    @property
    def template_vars(self) -> list[str]:
        from jinja2.meta import find_undeclared_variables

        source = _CHAT.sub(lambda match: match["text"], self.template_str)
        return sorted(find_undeclared_variables(self._environment.parse(source)))

    def format_messages(self, llm: LLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        from jinja2 import TemplateError as JinjaError

        from .pictures import Pictures

        values = self._values(kwargs)
        messages: list[ChatMessage] = []
        try:
            for role, template in self._templates:
                pictures = Pictures()
                text = template.render({**values, _PICTURES: pictures})
                messages.append(ChatMessage(role, blocks=pictures.blocks(text)))
            return messages
        except TemplateError:
            raise
        except Exception as error:  # a template can fail in any way that Python can, such as a division by zero
            reason = str(error) if isinstance(error, JinjaError) else f"{type(error).__name__}: {error}"
            raise TemplateError(reason) from error

    def get_template(self, llm: LLM | None = None) -> str:
        """Return the template as it was written."""
        return self.template_str

    def partial_format(self, **kwargs: Any) -> RichPromptTemplate:
        return RichPromptTemplate(
            self.template_str,
            template_var_mappings=self.template_var_mappings,
            function_mappings=self.function_mappings,
            **{**self.kwargs, **kwargs},
        )
