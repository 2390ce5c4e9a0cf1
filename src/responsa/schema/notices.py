"""Warnings: what a response wants its reader to know, by code, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .substitution import substitute

NOTICE_TEXTS: Final[dict[str, dict[str, str]]] = {
    "answer_empty": {
        "en": "The model wrote nothing. Ask again, or try another model.",
        "zh": "模型没有写出任何内容。请重试，或换一个模型。",
    },
    "answer_cut": {
        "en": "The answer of step {stage} was cut at its limit of {max_tokens} tokens.",
        "zh": "步骤 {stage} 的回答达到 {max_tokens} 个词元的上限而被截断。",
    },
    "passages_cut": {
        "en": "{count} of {total} passages entered the prompts only in part or not at all.",
        "zh": "{total} 条资料中有 {count} 条只有部分或没有进入提示。",
    },
    "answer_shortened": {
        "en": "The answer so far was shortened from {tokens} to {room} tokens before step {stage}.",
        "zh": "在步骤 {stage} 之前，已有的回答从 {tokens} 个词元缩短到 {room} 个。",
    },
    "repacked": {
        "en": "The server counted the prompt of step {stage} longer than was estimated; the passages were packed again "
        "for a window of {window} tokens.",
        "zh": "服务器数出步骤 {stage} 的提示比估计的长；已按 {window} 个词元的窗口重新打包。",
    },
    "output_reserve_shrunk": {
        "en": "The room for the answer was reduced from {wanted} to {given} tokens to fit the window of {window}.",
        "zh": "为了放进 {window} 个词元的窗口，回答的空间从 {wanted} 减到 {given} 个词元。",
    },
    "unknown_citation": {
        "en": "The answer cites {numbers}: the passages of its call have no such number.",
        "zh": "回答引用了 {numbers}，而该次调用的资料中没有这样的编号。",
    },
    "rewrite_rejected": {
        "en": "The rewritten question was not used ({reason}); the search was made with your own words.",
        "zh": "改写后的问题没有采用（{reason}）；检索使用了您的原话。",
    },
    "memory_message_cut": {
        "en": "A message ({role}) of {tokens} tokens was cut to {room} tokens, the most the memory's limit leaves it.",
        "zh": "一条消息（{role}）有 {tokens} 个词元，被截到记忆上限所允许的 {room} 个。",
    },
    "memory_block_cut": {
        "en": "The memory block {block} was cut to {room} tokens, the most the memory's limit leaves it.",
        "zh": "记忆块 {block} 被截到记忆上限所允许的 {room} 个词元。",
    },
    "memory_block_failed": {
        "en": "The memory block {block} failed: {reason} Nothing is lost; it is tried again with the next message.",
        "zh": "记忆块 {block} 失败：{reason} 没有丢失内容，下一条消息时会重试。",
    },
    "step_failed": {
        "en": "The step {stage} failed: {reason} The rest was kept.",
        "zh": "步骤 {stage} 失败：{reason} 其余结果已保留。",
    },
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning with its numbers.

    Args:
        code: Its stable name, a key of `NOTICE_TEXTS`.
        details: Its numbers and names.
    """

    code: str
    details: dict[str, Any] = field(default_factory=dict, hash=False)

    def render(self, language: str = "en") -> str:
        """Say it in "en" or "zh"."""
        texts = NOTICE_TEXTS[self.code]
        return substitute(texts.get(language, texts["en"]), self.details)

    def __str__(self) -> str:
        return self.render()
