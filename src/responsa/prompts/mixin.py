"""Seeing and replacing the templates of a thing and of its parts, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from responsa.schema.errors import UnknownOption

from .templates import BasePromptTemplate

PromptDictType: TypeAlias = dict[str, BasePromptTemplate]


class PromptMixin:
    """Has templates: its own by their names, those of its parts as `part:name`.

    A subclass gives `_get_prompts` and `_update_prompts` for its own, and `_get_prompt_modules` for its parts.
    """

    def get_prompts(self) -> PromptDictType:
        """Return all templates by name."""
        prompts = dict(self._get_prompts())
        for part, owner in self._get_prompt_modules().items():
            prompts.update({f"{part}:{name}": prompt for name, prompt in owner.get_prompts().items()})
        return prompts

    def update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        """Replace templates by name.

        Raises:
            UnknownOption: There is no template of that name.
        """
        own: PromptDictType = {}
        of_parts: dict[str, PromptDictType] = {}
        parts = self._get_prompt_modules()
        for name, prompt in prompts_dict.items():
            part, is_of_part, rest = name.partition(":")
            if not is_of_part:
                own[name] = prompt
            elif part in parts:
                of_parts.setdefault(part, {})[rest] = prompt
            else:
                raise UnknownOption(name, type(self).__name__, tuple(self.get_prompts()))
        if own:
            self._update_prompts(own)
        for part, prompts in of_parts.items():
            parts[part].update_prompts(prompts)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        for name in prompts:
            raise UnknownOption(name, type(self).__name__, tuple(self.get_prompts()))

    def _get_prompt_modules(self) -> Mapping[str, PromptMixin]:
        return {}
