"""Repack 10,000 passages of 1,000 characters whose token counts are known: CPU seconds, English and Chinese."""

from __future__ import annotations

import random
import time

from responsa import PromptHelper, PromptTemplate
from responsa.testing import ScriptedLLM

PASSAGES = 10_000
CHARACTERS = 1_000
WORDS = {
    "en": [
        "water",
        "server",
        "passage",
        "answer",
        "model",
        "token",
        "window",
        "cost",
        "source",
        "citation",
        "question",
        "planned",
    ],
    "zh": ["图书馆", "服务器", "资料", "回答", "模型", "词元", "窗口", "费用", "来源", "引用", "问题", "计划"],
}
ENDS = {"en": ". ", "zh": "。"}


class CountedLLM(ScriptedLLM):
    """Counts each text once, as a client that keeps its counts does."""

    def __init__(self) -> None:
        super().__init__(context_window=8192)
        self._known: dict[str, int] = {}

    def count_tokens(self, texts):
        """Return the kept counts."""
        missing = [text for text in texts if text not in self._known]
        self._known.update(zip(missing, super().count_tokens(missing), strict=True))
        return [self._known[text] for text in texts]


def passage(language: str, rng: random.Random) -> str:
    text = ""
    while len(text) < CHARACTERS:
        joint = " " if language == "en" else ""
        text += joint.join(rng.choices(WORDS[language], k=12)) + ENDS[language]
    return text[:CHARACTERS]


def main() -> None:
    template = PromptTemplate("Question: {query_str}\n\nPassages:\n{context_str}\n\nAnswer:")
    print(f"{'text':<6}{'packs':>8}{'CPU s':>8}")
    for language in WORDS:
        rng = random.Random(7)
        passages = [passage(language, rng) for _ in range(PASSAGES)]
        llm = CountedLLM()
        helper = PromptHelper(8192, 512)
        helper.repack(template, passages, llm=llm)  # counts every passage
        began = time.process_time()
        packs = helper.repack(template, passages, llm=llm)
        print(f"{language:<6}{len(packs):>8}{time.process_time() - began:>8.3f}")


if __name__ == "__main__":
    main()
