"""Models whose tokenizers are awkward: a whole counts more than its parts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM


class GrowingLLM(ScriptedLLM):
    """Counts a prompt as more tokens than the sum of its parts, and the more the longer it is."""

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return [tokens + tokens // 7 for tokens in super().count_prompts(prompts)]


class AnswerHeavyLLM(ScriptedLLM):
    """Counts the answer so far twice where it stands inside a prompt."""

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        answers = [re.findall(r"Answer so far:\n(.*?)\n\nFurther", prompt[-1].content, re.DOTALL) for prompt in prompts]
        again = [sum(self.count_tokens(found)) for found in answers]
        return [tokens + more for tokens, more in zip(super().count_prompts(prompts), again, strict=True)]


class NumberHeavyLLM(ScriptedLLM):
    """Counts ten tokens more wherever a passage's number stands inside a whole prompt."""

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        texts = [
            sum(len(re.findall(r"^\[\d+\]", message.content, re.MULTILINE)) for message in prompt) for prompt in prompts
        ]
        return [tokens + 10 * n for tokens, n in zip(super().count_prompts(prompts), texts, strict=True)]
